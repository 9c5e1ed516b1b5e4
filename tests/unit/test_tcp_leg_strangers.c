// SPDX-License-Identifier: BSD-3-Clause
/* Tests the log lines about peers of a TCP leg that do not speak RPC. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"
#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

static const struct {
	const char *bytes;
	size_t len_bytes;
	const char *of_client, *of_server;
} strangers[] = {
	{"GET / HTTP/1.1\r\nHost: example\r\n\r\n", 33,
	 "does not look like RPC: the first bytes are \"GET / HTTP/1.1..\" (HTTP)",
	 "does not look like RPC: the first bytes are \"GET / HTTP/1.1..\" (HTTP): is that its RPC "
	 "port?"},
	{"HTTP/1.1 400 Bad Request\r\n\r\n", 28,
	 "does not look like RPC: the first bytes are \"HTTP/1.1 400 Bad\" (HTTP)",
	 "does not look like RPC: the first bytes are \"HTTP/1.1 400 Bad\" (HTTP): is that its RPC "
	 "port?"},
	{"SSH-2.0-OpenSSH_9.2p1\r\n", 23,
	 "does not look like RPC: the first bytes are \"SSH-2.0-OpenSSH_\" (SSH)",
	 "does not look like RPC: the first bytes are \"SSH-2.0-OpenSSH_\" (SSH): is that its RPC "
	 "port?"},
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11,
	 "does not look like RPC: the first bytes are 16 03 01 02 00 01 00 01 fc 03 03 (TLS): "
	 "RPC-with-TLS begins with a probe (AUTH_TLS)",
	 "does not look like RPC: the first bytes are 16 03 01 02 00 01 00 01 fc 03 03 (TLS): is that "
	 "its RPC port?"},
	{"MPA ID Req Frame\x10\x02\x00\x04\x00\x10\x00\x10", 24,
	 "looks like iWARP, not RPC over TCP: this service listens for TCP (mount with proto=tcp, or "
	 "add an rdma:// service)",
	 "does not look like RPC: the first bytes are \"MPA ID Req Frame\" (iWARP): is that its RPC "
	 "port?"},
	/* A record that is no RPC message, and one of no known use. */
	{"\x80\x00\x00\x10 is this RPC? ..", 20,
	 "does not look like RPC: the first bytes are 80 00 00 10 20 69 73 20 74 68 69 73 20 52 50 43",
	 "does not look like RPC: the first bytes are 80 00 00 10 20 69 73 20 74 68 69 73 20 52 50 43: "
	 "is that its RPC port?"},
	{"hello, is there anybody?", 24,
	 "does not look like RPC: the first bytes are \"hello, is there \"",
	 "does not look like RPC: the first bytes are \"hello, is there \": is that its RPC port?"},
};

static void give_stranger(int i, size_t cut)
{
	const uint8_t *bytes = (const uint8_t *)strangers[i].bytes;

	peer_write(bytes, cut);
	settle();
	if (!seen.closed)
		peer_write(bytes + cut, strangers[i].len_bytes - cut);
}

static void expect_closed(enum leg_close why, const char *detail)
{
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, why);
	ck_assert_str_eq(seen.detail, detail);
}

START_TEST(a_non_rpc_client_is_reported_by_its_bytes)
{
	fixture_accept();
	give_stranger(_i, strangers[_i].len_bytes);
	RUN_UNTIL(seen.requested);
	leg_accept(leg);
	expect_closed(LEG_CLOSE_NOT_RPC, strangers[_i].of_client);
	ck_assert_int_eq(seen.close_errno,
			 strstr(strangers[_i].of_client, "looks like iWARP") ? EPROTOTYPE : 0);
}
END_TEST

START_TEST(a_non_rpc_server_is_reported_by_its_bytes)
{
	fixture_connect();
	give_stranger(_i, strangers[_i].len_bytes);
	expect_closed(LEG_CLOSE_NOT_RPC, strangers[_i].of_server);
	ck_assert_int_eq(seen.close_errno, 0);
}
END_TEST

/*
 * The mark shows that it is too long, or the first words that it is no RPC: what is here by then is
 * shown.
 */
START_TEST(the_log_shows_as_many_bytes_as_the_decision_needed)
{
	for (size_t cut = 1; cut < 3; cut++) {
		fixture_connect();
		give_stranger(0, cut);
		expect_closed(LEG_CLOSE_NOT_RPC, strangers[0].of_server);
		fixture_teardown();
		fixture_setup();
	}
	fixture_connect();
	give_stranger(0, 4);
	expect_closed(
		LEG_CLOSE_NOT_RPC,
		"does not look like RPC: the first bytes are \"GET \" (HTTP): is that its RPC "
		"port?");
}
END_TEST

START_TEST(a_record_of_rpc_that_is_too_long_is_no_stranger)
{
	uint8_t bytes[RECORD_MARK_BYTES + 40];

	fixture_accept();
	record_mark_encode(bytes, 0x7fffffffu);
	put_call(bytes + RECORD_MARK_BYTES, 1, 40, 0);
	peer_write(bytes, _i ? sizeof(bytes) : RECORD_MARK_BYTES);
	RUN_UNTIL(seen.requested);
	leg_accept(leg);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_RECORD_TOO_BIG);
}
END_TEST

START_TEST(a_peer_that_has_sent_rpc_is_never_reported_as_non_rpc)
{
	fixture_open();
	give_stranger(0, strangers[0].len_bytes);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_RECORD_TOO_BIG);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len_bytes;
} proxy_headers[] = {
	{"PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n", 43},
	{"PROXY UNKNOWN\r\n", 15},
	{"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x0a\xc0\0\x02\x1e\x02\xc7\x08\x01", 28},
	{"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16},
};

static void give_proxy_header(int i, size_t cut)
{
	const uint8_t *bytes = (const uint8_t *)proxy_headers[i].bytes;

	peer_write(bytes, cut);
	settle();
	if (!seen.closed)
		peer_write(bytes + cut, proxy_headers[i].len_bytes - cut);
}

/* However it is cut on its way. */
START_TEST(a_proxy_header_is_a_reason_of_its_own)
{
	for (size_t cut = 1; cut < proxy_headers[_i].len_bytes; cut++) {
		fixture_accept();
		RUN_UNTIL(true);
		give_proxy_header(_i, cut);
		RUN_UNTIL(seen.requested);
		leg_accept(leg);
		expect_closed(LEG_CLOSE_PROXY_HEADER,
			      "peer not in accept_proxy_from, or a second header");
		fixture_teardown();
		fixture_setup();
	}
	fixture_accept();
}
END_TEST

START_TEST(a_proxy_header_between_records_is_one_too)
{
	for (size_t cut = 1; cut < proxy_headers[_i].len_bytes; cut++) {
		fixture_open();
		peer_send_call(77, 44, 0);
		give_proxy_header(_i, cut);
		expect_closed(LEG_CLOSE_PROXY_HEADER, "in the middle of the stream");
		fixture_teardown();
		fixture_setup();
	}
	fixture_accept();
}
END_TEST

/* It says nothing of a client, and so is what any stranger says. */
START_TEST(a_server_that_sends_a_proxy_header_does_not_speak_rpc)
{
	fixture_connect();
	give_proxy_header(_i, proxy_headers[_i].len_bytes);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_NOT_RPC);
}
END_TEST

#define UNHEARD                                                                                    \
	"before answering the first Call: is that its RDMA port, or does it reject this host?"

START_TEST(a_server_that_closes_at_the_first_call_may_be_the_wrong_port)
{
	const struct linger reset = {.l_onoff = 1};
	uint32_t len;

	fixture_connect();
	send_call(1, 44, 0, 1000);
	peer_read_record(&len);
	if (_i)
		setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(peer);
	peer = -1;
	if (_i)
		expect_closed(LEG_CLOSE_LOST, "Connection reset by peer, " UNHEARD);
	else
		expect_closed(LEG_CLOSE_PEER, UNHEARD);
	ck_assert_int_eq(seen.close_errno, _i ? ECONNRESET : 0);
}
END_TEST

START_TEST(a_server_that_has_answered_or_was_not_asked_is_not)
{
	uint32_t len;

	fixture_connect();
	if (_i) {
		send_call(1, 44, 0, 1000);
		peer_read_record(&len);
		peer_send_reply(1, 100, 0);
		RUN_UNTIL(seen.nreplies);
	}
	close(peer);
	peer = -1;
	expect_closed(LEG_CLOSE_PEER, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_strangers");
	TCase *tc = tcase_create("tcp_leg_strangers");
	const int all = (int)ARRAY_SIZE(strangers);

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_non_rpc_client_is_reported_by_its_bytes, 0, all);
	tcase_add_loop_test(tc, a_non_rpc_server_is_reported_by_its_bytes, 0, all);
	tcase_add_test(tc, the_log_shows_as_many_bytes_as_the_decision_needed);
	tcase_add_loop_test(tc, a_record_of_rpc_that_is_too_long_is_no_stranger, 0, 2);
	tcase_add_test(tc, a_peer_that_has_sent_rpc_is_never_reported_as_non_rpc);
	tcase_add_loop_test(tc, a_proxy_header_is_a_reason_of_its_own, 0, 4);
	tcase_add_loop_test(tc, a_proxy_header_between_records_is_one_too, 0, 4);
	tcase_add_loop_test(tc, a_server_that_sends_a_proxy_header_does_not_speak_rpc, 0, 4);
	tcase_add_loop_test(tc, a_server_that_closes_at_the_first_call_may_be_the_wrong_port, 0, 2);
	tcase_add_loop_test(tc, a_server_that_has_answered_or_was_not_asked_is_not, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
