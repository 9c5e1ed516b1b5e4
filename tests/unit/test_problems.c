// SPDX-License-Identifier: BSD-3-Clause
/* Tests which problems are found, in what order, with which cause and cure, and how often they are logged. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/proxy/problems.h"
#include "daemon/upstream/leg_factory.h"
#include "tests/lib/test.h"

#define S(n) ((uint64_t)((n)*1e6))
#define NOW  S(5000)
#define MANY 1000u

static char file[] = "/etc/p.conf", name[] = "files", host[] = "a", other[] = "b", port[] = "2049";
static struct config config;
static struct config_uri more_servers[1];
static struct service_config service;
static struct proxy proxy;
static struct proxy_service ps;
static struct problem_list problems;
static char said[64 * 1024];
static bool is_full;
/* A listener without addresses is all zero. */
static max_align_t no_addresses[64];

static bool collect_line(void *arg, const char *line, size_t len)
{
	if (is_full)
		return false;
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	return true;
}

static uint64_t no_time(clockid_t clock)
{
	return 0;
}

/* A service with @nservers servers, and a MOUNT server. It looks as if it listened. */
static void start(size_t nservers)
{
	more_servers[0] = (struct config_uri){TRANSPORT_TCP, other, port};
	service = (struct service_config){
		.name = name,
		.connect = {TRANSPORT_TCP, host, port},
		.more_servers = more_servers,
		.nmore_servers = nservers - 1,
		.max_connections = 5,
		.mount = {.way = MOUNT_AT, .at = {TRANSPORT_TCP, host, port}},
	};
	ck_assert_int_eq(service_init(&ps.service, &service), 0);
	ps.listener = (struct listener *)no_addresses;
	ps.proxy = &proxy;
	TAILQ_INSERT_TAIL(&proxy.services, &ps, entry);
	proxy.nservices = 1;
}

static void setup(void)
{
	const struct log_output output = {
		.write = collect_line, .form = LOG_FORM_LEVEL, .now_us = no_time};

	said[0] = '\0';
	is_full = false;
	log_set_level(LOG_LEVEL_WARNING);
	log_set_output(&output);
	config = (struct config){.file = file};
	ps = (struct proxy_service){0};
	proxy = (struct proxy){.config = &config, .loop = event_loop_new(), .max_connections = 77};
	ck_assert_ptr_nonnull(proxy.loop);
	TAILQ_INIT(&proxy.services);
	TAILQ_INIT(&proxy.removed);
}

static void teardown(void)
{
	problems_fini(&problems);
	if (proxy.nservices)
		service_fini(&ps.service);
	event_loop_free(proxy.loop);
	log_set_output(NULL);
}

static void find(uint64_t now_us)
{
	problems_fini(&problems);
	problems_collect(&proxy, now_us, &problems);
	problems_sort(&problems);
	ck_assert(!problems.nomem);
}

/* The only problem. */
static const struct problem *only(enum problem_id id, enum problem_severity severity,
				  const char *text, const char *cure)
{
	const struct problem *problem = problems.list;

	ck_assert_uint_eq(problems.count, 1);
	ck_assert_str_eq(problem_name(problem->id), problem_name(id));
	ck_assert_int_eq(problem->severity, severity);
	ck_assert_str_eq(problem->text, text);
	ck_assert_str_eq(problem->cure, cure);
	return problem;
}

/* A client, by the last byte of its address. */
static struct sockaddr_storage client(unsigned who)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	*in = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_port = htons(801),
				   .sin_addr.s_addr = htonl(0x0a000000 + who)};
	return addr;
}

static void event(unsigned kind, unsigned who, uint64_t now_us)
{
	const struct sockaddr_storage addr = client(who);

	client_events_add(&ps.service.events, kind, (const struct sockaddr *)&addr, "", now_us);
}

static void server_fails(struct servers *servers, unsigned i, uint64_t now_us)
{
	const struct sockaddr_storage addr = client(200 + i);

	ck_assert(server_health_failed(&servers->list[i].health, (const struct sockaddr *)&addr,
				       LEG_CLOSE_REFUSED, "Connection refused", now_us));
	said[0] = '\0';
}

static void server_replies(unsigned i, uint64_t now_us)
{
	const struct sockaddr_storage addr = client(200 + i);

	server_health_first_reply(&ps.service.servers.list[i].health,
				  (const struct sockaddr *)&addr, now_us);
}

static void give_order(unsigned i, enum server_order order)
{
	server_order_set(&ps.service.servers, &ps.service.servers.list[i], order);
}

START_TEST(a_good_daemon_has_none)
{
	start(1);
	find(NOW);
	ck_assert_uint_eq(problems.count, 0);
	server_replies(0, NOW);
	find(NOW + S(3600));
	ck_assert_uint_eq(problems.count, 0);
}
END_TEST

START_TEST(a_daemon_without_services_says_which_file_lacks_them)
{
	find(NOW);
	only(PROBLEM_NO_SERVICES, PROBLEM_WARNING,
	     "no services in /etc/p.conf: no client can connect",
	     "activate an example of /etc/p.conf or write a service there, then "
	     "'rpcrdma-proxyctl reload'");
	config.include_dir = name;
	find(NOW);
	ck_assert_str_eq(problems.list[0].text,
			 "no services in /etc/p.conf and files: no client can connect");
	problems_log(&proxy, NOW + S(20));
	problems_log(&proxy, NOW + S(20));
	ck_assert_str_eq(said, "<4>no services in /etc/p.conf and files: no client can connect: "
			       "activate an example of /etc/p.conf or write a service there, then "
			       "'rpcrdma-proxyctl reload'\n");
}
END_TEST

START_TEST(a_rejected_reload_keeps_its_first_error)
{
	start(1);
	proxy.reload_failed = true;
	proxy.reload_failure =
		(struct reload_failure){.us = NOW, .errors = 1, .first = "/etc/p.conf:3: wrong"};
	find(NOW + S(35));
	only(PROBLEM_RELOAD_REJECTED, PROBLEM_WARNING,
	     "reload rejected 35 s ago, the daemon uses the previous file: /etc/p.conf:3: wrong",
	     "a restart would load that file: correct what the error names ('rpcrdma-proxy -t -c "
	     "/etc/p.conf' checks the file), then 'rpcrdma-proxyctl reload'");
	ck_assert_uint_eq(problems.list[0].age_us, S(35));
	proxy.reload_failure.errors = 3;
	find(NOW);
	ck_assert_ptr_nonnull(strstr(problems.list[0].text, ": wrong (and 2 more errors)"));
	proxy.reload_failed = false;
	find(NOW);
	ck_assert_uint_eq(problems.count, 0);
}
END_TEST

START_TEST(the_only_server_is_disabled)
{
	start(1);
	server_replies(0, NOW);
	give_order(0, _i ? SERVER_ORDER_DRAIN : SERVER_ORDER_DOWN);
	find(NOW);
	only(PROBLEM_SERVER_DISABLED, PROBLEM_CRITICAL,
	     _i ? "its only server tcp://a:2049 is disabled by 'target drain': each new client is "
		  "refused"
		: "its only server tcp://a:2049 is disabled by 'target down': each new client is "
		  "refused",
	     "'rpcrdma-proxyctl target files tcp://a:2049 up'");
	problems_log(&proxy, NOW + S(20));
	ck_assert_ptr_nonnull(strstr(said, "<4>files: its only server tcp://a:2049 is disabled"));
	said[0] = '\0';
	problems_log(&proxy, NOW + S(20));
	ck_assert_str_eq(said, "");
	give_order(0, SERVER_ORDER_UP);
	problems_log(&proxy, NOW + S(20));
	give_order(0, SERVER_ORDER_DOWN);
	problems_log(&proxy, NOW + S(20));
	ck_assert_ptr_nonnull(strstr(said, "is disabled"));
}
END_TEST

START_TEST(one_of_several_servers_is_disabled_or_down)
{
	start(2);
	server_replies(1, NOW);
	give_order(0, SERVER_ORDER_DRAIN);
	find(NOW);
	only(PROBLEM_ONE_SERVER_DISABLED, PROBLEM_WARNING,
	     "server tcp://a:2049 is disabled by 'target drain'",
	     "'rpcrdma-proxyctl target files tcp://a:2049 up'");
	ck_assert_str_eq(problems.list[0].server, "tcp://a:2049");
	give_order(0, SERVER_ORDER_UP);
	server_fails(&ps.service.servers, 0, NOW);
	find(NOW + S(35));
	only(PROBLEM_ONE_SERVER_DOWN, PROBLEM_WARNING,
	     "server tcp://a:2049 is down for 35 s: Connection refused",
	     "'rpcrdma-proxyctl check files' shows which step fails");
	ck_assert(problems.list[0].has_age);
	/* It is the only one in use: the other one would serve clients. Clients of both wait. */
	give_order(1, SERVER_ORDER_DOWN);
	server_health_wait_start(&ps.service.servers.list[0].health);
	server_health_wait_start(&ps.service.servers.list[1].health);
	find(NOW + S(35));
	ck_assert_uint_eq(problems.count, 2);
	ck_assert_str_eq(
		problems.list[0].text,
		"none of 2 servers is usable: server 10.0.0.200:801 is down for 35 s: Connection "
		"refused; attempts: 1, waiting clients: 2");
	ck_assert_int_eq(problems.list[1].id, PROBLEM_ONE_SERVER_DISABLED);
	ck_assert_str_eq(problems.list[1].cure, "'rpcrdma-proxyctl target files tcp://b:2049 up'");
	give_order(0, SERVER_ORDER_DOWN);
	find(NOW);
	only(PROBLEM_SERVER_DISABLED, PROBLEM_CRITICAL,
	     "all 2 servers are disabled by 'target': each new client is refused",
	     "'rpcrdma-proxyctl target files tcp://a:2049 up'");
}
END_TEST

START_TEST(the_only_server_is_down)
{
	start(1);
	server_fails(&ps.service.servers, 0, NOW);
	find(NOW + S(35));
	only(PROBLEM_SERVER_DOWN, PROBLEM_CRITICAL,
	     "server 10.0.0.200:801 is down for 35 s: Connection refused; attempts: 1, waiting "
	     "clients: 0",
	     "'rpcrdma-proxyctl check files' shows which step fails");
	ck_assert_uint_eq(problems.list[0].age_us, S(35));
	/* Its own module logs that. */
	problems_log(&proxy, NOW + S(20));
	ck_assert_str_eq(said, "");
}
END_TEST

/* The Calls of one worker. */
static void calls_wait(struct late_worker *side, unsigned calls, uint64_t start_us)
{
	const struct late_scan found = {.calls = calls,
					.clients = calls ? 1 : 0,
					.oldest_start_us = start_us,
					.target = &ps.service.servers.list[0]};

	late_calls_report(&ps.service.late, side, &found);
}

START_TEST(a_server_is_silent_or_lets_some_calls_wait)
{
	struct late_worker sides[2] = {0};
	struct server_health *health;

	start(1);
	health = &ps.service.servers.list[0].health;
	server_replies(0, NOW - S(35));
	/* Shorter waits are counted, for the log, and are no problem yet. */
	calls_wait(&sides[0], 1, NOW - S(14.9));
	find(NOW);
	ck_assert_uint_eq(problems.count, 0);
	calls_wait(&sides[0], 1, NOW - S(34));
	find(NOW);
	only(PROBLEM_SERVER_SILENT, PROBLEM_CRITICAL,
	     "server tcp://a:2049 has not answered for 34 s: 1 Call of 1 client waits",
	     "look at the server: its load, its disks, its log; 'rpcrdma-proxyctl check files' "
	     "shows whether it answers a new connection");
	ck_assert_uint_eq(problems.list[0].age_us, S(34));
	/* The oldest of all workers counts. */
	calls_wait(&sides[1], 2, NOW - S(60));
	find(NOW);
	ck_assert_str_eq(
		problems.list[0].text,
		"server tcp://a:2049 has not answered for 60 s: 3 Calls of 2 clients wait");
	/* It answers others. */
	server_health_replied(health);
	find(NOW);
	only(PROBLEM_CALLS_LATE, PROBLEM_WARNING,
	     "3 Calls of 2 clients wait, up to 60 s, for server tcp://a:2049, which answers others",
	     "'rpcrdma-proxyctl connections' shows client and operation; look at the server's log");
	server_health_tick(health, NOW);
	find(NOW + S(14.9));
	ck_assert_int_eq(problems.list[0].id, PROBLEM_CALLS_LATE);
	find(NOW + S(15));
	ck_assert_int_eq(problems.list[0].id, PROBLEM_SERVER_SILENT);
	calls_wait(&sides[1], 0, 0);
	find(NOW + S(15));
	ck_assert_ptr_nonnull(strstr(problems.list[0].text, "for 49 s: 1 Call of"));
	calls_wait(&sides[0], 0, 0);
	find(NOW + S(15));
	ck_assert_uint_eq(problems.count, 0);
}
END_TEST

START_TEST(a_server_of_mount_is_down)
{
	start(1);
	server_fails(&ps.service.mount_servers, 0, NOW);
	find(NOW + S(35));
	only(PROBLEM_MOUNT_DOWN, PROBLEM_WARNING,
	     "MOUNT by tcp://a:2049 is down for 35 s, NFSv3 clients cannot mount: Connection refused",
	     "'rpcrdma-proxyctl check files --mount' shows which step fails");
}
END_TEST

START_TEST(clients_without_a_free_connection_are_counted)
{
	start(1);
	event(LEG_CLOSE_TOO_MANY, 6, NOW);
	find(NOW);
	ck_assert_str_eq(problems.list[0].text,
			 "1 client refused: max_connections reached; the last was 10.0.0.6:801, "
			 "0.0 s ago");
	problems_log(&proxy, NOW + S(20));
	ck_assert_ptr_nonnull(strstr(said, "<4>files: 1 client refused: max_connections reached;"));
	said[0] = '\0';
	event(LEG_CLOSE_TOO_MANY, 7, NOW + S(10));
	problems_log(&proxy, NOW + S(20));
	ck_assert_str_eq(said, "");
	find(NOW + S(45));
	only(PROBLEM_MAX_CONNECTIONS_REACHED, PROBLEM_WARNING,
	     "2 clients refused: max_connections reached; the last was 10.0.0.7:801, 35 s ago",
	     "raise max_connections of files in /etc/p.conf, then 'rpcrdma-proxyctl reload'; "
	     "'rpcrdma-proxyctl connections' lists their clients");
	ck_assert_uint_eq(problems.list[0].count, 2);
	ck_assert_uint_eq(problems.list[0].last_us, S(35));
	ck_assert_int_eq(problems.list[0].why, LEG_CLOSE_TOO_MANY);
}
END_TEST

static const struct {
	enum config_limit limit;
	const char *text, *cure; /* parts */
} limits[] = {
	{CONFIG_LIMIT_PORTS, "max_connections reached: 5, by the source ports below 1024",
	 "add an address to source_address of files in /etc/p.conf"},
	{CONFIG_LIMIT_DESCRIPTORS, "max_connections reached: 5, by the limit of descriptors",
	 "raise LimitNOFILE="},
	{CONFIG_LIMIT_MEMORY, "max_connections reached: 5, by the memory of this host",
	 "set max_connections of files in /etc/p.conf"},
};

/* The file has no number that could be raised. */
START_TEST(the_cure_of_an_automatic_limit_is_that_of_its_cause)
{
	start(1);
	service.auto_connections = true;
	service.limit = limits[_i].limit;
	event(LEG_CLOSE_TOO_MANY, 6, NOW);
	find(NOW);
	ck_assert_uint_eq(problems.count, 1);
	ck_assert_int_eq(problems.list[0].id, PROBLEM_MAX_CONNECTIONS_REACHED);
	ck_assert_ptr_nonnull(strstr(problems.list[0].text, limits[_i].text));
	ck_assert_ptr_nonnull(strstr(problems.list[0].cure, limits[_i].cure));
	ck_assert_ptr_nonnull(strstr(problems.list[0].cure, "'rpcrdma-proxyctl connections'"));
	ck_assert_ptr_null(strchr(problems.list[0].cure, '{'));
}
END_TEST

START_TEST(an_old_event_is_a_notice)
{
	start(1);
	event(LEG_CLOSE_TOO_MANY, 6, NOW);
	find(NOW + PROBLEM_RECENT_US - 1);
	ck_assert_int_eq(problems.list[0].severity, PROBLEM_WARNING);
	find(NOW + PROBLEM_RECENT_US);
	ck_assert_int_eq(problems.list[0].severity, PROBLEM_NOTICE);
}
END_TEST

START_TEST(reused_xids_name_their_client)
{
	start(1);
	event(CLIENT_EVENT_XID_REUSED, 9, NOW);
	find(NOW + S(35));
	only(PROBLEM_XID_REUSED, PROBLEM_WARNING,
	     "1 connection closed: XID in flight used for another Call; the last was 10.0.0.9:801, "
	     "35 s ago",
	     "the NFS client there is faulty: update it; 'rpcrdma-proxyctl --client 10.0.0.9 "
	     "capture FILE' shows its Calls");
	ck_assert_int_eq(problems.list[0].why, LEG_CLOSE_COUNT);
	problems_log(&proxy, NOW + S(20));
	ck_assert_ptr_nonnull(strstr(said, "<4>files: 1 connection closed: XID in flight"));
}
END_TEST

static const struct {
	enum leg_close why;
	enum problem_id id;
	const char *cure; /* a part of it */
} refusals[] = {
	{LEG_CLOSE_PER_CLIENT, PROBLEM_CLIENT_LIMIT_REACHED,
	 "raise max_connections_per_client of files in /etc/p.conf"},
	{LEG_CLOSE_RESOURCES, PROBLEM_RESOURCES_SHORT, "LimitNOFILE="},
	{LEG_CLOSE_NO_SOURCE_PORT, PROBLEM_SOURCE_PORTS_SHORT,
	 "add an address to source_address of files in /etc/p.conf"},
	{LEG_CLOSE_NO_SOURCE_ADDRESS, PROBLEM_SOURCE_ADDRESS_MISSING,
	 "'rpcrdma-proxy -t -c /etc/p.conf' prints the routes"},
	{LEG_CLOSE_OWN_UPSTREAM, PROBLEM_LEADS_BACK, "connect or mount of files in /etc/p.conf"},
	{LEG_CLOSE_NOT_ALLOWED, PROBLEM_CLIENTS_REFUSED, "add its address to allow of files in"},
	{LEG_CLOSE_UNPRIVILEGED, PROBLEM_CLIENTS_REFUSED, "require_privileged_port = false"},
	{LEG_CLOSE_PROXY_HEADER, PROBLEM_CLIENTS_REFUSED, "accept_proxy_from of files in"},
	{LEG_CLOSE_DRAINED, PROBLEM_CLIENTS_REFUSED, "'rpcrdma-proxyctl resume files'"},
	{LEG_CLOSE_TLS, PROBLEM_CLIENTS_REFUSED, "with the keys tls_ of files in /etc/p.conf"},
	{LEG_CLOSE_TLS_LIMIT, PROBLEM_CLIENTS_REFUSED, "clients try again by themselves"},
	{LEG_CLOSE_NOT_RPC, PROBLEM_CLIENTS_REFUSED, "the log has the client and the cause"},
};

START_TEST(refused_clients_have_a_cure_for_each_reason)
{
	const struct problem *problem;

	start(1);
	event(refusals[_i].why, 6, NOW);
	find(NOW);
	ck_assert_uint_eq(problems.count, 1);
	problem = &problems.list[0];
	ck_assert_int_eq(problem->id, refusals[_i].id);
	ck_assert_ptr_nonnull(strstr(problem->text, leg_close_text(refusals[_i].why)));
	ck_assert_ptr_nonnull(strstr(problem->cure, refusals[_i].cure));
	ck_assert_ptr_null(strchr(problem->cure, '{'));
	ck_assert_int_eq(problem->severity, refusals[_i].id == PROBLEM_CLIENTS_REFUSED
						    ? PROBLEM_NOTICE
						    : PROBLEM_WARNING);
}
END_TEST

START_TEST(a_client_without_an_accepted_certificate_is_named_with_the_reason)
{
	const struct sockaddr_storage addr = client(6);

	start(1);
	client_events_add(&ps.service.events, LEG_CLOSE_TLS, (const struct sockaddr *)&addr,
			  "the client has no certificate", NOW);
	find(NOW + S(5));
	ck_assert_uint_eq(problems.count, 1);
	ck_assert_str_eq(problems.list[0].text,
			 "1 client refused: TLS failed; the last was 10.0.0.6:801, 5.0 s ago: the "
			 "client has no certificate");
}
END_TEST

#define DAY_S 86400
#define NOW_S (20000 * (int64_t)DAY_S) /* 2024-10-04 */

static void find_certificate(int64_t left_s)
{
	problems_fini(&problems);
	problems_add_certificate(&problems, &ps, NOW_S + left_s, NOW_S);
}

START_TEST(a_certificate_near_its_end_is_a_warning_and_then_critical)
{
	static const char cure[] =
		"write a new certificate to tls_cert_file of files and its key to tls_key_file, "
		"then 'rpcrdma-proxyctl reload'; see /etc/p.conf";

	start(1);
	problems_add_certificate(&problems, &ps, 0, NOW_S);
	find_certificate(14 * DAY_S + 1);
	ck_assert_uint_eq(problems.count, 0);
	find_certificate(14 * DAY_S);
	only(PROBLEM_CERTIFICATE_EXPIRES, PROBLEM_WARNING,
	     "its TLS certificate expires in 14 d 0 h, on 2024-10-18 00:00 UTC", cure);
	ck_assert(!problems.list[0].has_age);
	find_certificate(1);
	ck_assert_int_eq(problems.list[0].id, PROBLEM_CERTIFICATE_EXPIRES);
	find_certificate(-3 * DAY_S);
	only(PROBLEM_CERTIFICATE_EXPIRED, PROBLEM_CRITICAL,
	     "its TLS certificate expired 3 d 0 h ago, on 2024-10-01 00:00 UTC: peers refuse it",
	     cure);
	ck_assert(problems.list[0].has_age);
	ck_assert_uint_eq(problems.list[0].age_us, 3 * S(DAY_S));
	find_certificate(0);
	ck_assert_int_eq(problems.list[0].id, PROBLEM_CERTIFICATE_EXPIRED);
}
END_TEST

START_TEST(a_drained_service_and_one_that_lost_its_listener)
{
	start(1);
	ps.listener = NULL;
	find(NOW);
	only(PROBLEM_NOT_LISTENING, PROBLEM_CRITICAL,
	     "not listening: after a failed reload its address could not be opened again",
	     "free the address of listen, or change it in /etc/p.conf, then 'rpcrdma-proxyctl "
	     "reload'");
	atomic_store(&ps.service.draining, true);
	find(NOW);
	only(PROBLEM_SERVICE_DRAINED, PROBLEM_CRITICAL,
	     "drained: new clients are refused until 'resume'", "'rpcrdma-proxyctl resume files'");
}
END_TEST

START_TEST(connections_from_unprivileged_ports_are_a_problem_with_tcp_servers)
{
	char text[PROBLEM_TEXT_BYTES];

	start(1);
	atomic_store(&ps.service.shortfall_quiet_until_us, NOW + S(600));
	find(NOW);
	snprintf(text, sizeof(text), "connections to the server come from unprivileged ports: %s",
		 leg_factory_shortfall_text());
	only(PROBLEM_SOURCE_PORTS_UNPRIVILEGED, PROBLEM_WARNING, text,
	     "add an address to source_address of files in /etc/p.conf, or export with "
	     "\"insecure\" and set source_port = \"any\" there, then 'rpcrdma-proxyctl reload'; "
	     "if CAP_NET_BIND_SERVICE is missing, start the daemon by its unit");
	/* Its own module logs that. */
	problems_log(&proxy, NOW);
	ck_assert_str_eq(said, "");
	find(NOW + S(600));
	ck_assert_uint_eq(problems.count, 0);
	service.connect.transport = TRANSPORT_RDMA;
	find(NOW);
	ck_assert_uint_eq(problems.count, 0);
}
END_TEST

START_TEST(descriptors_memory_and_removed_services)
{
	struct proxy_service removed = {0};

	start(1);
	ps.out_of_descriptors = true;
	find(NOW);
	only(PROBLEM_DESCRIPTORS_SHORT, PROBLEM_WARNING,
	     "new clients wait: the limit of descriptors allows 77 connections of all services",
	     "raise LimitNOFILE= of the unit (ulimit -n in a shell) and restart");
	ps.out_of_descriptors = false;
	find(NOW);
	problems_add_memory(&problems, &ps, 0, 0);
	problems_add_memory(&problems, &ps, 5, PROBLEM_MEMORY_US - 1);
	ck_assert_uint_eq(problems.count, 0);
	problems_add_memory(&problems, &ps, 5, S(35));
	only(PROBLEM_MEMORY_SHORT, PROBLEM_WARNING,
	     "RPCs waiting for memory: 5, the oldest for 35 s",
	     "raise memory_limit_mib in /etc/p.conf and restart");
	TAILQ_INSERT_TAIL(&proxy.removed, &removed, entry);
	find(NOW);
	only(PROBLEM_SERVICES_LEAVING, PROBLEM_NOTICE, "removed services still draining: 1",
	     "'rpcrdma-proxyctl connections' shows their connections, 'disconnect ID' closes one");
	proxy.stopping = true;
	find(NOW);
	only(PROBLEM_STOPPING, PROBLEM_CRITICAL,
	     "the daemon is stopping and drains its connections",
	     "'rpcrdma-proxyctl stop --now' ends it without waiting");
}
END_TEST

/* Log lines are lost, and then no more. */
START_TEST(lost_log_lines_are_a_warning_and_then_a_notice)
{
	start(1);
	is_full = true;
	log_error(NULL, "this is lost");
	is_full = false;
	find(NOW);
	ck_assert_uint_eq(problems.count, 1);
	ck_assert_int_eq(problems.list[0].id, PROBLEM_LOG_DROPPED);
	ck_assert_int_eq(problems.list[0].severity, PROBLEM_WARNING);
	ck_assert_ptr_nonnull(strstr(problems.list[0].text, "stderr or the journal is too slow"));
	find(NOW + PROBLEM_RECENT_US);
	ck_assert_int_eq(problems.list[0].severity, PROBLEM_NOTICE);
}
END_TEST

START_TEST(the_worst_is_first)
{
	start(1);
	event(LEG_CLOSE_NOT_ALLOWED, 6, NOW);
	event(LEG_CLOSE_TOO_MANY, 6, NOW);
	proxy.reload_failed = true;
	server_fails(&ps.service.servers, 0, NOW);
	find(NOW);
	ck_assert_uint_eq(problems.count, 4);
	ck_assert_int_eq(problems.list[0].id, PROBLEM_SERVER_DOWN);
	ck_assert_int_eq(problems.list[1].id, PROBLEM_RELOAD_REJECTED);
	ck_assert_int_eq(problems.list[2].id, PROBLEM_MAX_CONNECTIONS_REACHED);
	ck_assert_int_eq(problems.list[3].id, PROBLEM_CLIENTS_REFUSED);
}
END_TEST

/* Each service adds a critical problem before those of all services before it: the time limit of the test. */
START_TEST(a_thousand_services_with_all_kinds_of_problems_take_no_time)
{
	struct proxy_service *many = calloc(MANY, sizeof(*many));
	uint64_t kinds = CLIENT_EVENT_COUNT;
	struct sockaddr_storage addr = client(6);

	ck_assert_ptr_nonnull(many);
	log_set_level(LOG_LEVEL_ERROR);
	start(1);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_int_eq(service_init(&many[i].service, &service), 0);
		many[i].listener = (struct listener *)no_addresses;
		many[i].proxy = &proxy;
		TAILQ_INSERT_TAIL(&proxy.services, &many[i], entry);
		server_fails(&many[i].service.servers, 0, NOW);
		for (unsigned kind = 0; kind < CLIENT_EVENT_COUNT; kind++)
			client_events_add(&many[i].service.events, kind, (struct sockaddr *)&addr,
					  "", NOW);
	}
	find(NOW);
	problems_log(&proxy, NOW);
	ck_assert_uint_eq(problems.count, MANY * (1 + kinds));
	ck_assert_int_eq(problems.list[MANY - 1].id, PROBLEM_SERVER_DOWN);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_ptr_eq(problems.list[i].ps, &many[i]);
		TAILQ_REMOVE(&proxy.services, &many[i], entry);
		service_fini(&many[i].service);
	}
	free(many);
}
END_TEST

START_TEST(ids_are_words_and_cures_fit)
{
	for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
		const char *id = problem_name(i);

		ck_assert_uint_eq(strspn(id, "abcdefghijklmnopqrstuvwxyz_"), strlen(id));
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(id, problem_name(k));
	}
	/* Names of the file fill the rest of the cure, and it still ends. */
	config.file = malloc(2 * PROBLEM_CURE_BYTES);
	memset(config.file, 'x', 2 * PROBLEM_CURE_BYTES - 1);
	config.file[2 * PROBLEM_CURE_BYTES - 1] = '\0';
	find(NOW);
	ck_assert_uint_eq(strlen(problems.list[0].cure), PROBLEM_CURE_BYTES - 1);
	free(config.file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("problems");
	TCase *tc = tcase_create("problems");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_good_daemon_has_none);
	tcase_add_test(tc, a_daemon_without_services_says_which_file_lacks_them);
	tcase_add_test(tc, a_rejected_reload_keeps_its_first_error);
	tcase_add_loop_test(tc, the_only_server_is_disabled, 0, 2);
	tcase_add_test(tc, one_of_several_servers_is_disabled_or_down);
	tcase_add_test(tc, the_only_server_is_down);
	tcase_add_test(tc, a_server_is_silent_or_lets_some_calls_wait);
	tcase_add_test(tc, a_server_of_mount_is_down);
	tcase_add_test(tc, clients_without_a_free_connection_are_counted);
	tcase_add_loop_test(tc, the_cure_of_an_automatic_limit_is_that_of_its_cause, 0,
			    ARRAY_SIZE(limits));
	tcase_add_test(tc, an_old_event_is_a_notice);
	tcase_add_test(tc, reused_xids_name_their_client);
	tcase_add_loop_test(tc, refused_clients_have_a_cure_for_each_reason, 0,
			    ARRAY_SIZE(refusals));
	tcase_add_test(tc, a_client_without_an_accepted_certificate_is_named_with_the_reason);
	tcase_add_test(tc, a_certificate_near_its_end_is_a_warning_and_then_critical);
	tcase_add_test(tc, a_drained_service_and_one_that_lost_its_listener);
	tcase_add_test(tc, connections_from_unprivileged_ports_are_a_problem_with_tcp_servers);
	tcase_add_test(tc, descriptors_memory_and_removed_services);
	tcase_add_test(tc, lost_log_lines_are_a_warning_and_then_a_notice);
	tcase_add_test(tc, the_worst_is_first);
	tcase_add_test(tc, a_thousand_services_with_all_kinds_of_problems_take_no_time);
	tcase_add_test(tc, ids_are_words_and_cures_fit);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
