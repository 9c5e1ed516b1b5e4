// SPDX-License-Identifier: BSD-3-Clause
/* Tests transport characteristics: the contents of INIT, and the limits that follow. */
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"
#include "tests/unit/characteristics_fixture.h"

/* INIT */

START_TEST(a_connector_begins_with_all_that_it_is)
{
	config.recv_bytes = 8192;
	start(true);
	characteristics_first_init(&ch, &message);
	ck_assert_int_eq(message.op, XCHAR_INIT);
	ck_assert(!message.answers);
	ck_assert_uint_le(message.info_bytes, 1024 - 24);
	ck_assert_int_eq(xchar_decode(XCHAR_INIT, message.info, message.info_bytes, &sent),
			 XCHAR_OK);
	holds_all(&sent, 8192);
	/* As sent, whether the caller says so or not. */
	characteristics_sent(&ch, 1);
	nothing();
	ck_assert_uint_eq(take_init(1, NULL, 0, 0), 0);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(an_acceptor_answers_the_first_init_alone)
{
	ck_assert_uint_eq(take_init(77, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	ck_assert(message.answers);
	ck_assert_uint_eq(message.xid, 77);
	holds_all(&sent, 4096);
	done();
	nothing();
	ck_assert_uint_eq(take_init(78, NULL, 0, 0), 0);
	nothing();
}
END_TEST

START_TEST(an_end_without_characteristics_says_and_knows_nothing)
{
	unsigned what;

	config.enabled = false;
	start(true);
	characteristics_first_init(&ch, &message);
	ck_assert_int_eq(xchar_decode(XCHAR_INIT, message.info, message.info_bytes, &sent),
			 XCHAR_OK);
	ck_assert_uint_eq(sent.spec.left, 0);
	for (uint32_t op = 0; op < 6; op++)
		ck_assert_int_eq(characteristics_receive(&ch, 1, op, info, 0, &what),
				 XCHAR_UNKNOWN_OP);
	ck_assert(!ch.peer_understands);
	characteristics_request_size(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 8192), 4096);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 8192), 8192);
}
END_TEST

START_TEST(an_acceptor_without_an_init_sends_nothing_of_its_own)
{
	characteristics_request_size(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	/* Not after other operations either, which it answers. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, false), 0);
	characteristics_request_size(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	ck_assert_uint_eq(take_req_size(9, 8192), 0);
	resizes(8192, true);
	responds(9, 0, XCHAR_DONE);
	done();
	nothing();
	/* And then its INIT tells what holds. */
	ck_assert_uint_eq(take_init(77, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	holds_all(&sent, 8192);
}
END_TEST

START_TEST(a_connector_asks_nothing_of_a_peer_that_does_not_know)
{
	start(true);
	characteristics_first_init(&ch, &message);
	characteristics_request_size(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
}
END_TEST

START_TEST(another_init_updates_each_value)
{
	const struct xchar_value first[] = {{XCHAR_RBSIZ, true, BIG}, {XCHAR_RQREMINV, true, 1}};
	const struct xchar_value second[] = {{XCHAR_BRS, true, XCHAR_BRS_GENL},
					     {XCHAR_RBSIZ, true, 32768}};

	ck_assert(!characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_UNKNOWN);
	ck_assert_uint_eq(take_init(1, first, 2, 0), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), BIG);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_UNKNOWN);
	ck_assert_uint_eq(take_init(2, second, 2, 0), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), 32768);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_GENL);
	ck_assert_uint_eq(ch.peer_first_bytes, BIG);
	ck_assert_uint_eq(take_init(3, &first[0], 1, 0), CHARACTERISTICS_LOWERED);
	nothing();
}
END_TEST

START_TEST(of_a_value_that_comes_twice_the_last_counts)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, 32768}, {XCHAR_RBSIZ, true, BIG}};

	/* That the first one is constant says nothing. */
	ck_assert_uint_eq(take_init(1, values, 2, 0x1), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
}
END_TEST

START_TEST(a_broken_promise_is_obeyed_and_reported)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, 4096}, {XCHAR_RQREMINV, true, 0}};

	ck_assert_uint_eq(take_init(1, values, 2, 0x3), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, false), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, false), CHARACTERISTICS_INCONSTANT);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_init(2, &values[1], 1, 0), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RQREMINV, 1, false), CHARACTERISTICS_INCONSTANT);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_GENL, false), 0);
}
END_TEST

START_TEST(undecodable_values_change_nothing)
{
	unsigned what;
	size_t len = xchar_encode_req(info, sizeof(info), NULL, 0);

	ck_assert_int_eq(characteristics_receive(&ch, 1, XCHAR_REQ, info, len - 1, &what),
			 XCHAR_BAD);
	ck_assert_int_eq(characteristics_receive(&ch, 1, 99, info, len, &what), XCHAR_UNKNOWN_OP);
	ck_assert(!ch.peer_understands);
	nothing();
}
END_TEST

/* Limits */

START_TEST(the_longest_send_is_between_the_default_and_ours)
{
	static const struct {
		uint32_t advertised, expected, alone; /* alone: a Reply without another way */
	} rows[] = {
		{0, 4096, 4096},       {1024, 4096, 4096},      {4095, 4096, 4096},
		{4096, 4096, 4096},    {4097, 4097, 4097},      {65536, 65536, 65536},
		{65537, 65536, 65537}, {262144, 65536, 262144}, {UINT32_MAX, 65536, 262144},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		ck_assert_uint_eq(characteristics_send_bytes(&ch, rows[i].advertised),
				  rows[i].expected);
		take_upd(XCHAR_RBSIZ, rows[i].advertised, false);
		/* This value overrides private data. */
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 5000), rows[i].expected);
		ck_assert_uint_eq(characteristics_reply_bytes(&ch, 5000), rows[i].alone);
	}
	config.send_max_bytes = 1024;
	start(true);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 5000), 1024);
}
END_TEST

START_TEST(a_receive_size_counts_when_the_peer_knows_of_it)
{
	config.recv_bytes = BIG;
	start(true);
	characteristics_first_init(&ch, &message);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 8192), 8192);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 65536), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_NONE, false), 0);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
	/* An acceptor has told it when its INIT is on its way. */
	start(false);
	ck_assert_uint_eq(take_init(1, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characteristics");
	TCase *tc = tcase_create("init");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_connector_begins_with_all_that_it_is);
	tcase_add_test(tc, an_acceptor_answers_the_first_init_alone);
	tcase_add_test(tc, an_end_without_characteristics_says_and_knows_nothing);
	tcase_add_test(tc, an_acceptor_without_an_init_sends_nothing_of_its_own);
	tcase_add_test(tc, a_connector_asks_nothing_of_a_peer_that_does_not_know);
	tcase_add_test(tc, another_init_updates_each_value);
	tcase_add_test(tc, of_a_value_that_comes_twice_the_last_counts);
	tcase_add_test(tc, a_broken_promise_is_obeyed_and_reported);
	tcase_add_test(tc, undecodable_values_change_nothing);
	suite_add_tcase(suite, tc);

	tc = tcase_create("limits");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, the_longest_send_is_between_the_default_and_ours);
	tcase_add_test(tc, a_receive_size_counts_when_the_peer_knows_of_it);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
