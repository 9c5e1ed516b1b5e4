// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the health check's connection to one server: its results, and its separation from the
 * service's clients.
 */
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/health/check_conn.h"
#include "daemon/health/check_rpc.h"
#include "nfs/proc_table.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

#define LIMIT_US  8000000u
#define ANSWER_US 1000000u

static struct bench *bench;
static struct check_env env;
static struct check_conn *conn;
static unsigned on_event, gone;
static enum check_conn_event event, event_before;
static enum leg_close why;
static char detail[LEG_DETAIL_BYTES];
static const char *kind; /* of the connection, when it was told that it is open */
static const struct exchange *answered;
static char said[4096];

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

static void wake(void *arg)
{
	struct check_backend *waiter;

	LIST_FOREACH(waiter, &env.backends, entry)
		backend_woken(&waiter->backend);
}

static void on_told(void *arg, const struct check_conn_result *result)
{
	ck_assert_ptr_eq(arg, bench);
	on_event++;
	event_before = event;
	event = result->event;
	why = result->why;
	answered = result->x;
	if (event == CHECK_CONN_OPENED) {
		struct leg_info info;

		check_conn_info(conn, &info);
		kind = info.kind;
	}
	snprintf(detail, sizeof(detail), "%s", result->detail);
}

static void on_gone(void *arg)
{
	gone++;
}

static void make_conn(void)
{
	const struct check_conn_config config = {
		.env = &env,
		.net = &bench->ws.net,
		.server = &bench->config.connect,
		.program = NFS_PROGRAM_RPCBIND,
		.on_event = on_told,
		.arg = bench,
	};

	ck_assert_int_eq(check_conn_new(&config, &conn), 0);
}

static void setup(void)
{
	static const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = bench_clock_us};

	bench = bench_new(NULL);
	bench->stub_server = true;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->config.connect_version = 1;
	bench->ws.net.service = NULL;
	env = (struct check_env){.env = bench->env};
	env.env.wake = wake;
	LIST_INIT(&env.backends);
	ck_assert_int_eq(budget_init(&env.budget, 64u << 20, 0, 1, 1), 0);
	ck_assert_int_eq(budget_account_init(&env.account, budget_share(&env.budget, 0),
					     bench->loop, wake, NULL),
			 0);
	said[0] = '\0';
	log_set_output(&output);
	log_set_level(LOG_LEVEL_DEBUG);
	on_event = gone = 0;
	make_conn();
}

/* Its open connections end, and nothing of this reaches the service. */
static void teardown(void)
{
	const struct nfs_server *server = &bench->service.servers.list[0];
	struct stub *last = bench->nstubs ? bench_stub(bench, bench->nstubs - 1) : NULL;

	if (conn)
		check_conn_free(conn, on_gone, NULL);
	if (last && !last->closing)
		stub_fail(last, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 200);
	ck_assert_uint_eq(gone, 1);
	ck_assert(LIST_EMPTY(&env.backends));
	ck_assert_uint_eq(env.account.used_bytes, 0);
	ck_assert_uint_eq(server->attempts, 0);
	ck_assert_uint_eq(server->failures, 0);
	ck_assert(!server_health_is_down(&server->health));
	ck_assert_str_eq(said, "");
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	budget_account_fini(&env.account);
	budget_fini(&env.budget);
	bench_end(bench);
}

static void expect_told(unsigned n, enum check_conn_event what)
{
	bench_run(bench, 0);
	ck_assert_uint_eq(on_event, n);
	ck_assert_int_eq(event, what);
}

static void open_conn(void)
{
	struct stub *stub;

	check_conn_open(conn, LIMIT_US);
	bench_run(bench, 0);
	stub = bench_stub(bench, bench->nstubs - 1);
	stub->config.events->opened(stub->config.arg);
}

static struct stub *last_stub(void)
{
	return bench_stub(bench, bench->nstubs - 1);
}

static void call(void)
{
	uint8_t msg[CHECK_RPC_CALL_BYTES];
	size_t len = check_rpc_null(msg, 7, NFS_PROGRAM_NFS, CHECK_RPC_NFS_VERSION);

	ck_assert_int_eq(check_conn_call(conn, msg, (uint32_t)len, ANSWER_US), 0);
}

/* As a leg does that has the Reply. */
static void reply(void)
{
	struct stub *stub = last_stub();
	struct exchange *x = stub->last_call;

	ck_assert_ptr_nonnull(x);
	stub->last_call = NULL;
	stub->config.events->reply(stub->config.arg, x);
}

START_TEST(a_call_is_answered)
{
	struct leg_info info;

	open_conn();
	expect_told(1, CHECK_CONN_OPENED);
	check_conn_info(conn, &info);
	ck_assert_str_eq(info.kind, "stub");
	ck_assert_uint_eq(last_stub()->attempt.program, NFS_PROGRAM_RPCBIND);
	call();
	ck_assert_uint_eq(last_stub()->calls, 1);
	reply();
	expect_told(2, CHECK_CONN_REPLIED);
	ck_assert_uint_eq(answered->call_info.hdr.xid, 7);
	/* The time limit was for the answer. */
	bench_run(bench, 2000);
	ck_assert_uint_eq(on_event, 2);
}
END_TEST

START_TEST(addresses_are_tried_in_turn_as_for_a_client)
{
	bench->naddrs = 2;
	bench->addrs[1] = bench_addr(1);
	check_conn_open(conn, LIMIT_US);
	bench_run(bench, 0);
	ck_assert_uint_eq(bench_stub(bench, 0)->config.connect_timeout_us, LIMIT_US / 2);
	ck_assert(bench_stub(bench, 0)->attempt.privileged);
	ck_assert_uint_eq(bench_stub(bench, 0)->attempt.client, 0);
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "no");
	bench_run(bench, 0);
	ck_assert_uint_eq(on_event, 0);
	stub_fail(bench_stub(bench, 1), LEG_CLOSE_TIMEOUT, "late");
	expect_told(1, CHECK_CONN_UNREACHED);
	ck_assert_int_eq(why, LEG_CLOSE_TIMEOUT);
	ck_assert_str_eq(detail, "late");
}
END_TEST

/* As client connections of a service remember for a minute; a check is to find each way again. */
START_TEST(verbs_that_failed_is_not_avoided)
{
	check_conn_free(conn, NULL, NULL);
	bench_run(bench, 0);
	bench_connect_by(bench, TRANSPORT_RDMA);
	make_conn();
	for (unsigned i = 0; i < 2; i++) {
		check_conn_open(conn, LIMIT_US);
		bench_run(bench, 0);
		ck_assert_ptr_eq(last_stub()->attempt.fabric, bench->ws.net.verbs);
		stub_fail(last_stub(), LEG_CLOSE_REFUSED, "");
		bench_run(bench, 0);
		ck_assert_ptr_eq(last_stub()->attempt.fabric, bench->ws.net.iwarp);
		stub_fail(last_stub(), LEG_CLOSE_REFUSED, "");
		expect_told(i + 1, CHECK_CONN_UNREACHED);
	}
	ck_assert_uint_eq(bench->ws.net.fabric_fallbacks, 0);
}
END_TEST

START_TEST(a_name_without_addresses_is_reported)
{
	bench->naddrs = 0;
	check_conn_open(conn, LIMIT_US);
	expect_told(1, CHECK_CONN_UNREACHED);
	ck_assert_int_eq(why, LEG_CLOSE_NO_ADDRESS);
	ck_assert_str_eq(detail,
			 "its name \"server\" cannot be resolved: Name or service not known");
}
END_TEST

START_TEST(a_name_server_that_is_silent_has_the_time_of_the_connection)
{
	bench->resolver_silent = true;
	check_conn_open(conn, LIMIT_US);
	bench_run(bench, LIMIT_US / 1000 - 1);
	ck_assert_uint_eq(on_event, 0);
	bench_run(bench, 1);
	expect_told(1, CHECK_CONN_UNREACHED);
	ck_assert_str_eq(detail, "its name \"server\" cannot be resolved: no answer in time");
	bench->resolver_silent = false;
	bench_resolve(bench);
}
END_TEST

/* What was noted meanwhile may be why. */
START_TEST(an_answer_that_is_late_ends_the_connection)
{
	open_conn();
	expect_told(1, CHECK_CONN_OPENED);
	call();
	last_stub()->config.events->note(last_stub()->config.arg, "odd");
	bench_run(bench, ANSWER_US / 1000);
	ck_assert_uint_eq(last_stub()->close_calls, 1);
	ck_assert_uint_eq(on_event, 1);
	stub_closing(last_stub(), LEG_CLOSE_LOCAL, "");
	stub_over(last_stub());
	expect_told(2, CHECK_CONN_LATE);
	ck_assert_str_eq(detail, "odd");
}
END_TEST

START_TEST(a_lost_connection_can_be_opened_again)
{
	open_conn();
	expect_told(1, CHECK_CONN_OPENED);
	call();
	stub_fail(last_stub(), LEG_CLOSE_PEER, "gone");
	expect_told(2, CHECK_CONN_LOST);
	ck_assert_int_eq(why, LEG_CLOSE_PEER);
	ck_assert_str_eq(detail, "gone");
	open_conn();
	expect_told(3, CHECK_CONN_OPENED);
	ck_assert_uint_eq(bench->nstubs, 2);
	call();
	reply();
	expect_told(4, CHECK_CONN_REPLIED);
}
END_TEST

/* A server that answers and ends at once is one that answers. */
START_TEST(an_end_follows_on_the_answer_that_came_before_it)
{
	open_conn();
	expect_told(1, CHECK_CONN_OPENED);
	call();
	reply();
	stub_fail(last_stub(), LEG_CLOSE_PEER, "gone");
	expect_told(3, CHECK_CONN_LOST);
	ck_assert_int_eq(event_before, CHECK_CONN_REPLIED);
	ck_assert_str_eq(detail, "gone");
	call();
	bench_run(bench, 2000);
	ck_assert_uint_eq(on_event, 3);
}
END_TEST

START_TEST(an_end_follows_on_the_opening_that_came_before_it)
{
	open_conn();
	stub_fail(last_stub(), LEG_CLOSE_LOST, "gone");
	expect_told(2, CHECK_CONN_LOST);
	ck_assert_int_eq(event_before, CHECK_CONN_OPENED);
	ck_assert_str_eq(kind, "stub");
	ck_assert_str_eq(detail, "gone");
}
END_TEST

START_TEST(calls_of_the_server_are_refused)
{
	open_conn();
	expect_told(1, CHECK_CONN_OPENED);
	last_stub()->config.events->call(last_stub()->config.arg, exchange_new(NULL));
	ck_assert_uint_eq(last_stub()->replies, 1);
}
END_TEST

enum { BEFORE, RESOLVING, CONNECTING, OPEN, CALLED, STATES };

/* However far it is; teardown() has its leg end, and sees that it goes. */
START_TEST(a_connection_can_be_freed_in_any_state)
{
	bench->resolver_silent = _i == RESOLVING;
	if (_i >= OPEN)
		open_conn();
	else if (_i > BEFORE)
		check_conn_open(conn, LIMIT_US);
	bench_run(bench, 0);
	if (_i == CALLED)
		call();
	on_event = 0;
	check_conn_free(conn, on_gone, NULL);
	conn = NULL;
	ck_assert_uint_eq(gone, 0);
	bench_run(bench, 1000);
	ck_assert_uint_eq(on_event, 0);
	if (_i != RESOLVING)
		return;
	/* A look-up that is out comes back to its name. */
	ck_assert_uint_eq(gone, 0);
	bench->resolver_silent = false;
	bench_resolve(bench);
}
END_TEST

START_TEST(freeing_null_calls_back_immediately)
{
	check_conn_free(NULL, on_gone, NULL);
	ck_assert_uint_eq(gone, 1);
	gone = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("check_conn");
	TCase *tc = tcase_create("check_conn");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_call_is_answered);
	tcase_add_test(tc, addresses_are_tried_in_turn_as_for_a_client);
	tcase_add_test(tc, verbs_that_failed_is_not_avoided);
	tcase_add_test(tc, a_name_without_addresses_is_reported);
	tcase_add_test(tc, a_name_server_that_is_silent_has_the_time_of_the_connection);
	tcase_add_test(tc, an_answer_that_is_late_ends_the_connection);
	tcase_add_test(tc, a_lost_connection_can_be_opened_again);
	tcase_add_test(tc, an_end_follows_on_the_answer_that_came_before_it);
	tcase_add_test(tc, an_end_follows_on_the_opening_that_came_before_it);
	tcase_add_test(tc, calls_of_the_server_are_refused);
	tcase_add_loop_test(tc, a_connection_can_be_freed_in_any_state, BEFORE, STATES);
	tcase_add_test(tc, freeing_null_calls_back_immediately);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
