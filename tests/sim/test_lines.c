// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the log lines of connections: when they open and close, the level, and the lines on debug
 * only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/bridge/late_call_scan.h"
#include "daemon/service/service_condition.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"
#include "tests/sim/rig.h"

static struct bench *bench;
static char said[256 * 1024];

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

static void setup(void)
{
	static const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = bench_clock_us};

	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->stub_server = true;
	said[0] = '\0';
	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
}

static void teardown(void)
{
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	bench_end(bench);
}

/* The proxy's own NULL, at once: the server fails that as it does a client's Call. */
static void ask(void *arg)
{
	struct servers *servers = arg;
	uint32_t doubts = servers_take_doubts(servers);

	ck_assert_uint_eq(doubts, 1);
	servers_doubt_checked(servers, 0, servers->list[0].health.suspect_why, "",
			      loop_now_us(bench->loop));
}

static void expect(const char *text)
{
	ck_assert_msg(strstr(said, text) != NULL, "missing: %s\nin:\n%s", text, said);
}

static void expect_not(const char *text)
{
	ck_assert_msg(!strstr(said, text), "unexpected: %s\nin:\n%s", text, said);
}

/* A TCP client with a Call in flight, whose server is reached. */
static void open_pair(struct stub **client, struct stub **server)
{
	*client = bench_incoming(bench);
	bench_client_call(bench, *client, 0x12ab);
	bench_run(bench, 1);
	*server = bench_stub(bench, bench->nstubs - 1);
	ck_assert_ptr_ne(*server, *client);
	(*server)->local = bench_addr(8);
	((struct sockaddr_in *)&(*server)->local)->sin_port = htons(731);
	(*server)->config.events->opened((*server)->config.arg);
}

static void answer(struct stub *server)
{
	struct exchange *x = server->last_call;

	server->last_call = NULL;
	server->config.events->reply(server->config.arg, x);
}

static void both_gone(struct stub *client, struct stub *server)
{
	if (client)
		stub_over(client);
	if (server)
		stub_fail(server, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 1);
}

START_TEST(an_open_line_has_the_port_that_the_server_sees)
{
	struct stub *client, *server;

	open_pair(&client, &server);
	expect("<6>[sim#1 10.0.0.100:20001] open to ");
	expect(" over stub from 10.0.0.9:731\n");
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

START_TEST(a_close_line_has_the_client_and_the_totals)
{
	struct stub *client, *server;

	open_pair(&client, &server);
	answer(server);
	bench_stub_call(bench, client, 2);
	bench_run(bench, 3199);
	client->bytes_received = 3 * 1024 * 1024 + 100 * 1024;
	client->bytes_sent = 812;
	stub_closing(client, LEG_CLOSE_PEER, "");
	expect("<6>[sim#1 10.0.0.100:20001] closed by the client, after 3.2 s: "
	       "2 Calls, 3.1 MiB in, 812 bytes out, 1 unanswered\n");
	both_gone(client, server);
}
END_TEST

/* What is said of each end; @by: 0 the client, 1 the server. */
static const struct {
	unsigned by;
	enum leg_close why;
	int err; /* whose words are the detail */
	const char *said;
} ends[] = {
	{0, LEG_CLOSE_PEER, 0, "<6>[sim#1 10.0.0.100:20001] closed by the client, after "},
	{0, LEG_CLOSE_LOST, ECONNRESET, "] closed by the client (reset), after "},
	{0, LEG_CLOSE_LOST, EPIPE, "] closed by the client (reset), after "},
	{0, LEG_CLOSE_LOST, EHOSTUNREACH,
	 "] closed: the connection to the client was lost: No route to host, after "},
	{0, LEG_CLOSE_LOST, 0, "] closed: the connection to the client was lost, after "},
	{0, LEG_CLOSE_SILENT, 0, "] closed: the client does not answer, after "},
	{0, LEG_CLOSE_PROTOCOL, 0,
	 "<6>[sim#1 10.0.0.100:20001] closed: the client broke the RDMA protocol, after "},
	{0, LEG_CLOSE_RECORD_STALLED, 0, "] closed: client: record not finished in time, after "},
	{1, LEG_CLOSE_PEER, 0, "<6>[sim#1 10.0.0.100:20001] closed by the server, after "},
	{1, LEG_CLOSE_LOST, ECONNRESET, "] closed by the server (reset), after "},
	{1, LEG_CLOSE_SILENT, ETIMEDOUT,
	 "] closed: the server does not answer: Connection timed out, after "},
	{1, LEG_CLOSE_PROTOCOL, 0,
	 "<4>[sim#1 10.0.0.100:20001] closed: the server broke the RDMA protocol, after "},
	{1, LEG_CLOSE_BAD_REPLY, 0,
	 "<4>[sim#1 10.0.0.100:20001] closed: server: reply that matches no Call, after "},
};

START_TEST(a_close_line_is_no_fault_where_there_is_none)
{
	const char *detail = ends[_i].err ? strerror(ends[_i].err) : "";
	struct stub *client, *server;

	open_pair(&client, &server);
	/* One that goes before its first Reply is a server that does not answer. */
	if (ends[_i].by)
		answer(server);
	(ends[_i].by ? server : client)->leg.close_errno = ends[_i].err;
	stub_closing(ends[_i].by ? server : client, ends[_i].why, detail);
	expect(ends[_i].said);
	if (ends[_i].by) {
		stub_over(server);
		stub_fail(client, LEG_CLOSE_LOCAL, "");
		bench_run(bench, 10000);
	} else {
		both_gone(client, server);
	}
}
END_TEST

/* It comes and goes, or breaks off, or is shown out, and never makes a Call. */
START_TEST(a_scan_is_debug_alone)
{
	static const enum leg_close whys[] = {LEG_CLOSE_PEER, LEG_CLOSE_LOST, LEG_CLOSE_NO_CALL};
	const char *detail = whys[_i] == LEG_CLOSE_LOST ? strerror(ECONNRESET) : "";

	for (int level = LOG_LEVEL_INFO; level <= LOG_LEVEL_DEBUG; level++) {
		log_set_level(level);
		stub_fail(bench_incoming(bench), whys[_i], detail);
		bench_run(bench, 1);
		if (level == LOG_LEVEL_INFO)
			ck_assert_str_eq(said, "");
	}
	expect("<7>[sim#2 10.0.0.100:20002] closed");
	expect(": 0 Calls, 0 bytes in, 0 bytes out, 0 unanswered\n");
}
END_TEST

/* Said once for the service, not by each of its clients. */
START_TEST(a_server_that_is_down_is_not_logged_for_each_connection)
{
	struct stub *client, *server;

	client = bench_incoming(bench);
	bench_client_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	log_set_level(LOG_LEVEL_INFO);
	stub_fail(server, LEG_CLOSE_UNREACHABLE, "Connection refused");
	bench_run(bench, 5000);
	expect_not("] closed");
	stub_fail(client, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 1);
}
END_TEST

/*
 * Nor is one that answers as something else, which is a warning of its own only where others are
 * served.
 */
START_TEST(a_failing_server_is_not_logged_for_each_connection)
{
	struct stub *client[2], *server[2];

	servers_on_doubt(&bench->service.servers, ask, &bench->service.servers);
	open_pair(&client[0], &server[0]);
	stub_closing(server[0], LEG_CLOSE_NOT_RPC, "the first bytes are HTTP");
	expect("<4>sim: server ");
	expect(" cannot be used: the first bytes are HTTP");
	/*
	 * The first client may have caused its close, so the log has it; of the next client the log
	 * has neither open nor close.
	 */
	expect("<4>[sim#1 10.0.0.100:20001] closed: server: not an RPC message: the first bytes");
	stub_over(server[0]);
	stub_fail(client[0], LEG_CLOSE_LOCAL, "");
	open_pair(&client[0], &server[0]);
	stub_closing(server[0], LEG_CLOSE_NOT_RPC, "the first bytes are HTTP");
	expect_not("sim#2");
	stub_over(server[0]);
	stub_fail(client[0], LEG_CLOSE_LOCAL, "");
	open_pair(&client[0], &server[0]);
	answer(server[0]);
	open_pair(&client[1], &server[1]);
	stub_closing(server[1], LEG_CLOSE_NOT_RPC, "the first bytes are HTTP");
	expect("<4>[sim#4 10.0.0.100:20004] closed: server: not an RPC message: the first bytes");
	stub_over(server[1]);
	stub_fail(client[1], LEG_CLOSE_LOCAL, "");
	stub_closing(client[0], LEG_CLOSE_PEER, "");
	both_gone(client[0], server[0]);
	bench_run(bench, 10000);
}
END_TEST

/* A proxy before a server that is down takes connections all the same. */
START_TEST(while_no_server_answers_a_connection_is_open_with_its_first_reply)
{
	struct stub *client, *server;

	servers_on_doubt(&bench->service.servers, ask, &bench->service.servers);
	open_pair(&client, &server);
	stub_fail(server, LEG_CLOSE_PEER, "");
	bench_run(bench, 1000);
	stub_fail(client, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 1);
	said[0] = '\0';
	open_pair(&client, &server);
	expect_not("open to ");
	answer(server);
	expect("<4>sim: server ");
	expect(" answers again after ");
	expect("<6>[sim#2 10.0.0.100:20002] open to ");
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

START_TEST(debug_tells_how_a_connection_came_about_and_ended)
{
	struct stub *client, *server;

	log_set_level(LOG_LEVEL_DEBUG);
	bench->env.worker = 3;
	client = bench_incoming(bench);
	bench_run(bench, 20);
	bench_client_call(bench, client, 0x12ab);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	expect("<7>[sim#1 10.0.0.100:20001] new connection at ");
	expect(" over stub, worker 3\n");
	expect("] reading now, after 0.020 s waiting\n");
	expect("] new client: any source port to the server\n");
	expect("] resolving now, after 0.000 s reading\n");
	expect("] open now, after 0.001 s connecting\n");
	bench_run(bench, 2500);
	stub_closing(client, LEG_CLOSE_PEER, "");
	expect("] last Call: XID 0x000012ab, ");
	expect(", 2.501 s ago\n");
	expect("] closing now, after 2.500 s open\n");
	both_gone(client, server);
}
END_TEST

START_TEST(debug_tells_whence_a_client_is_known)
{
	struct stub *client, *server;

	log_set_level(LOG_LEVEL_DEBUG);
	bench->client_port = 712;
	open_pair(&client, &server);
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
	said[0] = '\0';
	open_pair(&client, &server);
	expect("] reconnected: reusing source port 731, where a Call is unanswered\n");
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

START_TEST(suppressed_lines_are_reported_by_kind)
{
	struct stub *client, *server;

	for (unsigned i = 0; i < SERVICE_LINES_BURST + 3; i++) {
		open_pair(&client, &server);
		stub_closing(client, LEG_CLOSE_PEER, "");
		both_gone(client, server);
	}
	said[0] = '\0';
	service_log_suppressed(&bench->service);
	ck_assert_str_eq(said, "<6>sim: 3 more opened in 1 s\n"
			       "<6>sim: 3 more closed by the client in 1 s\n");
}
END_TEST

/* ---- Calls that wait ---- */

static unsigned lines_with(const char *text)
{
	unsigned n = 0;

	for (const char *at = said; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static double oldest_s(void)
{
	struct bridge_info info;

	bridge_info_get(bench_bridge(bench), &info);
	ck_assert(info.has_call);
	return (loop_now_us(bench->loop) - info.oldest_call_us) / 1e6;
}

static bool is_shown_silent(void)
{
	struct service_condition found;

	service_condition_get(&bench->service, loop_now_us(bench->loop), &found);
	return found.condition == CONDITION_SILENT;
}

START_TEST(a_waiting_call_is_logged_once_and_when_it_ends)
{
	struct stub *client[2], *server[2];

	bench->config.max_connections = 2;
	open_pair(&client[0], &server[0]);
	bench_stub_call(bench, client[0], 2);
	bench_run(bench, 1000);
	open_pair(&client[1], &server[1]);
	bench_run(bench, 13000);
	expect_not("has waited");
	ck_assert_double_eq_tol(oldest_s(), 14, 0.1);
	ck_assert(!is_shown_silent());
	/* The next scan is at 15 s. */
	bench_run(bench, 1100);
	expect("<4>sim: a Call has waited 15 s for the server ");
	expect(" (3 Calls of 2 clients wait)\n");
	ck_assert(is_shown_silent());
	bench_run(bench, 17000);
	answer(server[0]);
	bench_run(bench, 13000);
	expect_not("answers again");
	stub_closing(client[0], LEG_CLOSE_PEER, "");
	both_gone(client[0], server[0]);
	ck_assert_uint_eq(lines_with("has waited"), 1);
	answer(server[1]);
	bench_run(bench, 5000);
	expect("<4>sim: the server answers again; the oldest Call had waited 45 s\n");
	ck_assert_uint_eq(lines_with("had waited"), 1);
	/* Another one is another matter. */
	bench_stub_call(bench, client[1], 3);
	bench_run(bench, 21000);
	ck_assert_uint_eq(lines_with("has waited"), 2);
	expect(" (1 Call of 1 client waits)\n");
	stub_closing(client[1], LEG_CLOSE_PEER, "");
	both_gone(client[1], server[1]);
	expect("<4>sim: no Call is waiting any more: their connections closed; the oldest "
	       "Call had waited 2");
}
END_TEST

/*
 * Such as one with a sequence number of RPCSEC_GSS that is too old: servers drop it without a word.
 */
START_TEST(a_call_that_is_never_answered_does_not_hide_an_outage)
{
	struct stub *client[4], *server[4];

	open_pair(&client[0], &server[0]);
	bench_run(bench, 40000);
	ck_assert_uint_eq(lines_with("has waited"), 1);
	for (unsigned i = 1; i < 4; i++)
		open_pair(&client[i], &server[i]);
	bench_run(bench, 13000);
	ck_assert_uint_eq(lines_with("has waited"), 1);
	bench_run(bench, 8000);
	ck_assert_uint_eq(lines_with("has waited"), 2);
	expect(" (4 Calls of 4 clients wait)\n");
	bench_run(bench, 60000);
	ck_assert_uint_eq(lines_with("has waited"), 2);
	for (unsigned i = 1; i < 4; i++)
		answer(server[i]);
	bench_run(bench, 6000);
	expect_not("answers again");
	/* The next outage is another one. */
	for (unsigned i = 1; i < 4; i++)
		bench_stub_call(bench, client[i], 100 + i);
	bench_run(bench, 21000);
	ck_assert_uint_eq(lines_with("has waited"), 3);
	for (unsigned i = 0; i < 4; i++) {
		stub_closing(client[i], LEG_CLOSE_PEER, "");
		both_gone(client[i], server[i]);
	}
}
END_TEST

START_TEST(a_call_that_is_answered_in_time_is_not_logged)
{
	struct stub *client, *server;
	struct bridge_info info;

	open_pair(&client, &server);
	bench_run(bench, 14000);
	answer(server);
	bridge_info_get(bench_bridge(bench), &info);
	ck_assert(!info.has_call);
	bench_run(bench, 10000);
	expect_not("waited");
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

START_TEST(a_call_that_still_comes_does_not_wait_for_the_server)
{
	struct stub *client, *server;

	open_pair(&client, &server);
	server->last_call->call.len_bytes++;
	bench_run(bench, 40000);
	server->last_call->call.len_bytes--;
	answer(server);
	expect_not("waited");
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

START_TEST(a_call_that_still_comes_hides_none_behind_it)
{
	struct stub *client, *server;
	struct exchange *first;

	open_pair(&client, &server);
	first = server->last_call;
	first->call.len_bytes++;
	bench_stub_call(bench, client, 2);
	bench_run(bench, 21000);
	expect(" (1 Call of 1 client waits)\n");
	first->call.len_bytes--;
	stub_closing(client, LEG_CLOSE_PEER, "");
	both_gone(client, server);
}
END_TEST

/* Each turn of the loop looks at some of them, and they may go in between. */
START_TEST(many_calls_are_looked_at_in_turns)
{
	struct stub *client, *server;

	open_pair(&client, &server);
	for (unsigned i = 1; i < 2 * LATE_CALL_SCAN_BATCH; i++)
		bench_stub_call(bench, client, 0x20000 + i);
	open_pair(&client, &server);
	bench_run(bench, 21000);
	expect(" (2001 Calls of 2 clients wait)\n");
	for (unsigned i = 0; i < 4; i += 2) {
		stub_closing(bench_stub(bench, i), LEG_CLOSE_PEER, "");
		both_gone(bench_stub(bench, i), bench_stub(bench, i + 1));
	}
	ck_assert_uint_eq(lines_with("any more"), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lines");
	TCase *tc = tcase_create("lines");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_open_line_has_the_port_that_the_server_sees);
	tcase_add_test(tc, a_close_line_has_the_client_and_the_totals);
	tcase_add_loop_test(tc, a_close_line_is_no_fault_where_there_is_none, 0, ARRAY_SIZE(ends));
	tcase_add_loop_test(tc, a_scan_is_debug_alone, 0, 3);
	tcase_add_test(tc, a_server_that_is_down_is_not_logged_for_each_connection);
	tcase_add_test(tc, a_failing_server_is_not_logged_for_each_connection);
	tcase_add_test(tc, while_no_server_answers_a_connection_is_open_with_its_first_reply);
	tcase_add_test(tc, debug_tells_how_a_connection_came_about_and_ended);
	tcase_add_test(tc, debug_tells_whence_a_client_is_known);
	tcase_add_test(tc, suppressed_lines_are_reported_by_kind);
	tcase_add_test(tc, a_waiting_call_is_logged_once_and_when_it_ends);
	tcase_add_test(tc, a_call_that_is_never_answered_does_not_hide_an_outage);
	tcase_add_test(tc, a_call_that_is_answered_in_time_is_not_logged);
	tcase_add_test(tc, a_call_that_still_comes_does_not_wait_for_the_server);
	tcase_add_test(tc, a_call_that_still_comes_hides_none_behind_it);
	tcase_add_test(tc, many_calls_are_looked_at_in_turns);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
