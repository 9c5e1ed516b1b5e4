// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests bridges whose client begins TLS: the limits of handshakes, when the server is sought, and
 * what the log and `status` have about it.
 */
#include "daemon/bridge/bridge_tls.h"

#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"
#include "tests/sim/rig.h"

#define STALL_S 60u

static struct bench *bench;
static const struct tls_peer known = {
	.name = "client.example", .verified = true, .cipher = "TLS_AES_128_GCM_SHA256"};
static const struct tls_peer unknown = {.name = "", .cipher = "TLS_AES_128_GCM_SHA256"};
static const struct tls_peer filer = {
	.name = "filer.example", .verified = true, .cipher = "TLS_AES_256_GCM_SHA384"};

static void setup(void)
{
	bench = bench_new(NULL);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->config.max_connections = 4;
	bench->stub_server = true;
}

static void teardown(void)
{
	bench_end(bench);
	bench = NULL;
}

static void expect_half_open(unsigned half_open)
{
	struct conn_limits_counts counts;

	conn_limits_counts_get(&bench->service.limits, &counts);
	ck_assert_uint_eq(counts.half_open, half_open);
}

/* A client whose first byte has arrived. */
static struct stub *arrive(void)
{
	struct stub *client = bench_incoming(bench);

	client->config.events->requested(client->config.arg);
	bench_run(bench, 1);
	ck_assert(client->accepted);
	return client;
}

static const char *probe(struct stub *client)
{
	return client->config.events->securing(client->config.arg);
}

static void complete(struct stub *client, const struct tls_peer *peer)
{
	client->tls = peer;
	client->config.events->secured(client->config.arg);
}

static struct client_event refusals(enum leg_close why)
{
	return client_events_get(&bench->service.events, why);
}

static void end(struct stub *client, enum leg_close why, const char *detail)
{
	stub_fail(client, why, detail);
	bench_run(bench, 1);
}

/* ---- handshakes ---- */

START_TEST(an_address_has_sixteen_handshakes_at_a_time)
{
	struct stub *clients[TLS_LIMITS_PER_CLIENT], *more;
	const char *limit;

	for (unsigned i = 0; i < TLS_LIMITS_PER_CLIENT; i++) {
		clients[i] = arrive();
		ck_assert_ptr_null(probe(clients[i]));
	}
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, TLS_LIMITS_PER_CLIENT);
	expect_half_open(TLS_LIMITS_PER_CLIENT);
	more = arrive();
	limit = probe(more);
	ck_assert_str_eq(limit, "at most 16 at a time from one address");
	end(more, LEG_CLOSE_TLS_LIMIT, limit);
	ck_assert_uint_eq(bench->ws.closes[CLOSE_BY_CLIENT][LEG_CLOSE_TLS_LIMIT], 1);
	ck_assert_uint_eq(refusals(LEG_CLOSE_TLS_LIMIT).count, 1);
	ck_assert_str_eq(refusals(LEG_CLOSE_TLS_LIMIT).detail, limit);
	/* A completed handshake, and one whose client has gone, count no more. */
	complete(clients[0], &known);
	more = arrive();
	ck_assert_ptr_null(probe(more));
	end(clients[1], LEG_CLOSE_LOST, "");
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, TLS_LIMITS_PER_CLIENT - 1);
	end(more, LEG_CLOSE_PEER, "");
	for (unsigned i = 0; i < TLS_LIMITS_PER_CLIENT; i++)
		if (i != 1)
			end(clients[i], LEG_CLOSE_PEER, "");
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, 0);
	expect_half_open(0);
}
END_TEST

/* Otherwise a client with many addresses could keep all others out by silent connections. */
START_TEST(silent_handshakes_give_way_to_new_ones)
{
	struct stub *clients[TLS_LIMITS_PER_WORKER], *more;

	bench->config.max_connections = 2 * TLS_LIMITS_PER_WORKER;
	for (unsigned i = 0; i < TLS_LIMITS_PER_WORKER; i++) {
		bench->client_addr = 1 + i / TLS_LIMITS_PER_CLIENT;
		clients[i] = arrive();
		ck_assert_ptr_null(probe(clients[i]));
	}
	bench->client_addr = 100;
	more = arrive();
	ck_assert_str_eq(probe(more), "at most 256 at a time on one worker thread");
	end(more, LEG_CLOSE_TLS_LIMIT, "");
	ck_assert_uint_eq(clients[0]->close_calls, 0);
	bench_run(bench, TLS_LIMITS_GRACE_US / 1000);
	more = arrive();
	ck_assert_ptr_null(probe(more));
	bench_run(bench, 1);
	ck_assert_uint_eq(clients[0]->close_calls, 1);
	ck_assert_uint_eq(clients[1]->close_calls, 0);
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, TLS_LIMITS_PER_WORKER);
	ck_assert_uint_eq(refusals(LEG_CLOSE_TLS_LIMIT).count, 2);
	end(clients[0], LEG_CLOSE_TLS_LIMIT, "");
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, TLS_LIMITS_PER_WORKER);
	end(more, LEG_CLOSE_PEER, "");
	for (unsigned i = 1; i < TLS_LIMITS_PER_WORKER; i++)
		end(clients[i], LEG_CLOSE_PEER, "");
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, 0);
}
END_TEST

START_TEST(the_server_is_sought_after_handshake_and_first_call)
{
	struct stub *client = arrive();
	unsigned stubs = bench->nstubs;

	ck_assert_ptr_null(probe(client));
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->nstubs, stubs);
	complete(client, &known);
	bench_run(bench, 1000);
	ck_assert_uint_eq(bench->nstubs, stubs);
	expect_half_open(1);
	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, stubs + 1);
	expect_half_open(0);
	stub_fail(bench_stub(bench, stubs), LEG_CLOSE_PEER, "");
	bench_run(bench, 1000);
	end(client, LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(the_time_for_the_first_call_begins_again_after_the_handshake)
{
	struct stub *client = arrive();

	ck_assert_ptr_null(probe(client));
	bench_run(bench, 9000);
	complete(client, &known);
	bench_run(bench, STALL_S * 1000 - 1);
	ck_assert_uint_eq(client->close_calls, 0);
	bench_run(bench, 1);
	ck_assert_uint_eq(client->close_calls, 1);
	end(client, LEG_CLOSE_NO_CALL, "");
}
END_TEST

/* It would come back at once, with another handshake: the answer to its probe is no Reply. */
START_TEST(a_client_whose_server_refuses_is_held_for_a_moment)
{
	struct stub *client = arrive(), *server;

	client->bytes_sent = client->tls_answer_bytes = 36;
	ck_assert_ptr_null(probe(client));
	complete(client, &known);
	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	stub_fail(server, LEG_CLOSE_REFUSED, "");
	bench_run(bench, CONN_LIMITS_TARPIT_US / 1000 - 10);
	ck_assert_uint_eq(client->close_calls, 0);
	bench_run(bench, 10);
	ck_assert_uint_eq(client->close_calls, 1);
	end(client, LEG_CLOSE_REFUSED, "");
}
END_TEST

/* Calls in clear came first, as `tls = "allowed"` permits: the connection is not idle. */
START_TEST(a_handshake_on_an_open_connection_sets_no_time_limit)
{
	struct stub *client = arrive(), *server;

	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	ck_assert_ptr_null(probe(client));
	complete(client, &known);
	bench_run(bench, 2 * STALL_S * 1000);
	ck_assert_uint_eq(client->close_calls, 0);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
	/* A refusal is only one before the first Call. */
	ck_assert_uint_eq(refusals(LEG_CLOSE_TLS).count, 0);
}
END_TEST

START_TEST(a_failed_handshake_is_a_refusal_with_its_reason)
{
	struct stub *client = arrive();

	ck_assert_ptr_null(probe(client));
	end(client, LEG_CLOSE_TLS, "the client sent no certificate");
	ck_assert_uint_eq(refusals(LEG_CLOSE_TLS).count, 1);
	ck_assert_str_eq(refusals(LEG_CLOSE_TLS).detail, "the client sent no certificate");
	ck_assert_uint_eq(bench->ws.tls_handshakes.count, 0);
}
END_TEST

/* Such as a bad record. */
START_TEST(tls_that_fails_on_an_open_connection_is_no_refusal)
{
	struct stub *client = arrive(), *server;

	ck_assert_ptr_null(probe(client));
	complete(client, &known);
	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	stub_fail(client, LEG_CLOSE_TLS, "bad record");
	stub_fail(server, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(refusals(LEG_CLOSE_TLS).count, 0);
	ck_assert_uint_eq(bench->ws.closes[CLOSE_BY_CLIENT][LEG_CLOSE_TLS], 1);
}
END_TEST

/* ---- the log ---- */

static char open_line[512], warning[512];

static bool keep_lines(void *arg, const char *line, size_t len)
{
	if (strstr(line, "open to "))
		snprintf(open_line, sizeof(open_line), "%.*s", (int)len, line);
	if (!strncmp(line, "<4>", 3))
		snprintf(warning, sizeof(warning), "%.*s", (int)len, line);
	return true;
}

static uint64_t any_time(clockid_t clock)
{
	return 0;
}

START_TEST(the_line_about_an_open_connection_names_the_verified_client)
{
	static const struct log_output output = {.write = keep_lines, .now_us = any_time};
	struct stub *client = arrive(), *server;

	complete(client, &known);
	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	server->tls = &filer;
	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
	server->config.events->opened(server->config.arg);
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	ck_assert_ptr_nonnull(strstr(open_line, ", TLS from client.example, TLS to filer.example"));
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
}
END_TEST

/* Such as a record that cannot be decrypted; a client's is no warning. */
START_TEST(tls_that_fails_with_a_server_in_use_is_a_warning)
{
	static const struct log_output output = {
		.write = keep_lines, .form = LOG_FORM_LEVEL, .now_us = any_time};
	struct stub *client = arrive(), *server;
	struct exchange *x;

	bench_stub_call(bench, client, 1);
	bench_run(bench, 1);
	server = bench_stub(bench, bench->nstubs - 1);
	server->config.events->opened(server->config.arg);
	x = server->last_call;
	ck_assert_ptr_nonnull(x);
	server->last_call = NULL;
	server->config.events->reply(server->config.arg, x);
	warning[0] = '\0';
	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
	if (_i)
		stub_fail(client, LEG_CLOSE_TLS, "a bad record");
	stub_fail(server, _i ? LEG_CLOSE_PEER : LEG_CLOSE_TLS, "a bad record");
	log_set_output(NULL);
	log_set_level(LOG_LEVEL_ERROR);
	if (_i)
		ck_assert_str_eq(warning, "");
	else
		ck_assert_ptr_nonnull(
			strstr(warning, "closed: TLS with the server failed: a bad record"));
	bench_run(bench, 1000);
	if (!_i)
		end(client, LEG_CLOSE_TLS, "");
}
END_TEST

START_TEST(the_text_names_only_the_sides_with_tls)
{
	static const struct {
		const struct tls_peer *client, *server;
		const char *text;
	} rows[] = {
		{NULL, NULL, ""},
		{&known, NULL, ", TLS from client.example"},
		{&unknown, NULL, ", TLS from the client"},
		{NULL, &filer, ", TLS to filer.example"},
		{&unknown, &filer, ", TLS from the client, TLS to filer.example"},
	};
	struct leg_info client = {.tls = rows[_i].client}, server = {.tls = rows[_i].server};
	char text[BRIDGE_TLS_TEXT_BYTES];

	ck_assert_str_eq(bridge_tls_text(&client, &server, text), rows[_i].text);
}
END_TEST

START_TEST(a_name_that_no_authority_vouches_for_is_marked)
{
	struct tls_peer claimed = known;
	struct leg_info client = {.tls = &claimed}, server = {.tls = &filer};
	char text[BRIDGE_TLS_TEXT_BYTES];

	claimed.verified = false;
	bridge_tls_text(&client, &server, text);
	ck_assert_str_eq(text, ", TLS from client.example (not verified), TLS to filer.example");
	memset(claimed.name, 'n', sizeof(claimed.name) - 1);
	server.tls = &claimed;
	bridge_tls_text(&client, &server, text);
	ck_assert_uint_eq(strlen(text),
			  2 * (127 + strlen(" (not verified)")) + strlen(", TLS from , TLS to "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bridge_tls");
	TCase *tc = tcase_create("bridge_tls");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_address_has_sixteen_handshakes_at_a_time);
	tcase_add_test(tc, silent_handshakes_give_way_to_new_ones);
	tcase_add_test(tc, the_server_is_sought_after_handshake_and_first_call);
	tcase_add_test(tc, the_time_for_the_first_call_begins_again_after_the_handshake);
	tcase_add_test(tc, a_client_whose_server_refuses_is_held_for_a_moment);
	tcase_add_test(tc, a_handshake_on_an_open_connection_sets_no_time_limit);
	tcase_add_test(tc, a_failed_handshake_is_a_refusal_with_its_reason);
	tcase_add_test(tc, tls_that_fails_on_an_open_connection_is_no_refusal);
	tcase_add_test(tc, the_line_about_an_open_connection_names_the_verified_client);
	tcase_add_loop_test(tc, tls_that_fails_with_a_server_in_use_is_a_warning, 0, 2);
	tcase_add_loop_test(tc, the_text_names_only_the_sides_with_tls, 0, 5);
	tcase_add_test(tc, a_name_that_no_authority_vouches_for_is_marked);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
