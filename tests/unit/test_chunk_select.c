// SPDX-License-Identifier: BSD-3-Clause
/* Tests the choice of a Call's form on both sides of each boundary. */
#include "rpcrdma/chunk_select.h"

#include "rpcrdma/header.h"
#include "tests/lib/test.h"

#define HDR  RPCRDMA_MIN_HDR_BYTES
#define SEND 4096u
#define RECV 2048u
#define SEG  65536u

static struct chunk_select_input input;
static struct call_form form;

/* A short Call with a short Reply, of which nothing is to be known. */
static void setup(void)
{
	input = (struct chunk_select_input){
		.call_bytes = 200,
		.reply_max_bytes = 200,
		.max_message_bytes = 1024 * 1024,
		.limits = {.send_bytes = SEND, .recv_bytes = RECV, .margin_bytes = RECV},
		.max_segment_bytes = SEG,
		.peer = peer_profile(PEER_AUTO),
	};
}

/* The same where payloads are moved, and all facts are known: nothing was found. */
static void setup_ddp(void)
{
	setup();
	input.moves_payloads = true;
	input.known = CHUNK_SELECT_RESULT | CHUNK_SELECT_PAYLOAD;
}

static void set_payload(uint32_t at, uint32_t bytes)
{
	input.payload_at = at;
	input.payload_bytes = bytes;
}

static void expect(enum message_form want, unsigned nsegments)
{
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	ck_assert(chunk_select_choose(&input, &form));
	ck_assert_int_eq(form.call.form, want);
	ck_assert_uint_eq(form.call.nsegments, nsegments);
	if (want == MESSAGE_FORM_SHORT)
		ck_assert_uint_eq(form.call.chunk_bytes, 0);
}

static void expect_landing(enum placement want, uint32_t bytes, unsigned nsegments)
{
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	ck_assert(chunk_select_choose(&input, &form));
	ck_assert_int_eq(form.placement, want);
	ck_assert_uint_eq(form.placement_bytes, bytes);
	ck_assert_uint_eq(form.placement_nsegments, nsegments);
}

static void expect_none(void)
{
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	ck_assert(!chunk_select_choose(&input, &form));
}

START_TEST(a_call_goes_inline_up_to_the_limit)
{
	input.call_bytes = SEND - HDR;
	expect(MESSAGE_FORM_SHORT, 0);
	input.call_bytes++;
	expect(MESSAGE_FORM_LONG, 1);
	ck_assert_uint_eq(form.call.chunk_at, 0);
	ck_assert_uint_eq(form.call.chunk_bytes, input.call_bytes);
}
END_TEST

static void expect_plain_as_chosen(void)
{
	bool is_plain;

	ck_assert(chunk_select_choose(&input, &form));
	is_plain = form.call.form == MESSAGE_FORM_SHORT && form.placement == PLACEMENT_NONE;
	ck_assert_int_eq(call_form_is_plain(&input.limits, input.call_bytes, input.reply_max_bytes),
			 is_plain);
}

START_TEST(a_plain_call_is_one_of_which_nothing_is_chosen)
{
	for (uint32_t call = SEND - HDR - 8; call <= SEND - HDR + 8; call++) {
		for (uint32_t reply = RECV - HDR - 8; reply <= RECV - HDR + 8; reply++) {
			input.call_bytes = call;
			input.reply_max_bytes = reply;
			expect_plain_as_chosen();
		}
	}
	input.call_bytes = 200;
	input.reply_max_bytes = RECV - HDR;
	ck_assert(call_form_is_plain(&input.limits, input.call_bytes, input.reply_max_bytes));
	ck_assert(!call_form_is_plain(&input.limits, UINT32_MAX, 200));
	ck_assert(!call_form_is_plain(&input.limits, 200, UINT32_MAX));
}
END_TEST

START_TEST(chunks_offered_for_the_reply_shorten_the_inline_call)
{
	input.reply_max_bytes = 3 * SEG;
	input.call_bytes = SEND - HDR - 4 - 3 * RPCRDMA_SEGMENT_BYTES;
	expect(MESSAGE_FORM_SHORT, 0);
	input.call_bytes++;
	expect(MESSAGE_FORM_LONG, 1);
}
END_TEST

/* A6.2-5 */
START_TEST(to_a_peer_that_reads_nothing_a_call_goes_inline_or_not_at_all)
{
	setup_ddp();
	input.limits.reads_nothing = true;
	input.reply_max_bytes = 100000;
	set_payload(100, 3000);
	input.call_bytes = SEND - HDR - RPCRDMA_REPLY_CHUNK_BYTES(2);
	expect(MESSAGE_FORM_SHORT, 0);
	expect_landing(PLACEMENT_REPLY_CHUNK, 100000, 2);
	input.call_bytes++;
	expect_none();
	set_payload(0, 0);
	expect_none();
	/* Nor is what a server would find apart put apart. */
	input.call_bytes = 3200;
	input.peer = peer_profile(PEER_CHIMERA);
	input.payload_is_data = true;
	set_payload(100, 3000);
	expect(MESSAGE_FORM_SHORT, 0);
}
END_TEST

START_TEST(a_reverse_call_goes_inline_or_not_at_all)
{
	input.inline_only = true;
	input.moves_payloads = true;
	input.reply_max_bytes = 100000;
	input.call_bytes = SEND - HDR;
	expect(MESSAGE_FORM_SHORT, 0);
	expect_landing(PLACEMENT_NONE, 0, 0);
	input.call_bytes++;
	expect_none();
}
END_TEST

START_TEST(a_long_call_is_cut_into_segments)
{
	input.call_bytes = SEG;
	expect(MESSAGE_FORM_LONG, 1);
	input.call_bytes++;
	expect(MESSAGE_FORM_LONG, 2);
	input.max_segment_bytes = 40;
	input.call_bytes = 40 * 100;
	input.limits.send_bytes = HDR + 100 * RPCRDMA_READ_SEGMENT_BYTES;
	expect(MESSAGE_FORM_LONG, 100);
	input.limits.send_bytes--;
	expect_none();
	input.limits.send_bytes = 65536;
	input.max_segment_bytes = 1024;
	input.call_bytes = 1024 * RPCRDMA_MAX_SEGMENTS;
	expect(MESSAGE_FORM_LONG, RPCRDMA_MAX_SEGMENTS);
	input.call_bytes++;
	expect_none();
}
END_TEST

START_TEST(a_server_without_position_zero_chunks_gets_no_long_call)
{
	input.peer = peer_profile(PEER_CHIMERA);
	input.call_bytes = SEND - HDR;
	expect(MESSAGE_FORM_SHORT, 0);
	input.call_bytes++;
	expect_none();
}
END_TEST

START_TEST(a_payload_leaves_a_call_that_does_not_fit)
{
	setup_ddp();
	input.call_bytes = SEND - HDR;
	set_payload(160, 1001);
	expect(MESSAGE_FORM_SHORT, 0);
	input.call_bytes++;
	expect(MESSAGE_FORM_CHUNKED, 1);
	ck_assert_uint_eq(form.call.chunk_at, 160);
	ck_assert_uint_eq(form.call.chunk_bytes, 1001);
}
END_TEST

START_TEST(the_rest_of_a_reduced_call_must_fit)
{
	setup_ddp();
	set_payload(160, 9001);
	input.call_bytes = 9004 + SEND - HDR - RPCRDMA_READ_SEGMENT_BYTES;
	expect(MESSAGE_FORM_CHUNKED, 1);
	input.call_bytes++;
	expect(MESSAGE_FORM_LONG, 1);
	set_payload(160, 2 * SEG);
	input.call_bytes = 2 * SEG + SEND - HDR - 2 * RPCRDMA_READ_SEGMENT_BYTES;
	expect(MESSAGE_FORM_CHUNKED, 2);
	input.call_bytes++;
	expect(MESSAGE_FORM_LONG, 3);
}
END_TEST

START_TEST(a_payload_in_too_many_segments_stays)
{
	setup_ddp();
	input.limits.send_bytes = 65536;
	input.max_segment_bytes = 1024;
	input.call_bytes = 200 + 1024 * RPCRDMA_MAX_SEGMENTS + 4;
	set_payload(160, 1024 * RPCRDMA_MAX_SEGMENTS);
	expect(MESSAGE_FORM_CHUNKED, RPCRDMA_MAX_SEGMENTS);
	set_payload(160, 1024 * RPCRDMA_MAX_SEGMENTS + 1);
	expect_none(); /* nor does the whole Call fit that many */
}
END_TEST

START_TEST(data_without_a_chunk_stay_inline)
{
	setup_ddp();
	input.call_bytes = 10000;
	set_payload(160, 9840);
	expect(MESSAGE_FORM_CHUNKED, 1);
	set_payload(160, 9837); /* its pad ends the Call */
	expect(MESSAGE_FORM_CHUNKED, 1);
	set_payload(160, 9841);
	expect(MESSAGE_FORM_LONG, 1);
	set_payload(162, 9000);
	expect(MESSAGE_FORM_LONG, 1);
	set_payload(0, 9000);
	expect(MESSAGE_FORM_LONG, 1);
	set_payload(160, 0);
	expect(MESSAGE_FORM_LONG, 1);
	set_payload(UINT32_MAX - 3, UINT32_MAX);
	expect(MESSAGE_FORM_LONG, 1);
}
END_TEST

START_TEST(file_data_get_a_chunk_if_longer_than_the_rest)
{
	setup_ddp();
	input.peer = peer_profile(PEER_GANESHA);
	input.payload_is_data = true;
	input.call_bytes = 160 + 8 + 5;
	set_payload(160, 6);
	expect(MESSAGE_FORM_CHUNKED, 1);
	input.call_bytes++;
	expect(MESSAGE_FORM_SHORT, 0);
	/* A path that fits stays, whatever follows. */
	input.payload_is_data = false;
	input.call_bytes = 168;
	expect(MESSAGE_FORM_SHORT, 0);
}
END_TEST

START_TEST(file_data_do_not_leave_a_call_for_a_server_that_takes_them_inline)
{
	setup_ddp();
	input.payload_is_data = true;
	input.call_bytes = 168;
	set_payload(160, 6);
	expect(MESSAGE_FORM_SHORT, 0);
}
END_TEST

START_TEST(a_reply_that_is_sure_to_fit_is_offered_nothing)
{
	input.reply_max_bytes = RECV - HDR;
	expect_landing(PLACEMENT_NONE, 0, 0);
	input.reply_max_bytes++;
	/* In units of XDR: what is offered has room for the pad. */
	expect_landing(PLACEMENT_REPLY_CHUNK, RECV - HDR + 4, 1);
	input.reply_max_bytes = 2 * SEG + 1;
	expect_landing(PLACEMENT_REPLY_CHUNK, 2 * SEG + 4, 3);
}
END_TEST

START_TEST(a_reply_in_too_many_segments_cannot_be_asked_for)
{
	input.max_segment_bytes = 1024;
	input.limits.send_bytes = 65536;
	input.reply_max_bytes = 1024 * RPCRDMA_MAX_SEGMENTS;
	expect_landing(PLACEMENT_REPLY_CHUNK, input.reply_max_bytes, RPCRDMA_MAX_SEGMENTS);
	input.reply_max_bytes++;
	expect_none();
	input.max_segment_bytes = UINT32_MAX;
	input.reply_max_bytes = UINT32_MAX;
	expect_none(); /* with its pad no chunk can say how long it is */
}
END_TEST

START_TEST(a_write_chunk_is_limited_to_the_servers_maximum)
{
	input.peer = peer_profile(PEER_GANESHA);
	input.max_segment_bytes = UINT32_MAX;
	input.reply_max_bytes = 1024 * 1024;
	expect_landing(PLACEMENT_REPLY_CHUNK, 1024 * 1024, 1);
	ck_assert(!form.placement_truncated);
	input.reply_max_bytes++;
	expect_landing(PLACEMENT_REPLY_CHUNK, 1024 * 1024, 1);
	ck_assert(form.placement_truncated);
}
END_TEST

START_TEST(a_result_lands_by_itself_if_all_around_it_fits)
{
	uint32_t around = RECV - HDR - 8 - RPCRDMA_SEGMENT_BYTES;

	setup_ddp();
	input.reply_max_bytes = 60000;
	input.result_bytes = 50000;
	input.reply_bytes = 50000 + around;
	expect_landing(PLACEMENT_WRITE_CHUNK, 50000, 1);
	input.reply_bytes++;
	expect_landing(PLACEMENT_REPLY_CHUNK, 60000, 1);
	/* Larger receives bring no larger room around it. */
	input.limits.recv_bytes *= 2;
	expect_landing(PLACEMENT_REPLY_CHUNK, 60000, 1);
	input.limits.recv_bytes /= 2;
	/* A result that is the whole of the Reply, as far as is known. */
	input.reply_bytes = 40000;
	expect_landing(PLACEMENT_WRITE_CHUNK, 50000, 1);
	input.result_bytes = 0;
	expect_landing(PLACEMENT_REPLY_CHUNK, 60000, 1);
}
END_TEST

START_TEST(a_result_lands_in_no_buffer_larger_than_the_largest_message)
{
	setup_ddp();
	input.reply_max_bytes = 200000;
	input.result_bytes = 100000;
	input.reply_bytes = 100100;
	input.max_message_bytes = 100000 + 2 * RECV;
	expect_landing(PLACEMENT_WRITE_CHUNK, 100000, 2);
	input.max_message_bytes--;
	expect_landing(PLACEMENT_REPLY_CHUNK, 200000, 4);
}
END_TEST

START_TEST(nothing_is_asked_where_payloads_are_not_moved)
{
	input.call_bytes = 100000;
	input.reply_max_bytes = 100000;
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
}
END_TEST

START_TEST(only_facts_that_matter_are_asked_for)
{
	input.moves_payloads = true;
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	input.call_bytes = SEND - HDR;
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	input.call_bytes++;
	ck_assert_uint_eq(chunk_select_needs(&input), CHUNK_SELECT_PAYLOAD);
	input.reply_max_bytes = RECV - HDR + 1;
	ck_assert_uint_eq(chunk_select_needs(&input), CHUNK_SELECT_RESULT);
	input.known = CHUNK_SELECT_RESULT;
	ck_assert_uint_eq(chunk_select_needs(&input), CHUNK_SELECT_PAYLOAD);
	/* What the Reply is offered takes room, by one byte too much. */
	input.call_bytes = SEND - HDR - 4 - RPCRDMA_SEGMENT_BYTES;
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
	input.call_bytes++;
	ck_assert_uint_eq(chunk_select_needs(&input), CHUNK_SELECT_PAYLOAD);
	input.known |= CHUNK_SELECT_PAYLOAD;
	ck_assert_uint_eq(chunk_select_needs(&input), 0);
}
END_TEST

START_TEST(a_server_that_wants_data_apart_makes_each_payload_matter)
{
	input.moves_payloads = true;
	input.peer = peer_profile(PEER_GANESHA);
	ck_assert_uint_eq(chunk_select_needs(&input), CHUNK_SELECT_PAYLOAD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_form");
	TCase *tc = tcase_create("call_form");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_call_goes_inline_up_to_the_limit);
	tcase_add_test(tc, a_plain_call_is_one_of_which_nothing_is_chosen);
	tcase_add_test(tc, chunks_offered_for_the_reply_shorten_the_inline_call);
	tcase_add_test(tc, to_a_peer_that_reads_nothing_a_call_goes_inline_or_not_at_all);
	tcase_add_test(tc, a_reverse_call_goes_inline_or_not_at_all);
	tcase_add_test(tc, a_long_call_is_cut_into_segments);
	tcase_add_test(tc, a_server_without_position_zero_chunks_gets_no_long_call);
	tcase_add_test(tc, a_payload_leaves_a_call_that_does_not_fit);
	tcase_add_test(tc, the_rest_of_a_reduced_call_must_fit);
	tcase_add_test(tc, a_payload_in_too_many_segments_stays);
	tcase_add_test(tc, data_without_a_chunk_stay_inline);
	tcase_add_test(tc, file_data_get_a_chunk_if_longer_than_the_rest);
	tcase_add_test(tc, file_data_do_not_leave_a_call_for_a_server_that_takes_them_inline);
	tcase_add_test(tc, a_reply_that_is_sure_to_fit_is_offered_nothing);
	tcase_add_test(tc, a_reply_in_too_many_segments_cannot_be_asked_for);
	tcase_add_test(tc, a_write_chunk_is_limited_to_the_servers_maximum);
	tcase_add_test(tc, a_result_lands_by_itself_if_all_around_it_fits);
	tcase_add_test(tc, a_result_lands_in_no_buffer_larger_than_the_largest_message);
	tcase_add_test(tc, nothing_is_asked_where_payloads_are_not_moved);
	tcase_add_test(tc, only_facts_that_matter_are_asked_for);
	tcase_add_test(tc, a_server_that_wants_data_apart_makes_each_payload_matter);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
