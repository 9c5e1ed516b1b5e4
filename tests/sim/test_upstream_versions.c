// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests in which version of RPC-over-RDMA a connection attempt begins, and when it is repeated in
 * version one.
 */
#include <netinet/in.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/upstream/upstream_connect.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

#define LIMIT_US 8000000u
#define PORT     700u

static struct bench *bench;
static struct upstream upstream;
static struct log_ctx log_ctx;
static unsigned connecting, opened, failed, closed, leg_closing;
static enum leg_close why;
static char said[16384];

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
}

static void on_leg_closing(struct upstream *up, enum leg_close reason, const char *text)
{
	leg_closing++;
	why = reason;
}

static const struct leg_events leg_events = {UPSTREAM_LEG_EVENTS};

static const struct upstream_events events = {
	.connecting = on_connecting,
	.opened = on_opened,
	.failed = on_failed,
	.closing = on_leg_closing,
	.closed = on_closed,
	.leg = &leg_events,
};

static bool collect(void *arg, const char *line, size_t len)
{
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	return true;
}

static uint64_t bench_clock_us(clockid_t clock)
{
	return loop_now_us(bench->loop);
}

/* As it is before upstream_start(), from the source port that its client had. */
static void make_upstream(void)
{
	const struct leg_config config = {0};
	const struct source_affinity affinity = {.port = PORT};

	connecting = opened = failed = closed = leg_closing = 0;
	ck_assert_int_eq(upstream_init(&upstream, &bench->ws.net, &bench->ws.servers, &config,
				       &log_ctx, &events),
			 0);
	upstream_set_source(&upstream, &affinity);
}

static void setup(void)
{
	static const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = bench_clock_us};

	bench = bench_new(NULL);
	bench->stub_server = true;
	for (unsigned i = 0; i < 2; i++)
		bench->addrs[i] = bench_addr(i);
	bench->naddrs = 1;
	bench->config.connect_version = 2;
	said[0] = '\0';
	log_set_output(&output);
	log_set_level(LOG_LEVEL_DEBUG);
	make_upstream();
}

/* Whatever is left open ends. */
static void end_upstream(void)
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
	end_upstream();
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	bench_end(bench);
}

static void start(void)
{
	upstream_start(&upstream, LIMIT_US);
	bench_run(bench, 0);
}

/* As a leg does that has found it out. */
static void remember(unsigned addr)
{
	const struct sockaddr_storage server = bench_addr(addr);

	version_cache_remember(&bench->service.servers.list[0].versions,
			       (const struct sockaddr *)&server, loop_now_us(bench->loop));
}

static void end_stub(unsigned i, enum leg_close reason)
{
	stub_fail(bench_stub(bench, i), reason, "");
	bench_run(bench, 0);
}

static void find_version_one(unsigned i, unsigned addr, enum leg_close reason)
{
	remember(addr);
	end_stub(i, reason);
}

static void expect_attempt(unsigned i, unsigned addr, const struct fabric *fabric, uint32_t version)
{
	const struct stub *stub = bench_stub(bench, i);
	const struct sockaddr_storage want = bench_addr(addr);

	ck_assert_uint_eq(bench->nstubs, i + 1);
	ck_assert_mem_eq(&stub->attempt.addr, &want, sizeof(want));
	ck_assert_ptr_eq(stub->attempt.fabric, fabric);
	ck_assert_uint_eq(stub->attempt.rpcrdma_version, version);
}

static unsigned count(const char *text)
{
	unsigned n = 0;

	for (const char *at = said; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

START_TEST(an_attempt_begins_in_the_version_that_the_service_says)
{
	bench->config.connect_version = (uint32_t)_i;
	start();
	expect_attempt(0, 0, bench->ws.net.iwarp, _i == 2 ? 2 : 1);
}
END_TEST

START_TEST(over_tcp_there_is_no_version)
{
	bench_connect_by(bench, TRANSPORT_TCP);
	remember(0);
	start();
	expect_attempt(0, 0, NULL, 0);
	end_stub(0, LEG_CLOSE_LOST);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(bench->nstubs, 1);
}
END_TEST

START_TEST(a_server_that_refuses_is_not_asked_in_version_one)
{
	static const enum leg_close reasons[] = {LEG_CLOSE_REFUSED, LEG_CLOSE_UNREACHABLE,
						 LEG_CLOSE_TIMEOUT, LEG_CLOSE_VERSION};

	start();
	expect_attempt(0, 0, bench->ws.net.iwarp, 2);
	end_stub(0, reasons[_i]);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, reasons[_i]);
	ck_assert_uint_eq(bench->nstubs, 1);
}
END_TEST

static const enum leg_close lost[] = {LEG_CLOSE_LOST, LEG_CLOSE_PEER, LEG_CLOSE_TERMINATED,
				      LEG_CLOSE_TIMEOUT};

/* The client notices nothing, and what is known of the server is what it was. */
START_TEST(a_connection_lost_before_the_version_is_settled_is_retried_once)
{
	struct server_health_info server;

	start();
	bench_run(bench, 1000);
	find_version_one(0, 0, lost[_i]);
	expect_attempt(1, 0, bench->ws.net.iwarp, 1);
	ck_assert_uint_eq(bench_stub(bench, 1)->attempt.source_port, PORT);
	ck_assert_uint_eq(upstream.from.affinity.port, PORT);
	ck_assert_uint_eq(bench_stub(bench, 1)->config.connect_timeout_us, LIMIT_US - 1000000);
	ck_assert_uint_eq(connecting, 1);
	ck_assert_uint_eq(failed + closed + leg_closing, 0);
	server_health_get(&bench->service.servers.list[0].health, loop_now_us(bench->loop),
			  &server);
	ck_assert_int_eq(server.reach, SERVER_UNKNOWN);
	ck_assert_uint_eq(count("; trying the same address in version one"), 1);
	ck_assert_uint_eq(count("next address"), 0);
	bench_stub(bench, 1)->config.events->opened(bench_stub(bench, 1)->config.arg);
	ck_assert_uint_eq(opened, 1);
}
END_TEST

START_TEST(a_connection_is_retried_in_version_one_at_any_time)
{
	start();
	bench_run(bench, LIMIT_US / 1000 + 1000);
	find_version_one(0, 0, LEG_CLOSE_LOST);
	expect_attempt(1, 0, bench->ws.net.iwarp, 1);
	ck_assert_uint_eq(bench_stub(bench, 1)->config.connect_timeout_us, ATTEMPT_MIN_US);
}
END_TEST

/* A fabric can take long to let go of what it has lost. */
START_TEST(time_until_the_leg_is_over_does_not_count_against_it)
{
	start();
	remember(0);
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_LOST, "");
	bench_run(bench, LIMIT_US / 1000 + 1000);
	ck_assert_uint_eq(bench->nstubs, 1);
	stub_over(bench_stub(bench, 0));
	bench_run(bench, 0);
	expect_attempt(1, 0, bench->ws.net.iwarp, 1);
}
END_TEST

START_TEST(a_connection_is_retried_in_version_one_exactly_once)
{
	start();
	find_version_one(0, 0, LEG_CLOSE_LOST);
	find_version_one(1, 0, LEG_CLOSE_LOST);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(bench->nstubs, 2);
	ck_assert_uint_eq(count("; trying the same address in version one"), 1);
}
END_TEST

START_TEST(a_connection_that_the_proxy_closes_is_not_retried)
{
	start();
	find_version_one(0, 0, LEG_CLOSE_LOCAL);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(bench->nstubs, 1);
}
END_TEST

START_TEST(a_retry_can_be_cancelled)
{
	start();
	find_version_one(0, 0, LEG_CLOSE_LOST);
	upstream_close(&upstream, LEG_CLOSE_PEER);
	stub_fail(bench_stub(bench, 1), LEG_CLOSE_PEER, "");
	bench_run(bench, 10000);
	ck_assert_uint_eq(bench->nstubs, 2);
	ck_assert_uint_eq(failed, 0);
	ck_assert_uint_eq(closed, 1);
}
END_TEST

START_TEST(a_second_turn_that_fails_at_once_is_the_end_of_it)
{
	start();
	bench->connect_fails = 1;
	find_version_one(0, 0, LEG_CLOSE_LOST);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(why, LEG_CLOSE_UNREACHABLE);
	ck_assert_uint_eq(bench->nstubs, 1);
}
END_TEST

/* Another connection may have found that out. */
START_TEST(a_server_that_is_known_to_speak_version_one_is_asked_in_it_at_once)
{
	remember(0);
	start();
	expect_attempt(0, 0, bench->ws.net.iwarp, 1);
	end_stub(0, LEG_CLOSE_LOST);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_uint_eq(count("same address"), 0);
}
END_TEST

START_TEST(after_ten_minutes_it_is_asked_in_version_two_again)
{
	start();
	find_version_one(0, 0, LEG_CLOSE_LOST);
	for (unsigned i = 1; i < 3; i++) {
		end_upstream();
		bench_run(bench, i == 1 ? 599999 : 1);
		make_upstream();
		start();
		expect_attempt(i + 1, 0, bench->ws.net.iwarp, i);
	}
}
END_TEST

START_TEST(each_address_is_known_by_itself)
{
	bench->naddrs = 2;
	start();
	bench_run(bench, 2000);
	find_version_one(0, 0, LEG_CLOSE_LOST);
	expect_attempt(1, 0, bench->ws.net.iwarp, 1);
	/* It shares what is left with the other one. */
	ck_assert_uint_eq(bench_stub(bench, 1)->config.connect_timeout_us,
			  (LIMIT_US - 2000000) / 2);
	end_stub(1, LEG_CLOSE_REFUSED);
	expect_attempt(2, 1, bench->ws.net.iwarp, 2);
	ck_assert_uint_eq(bench_stub(bench, 2)->attempt.source_port, PORT);
	find_version_one(2, 1, LEG_CLOSE_PEER);
	expect_attempt(3, 1, bench->ws.net.iwarp, 1);
	ck_assert_uint_eq(count("; trying the same address in version one"), 2);
	ck_assert_uint_eq(count("; trying its next address"), 1);
}
END_TEST

/* Verbs is not to blame before it has failed in version one, too. */
START_TEST(verbs_is_tried_in_both_versions_before_iwarp)
{
	const struct fabric *verbs = bench->ws.net.verbs, *iwarp = bench->ws.net.iwarp;

	bench_connect_by(bench, TRANSPORT_RDMA);
	start();
	expect_attempt(0, 0, verbs, 2);
	find_version_one(0, 0, LEG_CLOSE_LOST);
	expect_attempt(1, 0, verbs, 1);
	ck_assert_uint_eq(bench->ws.net.verbs_avoided_until_us, 0);
	end_stub(1, LEG_CLOSE_LOST);
	ck_assert_uint_gt(bench->ws.net.verbs_avoided_until_us, 0);
	expect_attempt(2, 0, iwarp, 1);
	end_stub(2, LEG_CLOSE_LOST);
	ck_assert_uint_eq(failed, 1);
}
END_TEST

START_TEST(where_verbs_is_refused_iwarp_begins_in_version_two)
{
	bench_connect_by(bench, TRANSPORT_RDMA);
	start();
	end_stub(0, LEG_CLOSE_REFUSED);
	expect_attempt(1, 0, bench->ws.net.iwarp, 2);
	find_version_one(1, 0, LEG_CLOSE_LOST);
	expect_attempt(2, 0, bench->ws.net.iwarp, 1);
}
END_TEST

/* Since another client's attempt has failed there meanwhile. */
START_TEST(a_second_turn_is_on_the_same_fabric_though_it_is_avoided_by_now)
{
	bench_connect_by(bench, TRANSPORT_RDMA);
	start();
	bench->ws.net.verbs_avoided_until_us = UINT64_MAX;
	find_version_one(0, 0, LEG_CLOSE_LOST);
	expect_attempt(1, 0, bench->ws.net.verbs, 1);
}
END_TEST

/* ---- no version in common ---- */

static void expect_no_use(void)
{
	struct server_health_info server;

	ck_assert_uint_eq(why, LEG_CLOSE_VERSION);
	server_health_get(&bench->service.servers.list[0].health, loop_now_us(bench->loop),
			  &server);
	ck_assert_int_eq(server.reach, SERVER_DOWN);
	ck_assert_str_eq(server.error, "no common RPC-over-RDMA version");
	ck_assert_uint_eq(count("cannot be used: no common RPC-over-RDMA version"), 1);
	ck_assert(upstream.failure_logged);
}

START_TEST(a_server_without_a_version_in_common_is_down)
{
	start();
	end_stub(0, LEG_CLOSE_VERSION);
	ck_assert_uint_eq(failed, 1);
	expect_no_use();
}
END_TEST

/* In version one that shows with the first Call. */
START_TEST(so_is_one_that_shows_it_later)
{
	start();
	bench_stub(bench, 0)->config.events->opened(bench_stub(bench, 0)->config.arg);
	stub_closing(bench_stub(bench, 0), LEG_CLOSE_VERSION, "");
	ck_assert_uint_eq(leg_closing, 1);
	expect_no_use();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("upstream_versions");
	TCase *tc = tcase_create("upstream_versions");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, an_attempt_begins_in_the_version_that_the_service_says, 0, 3);
	tcase_add_test(tc, over_tcp_there_is_no_version);
	tcase_add_loop_test(tc, a_server_that_refuses_is_not_asked_in_version_one, 0, 4);
	tcase_add_loop_test(tc, a_connection_lost_before_the_version_is_settled_is_retried_once, 0,
			    ARRAY_SIZE(lost));
	tcase_add_test(tc, a_connection_is_retried_in_version_one_at_any_time);
	tcase_add_test(tc, time_until_the_leg_is_over_does_not_count_against_it);
	tcase_add_test(tc, a_connection_is_retried_in_version_one_exactly_once);
	tcase_add_test(tc, a_connection_that_the_proxy_closes_is_not_retried);
	tcase_add_test(tc, a_retry_can_be_cancelled);
	tcase_add_test(tc, a_second_turn_that_fails_at_once_is_the_end_of_it);
	tcase_add_test(tc, a_server_that_is_known_to_speak_version_one_is_asked_in_it_at_once);
	tcase_add_test(tc, after_ten_minutes_it_is_asked_in_version_two_again);
	tcase_add_test(tc, each_address_is_known_by_itself);
	tcase_add_test(tc, verbs_is_tried_in_both_versions_before_iwarp);
	tcase_add_test(tc, where_verbs_is_refused_iwarp_begins_in_version_two);
	tcase_add_test(tc, a_second_turn_is_on_the_same_fabric_though_it_is_avoided_by_now);
	tcase_add_test(tc, a_server_without_a_version_in_common_is_down);
	tcase_add_test(tc, so_is_one_that_shows_it_later);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
