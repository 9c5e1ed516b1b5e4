// SPDX-License-Identifier: BSD-3-Clause
/* Tests reconnecting clients and the fate of their old connections. */
#include <netinet/in.h>

#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

static struct bench *bench;
static struct stub *client, *server;

static void teardown(void)
{
	if (bench)
		bench_end(bench);
	bench = NULL;
}

/* A TCP client whose Call waits at a server that was reached from @port. */
static struct stub *come(uint32_t xid, uint16_t port)
{
	struct stub *stub = bench_incoming(bench), *to;

	bench_client_call(bench, stub, xid);
	bench_run(bench, 1);
	to = bench_stub(bench, bench->nstubs - 1);
	ck_assert_ptr_ne(to, stub);
	((struct sockaddr_in *)&to->local)->sin_family = AF_INET;
	((struct sockaddr_in *)&to->local)->sin_port = htons(port);
	to->config.events->opened(to->config.arg);
	ck_assert_uint_eq(to->calls, 1);
	server = to;
	return stub;
}

static void start_tcp_stubs(void)
{
	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->stub_server = true;
}

/* Both ends of a bridge go, the client first. */
static void go(struct stub *from, struct stub *to)
{
	stub_fail(from, LEG_CLOSE_LOST, "");
	stub_fail(to, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 1);
}

static uint16_t asked_port(void)
{
	return bench_stub(bench, bench->nstubs - 1)->attempt.source_port;
}

START_TEST(a_server_is_not_sought_before_the_first_call)
{
	start_tcp_stubs();
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	ck_assert(client->accepted);
	client->config.events->opened(client->config.arg);
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_str_eq(bench_state(bench), "reading");
	stub_fail(client, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
}
END_TEST

START_TEST(a_client_that_comes_back_with_its_call_has_its_port)
{
	struct stub *old;

	start_tcp_stubs();
	old = come(5, 700);
	go(old, server);
	old = come(6, 701);
	go(old, server);
	client = come(_i ? 5 : 99, 702);
	ck_assert_uint_eq(asked_port(), _i ? 700 : 0);
	go(client, server);
}
END_TEST

/* However its old connection ended while its Call was not answered. */
START_TEST(a_half_closed_client_that_was_closed_is_known_when_it_comes_back)
{
	struct stub *old, *to;

	start_tcp_stubs();
	bench->config.max_connections = 1;
	bench->config.half_closed_timeout_s = 8;
	old = come(5, 700);
	to = server;
	old->config.events->half_closed(old->config.arg);
	bench_run(bench, 5000);
	if (_i) {
		/* Another address. */
		bench->client_addr = 98;
		client = come(99, 701);
		bench_run(bench, 1);
		ck_assert_uint_eq(old->closed_for, LEG_CLOSE_HALF_CLOSED);
		go(client, server);
		bench->client_addr = 99;
	} else {
		bench_run(bench, 5000);
		ck_assert_uint_eq(old->closed_for, LEG_CLOSE_HALF_CLOSED_TIMEOUT);
	}
	go(old, to);
	client = come(5, 702);
	ck_assert_uint_eq(asked_port(), 700);
	go(client, server);
}
END_TEST

START_TEST(a_call_that_was_answered_lately_is_known_too)
{
	struct exchange *x;

	start_tcp_stubs();
	client = come(5, 700);
	/* The Reply is on its way when the client is lost. */
	x = server->last_call;
	server->last_call = NULL;
	server->config.events->reply(server->config.arg, x);
	ck_assert_uint_eq(client->replies, 1);
	go(client, server);
	client = come(5, 702);
	ck_assert_uint_eq(asked_port(), 700);
	go(client, server);
}
END_TEST

START_TEST(the_same_ends_have_the_old_connection_closed_and_its_port)
{
	struct stub *old, *to;

	start_tcp_stubs();
	bench->client_port = 800;
	old = come(5, 700);
	to = server;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 77);
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, 3);
	ck_assert_uint_eq(old->closed_for, LEG_CLOSE_SUPERSEDED);
	ck_assert_uint_eq(to->closed_for, LEG_CLOSE_SUPERSEDED);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_SUPERSEDED), 1);
	stub_fail(to, LEG_CLOSE_SUPERSEDED, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, 4);
	ck_assert_uint_eq(asked_port(), 700);
	stub_fail(old, LEG_CLOSE_SUPERSEDED, "");
	go(client, bench_stub(bench, 3));
}
END_TEST

START_TEST(a_half_closed_connection_gives_way_to_its_call)
{
	struct stub *old, *to;

	start_tcp_stubs();
	old = come(5, 700);
	to = server;
	old->config.events->half_closed(old->config.arg);
	client = bench_incoming(bench);
	bench_client_call(bench, client, _i ? 5 : 6);
	bench_run(bench, 1);
	if (_i) {
		ck_assert_uint_eq(to->closed_for, LEG_CLOSE_SUPERSEDED);
		stub_fail(to, LEG_CLOSE_SUPERSEDED, "");
		bench_run(bench, 1);
		ck_assert_uint_eq(asked_port(), 700);
		stub_fail(old, LEG_CLOSE_SUPERSEDED, "");
	} else {
		ck_assert_uint_eq(to->close_calls, 0);
		ck_assert_uint_eq(asked_port(), 0);
		go(old, to);
	}
	go(client, bench_stub(bench, bench->nstubs - 1));
}
END_TEST

/* Its legs have time limits of their own; what waits for it has one in case its worker hangs. */
START_TEST(an_old_connection_is_waited_for_until_it_ends)
{
	struct stub *old, *to;

	start_tcp_stubs();
	bench->client_port = 800;
	old = come(5, 700);
	to = server;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 5);
	bench_run(bench, 39999);
	ck_assert_uint_eq(bench->nstubs, 3);
	if (_i)
		stub_fail(to, LEG_CLOSE_SUPERSEDED, "");
	bench_run(bench, 2);
	ck_assert_uint_eq(bench->nstubs, 4);
	ck_assert_uint_eq(asked_port(), _i ? 700 : 0);
	if (!_i)
		stub_fail(to, LEG_CLOSE_SUPERSEDED, "");
	stub_fail(old, LEG_CLOSE_SUPERSEDED, "");
	go(client, bench_stub(bench, 3));
}
END_TEST

static void old_is_lost(void *arg)
{
	stub_closing(arg, LEG_CLOSE_LOST, "");
}

/* The end of the old one stands behind what its leg has not read. */
START_TEST(an_old_connection_is_asked_for_its_end)
{
	struct loop_task lost;
	struct stub *old, *to;

	start_tcp_stubs();
	old = come(5, 700);
	to = server;
	loop_task_init(&lost, old_is_lost, old);
	if (_i)
		old->hears = &lost;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 5);
	bench_run(bench, 1);
	ck_assert_uint_eq(old->end_looks, 1);
	if (_i) {
		ck_assert_uint_eq(to->closed_for, LEG_CLOSE_LOST);
		ck_assert_uint_eq(bench->nstubs, 3);
		stub_over(old);
		stub_fail(to, LEG_CLOSE_LOST, "");
		bench_run(bench, 1);
		ck_assert_uint_eq(asked_port(), 700);
	} else {
		ck_assert_uint_eq(asked_port(), 0);
		go(old, to);
	}
	go(client, bench_stub(bench, bench->nstubs - 1));
}
END_TEST

START_TEST(an_rdma_client_is_asked_for_its_call_only_among_several)
{
	struct stub *old;

	start_tcp_stubs();
	bench->config.listen.transport = TRANSPORT_TCP;
	for (int i = 0; i < 1 + _i; i++) {
		old = come(5 + i, 700 + i);
		go(old, server);
	}
	bench->config.listen.transport = TRANSPORT_IWARP;
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	bench_run(bench, 1);
	ck_assert(client->accepted == (_i == 1));
	if (_i) {
		client->config.events->opened(client->config.arg);
		/* Not held up, it has sent more than one. */
		bench_stub_call(bench, client, 6);
		bench_stub_call(bench, client, 9);
		bench_run(bench, 1);
	}
	ck_assert_uint_eq(asked_port(), 700 + _i);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	ck_assert(client->accepted);
	ck_assert_uint_eq(server->calls, _i ? 2 : 0);
	if (!_i)
		client->config.events->opened(client->config.arg);
	ck_assert_str_eq(bench_state(bench), "open");
	go(client, server);
}
END_TEST

START_TEST(a_client_can_close_while_it_waits_for_its_old_connection)
{
	struct stub *old, *to;

	start_tcp_stubs();
	bench->client_port = 800;
	old = come(5, 700);
	to = server;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 5);
	bench_run(bench, 1);
	if (_i)
		bridge_close(bridge_next(&bench->ws, bench_bridge(bench)), LEG_CLOSE_SHUTDOWN,
			     CLOSE_BY_PROXY, "");
	stub_fail(client, LEG_CLOSE_LOST, "");
	bench_run(bench, 1);
	stub_fail(to, LEG_CLOSE_SUPERSEDED, "");
	stub_fail(old, LEG_CLOSE_SUPERSEDED, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, 3);
	/* Its port is for whoever comes next. */
	client = come(99, 701);
	ck_assert_uint_eq(asked_port(), 700);
	go(client, server);
}
END_TEST

/* Turned away, it has not gone to the server, so its port is for the next time. */
START_TEST(a_client_without_a_place_keeps_its_port)
{
	struct stub *busy, *to;

	start_tcp_stubs();
	bench->config.max_connections = 1;
	client = come(5, 700);
	go(client, server);
	bench->client_addr = 98;
	busy = come(6, 701);
	to = server;
	bench->client_addr = 99;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 5);
	bench_run(bench, 1);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TOO_MANY), 1);
	stub_fail(client, LEG_CLOSE_PEER, "");
	go(busy, to);
	client = come(5, 702);
	ck_assert_uint_eq(asked_port(), 700);
	go(client, server);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("return");
	TCase *tc = tcase_create("return");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_server_is_not_sought_before_the_first_call);
	tcase_add_loop_test(tc, a_client_that_comes_back_with_its_call_has_its_port, 0, 2);
	tcase_add_loop_test(tc, a_half_closed_client_that_was_closed_is_known_when_it_comes_back, 0,
			    2);
	tcase_add_test(tc, a_call_that_was_answered_lately_is_known_too);
	tcase_add_test(tc, the_same_ends_have_the_old_connection_closed_and_its_port);
	tcase_add_loop_test(tc, a_half_closed_connection_gives_way_to_its_call, 0, 2);
	tcase_add_loop_test(tc, an_old_connection_is_waited_for_until_it_ends, 0, 2);
	tcase_add_loop_test(tc, an_old_connection_is_asked_for_its_end, 0, 2);
	tcase_add_loop_test(tc, an_rdma_client_is_asked_for_its_call_only_among_several, 0, 2);
	tcase_add_loop_test(tc, a_client_can_close_while_it_waits_for_its_old_connection, 0, 2);
	tcase_add_test(tc, a_client_without_a_place_keeps_its_port);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
