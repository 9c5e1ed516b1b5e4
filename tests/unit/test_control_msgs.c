// SPDX-License-Identifier: BSD-3-Clause
/* Tests proxy-originated control messages and the credits that they hold. */
#include "rpcrdma/v2/control_msgs.h"
#include "tests/lib/test.h"

static struct credit_window window;
static struct control_msgs control;

static void connector(uint32_t granted)
{
	credit_window_init(&window, 64);
	(void)credit_window_grant(&window, granted);
	control_msgs_init(&control, &window);
}

START_TEST(a_connector_takes_a_credit_and_leaves_one)
{
	connector(1);
	ck_assert(!control_msgs_may_send(&control));
	connector(2);
	ck_assert(control_msgs_may_send(&control));
	control_msgs_sent(&control, 7, true);
	ck_assert_uint_eq(window.in_flight, 1);
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(control_msgs_has(&control, 7));
	ck_assert(!control_msgs_has(&control, 8));
	ck_assert(!control_msgs_answered(&control, 8));
	ck_assert(control_msgs_answered(&control, 7));
	ck_assert_uint_eq(window.in_flight, 0);
	ck_assert(!control_msgs_answered(&control, 7));
}
END_TEST

/*
 * Calls of a busy client take each credit as it comes: without one kept back a message would never
 * be sent.
 */
START_TEST(a_credit_is_reserved_for_a_waiting_message)
{
	connector(3);
	while (credit_window_open(&window))
		credit_window_consume(&window);
	ck_assert_uint_eq(window.in_flight, 3);
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(!control_msgs_wait(&control, true));
	credit_window_release(&window);
	ck_assert(!credit_window_open(&window));
	ck_assert(control_msgs_may_send(&control));
	control_msgs_sent(&control, 7, true);
	ck_assert(control_msgs_wait(&control, false));
	ck_assert(!control_msgs_wait(&control, false));
	ck_assert(!credit_window_open(&window));
	ck_assert(control_msgs_answered(&control, 7));
	ck_assert(credit_window_open(&window));
}
END_TEST

/*
 * A peer that does not answer a REQ still has Calls: one more credit would not help the message
 * after it.
 */
START_TEST(nothing_is_kept_back_that_would_not_do)
{
	connector(2);
	control_msgs_sent(&control, 7, true);
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(!control_msgs_wait(&control, true));
	ck_assert(credit_window_open(&window));
	(void)credit_window_grant(&window, 3);
	ck_assert(!control_msgs_wait(&control, true));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window));
	(void)credit_window_grant(&window, 64);
	while (control.count < CONTROL_MSGS_MAX)
		control_msgs_sent(&control, 8, true);
	ck_assert(control_msgs_wait(&control, true));
	ck_assert_uint_eq(window.reserved_control, 0);
}
END_TEST

/* Whatever is kept back of them, and for whom. */
START_TEST(calls_always_have_the_last_credit)
{
	connector(_i + 1);
	window.reserved = 1;
	ck_assert(!control_msgs_wait(&control, true));
	ck_assert(credit_window_open(&window));
	credit_window_consume(&window);
	ck_assert_int_eq(control_msgs_may_send(&control), _i >= 1);
	ck_assert_int_eq(credit_window_open(&window), _i + 1 > 3);
}
END_TEST

START_TEST(a_request_without_a_response_ends_with_any_message)
{
	connector(10);
	control_msgs_sent(&control, 1, false);
	control_msgs_sent(&control, 2, true);
	control_msgs_sent(&control, 3, false);
	ck_assert_uint_eq(window.in_flight, 3);
	ck_assert(control_msgs_message_received(&control));
	ck_assert_uint_eq(window.in_flight, 1);
	ck_assert(control_msgs_has(&control, 2));
	ck_assert(!control_msgs_has(&control, 1));
	ck_assert(!control_msgs_has(&control, 3));
	ck_assert(!control_msgs_message_received(&control));
}
END_TEST

START_TEST(a_connector_has_so_many_out)
{
	connector(64);
	for (uint32_t xid = 0; xid < CONTROL_MSGS_MAX; xid++) {
		ck_assert(control_msgs_may_send(&control));
		control_msgs_sent(&control, xid, xid % 2);
	}
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(control_msgs_message_received(&control));
	ck_assert(control_msgs_may_send(&control));
}
END_TEST

START_TEST(an_acceptor_has_one_out_and_takes_no_credit)
{
	control_msgs_init(&control, NULL);
	ck_assert(control_msgs_may_send(&control));
	control_msgs_sent(&control, 1, false);
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(control_msgs_message_received(&control));
	control_msgs_sent(&control, 2, true);
	ck_assert(!control_msgs_message_received(&control));
	ck_assert(!control_msgs_may_send(&control));
	ck_assert(control_msgs_answered(&control, 2));
	ck_assert(control_msgs_may_send(&control));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control_msgs");
	TCase *tc = tcase_create("control_msgs");

	tcase_add_test(tc, a_connector_takes_a_credit_and_leaves_one);
	tcase_add_test(tc, a_credit_is_reserved_for_a_waiting_message);
	tcase_add_test(tc, nothing_is_kept_back_that_would_not_do);
	tcase_add_loop_test(tc, calls_always_have_the_last_credit, 0, 4);
	tcase_add_test(tc, a_request_without_a_response_ends_with_any_message);
	tcase_add_test(tc, a_connector_has_so_many_out);
	tcase_add_test(tc, an_acceptor_has_one_out_and_takes_no_credit);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
