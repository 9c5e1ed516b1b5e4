// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests bridges of half-closed clients: how long they stay, and which of them is evicted.
 */
#include "tests/lib/test.h"
#include "tests/sim/limits_bench.h"

static void half_close(struct stub *client)
{
	client->config.events->half_closed(client->config.arg);
}

/* The server answers the Call that it was given last. */
static void answer(struct stub *client)
{
	struct stub *server = server_of(client);
	struct exchange *x = server->last_call;

	server->last_call = NULL;
	server->config.events->reply(server->config.arg, x);
	client->bytes_sent += 100;
}

START_TEST(the_half_closed_one_that_has_waited_longest_makes_room)
{
	struct stub *good, *young, *old, *late, *next;

	start(3, TRANSPORT_TCP);
	good = open_client();
	old = open_client();
	/* Before or behind the half-close: how long its Call has waited is what counts. */
	if (_i)
		half_close(old);
	bench_run(bench, 1000);
	young = open_client();
	half_close(young);
	half_close(old);
	bench_run(bench, 3000);
	late = bench_incoming(bench);
	request(late);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TOO_MANY), 1);
	bench_run(bench, 1500);
	next = open_client();
	bench_run(bench, 1);
	ck_assert_uint_eq(old->closed_for, LEG_CLOSE_HALF_CLOSED);
	ck_assert_uint_eq(old->close_calls, 1);
	ck_assert_uint_eq(server_of(old)->close_calls, 1);
	ck_assert_uint_eq(young->close_calls, 0);
	ck_assert_uint_eq(good->close_calls, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_HALF_CLOSED), 1);
	ck_assert_uint_eq(server_of(next)->calls, 1);
	end(late, NULL);
	expect(0, 3, 0);
	end(old, server_of(old));
	end(good, server_of(good));
	end(young, server_of(young));
	end(next, server_of(next));
	expect(0, 0, 0);
}
END_TEST

/*
 * If all its Calls have been answered it must still read its Replies; its next Call restarts the
 * time.
 */
START_TEST(a_half_closed_one_without_a_call_keeps_its_place)
{
	struct stub *old, *next;

	start(1, TRANSPORT_TCP);
	old = open_client();
	half_close(old);
	bench_run(bench, 6000);
	answer(old);
	next = bench_incoming(bench);
	request(next);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TOO_MANY), 1);
	end(next, NULL);
	/* It had not been read. */
	give_call(old);
	bench_run(bench, 4000);
	next = bench_incoming(bench);
	request(next);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TOO_MANY), 2);
	end(next, NULL);
	bench_run(bench, 1000);
	next = open_client();
	bench_run(bench, 1);
	ck_assert_uint_eq(old->closed_for, LEG_CLOSE_HALF_CLOSED);
	end(old, bench_stub(bench, 1));
	end(next, server_of(next));
}
END_TEST

/* In any state of its server's. */
START_TEST(a_half_closed_one_is_closed_in_the_end)
{
	struct stub *client;

	start(1, TRANSPORT_TCP);
	bench->config.half_closed_timeout_s = 8;
	client = bench_incoming(bench);
	if (_i == 1) {
		/* It is half-closed before its server is sought. */
		client->config.events->requested(client->config.arg);
		half_close(client);
		bench_run(bench, 7999);
		ck_assert_str_eq(bench_state(bench), "reading");
	} else {
		request(client);
		half_close(client);
		if (_i == 0)
			server_of(client)->config.events->opened(server_of(client)->config.arg);
		bench_run(bench, 7998);
		ck_assert_str_eq(bench_state(bench), _i == 0 ? "open" : "connecting");
	}
	ck_assert_uint_eq(client->close_calls, 0);
	/* A second notification of the end changes nothing. */
	half_close(client);
	bench_run(bench, 2);
	ck_assert_uint_eq(client->close_calls, 1);
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_HALF_CLOSED_TIMEOUT);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_HALF_CLOSED_TIMEOUT), 1);
	end(client, _i == 1 ? NULL : server_of(client));
	expect(0, 0, 0);
}
END_TEST

START_TEST(a_half_closed_one_that_gets_its_replies_stays)
{
	struct stub *client;

	start(1, TRANSPORT_TCP);
	bench->config.half_closed_timeout_s = 8;
	client = open_client();
	for (unsigned i = 0; i < 3; i++)
		give_call(client);
	half_close(client);
	bench_run(bench, 7000);
	answer(client);
	/* Then part of one, in which no Call ends. */
	bench_run(bench, 7000);
	client->bytes_sent += 100;
	bench_run(bench, 7000);
	client->bytes_sent += 100;
	/* It is looked at 8 s after it was looked at last. */
	bench_run(bench, 9990);
	ck_assert_uint_eq(client->close_calls, 0);
	bench_run(bench, 10);
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_HALF_CLOSED_TIMEOUT);
	end(client, server_of(client));
}
END_TEST

static struct stub *slow_reader(unsigned ncalls)
{
	struct stub *client;

	start(1, TRANSPORT_TCP);
	bench->config.half_closed_timeout_s = 8;
	client = open_client();
	stub_tells_taken(client);
	for (unsigned i = 1; i < ncalls; i++)
		give_call(client);
	half_close(client);
	return client;
}

/*
 * Its Replies are in the socket, and it goes on to take them: before the server has answered all,
 * and when it has.
 */
START_TEST(a_half_closed_one_that_reads_slowly_gets_its_replies)
{
	struct stub *client = slow_reader(1 + _i);

	answer(client);
	for (unsigned i = 0; i < 10; i++) {
		bench_run(bench, 7000);
		client->bytes_taken += 5;
		ck_assert_uint_eq(client->close_calls, 0);
	}
	end(client, server_of(client));
}
END_TEST

/*
 * It takes nothing for a while: that is for its leg to limit, unless the server still owes it
 * something.
 */
START_TEST(output_that_is_not_taken_is_limited_by_the_leg)
{
	struct stub *client = slow_reader(1 + _i);

	answer(client);
	bench_run(bench, 7990);
	ck_assert_uint_eq(client->close_calls, 0);
	bench_run(bench, 100000);
	ck_assert_uint_eq(client->close_calls, _i ? 1 : 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_HALF_CLOSED_TIMEOUT), _i);
	end(client, server_of(client));
}
END_TEST

/* What the socket accepts is no progress. */
START_TEST(a_half_closed_one_that_takes_nothing_is_closed_whatever_is_sent)
{
	struct stub *client = slow_reader(1);

	for (unsigned i = 0; i < 10; i++) {
		client->bytes_sent += 100;
		bench_run(bench, 800);
	}
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_HALF_CLOSED_TIMEOUT);
	end(client, server_of(client));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("half_closed");
	TCase *tc = tcase_create("half_closed");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, the_half_closed_one_that_has_waited_longest_makes_room, 0, 2);
	tcase_add_test(tc, a_half_closed_one_without_a_call_keeps_its_place);
	tcase_add_loop_test(tc, a_half_closed_one_is_closed_in_the_end, 0, 3);
	tcase_add_test(tc, a_half_closed_one_that_gets_its_replies_stays);
	tcase_add_loop_test(tc, a_half_closed_one_that_reads_slowly_gets_its_replies, 0, 2);
	tcase_add_loop_test(tc, output_that_is_not_taken_is_limited_by_the_leg, 0, 2);
	tcase_add_test(tc, a_half_closed_one_that_takes_nothing_is_closed_whatever_is_sent);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
