/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes RPC messages as packets of a synthetic TCP connection, so that an analyser can read them
 * whatever transport carried them. Each message is a record of one fragment, in segments as long as
 * an IP packet allows.
 *
 * Sequence numbers count only the messages that are written: an omitted message leaves no gap. Of a
 * message that is cut, the file has only a part of the first segment. After a whole segment an
 * analyser would wait for the next one; it decodes a cut segment as far as it goes.
 */
#ifndef DAEMON_TAP_PCAP_TCP_H
#define DAEMON_TAP_PCAP_TCP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/tap/pcapng.h"
#include "rpc/record_mark.h"

/* With both headers 65,535 bytes over IPv4, and less than the maximum over IPv6. */
#define PCAP_TCP_SEGMENT_BYTES 65495u
/* The longest part kept of a message that is cut. */
#define PCAP_TCP_CUT_BYTES (PCAP_TCP_SEGMENT_BYTES - RECORD_MARK_BYTES - 1u)
/* The headers of IPv6 and TCP, with the one TCP option in use. */
#define PCAP_TCP_HEAD_BYTES 64u
/* The size of pcap_tcp_open() and pcap_tcp_close() together, without comments. */
#define PCAP_TCP_ENDS_BYTES (3u * (PCAPNG_PACKET_BYTES + PCAP_TCP_HEAD_BYTES))

enum pcap_tcp_side { PCAP_TCP_CLIENT, PCAP_TCP_SERVER };

struct pcap_tcp_end {
	struct in6_addr host;
	uint16_t port; /* host byte order */
	uint32_t next; /* sequence number of its next byte */
};

struct pcap_tcp {
	bool is_ipv4;
	struct pcap_tcp_end ends[2]; /* by enum pcap_tcp_side */
};

struct pcap_tcp_message {
	enum pcap_tcp_side from;
	uint64_t at_us; /* since 1970 */
	const uint8_t *data;
	uint32_t len_bytes;
	uint32_t kept_bytes; /* bytes at `data`; if less than len_bytes, the message is cut */
	const char *const *comments; /* comments of its first packet */
};

/**
 * pcap_tcp_init - Initializes a connection, as IPv4 if both addresses are IPv4 or v4-mapped
 * @seed: different for each connection, to distinguish connections between the same addresses
 *
 * An address without family becomes 0.0.0.0.
 */
void pcap_tcp_init(struct pcap_tcp *tcp, const struct sockaddr *client,
		   const struct sockaddr *server, uint64_t seed);
/** pcap_tcp_open - Writes the handshake; @comments belong to the first packet. */
void pcap_tcp_open(struct pcap_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		   const char *const *comments);
/**
 * pcap_tcp_kept_bytes - Returns how much to keep of a message of @len_bytes: all of up to
 * @whole_bytes.
 */
static inline uint32_t pcap_tcp_kept_bytes(uint32_t len_bytes, uint32_t whole_bytes)
{
	if (len_bytes <= whole_bytes)
		return len_bytes;
	return whole_bytes < PCAP_TCP_CUT_BYTES ? whole_bytes : PCAP_TCP_CUT_BYTES;
}
/**
 * pcap_tcp_message_bytes - Returns the size of @kept_bytes of a message of @len_bytes, without
 * comments.
 */
size_t pcap_tcp_message_bytes(uint32_t kept_bytes, uint32_t len_bytes);
/** pcap_tcp_write_message - Writes a message; if cut, at most PCAP_TCP_CUT_BYTES of it. */
void pcap_tcp_write_message(struct pcap_tcp *tcp, struct pcapng_writer *out,
			    const struct pcap_tcp_message *message);
/** pcap_tcp_close - Writes the end of the connection, closed by the client. */
void pcap_tcp_close(struct pcap_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		    const char *const *comments);

#endif
