// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the source addresses of connections to servers: the service's in turn, or the client's own
 * where possible.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "daemon/upstream/source_addr.h"
#include "daemon/upstream/upstream_connect.h"
#include "tests/lib/namespace.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"

#define LIMIT_US 4000000u

static struct bench *bench;
static struct upstream upstream;
static struct log_ctx log_ctx;
static struct sockaddr_storage sources[4];
static unsigned failed;
static enum leg_close why;
static char detail[LEG_DETAIL_BYTES];

static void ignore(struct upstream *up)
{
}

static void on_opened(struct upstream *up, struct leg *leg)
{
}

static void on_failed(struct upstream *up, enum leg_close reason, const char *text)
{
	failed++;
	why = reason;
	snprintf(detail, sizeof(detail), "%s", text);
}

static void on_leg_closing(struct upstream *up, enum leg_close reason, const char *text)
{
}

static const struct leg_events leg_events = {UPSTREAM_LEG_EVENTS};

static const struct upstream_events events = {
	.connecting = ignore,
	.opened = on_opened,
	.failed = on_failed,
	.closing = on_leg_closing,
	.closed = ignore,
	.leg = &leg_events,
};

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage addr = {0};
	bool is_v6 = strchr(text, ':');
	void *host = is_v6 ? (void *)&((struct sockaddr_in6 *)&addr)->sin6_addr
			   : (void *)&((struct sockaddr_in *)&addr)->sin_addr;

	addr.ss_family = is_v6 ? AF_INET6 : AF_INET;
	ck_assert_int_eq(inet_pton(addr.ss_family, text, host), 1);
	sockaddr_set_port((struct sockaddr *)&addr, port);
	return addr;
}

static void setup(void)
{
	bench = bench_new(NULL);
	bench->stub_server = true;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->config.listen.transport = TRANSPORT_TCP;
	bench->naddrs = 1;
	failed = 0;
}

static void teardown(void)
{
	bench_end(bench);
}

/* A client, whose pin that is, is on its way to the server. */
static void begin(const char *client, const struct source_affinity *affinity)
{
	const struct sockaddr_storage peer = address(client, 40777);
	const struct leg_config config = {0};

	ck_assert_int_eq(upstream_init(&upstream, &bench->ws.net, &bench->ws.servers, &config,
				       &log_ctx, &events),
			 0);
	upstream_set_client(&upstream, &peer, &peer,
			    config_keeps_client_ports(bench->ws.service->config));
	upstream_set_source(&upstream, affinity);
	upstream_start(&upstream, LIMIT_US);
	bench_run(bench, 0);
}

static const struct connect_attempt *last_attempt(void)
{
	return &bench_stub(bench, bench->nstubs - 1)->attempt;
}

static void end(void)
{
	struct stub *stub;

	upstream_close(&upstream, LEG_CLOSE_SHUTDOWN);
	if (!upstream_is_closed(&upstream)) {
		stub = bench_stub(bench, bench->nstubs - 1);
		if (!stub->closing)
			stub_closing(stub, LEG_CLOSE_SHUTDOWN, "");
		stub_over(stub);
	}
	upstream_fini(&upstream);
}

/* ---- of this host ---- */

static void have_sources(const char *const *texts)
{
	for (; texts[bench->config.nsources]; bench->config.nsources++)
		sources[bench->config.nsources] = address(texts[bench->config.nsources], 0);
	bench->config.sources = sources;
}

START_TEST(source_addresses_of_the_servers_family_are_used_in_turn)
{
	static const char *const texts[] = {"127.0.0.2", "::1", "127.0.0.3", NULL};
	unsigned turns[3] = {0};

	have_sources(texts);
	for (unsigned i = 0; i < 10; i++) {
		begin("10.0.0.100", &(struct source_affinity){0});
		ck_assert_ptr_eq(last_attempt()->sources.list, sources);
		ck_assert_uint_eq(last_attempt()->sources.count, 3);
		ck_assert(!last_attempt()->sources.transparent);
		ck_assert(!last_attempt()->source_only);
		turns[last_attempt()->sources.first]++;
		end();
	}
	ck_assert_uint_eq(turns[0], 5);
	ck_assert_uint_eq(turns[1], 0);
	ck_assert_uint_eq(turns[2], 5);
}
END_TEST

START_TEST(a_client_that_is_back_has_its_address_again)
{
	static const char *const texts[] = {"127.0.0.2", "127.0.0.3", "127.0.0.4", NULL};

	have_sources(texts);
	for (unsigned i = 0; i < 5; i++) {
		begin("10.0.0.100", &(struct source_affinity){.port = 700, .source = 1});
		ck_assert_uint_eq(last_attempt()->sources.first, 1);
		ck_assert_uint_eq(last_attempt()->source_port, 700);
		end();
	}
}
END_TEST

START_TEST(the_affinity_has_the_local_address_of_the_connection)
{
	static const char *const texts[] = {"127.0.0.2", "127.0.0.3", "::ffff:127.0.0.4", NULL};
	struct sockaddr_storage local = address("127.0.0.4", 801);

	have_sources(texts);
	ck_assert_uint_eq(source_addr_find(&bench->config, (struct sockaddr *)&local), 2);
	begin("10.0.0.100", &(struct source_affinity){.port = 700, .source = 1});
	bench_stub(bench, 0)->local = local;
	bench_stub(bench, 0)->config.events->opened(bench_stub(bench, 0)->config.arg);
	ck_assert_uint_eq(upstream.from.affinity.port, 801);
	ck_assert_uint_eq(upstream.from.affinity.source, 2);
	end();
}
END_TEST

START_TEST(a_server_of_another_family_cannot_be_come_to)
{
	static const char *const texts[] = {"::1", NULL};

	have_sources(texts);
	begin("10.0.0.100", &(struct source_affinity){0});
	ck_assert_uint_eq(bench->nstubs, 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_int_eq(why, LEG_CLOSE_NO_SOURCE_ADDRESS);
	ck_assert_str_eq(detail, "none of the server's family, IPv4 or IPv6");
	ck_assert(!upstream.failure_logged);
	end();
}
END_TEST

/* ---- the client's ---- */

/* The network of the test has the loopback alone, whose addresses lead here. */
START_TEST(a_tcp_client_is_seen_as_it_is)
{
	struct sockaddr_storage want = address("127.0.0.9", 40777);

	bench->config.source = SOURCE_CLIENT;
	bench->addrs[0] = address(_i == 1 ? "::ffff:127.0.0.1" : "127.0.0.1", 2049);
	/* A pin would be of no use. */
	begin(_i == 2 ? "::ffff:127.0.0.9" : "127.0.0.9",
	      &(struct source_affinity){.port = 700, .due = true});
	if (ip_transparent_is_permitted()) {
		ck_assert_uint_eq(bench->nstubs, 1);
		ck_assert_int_eq(last_attempt()->addr.ss_family, AF_INET);
		ck_assert_uint_eq(last_attempt()->sources.count, 1);
		ck_assert_mem_eq(last_attempt()->sources.list, &want, sizeof(want));
		ck_assert(last_attempt()->sources.transparent);
		ck_assert_uint_eq(last_attempt()->source_port, 40777);
		ck_assert(last_attempt()->source_only);
	} else {
		ck_assert_int_eq(why, LEG_CLOSE_NO_SOURCE_ADDRESS);
	}
	end();
}
END_TEST

START_TEST(its_port_is_not_forgotten)
{
	if (!ip_transparent_is_permitted())
		return;
	bench->config.source = SOURCE_CLIENT;
	bench->naddrs = 2;
	bench->addrs[0] = address("127.0.0.1", 2049);
	bench->addrs[1] = address("127.0.0.2", 2049);
	begin("127.0.0.9", &(struct source_affinity){0});
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_TIMEOUT, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, 2);
	ck_assert_uint_eq(last_attempt()->source_port, 40777);
	ck_assert(last_attempt()->source_only);
	end();
}
END_TEST

START_TEST(an_rdma_client_has_the_port_of_its_pin)
{
	if (!ip_transparent_is_permitted())
		return;
	bench->config.source = SOURCE_CLIENT;
	bench->config.listen.transport = TRANSPORT_IWARP;
	bench->addrs[0] = address("127.0.0.1", 2049);
	begin("127.0.0.9", &(struct source_affinity){.port = 700});
	ck_assert(last_attempt()->sources.transparent);
	ck_assert_uint_eq(last_attempt()->source_port, 700);
	ck_assert(!last_attempt()->source_only);
	end();
}
END_TEST

static const struct {
	const char *client, *server, *detail;
} refused[] = {
	{"127.0.0.9", "::1", "none of the server's family, IPv4 or IPv6"},
	{"::ffff:127.0.0.9", "::1", "none of the server's family, IPv4 or IPv6"},
	{"::1", "127.0.0.1", "none of the server's family, IPv4 or IPv6"},
	{"fe80::1", "::1", "the client's address is link-local"},
	{"10.0.0.100", "127.0.0.1",
	 "no return route from the server to the client through this host: add the routes that "
	 "rpcrdma-proxy -t prints"},
	{"127.0.0.9", "10.0.0.1",
	 "the client's address is a loopback address, which no other host can answer"},
};

/* The server is not blamed, and the proxy's own address never serves instead. */
START_TEST(a_client_whose_address_cannot_be_used_is_refused)
{
	if (!ip_transparent_is_permitted() || !namespace_is_own())
		return;
	/* As if the server were on a network of this host. */
	ck_assert_int_eq(
		system("ip link add there type dummy 2>/dev/null || "
		       "ip link add there type veth peer name beyond; "
		       "ip link set there up && ip address replace 10.0.0.200/24 dev there"),
		0);
	bench->config.source = SOURCE_CLIENT;
	bench->addrs[0] = address(refused[_i].server, 2049);
	begin(refused[_i].client, &(struct source_affinity){0});
	ck_assert_uint_eq(bench->nstubs, 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_int_eq(why, LEG_CLOSE_NO_SOURCE_ADDRESS);
	ck_assert_str_eq(detail, refused[_i].detail);
	ck_assert(!upstream.failure_logged);
	ck_assert(!server_health_is_down(&bench->service.servers.list[0].health));
	end();
	ck_assert_int_eq(system("ip link del there"), 0);
}
END_TEST

START_TEST(an_address_of_the_other_family_is_not_the_reason)
{
	if (!ip_transparent_is_permitted() || !namespace_is_own())
		return;
	bench->config.source = SOURCE_CLIENT;
	bench->naddrs = 3;
	bench->addrs[0] = bench->addrs[2] = address("::1", 2049);
	bench->addrs[1] = address("127.0.0.1", 2049);
	begin("10.0.0.100", &(struct source_affinity){0});
	ck_assert_int_eq(why, LEG_CLOSE_NO_SOURCE_ADDRESS);
	ck_assert(!strncmp(detail, "no return route", 15));
	end();
}
END_TEST

/* Of several addresses those of its family are tried. */
START_TEST(addresses_of_another_family_are_passed_over)
{
	if (!ip_transparent_is_permitted())
		return;
	bench->config.source = SOURCE_CLIENT;
	bench->naddrs = 3;
	bench->addrs[0] = address("::1", 2049);
	bench->addrs[1] = address("127.0.0.1", 2049);
	bench->addrs[2] = address("::1", 2049);
	begin("127.0.0.9", &(struct source_affinity){0});
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_int_eq(last_attempt()->addr.ss_family, AF_INET);
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "");
	bench_run(bench, 1);
	ck_assert_uint_eq(bench->nstubs, 1);
	ck_assert_int_eq(why, LEG_CLOSE_REFUSED);
	end();
}
END_TEST

/* Which of two servers says more of why there is no connection. */
START_TEST(a_server_for_the_other_family_is_not_the_reason)
{
	if (!ip_transparent_is_permitted())
		return;
	bench->config.source = SOURCE_CLIENT;
	bench_add_server(bench);
	bench->addrs[0] = address(_i ? "::1" : "127.0.0.1", 2049);
	begin(_i ? "::1" : "127.0.0.9", &(struct source_affinity){0});
	ck_assert_uint_eq(bench->nstubs, 1);
	stub_fail(bench_stub(bench, 0), LEG_CLOSE_REFUSED, "no");
	bench_run(bench, 1);
	/* The second one has an IPv4 address, to which there is no way from here. */
	if (_i) {
		ck_assert_int_eq(why, LEG_CLOSE_REFUSED);
		ck_assert_str_eq(detail, "no");
	} else {
		stub_fail(bench_stub(bench, bench->nstubs - 1), LEG_CLOSE_TIMEOUT, "late");
		bench_run(bench, 1);
		ck_assert_int_eq(why, LEG_CLOSE_TIMEOUT);
	}
	ck_assert_uint_eq(failed, 1);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("upstream_sources");
	TCase *tc = tcase_create("upstream_sources");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, source_addresses_of_the_servers_family_are_used_in_turn);
	tcase_add_test(tc, a_client_that_is_back_has_its_address_again);
	tcase_add_test(tc, the_affinity_has_the_local_address_of_the_connection);
	tcase_add_test(tc, a_server_of_another_family_cannot_be_come_to);
	tcase_add_loop_test(tc, a_tcp_client_is_seen_as_it_is, 0, 3);
	tcase_add_test(tc, its_port_is_not_forgotten);
	tcase_add_test(tc, an_rdma_client_has_the_port_of_its_pin);
	tcase_add_loop_test(tc, a_client_whose_address_cannot_be_used_is_refused, 0,
			    ARRAY_SIZE(refused));
	tcase_add_test(tc, an_address_of_the_other_family_is_not_the_reason);
	tcase_add_test(tc, addresses_of_another_family_are_passed_over);
	tcase_add_loop_test(tc, a_server_for_the_other_family_is_not_the_reason, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
