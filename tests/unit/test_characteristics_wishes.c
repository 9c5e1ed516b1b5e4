// SPDX-License-Identifier: BSD-3-Clause
/* Tests transport characteristics: the sizes that this end wants for itself and from the peer. */
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"
#include "tests/unit/characteristics_fixture.h"

START_TEST(a_raised_size_is_announced_when_all_receives_have_it)
{
	greeted(4096);
	snapshot.smallest_bytes = 4096;
	characteristics_raise(&ch, 4096);
	nothing();
	characteristics_raise(&ch, 8192);
	/* One at a time. */
	characteristics_raise(&ch, BIG);
	resizes(8192, true);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	snapshot.smallest_bytes = 8192;
	snapshot.may_update = false;
	nothing();
	snapshot.may_update = true;
	tells(8192, false);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
	characteristics_raise(&ch, UINT32_MAX);
	resizes(65536, true);
}
END_TEST

START_TEST(a_raise_of_ours_without_memory_is_over)
{
	greeted(4096);
	characteristics_raise(&ch, 8192);
	resizes(8192, false);
	nothing();
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	tells(BIG, false);
}
END_TEST

START_TEST(a_request_takes_the_place_of_a_raise_of_ours)
{
	greeted(4096);
	snapshot.smallest_bytes = 4096;
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	nothing();
	/* A size that is lower than the advertised one, or equal, need not wait. */
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	resizes(4096, true);
	responds(5, 0, XCHAR_DONE);
	done();
	snapshot.smallest_bytes = 4096;
	nothing();
	/* One that is rejected leaves it. */
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	ck_assert_uint_eq(take_req_size(6, 65536), 0);
	resizes(65536, false);
	responds(6, 0, XCHAR_REJ);
	done();
	nothing();
	snapshot.smallest_bytes = BIG;
	tells(BIG, false);
}
END_TEST

START_TEST(a_raise_that_was_replaced_in_vain_is_given_back)
{
	raised(8192);
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	snapshot.counted_bytes = 8192;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(6, UINT32_MAX), 0);
	responds(6, 0, XCHAR_REJ);
	done();
	sends(XCHAR_UPD);
	done();
	resizes(8192, true);
	nothing();
}
END_TEST

START_TEST(no_raise_of_ours_while_a_request_pends)
{
	raised(BIG);
	snapshot.counted_bytes = BIG;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	characteristics_raise(&ch, 65536);
	nothing();
	snapshot.counted_bytes = 0;
	resizes(4096, true);
	tells(4096, true);
	characteristics_raise(&ch, 65536);
	resizes(65536, true);
}
END_TEST

/* What this end asks for */

START_TEST(an_accepted_value_is_in_effect)
{
	greeted(0);
	snapshot.is_allowed = false;
	characteristics_request_size(&ch, BIG);
	nothing();
	snapshot.is_allowed = true;
	asks(BIG);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), 4096);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), BIG);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), CHARACTERISTICS_STRAY);
}
END_TEST

START_TEST(a_wish_that_was_not_sent_is_replaced)
{
	greeted(8192);
	snapshot.is_allowed = false;
	characteristics_request_size(&ch, BIG);
	characteristics_request_size(&ch, 32768);
	snapshot.is_allowed = true;
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 1, 0), CHARACTERISTICS_REJECTED);
	/* A size that is already in use is no wish, nor one that has come into use. */
	snapshot.is_allowed = false;
	characteristics_request_size(&ch, BIG);
	characteristics_request_size(&ch, 8192);
	snapshot.is_allowed = true;
	nothing();
	snapshot.is_allowed = false;
	characteristics_request_size(&ch, BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
	snapshot.is_allowed = true;
	nothing();
}
END_TEST

START_TEST(no_size_above_the_largest_send_is_requested)
{
	greeted(0);
	characteristics_request_size(&ch, UINT32_MAX);
	asks(65536);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	/* No more of it is no less. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 131072, false), 0);
	characteristics_request_size(&ch, 262144);
	nothing();
	characteristics_request_size(&ch, 1);
	asks(4096);
}
END_TEST

START_TEST(a_rejected_value_is_not_requested_again)
{
	static const struct {
		uint8_t done, rej, pend;
		unsigned what;
	} rows[] = {
		{0, 1, 0, CHARACTERISTICS_REJECTED},
		{0, 0, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{2, 0, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 1, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 0, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{0, 1, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 1, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
	};

	greeted(8192);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		characteristics_request_size(&ch, i % 2 ? 4096 : BIG);
		asks(i % 2 ? 4096 : BIG);
		ck_assert_uint_eq(take_resp(own_xid ^ 1, 1, 0, 0), CHARACTERISTICS_STRAY);
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), i % 2 ? 4096 : 8192);
		ck_assert_uint_eq(take_resp(own_xid, rows[i].done, rows[i].rej, rows[i].pend),
				  rows[i].what);
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
		nothing();
	}
}
END_TEST

START_TEST(an_error_rejects_a_request_alone)
{
	greeted(8192);
	ck_assert(!characteristics_rejected(&ch, own_xid));
	characteristics_request_size(&ch, 4096);
	asks(4096);
	ck_assert(!characteristics_rejected(&ch, own_xid + 1));
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 4096);
	ck_assert(characteristics_rejected(&ch, own_xid));
	ck_assert(!characteristics_rejected(&ch, own_xid));
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	nothing();
}
END_TEST

START_TEST(an_update_ends_a_pending_request)
{
	greeted(8192);
	characteristics_request_size(&ch, BIG);
	asks(BIG);
	/* What came before the RESP ends nothing. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, true), 0);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	characteristics_request_size(&ch, 32768);
	nothing();
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), CHARACTERISTICS_UNASKED);
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_NONE, true), CHARACTERISTICS_UNASKED);
	/* It may leave everything as it was. */
	characteristics_request_size(&ch, 32768);
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), CHARACTERISTICS_REJECTED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
}
END_TEST

START_TEST(a_lower_size_holds_from_the_moment_of_asking)
{
	greeted(BIG);
	characteristics_request_size(&ch, 8192);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	asks(8192);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	/*
	 * The peer still takes more, but nothing goes that is longer, whether it has another way or
	 * not.
	 */
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), 8192);
	/* A larger size is advertised, and the request stands. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), 32768);
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), 8192);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, true), CHARACTERISTICS_REJECTED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 32768);
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), UINT32_MAX);
	characteristics_request_size(&ch, 4096);
	asks(4096);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, true), 0);
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), 4096);
}
END_TEST

/*
 * A Call that crossed the REQ counts on more: the lower size pends at the peer, which gets another
 * REQ (B4.2-2).
 */
static void lower_pends(uint32_t bytes)
{
	greeted(BIG);
	characteristics_request_size(&ch, bytes);
	ck_assert_uint_eq(characteristics_revertible_bytes(&ch), UINT32_MAX);
	asks(bytes);
	/* Until the RESP it may be rejected. */
	ck_assert_uint_eq(characteristics_revertible_bytes(&ch), UINT32_MAX);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(characteristics_revertible_bytes(&ch), bytes);
}

START_TEST(a_lower_size_that_pends_is_taken_back)
{
	lower_pends(8192);
	snapshot.is_allowed = false;
	characteristics_revert_request(&ch);
	nothing();
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	characteristics_request_size(&ch, 4096);
	nothing();
	snapshot.is_allowed = true;
	asks(BIG);
	/* The lower one holds until that is settled. */
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), 8192);
	ck_assert_uint_eq(take_resp(own_xid, _i == 0, _i == 1, _i == 2),
			  _i == 1 ? CHARACTERISTICS_REJECTED : 0);
	if (_i == 2) {
		ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), 8192);
		/* There is nothing more to take back. */
		ck_assert_uint_eq(characteristics_revertible_bytes(&ch), UINT32_MAX);
		ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), 0);
	}
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), UINT32_MAX);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	nothing();
}
END_TEST

START_TEST(a_lower_size_that_is_granted_all_the_same_is_obeyed)
{
	lower_pends(8192);
	snapshot.is_allowed = false;
	characteristics_revert_request(&ch);
	/* Before the second REQ has left. */
	if (_i == 0) {
		ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, true), 0);
		ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), UINT32_MAX);
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
		snapshot.is_allowed = true;
		nothing();
		return;
	}
	snapshot.is_allowed = true;
	asks(BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, true), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
}
END_TEST

START_TEST(reverting_a_request_follows_the_last_update)
{
	lower_pends(8192);
	snapshot.is_allowed = false;
	characteristics_revert_request(&ch);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), 8192);
	snapshot.is_allowed = true;
	asks(32768);
	ck_assert(characteristics_rejected(&ch, own_xid));
	ck_assert_uint_eq(characteristics_pending_req_bytes(&ch), UINT32_MAX);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 32768);
}
END_TEST

START_TEST(a_lower_size_is_not_asked_for_while_a_reply_needs_more)
{
	greeted(BIG);
	snapshot.needed_bytes = 8193;
	characteristics_request_size(&ch, 8192);
	nothing();
	/* A higher one does not wait for that. */
	characteristics_request_size(&ch, 32768);
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 1, 0), CHARACTERISTICS_REJECTED);
	characteristics_request_size(&ch, 8192);
	nothing();
	snapshot.needed_bytes = 8192;
	asks(8192);
}
END_TEST

/* While sizes rise, or a wish waits for a credit, no RPC has to be looked at. */
START_TEST(calls_in_flight_matter_where_a_size_is_lowered)
{
	greeted(BIG);
	snapshot.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(8, BIG), 0);
	ck_assert_uint_eq(characteristics_counted_limit(&ch), UINT32_MAX);
	resizes(BIG, true);
	responds(8, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(characteristics_counted_limit(&ch), UINT32_MAX);
	snapshot.smallest_bytes = BIG;
	tells(BIG, true);
	ck_assert_uint_eq(take_req_size(9, 8192), 0);
	ck_assert_uint_eq(characteristics_counted_limit(&ch), 8192);
	snapshot.counted_bytes = 8193;
	responds(9, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(characteristics_counted_limit(&ch), 8192);
	snapshot.is_allowed = false;
	characteristics_request_size(&ch, 2 * BIG);
	ck_assert_uint_eq(characteristics_needed_limit(&ch), UINT32_MAX);
	characteristics_request_size(&ch, 8192);
	ck_assert_uint_eq(characteristics_needed_limit(&ch), 8192);
}
END_TEST

START_TEST(an_unrequested_lower_size_is_obeyed_and_reported)
{
	greeted(32768);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	/* Lower than was asked for. */
	characteristics_request_size(&ch, 8192);
	asks(8192);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8191, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8191);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	/* What is below the least counts as that. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 17, false), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 4096);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characteristics_wishes");
	TCase *tc = tcase_create("raising");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_raised_size_is_announced_when_all_receives_have_it);
	tcase_add_test(tc, a_raise_of_ours_without_memory_is_over);
	tcase_add_test(tc, a_request_takes_the_place_of_a_raise_of_ours);
	tcase_add_test(tc, a_raise_that_was_replaced_in_vain_is_given_back);
	tcase_add_test(tc, no_raise_of_ours_while_a_request_pends);
	suite_add_tcase(suite, tc);

	tc = tcase_create("asking");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, an_accepted_value_is_in_effect);
	tcase_add_test(tc, a_wish_that_was_not_sent_is_replaced);
	tcase_add_test(tc, no_size_above_the_largest_send_is_requested);
	tcase_add_test(tc, a_rejected_value_is_not_requested_again);
	tcase_add_test(tc, an_error_rejects_a_request_alone);
	tcase_add_test(tc, an_update_ends_a_pending_request);
	tcase_add_test(tc, a_lower_size_holds_from_the_moment_of_asking);
	tcase_add_loop_test(tc, a_lower_size_that_pends_is_taken_back, 0, 3);
	tcase_add_loop_test(tc, a_lower_size_that_is_granted_all_the_same_is_obeyed, 0, 2);
	tcase_add_test(tc, reverting_a_request_follows_the_last_update);
	tcase_add_test(tc, a_lower_size_is_not_asked_for_while_a_reply_needs_more);
	tcase_add_test(tc, calls_in_flight_matter_where_a_size_is_lowered);
	tcase_add_test(tc, an_unrequested_lower_size_is_obeyed_and_reported);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
