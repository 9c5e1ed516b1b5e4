// SPDX-License-Identifier: BSD-3-Clause
/* Tests the messages to rpcbind, and the parsing of its answers. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/rpcbind/rpcb_xdr.h"
#include "rpc/record_mark.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

static const struct {
	int family;
	const char *host;
	uint16_t port;
	const char *text;
} addresses[] = {
	{AF_INET, "192.0.2.1", 2049, "192.0.2.1.8.1"},
	{AF_INET, "0.0.0.0", 65535, "0.0.0.0.255.255"},
	{AF_INET6, "::", 20049, "::.78.81"},
	{AF_INET6, "2001:db8::1", 80, "2001:db8::1.0.80"},
	{AF_INET6, "::ffff:192.0.2.1", 2049, "192.0.2.1.8.1"},
	{AF_UNIX, NULL, 0, ""},
};

START_TEST(addresses_are_as_rpcbind_has_them)
{
	struct sockaddr_storage addr = {.ss_family = (sa_family_t)addresses[_i].family};
	char text[UADDR_TEXT_BYTES];

	if (addr.ss_family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)&addr;

		inet_pton(AF_INET, addresses[_i].host, &in->sin_addr);
		in->sin_port = htons(addresses[_i].port);
	} else if (addr.ss_family == AF_INET6) {
		struct sockaddr_in6 *in = (struct sockaddr_in6 *)&addr;

		inet_pton(AF_INET6, addresses[_i].host, &in->sin6_addr);
		in->sin6_port = htons(addresses[_i].port);
	}
	ck_assert_str_eq(uaddr_encode((const struct sockaddr *)&addr, text), addresses[_i].text);
}
END_TEST

START_TEST(a_call_is_as_rfc_1833_has_it)
{
	static const uint8_t golden[] =
		{
			0x80, 0,    0,    0x50,                   /* a record of one fragment */
			1,    2,    3,    4,                      /* XID */
			0,    0,    0,    0,                      /* CALL */
			0,    0,    0,    2,                      /* RPC version */
			0,    0x01, 0x86, 0xa0,                   /* RPCBIND */
			0,    0,    0,    3,                      /* its version */
			0,    0,    0,    1,                      /* SET */
			0,    0,    0,    0,    0,   0,   0,   0, /* AUTH_NONE */
			0,    0,    0,    0,    0,   0,   0,   0, /* AUTH_NONE */
			0,    0x01, 0x86, 0xa3,                   /* NFS */
			0,    0,    0,    4,                      /* version 4 */
			0,    0,    0,    4,    'r', 'd', 'm', 'a', 0,   0,   0,
			13,   '1',  '9',  '2',  '.', '0', '.', '2', '.', '1', '.',
			'8',  '.',  '1',  0,    0,   0,   0,   0,   0,   0, /* and no owner */
		};
	uint8_t call[RPCBIND_MAX_CALL_BYTES];
	size_t len =
		rpcb_call_encode(call, 0x01020304, RPCBIND_SET, 100003, 4, "rdma", "192.0.2.1.8.1");

	ck_assert_uint_eq(len, sizeof(golden));
	ck_assert_mem_eq(call, golden, len);
}
END_TEST

START_TEST(the_longest_call_fits)
{
	static const char longest[] = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255.255.255";
	char more[RPCBIND_MAX_CALL_BYTES];
	uint8_t call[RPCBIND_MAX_CALL_BYTES];

	ck_assert_uint_le(strlen(longest), UADDR_TEXT_BYTES - 1);
	ck_assert_uint_gt(rpcb_call_encode(call, 1, RPCBIND_SET, 1, 1, "rdma6", longest), 0);
	memset(more, 'x', sizeof(more) - 1);
	more[sizeof(more) - 1] = '\0';
	ck_assert_uint_eq(rpcb_call_encode(call, 1, RPCBIND_SET, 1, 1, "rdma6", more), 0);
}
END_TEST

#define ACCEPTED "00000007 00000001 00000000 00000000 00000000 "

static const struct {
	const char *hex;
	enum rpcb_reply reply;
} replies[] = {
	{ACCEPTED "00000000 00000001", RPCBIND_YES},
	{ACCEPTED "00000000 00000000", RPCBIND_NO},
	{ACCEPTED "00000001", RPCBIND_ERROR},                            /* PROG_UNAVAIL */
	{"00000007 00000001 00000001 00000001 00000005", RPCBIND_ERROR}, /* AUTH_TOOWEAK */
	{"00000008 00000001 00000000 00000000 00000000 00000000 00000001", RPCBIND_ANOTHER},
	{ACCEPTED "00000000 00000002", RPCBIND_GARBAGE}, /* no bool */
	{ACCEPTED "00000000 00000001 00000000", RPCBIND_GARBAGE},
	{ACCEPTED "00000000", RPCBIND_GARBAGE},
	{"00000007 00000000 00000002", RPCBIND_GARBAGE}, /* a Call */
	{"", RPCBIND_GARBAGE},
};

START_TEST(a_reply_says_yes_or_no)
{
	uint8_t message[RPCBIND_MAX_REPLY_BYTES];
	size_t len = hex_bytes(replies[_i].hex, message, sizeof(message));

	ck_assert_int_eq(rpcbind_reply(message, len, 7), replies[_i].reply);
}
END_TEST

START_TEST(a_reply_that_is_cut_off_is_garbage)
{
	uint8_t message[RPCBIND_MAX_REPLY_BYTES], *copy;
	size_t len = hex_bytes(replies[0].hex, message, sizeof(message));

	for (size_t i = 0; i < len; i++) {
		copy = exact_copy(message, i);
		ck_assert_int_eq(rpcbind_reply(copy, i, 7), RPCBIND_GARBAGE);
		free(copy);
	}
}
END_TEST

static const struct {
	const char *hex;
	enum rpcb_reply reply;
	uint16_t port;
} ports[] = {
	/* "10.0.0.1.78.80" */
	{ACCEPTED "00000000 0000000e 31302e30 2e302e31 2e37382e 38300000", RPCBIND_YES, 20048},
	/* "::1.0.111" */
	{ACCEPTED "00000000 00000009 3a3a312e 302e3131 31000000", RPCBIND_YES, 111},
	{ACCEPTED "00000000 00000000", RPCBIND_NO, 0},
	{ACCEPTED "00000001", RPCBIND_ERROR, 0},
	{"00000008 00000001 00000000 00000000 00000000 00000000 00000000", RPCBIND_ANOTHER, 0},
	/* "1.0.0" */
	{ACCEPTED "00000000 00000005 312e302e 30000000", RPCBIND_GARBAGE, 0},
	/* "1.256.1", "1.1.256", "1.1.1x", "1.-1.1" */
	{ACCEPTED "00000000 00000007 312e3235 362e3100", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000007 312e312e 32353600", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000006 312e312e 31780000", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000006 312e2d31 2e310000", RPCBIND_GARBAGE, 0},
	/* "1", ".", "..", "a.b" */
	{ACCEPTED "00000000 00000001 31000000", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000001 2e000000", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000002 2e2e0000", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000003 612e6200", RPCBIND_GARBAGE, 0},
	/* A byte of zero within, and a text that is too long. */
	{ACCEPTED "00000000 00000007 31002e30 2e310000", RPCBIND_GARBAGE, 0},
	{ACCEPTED "00000000 00000041 312e302e", RPCBIND_GARBAGE, 0},
	{"", RPCBIND_GARBAGE, 0},
};

START_TEST(a_reply_names_a_port)
{
	uint8_t message[RPCBIND_MAX_REPLY_BYTES], *copy;
	size_t len = hex_bytes(ports[_i].hex, message, sizeof(message));
	uint16_t port = 0;

	ck_assert_int_eq(rpcb_reply_port(message, len, 7, &port), ports[_i].reply);
	ck_assert_uint_eq(port, ports[_i].port);
	for (size_t i = 0; i < len && ports[_i].port; i++) {
		copy = exact_copy(message, i);
		ck_assert_int_eq(rpcb_reply_port(copy, i, 7, &port), RPCBIND_GARBAGE);
		free(copy);
	}
}
END_TEST

START_TEST(a_getaddr_call_is_encoded_as_in_rfc_1833)
{
	static const uint8_t args[] = {0,   1,   0x86, 0xa5, 0, 0, 0, 3, 0, 0, 0, 3,
				       't', 'c', 'p',  0,    0, 0, 0, 0, 0, 0, 0, 0};
	uint8_t call[RPCBIND_MAX_CALL_BYTES];
	size_t len = rpcb_call_encode(call, 7, RPCBIND_GETADDR, 100005, 3, "tcp", "");

	ck_assert_uint_eq(len, 4 + 40 + sizeof(args));
	ck_assert_uint_eq(call[4 + 23], RPCBIND_GETADDR);
	ck_assert_mem_eq(call + 4 + 40, args, sizeof(args));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpcbind");
	TCase *tc = tcase_create("rpcbind");

	tcase_add_loop_test(tc, addresses_are_as_rpcbind_has_them, 0, ARRAY_SIZE(addresses));
	tcase_add_test(tc, a_call_is_as_rfc_1833_has_it);
	tcase_add_test(tc, the_longest_call_fits);
	tcase_add_loop_test(tc, a_reply_says_yes_or_no, 0, ARRAY_SIZE(replies));
	tcase_add_test(tc, a_reply_that_is_cut_off_is_garbage);
	tcase_add_loop_test(tc, a_reply_names_a_port, 0, ARRAY_SIZE(ports));
	tcase_add_test(tc, a_getaddr_call_is_encoded_as_in_rfc_1833);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
