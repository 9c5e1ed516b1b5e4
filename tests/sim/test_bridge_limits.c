// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests bridges and the connection limits of their service: which connections are evicted, which
 * are not, and what is left of them.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/limits_bench.h"

#define STALL_S 60u

/* ---- half-open ones ---- */

static unsigned lines, told;

static bool look(void *arg, const char *line, size_t len)
{
	lines += strncmp(line, "<7>", 3) != 0 && !strstr(line, " debug: ");
	told += strstr(line, "closed: the client sent no Call in time") != NULL;
	return true;
}

static uint64_t any_time(clockid_t clock)
{
	return 0;
}

/* A health check connects and says nothing: that is no error. */
START_TEST(a_client_that_says_nothing_is_closed_in_the_end)
{
	static const struct log_output output = {.write = look, .now_us = any_time};
	struct stub *client;

	start(1, TRANSPORT_TCP);
	log_set_output(&output);
	log_set_level(LOG_LEVEL_DEBUG);
	lines = told = 0;
	client = bench_incoming(bench);
	if (_i)
		client->config.events->requested(client->config.arg);
	bench_run(bench, STALL_S * 1000 - 1);
	ck_assert_uint_eq(client->close_calls, 0);
	expect(1, 0, 0);
	bench_run(bench, 1);
	ck_assert_uint_eq(client->close_calls, 1);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_CALL), 1);
	stub_fail(client, LEG_CLOSE_NO_CALL, "");
	bench_run(bench, 1);
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	ck_assert_uint_eq(lines, 0);
	ck_assert_uint_eq(told, 1);
	expect(0, 0, 0);
}
END_TEST

/* Bytes of a Call that is not whole: how long it may take is for the leg to say. */
START_TEST(a_client_that_says_something_is_waited_for)
{
	struct stub *client;

	start(1, TRANSPORT_TCP);
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	for (unsigned i = 0; i < 4; i++) {
		client->bytes_received += 1000;
		bench_run(bench, STALL_S * 1000);
		ck_assert_str_eq(bench_state(bench), "reading");
	}
	bench_run(bench, STALL_S * 1000);
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_CALL), 1);
	end(client, NULL);
}
END_TEST

static void granted(void *arg)
{
	++*(unsigned *)arg;
}

/* Its Call is there and is not read: that is no silence. */
START_TEST(a_client_whose_call_waits_for_memory_is_waited_for)
{
	struct budget_claim all, claim;
	struct stub *client;
	unsigned grants = 0;

	start(1, TRANSPORT_TCP);
	budget_claim_init(&all, granted, &grants);
	budget_claim_init(&claim, granted, &grants);
	ck_assert(budget_claim(&bench->budget.other, &all, bench->budget.budget.limit_bytes));
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	ck_assert(!budget_claim(client->config.holder, &claim, 1000));
	bench_run(bench, 3 * STALL_S * 1000);
	ck_assert_str_eq(bench_state(bench), "reading");
	budget_claim_release(&all);
	bench_run(bench, 1);
	ck_assert_uint_eq(grants, 1);
	budget_claim_release(&claim);
	bench_run(bench, STALL_S * 1000);
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_CALL), 1);
	end(client, NULL);
}
END_TEST

START_TEST(a_connected_client_can_be_silent_forever)
{
	struct stub *client;

	start(1, TRANSPORT_TCP);
	client = open_client();
	bench_run(bench, 100 * STALL_S * 1000);
	ck_assert_str_eq(bench_state(bench), "open");
	end(client, server_of(client));
}
END_TEST

START_TEST(silent_clients_keep_no_other_out)
{
	struct stub *silent[8], *good;

	start(8, TRANSPORT_TCP);
	for (unsigned i = 0; i < 8; i++)
		silent[i] = bench_incoming(bench);
	good = open_client();
	expect(8, 1, 0);
	ck_assert_uint_eq(server_of(good)->calls, 1);
	end(good, server_of(good));
	for (unsigned i = 0; i < 8; i++)
		end(silent[i], NULL);
	expect(0, 0, 0);
}
END_TEST

START_TEST(the_oldest_of_too_many_silent_ones_is_closed)
{
	struct stub *silent[CONN_LIMITS_HALF_OPEN_MIN + 1];

	start(8, TRANSPORT_TCP);
	for (unsigned i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = bench_incoming(bench);
	bench_run(bench, 1);
	expect(CONN_LIMITS_HALF_OPEN_MIN, 0, 0);
	ck_assert_uint_eq(silent[0]->close_calls, 1);
	ck_assert_uint_eq(silent[0]->closed_for, LEG_CLOSE_HALF_OPEN);
	ck_assert_uint_eq(silent[1]->close_calls, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_HALF_OPEN), 1);
	/* It goes in this turn or says its first byte in it: either way it is over. */
	silent[0]->config.events->requested(silent[0]->config.arg);
	for (unsigned i = 0; i < ARRAY_SIZE(silent); i++)
		end(silent[i], NULL);
	expect(0, 0, 0);
}
END_TEST

START_TEST(a_call_in_the_moment_of_going_finds_no_server)
{
	struct stub *silent[CONN_LIMITS_HALF_OPEN_MIN + 1];

	start(8, TRANSPORT_TCP);
	for (unsigned i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = bench_incoming(bench);
	bench_client_call(bench, silent[0], 1);
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, ARRAY_SIZE(silent));
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_HALF_OPEN), 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
	for (unsigned i = 0; i < ARRAY_SIZE(silent); i++)
		end(silent[i], NULL);
}
END_TEST

/* ---- max_connections ---- */

/* RDMA clients that were accepted and then say nothing. */
START_TEST(the_oldest_without_a_call_makes_room)
{
	struct stub *first, *second, *good;

	start(2, TRANSPORT_IWARP);
	first = open_client();
	second = open_client();
	bench_run(bench, 1000);
	good = open_client();
	expect(0, 2, 0);
	ck_assert_uint_eq(first->closed_for, LEG_CLOSE_MADE_ROOM);
	ck_assert_uint_eq(first->close_calls, 1);
	ck_assert_uint_eq(second->close_calls, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_MADE_ROOM), 1);
	give_call(good);
	ck_assert_uint_eq(server_of(good)->calls, 1);
	end(first, server_of(first));
	end(second, server_of(second));
	end(good, server_of(good));
	expect(0, 0, 0);
}
END_TEST

static struct stub *busy_client(int kind)
{
	struct stub *client;

	if (kind) {
		client = open_client();
		if (!is_tcp())
			give_call(client);
	} else {
		client = bench_incoming(bench);
		request(client);
	}
	return client;
}

/* One whose server is sought, one that has given a Call; a late one over TCP, and one over RDMA. */
START_TEST(busy_clients_are_not_evicted_and_a_new_client_is_held)
{
	struct stub *busy, *late;

	start(1, _i / 2 ? TRANSPORT_TCP : TRANSPORT_IWARP);
	late = bench_incoming(bench);
	busy = busy_client(_i % 2);
	request(late);
	ck_assert_uint_eq(busy->close_calls, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TOO_MANY), 1);
	expect(0, 1, 1);
	bench_run(bench, 400);
	ck_assert_uint_eq(late->close_calls, 0);
	bench_run(bench, 100);
	ck_assert_uint_eq(late->close_calls, 1);
	ck_assert_uint_eq(late->closed_for, LEG_CLOSE_TOO_MANY);
	end(late, NULL);
	expect(0, 1, 0);
	end(busy, bench->stubs[2]);
}
END_TEST

static unsigned named;

static bool find_limit(void *arg, const char *line, size_t len)
{
	named += strstr(line, "max_connections reached: 1, by the source ports below 1024") != NULL;
	return true;
}

/* With "auto" no number in the file says why. */
START_TEST(the_line_about_a_rejected_client_has_the_source_of_auto)
{
	static const struct log_output output = {.write = find_limit, .now_us = any_time};
	struct stub *busy, *late;

	start(1, TRANSPORT_TCP);
	bench->config.auto_connections = true;
	bench->config.limit = CONFIG_LIMIT_PORTS;
	log_set_output(&output);
	log_set_level(LOG_LEVEL_DEBUG);
	named = 0;
	busy = busy_client(0);
	late = bench_incoming(bench);
	request(late);
	bench_run(bench, 500);
	end(late, NULL);
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	ck_assert_uint_eq(named, 1);
	end(busy, bench->stubs[1]);
}
END_TEST

START_TEST(a_call_in_the_moment_of_going_goes_no_further)
{
	struct stub *first, *good;

	start(1, TRANSPORT_IWARP);
	first = open_client();
	bench_run(bench, 1000);
	/* Of another address: its server is sought at once, whoever is connected. */
	bench->client_addr = 98;
	good = bench_incoming(bench);
	ask(good);
	give_call(first);
	ck_assert_uint_eq(first->close_calls, 1);
	ck_assert_uint_eq(first->closed_for, LEG_CLOSE_MADE_ROOM);
	ck_assert_uint_eq(server_of(first)->calls, 0);
	bench_run(bench, 1);
	end(first, server_of(first));
	end(good, bench->stubs[3]);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_MADE_ROOM), 1);
	ck_assert_uint_eq(bench_closes(bench), 2);
}
END_TEST

static unsigned left_lines;

static bool look_for_leaving(void *arg, const char *line, size_t len)
{
	left_lines += !strncmp(line, "<6>", 3) && strstr(line, "closed by the client") &&
		      strstr(line, "while connecting");
	return true;
}

/*
 * A client that leaves while its server is being connected: a TCP client closes its side, and then
 * the server is not reached; an RDMA client withdraws its request.
 */
START_TEST(a_client_that_leaves_while_its_server_is_connected_is_said_to)
{
	static const struct log_output output = {
		.write = look_for_leaving, .form = LOG_FORM_LEVEL, .now_us = any_time};
	struct stub *client, *server;

	start(4, _i % 2 ? TRANSPORT_TCP : TRANSPORT_IWARP);
	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
	left_lines = 0;
	client = bench_incoming(bench);
	request(client);
	server = server_of(client);
	ck_assert_str_eq(bench_state(bench), "connecting");
	if (is_tcp()) {
		client->config.events->half_closed(client->config.arg);
		stub_fail(server, LEG_CLOSE_REFUSED, "Connection refused");
		bench_run(bench, 500);
		end(client, NULL);
	} else {
		end(client, server);
	}
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	ck_assert_uint_eq(bench->ws.closes[CLOSE_BY_CLIENT][LEG_CLOSE_PEER], 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
	ck_assert_uint_eq(left_lines, 1);
}
END_TEST

/* A client that stays connected is closed because of its server. */
START_TEST(a_client_that_stays_while_its_server_fails_is_closed_for_that)
{
	struct stub *client;

	start(4, TRANSPORT_TCP);
	client = bench_incoming(bench);
	request(client);
	stub_fail(server_of(client), LEG_CLOSE_REFUSED, "");
	ck_assert_uint_eq(bench->ws.closes[CLOSE_BY_SERVER][LEG_CLOSE_REFUSED], 1);
	bench_run(bench, 500);
	end(client, NULL);
}
END_TEST

static struct client_event refusals(unsigned kind)
{
	return client_events_get(&bench->service.events, kind);
}

/* What `status` shows of clients that were refused or broke the rules. */
START_TEST(refused_clients_and_reused_xids_are_counted_with_the_last_client)
{
	struct stub *busy, *late;

	start(1, TRANSPORT_TCP);
	busy = open_client();
	give_call(busy);
	late = bench_incoming(bench);
	request(late);
	ck_assert_uint_eq(refusals(LEG_CLOSE_TOO_MANY).count, 1);
	ck_assert_int_eq(refusals(LEG_CLOSE_TOO_MANY).client.ss_family, AF_INET);
	ck_assert_uint_ge(refusals(LEG_CLOSE_TOO_MANY).last_us + 1000, loop_now_us(bench->loop));
	bench_run(bench, 500);
	end(late, NULL);
	ck_assert_uint_eq(refusals(CLIENT_EVENT_XID_REUSED).count, 0);
	stub_fail(busy, LEG_CLOSE_XID_REUSED, "");
	ck_assert_uint_eq(refusals(CLIENT_EVENT_XID_REUSED).count, 1);
	stub_fail(server_of(busy), LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
}
END_TEST

/* An open connection that runs out of memory is not refused. */
START_TEST(clients_that_this_host_cannot_connect_are_counted_as_refused)
{
	static const enum leg_close whys[] = {LEG_CLOSE_NO_SOURCE_PORT, LEG_CLOSE_NO_SOURCE_ADDRESS,
					      LEG_CLOSE_RESOURCES};
	struct stub *client;

	start(4, TRANSPORT_TCP);
	client = _i < 3 ? bench_incoming(bench) : open_client();
	if (_i < 3)
		request(client);
	stub_fail(server_of(client), whys[_i % 3], "");
	ck_assert_uint_eq(refusals(whys[_i % 3]).count, _i < 3);
	bench_run(bench, 500);
	end(client, NULL);
}
END_TEST

/* The client can be back on another thread, which is notified as soon as the last of it is over. */
START_TEST(the_place_of_one_that_is_over_is_free_at_once)
{
	struct stub *client, *server;

	start(1, TRANSPORT_TCP);
	client = open_client();
	server = server_of(client);
	expect(0, 1, 0);
	stub_fail(_i ? client : server, LEG_CLOSE_LOST, "");
	stub_closing(_i ? server : client, LEG_CLOSE_LOST, "");
	expect(0, _i ? 1 : 0, _i ? 0 : 1);
	stub_over(_i ? server : client);
	expect(0, 0, 0);
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->bridges_gone, 1);
}
END_TEST

/* ---- held ones ---- */

START_TEST(a_held_client_has_no_place)
{
	struct stub *refused, *good;

	start(1, TRANSPORT_TCP);
	refused = bench_incoming(bench);
	request(refused);
	stub_fail(server_of(refused), LEG_CLOSE_REFUSED, "");
	bench_run(bench, 1);
	expect(0, 0, 1);
	good = open_client();
	expect(0, 1, 1);
	bench_run(bench, 500);
	ck_assert_uint_eq(refused->close_calls, 1);
	/* It is held until it is gone. */
	end(refused, NULL);
	expect(0, 1, 0);
	end(good, server_of(good));
}
END_TEST

START_TEST(of_too_many_that_are_held_the_oldest_is_closed)
{
	struct stub *refused[CONN_LIMITS_TARPIT_MAX + 2];

	start(CONN_LIMITS_TARPIT_MAX, TRANSPORT_TCP);
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		refused[i] = bench_incoming(bench);
		ask(refused[i]);
		bench_run(bench, 0);
		stub_fail(server_of(refused[i]), LEG_CLOSE_REFUSED, "");
		bench_run(bench, 0);
	}
	expect(0, 0, CONN_LIMITS_TARPIT_MAX);
	ck_assert_uint_eq(refused[0]->close_calls, 1);
	ck_assert_uint_eq(refused[1]->close_calls, 1);
	ck_assert_uint_eq(refused[2]->close_calls, 0);
	/* For the reason that it had, which was counted once. */
	ck_assert_uint_eq(refused[0]->closed_for, LEG_CLOSE_REFUSED);
	ck_assert_uint_eq(bench_closes(bench), ARRAY_SIZE(refused));
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++)
		end(refused[i], NULL);
	expect(0, 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("standing");
	TCase *tc = tcase_create("standing");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, a_client_that_says_nothing_is_closed_in_the_end, 0, 2);
	tcase_add_test(tc, a_client_that_says_something_is_waited_for);
	tcase_add_test(tc, a_client_whose_call_waits_for_memory_is_waited_for);
	tcase_add_test(tc, a_connected_client_can_be_silent_forever);
	tcase_add_test(tc, silent_clients_keep_no_other_out);
	tcase_add_test(tc, the_oldest_of_too_many_silent_ones_is_closed);
	tcase_add_test(tc, a_call_in_the_moment_of_going_finds_no_server);
	tcase_add_test(tc, the_oldest_without_a_call_makes_room);
	tcase_add_loop_test(tc, busy_clients_are_not_evicted_and_a_new_client_is_held, 0, 4);
	tcase_add_test(tc, the_line_about_a_rejected_client_has_the_source_of_auto);
	tcase_add_test(tc, a_call_in_the_moment_of_going_goes_no_further);
	tcase_add_loop_test(tc, the_place_of_one_that_is_over_is_free_at_once, 0, 2);
	tcase_add_loop_test(tc, a_client_that_leaves_while_its_server_is_connected_is_said_to, 0,
			    2);
	tcase_add_test(tc, a_client_that_stays_while_its_server_fails_is_closed_for_that);
	tcase_add_test(tc, refused_clients_and_reused_xids_are_counted_with_the_last_client);
	tcase_add_loop_test(tc, clients_that_this_host_cannot_connect_are_counted_as_refused, 0, 6);
	tcase_add_test(tc, a_held_client_has_no_place);
	tcase_add_test(tc, of_too_many_that_are_held_the_oldest_is_closed);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
