// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests bridges between RDMA legs on simulated networks, and failures of either end or of the
 * network.
 */
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"
#include "tests/sim/rig.h"

#define STEPS_MAX 400u /* more than the life below takes on any of the nets */

static struct bench *bench;

static void teardown(void)
{
	if (bench)
		bench_end(bench);
	bench = NULL;
}

/* ---- a life without failures ---- */

START_TEST(calls_and_replies_pass_both_ways)
{
	static const uint32_t sizes[] = {RIG_CALL_MIN, 1000, 4000, 5000, 70000, 1000000};

	bench = bench_new(NULL);
	bench_open(bench);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++)
			bench_call(&bench->client, sizes[i], sizes[j]);
	bench_call(&bench->server, 100, 100);
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->client.answered, ARRAY_SIZE(sizes) * ARRAY_SIZE(sizes));
	ck_assert_uint_eq(bench->server.answered, 1);
	ck_assert_uint_eq(bench->client.wrong + bench->server.wrong, 0);
}
END_TEST

START_TEST(a_client_is_accepted_only_once_the_server_is_up)
{
	bench = bench_new(NULL);
	bench->resolver_silent = true;
	bench_connect(bench);
	bench_run(bench, 100);
	ck_assert_str_eq(bench_state(bench), "resolving");
	ck_assert_uint_eq(bench->client.opened, 0);
	bench_resolve(bench);
	bench_run(bench, 100);
	ck_assert_str_eq(bench_state(bench), "open");
	ck_assert_uint_eq(bench->client.opened, 1);
}
END_TEST

START_TEST(states_tell_since_when_they_last)
{
	struct bridge_info info;

	bench = bench_new(NULL);
	bench_run(bench, 1000);
	bench_open(bench);
	bench_run(bench, 2500);
	bridge_info_get(bench_bridge(bench), &info);
	ck_assert_uint_eq(info.start_us, 1000000);
	ck_assert_uint_eq(info.state_since_us, 1000000);
	leg_close(bench->server.leg, LEG_CLOSE_LOCAL);
	sim_net_silence(bench->front);
	bench_run(bench, 1);
	ck_assert_ptr_null(bench_bridge(bench));
}
END_TEST

/* ---- each closes with the other ---- */

static struct bench_end *end_of(int i)
{
	return i ? &bench->server : &bench->client;
}

START_TEST(each_leg_closes_with_the_other)
{
	bench = bench_new(NULL);
	bench_open(bench);
	for (int n = 0; n < 20; n++)
		bench_call(end_of(n % 2), 100 + 3000 * n, 100 + 3000 * n);
	leg_close(end_of(_i)->leg, LEG_CLOSE_LOCAL);
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->client.closed, 1);
	ck_assert_uint_eq(bench->server.closed, 1);
	/* A server connection is reset: the client can be back and want the port. */
	ck_assert_uint_eq(end_of(!_i)->why,
			  end_of(!_i) == &bench->server ? LEG_CLOSE_LOST : LEG_CLOSE_PEER);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_PEER), 1);
	ck_assert_uint_eq(bench->bridges_gone, 1);
}
END_TEST

START_TEST(the_reason_of_the_first_is_the_bridges)
{
	bench = bench_new(NULL);
	bench_open(bench);
	if (_i)
		sim_net_cut(bench->back);
	else
		sim_net_cut(bench->front);
	bench_run(bench, 1000);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_LOST), 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
	ck_assert_uint_eq(bench->bridges_gone, 1);
}
END_TEST

START_TEST(a_bridge_that_the_proxy_closes_ends_both)
{
	bench = bench_new(NULL);
	bench_open(bench);
	bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
	bridge_close(bench_bridge(bench), LEG_CLOSE_LOST, CLOSE_BY_PROXY, "");
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->client.closed, 1);
	ck_assert_uint_eq(bench->server.closed, 1);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_SHUTDOWN), 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
}
END_TEST

/* ---- what a bridge makes of its legs' events ---- */

static struct stub *client, *server;

static void open_stubs(void)
{
	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->stub_server = true;
	client = bench_incoming(bench);
	bench_client_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, 1);
	ck_assert_str_eq(bench_state(bench), "connecting");
	ck_assert_uint_eq(client->pauses, 1);
	server->config.events->opened(server->config.arg);
	ck_assert_str_eq(bench_state(bench), "open");
	ck_assert_uint_eq(server->calls, 1);
	client->pauses = server->calls = 0;
}

static struct stub *stub_end(int i)
{
	return i ? server : client;
}

START_TEST(a_leg_that_wants_no_more_calls_pauses_the_other)
{
	struct stub *from, *to;

	open_stubs();
	from = stub_end(_i);
	to = stub_end(!_i);
	from->config.events->call(from->config.arg, exchange_new(NULL));
	ck_assert_uint_eq(to->calls, 1);
	ck_assert_uint_eq(from->pauses, 1);
	to->config.events->call_ready(to->config.arg);
	ck_assert_uint_eq(from->pauses, 0x101);
	stub_fail(from, LEG_CLOSE_PEER, "");
	stub_fail(to, LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(more_bytes_of_a_message_are_forwarded_to_the_other_leg)
{
	struct exchange *x = exchange_new(NULL);

	open_stubs();
	/* A Call. */
	x->origin = &stub_end(_i)->leg;
	stub_end(_i)->config.events->more(stub_end(_i)->config.arg, x);
	ck_assert_uint_eq(stub_end(_i)->more_events, 0);
	ck_assert_uint_eq(stub_end(!_i)->more_events, 1);
	stub_closing(stub_end(!_i), LEG_CLOSE_LOST, "");
	stub_end(_i)->config.events->more(stub_end(_i)->config.arg, x);
	ck_assert_uint_eq(stub_end(!_i)->more_events, 1);
	stub_fail(stub_end(_i), LEG_CLOSE_LOST, "");
	stub_over(stub_end(!_i));
	exchange_put(x);
}
END_TEST

START_TEST(both_legs_may_give_messages_up_as_they_come)
{
	open_stubs();
	ck_assert(client->config.partial);
	ck_assert(server->config.partial);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
}
END_TEST

/* Should the server end in the middle of it, the client is owed an answer still. */
START_TEST(a_call_is_over_when_all_of_its_reply_is_here)
{
	struct exchange *x;
	unsigned refs;

	open_stubs();
	x = server->last_call;
	ck_assert_int_eq(rpc_msg_get(bench->pool, 100, &x->reply), 0);
	x->reply.have_bytes = 40;
	refs = x->refs;
	/* The bridge's reference is among these, for as long as it counts the Call as one without a Reply. */
	server->config.events->reply(server->config.arg, exchange_ref(x));
	ck_assert_uint_eq(client->replies, 1);
	ck_assert_uint_eq(x->refs, refs);
	x->reply.have_bytes = 99;
	server->config.events->more(server->config.arg, x);
	ck_assert_uint_eq(x->refs, refs);
	x->reply.have_bytes = 100;
	server->config.events->more(server->config.arg, x);
	ck_assert_uint_eq(x->refs, refs - 1);
	ck_assert_uint_eq(client->more_events, 2);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(a_tcp_client_whose_server_closes_without_a_reply_is_held)
{
	open_stubs();
	bench_run(bench, 100);
	stub_fail(server, LEG_CLOSE_LOST, "");
	ck_assert_str_eq(bench_state(bench), "held");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_LOST), 1);
	/* No further Call of its is taken in meanwhile, and none that was goes on. */
	ck_assert_uint_eq(client->pauses, 1);
	client->config.events->call(client->config.arg, exchange_new(NULL));
	bench_run(bench, 398);
	ck_assert_uint_eq(client->close_calls, 0);
	bench_run(bench, 2);
	ck_assert_uint_eq(client->close_calls, 1);
	ck_assert_uint_eq(client->closed_for, LEG_CLOSE_LOST);
	stub_fail(client, LEG_CLOSE_LOST, "");
	ck_assert_uint_eq(bench_closes(bench), 1);
}
END_TEST

/* … unless it was sent something, or is old. */
START_TEST(clients_that_a_server_has_served_are_not_held_when_it_fails)
{
	open_stubs();
	if (_i == 0)
		client->bytes_sent = 1;
	else
		bench_run(bench, 500);
	stub_fail(server, LEG_CLOSE_LOST, "");
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	stub_fail(client, LEG_CLOSE_LOST, "");
}
END_TEST

/* It backs off by itself. */
START_TEST(an_rdma_client_is_not_held)
{
	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_IWARP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->stub_server = true;
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	bench_run(bench, 1);
	server = bench_stub(bench, 1);
	server->config.events->opened(server->config.arg);
	client->config.events->opened(client->config.arg);
	ck_assert_str_eq(bench_state(bench), "open");
	stub_fail(server, LEG_CLOSE_LOST, "");
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	stub_fail(client, LEG_CLOSE_LOST, "");
}
END_TEST

START_TEST(closing_decides_and_closed_releases)
{
	struct stub *first, *second;

	open_stubs();
	client->bytes_sent = 1;
	first = stub_end(_i);
	second = stub_end(!_i);
	stub_closing(first, LEG_CLOSE_REPLY_STALLED, "so it is");
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_REPLY_STALLED), 1);
	ck_assert_uint_eq(second->close_calls, 1);
	ck_assert_uint_eq(second->closed_for, LEG_CLOSE_REPLY_STALLED);
	/* Messages that the other leg still delivers are not forwarded. */
	second->config.events->call(second->config.arg, exchange_new(NULL));
	second->config.events->reply(second->config.arg, exchange_new(NULL));
	ck_assert_uint_eq(first->calls + first->replies, 0);
	stub_over(first);
	bench_run(bench, 5000);
	ck_assert_uint_eq(bench->bridges_gone, 0);
	stub_fail(second, LEG_CLOSE_REPLY_STALLED, "");
	ck_assert_uint_eq(bench->bridges_gone, 0);
	bench_run(bench, 0);
	ck_assert_uint_eq(bench->bridges_gone, 1);
	ck_assert_uint_eq(bench_closes(bench), 1);
}
END_TEST

/* ---- cut and closed at every step ---- */

/* All that a bridge does in its life, with an address that does not answer and a fallback in it. */
static void live(void)
{
	bench_connect_by(bench, TRANSPORT_RDMA);
	bench->verbs_refuses = true;
	bench->addrs[0] = bench_addr(1);
	bench->addrs[1] = bench_addr(0);
	bench->naddrs = 2;
	bench_connect(bench);
	bench_run(bench, 100);
	for (unsigned i = 0; i < 6; i++) {
		if (bench->client.leg && bench->client.opened)
			bench_call(&bench->client, 100 + 9000 * (i % 2), 100 + 9000 * (i / 2));
		if (bench->server.leg && bench->server.opened)
			bench_call(&bench->server, 100, 100);
	}
	bench_run(bench, 60000);
}

/* bench_end() sees that nothing is left and that each bridge had its one reason. */
START_TEST(a_cut_at_every_step_leaves_nothing)
{
	unsigned step, steps = STEPS_MAX;

	for (step = 1; step <= steps; step++) {
		const struct sim_faults faults = {.cut_at_step = step, .seed = step};
		const struct bench_faults where[] = {
			{.front = &faults}, {.back = &faults}, {.verbs = &faults}};
		struct sim_net *net;

		bench = bench_new(&where[_i]);
		live();
		net = _i == 0 ? bench->front : _i == 1 ? bench->back : bench->verbs;
		if (sim_net_stats(net)->steps < step)
			steps = step;
		bench_end(bench);
		bench = NULL;
	}
	ck_assert_uint_lt(steps, STEPS_MAX);
}
END_TEST

static void close_now(void *arg)
{
	if (bench && bench_bridge(bench))
		bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
}

START_TEST(a_bridge_closed_at_every_step_leaves_nothing)
{
	unsigned step, steps = STEPS_MAX;

	for (step = 1; step <= steps; step++) {
		const struct sim_faults faults = {
			.hook_at_step = step, .hook = close_now, .max_delay_us = 100};
		const struct bench_faults where[] = {
			{.front = &faults}, {.back = &faults}, {.verbs = &faults}};
		struct sim_net *net;

		bench = bench_new(&where[_i]);
		live();
		net = _i == 0 ? bench->front : _i == 1 ? bench->back : bench->verbs;
		if (sim_net_stats(net)->steps < step)
			steps = step;
		bench_end(bench);
		bench = NULL;
	}
	ck_assert_uint_lt(steps, STEPS_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bridge");
	TCase *tc = tcase_create("bridge");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, calls_and_replies_pass_both_ways);
	tcase_add_test(tc, a_client_is_accepted_only_once_the_server_is_up);
	tcase_add_test(tc, states_tell_since_when_they_last);
	tcase_add_loop_test(tc, each_leg_closes_with_the_other, 0, 2);
	tcase_add_loop_test(tc, the_reason_of_the_first_is_the_bridges, 0, 2);
	tcase_add_test(tc, a_bridge_that_the_proxy_closes_ends_both);
	tcase_add_loop_test(tc, a_leg_that_wants_no_more_calls_pauses_the_other, 0, 2);
	tcase_add_loop_test(tc, more_bytes_of_a_message_are_forwarded_to_the_other_leg, 0, 2);
	tcase_add_test(tc, both_legs_may_give_messages_up_as_they_come);
	tcase_add_test(tc, a_call_is_over_when_all_of_its_reply_is_here);
	tcase_add_test(tc, a_tcp_client_whose_server_closes_without_a_reply_is_held);
	tcase_add_loop_test(tc, clients_that_a_server_has_served_are_not_held_when_it_fails, 0, 2);
	tcase_add_test(tc, an_rdma_client_is_not_held);
	tcase_add_loop_test(tc, closing_decides_and_closed_releases, 0, 2);
	tcase_add_loop_test(tc, a_cut_at_every_step_leaves_nothing, 0, 3);
	tcase_add_loop_test(tc, a_bridge_closed_at_every_step_leaves_nothing, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
