// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests many clients of one service: their cost for the log and for the other clients of their
 * worker.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/bridge/bridge.h"
#include "daemon/view/snapshot.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

static struct bench *bench;

static void setup(void)
{
	bench = bench_new(NULL);
}

static void teardown(void)
{
	log_set_output(NULL);
	bench_end(bench);
}

/* ---- the log ---- */

static unsigned opens, closes, faults, sums;
static unsigned long long skipped_servers;
static char last[LOG_LINE_BYTES];

static bool count_line(void *arg, const char *line, size_t len)
{
	const char *sum = strstr(line, " more ");

	opens += strstr(line, "] open to") != NULL;
	closes += strstr(line, "] closed by the client, after") != NULL;
	faults += strstr(line, "] closed: client: ") != NULL;
	if (sum) {
		sums++;
		while (sum[-1] != ' ')
			sum--;
		skipped_servers += strtoull(sum, NULL, 10);
	}
	snprintf(last, sizeof(last), "%.*s", (int)len, line);
	return true;
}

static uint64_t bench_clock_us(clockid_t clock)
{
	return loop_now_us(bench->loop);
}

static void start_counting(void)
{
	static const struct log_output output = {
		.write = count_line, .form = LOG_FORM_LEVEL, .now_us = bench_clock_us};

	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
}

/* A client that is served and disconnects immediately: at most a port is left of it. */
static void come_and_go(void)
{
	struct stub *client = bench_incoming(bench), *server;

	client->config.events->requested(client->config.arg);
	bench_run(bench, 0);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	client->config.events->opened(client->config.arg);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 0);
}

START_TEST(a_client_that_comes_back_all_the_time_does_not_fill_the_log)
{
	const unsigned clients = 1000, seconds = 20,
		       refilled = seconds * 1000000 / LOG_LIMIT_REFILL_US;

	bench->stub_server = true;
	start_counting();
	for (unsigned i = 0; i < clients; i++) {
		come_and_go();
		bench_run(bench, seconds * 1000 / clients);
		if ((i + 1) % (clients * (LOG_REPORT_US / 1000000) / seconds) == 0)
			service_log_suppressed(&bench->service);
	}
	ck_assert_uint_eq(bench->bridges_gone, clients);
	ck_assert_uint_ge(opens, SERVICE_LINES_BURST);
	ck_assert_uint_le(opens, SERVICE_LINES_BURST + refilled);
	ck_assert_uint_eq(closes, opens);
	ck_assert_uint_le(sums, 2 * refilled);
	ck_assert_uint_eq(opens + closes + skipped_servers, 2 * clients);
}
END_TEST

static void granted(void *arg)
{
}

START_TEST(a_long_wait_for_memory_is_logged_once_with_the_service_that_holds_most)
{
	struct budget_claim held, waiting;
	struct stub *hog, *poor;

	bench->config.stall_timeout_s = 3600;
	hog = bench_incoming(bench);
	poor = bench_incoming(bench);
	bench->budget.account.late = bridge_log_shortage;
	bench->budget.account.late_arg = &bench->ws;
	bench->budget.account.lease.share->name = bench->service.config->name;
	start_counting();
	budget_claim_init(&held, granted, NULL);
	budget_claim_init(&waiting, granted, NULL);
	ck_assert(budget_claim(hog->config.holder, &held, 60 * 1024 * 1024));
	ck_assert(!budget_claim(poor->config.holder, &waiting, 30 * 1024 * 1024));
	bench_run(bench, 4999);
	ck_assert_str_eq(last, "");
	bench_run(bench, 1);
	ck_assert_str_eq(
		last,
		"<4>[sim#2 10.0.0.100:20002] a Call has waited 5 s for 30720 KiB of memory; "
		"most is held by service sim (60 MiB); of this service and worker, connection #1 "
		"holds most (61440 KiB for 0 Calls)\n");
	last[0] = '\0';
	bench_run(bench, 200000);
	ck_assert_str_eq(last, "");
	budget_claim_release(&waiting);
	budget_claim_release(&held);
	stub_fail(hog, LEG_CLOSE_PEER, "");
	stub_fail(poor, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
}
END_TEST

START_TEST(a_flood_of_one_kind_keeps_no_other_out)
{
	struct stub *client;

	start_counting();
	for (unsigned i = 0; i < 2 * SERVICE_LINES_BURST; i++) {
		client = bench_incoming(bench);
		stub_fail(client, LEG_CLOSE_NOT_RPC, "");
		bench_run(bench, 1);
	}
	ck_assert_uint_eq(faults, SERVICE_LINES_BURST);
	client = bench_incoming(bench);
	stub_fail(client, LEG_CLOSE_RECORD_TOO_BIG, "");
	ck_assert_ptr_nonnull(strstr(last, leg_close_text(LEG_CLOSE_RECORD_TOO_BIG)));
	bench_run(bench, 1);
}
END_TEST

/* ---- what it shows ---- */

#define BRIDGES 250u

static bool shown(const struct snapshot *snapshot, unsigned id)
{
	json_t *connection;
	unsigned times = 0;
	size_t i;

	json_array_foreach(snapshot->connections, i, connection) times +=
		json_integer_value(json_object_get(connection, "id")) == (json_int_t)id;
	ck_assert_uint_le(times, 1);
	return times;
}

static bool slice(struct snapshot *snapshot)
{
	struct worker_service *const services[] = {&bench->ws};

	return snapshot_slice(snapshot, services, 1, loop_now_us(bench->loop));
}

static void end_bridge(unsigned id)
{
	stub_fail(bench_stub(bench, id - 1), LEG_CLOSE_PEER, "");
	bench_run(bench, 0);
}

START_TEST(connections_are_shown_a_hundred_a_turn)
{
	struct snapshot snapshot = {.connections = json_array()};

	for (unsigned i = 0; i < BRIDGES; i++)
		bench_incoming(bench);
	ck_assert(slice(&snapshot));
	ck_assert_uint_eq(json_array_size(snapshot.connections), 100);
	ck_assert(slice(&snapshot));
	ck_assert_uint_eq(json_array_size(snapshot.connections), 200);
	ck_assert(!slice(&snapshot));
	for (unsigned id = 1; id <= BRIDGES; id++) {
		ck_assert(shown(&snapshot, id));
		end_bridge(id);
	}
	json_decref(snapshot.connections);
}
END_TEST

/* Those go that were shown, that are to be next, and the last; others come. */
START_TEST(connections_may_come_and_go_between_the_turns)
{
	static const unsigned gone[2][5] = {{1, 100, 101, 102, 150}, {203, 204, 205, 250, 251}};
	struct snapshot snapshot = {.connections = json_array()};
	const unsigned more = 1000;
	unsigned id;

	for (unsigned i = 0; i < BRIDGES; i++)
		bench_incoming(bench);
	for (unsigned turn = 0; turn < 2; turn++) {
		ck_assert(slice(&snapshot));
		for (unsigned i = 0; i < more / 2; i++)
			bench_incoming(bench);
		for (unsigned i = 0; i < ARRAY_SIZE(gone[turn]); i++)
			end_bridge(gone[turn][i]);
	}
	ck_assert(!slice(&snapshot));
	for (id = 1; id <= BRIDGES; id++)
		ck_assert(shown(&snapshot, id) == !(id == 101 || id == 102 || id == 150 ||
						    id == 204 || id == 205 || id == 250));
	ck_assert_uint_eq(json_array_size(snapshot.connections), BRIDGES - 6);
	json_decref(snapshot.connections);
	for (id = 1; id <= BRIDGES + more; id++)
		if (!bench_stub(bench, id - 1)->freed)
			end_bridge(id);
}
END_TEST

/* The last of the walk goes, and then all that there are. */
START_TEST(a_turn_can_find_no_waiting_claim)
{
	struct snapshot snapshot = {.connections = json_array()};

	for (unsigned i = 0; i < 101; i++)
		bench_incoming(bench);
	ck_assert(slice(&snapshot));
	for (unsigned id = 101; id > 0; id--)
		end_bridge(id);
	bench_incoming(bench);
	ck_assert(!slice(&snapshot));
	ck_assert_uint_eq(json_array_size(snapshot.connections), 100);
	end_bridge(102);
	json_decref(snapshot.connections);
}
END_TEST

/* Each question is 60 us later: there is time for two. */
static uint64_t ticking(void)
{
	static uint64_t us;

	return us += 60;
}

START_TEST(a_turn_ends_when_its_time_is_over)
{
	struct snapshot snapshot = {.connections = json_array(), .clock_us = ticking};
	unsigned turns = 1;

	for (unsigned i = 0; i < 10; i++)
		bench_incoming(bench);
	while (slice(&snapshot))
		ck_assert_uint_le(json_array_size(snapshot.connections), 2 * turns++);
	ck_assert_uint_ge(turns, 5);
	for (unsigned id = 1; id <= 10; id++) {
		ck_assert(shown(&snapshot, id));
		end_bridge(id);
	}
	json_decref(snapshot.connections);
}
END_TEST

START_TEST(of_many_those_with_the_oldest_calls_are_shown)
{
	static const unsigned callers[] = {8, 4, 9, 6};
	struct conn_load load = {0};
	uint64_t ages_us[3];
	struct snapshot snapshot = {.connections = json_array(),
				    .max_connections = 3,
				    .ages_us = ages_us,
				    .loads = &load};

	bench->config.listen.transport = TRANSPORT_TCP;
	bench->resolver_silent = true; /* so that Calls stay where they are */
	for (unsigned i = 0; i < 10; i++)
		bench_incoming(bench);
	for (unsigned i = 0; i < ARRAY_SIZE(callers); i++) {
		bench_client_call(bench, bench_stub(bench, callers[i] - 1), i);
		bench_run(bench, 5);
	}
	while (slice(&snapshot))
		;
	ck_assert_uint_eq(json_array_size(snapshot.connections), 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(shown(&snapshot, callers[i]));
	ck_assert_uint_eq(load.connections[LOAD_FABRIC_NONE], 10);
	ck_assert_uint_ge(load.oldest_us, 20000);
	for (unsigned id = 1; id <= 10; id++)
		end_bridge(id);
	json_decref(snapshot.connections);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("crowd");
	TCase *tc = tcase_create("crowd");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_client_that_comes_back_all_the_time_does_not_fill_the_log);
	tcase_add_test(tc, a_long_wait_for_memory_is_logged_once_with_the_service_that_holds_most);
	tcase_add_test(tc, a_flood_of_one_kind_keeps_no_other_out);
	tcase_add_test(tc, connections_are_shown_a_hundred_a_turn);
	tcase_add_test(tc, a_turn_ends_when_its_time_is_over);
	tcase_add_test(tc, of_many_those_with_the_oldest_calls_are_shown);
	tcase_add_test(tc, connections_may_come_and_go_between_the_turns);
	tcase_add_test(tc, a_turn_can_find_no_waiting_claim);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
