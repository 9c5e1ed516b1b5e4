// SPDX-License-Identifier: BSD-3-Clause
/* Tests transport characteristics: REQs of the peer. */
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"
#include "tests/unit/characteristics_fixture.h"

START_TEST(values_that_hold_already_are_accepted_and_others_rejected)
{
	static const struct {
		struct xchar_value value;
		enum xchar_set set;
	} rows[] = {
		{{XCHAR_RBSIZ, true, 4096}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 0}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 4095}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 65537}, XCHAR_REJ},
		{{XCHAR_RBSIZ, true, UINT32_MAX}, XCHAR_REJ},
		{{XCHAR_RQREMINV, true, 1}, XCHAR_DONE},
		{{XCHAR_RQREMINV, true, 0}, XCHAR_REJ},
		{{XCHAR_BRS, true, XCHAR_BRS_SZLIM}, XCHAR_DONE},
		{{XCHAR_BRS, true, XCHAR_BRS_GENL}, XCHAR_REJ},
		{{XCHAR_BRS, true, XCHAR_BRS_UNKNOWN}, XCHAR_REJ},
		{{77, true, 5}, XCHAR_REJ},
		{{0, true, 5}, XCHAR_REJ},
		{{UINT32_MAX, true, 5}, XCHAR_REJ},
	};

	greeted(4096);
	snapshot.smallest_bytes = 4096;
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_uint_eq(take_req(i, &rows[i].value, 1), 0);
		responds(i, 0, rows[i].set);
		done();
		nothing();
	}
	ck_assert_uint_eq(ch.posted_bytes, 4096);
	ck_assert_uint_eq(take_req(99, NULL, 0), 0);
	sends(XCHAR_RESP);
	ck_assert_uint_eq(message.info_bytes, 12);
}
END_TEST

START_TEST(no_more_is_granted_than_is_configured)
{
	config.recv_bytes = 32768;
	config.receive_max_bytes = 8192;
	start(false);
	greeted(4096);
	snapshot.smallest_bytes = 32768;
	ck_assert_uint_eq(take_req_size(1, 32769), 0);
	responds(1, 0, XCHAR_REJ);
	done();
	ck_assert_uint_eq(take_req_size(2, 32768), 0);
	responds(2, 0, XCHAR_DONE);
}
END_TEST

START_TEST(of_a_value_that_is_wanted_twice_the_last_counts)
{
	const struct xchar_value values[] = {
		{XCHAR_RBSIZ, true, UINT32_MAX}, {XCHAR_BRS, true, XCHAR_BRS_SZLIM}, {77, true, 0},
		{XCHAR_RBSIZ, true, 8192},       {XCHAR_BRS, true, XCHAR_BRS_NONE},
	};
	static const enum xchar_set sets[] = {XCHAR_DONE, XCHAR_REJ, XCHAR_REJ, XCHAR_DONE,
					      XCHAR_REJ};

	greeted(4096);
	ck_assert_uint_eq(take_req(5, values, ARRAY_SIZE(values)), 0);
	resizes(8192, true);
	for (uint32_t n = 0; n < ARRAY_SIZE(sets); n++)
		responds(5, n, sets[n]);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(a_raised_size_is_done_when_all_receives_have_it)
{
	greeted(4096);
	snapshot.smallest_bytes = 8192;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_DONE);
	/* It counts when the answer is on its way, and not before. */
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
	nothing();
}
END_TEST

START_TEST(a_raised_size_pends_until_the_old_receives_are_gone)
{
	greeted(4096);
	snapshot.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_PEND);
	done();
	nothing();
	snapshot.may_update = false;
	snapshot.smallest_bytes = 8192;
	nothing();
	snapshot.may_update = true;
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	tells(8192, true);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(a_raise_without_memory_is_rejected)
{
	greeted(4096);
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, false);
	responds(5, 0, XCHAR_REJ);
	done();
	nothing();
	ck_assert_uint_eq(ch.posted_bytes, 4096);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(a_lower_size_is_done_when_no_call_counts_on_more)
{
	raised(BIG);
	snapshot.counted_bytes = 4096;
	/* An answer waits for nothing. */
	snapshot.may_update = snapshot.is_allowed = false;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	resizes(4096, true);
	responds(5, 0, XCHAR_DONE);
	done();
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(a_lower_size_pends_while_a_call_counts_on_more)
{
	raised(BIG);
	snapshot.counted_bytes = 4097;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	nothing();
	/*
	 * Calls that follow do not count on more, or it would pend for ever; receives are the old
	 * ones.
	 */
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	ck_assert_uint_eq(ch.posted_bytes, BIG);
	/* Receives and their advertised size change together. */
	snapshot.counted_bytes = 4096;
	snapshot.may_update = false;
	nothing();
	snapshot.may_update = true;
	resizes(4096, true);
	snapshot.may_update = false;
	snapshot.smallest_bytes = 4096;
	tells(4096, true);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(the_newest_request_replaces_the_pending_one)
{
	greeted(4096);
	snapshot.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(6, BIG), 0);
	resizes(BIG, true);
	responds(6, 0, XCHAR_PEND);
	done();
	snapshot.smallest_bytes = 8192;
	nothing();
	snapshot.smallest_bytes = BIG;
	tells(BIG, true);
	/* Down, pending; and up to what is there still. */
	snapshot.counted_bytes = 10000;
	ck_assert_uint_eq(take_req_size(7, 4096), 0);
	responds(7, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(8, BIG), 0);
	responds(8, 0, XCHAR_DONE);
	done();
	snapshot.counted_bytes = 0;
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
}
END_TEST

START_TEST(a_rejected_request_ends_the_pending_one)
{
	raised(BIG);
	for (unsigned round = 0; round < 2; round++) {
		snapshot.counted_bytes = 10000;
		ck_assert_uint_eq(take_req_size(5, 4096), 0);
		responds(5, 0, XCHAR_PEND);
		done();
		snapshot.counted_bytes = 0;
		snapshot.may_update = false;
		ck_assert_uint_eq(take_req_size(6, round ? UINT32_MAX : 32768), 0);
		if (!round)
			resizes(32768, false);
		responds(6, 0, XCHAR_REJ);
		done();
		nothing();
		ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
		snapshot.may_update = true;
		if (round)
			break;
		tells(BIG, true);
	}
	/* One that pends in its turn is not ended by that. */
	snapshot.counted_bytes = 10000;
	ck_assert_uint_eq(take_req_size(7, 8192), 0);
	responds(7, 0, XCHAR_PEND);
	done();
	nothing();
	snapshot.counted_bytes = 0;
	resizes(8192, true);
	tells(8192, true);
}
END_TEST

static size_t put(size_t at, uint32_t word)
{
	ck_assert_uint_le(at + 4, sizeof(info));
	for (unsigned i = 0; i < 4; i++)
		info[at + i] = (uint8_t)(word >> (24 - 8 * i));
	return at + 4;
}

/* A REQ of @count values without a meaning, except that at @place, if there is one: 8192 bytes. */
static size_t long_req(uint32_t count, uint32_t place)
{
	size_t len = put(0, count);

	for (uint32_t n = 0; n < count; n++) {
		len = put(len, n == place ? XCHAR_RBSIZ : 1000 + n);
		len = put(len, n == place ? 4 : 0);
		if (n == place)
			len = put(len, 8192);
	}
	return len;
}

START_TEST(ten_thousand_values_are_parted)
{
	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(10000, UINT32_MAX)), 0);
	for (uint32_t n = 0; n < 10000; n += 999)
		responds(5, n, XCHAR_REJ);
	ck_assert_uint_eq(message.info_bytes, 12 + 4 * ((10000 + 31) / 32));
	done();
	ck_assert_uint_eq(take(XCHAR_REQ, 6, long_req(10000, 40)), 0);
	resizes(8192, true);
	responds(6, 39, XCHAR_REJ);
	responds(6, 40, XCHAR_DONE);
	responds(6, 41, XCHAR_REJ);
	responds(6, 9999, XCHAR_REJ);
}
END_TEST

START_TEST(all_is_rejected_where_an_answer_might_be_too_long)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, 8192};
	struct xchar_value values[CHARACTERISTICS_KNOWN_MAX + 1];

	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(30000, 29999)), 0);
	responds(5, 29999, XCHAR_REJ);
	ck_assert_uint_le(message.info_bytes, CHARACTERISTICS_RESP_BYTES);
	done();
	/* As many known ones as are kept, and one more. */
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = size;
	ck_assert_uint_eq(take_req(6, values, CHARACTERISTICS_KNOWN_MAX + 1), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		responds(6, i, XCHAR_REJ);
	done();
	ck_assert_uint_eq(take_req(7, values, CHARACTERISTICS_KNOWN_MAX), 0);
	resizes(8192, true);
	for (unsigned i = 0; i < CHARACTERISTICS_KNOWN_MAX; i++)
		responds(7, i, XCHAR_DONE);
	done();
	nothing();
}
END_TEST

START_TEST(a_request_too_long_for_a_response_is_unanswered)
{
	uint32_t most = 32 * ((CHARACTERISTICS_RESP_BYTES - 12) / 4);

	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(most, UINT32_MAX)), 0);
	responds(5, most - 1, XCHAR_REJ);
	ck_assert_uint_eq(message.info_bytes, CHARACTERISTICS_RESP_BYTES);
	done();
	ck_assert_uint_eq(take(XCHAR_REQ, 6, long_req(most + 1, 0)), CHARACTERISTICS_UNANSWERED);
	nothing();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characteristics_requests");
	TCase *tc = tcase_create("asked");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, values_that_hold_already_are_accepted_and_others_rejected);
	tcase_add_test(tc, no_more_is_granted_than_is_configured);
	tcase_add_test(tc, of_a_value_that_is_wanted_twice_the_last_counts);
	tcase_add_test(tc, a_raised_size_is_done_when_all_receives_have_it);
	tcase_add_test(tc, a_raised_size_pends_until_the_old_receives_are_gone);
	tcase_add_test(tc, a_raise_without_memory_is_rejected);
	tcase_add_test(tc, a_lower_size_is_done_when_no_call_counts_on_more);
	tcase_add_test(tc, a_lower_size_pends_while_a_call_counts_on_more);
	tcase_add_test(tc, the_newest_request_replaces_the_pending_one);
	tcase_add_test(tc, a_rejected_request_ends_the_pending_one);
	tcase_add_test(tc, ten_thousand_values_are_parted);
	tcase_add_test(tc, all_is_rejected_where_an_answer_might_be_too_long);
	tcase_add_test(tc, a_request_too_long_for_a_response_is_unanswered);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
