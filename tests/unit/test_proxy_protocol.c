// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the header of the PROXY protocol, byte for byte: both versions are read, version 2 is
 * written, and hostile headers are rejected.
 */
#include "stream/proxy_protocol.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define SIGNATURE "0d0a0d0a 000d0a51 5549540a "
/* As HAProxy 2.6 sends it, with a CRC32C and a unique id. */
#define HAPROXY SIGNATURE "21 11 0019 7f000001 7f000001 02c9 3264 03 0004 0e61d98b 05 0003 616263"
#define V4      "c000020a c000021e 02c7 0801 "
#define V6      "20010db8 00000000 00000000 0000000a 20010db8 00000000 00000000 0000001e 02c7 0801 "

static uint8_t bytes[4096];
static struct proxy_header header;
static size_t used;

/* In memory of exactly its size. */
static enum proxy_header_verdict decode(const uint8_t *data, size_t len)
{
	uint8_t *copy = exact_copy(data, len);
	enum proxy_header_verdict verdict;

	memset(&header, 0x55, sizeof(header));
	used = 9999;
	verdict = proxy_header_decode(copy, len, &header, &used);
	if (verdict != PROXY_HEADER_OK)
		ck_assert_uint_eq(used, 9999);
	free(copy);
	return verdict;
}

static enum proxy_header_verdict decode_hex(const char *hex)
{
	return decode(bytes, hex_bytes(hex, bytes, sizeof(bytes)));
}

static enum proxy_header_verdict decode_text(const char *text)
{
	return decode((const uint8_t *)text, strlen(text));
}

static struct sockaddr_storage address(const char *host, unsigned port)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	if (inet_pton(AF_INET, host, &in->sin_addr) == 1)
		addr.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1)
		addr.ss_family = AF_INET6;
	else
		ck_abort_msg("%s", host);
	sockaddr_set_port((struct sockaddr *)&addr, (uint16_t)port);
	return addr;
}

static void expect(const struct sockaddr_storage *addr, const char *host, unsigned port)
{
	struct sockaddr_storage wanted = address(host, port);

	ck_assert_int_eq(addr->ss_family, wanted.ss_family);
	ck_assert(sockaddr_equal((struct sockaddr *)addr, (struct sockaddr *)&wanted));
}

/* ---- version 1 ---- */

START_TEST(a_line_names_both_ends)
{
	static const char four[] = "PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n";
	static const char six[] = "PROXY TCP6 2001:db8::a ::ffff:192.0.2.30 65535 0\r\nmore";

	ck_assert_int_eq(decode_text(four), PROXY_HEADER_OK);
	ck_assert(header.named);
	ck_assert_uint_eq(used, strlen(four));
	expect(&header.source, "192.0.2.10", 711);
	expect(&header.destination, "192.0.2.30", 2049);
	ck_assert_int_eq(decode_text(six), PROXY_HEADER_OK);
	ck_assert_uint_eq(used, strlen(six) - 4);
	expect(&header.source, "2001:db8::a", 65535);
	expect(&header.destination, "::ffff:192.0.2.30", 0);
}
END_TEST

START_TEST(an_unknown_line_names_no_client)
{
	ck_assert_int_eq(decode_text("PROXY UNKNOWN\r\n"), PROXY_HEADER_OK);
	ck_assert(!header.named);
	ck_assert_uint_eq(used, 15);
	/* The longest that there is. */
	ck_assert_int_eq(decode_text("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
				     "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
			 PROXY_HEADER_OK);
	ck_assert(!header.named);
	ck_assert_uint_eq(used, PROXY_HEADER_V1_MAX_BYTES);
}
END_TEST

START_TEST(a_line_that_is_anything_else_is_not_taken)
{
	static const char *const rows[] = {
		"PROXY \r\n",
		"PROXY TCP4\r\n",
		"PROXY TCP5 192.0.2.10 192.0.2.30 711 2049\r\n",
		"PROXY tcp4 192.0.2.10 192.0.2.30 711 2049\r\n",
		"PROXY UNKNOWNS\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 711 2049 \r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 711 2049 1\r\n",
		"PROXY TCP4  192.0.2.10 192.0.2.30 711 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 711\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 711 65536\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 99999 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 100000 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 0711 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 +711 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 7x 2049\r\n",
		"PROXY TCP4 192.0.2 192.0.2.30 711 2049\r\n",
		"PROXY TCP4 host 192.0.2.30 711 2049\r\n",
		"PROXY TCP4 2001:db8::a 192.0.2.30 711 2049\r\n",
		"PROXY TCP6 192.0.2.10 192.0.2.30 711 2049\r\n",
		"PROXY TCP6 2001:db8::a%eth0 2001:db8::b 711 2049\r\n",
	};
	static const char zero[] = "PROXY TCP4 192.0.2.10\0 192.0.2.30 711 2049\r\n";

	ck_assert_int_eq(decode_text(rows[_i]), PROXY_HEADER_BAD_LINE);
	ck_assert_int_eq(decode((const uint8_t *)zero, sizeof(zero) - 1), PROXY_HEADER_BAD_LINE);
}
END_TEST

START_TEST(a_line_with_an_impossible_source_is_refused)
{
	static const char *const rows[] = {
		"PROXY TCP4 0.0.0.0 192.0.2.30 711 2049\r\n",
		"PROXY TCP4 192.0.2.10 192.0.2.30 0 2049\r\n",
		"PROXY TCP6 :: 2001:db8::1e 711 2049\r\n",
	};

	ck_assert_int_eq(decode_text(rows[_i]), PROXY_HEADER_BAD_SOURCE);
}
END_TEST

START_TEST(an_endless_line_is_detected_at_its_limit)
{
	char line[200];

	memset(line, 'x', sizeof(line));
	memcpy(line, "PROXY UNKNOWN ", 14);
	for (size_t len = 1; len < PROXY_HEADER_V1_MAX_BYTES; len++)
		ck_assert_int_eq(decode((uint8_t *)line, len), PROXY_HEADER_MORE);
	ck_assert_int_eq(decode((uint8_t *)line, PROXY_HEADER_V1_MAX_BYTES), PROXY_HEADER_TOO_LONG);
	memcpy(line + PROXY_HEADER_V1_MAX_BYTES - 1, "\r\n", 2);
	ck_assert_int_eq(decode((uint8_t *)line, sizeof(line)), PROXY_HEADER_TOO_LONG);
}
END_TEST

/* ---- version 2 ---- */

START_TEST(a_block_names_both_ends)
{
	ck_assert_int_eq(decode_hex(SIGNATURE "21 11 000c " V4 "80000028"), PROXY_HEADER_OK);
	ck_assert(header.named);
	ck_assert_uint_eq(used, 28);
	expect(&header.source, "192.0.2.10", 711);
	expect(&header.destination, "192.0.2.30", 2049);
	ck_assert_int_eq(decode_hex(SIGNATURE "21 21 0024 " V6), PROXY_HEADER_OK);
	ck_assert(header.named);
	ck_assert_uint_eq(used, 52);
	expect(&header.source, "2001:db8::a", 711);
	expect(&header.destination, "2001:db8::1e", 2049);
}
END_TEST

START_TEST(local_headers_and_headers_without_an_address_name_no_client)
{
	static char path[2 * 216 + 1];
	static const struct {
		const char *head;
		bool has_paths;
	} rows[] = {
		{SIGNATURE "20 00 0000", false},
		{SIGNATURE "20 11 000c " V4, false},
		{SIGNATURE "20 11 0000", false},
		{SIGNATURE "20 ff 0003 010203", false},
		{SIGNATURE "21 00 0000", false},
		{SIGNATURE "21 00 0004 04 0001 00", false},
		{SIGNATURE "21 31 00d8", true},
		{SIGNATURE "21 32 00d8", true},
		{SIGNATURE "20 00 0005 ffffff0102", false},
		{SIGNATURE "21 00 0003 eeeeee", false},
	};
	char hex[1024];

	memset(path, '2', sizeof(path) - 1);
	snprintf(hex, sizeof(hex), "%s%s", rows[_i].head, rows[_i].has_paths ? path : "");
	ck_assert_int_eq(decode_hex(hex), PROXY_HEADER_OK);
	ck_assert(!header.named);
	ck_assert_uint_eq(used, hex_bytes(hex, bytes, sizeof(bytes)));
}
END_TEST

START_TEST(tlvs_are_passed_over)
{
	ck_assert_int_eq(decode_hex(SIGNATURE "21 11 0019 " V4 "04 0003 000000 ea 0004 01020304"),
			 PROXY_HEADER_OK);
	ck_assert(header.named);
	ck_assert_uint_eq(used, 41);
	ck_assert_int_eq(decode_hex(SIGNATURE "21 11 000f " V4 "02 0000"), PROXY_HEADER_OK);
}
END_TEST

START_TEST(a_block_that_is_anything_else_is_not_taken)
{
	static const struct {
		const char *hex;
		enum proxy_header_verdict verdict;
	} rows[] = {
		{SIGNATURE "11 11 000c " V4, PROXY_HEADER_BAD_COMMAND},
		{SIGNATURE "31 11 000c " V4, PROXY_HEADER_BAD_COMMAND},
		{SIGNATURE "22 11 000c " V4, PROXY_HEADER_BAD_COMMAND},
		{SIGNATURE "21 12 000c " V4, PROXY_HEADER_BAD_FAMILY},
		{SIGNATURE "21 22 0024 " V6, PROXY_HEADER_BAD_FAMILY},
		{SIGNATURE "21 01 0000", PROXY_HEADER_BAD_FAMILY},
		{SIGNATURE "21 41 0000", PROXY_HEADER_BAD_FAMILY},
		{SIGNATURE "21 11 000b " V4, PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 21 000c " V4, PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 31 000c " V4, PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 000d " V4 "04", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 000e " V4 "04 00", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 000f " V4 "04 0001", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 0010 " V4 "04 ffff 00", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 0012 " V4 "03 0003 000000", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 0014 " V4 "03 0005 0000000000", PROXY_HEADER_BAD_LENGTH},
		{SIGNATURE "21 11 0013 " V4 "03 0004 00000000", PROXY_HEADER_BAD_CRC},
		{SIGNATURE "20 00 0007 03 0004 00000000", PROXY_HEADER_BAD_CRC},
		{SIGNATURE "21 11 07f1", PROXY_HEADER_TOO_LONG},
		{SIGNATURE "20 00 ffff", PROXY_HEADER_TOO_LONG},
		/*
		 * From where nobody comes: 0.0.0.0, 224.0.0.1, 255.255.255.255, ::, ff02::1, and a
		 * port of 0.
		 */
		{SIGNATURE "21 11 000c 00000000 c000021e 02c7 0801", PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 11 000c e0000001 c000021e 02c7 0801", PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 11 000c ffffffff c000021e 02c7 0801", PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 11 000c c000020a c000021e 0000 0801", PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 21 0024 00000000000000000000000000000000"
			   "20010db800000000000000000000001e 02c7 0801",
		 PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 21 0024 00000000000000000000ffff00000000"
			   "20010db800000000000000000000001e 02c7 0801",
		 PROXY_HEADER_BAD_SOURCE},
		{SIGNATURE "21 21 0024 ff020000000000000000000000000001"
			   "20010db800000000000000000000001e 02c7 0801",
		 PROXY_HEADER_BAD_SOURCE},
	};

	ck_assert_int_eq(decode_hex(rows[_i].hex), rows[_i].verdict);
}
END_TEST

START_TEST(the_longest_block_is_taken)
{
	uint8_t block[PROXY_HEADER_MAX_BYTES] = {0};
	size_t at = hex_bytes(SIGNATURE "21 11 07f0 " V4 "04 07e1", block, sizeof(block));

	ck_assert_int_eq(decode(block, sizeof(block) - 1), PROXY_HEADER_MORE);
	ck_assert_int_eq(decode(block, sizeof(block)), PROXY_HEADER_OK);
	ck_assert_uint_eq(used, PROXY_HEADER_MAX_BYTES);
	ck_assert_uint_eq(at + 0x7e1, sizeof(block));
}
END_TEST

/* ---- sweeps ---- */

static const char *const wholes[] = {HAPROXY, SIGNATURE "21 21 0024 " V6, SIGNATURE "20 00 0000"};

START_TEST(a_truncated_header_waits_for_more)
{
	static const char line[] = "PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n";
	size_t len = hex_bytes(wholes[_i], bytes, sizeof(bytes));

	ck_assert_int_eq(decode(bytes, len), PROXY_HEADER_OK);
	ck_assert_uint_eq(used, len);
	for (size_t cut = 0; cut < len; cut++)
		ck_assert_int_eq(decode(bytes, cut), PROXY_HEADER_MORE);
	for (size_t cut = 0; cut < strlen(line); cut++)
		ck_assert_int_eq(decode((const uint8_t *)line, cut), PROXY_HEADER_MORE);
}
END_TEST

/* None of its bits can be another without the sum showing it, or the header being none, or cut. */
START_TEST(a_sum_guards_every_bit)
{
	size_t len = hex_bytes(HAPROXY, bytes, sizeof(bytes));

	ck_assert_int_eq(decode(bytes, len), PROXY_HEADER_OK);
	expect(&header.source, "127.0.0.1", 713);
	for (size_t bit = 0; bit < len * 8; bit++) {
		size_t type = 8 * 28; /* of the TLV: nobody knows then that there was a sum */

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (bit < type || bit >= type + 8)
			ck_assert_int_ne(decode(bytes, len), PROXY_HEADER_OK);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

START_TEST(an_invalid_header_is_detected_at_its_first_wrong_byte)
{
	size_t len = hex_bytes(SIGNATURE, bytes, sizeof(bytes));

	for (size_t i = 0; i < len; i++) {
		bytes[i] ^= 0x80;
		ck_assert_int_eq(decode(bytes, i + 1), PROXY_HEADER_NONE);
		bytes[i] ^= 0x80;
	}
	for (size_t i = 0; i < 6; i++) {
		char line[] = "PROXY TCP4";

		line[i]++;
		ck_assert_int_eq(decode((uint8_t *)line, i + 1), PROXY_HEADER_NONE);
	}
	ck_assert_int_eq(decode_text("MPA ID Req Frame"), PROXY_HEADER_NONE);
	ck_assert_int_eq(decode_hex("80000028 00000001 00000000"), PROXY_HEADER_NONE);
}
END_TEST

/* ---- sending ---- */

static void expect_sent(const char *source, const char *destination, const char *hex)
{
	struct proxy_header sent = {
		.named = true,
		.source = address(source, 711),
		.destination = address(destination, 2049),
	};
	uint8_t *to = malloc(PROXY_HEADER_SENT_BYTES);
	size_t len = proxy_header_encode(&sent, to);

	ck_assert_uint_eq(len, hex_bytes(hex, bytes, sizeof(bytes)));
	ck_assert_mem_eq(to, bytes, len);
	ck_assert_int_eq(decode(to, len), PROXY_HEADER_OK);
	ck_assert(header.named);
	ck_assert(
		sockaddr_equal((struct sockaddr *)&header.source, (struct sockaddr *)&sent.source));
	ck_assert(sockaddr_equal((struct sockaddr *)&header.destination,
				 (struct sockaddr *)&sent.destination));
	free(to);
}

START_TEST(sent_headers_have_exactly_these_bytes)
{
	expect_sent("192.0.2.10", "192.0.2.30", SIGNATURE "21 11 000c " V4);
	expect_sent("2001:db8::a", "2001:db8::1e", SIGNATURE "21 21 0024 " V6);
	/* As a socket for both families has it. */
	expect_sent("::ffff:192.0.2.10", "::ffff:192.0.2.30", SIGNATURE "21 11 000c " V4);
	expect_sent("::ffff:192.0.2.10", "192.0.2.30", SIGNATURE "21 11 000c " V4);
	expect_sent("192.0.2.10", "2001:db8::1e",
		    SIGNATURE "21 21 0024 00000000 00000000 0000ffff c000020a "
			      "20010db8 00000000 00000000 0000001e 02c7 0801");
}
END_TEST

START_TEST(a_header_without_a_client_is_sent_as_local)
{
	struct proxy_header sent = {.source = address("192.0.2.10", 1)};
	uint8_t to[PROXY_HEADER_SENT_BYTES];
	size_t local = hex_bytes(SIGNATURE "20 00 0000", bytes, sizeof(bytes));

	ck_assert_uint_eq(proxy_header_encode(&sent, to), local);
	ck_assert_mem_eq(to, bytes, local);
	sent.named = true; /* but the other address is of no family */
	ck_assert_uint_eq(proxy_header_encode(&sent, to), local);
	ck_assert_mem_eq(to, bytes, local);
}
END_TEST

START_TEST(every_verdict_has_words)
{
	for (unsigned i = 0; i < PROXY_HEADER_VERDICT_COUNT; i++)
		ck_assert(proxy_header_verdict_text((enum proxy_header_verdict)i)[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proxy_header");
	TCase *tc = tcase_create("proxy_header");

	tcase_add_test(tc, a_line_names_both_ends);
	tcase_add_test(tc, an_unknown_line_names_no_client);
	tcase_add_loop_test(tc, a_line_that_is_anything_else_is_not_taken, 0, 21);
	tcase_add_test(tc, an_endless_line_is_detected_at_its_limit);
	tcase_add_test(tc, a_block_names_both_ends);
	tcase_add_loop_test(tc, local_headers_and_headers_without_an_address_name_no_client, 0, 10);
	tcase_add_test(tc, tlvs_are_passed_over);
	tcase_add_loop_test(tc, a_block_that_is_anything_else_is_not_taken, 0, 27);
	tcase_add_loop_test(tc, a_line_with_an_impossible_source_is_refused, 0, 3);
	tcase_add_test(tc, the_longest_block_is_taken);
	tcase_add_loop_test(tc, a_truncated_header_waits_for_more, 0, 3);
	tcase_add_test(tc, a_sum_guards_every_bit);
	tcase_add_test(tc, an_invalid_header_is_detected_at_its_first_wrong_byte);
	tcase_add_test(tc, sent_headers_have_exactly_these_bytes);
	tcase_add_test(tc, a_header_without_a_client_is_sent_as_local);
	tcase_add_test(tc, every_verdict_has_words);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
