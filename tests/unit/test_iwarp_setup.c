// SPDX-License-Identifier: BSD-3-Clause
/* Tests the MPA exchange in both roles and all revisions, and its errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

static void end(void)
{
	side_fini(&peer_side);
}

/* The request of a Linux NFS client over siw, as captured, and what it gets. */
START_TEST(a_linux_client_is_answered_in_kind)
{
	peer_listening(false);
	hex_bytes(PRIVATE, peer_side.params.private_data, sizeof(peer_side.params.private_data));
	peer_side.params.private_data_bytes = 8;
	peer_give(REQ "1002000c"
		      "00800000" PRIVATE);
	ck_assert_uint_eq(peer_side.requested, 1);
	ck_assert_uint_eq(peer_side.private_data_bytes, 8);
	ck_assert_uint_eq(peer_side.private_data[0], 0xf6);
	peer_expect(REP "1002000c"
			"00000010" PRIVATE);
	ck_assert_uint_eq(peer_side.established, 1);
	peer_expect_depths(0, 16);
}
END_TEST

START_TEST(our_request_is_one_that_knfsd_accepts)
{
	peer_connecting(false);
	peer_expect(REQ "1002000c"
			"00100010" PRIVATE);
	peer_give(REP "1002000c"
		      "00800010"
		      "f6ab0e1801000303");
	ck_assert_uint_eq(peer_side.established, 1);
	ck_assert_uint_eq(peer_side.private_data_bytes, 8);
	peer_expect_depths(16, 16);
}
END_TEST

START_TEST(the_initiator_always_offers_a_read)
{
	peer_start(false);
	peer_side.params.ird = 0;
	peer_side.params.ord = 0;
	ck_assert_int_eq(iwarp_engine_connect(peer_side.engine, &peer_side.params, 0), 0);
	peer_expect(REQ "10020004"
			"00010000");
}
END_TEST

START_TEST(depths_are_capped)
{
	peer_start(false);
	peer_side.params.ird = 100000;
	peer_side.params.ord = 100000;
	ck_assert_int_eq(iwarp_engine_connect(peer_side.engine, &peer_side.params, 0), 0);
	peer_expect(REQ "10020004"
			"00800080");
}
END_TEST

START_TEST(a_preface_goes_before_the_request)
{
	static const uint8_t preface[] = {1, 2, 3};

	peer_start(false);
	peer_side.params.preface = preface;
	peer_side.params.preface_bytes = sizeof(preface);
	ck_assert_int_eq(iwarp_engine_connect(peer_side.engine, &peer_side.params, 0), 0);
	peer_expect("010203" REQ "10020004"
		    "00100010");
	peer_give(REP "10020004"
		      "00100010");
	ck_assert_uint_eq(peer_side.established, 1);
}
END_TEST

START_TEST(crc_is_used_if_either_asks)
{
	bool ours = _i & 1, theirs = _i & 2;

	peer_listening(ours);
	peer_give(theirs ? REQ "50020004"
			       "00100010"
			 : REQ "10020004"
			       "00100010");
	peer_expect(ours || theirs ? REP "50020004"
					 "00100010"
				   : REP "10020004"
					 "00100010");
	end();
	peer_connecting(ours);
	peer_output_take();
	ck_assert_uint_eq(peer_out[16], ours ? 0x50 : 0x10);
	peer_give(theirs ? REP "50020004"
			       "00100010"
			 : REP "10020004"
			       "00100010");
	ck_assert_uint_eq(peer_side.established, 1);
}
END_TEST

static void expect_described(const char *text)
{
	char is[FABRIC_TEXT_BYTES];

	iwarp_engine_describe(peer_side.engine, is);
	ck_assert_msg(!strncmp(is, text, strlen(text)), "%s", is);
}

START_TEST(the_negotiated_values_can_be_queried)
{
	peer_listening(true);
	peer_give(REQ "00010000");
	expect_described("MPA revision 1, CRC on, no markers, FPDUs of up to ");
	end();
	peer_listening(false);
	peer_give(REQ "10020004"
		      "00100010");
	expect_described("MPA revision 2, CRC off, no markers, FPDUs of up to ");
	end();
	peer_connecting(false);
	peer_give(REP "50020004"
		      "00100010");
	expect_described("MPA revision 2, CRC on, no markers, FPDUs of up to ");
}
END_TEST

START_TEST(revision_1_is_answered_in_revision_1_with_our_own_depths)
{
	peer_listening(true);
	peer_give(REQ "00010004"
		      "01020304");
	ck_assert_uint_eq(peer_side.private_data_bytes, 4);
	peer_expect(REP "40010000");
	ck_assert_uint_eq(peer_side.established, 1);
	peer_expect_depths(16, 16);
}
END_TEST

START_TEST(revision_2_without_depths_is_answered_without)
{
	peer_listening(false);
	peer_give(REQ "00020000");
	peer_expect(REP "00020000");
	peer_expect_depths(16, 16);
}
END_TEST

START_TEST(s_means_nothing_in_revision_1)
{
	peer_listening(false);
	peer_give(REQ "10010002"
		      "0102");
	ck_assert_uint_eq(peer_side.private_data_bytes, 2);
	peer_expect(REP "00010000");
}
END_TEST

START_TEST(depths_that_the_peer_does_not_know_are_ours)
{
	peer_listening(false);
	peer_give(REQ "10020004"
		      "3fff3fff");
	peer_expect(REP "10020004"
			"00100010");
	peer_expect_depths(16, 16);
}
END_TEST

/* A, and which of B (IRD word), C, D (ORD word) were offered; what is echoed. */
static const struct {
	const char *request, *reply;
} peer_to_peer[] = {
	{"80108010", "80108010"}, /* C */
	{"80104010", "80104010"}, /* D, as Chelsio */
	{"8010c010", "80108010"}, /* C and D */
	{"c010c010", "80108010"}, /* all */
	{"c0100010", "c0100010"}, /* B */
	{"80100010", "80108010"}, /* none: Write */
	{"80104000", "80014010"}, /* D takes a slot, though the peer wants none */
};

START_TEST(peer_to_peer_mode_is_echoed_with_one_way_to_be_ready)
{
	char request[200], reply[200];

	peer_listening(false);
	snprintf(request, sizeof(request), REQ "10020004%s", peer_to_peer[_i].request);
	snprintf(reply, sizeof(reply), REP "10020004%s", peer_to_peer[_i].reply);
	peer_give(request);
	peer_expect(reply);
	ck_assert_uint_eq(peer_side.established, 1);
}
END_TEST

START_TEST(a_zero_length_read_says_ready_and_is_answered)
{
	peer_listening(false);
	peer_give(REQ "10020004"
		      "80004000");
	peer_output_take();
	peer_give("002e"
		  "4141"
		  "00000000"
		  "00000001"
		  "00000001"
		  "00000000"
		  "11223344"
		  "0000000000000000"
		  "00000000"
		  "00000000"
		  "0000000000000000"
		  "00000000");
	peer_expect("000e"
		    "c142"
		    "11223344"
		    "0000000000000000"
		    "00000000");
}
END_TEST

START_TEST(a_zero_length_send_or_fpdu_says_ready_and_is_not_delivered)
{
	peer_listening(false);
	peer_give(REQ "10020004"
		      "c0000000");
	peer_output_take();
	if (_i)
		peer_give("0012"
			  "4143"
			  "00000000"
			  "00000000"
			  "00000001"
			  "00000000"
			  "00000000");
	else
		peer_give("0000"
			  "0000"
			  "00000000");
	ck_assert_uint_eq(peer_side.nsends, 0);
	peer_expect("");
	/* The next one is. */
	if (_i)
		peer_give("0012"
			  "4143"
			  "00000000"
			  "00000000"
			  "00000002"
			  "00000000"
			  "00000000");
	else
		peer_give("0012"
			  "4143"
			  "00000000"
			  "00000000"
			  "00000001"
			  "00000000"
			  "00000000");
	ck_assert_uint_eq(peer_side.nsends, 1);
}
END_TEST

START_TEST(a_responder_does_not_speak_before_the_initiator)
{
	struct buf *buf;
	struct side_wr swr;

	peer_listening(false);
	peer_give(REQ "10020004"
		      "00100010");
	peer_output_take();
	buf = buf_get(peer_side.pool, 4);
	memset(buf->mem, 0xaa, 4);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&peer_side, &swr);
	peer_expect("");
	peer_give("000e"
		  "c140"
		  "00000000"
		  "0000000000000000"
		  "00000000");
	peer_expect("0016"
		    "4143"
		    "00000000"
		    "00000000"
		    "00000001"
		    "00000000"
		    "aaaaaaaa"
		    "00000000");
	ck_assert_uint_eq(swr.done, 1);
	buf_put(buf);
}
END_TEST

/* Requests that get no reply, or a rejection. */
static const struct {
	const char *request, *reply;
} bad_requests[] = {
	{"474554202f20485454502f312e310d0a", ""}, /* GET / HTTP/1.1 */
	{"80000028", ""},                         /* a record mark */
	{REP "10020004"
	     "00100010",
	 ""},                 /* a reply */
	{REQ "00000000", ""}, /* revision 0 */
	{REQ "10030004"
	     "00100010",
	 REP "30020004"
	     "00000000"}, /* revision 3 */
	{REQ "90020004"
	     "00100010",
	 REP "30020004"
	     "00000000"},                 /* markers */
	{REQ "80010000", REP "20010000"}, /* markers in revision 1 */
	{REQ "10020003"
	     "000000",
	 ""},                 /* S without room for its depths */
	{REQ "10020201", ""}, /* 513 bytes */
	{REQ "10020004"
	     "00100010"
	     "00",
	 ""}, /* data before the reply */
};

START_TEST(a_bad_request_is_refused)
{
	peer_listening(false);
	peer_side.accept = false;
	peer_give(bad_requests[_i].request);
	peer_expect(bad_requests[_i].reply);
	ck_assert_uint_eq(peer_side.requested, 0);
	ck_assert_uint_eq(peer_side.counters.mpa_errors, 1);
	if (*bad_requests[_i].reply) {
		ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_FIN);
		ck_assert_uint_eq(peer_side.counters.mpa_rejects_sent, 1);
		iwarp_engine_rx_eof(peer_side.engine);
	}
	peer_expect_closed(FABRIC_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(data_while_the_owner_ponders_is_refused)
{
	peer_listening(false);
	peer_side.accept = false;
	peer_give(REQ "10020004"
		      "00100010");
	ck_assert_uint_eq(peer_side.requested, 1);
	peer_give("00");
	peer_expect_closed(FABRIC_CLOSE_PROTOCOL);
	ck_assert_int_eq(iwarp_engine_accept(peer_side.engine, &peer_side.params, 0), -ENOTCONN);
}
END_TEST

static const struct {
	const char *reply;
	enum fabric_close why;
} bad_replies[] = {
	{"4e4f", FABRIC_CLOSE_PROTOCOL}, /* no MPA */
	{REQ "10020004"
	     "00100010",
	 FABRIC_CLOSE_PROTOCOL}, /* a request */
	{REP "30020004"
	     "00000000",
	 FABRIC_CLOSE_REFUSED},                 /* rejected */
	{REP "20010000", FABRIC_CLOSE_REFUSED}, /* rejected, in revision 1 */
	{REP "90020004"
	     "00100010",
	 FABRIC_CLOSE_PROTOCOL},                 /* markers */
	{REP "00000000", FABRIC_CLOSE_PROTOCOL}, /* revision 0 */
	{REP "10030004"
	     "00100010",
	 FABRIC_CLOSE_PROTOCOL}, /* revision 3 */
	{REP "10020002"
	     "0010",
	 FABRIC_CLOSE_PROTOCOL},                 /* S without its depths */
	{REP "1002ffff", FABRIC_CLOSE_PROTOCOL}, /* 65535 bytes */
};

START_TEST(a_bad_reply_ends_the_connection)
{
	peer_connecting(false);
	peer_output_take();
	peer_give(bad_replies[_i].reply);
	ck_assert_uint_eq(peer_side.established, 0);
	peer_expect("");
	peer_expect_closed(bad_replies[_i].why);
	if (bad_replies[_i].why == FABRIC_CLOSE_REFUSED)
		ck_assert_uint_eq(peer_side.counters.mpa_rejects_received, 1);
}
END_TEST

static void expect_detail(enum fabric_close why, const char *detail)
{
	const char *found;

	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_close_reason(peer_side.engine, &found), why);
	ck_assert_str_eq(found, detail);
}

/* After the one before: the fixture ends the last. */
static void connect_another(void)
{
	end();
	peer_connecting(false);
}

static const struct {
	const char *bytes, *at_responder, *at_initiator;
} strangers[] = {
	{"8000002812345678"
	 "0000000000000002",
	 "looks like RPC over TCP, not iWARP: this service listens for RDMA (mount with proto=rdma, or "
	 "add a tcp:// service)",
	 "accepts TCP but does not answer as iWARP: is that its RDMA port? The first bytes are "
	 "80 00 00 28 12 34 56 78 00 00 00 00 00 00 00 02 (RPC over TCP)"},
	{"485454502f312e31"
	 "203430302042616420",
	 "does not look like RPC: the first bytes are \"HTTP/1.1 400 Bad\" (HTTP)",
	 "accepts TCP but does not answer as iWARP: is that its RDMA port? The first bytes are "
	 "\"HTTP/1.1 400 Bad\" (HTTP)"},
	{"160301020001", "does not look like RPC: the first bytes are 16 03 01 02 00 01 (TLS)",
	 "accepts TCP but does not answer as iWARP: is that its RDMA port? The first bytes are "
	 "16 03 01 02 00 01 (TLS)"},
};

START_TEST(peers_with_another_protocol_are_reported_by_its_name)
{
	peer_listening(false);
	peer_give(strangers[_i].bytes);
	expect_detail(FABRIC_CLOSE_PROTOCOL, strangers[_i].at_responder);
	ck_assert(iwarp_engine_peer_speaks_rpc(peer_side.engine) == !_i);
	connect_another();
	peer_output_take();
	peer_give(strangers[_i].bytes);
	expect_detail(FABRIC_CLOSE_PROTOCOL, strangers[_i].at_initiator);
	ck_assert(!iwarp_engine_peer_speaks_rpc(peer_side.engine));
}
END_TEST

static const char *const proxy_headers[] = {
	"0d0a0d0a000d0a515549540a20000000",
	"50524f585920554e4b4e4f574e0d0a",
};

/* However it is cut on its way. */
START_TEST(a_proxy_header_is_a_reason_of_its_own)
{
	size_t digits = strlen(proxy_headers[_i]);

	for (size_t cut = 2; cut <= digits; cut += 2) {
		char first[64] = "";

		strncat(first, proxy_headers[_i], cut);
		peer_listening(false);
		peer_give(first);
		if (iwarp_engine_action(peer_side.engine) != IWARP_DROP && cut < digits)
			peer_give(proxy_headers[_i] + cut);
		expect_detail(FABRIC_CLOSE_PROXY_HEADER,
			      "peer not in accept_proxy_from, or a second header");
		if (cut < digits)
			end();
	}
}
END_TEST

START_TEST(a_server_that_only_accepts_tcp_is_distinguished_from_one_that_does_not)
{
	const uint64_t late_us = IWARP_SETUP_TIMEOUT_US;

	/* TCP did not come up, so that nothing was sent. */
	peer_connecting(false);
	ck_assert_ptr_null(iwarp_engine_silence(peer_side.engine));
	iwarp_engine_expire(peer_side.engine, late_us);
	expect_detail(FABRIC_CLOSE_TIMEOUT, "TCP connect timed out");
	connect_another();
	iwarp_engine_lost(peer_side.engine, FABRIC_CLOSE_REFUSED, "Connection refused");
	expect_detail(FABRIC_CLOSE_REFUSED, "Connection refused");

	connect_another();
	peer_output_take();
	ck_assert_str_eq(iwarp_engine_silence(peer_side.engine),
			 "accepts TCP but does not answer as iWARP: is that its RDMA port?");
	iwarp_engine_expire(peer_side.engine, late_us);
	expect_detail(FABRIC_CLOSE_TIMEOUT,
		      "accepts TCP but does not answer as iWARP: is that its RDMA port? (no data "
		      "before the timeout)");
	connect_another();
	peer_output_take();
	iwarp_engine_rx_eof(peer_side.engine);
	expect_detail(
		FABRIC_CLOSE_REFUSED,
		"accepts TCP but does not answer as iWARP: is that its RDMA port? (it closed)");
	connect_another();
	peer_output_take();
	iwarp_engine_lost(peer_side.engine, FABRIC_CLOSE_LOST, "Connection reset by peer");
	expect_detail(
		FABRIC_CLOSE_LOST,
		"accepts TCP but does not answer as iWARP: is that its RDMA port? (Connection "
		"reset by peer)");
}
END_TEST

START_TEST(nothing_is_said_of_the_port_once_it_has_answered)
{
	peer_connecting(false);
	peer_output_take();
	peer_give(REP "10020004"
		      "00100010");
	ck_assert_uint_eq(peer_side.established, 1);
	ck_assert_ptr_null(iwarp_engine_silence(peer_side.engine));
	iwarp_engine_lost(peer_side.engine, FABRIC_CLOSE_LOST, "Connection reset by peer");
	expect_detail(FABRIC_CLOSE_LOST, "Connection reset by peer");
}
END_TEST

START_TEST(a_reply_in_revision_1_is_taken_with_our_own_depths)
{
	peer_connecting(false);
	peer_output_take();
	peer_give(REP "00010000");
	ck_assert_uint_eq(peer_side.established, 1);
	peer_expect_depths(16, 16);
}
END_TEST

START_TEST(start_up_frames_come_in_any_pieces)
{
	uint8_t bytes[64];
	size_t len = hex_bytes(REQ "1002000c"
				   "00800000" PRIVATE,
			       bytes, sizeof(bytes));

	peer_listening(false);
	side_give(&peer_side, bytes, len, (size_t)_i);
	ck_assert_uint_eq(peer_side.requested, 1);
	peer_expect(REP "10020004"
			"00000010");
}
END_TEST

START_TEST(private_data_up_to_the_limit_passes)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	peer_listening(false);
	hex_bytes(REQ "10020200"
		      "00100010",
		  bytes, sizeof(bytes));
	memset(bytes + 24, 0x3c, 508);
	side_give(&peer_side, bytes, sizeof(bytes), SIZE_MAX);
	ck_assert_uint_eq(peer_side.private_data_bytes, 508);
	ck_assert_uint_eq(peer_side.private_data[507], 0x3c);
}
END_TEST

START_TEST(the_owner_may_reject)
{
	static const char *const replies[] = {
		REP "20010000",
		REP "30020004"
		    "00000000",
		REP "20010003"
		    "776879",
		REP "30020007"
		    "00000000776879",
	};

	peer_listening(false);
	peer_side.accept = false;
	peer_give(_i & 1 ? REQ "10020004"
			       "00100010"
			 : REQ "00010000");
	iwarp_engine_reject(peer_side.engine, _i & 2 ? "why" : NULL, _i & 2 ? 3 : 0, 0);
	peer_expect(replies[_i]);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_FIN);
	iwarp_engine_rx_eof(peer_side.engine);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
}
END_TEST

START_TEST(the_private_data_of_a_rejection_are_delivered)
{
	static const char *const replies[] = {
		REP "20010003"
		    "776879",
		REP "30020007"
		    "00000000776879",
		REP "30020004"
		    "00000000",
	};
	const size_t want_bytes = _i < 2 ? 3 : 0;

	peer_connecting(false);
	peer_output_take();
	peer_give(replies[_i]);
	ck_assert_uint_eq(peer_side.rejected, 1);
	ck_assert_uint_eq(peer_side.private_data_bytes, want_bytes);
	ck_assert_int_eq(memcmp(peer_side.private_data, "why", want_bytes), 0);
	peer_expect_closed(FABRIC_CLOSE_REFUSED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_setup");
	TCase *tc = tcase_create("setup");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, end);
	tcase_add_test(tc, a_linux_client_is_answered_in_kind);
	tcase_add_test(tc, our_request_is_one_that_knfsd_accepts);
	tcase_add_test(tc, the_initiator_always_offers_a_read);
	tcase_add_test(tc, depths_are_capped);
	tcase_add_test(tc, a_preface_goes_before_the_request);
	tcase_add_test(tc, the_negotiated_values_can_be_queried);
	tcase_add_loop_test(tc, crc_is_used_if_either_asks, 0, 4);
	tcase_add_test(tc, revision_1_is_answered_in_revision_1_with_our_own_depths);
	tcase_add_test(tc, revision_2_without_depths_is_answered_without);
	tcase_add_test(tc, s_means_nothing_in_revision_1);
	tcase_add_test(tc, depths_that_the_peer_does_not_know_are_ours);
	tcase_add_loop_test(tc, peer_to_peer_mode_is_echoed_with_one_way_to_be_ready, 0,
			    ARRAY_SIZE(peer_to_peer));
	tcase_add_test(tc, a_zero_length_read_says_ready_and_is_answered);
	tcase_add_loop_test(tc, a_zero_length_send_or_fpdu_says_ready_and_is_not_delivered, 0, 2);
	tcase_add_test(tc, a_responder_does_not_speak_before_the_initiator);
	tcase_add_loop_test(tc, a_bad_request_is_refused, 0, ARRAY_SIZE(bad_requests));
	tcase_add_test(tc, data_while_the_owner_ponders_is_refused);
	tcase_add_loop_test(tc, a_bad_reply_ends_the_connection, 0, ARRAY_SIZE(bad_replies));
	tcase_add_loop_test(tc, peers_with_another_protocol_are_reported_by_its_name, 0,
			    (int)ARRAY_SIZE(strangers));
	tcase_add_loop_test(tc, a_proxy_header_is_a_reason_of_its_own, 0,
			    (int)ARRAY_SIZE(proxy_headers));
	tcase_add_test(tc, a_server_that_only_accepts_tcp_is_distinguished_from_one_that_does_not);
	tcase_add_test(tc, nothing_is_said_of_the_port_once_it_has_answered);
	tcase_add_test(tc, a_reply_in_revision_1_is_taken_with_our_own_depths);
	tcase_add_loop_test(tc, start_up_frames_come_in_any_pieces, 1, 33);
	tcase_add_test(tc, private_data_up_to_the_limit_passes);
	tcase_add_loop_test(tc, the_owner_may_reject, 0, 4);
	tcase_add_loop_test(tc, the_private_data_of_a_rejection_are_delivered, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
