// SPDX-License-Identifier: BSD-3-Clause
/* Tests bridges whose server is unreachable, at first or always, and the clients in the tarpit. */
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

static struct bench *bench;

static void teardown(void)
{
	if (bench)
		bench_end(bench);
	bench = NULL;
}

/* ---- an unreachable server ---- */

START_TEST(a_name_that_does_not_resolve_refuses_the_client)
{
	bench = bench_new(NULL);
	bench->naddrs = 0;
	bench_connect(bench);
	bench_run(bench, 100);
	ck_assert_uint_eq(bench->client.why, LEG_CLOSE_REFUSED);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_ADDRESS), 1);
	ck_assert_uint_eq(bench->bridges_gone, 1);
}
END_TEST

START_TEST(a_silent_name_server_is_waited_for_at_most_as_long_as_a_client_waits)
{
	bench = bench_new(NULL);
	bench->resolver_silent = true;
	bench_connect(bench);
	bench_run(bench, 3999);
	ck_assert_str_eq(bench_state(bench), "resolving");
	bench_run(bench, 2);
	ck_assert_ptr_null(bench_bridge(bench));
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_ADDRESS), 1);
}
END_TEST

START_TEST(a_resolver_that_cannot_begin_closes_for_lack_of_resources)
{
	bench = bench_new(NULL);
	bench->resolver_fails = true;
	bench_connect(bench);
	bench_run(bench, 100);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_RESOURCES), 1);
	ck_assert_uint_eq(bench->client.why, LEG_CLOSE_REFUSED);
}
END_TEST

START_TEST(a_client_that_closes_during_the_lookup_is_not_notified)
{
	bench = bench_new(NULL);
	bench->resolver_silent = true;
	bench_connect(bench);
	bench_run(bench, 100);
	ck_assert_ptr_nonnull(bench->query);
	leg_close(bench->client.leg, LEG_CLOSE_LOCAL);
	bench_run(bench, 100);
	ck_assert_ptr_null(bench_bridge(bench));
	/* The answer is for whoever comes next. */
	bench_resolve(bench);
	bench_run(bench, 100);
	ck_assert_uint_eq(bench->on_back, 0);
	ck_assert_ptr_null(bench->query);
}
END_TEST

START_TEST(addresses_are_tried_in_turn)
{
	bench = bench_new(NULL);
	for (unsigned i = 0; i < 3; i++)
		bench->addrs[i] = bench_addr(2 - i);
	bench->naddrs = 3;
	bench_open(bench);
	ck_assert_uint_eq(bench->on_back, 1);
}
END_TEST

START_TEST(a_server_that_refuses_at_each_address_is_the_clients_refusal)
{
	bench = bench_new(NULL);
	bench->server_refuses = true;
	bench->addrs[1] = bench_addr(0);
	bench->naddrs = 2;
	bench_connect(bench);
	bench_run(bench, 100);
	ck_assert_uint_eq(bench->on_back, 2);
	ck_assert_uint_eq(bench->client.why, LEG_CLOSE_REFUSED);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_REFUSED), 1);
}
END_TEST

START_TEST(a_server_that_says_nothing_has_its_share_of_the_time)
{
	bench = bench_new(NULL);
	sim_net_silence(bench->back);
	bench->addrs[1] = bench_addr(0);
	bench->naddrs = 2;
	bench_connect(bench);
	bench_run(bench, 3999);
	ck_assert_str_eq(bench_state(bench), "connecting");
	bench_run(bench, 10);
	ck_assert_str_eq(bench_state(bench), "gone");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_TIMEOUT), 1);
}
END_TEST

/* ---- verbs, else iwarp ---- */

static void expect_way(unsigned verbs, unsigned back)
{
	ck_assert_uint_eq(bench->on_verbs, verbs);
	ck_assert_uint_eq(bench->on_back, back);
}

static void close_bridge(void)
{
	leg_close(bench->client.leg, LEG_CLOSE_LOCAL);
	bench_run(bench, 100);
	ck_assert_str_eq(bench_state(bench), "gone");
	bench->client.opened = bench->server.opened = 0;
}

START_TEST(rdma_takes_verbs_where_the_server_does)
{
	bench = bench_new(NULL);
	bench_connect_by(bench, TRANSPORT_RDMA);
	bench_open(bench);
	expect_way(1, 0);
}
END_TEST

START_TEST(rdma_falls_back_to_iwarp_and_avoids_verbs_for_a_minute)
{
	bench = bench_new(NULL);
	bench_connect_by(bench, TRANSPORT_RDMA);
	bench->verbs_refuses = true;
	bench_open(bench);
	expect_way(1, 1);
	close_bridge();
	bench_open(bench);
	expect_way(1, 2);
	close_bridge();
	bench_run(bench, 59000);
	bench_open(bench);
	expect_way(1, 3);
	close_bridge();
	bench_run(bench, 2000);
	bench->verbs_refuses = false;
	bench_open(bench);
	expect_way(2, 3);
}
END_TEST

START_TEST(rdma_falls_back_when_verbs_says_nothing_for_half_of_the_time)
{
	bench = bench_new(NULL);
	bench_connect_by(bench, TRANSPORT_RDMA);
	sim_net_silence(bench->verbs);
	bench_connect(bench);
	bench_run(bench, 1999);
	expect_way(0, 0);
	bench_run(bench, 10);
	expect_way(0, 1);
	ck_assert_str_eq(bench_state(bench), "open");
}
END_TEST

START_TEST(verbs_alone_does_not_fall_back)
{
	bench = bench_new(NULL);
	bench_connect_by(bench, TRANSPORT_VERBS);
	bench->verbs_refuses = true;
	bench_connect(bench);
	bench_run(bench, 100);
	expect_way(1, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_REFUSED), 1);
	ck_assert_uint_eq(bench->ws.net.verbs_avoided_until_us, 0);
}
END_TEST

START_TEST(verbs_without_a_device_is_unreachable)
{
	struct fabric *verbs;

	bench = bench_new(NULL);
	verbs = bench->ws.net.verbs;
	bench->ws.net.verbs = NULL;
	bench_connect_by(bench, TRANSPORT_VERBS);
	bench_connect(bench);
	bench_run(bench, 100);
	bench->ws.net.verbs = verbs;
	expect_way(0, 0);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_UNREACHABLE), 1);
}
END_TEST

/* ---- TCP clients that are held ---- */

static struct stub *tcp_client_refused(void)
{
	struct stub *client;

	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench->server_refuses = true;
	client = bench_incoming(bench);
	bench_run(bench, 100);
	ck_assert_str_eq(bench_state(bench), "waiting");
	bench_client_call(bench, client, 1);
	bench_run(bench, 100);
	ck_assert_str_eq(bench_state(bench), "held");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_REFUSED), 1);
	ck_assert_uint_eq(client->close_calls, 0);
	return client;
}

START_TEST(a_refused_tcp_client_is_held_for_a_moment)
{
	struct stub *client = tcp_client_refused();

	/* The moment counts from when it came. */
	bench_run(bench, 299);
	ck_assert_str_eq(bench_state(bench), "held");
	bench_run(bench, 2);
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_REFUSED);
	stub_fail(client, LEG_CLOSE_REFUSED, "");
	bench_run(bench, 0);
	ck_assert_uint_eq(bench->bridges_gone, 1);
}
END_TEST

START_TEST(a_held_client_that_goes_is_forgotten)
{
	struct stub *client = tcp_client_refused();

	stub_closing(client, LEG_CLOSE_PEER, "");
	ck_assert_str_eq(bench_state(bench), "closing");
	bench_run(bench, 1000);
	ck_assert_uint_eq(client->close_calls, 0);
	stub_over(client);
	bench_run(bench, 0);
	ck_assert_uint_eq(bench->bridges_gone, 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
}
END_TEST

START_TEST(a_held_client_does_not_hold_up_a_stop)
{
	struct stub *client = tcp_client_refused();

	bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	stub_fail(client, LEG_CLOSE_REFUSED, "");
}
END_TEST

START_TEST(a_stop_is_reported_to_a_client_that_is_closing)
{
	struct stub *client = tcp_client_refused();

	bench_run(bench, 1000);
	ck_assert_uint_eq(client->close_calls, 1);
	bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
	ck_assert_uint_eq(client->close_calls, 2);
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_SHUTDOWN);
	stub_fail(client, LEG_CLOSE_REFUSED, "");
	bench_run(bench, 0);
	ck_assert_uint_eq(bench_closes(bench), 1);
}
END_TEST

START_TEST(a_stop_and_an_old_client_are_not_held)
{
	struct stub *client;

	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench->resolver_silent = true;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 1);
	if (_i) {
		bench_run(bench, 10001);
		ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_NO_ADDRESS), 1);
	} else {
		bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
	}
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	stub_fail(client, LEG_CLOSE_SHUTDOWN, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bridge without a server");
	TCase *tc = tcase_create("bridge without a server");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_name_that_does_not_resolve_refuses_the_client);
	tcase_add_test(tc, a_silent_name_server_is_waited_for_at_most_as_long_as_a_client_waits);
	tcase_add_test(tc, a_resolver_that_cannot_begin_closes_for_lack_of_resources);
	tcase_add_test(tc, a_client_that_closes_during_the_lookup_is_not_notified);
	tcase_add_test(tc, addresses_are_tried_in_turn);
	tcase_add_test(tc, a_server_that_refuses_at_each_address_is_the_clients_refusal);
	tcase_add_test(tc, a_server_that_says_nothing_has_its_share_of_the_time);
	tcase_add_test(tc, rdma_takes_verbs_where_the_server_does);
	tcase_add_test(tc, rdma_falls_back_to_iwarp_and_avoids_verbs_for_a_minute);
	tcase_add_test(tc, rdma_falls_back_when_verbs_says_nothing_for_half_of_the_time);
	tcase_add_test(tc, verbs_alone_does_not_fall_back);
	tcase_add_test(tc, verbs_without_a_device_is_unreachable);
	tcase_add_test(tc, a_refused_tcp_client_is_held_for_a_moment);
	tcase_add_test(tc, a_held_client_that_goes_is_forgotten);
	tcase_add_test(tc, a_held_client_does_not_hold_up_a_stop);
	tcase_add_test(tc, a_stop_is_reported_to_a_client_that_is_closing);
	tcase_add_loop_test(tc, a_stop_and_an_old_client_are_not_held, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
