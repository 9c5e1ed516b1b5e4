// SPDX-License-Identifier: BSD-3-Clause
/* Tests a service with several servers: when the next one is tried, and the time for each. */
#include <errno.h>
#include <string.h>

#include "daemon/upstream/upstream_connect.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

#define LIMIT_US 4000000u

static struct bench *bench;
static struct upstream upstream;
static struct log_ctx log_ctx;
static unsigned connecting, opened, failed, closed;
static enum leg_close why;

static void on_connecting(struct upstream *up)
{
	connecting++;
}

static void on_opened(struct upstream *up, struct leg *leg)
{
	opened++;
}

static void on_failed(struct upstream *up, enum leg_close reason, const char *text)
{
	failed++;
	why = reason;
}

static void on_closed(struct upstream *up)
{
	closed++;
	ck_assert(upstream_is_closed(up));
}

static void on_leg_closing(struct upstream *up, enum leg_close reason, const char *text)
{
}

static void on_reply(void *arg, struct exchange *x)
{
	(void)upstream_reply_received(arg, x);
	exchange_put(x);
}

static const struct leg_events leg_events = {UPSTREAM_LEG_EVENTS, .reply = on_reply};

static const struct upstream_events events = {
	.connecting = on_connecting,
	.opened = on_opened,
	.failed = on_failed,
	.closing = on_leg_closing,
	.closed = on_closed,
	.leg = &leg_events,
};

static void begin(void)
{
	const struct sockaddr_storage client = bench_addr(99);
	const struct leg_config config = {0};

	connecting = opened = failed = closed = 0;
	ck_assert_int_eq(upstream_init(&upstream, &bench->ws.net, &bench->ws.servers, &config,
				       &log_ctx, &events),
			 0);
	upstream_set_client(&upstream, &client, &client, false);
}

static void setup(void)
{
	bench = bench_new(NULL);
	bench->stub_server = true;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench_add_server(bench);
	begin();
}

static void end(void)
{
	upstream_close(&upstream, LEG_CLOSE_SHUTDOWN);
	if (!upstream_is_closed(&upstream)) {
		struct stub *stub = bench_stub(bench, bench->nstubs - 1);

		if (!stub->closing)
			stub_closing(stub, LEG_CLOSE_SHUTDOWN, "");
		stub_over(stub);
	}
	ck_assert(upstream_is_closed(&upstream));
	upstream_fini(&upstream);
}

static void teardown(void)
{
	end();
	for (unsigned i = 0; i < 2; i++) {
		const struct nfs_server *target = &bench->service.servers.list[i];

		ck_assert_uint_eq(target->connections, 0);
		ck_assert_uint_eq(atomic_load(&target->health.waiting), 0);
		ck_assert_uint_eq(atomic_load(&target->health.served), 0);
	}
	bench_end(bench);
}

static void start(void)
{
	upstream_start(&upstream, LIMIT_US);
	bench_run(bench, 0);
}

static void fail_after(unsigned i, unsigned ms)
{
	bench_run(bench, ms);
	stub_fail(bench_stub(bench, i), LEG_CLOSE_REFUSED, "no");
	bench_run(bench, 0);
}

static void open_leg(unsigned i)
{
	struct stub *stub = bench_stub(bench, i);

	stub->config.events->opened(stub->config.arg);
}

/* The attempt number @i, which is the last one, is at @addr, and may take @timeout_us. */
static void expect_attempt(unsigned i, unsigned addr, uint64_t timeout_us)
{
	const struct stub *stub = bench_stub(bench, i);
	const struct sockaddr_storage want = bench_addr(addr);

	ck_assert_uint_eq(bench->nstubs, i + 1);
	ck_assert_mem_eq(&stub->attempt.addr, &want, sizeof(want));
	ck_assert_uint_eq(stub->config.connect_timeout_us, timeout_us);
}

static const struct nfs_server *server(unsigned i)
{
	return &bench->service.servers.list[i];
}

START_TEST(the_next_server_is_tried_when_one_has_failed)
{
	start();
	expect_attempt(0, 0, LIMIT_US / 2);
	fail_after(0, 500);
	expect_attempt(1, BENCH_SECOND, 2000000);
	ck_assert_uint_eq(failed, 0);
	open_leg(1);
	ck_assert_uint_eq(opened, 1);
	ck_assert_uint_eq(connecting, 1);
	ck_assert_ptr_eq(upstream_server(&upstream), server(1));
	ck_assert_uint_eq(server(0)->failures, 1);
	ck_assert_str_eq(server(0)->error, "no");
	ck_assert_uint_eq(server(1)->connections, 1);
}
END_TEST

START_TEST(all_addresses_of_a_server_come_first)
{
	bench->naddrs = 2;
	bench->addrs[1] = bench_addr(1);
	start();
	expect_attempt(0, 0, 1000000);
	fail_after(0, 500);
	expect_attempt(1, 1, 1500000);
	fail_after(1, 500);
	expect_attempt(2, BENCH_SECOND, 2000000);
}
END_TEST

START_TEST(an_attempt_takes_no_longer_than_connect_timeout_s)
{
	bench->config.connect_timeout_s = 1;
	start();
	expect_attempt(0, 0, 1000000);
	fail_after(0, 1000);
	expect_attempt(1, BENCH_SECOND, 1000000);
	fail_after(1, 1000);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_REFUSED);
}
END_TEST

START_TEST(a_server_whose_name_does_not_resolve_is_skipped)
{
	bench->naddrs = 0;
	start();
	expect_attempt(0, BENCH_SECOND, 2000000);
	ck_assert_uint_eq(server(0)->failures, 1);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

START_TEST(a_server_whose_lookup_takes_too_long_is_skipped)
{
	bench->resolver_silent = true;
	start();
	bench_run(bench, 1999);
	ck_assert_uint_eq(bench->nstubs, 0);
	bench->resolver_silent = false;
	bench_resolve(bench);
	bench->naddrs = 0;
	bench_run(bench, 1);
	expect_attempt(0, BENCH_SECOND, 2000000);
}
END_TEST

START_TEST(missing_local_resources_do_not_select_another_server)
{
	bench->connect_fails = 100;
	bench->connect_error = -EMFILE;
	start();
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_RESOURCES);
	ck_assert_uint_eq(server(0)->failures, 0);
	ck_assert_uint_eq(server(1)->attempts, 0);
}
END_TEST

START_TEST(without_a_server_that_takes_new_connections_there_is_none)
{
	for (unsigned i = 0; i < 2; i++)
		server_order_set(&bench->service.servers, &bench->service.servers.list[i],
				 SERVER_ORDER_DRAIN);
	upstream_start(&upstream, LIMIT_US);
	ck_assert_uint_eq(failed, 0);
	bench_run(bench, 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_NO_SERVER);
}
END_TEST

START_TEST(a_server_that_closes_without_a_reply_is_tried_last)
{
	start();
	open_leg(0);
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_PEER, "");
	stub_over(bench_stub(bench, 0));
	upstream_fini(&upstream);
	begin();
	start();
	expect_attempt(1, BENCH_SECOND, 2000000);
}
END_TEST

START_TEST(a_server_that_has_answered_gets_its_clients_back_immediately)
{
	struct stub *stub;

	start();
	open_leg(0);
	stub = bench_stub(bench, 0);
	stub->config.events->reply(stub->config.arg, exchange_new(NULL));
	stub_closing(stub, LEG_CLOSE_LOST, "");
	stub_over(stub);
	upstream_fini(&upstream);
	begin();
	start();
	expect_attempt(1, 0, LIMIT_US / 2);
}
END_TEST

START_TEST(giving_up_between_two_servers_leaves_nothing)
{
	start();
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "no");
	if (_i)
		stub_over(bench_stub(bench, 0));
	upstream_close(&upstream, LEG_CLOSE_PEER);
	if (!_i)
		stub_over(bench_stub(bench, 0));
	bench_run(bench, 0);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert(upstream_is_closed(&upstream));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("upstream_servers");
	TCase *tc = tcase_create("upstream_servers");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_next_server_is_tried_when_one_has_failed);
	tcase_add_test(tc, all_addresses_of_a_server_come_first);
	tcase_add_test(tc, an_attempt_takes_no_longer_than_connect_timeout_s);
	tcase_add_test(tc, a_server_whose_name_does_not_resolve_is_skipped);
	tcase_add_test(tc, a_server_whose_lookup_takes_too_long_is_skipped);
	tcase_add_test(tc, missing_local_resources_do_not_select_another_server);
	tcase_add_test(tc, without_a_server_that_takes_new_connections_there_is_none);
	tcase_add_test(tc, a_server_that_closes_without_a_reply_is_tried_last);
	tcase_add_test(tc, a_server_that_has_answered_gets_its_clients_back_immediately);
	tcase_add_loop_test(tc, giving_up_between_two_servers_leaves_nothing, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
