// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests messages as a TCP connection: the test parses every packet, and the streams must contain
 * the messages.
 */
#include "daemon/tap/pcap_tcp.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"

#define ROOM (8u << 20)

struct scene {
	struct pcap_tcp tcp;
	struct pcapng_writer out;
	uint8_t *file, *at; /* all; and the packet that is read next */
};

/* A packet that was read. */
struct seen {
	bool is_ipv4;
	const uint8_t *ip, *data;
	size_t captured, original, head; /* of the packet; its headers */
	struct tcphdr tcp;
};

static struct sockaddr_storage address(const char *host, uint16_t port)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&addr;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&addr;

	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else {
		ck_assert_int_eq(inet_pton(AF_INET6, host, &v6->sin6_addr), 1);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
	}
	return addr;
}

static void begin(struct scene *scene, const char *client, const char *server)
{
	struct sockaddr_storage from = address(client, 700), to = address(server, 2049);

	*scene = (struct scene){.file = malloc(ROOM)};
	ck_assert_ptr_nonnull(scene->file);
	scene->at = scene->file;
	pcapng_writer_init(&scene->out, scene->file, ROOM);
	pcap_tcp_init(&scene->tcp, (struct sockaddr *)&from, (struct sockaddr *)&to, 7);
}

static void end(struct scene *scene)
{
	/* All has been read. */
	ck_assert_ptr_eq(scene->at, scene->out.pos);
	ck_assert(!scene->out.failed);
	free(scene->file);
}

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint16_t sum(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* A correct sum is all ones. */
static void check_sums(const struct seen *seen)
{
	size_t ip_bytes = seen->is_ipv4 ? 20 : 40, hosts_at = seen->is_ipv4 ? 12 : 8;
	size_t len = seen->original - ip_bytes;

	if (seen->is_ipv4)
		ck_assert_uint_eq(sum(0, seen->ip, ip_bytes), 0xffff);
	if (seen->captured < seen->original) {
		ck_assert_uint_eq(seen->tcp.th_sum, 0);
		return;
	}
	ck_assert_uint_eq(sum(sum(6 + (uint32_t)len, seen->ip + hosts_at, ip_bytes - hosts_at),
			      seen->ip + ip_bytes, len),
			  0xffff);
}

static struct seen read_packet(struct scene *scene)
{
	const uint8_t *block = scene->at;
	struct seen seen = {.ip = block + 28, .captured = word(block + 20)};
	size_t ip_bytes, said;

	ck_assert(block < scene->out.pos);
	ck_assert_uint_eq(word(block), 6);
	seen.original = word(block + 24);
	seen.is_ipv4 = seen.ip[0] >> 4 == 4;
	ip_bytes = seen.is_ipv4 ? 20 : 40;
	said = seen.is_ipv4 ? 256u * seen.ip[2] + seen.ip[3] : 40u + 256u * seen.ip[4] + seen.ip[5];
	ck_assert_uint_eq(said, seen.original);
	memcpy(&seen.tcp, seen.ip + ip_bytes, sizeof(seen.tcp));
	seen.head = ip_bytes + 4u * seen.tcp.th_off;
	seen.data = seen.ip + seen.head;
	check_sums(&seen);
	scene->at += word(block + 4);
	return seen;
}

static void expect(const struct seen *seen, uint8_t flags, enum pcap_tcp_side from)
{
	ck_assert_uint_eq(seen->tcp.th_flags, flags);
	ck_assert_uint_eq(ntohs(seen->tcp.th_sport), from == PCAP_TCP_CLIENT ? 700 : 2049);
	ck_assert_uint_eq(ntohs(seen->tcp.th_dport), from == PCAP_TCP_CLIENT ? 2049 : 700);
}

/* How a connection opens; sets the numbers that follow. */
static void expect_open(struct scene *scene, uint32_t next[2])
{
	struct seen syn = read_packet(scene), answer = read_packet(scene), ack = read_packet(scene);

	expect(&syn, TH_SYN, PCAP_TCP_CLIENT);
	expect(&answer, TH_SYN | TH_ACK, PCAP_TCP_SERVER);
	expect(&ack, TH_ACK, PCAP_TCP_CLIENT);
	ck_assert_uint_eq(ntohl(answer.tcp.th_ack), ntohl(syn.tcp.th_seq) + 1);
	ck_assert_uint_eq(ntohl(ack.tcp.th_seq), ntohl(syn.tcp.th_seq) + 1);
	ck_assert_uint_eq(ntohl(ack.tcp.th_ack), ntohl(answer.tcp.th_seq) + 1);
	next[PCAP_TCP_CLIENT] = ntohl(ack.tcp.th_seq);
	next[PCAP_TCP_SERVER] = ntohl(ack.tcp.th_ack);
}

static void put(struct scene *scene, enum pcap_tcp_side from, const uint8_t *data, uint32_t len,
		uint32_t kept)
{
	const struct pcap_tcp_message message = {
		.from = from, .data = data, .len_bytes = len, .kept_bytes = kept};
	size_t before = pcapng_written_bytes(&scene->out);

	pcap_tcp_write_message(&scene->tcp, &scene->out, &message);
	ck_assert_uint_le(pcapng_written_bytes(&scene->out) - before,
			  pcap_tcp_message_bytes(kept, len));
}

/* The message that comes next is this one; of a cut one, its first bytes. */
static void expect_message(struct scene *scene, uint32_t next[2], enum pcap_tcp_side from,
			   const uint8_t *data, uint32_t len, uint32_t kept)
{
	uint32_t at = 0, got = 0;
	uint8_t *record = malloc(len + 4);

	ck_assert_ptr_nonnull(record);
	while (at < len + 4) {
		struct seen seen = read_packet(scene);
		size_t bytes = seen.original - seen.head, here = seen.captured - seen.head;

		expect(&seen, at + bytes == len + 4 ? TH_ACK | TH_PUSH : TH_ACK, from);
		ck_assert_uint_eq(ntohl(seen.tcp.th_seq), next[from]);
		ck_assert_uint_eq(ntohl(seen.tcp.th_ack), next[!from]);
		ck_assert_uint_le(bytes, len + 4 - at);
		/* An analyser reads what there is of a segment only if it is cut itself. */
		if (kept < len)
			ck_assert_uint_lt(here, bytes);
		memcpy(record + at, seen.data, here);
		next[from] += (uint32_t)bytes;
		at += (uint32_t)bytes;
		got += (uint32_t)here;
	}
	ck_assert_uint_eq(got, 4 + kept);
	ck_assert_uint_eq(htonl(0x80000000 | len), *(uint32_t *)(void *)record);
	ck_assert_mem_eq(record + 4, data, kept);
	free(record);
}

static uint8_t *message(uint32_t len)
{
	uint8_t *data = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(data);
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	return data;
}

static const char *const hosts[][2] = {
	{"10.0.0.1", "10.0.0.2"}, {"::ffff:10.0.0.1", "10.0.0.2"}, {"fe80::1", "2001:db8::2"}};
/* Around what a segment has, and several of them. */
static const uint32_t lengths[] = {0,     1,     40,     41,     65490,   65491,
				   65492, 65535, 130986, 130987, 1048736, 1048737};

START_TEST(messages_come_out_as_they_went_in)
{
	uint32_t next[2];
	struct scene scene;

	begin(&scene, hosts[_i][0], hosts[_i][1]);
	pcap_tcp_open(&scene.tcp, &scene.out, 1, NULL);
	expect_open(&scene, next);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		uint8_t *data = message(lengths[i]);
		enum pcap_tcp_side from = i % 3 ? PCAP_TCP_CLIENT : PCAP_TCP_SERVER;

		put(&scene, from, data, lengths[i], lengths[i]);
		expect_message(&scene, next, from, data, lengths[i], lengths[i]);
		free(data);
	}
	end(&scene);
}
END_TEST

START_TEST(two_ipv4_addresses_make_it_ipv4)
{
	struct scene scene;
	uint32_t next[2];
	struct seen syn;

	begin(&scene, hosts[_i][0], hosts[_i][1]);
	pcap_tcp_open(&scene.tcp, &scene.out, 1, NULL);
	syn = read_packet(&scene);
	ck_assert_uint_eq(syn.is_ipv4, _i < 2);
	scene.at = scene.file;
	expect_open(&scene, next);
	end(&scene);
}
END_TEST

START_TEST(of_a_cut_message_only_the_first_segment_has_bytes)
{
	static const uint32_t kept[] = {0, 1, 128, 65489, 65490};
	uint32_t next[2];
	struct scene scene;

	begin(&scene, hosts[_i][0], hosts[_i][1]);
	pcap_tcp_open(&scene.tcp, &scene.out, 1, NULL);
	expect_open(&scene, next);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		for (size_t k = 0; k < ARRAY_SIZE(kept) && kept[k] < lengths[i]; k++) {
			uint8_t *data = message(kept[k]);

			put(&scene, PCAP_TCP_SERVER, data, lengths[i], kept[k]);
			expect_message(&scene, next, PCAP_TCP_SERVER, data, lengths[i], kept[k]);
			free(data);
		}
	end(&scene);
}
END_TEST

START_TEST(more_than_a_segment_of_a_cut_message_is_not_written)
{
	uint8_t *data = message(200000);
	uint32_t next[2];
	struct scene scene;

	begin(&scene, hosts[0][0], hosts[0][1]);
	pcap_tcp_open(&scene.tcp, &scene.out, 1, NULL);
	expect_open(&scene, next);
	put(&scene, PCAP_TCP_CLIENT, data, 200000, 199999);
	expect_message(&scene, next, PCAP_TCP_CLIENT, data, 200000, PCAP_TCP_CUT_BYTES);
	free(data);
	end(&scene);
}
END_TEST

START_TEST(both_ends_close_the_connection)
{
	uint32_t next[2];
	struct scene scene;
	struct seen seen;

	begin(&scene, hosts[0][0], hosts[0][1]);
	pcap_tcp_open(&scene.tcp, &scene.out, 1, NULL);
	pcap_tcp_close(&scene.tcp, &scene.out, 2, NULL);
	ck_assert_uint_le(pcapng_written_bytes(&scene.out), 2 * PCAP_TCP_ENDS_BYTES);
	ck_assert_uint_eq(scene.out.packets, 6);
	expect_open(&scene, next);
	seen = read_packet(&scene);
	expect(&seen, TH_FIN | TH_ACK, PCAP_TCP_CLIENT);
	ck_assert_uint_eq(ntohl(seen.tcp.th_seq), next[PCAP_TCP_CLIENT]);
	seen = read_packet(&scene);
	expect(&seen, TH_FIN | TH_ACK, PCAP_TCP_SERVER);
	ck_assert_uint_eq(ntohl(seen.tcp.th_ack), next[PCAP_TCP_CLIENT] + 1);
	seen = read_packet(&scene);
	expect(&seen, TH_ACK, PCAP_TCP_CLIENT);
	ck_assert_uint_eq(ntohl(seen.tcp.th_ack), next[PCAP_TCP_SERVER] + 1);
	end(&scene);
}
END_TEST

START_TEST(another_connection_has_other_numbers)
{
	struct sockaddr_storage client = address(hosts[0][0], 700), none = {0};
	struct pcap_tcp a, b;

	pcap_tcp_init(&a, (struct sockaddr *)&client, (struct sockaddr *)&none, 1);
	pcap_tcp_init(&b, (struct sockaddr *)&client, (struct sockaddr *)&none, 2);
	ck_assert_uint_ne(a.ends[0].next, b.ends[0].next);
	ck_assert_uint_ne(a.ends[1].next, b.ends[1].next);
	/* Without an address it is an address still. */
	ck_assert(a.is_ipv4);
	ck_assert_uint_eq(a.ends[1].port, 0);
}
END_TEST

START_TEST(comments_stand_at_the_first_packet)
{
	static const char *const comments[] = {"said once", NULL};
	uint8_t *data = message(200000);
	const struct pcap_tcp_message call = {.from = PCAP_TCP_CLIENT,
					      .data = data,
					      .len_bytes = 200000,
					      .kept_bytes = 200000,
					      .comments = comments};
	struct scene scene;
	size_t first;

	begin(&scene, hosts[0][0], hosts[0][1]);
	pcap_tcp_write_message(&scene.tcp, &scene.out, &call);
	first = word(scene.file + 4);
	ck_assert_ptr_nonnull(memmem(scene.file, first, "said once", 9));
	ck_assert_ptr_null(memmem(scene.file + first, pcapng_written_bytes(&scene.out) - first,
				  "said once", 9));
	scene.at = scene.out.pos;
	free(data);
	end(&scene);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pcap_tcp");
	TCase *tcase = tcase_create("pcap_tcp");

	tcase_add_loop_test(tcase, messages_come_out_as_they_went_in, 0, ARRAY_SIZE(hosts));
	tcase_add_loop_test(tcase, two_ipv4_addresses_make_it_ipv4, 0, ARRAY_SIZE(hosts));
	tcase_add_loop_test(tcase, of_a_cut_message_only_the_first_segment_has_bytes, 0,
			    ARRAY_SIZE(hosts));
	tcase_add_test(tcase, more_than_a_segment_of_a_cut_message_is_not_written);
	tcase_add_test(tcase, both_ends_close_the_connection);
	tcase_add_test(tcase, another_connection_has_other_numbers);
	tcase_add_test(tcase, comments_stand_at_the_first_packet);
	suite_add_tcase(suite, tcase);
	return test_main(suite);
}
