// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/tap/pcap_tcp.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/compiler.h"
#include "base/minmax.h"
#include "base/sockaddr.h"

#define TTL    64u
#define WINDOW 65535u
/* In the SYN: window scale 14, so that no window is ever full, and a padding byte. */
static const uint8_t window_scale[4] = {3, 3, 14, 1};

struct segment {
	enum pcap_tcp_side from;
	uint64_t at_us;
	uint8_t flags;
	uint8_t mark[RECORD_MARK_BYTES];
	uint32_t mark_bytes; /* record mark, at the start of a record's first segment */
	const uint8_t *data; /* part of a message */
	uint32_t data_bytes,
		len_bytes; /* bytes in `data`; length of the segment's payload before it was cut */
	const char *const *comments;
};

struct packet {
	struct tcphdr tcp;
	uint8_t option[sizeof(window_scale)];
	union {
		struct ip v4;
		struct ip6_hdr v6;
	} ip;
	struct iovec parts[5]; /* IP, TCP, TCP option, record mark, data */
};

/* ---- checksums: all parts but the last have an even length ---- */

static uint64_t sum_words(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint16_t word;

	for (; len >= 2; bytes += 2, len -= 2) {
		memcpy(&word, bytes, sizeof(word));
		sum += word;
	}
	if (len) {
		word = 0;
		memcpy(&word, bytes, 1);
		sum += word;
	}
	return sum;
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The pseudo-header: addresses, length and protocol. */
static uint16_t tcp_checksum(const struct pcap_tcp *tcp, const struct packet *packet,
			     uint32_t tcp_bytes)
{
	uint64_t sum = htons(IPPROTO_TCP) + htons((uint16_t)tcp_bytes);

	for (unsigned i = 0; i < 2; i++)
		sum = tcp->is_ipv4 ? sum_words(sum, &tcp->ends[i].host.s6_addr[12], 4)
				   : sum_words(sum, &tcp->ends[i].host, 16);
	for (unsigned i = 1; i < ARRAY_SIZE(packet->parts); i++)
		sum = sum_words(sum, packet->parts[i].iov_base, packet->parts[i].iov_len);
	return fold(sum);
}

/* ---- headers ---- */

static void fill_ip(const struct pcap_tcp *tcp, enum pcap_tcp_side from, uint32_t tcp_bytes,
		    struct packet *packet)
{
	const struct pcap_tcp_end *source = &tcp->ends[from], *target = &tcp->ends[!from];
	struct ip6_hdr *v6 = &packet->ip.v6;
	struct ip *v4 = &packet->ip.v4;

	if (tcp->is_ipv4) {
		*v4 = (struct ip){.ip_v = 4,
				  .ip_hl = sizeof(*v4) / 4,
				  .ip_len = htons((uint16_t)(sizeof(*v4) + tcp_bytes)),
				  .ip_off = htons(IP_DF),
				  .ip_ttl = TTL,
				  .ip_p = IPPROTO_TCP};
		memcpy(&v4->ip_src, &source->host.s6_addr[12], 4);
		memcpy(&v4->ip_dst, &target->host.s6_addr[12], 4);
		v4->ip_sum = fold(sum_words(0, v4, sizeof(*v4)));
		return;
	}
	*v6 = (struct ip6_hdr){.ip6_src = source->host, .ip6_dst = target->host};
	v6->ip6_flow = htonl(6u << 28);
	v6->ip6_plen = htons((uint16_t)tcp_bytes);
	v6->ip6_nxt = IPPROTO_TCP;
	v6->ip6_hlim = TTL;
}

static void fill_tcp(const struct pcap_tcp *tcp, const struct segment *segment, uint32_t head_bytes,
		     struct tcphdr *head)
{
	const struct pcap_tcp_end *source = &tcp->ends[segment->from];
	const struct pcap_tcp_end *target = &tcp->ends[!segment->from];

	*head = (struct tcphdr){.th_sport = htons(source->port),
				.th_dport = htons(target->port),
				.th_seq = htonl(source->next),
				.th_off = (uint8_t)(head_bytes / 4),
				.th_flags = segment->flags,
				.th_win = htons(WINDOW)};
	if (segment->flags & TH_ACK)
		head->th_ack = htonl(target->next);
}

/* The const is cast away because struct iovec lacks it; nothing writes through it. */
static struct iovec iov_of(const void *data, size_t len)
{
	return (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = len};
}

static void put_segment(struct pcap_tcp *tcp, struct pcapng_writer *out,
			const struct segment *segment)
{
	uint32_t option_bytes = segment->flags & TH_SYN ? sizeof(window_scale) : 0;
	uint32_t ip_bytes = tcp->is_ipv4 ? sizeof(struct ip) : sizeof(struct ip6_hdr);
	uint32_t head_bytes = sizeof(struct tcphdr) + option_bytes;
	uint32_t tcp_bytes = head_bytes + segment->mark_bytes + segment->len_bytes;
	struct packet packet;

	fill_ip(tcp, segment->from, tcp_bytes, &packet);
	fill_tcp(tcp, segment, head_bytes, &packet.tcp);
	packet.parts[0] = iov_of(&packet.ip, ip_bytes);
	packet.parts[1] = iov_of(&packet.tcp, sizeof(packet.tcp));
	packet.parts[2] = iov_of(window_scale, option_bytes);
	packet.parts[3] = iov_of(segment->mark, segment->mark_bytes);
	packet.parts[4] = iov_of(segment->data, segment->data_bytes);
	/* A checksum of a cut segment could not be verified. */
	if (segment->data_bytes == segment->len_bytes)
		packet.tcp.th_sum = tcp_checksum(tcp, &packet, tcp_bytes);
	pcapng_packet(out, &(struct pcapng_packet){.at_us = segment->at_us,
						   .parts = packet.parts,
						   .nparts = ARRAY_SIZE(packet.parts),
						   .original_bytes = ip_bytes + tcp_bytes,
						   .comments = segment->comments});
	tcp->ends[segment->from].next += segment->mark_bytes + segment->len_bytes;
	/* SYN and FIN use one sequence number each. */
	tcp->ends[segment->from].next += (segment->flags & (TH_SYN | TH_FIN)) != 0;
}

/* ---- the connection ---- */

static void init_end(struct pcap_tcp_end *end, const struct sockaddr *addr, uint32_t next)
{
	static const uint8_t nowhere[16] = {[10] = 0xff, [11] = 0xff};

	if (!sockaddr_host(addr, &end->host))
		memcpy(&end->host, nowhere, sizeof(end->host));
	end->port = sockaddr_port(addr);
	end->next = next;
}

void pcap_tcp_init(struct pcap_tcp *tcp, const struct sockaddr *client,
		   const struct sockaddr *server, uint64_t seed)
{
	/* An odd factor makes the sequence numbers of similar seeds differ. */
	uint64_t number = seed * UINT64_C(0x9e3779b97f4a7c15);

	*tcp = (struct pcap_tcp){0};
	init_end(&tcp->ends[PCAP_TCP_CLIENT], client, (uint32_t)(number >> 32));
	init_end(&tcp->ends[PCAP_TCP_SERVER], server, (uint32_t)number);
	tcp->is_ipv4 = IN6_IS_ADDR_V4MAPPED(&tcp->ends[PCAP_TCP_CLIENT].host) &&
		       IN6_IS_ADDR_V4MAPPED(&tcp->ends[PCAP_TCP_SERVER].host);
}

void pcap_tcp_open(struct pcap_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		   const char *const *comments)
{
	struct segment segment = {
		.from = PCAP_TCP_CLIENT, .at_us = at_us, .flags = TH_SYN, .comments = comments};

	put_segment(tcp, out, &segment);
	segment =
		(struct segment){.from = PCAP_TCP_SERVER, .at_us = at_us, .flags = TH_SYN | TH_ACK};
	put_segment(tcp, out, &segment);
	segment = (struct segment){.from = PCAP_TCP_CLIENT, .at_us = at_us, .flags = TH_ACK};
	put_segment(tcp, out, &segment);
}

void pcap_tcp_close(struct pcap_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		    const char *const *comments)
{
	struct segment segment = {.from = PCAP_TCP_CLIENT,
				  .at_us = at_us,
				  .flags = TH_FIN | TH_ACK,
				  .comments = comments};

	put_segment(tcp, out, &segment);
	segment.comments = NULL;
	segment.from = PCAP_TCP_SERVER;
	put_segment(tcp, out, &segment);
	segment.from = PCAP_TCP_CLIENT;
	segment.flags = TH_ACK;
	put_segment(tcp, out, &segment);
}

/* ---- messages ---- */

static uint32_t segments_of(uint32_t len_bytes)
{
	return (len_bytes + RECORD_MARK_BYTES + PCAP_TCP_SEGMENT_BYTES - 1) /
	       PCAP_TCP_SEGMENT_BYTES;
}

size_t pcap_tcp_message_bytes(uint32_t kept_bytes, uint32_t len_bytes)
{
	return RECORD_MARK_BYTES + kept_bytes +
	       (size_t)segments_of(len_bytes) * (PCAPNG_PACKET_BYTES + PCAP_TCP_HEAD_BYTES);
}

void pcap_tcp_write_message(struct pcap_tcp *tcp, struct pcapng_writer *out,
			    const struct pcap_tcp_message *message)
{
	struct segment segment = {.from = message->from,
				  .at_us = message->at_us,
				  .mark_bytes = RECORD_MARK_BYTES,
				  .comments = message->comments};
	uint32_t len = message->len_bytes, kept = min_u32(message->kept_bytes, len);
	uint32_t at = 0;

	if (kept < len)
		kept = min_u32(kept, PCAP_TCP_CUT_BYTES);
	record_mark_encode(segment.mark, len);
	do {
		segment.len_bytes = min_u32(len - at, PCAP_TCP_SEGMENT_BYTES - segment.mark_bytes);
		segment.data_bytes = at < kept ? min_u32(kept - at, segment.len_bytes) : 0;
		segment.data = segment.data_bytes ? message->data + at : NULL;
		segment.flags = at + segment.len_bytes == len ? TH_ACK | TH_PUSH : TH_ACK;
		put_segment(tcp, out, &segment);
		at += segment.len_bytes;
		segment.mark_bytes = 0;
		segment.comments = NULL;
	} while (at < len);
}
