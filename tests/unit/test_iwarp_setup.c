// SPDX-License-Identifier: BSD-3-Clause
/* The MPA exchange in both roles and all revisions, its errors, and everything that time does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/iwarp/bytes.h"
#include "fabric/iwarp/mpa.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_side.h"

static struct iwarp_side side; /* under test; this file is its peer */
static uint8_t out[4096];
static size_t out_bytes;

#define REQ     "4d504120494420526571204672616d65" /* MPA ID Req Frame */
#define REP     "4d504120494420526570204672616d65" /* MPA ID Rep Frame */
#define PRIVATE "f6ab0e1801010303"

static void output_take(void)
{
	out_bytes = side_take(&side, out, sizeof(out));
}

static void give(const char *hex)
{
	uint8_t bytes[2048];

	side_give(&side, bytes, hex_bytes(hex, bytes, sizeof(bytes)), SIZE_MAX);
}

static void expect(const char *hex)
{
	uint8_t bytes[2048];
	size_t len = hex_bytes(hex, bytes, sizeof(bytes));

	output_take();
	ck_assert_uint_eq(out_bytes, len);
	ck_assert_mem_eq(out, bytes, len);
}

static void expect_closed(enum fabric_close why)
{
	const char *detail;

	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_why(side.engine, &detail), why);
	ck_assert_uint_gt(strlen(detail), 0);
	ck_assert_int_eq(iwarp_engine_deadline(side.engine) != UINT64_MAX &&
				 iwarp_engine_deadline(side.engine) < side.now_us,
			 0);
}

static void start(bool crc)
{
	struct iwarp_config config = {.crc = crc};

	side_init(&side, &config, 1);
}

static void listening(bool crc)
{
	start(crc);
	iwarp_engine_listen(side.engine, side.now_us);
}

static void connecting(bool crc)
{
	start(crc);
	hex_bytes(PRIVATE, side.params.private_data, sizeof(side.params.private_data));
	side.params.private_data_bytes = 8;
	ck_assert_int_eq(iwarp_engine_connect(side.engine, &side.params, side.now_us), 0);
}

static void teardown(void)
{
	side_fini(&side);
}

static void expect_depths(unsigned ird, unsigned ord)
{
	unsigned got_ird, got_ord;

	iwarp_engine_depths(side.engine, &got_ird, &got_ord);
	ck_assert_uint_eq(got_ird, ird);
	ck_assert_uint_eq(got_ord, ord);
}

/* The request of a Linux NFS client over siw, as captured, and what it gets. */
START_TEST(a_linux_client_is_answered_in_kind)
{
	listening(false);
	hex_bytes(PRIVATE, side.params.private_data, sizeof(side.params.private_data));
	side.params.private_data_bytes = 8;
	give(REQ "1002000c"
		 "00800000" PRIVATE);
	ck_assert_uint_eq(side.requested, 1);
	ck_assert_uint_eq(side.private_data_bytes, 8);
	ck_assert_uint_eq(side.private_data[0], 0xf6);
	expect(REP "1002000c"
		   "00000010" PRIVATE);
	ck_assert_uint_eq(side.established, 1);
	expect_depths(0, 16);
}
END_TEST

START_TEST(our_request_is_what_knfsd_accepts)
{
	connecting(false);
	expect(REQ "1002000c"
		   "00100010" PRIVATE);
	give(REP "1002000c"
		 "00800010"
		 "f6ab0e1801000303");
	ck_assert_uint_eq(side.established, 1);
	ck_assert_uint_eq(side.private_data_bytes, 8);
	expect_depths(16, 16);
}
END_TEST

START_TEST(the_initiator_always_offers_a_read)
{
	start(false);
	side.params.ird = 0;
	side.params.ord = 0;
	ck_assert_int_eq(iwarp_engine_connect(side.engine, &side.params, 0), 0);
	expect(REQ "10020004"
		   "00010000");
}
END_TEST

START_TEST(depths_are_capped)
{
	start(false);
	side.params.ird = 100000;
	side.params.ord = 100000;
	ck_assert_int_eq(iwarp_engine_connect(side.engine, &side.params, 0), 0);
	expect(REQ "10020004"
		   "00800080");
}
END_TEST

START_TEST(crc_is_used_if_either_asks)
{
	bool ours = _i & 1, theirs = _i & 2;

	listening(ours);
	give(theirs ? REQ "50020004"
			  "00100010"
		    : REQ "10020004"
			  "00100010");
	expect(ours || theirs ? REP "50020004"
				    "00100010"
			      : REP "10020004"
				    "00100010");
	teardown();
	connecting(ours);
	output_take();
	ck_assert_uint_eq(out[16], ours ? 0x50 : 0x10);
	give(theirs ? REP "50020004"
			  "00100010"
		    : REP "10020004"
			  "00100010");
	ck_assert_uint_eq(side.established, 1);
}
END_TEST

START_TEST(revision_1_is_answered_in_revision_1_with_our_own_depths)
{
	listening(true);
	give(REQ "00010004"
		 "01020304");
	ck_assert_uint_eq(side.private_data_bytes, 4);
	expect(REP "40010000");
	ck_assert_uint_eq(side.established, 1);
	expect_depths(16, 16);
}
END_TEST

START_TEST(revision_2_without_depths_is_answered_without)
{
	listening(false);
	give(REQ "00020000");
	expect(REP "00020000");
	expect_depths(16, 16);
}
END_TEST

START_TEST(s_means_nothing_in_revision_1)
{
	listening(false);
	give(REQ "10010002"
		 "0102");
	ck_assert_uint_eq(side.private_data_bytes, 2);
	expect(REP "00010000");
}
END_TEST

START_TEST(depths_that_the_peer_does_not_know_are_ours)
{
	listening(false);
	give(REQ "10020004"
		 "3fff3fff");
	expect(REP "10020004"
		   "00100010");
	expect_depths(16, 16);
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

	listening(false);
	snprintf(request, sizeof(request), REQ "10020004%s", peer_to_peer[_i].request);
	snprintf(reply, sizeof(reply), REP "10020004%s", peer_to_peer[_i].reply);
	give(request);
	expect(reply);
	ck_assert_uint_eq(side.established, 1);
}
END_TEST

START_TEST(a_zero_length_read_says_ready_and_is_answered)
{
	listening(false);
	give(REQ "10020004"
		 "80004000");
	output_take();
	give("002e"
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
	expect("000e"
	       "c142"
	       "11223344"
	       "0000000000000000"
	       "00000000");
}
END_TEST

START_TEST(a_zero_length_send_or_fpdu_says_ready_and_is_not_delivered)
{
	listening(false);
	give(REQ "10020004"
		 "c0000000");
	output_take();
	if (_i)
		give("0012"
		     "4143"
		     "00000000"
		     "00000000"
		     "00000001"
		     "00000000"
		     "00000000");
	else
		give("0000"
		     "0000"
		     "00000000");
	ck_assert_uint_eq(side.nsends, 0);
	expect("");
	/* The next one is. */
	if (_i)
		give("0012"
		     "4143"
		     "00000000"
		     "00000000"
		     "00000002"
		     "00000000"
		     "00000000");
	else
		give("0012"
		     "4143"
		     "00000000"
		     "00000000"
		     "00000001"
		     "00000000"
		     "00000000");
	ck_assert_uint_eq(side.nsends, 1);
}
END_TEST

START_TEST(a_responder_does_not_speak_before_the_initiator)
{
	struct buf *buf;
	struct side_wr swr;

	listening(false);
	give(REQ "10020004"
		 "00100010");
	output_take();
	buf = buf_get(side.pool, 4);
	memset(buf->mem, 0xaa, 4);
	side_wr_init(&swr, &side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&side, &swr);
	expect("");
	give("000e"
	     "c140"
	     "00000000"
	     "0000000000000000"
	     "00000000");
	expect("0016"
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
	listening(false);
	side.accept = false;
	give(bad_requests[_i].request);
	expect(bad_requests[_i].reply);
	ck_assert_uint_eq(side.requested, 0);
	ck_assert_uint_eq(side.counters.mpa_errors, 1);
	if (*bad_requests[_i].reply) {
		ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_FIN);
		ck_assert_uint_eq(side.counters.mpa_rejects_sent, 1);
		iwarp_engine_rx_eof(side.engine);
	}
	expect_closed(FABRIC_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(data_while_the_owner_ponders_is_refused)
{
	listening(false);
	side.accept = false;
	give(REQ "10020004"
		 "00100010");
	ck_assert_uint_eq(side.requested, 1);
	give("00");
	expect_closed(FABRIC_CLOSE_PROTOCOL);
	ck_assert_int_eq(iwarp_engine_accept(side.engine, &side.params, 0), -ENOTCONN);
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
	connecting(false);
	output_take();
	give(bad_replies[_i].reply);
	ck_assert_uint_eq(side.established, 0);
	expect("");
	expect_closed(bad_replies[_i].why);
	if (bad_replies[_i].why == FABRIC_CLOSE_REFUSED)
		ck_assert_uint_eq(side.counters.mpa_rejects_received, 1);
}
END_TEST

START_TEST(a_reply_in_revision_1_is_taken_with_our_own_depths)
{
	connecting(false);
	output_take();
	give(REP "00010000");
	ck_assert_uint_eq(side.established, 1);
	expect_depths(16, 16);
}
END_TEST

START_TEST(start_up_frames_come_in_any_pieces)
{
	uint8_t bytes[64];
	size_t len = hex_bytes(REQ "1002000c"
				   "00800000" PRIVATE,
			       bytes, sizeof(bytes));

	listening(false);
	side_give(&side, bytes, len, (size_t)_i);
	ck_assert_uint_eq(side.requested, 1);
	expect(REP "10020004"
		   "00000010");
}
END_TEST

START_TEST(private_data_up_to_the_limit_passes)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	listening(false);
	hex_bytes(REQ "10020200"
		      "00100010",
		  bytes, sizeof(bytes));
	memset(bytes + 24, 0x3c, 508);
	side_give(&side, bytes, sizeof(bytes), SIZE_MAX);
	ck_assert_uint_eq(side.private_data_bytes, 508);
	ck_assert_uint_eq(side.private_data[507], 0x3c);
}
END_TEST

START_TEST(the_owner_may_reject)
{
	listening(false);
	side.accept = false;
	give(_i ? REQ "10020004"
		      "00100010"
		: REQ "00010000");
	iwarp_engine_reject(side.engine, 0);
	expect(_i ? REP "30020004"
			"00000000"
		  : REP "20010000");
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_FIN);
	iwarp_engine_rx_eof(side.engine);
	expect_closed(FABRIC_CLOSE_LOCAL);
}
END_TEST

START_TEST(set_up_takes_no_longer_than_its_deadline)
{
	if (_i)
		listening(false);
	else
		connecting(false);
	output_take();
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), IWARP_SETUP_TIMEOUT_US);
	side.now_us = IWARP_SETUP_TIMEOUT_US - 1;
	iwarp_engine_expire(side.engine, side.now_us);
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_GO_ON);
	side.now_us++;
	iwarp_engine_expire(side.engine, side.now_us);
	expect_closed(FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(side.counters.setup_timeouts, 1);
}
END_TEST

START_TEST(the_owner_has_all_the_time_it_wants)
{
	listening(false);
	side.accept = false;
	give(REQ "10020004"
		 "00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
	ck_assert_int_eq(iwarp_engine_accept(side.engine, &side.params, 99999999), 0);
	expect(REP "10020004"
		   "00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
}
END_TEST

START_TEST(fin_during_set_up)
{
	connecting(false);
	output_take();
	iwarp_engine_rx_eof(side.engine);
	expect_closed(FABRIC_CLOSE_REFUSED);
	teardown();
	listening(false);
	iwarp_engine_rx_eof(side.engine);
	expect_closed(FABRIC_CLOSE_PEER);
}
END_TEST

#define NUDGE                                                                                      \
	"000ec140"                                                                                 \
	"00000000"                                                                                 \
	"0000000000000000"                                                                         \
	"00000000"

static struct buf *sent_buf;
static struct side_wr sent_wr;

static void first_send(void)
{
	connecting(false);
	output_take();
	give(REP "10020004"
		 "00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
	side.now_us = 5000000;
	sent_buf = buf_get(side.pool, 4);
	side_wr_init(&sent_wr, &side, FABRIC_SEND);
	side_wr_add(&sent_wr, sent_buf, 0, 4);
	side_post(&side, &sent_wr);
	output_take();
	ck_assert_uint_eq(out_bytes, 28);
}

START_TEST(a_first_send_without_an_answer_is_nudged_three_times)
{
	static const uint64_t after_us[] = {20000, 100000, 1000000};

	first_send();
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(iwarp_engine_deadline(side.engine), 5000000 + after_us[i]);
		side.now_us = 5000000 + after_us[i] - 1;
		iwarp_engine_expire(side.engine, side.now_us);
		expect("");
		side.now_us++;
		iwarp_engine_expire(side.engine, side.now_us);
		expect(NUDGE);
	}
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
	ck_assert_uint_eq(side.counters.nudges_sent, 3);
	buf_put(sent_buf);
}
END_TEST

START_TEST(an_answer_ends_the_nudging)
{
	first_send();
	side.now_us += 20000;
	iwarp_engine_expire(side.engine, side.now_us);
	expect(NUDGE);
	/* A single byte will do. */
	give("00");
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
	side.now_us += 2000000;
	iwarp_engine_expire(side.engine, side.now_us);
	expect("");
	buf_put(sent_buf);
}
END_TEST

START_TEST(a_responder_never_nudges)
{
	listening(false);
	give(REQ "10020004"
		 "00100010");
	output_take();
	give(NUDGE);
	sent_buf = buf_get(side.pool, 4);
	side_wr_init(&sent_wr, &side, FABRIC_SEND);
	side_wr_add(&sent_wr, sent_buf, 0, 4);
	side_post(&side, &sent_wr);
	output_take();
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), UINT64_MAX);
	buf_put(sent_buf);
}
END_TEST

START_TEST(closing_sends_what_was_posted_and_then_wants_fin)
{
	struct buf *buf;
	struct side_wr swr, late;

	first_send();
	buf = buf_get(side.pool, 4);
	side_wr_init(&swr, &side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&side, &swr);
	iwarp_engine_close(side.engine, side.now_us);
	side_wr_init(&late, &side, FABRIC_SEND);
	ck_assert_int_eq(iwarp_engine_post(side.engine, &late.wr), -ENOTCONN);
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_GO_ON);
	output_take();
	ck_assert_uint_eq(out_bytes, 28);
	ck_assert_int_eq(swr.status, FABRIC_OK);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_FIN);
	iwarp_engine_rx_eof(side.engine);
	expect_closed(FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

START_TEST(closing_takes_no_longer_than_its_deadline)
{
	struct buf *buf;
	struct side_wr swr;

	first_send();
	buf = buf_get(side.pool, 4);
	side_wr_init(&swr, &side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&side, &swr);
	iwarp_engine_close(side.engine, side.now_us);
	ck_assert_uint_eq(iwarp_engine_deadline(side.engine), side.now_us + IWARP_CLOSE_TIMEOUT_US);
	side.now_us += IWARP_CLOSE_TIMEOUT_US;
	iwarp_engine_expire(side.engine, side.now_us);
	expect_closed(FABRIC_CLOSE_LOCAL);
	iwarp_engine_flush(side.engine);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

START_TEST(fin_from_the_peer)
{
	first_send();
	if (_i)
		give("00");
	iwarp_engine_rx_eof(side.engine);
	expect_closed(_i ? FABRIC_CLOSE_LOST : FABRIC_CLOSE_PEER);
	buf_put(sent_buf);
}
END_TEST

START_TEST(nothing_can_be_posted_or_bound_before_the_connection_is_up)
{
	struct fabric_key key = {0};
	struct side_wr swr;

	connecting(false);
	side_wr_init(&swr, &side, FABRIC_SEND);
	ck_assert_int_eq(iwarp_engine_post(side.engine, &swr.wr), -ENOTCONN);
	ck_assert_int_eq(iwarp_engine_key_bind(side.engine, &key), -ENOTCONN);
}
END_TEST

START_TEST(a_read_that_the_peer_can_never_take_fails)
{
	struct side_wr swr;
	struct buf *buf;

	connecting(false);
	output_take();
	give(REP "10020004"
		 "00000000");
	expect_depths(16, 0);
	buf = buf_get(side.pool, 4);
	side_wr_init(&swr, &side, FABRIC_READ);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&side, &swr);
	ck_assert_uint_eq(swr.done, 0);
	expect("");
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(swr.status, FABRIC_ERR_LOCAL);
	buf_put(buf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_setup");
	TCase *tc = tcase_create("setup");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_linux_client_is_answered_in_kind);
	tcase_add_test(tc, our_request_is_what_knfsd_accepts);
	tcase_add_test(tc, the_initiator_always_offers_a_read);
	tcase_add_test(tc, depths_are_capped);
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
	tcase_add_test(tc, a_reply_in_revision_1_is_taken_with_our_own_depths);
	tcase_add_loop_test(tc, start_up_frames_come_in_any_pieces, 1, 33);
	tcase_add_test(tc, private_data_up_to_the_limit_passes);
	tcase_add_loop_test(tc, the_owner_may_reject, 0, 2);
	tcase_add_loop_test(tc, set_up_takes_no_longer_than_its_deadline, 0, 2);
	tcase_add_test(tc, the_owner_has_all_the_time_it_wants);
	tcase_add_test(tc, fin_during_set_up);
	tcase_add_test(tc, a_first_send_without_an_answer_is_nudged_three_times);
	tcase_add_test(tc, an_answer_ends_the_nudging);
	tcase_add_test(tc, a_responder_never_nudges);
	tcase_add_test(tc, closing_sends_what_was_posted_and_then_wants_fin);
	tcase_add_test(tc, closing_takes_no_longer_than_its_deadline);
	tcase_add_loop_test(tc, fin_from_the_peer, 0, 2);
	tcase_add_test(tc, nothing_can_be_posted_or_bound_before_the_connection_is_up);
	tcase_add_test(tc, a_read_that_the_peer_can_never_take_fails);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
