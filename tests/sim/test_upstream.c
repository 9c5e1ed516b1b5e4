// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the attempts to connect to a server: their order, their shares of the time, source ports,
 * and the final failure.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "daemon/upstream/upstream_connect.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

#define LIMIT_US 8000000u
#define ADDRS    3u

static struct bench *bench;
static struct upstream upstream;
static struct source_affinity affinity;
static struct log_ctx log_ctx;
static unsigned answered, connecting, opened, failed, closed, leg_closing, leg_calls, leg_notes;
static unsigned doubts;
static bool called; /* a Call of the client's was sent */
static struct leg *opened_leg;
static enum leg_close why;
static char detail[LEG_DETAIL_BYTES];

static void on_connecting(struct upstream *up)
{
	connecting++;
}

static void on_opened(struct upstream *up, struct leg *leg)
{
	opened++;
	opened_leg = leg;
}

static void on_failed(struct upstream *up, enum leg_close reason, const char *text)
{
	failed++;
	why = reason;
	snprintf(detail, sizeof(detail), "%s", text);
}

static void on_closed(struct upstream *up)
{
	closed++;
	ck_assert(upstream_is_closed(up));
}

static void on_leg_closing(struct upstream *up, enum leg_close reason, const char *text)
{
	leg_closing++;
	why = reason;
}

static void on_call(void *arg, struct exchange *x)
{
	leg_calls++;
	exchange_put(x);
}

static void on_note(void *arg, const char *text)
{
	leg_notes++;
}

static void on_reply(void *arg, struct exchange *x)
{
	answered += upstream_reply_received(arg, x);
	exchange_put(x);
}

static const struct leg_events leg_events = {UPSTREAM_LEG_EVENTS, .call = on_call,
					     .reply = on_reply, .note = on_note};

static bool has_called(struct upstream *up)
{
	return called;
}

static void on_doubt(void *arg)
{
	doubts++;
}

static const struct upstream_events events = {
	.connecting = on_connecting,
	.has_called = has_called,
	.opened = on_opened,
	.failed = on_failed,
	.closing = on_leg_closing,
	.closed = on_closed,
	.leg = &leg_events,
};

static void setup(void)
{
	const struct leg_config config = {0};

	bench = bench_new(NULL);
	bench->stub_server = true;
	for (unsigned i = 0; i < ADDRS; i++)
		bench->addrs[i] = bench_addr(i);
	bench->naddrs = ADDRS;
	bench_connect_by(bench, TRANSPORT_RDMA);
	affinity = (struct source_affinity){0};
	called = false;
	doubts = 0;
	answered = connecting = opened = failed = closed = leg_closing = leg_calls = leg_notes = 0;
	ck_assert_int_eq(upstream_init(&upstream, &bench->ws.net, &bench->ws.servers, &config,
				       &log_ctx, &events),
			 0);
}

/* Whatever the test has left open ends. */
static void teardown(void)
{
	unsigned last = bench->nstubs - 1;

	upstream_close(&upstream, LEG_CLOSE_SHUTDOWN);
	if (!upstream_is_closed(&upstream)) {
		struct stub *stub = bench_stub(bench, last);

		if (!stub->closing)
			stub_closing(stub, LEG_CLOSE_SHUTDOWN, "");
		stub_over(stub);
	}
	ck_assert(upstream_is_closed(&upstream));
	upstream_fini(&upstream);
	bench_end(bench);
}

static void start(void)
{
	upstream_set_source(&upstream, &affinity);
	upstream_start(&upstream, LIMIT_US);
	bench_run(bench, 0);
}

static void fail_after(unsigned i, unsigned ms)
{
	bench_run(bench, ms);
	stub_fail(bench_stub(bench, i), LEG_CLOSE_REFUSED, "no");
	bench_run(bench, 0);
}

static void expect_attempt(unsigned i, unsigned addr, const struct fabric *fabric,
			   uint64_t timeout_us)
{
	const struct stub *stub = bench_stub(bench, i);
	const struct sockaddr_storage want = bench_addr(addr);

	ck_assert_uint_eq(bench->nstubs, i + 1);
	ck_assert_mem_eq(&stub->attempt.addr, &want, sizeof(want));
	ck_assert_ptr_eq(stub->attempt.fabric, fabric);
	ck_assert_uint_eq(stub->attempt.rpcrdma_version, fabric ? 1 : 0);
	ck_assert_uint_eq(stub->config.connect_timeout_us, timeout_us);
}

/* Verbs fails at the first address, so it is passed over at the others. */
START_TEST(rdma_addresses_share_the_time_and_verbs_has_half_of_its_share)
{
	const struct fabric *verbs = bench->ws.net.verbs, *iwarp = bench->ws.net.iwarp;

	bench->naddrs = 2;
	start();
	ck_assert_uint_eq(connecting, 1);
	expect_attempt(0, 0, verbs, LIMIT_US / 2 / 2);
	fail_after(0, 2000);
	expect_attempt(1, 0, iwarp, 6000000 / 2);
	fail_after(1, 3000);
	expect_attempt(2, 1, iwarp, 3000000);
	fail_after(2, 1000);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_REFUSED);
	ck_assert_str_eq(detail, "no");
	ck_assert_uint_eq(bench->nstubs, 3);
}
END_TEST

START_TEST(no_attempt_on_a_fabric_has_less_than_half_a_second)
{
	bench->naddrs = 1;
	start();
	fail_after(0, 7900);
	expect_attempt(1, 0, bench->ws.net.iwarp, ATTEMPT_MIN_US);
}
END_TEST

/* The second way to an address is tried even if the first one has taken all of the time. */
START_TEST(the_other_way_to_an_address_has_its_try_however_late)
{
	start();
	fail_after(0, 9000);
	expect_attempt(1, 0, bench->ws.net.iwarp, ATTEMPT_MIN_US);
	/* Another address has not. */
	fail_after(1, 1);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(bench->nstubs, 2);
}
END_TEST

/* A fabric can take long to let go of what it has failed to connect. */
START_TEST(time_that_passes_until_a_leg_is_over_counts_too)
{
	bench_connect_by(bench, TRANSPORT_IWARP);
	start();
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_TIMEOUT, "slow");
	bench_run(bench, 9000);
	ck_assert_uint_eq(failed, 0);
	ck_assert_uint_eq(bench->nstubs, 1);
	stub_over(bench_stub(bench, 0));
	bench_run(bench, 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_TIMEOUT);
	ck_assert_str_eq(detail, "slow");
	ck_assert_uint_eq(bench->nstubs, 1);
}
END_TEST

START_TEST(tcp_addresses_share_the_remaining_time)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	start();
	expect_attempt(0, 0, NULL, 2666666);
	fail_after(0, 2000);
	expect_attempt(1, 1, NULL, 3000000);
	fail_after(1, 5800);
	expect_attempt(2, 2, NULL, 200000);
}
END_TEST

START_TEST(attempts_that_fail_at_once_are_passed_over)
{
	bench->connect_fails = 3;
	start();
	/*
	 * Verbs has failed, so it was avoided at the second address: the third failed on iwarp
	 * there.
	 */
	expect_attempt(0, 2, bench->ws.net.iwarp, LIMIT_US);
}
END_TEST

START_TEST(when_all_fail_at_once_the_last_one_says_why)
{
	bench->connect_fails = 100;
	start();
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_UNREACHABLE);
	ck_assert_str_eq(detail, strerror(EAFNOSUPPORT));
}
END_TEST

START_TEST(the_reason_of_the_last_attempt_is_reported_before_its_leg_has_closed)
{
	bench_connect_by(bench, TRANSPORT_IWARP);
	bench->naddrs = 1;
	start();
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_TIMEOUT, "no answer");
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(closed, 0);
	ck_assert_str_eq(detail, "no answer");
	stub_over(bench_stub(bench, 0));
	ck_assert_uint_eq(closed, 1);
}
END_TEST

START_TEST(a_connection_that_the_proxy_closes_is_not_retried_at_another_address)
{
	start();
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_LOCAL, "");
	bench_run(bench, 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_uint_eq(bench->ws.net.verbs_avoided_until_us, 0);
}
END_TEST

/* ---- once it is open ---- */

static void open_leg(uint16_t port)
{
	struct stub *stub = bench_stub(bench, bench->nstubs - 1);
	struct sockaddr_in *local = (struct sockaddr_in *)&stub->local;

	local->sin_family = AF_INET;
	local->sin_port = htons(port);
	stub->config.events->opened(stub->config.arg);
	ck_assert_uint_eq(opened, 1);
	ck_assert_ptr_eq(opened_leg, &stub->leg);
}

START_TEST(an_open_leg_answers_to_the_bridge)
{
	struct stub *stub;

	start();
	stub = bench_stub(bench, 0);
	open_leg(0);
	stub->config.events->call(stub->config.arg, exchange_new(NULL));
	stub->config.events->note(stub->config.arg, "well");
	ck_assert_uint_eq(leg_calls, 1);
	ck_assert_uint_eq(leg_notes, 1);
	stub_closing(stub, LEG_CLOSE_LOST, "");
	ck_assert_uint_eq(leg_closing, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(closed, 0);
	stub_over(stub);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(failed, 0);
	ck_assert_ptr_null(upstream_leg(&upstream));
}
END_TEST

/* ---- what is known of the server ---- */

static struct server_health_info server(void)
{
	struct server_health_info info;

	server_health_get(&bench->service.servers.list[0].health, loop_now_us(bench->loop), &info);
	return info;
}

static void expect_server(enum server_reach reach, unsigned waiting)
{
	ck_assert_int_eq(server().reach, reach);
	ck_assert_uint_eq(server().waiting, waiting);
}

START_TEST(a_server_that_cannot_be_reached_is_down)
{
	bench->naddrs = 1;
	bench_connect_by(bench, TRANSPORT_TCP);
	start();
	expect_server(SERVER_UNKNOWN, 1);
	fail_after(0, 10);
	expect_server(SERVER_DOWN, 1);
	ck_assert_str_eq(server().error, "no");
	ck_assert(upstream.failure_logged);
}
END_TEST

START_TEST(missing_local_resources_do_not_change_the_state_of_the_server)
{
	static const int errors[] = {-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM};

	bench_connect_by(bench, TRANSPORT_IWARP);
	bench->connect_fails = 100;
	bench->connect_error = errors[_i];
	start();
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_RESOURCES);
	expect_server(SERVER_UNKNOWN, 1);
}
END_TEST

START_TEST(one_address_that_fails_is_no_news_of_the_server)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	start();
	fail_after(0, 10);
	expect_server(SERVER_UNKNOWN, 1);
}
END_TEST

START_TEST(a_server_without_an_address_is_down)
{
	bench->naddrs = 0;
	start();
	bench_run(bench, 100);
	expect_server(SERVER_DOWN, 1);
	ck_assert_str_eq(server().addr, "");
}
END_TEST

START_TEST(a_silent_name_server_is_logged_with_the_name)
{
	bench->resolver_silent = true;
	start();
	bench_run(bench, LIMIT_US / 1000);
	expect_server(SERVER_DOWN, 1);
	ck_assert_str_eq(server().addr, "");
	ck_assert_str_eq(server().error,
			 "its name \"server\" cannot be resolved: no answer in time");
	bench->resolver_silent = false;
}
END_TEST

START_TEST(the_first_reply_is_the_answer)
{
	struct stub *stub;

	start();
	stub = bench_stub(bench, 0);
	open_leg(0);
	expect_server(SERVER_UNKNOWN, 1);
	stub->config.events->reply(stub->config.arg, exchange_new(NULL));
	stub->config.events->reply(stub->config.arg, exchange_new(NULL));
	ck_assert_uint_eq(answered, 1);
	expect_server(SERVER_OK, 0);
	stub_closing(stub, LEG_CLOSE_PEER, "");
	expect_server(SERVER_OK, 0);
	ck_assert(!upstream.failure_logged);
}
END_TEST

static const struct {
	enum leg_close why;
	const char *detail, *error;
} early_ends[] = {
	{LEG_CLOSE_PEER, "", "it closes connections before their first Reply"},
	{LEG_CLOSE_PEER, "without an answer: is it a server?",
	 "it closes connections without an answer: is it a server?"},
	{LEG_CLOSE_LOST, "", "it closes connections before their first Reply"},
	{LEG_CLOSE_LOST, "reset, without an answer: is it a server?",
	 "reset, without an answer: is it a server?"},
	{LEG_CLOSE_NOT_RPC, "does not look like RPC", "does not look like RPC"},
};

START_TEST(a_server_that_closes_before_its_first_reply_is_down)
{
	start();
	open_leg(0);
	stub_closing(bench_stub(bench, 0), early_ends[_i].why, early_ends[_i].detail);
	expect_server(SERVER_DOWN, 1);
	ck_assert_str_eq(server().error, early_ends[_i].error);
	ck_assert(upstream.failure_logged);
}
END_TEST

/* No other client is served, but the client's message can still be the cause. */
START_TEST(a_server_that_closes_on_a_call_is_asked_first)
{
	struct servers *servers = &bench->service.servers;

	servers_on_doubt(servers, on_doubt, NULL);
	called = true;
	start();
	open_leg(0);
	stub_closing(bench_stub(bench, 0), early_ends[_i / 2].why, early_ends[_i / 2].detail);
	expect_server(SERVER_UNKNOWN, 1);
	ck_assert(!upstream.failure_logged);
	ck_assert_uint_eq(doubts, 1);
	ck_assert_uint_eq(servers_take_doubts(servers), 1);
	ck_assert_uint_eq(servers_take_doubts(servers), 0);
	servers_doubt_checked(servers, 0, LEG_CLOSE_PEER, _i % 2 ? "without an answer" : NULL,
			      loop_now_us(bench->loop));
	expect_server(_i % 2 ? SERVER_DOWN : SERVER_OK, 1);
}
END_TEST

/* By what it sends a client can have a server close on it. */
START_TEST(one_client_cannot_have_the_server_called_down_for_all)
{
	struct sockaddr_storage addr = bench_addr(0);

	server_health_first_reply(&bench->service.servers.list[0].health, (struct sockaddr *)&addr,
				  0);
	start();
	open_leg(0);
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_PEER, "in good order");
	expect_server(SERVER_OK, 1);
	ck_assert(!upstream.failure_logged);
}
END_TEST

/* However it ends, it is served no longer. */
START_TEST(a_connection_is_counted_at_its_server_until_it_has_closed)
{
	struct stub *stub;

	start();
	stub = bench_stub(bench, 0);
	open_leg(0);
	stub->config.events->reply(stub->config.arg, exchange_new(NULL));
	stub->config.events->reply(stub->config.arg, exchange_new(NULL));
	ck_assert_uint_eq(atomic_load(&bench->service.servers.list[0].health.served), 1);
	ck_assert(atomic_load(&bench->service.servers.list[0].health.replied));
	if (_i)
		stub_closing(stub, LEG_CLOSE_PEER, "");
	else
		upstream_close(&upstream, LEG_CLOSE_PEER);
	ck_assert_uint_eq(atomic_load(&bench->service.servers.list[0].health.served), 0);
}
END_TEST

START_TEST(a_call_that_could_not_be_sent_is_no_answer)
{
	struct exchange *x = exchange_new(NULL);
	struct stub *stub;

	start();
	stub = bench_stub(bench, 0);
	open_leg(0);
	x->fault = EXCHANGE_FAULT_CANT_SEND;
	stub->config.events->reply(stub->config.arg, x);
	expect_server(SERVER_UNKNOWN, 1);
}
END_TEST

START_TEST(a_client_that_leaves_says_nothing_of_the_server)
{
	start();
	open_leg(0);
	upstream_close(&upstream, LEG_CLOSE_PEER);
	expect_server(SERVER_UNKNOWN, 1);
	ck_assert(!upstream.failure_logged);
}
END_TEST

/* ---- source ports ---- */

START_TEST(each_address_is_tried_from_the_port_of_the_pin)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	affinity.port = 700;
	start();
	for (unsigned i = 0; i < ADDRS; i++) {
		ck_assert_uint_eq(bench_stub(bench, i)->attempt.source_port, 700);
		if (i + 1 < ADDRS)
			fail_after(i, 10);
	}
	/* An attempt that failed for another reason leaves it to the next connection. */
	stub_closing(bench_stub(bench, ADDRS - 1), LEG_CLOSE_REFUSED, "");
	ck_assert_uint_eq(upstream.from.affinity.port, 700);
}
END_TEST

START_TEST(a_port_above_1023_is_insisted_on_if_it_is_due)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	affinity = (struct source_affinity){.port = 40000, .due = _i};
	start();
	ck_assert_uint_eq(bench_stub(bench, 0)->attempt.source_port, 40000);
	ck_assert_int_eq(bench_stub(bench, 0)->attempt.source_above, _i);
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "");
}
END_TEST

START_TEST(the_port_that_an_open_connection_has_is_the_clients)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	affinity.port = 700;
	start();
	/* 700 could not be had. */
	open_leg(801);
	ck_assert_uint_eq(upstream.from.affinity.port, 801);
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_PEER, "");
	ck_assert_uint_eq(upstream.from.affinity.port, 801);
}
END_TEST

START_TEST(a_port_from_which_a_connect_timed_out_is_forgotten)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	affinity.port = 700;
	start();
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_TIMEOUT, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(bench_stub(bench, 1)->attempt.source_port, 0);
	ck_assert_uint_eq(upstream.from.affinity.port, 0);
}
END_TEST

/* ---- failing ---- */

static void reach(enum upstream_state state)
{
	bench->resolver_silent = state == UPSTREAM_RESOLVING;
	if (state == UPSTREAM_IDLE)
		return;
	start();
	if (state == UPSTREAM_WAIT_RETRY)
		stub_closing(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "");
	if (state == UPSTREAM_OPEN)
		open_leg(0);
	if (state == UPSTREAM_CLOSING)
		stub_closing(bench_stub(bench, 0), LEG_CLOSE_LOCAL, "");
	if (state == UPSTREAM_CLOSED)
		stub_fail(bench_stub(bench, 0), LEG_CLOSE_LOCAL, "");
	ck_assert_uint_eq(upstream.state.now, state);
}

START_TEST(an_upstream_can_be_freed_in_every_state)
{
	unsigned failed_before, closes;
	struct stub *stub;

	/* That takes sockets: tests/unit/test_mount.c. */
	if (_i == UPSTREAM_QUERYING_RPCBIND)
		return;
	reach(_i);
	failed_before = failed;
	upstream_close(&upstream, LEG_CLOSE_TIMEOUT);
	upstream_close(&upstream, LEG_CLOSE_PEER);
	ck_assert(TAILQ_EMPTY(&bench->ws.servers.names[0].waits));
	ck_assert(upstream_is_closed(&upstream) == (bench->nstubs == 0 || _i == UPSTREAM_CLOSED));
	if (bench->nstubs && _i != UPSTREAM_CLOSED) {
		stub = bench_stub(bench, 0);
		closes = stub->close_calls;
		ck_assert_uint_le(closes, 1);
		if (!stub->closing)
			stub_closing(stub, LEG_CLOSE_TIMEOUT, "");
		stub_over(stub);
		ck_assert_uint_eq(closed, 1);
	}
	bench_run(bench, 20000);
	ck_assert(upstream_is_closed(&upstream));
	ck_assert_uint_eq(failed, failed_before);
	ck_assert_uint_eq(leg_closing, 0);
	ck_assert_uint_le(bench->nstubs, 1);
}
END_TEST

/* The leg is over, and the next attempt would follow in this turn. */
START_TEST(a_retry_that_is_due_is_called_off)
{
	start();
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "");
	upstream_close(&upstream, LEG_CLOSE_PEER);
	ck_assert(upstream_is_closed(&upstream));
	bench_run(bench, 100);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_uint_eq(closed, 0);
}
END_TEST

/* ---- the list alone ---- */

START_TEST(a_list_needs_an_address_and_a_way)
{
	const struct sockaddr_storage addr = bench_addr(0);
	struct fabric *iwarp = bench->ws.net.iwarp;
	struct nfs_server server = {0};
	const struct connect_attempt common = {.server = &server};
	struct connect_plan plan = {0};

	ck_assert_int_eq(connect_plan_init(&plan, &common, iwarp, NULL, 1, &addr, 0),
			 -EDESTADDRREQ);
	server.uri.transport = TRANSPORT_VERBS;
	ck_assert_int_eq(connect_plan_init(&plan, &common, iwarp, NULL, 1, &addr, 1), -ENODEV);
	server.uri.transport = TRANSPORT_RDMA;
	ck_assert_int_eq(connect_plan_init(&plan, &common, iwarp, NULL, 1, &addr, 1), 0);
	ck_assert_uint_eq(plan.count, 1);
	ck_assert_ptr_eq(connect_plan_next(&plan, iwarp, 0)->fabric, iwarp);
	ck_assert(!connect_plan_has_next(&plan));
	ck_assert_ptr_null(connect_plan_next(&plan, NULL, 0));
	connect_plan_fini(&plan);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("upstream");
	TCase *tc = tcase_create("upstream");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rdma_addresses_share_the_time_and_verbs_has_half_of_its_share);
	tcase_add_test(tc, no_attempt_on_a_fabric_has_less_than_half_a_second);
	tcase_add_test(tc, the_other_way_to_an_address_has_its_try_however_late);
	tcase_add_test(tc, time_that_passes_until_a_leg_is_over_counts_too);
	tcase_add_test(tc, tcp_addresses_share_the_remaining_time);
	tcase_add_test(tc, attempts_that_fail_at_once_are_passed_over);
	tcase_add_test(tc, when_all_fail_at_once_the_last_one_says_why);
	tcase_add_test(tc, the_reason_of_the_last_attempt_is_reported_before_its_leg_has_closed);
	tcase_add_test(tc, a_connection_that_the_proxy_closes_is_not_retried_at_another_address);
	tcase_add_test(tc, an_open_leg_answers_to_the_bridge);
	tcase_add_test(tc, a_server_that_cannot_be_reached_is_down);
	tcase_add_loop_test(tc, missing_local_resources_do_not_change_the_state_of_the_server, 0,
			    4);
	tcase_add_test(tc, one_address_that_fails_is_no_news_of_the_server);
	tcase_add_test(tc, a_server_without_an_address_is_down);
	tcase_add_test(tc, a_silent_name_server_is_logged_with_the_name);
	tcase_add_test(tc, the_first_reply_is_the_answer);
	tcase_add_loop_test(tc, a_server_that_closes_before_its_first_reply_is_down, 0,
			    ARRAY_SIZE(early_ends));
	tcase_add_loop_test(tc, a_server_that_closes_on_a_call_is_asked_first, 0,
			    2 * ARRAY_SIZE(early_ends));
	tcase_add_test(tc, one_client_cannot_have_the_server_called_down_for_all);
	tcase_add_loop_test(tc, a_connection_is_counted_at_its_server_until_it_has_closed, 0, 2);
	tcase_add_test(tc, a_call_that_could_not_be_sent_is_no_answer);
	tcase_add_test(tc, a_client_that_leaves_says_nothing_of_the_server);
	tcase_add_test(tc, each_address_is_tried_from_the_port_of_the_pin);
	tcase_add_loop_test(tc, a_port_above_1023_is_insisted_on_if_it_is_due, 0, 2);
	tcase_add_test(tc, the_port_that_an_open_connection_has_is_the_clients);
	tcase_add_test(tc, a_port_from_which_a_connect_timed_out_is_forgotten);
	tcase_add_loop_test(tc, an_upstream_can_be_freed_in_every_state, 0, UPSTREAM_CLOSED + 1);
	tcase_add_test(tc, a_retry_that_is_due_is_called_off);
	tcase_add_test(tc, a_list_needs_an_address_and_a_way);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
