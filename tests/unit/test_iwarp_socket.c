// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the iwarp fabric over TCP on loopback: connections that succeed and fail, addresses,
 * listeners, limits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "base/tcp_keepalive.h"
#include "fabric/iwarp/iwarp_socket.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_ends.h"

/* A plain TCP peer that acts only on the test's request. */
static int raw_connect(void)
{
	int fd = socket(ends.address.ss_family, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&ends.address, sizeof(ends.address)), 0);
	return fd;
}

static int raw_listen(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(ends.address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&ends.address, &len), 0);
	return fd;
}

static void expect_rejected(const char *data)
{
	ck_assert_uint_eq(ends.client.rejected, 1);
	ck_assert_uint_eq(ends.client.private_data_bytes, strlen(data));
	ck_assert_int_eq(memcmp(ends.client.private_data, data, strlen(data)), 0);
}

START_TEST(a_rejected_client_is_refused)
{
	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends.server.reject = true;
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.client.established, 0);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_REFUSED);
	expect_rejected("refused");
	ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_LOCAL);
	ends_stop();
}
END_TEST

START_TEST(a_port_without_listener_is_refused)
{
	int fd;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	fd = raw_listen();
	close(fd);
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(ends.client.closed, 1);
	ends_stop();
}
END_TEST

START_TEST(a_peer_that_never_answers_is_closed)
{
	int fd;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	fabric_free(ends.fabric);
	ends.fabric = iwarp_fabric_new(ends.loop, ends.pool,
				       &(struct iwarp_config){.setup_timeout_us = 20000});
	fd = _i ? raw_connect() : raw_listen();
	if (!_i)
		ends_connect();
	event_loop_run(ends.loop);
	ck_assert_int_eq(_i ? ends.server.why : ends.client.why, FABRIC_CLOSE_TIMEOUT);
	close(fd);
	ends_stop();
}
END_TEST

START_TEST(garbage_ends_only_its_own_connection)
{
	static const char garbage[] = "GET / HTTP/1.1\r\n\r\n";
	int fd;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	fd = raw_connect();
	ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), (ssize_t)sizeof(garbage));
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_PROTOCOL);
	close(fd);
	ends_init(&ends.server);
	ends.server.reject = true;
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_REFUSED);
	ends_stop();
}
END_TEST

static bool no_memory;

static void *try_malloc(size_t bytes)
{
	return no_memory ? NULL : malloc(bytes);
}

/* A descriptor that the loop has not seen yet takes memory. */
START_TEST(a_socket_that_cannot_be_watched_ends_its_connection)
{
	event_set_mem_functions(try_malloc, realloc, free);
	no_memory = false;
	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends_connect();
	no_memory = true;
	event_loop_run(ends.loop);
	no_memory = false;
	ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_RESOURCES);
	ck_assert_uint_eq(ends.server.closed, 1);
	ck_assert_uint_eq(ends.client.established, 0);
	ck_assert_uint_eq(ends.client.closed, 1);
	ends_stop();
}
END_TEST

START_TEST(a_reset_is_a_lost_connection)
{
	struct linger linger = {.l_onoff = 1};
	int fd;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	fd = raw_connect();
	ck_assert_int_eq(write(fd, "MPA", 3), 3);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_LOST);
	ck_assert_int_eq(ends.server.ep->close_errno, ECONNRESET);
	ends_stop();
}
END_TEST

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void expect_tuned(int fd, unsigned idle_s, int interval_s, int end_ms)
{
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	ck_assert_int_eq(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_ge(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), (int)(idle_s + 1) / 2);
	ck_assert_int_le(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), (int)idle_s);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), interval_s);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), end_ms);
}

/*
 * A silent peer is probed, and its connection is closed after a time that depends on the silence;
 * so is one that reads nothing.
 */
START_TEST(a_silent_peer_is_probed_and_closed)
{
	static const struct {
		unsigned idle_s;
		int interval_s, end_ms;
	} rows[] = {{1, 1, 4000}, {3, 1, 6000}, {12, 1, 24000}, {30, 3, 60000}, {3600, 3, 3630000}};
	struct iwarp_config config = {.fpdu = IWARP_FPDU_MSS, .keepalive_s = rows[_i].idle_s};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	iwarp_socket_tune(fd, &config);
	expect_tuned(fd, rows[_i].idle_s, rows[_i].interval_s, rows[_i].end_ms);
	close(fd);
}
END_TEST

static void both_tuned(struct end *end)
{
	struct fabric_ep *eps[] = {ends.client.ep, ends.server.ep};

	for (size_t i = 0; i < ARRAY_SIZE(eps); i++)
		expect_tuned(container_of(eps[i], struct iwarp_ep, ep)->fd, 30, 3, 60000);
	ends.done++;
	fabric_ep_close(end->ep);
}

START_TEST(connecting_and_accepted_sockets_have_the_same_options)
{
	ends_start(true, IWARP_FPDU_MSS, "127.0.0.1", AF_INET);
	ends.client.step = both_tuned;
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.done, 1);
	ends_stop();
}
END_TEST

/* About as many at each, of descriptors in whatever stride. */
START_TEST(peers_are_asked_at_times_that_differ)
{
	unsigned asked[31] = {0};

	for (int i = 0; i < 10000; i++)
		asked[tcp_keepalive_idle_s(30, 20 + i * (_i + 1))]++;
	for (unsigned s = 0; s <= 30; s++) {
		ck_assert_uint_le(asked[s], s < 15 ? 0 : 10000 / 12);
		ck_assert_uint_ge(asked[s], s < 15 ? 0 : 10000 / 24);
	}
	ck_assert_uint_eq(tcp_keepalive_idle_s(1, _i), 1);
}
END_TEST

START_TEST(an_error_says_whether_the_peer_still_answers)
{
	static const struct {
		int err;
		enum fabric_close connecting, up;
	} rows[] = {
		{ECONNREFUSED, FABRIC_CLOSE_REFUSED, FABRIC_CLOSE_LOST},
		{ETIMEDOUT, FABRIC_CLOSE_TIMEOUT, FABRIC_CLOSE_SILENT},
		{EHOSTUNREACH, FABRIC_CLOSE_LOST, FABRIC_CLOSE_SILENT},
		{ENETUNREACH, FABRIC_CLOSE_LOST, FABRIC_CLOSE_SILENT},
		{ECONNRESET, FABRIC_CLOSE_LOST, FABRIC_CLOSE_LOST},
		{EPIPE, FABRIC_CLOSE_LOST, FABRIC_CLOSE_LOST},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_int_eq(iwarp_socket_close_reason(true, rows[i].err), rows[i].connecting);
		ck_assert_int_eq(iwarp_socket_close_reason(false, rows[i].err), rows[i].up);
	}
}
END_TEST

START_TEST(closing_while_connecting_closes)
{
	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends_connect();
	fabric_ep_close(ends.client.ep);
	fabric_ep_close(ends.client.ep);
	ck_assert_uint_eq(ends.client.closed, 0);
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_LOCAL);
	ck_assert_uint_eq(ends.client.closed, 1);
	ends_stop();
}
END_TEST

START_TEST(an_address_of_no_family_is_an_error)
{
	struct sockaddr_storage addr = {.ss_family = AF_UNIX};
	struct fabric_listener *none;
	struct fabric_ep *ep;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&addr, &ends.client.params,
					&ends_events, &ends.client, &ep),
			 -EAFNOSUPPORT);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, ends.loop,
				       (struct sockaddr *)&addr, 1, ends_on_incoming, NULL, &none),
			 -EAFNOSUPPORT);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, ends.loop,
				       (struct sockaddr *)&ends.address, 1, ends_on_incoming, NULL,
				       &none),
			 -EADDRINUSE);
	ends_stop();
}
END_TEST

static void unpause(void *arg)
{
	ck_assert_uint_eq(ends.server.requested, 0);
	fabric_listener_pause(ends.listener, false);
}

START_TEST(a_paused_listener_accepts_no_connection_until_it_resumes)
{
	struct loop_timer *timer;

	ends_start(true, IWARP_FPDU_64K, "::1", AF_INET6);
	timer = loop_timer_new(ends.loop, unpause, NULL);
	fabric_listener_pause(ends.listener, true);
	ends.server.reject = true;
	ends_connect();
	loop_timer_set(ends.loop, timer, 10000);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.server.requested, 1);
	loop_timer_free(ends.loop, timer);
	ends_stop();
}
END_TEST

/* As many descriptors as are open now, or @limit of them; returns what the limit was. */
static rlim_t descriptors_limit(rlim_t limit)
{
	struct rlimit rlimit;
	rlim_t old;

	getrlimit(RLIMIT_NOFILE, &rlimit);
	old = rlimit.rlim_cur;
	if (!limit) {
		int next = dup(0);

		ck_assert_int_ge(next, 0);
		close(next);
		limit = (rlim_t)next;
	}
	rlimit.rlim_cur = limit;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rlimit), 0);
	return old;
}

static rlim_t descriptors;

static void more_descriptors(void *arg)
{
	ck_assert_uint_eq(ends.server.requested, 0);
	descriptors_limit(descriptors);
}

START_TEST(running_out_of_descriptors_only_delays_accepting)
{
	struct loop_timer *timer;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends.server.reject = true;
	timer = loop_timer_new(ends.loop, more_descriptors, NULL);
	loop_timer_set(ends.loop, timer, 10000);
	ends_connect();
	descriptors = descriptors_limit(0);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.server.requested, 1);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_REFUSED);
	loop_timer_free(ends.loop, timer);
	ends_stop();
}
END_TEST

static void on_incoming_drop(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(in->peer.ss_family, AF_INET);
	ck_assert_int_eq(in->local.ss_family, AF_INET);
	fabric_incoming_drop(in);
	ends.server.closed = 1;
}

START_TEST(an_unwanted_connection_is_closed)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	fabric_listener_free(ends.listener);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, ends.loop,
				       (struct sockaddr *)&addr, 1, on_incoming_drop, NULL,
				       &ends.listener),
			 0);
	fabric_listener_addr(ends.listener, &ends.address);
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.client.established, 0);
	ck_assert_uint_eq(ends.client.closed, 1);
	ends_stop();
}
END_TEST

static struct fabric_incoming *held;
static struct loop_timer *hold_timer;

static void let_go(void *arg)
{
	fabric_incoming_reject(held, "not you", 7);
	ends.server.closed = 1;
}

static void on_incoming_hold(void *arg, struct fabric_incoming *in)
{
	held = in;
	loop_timer_set(ends.loop, hold_timer, 50000);
}

/* Its request is here by the time that it is turned away. */
START_TEST(an_unwanted_connection_gets_the_reason)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	hold_timer = loop_timer_new(ends.loop, let_go, NULL);
	fabric_listener_free(ends.listener);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, ends.loop,
				       (struct sockaddr *)&addr, 1, on_incoming_hold, NULL,
				       &ends.listener),
			 0);
	fabric_listener_addr(ends.listener, &ends.address);
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_REFUSED);
	expect_rejected("not you");
	loop_timer_free(ends.loop, hold_timer);
	ends_stop();
}
END_TEST

/*
 * The received bytes are no request, or none that can be answered: the connection is closed without
 * an answer.
 */
START_TEST(a_peer_without_a_request_gets_no_answer)
{
	static const char *const bytes[] = {"", "GET / HTTP/1.1\r\n\r\n",
					    "MPA ID Req Frame\x10\x02", "MPA ID Req Frame\0\0\0\0",
					    "MPA ID Req Frame\0\3\0\0"};
	static const size_t lens[] = {0, 18, 18, 20, 20};
	int fds[2];
	char byte;
	struct iwarp_incoming *incoming = calloc(1, sizeof(*incoming));

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(write(fds[0], bytes[_i], lens[_i]), (ssize_t)lens[_i]);
	incoming->fd = fds[1];
	incoming->in.ops = &iwarp_fabric_ops;
	fabric_incoming_reject(&incoming->in, "not you", 7);
	ck_assert_int_eq(read(fds[0], &byte, 1), 0);
	close(fds[0]);
}
END_TEST

START_TEST(addresses_and_depths_are_reported)
{
	struct fabric_ep_info info;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends_connect();
	fabric_ep_info(ends.client.ep, &info);
	ck_assert_str_eq(info.fabric, "iwarp");
	ck_assert(info.per_rpc_keys);
	ck_assert_uint_eq(info.max_sge, FABRIC_MAX_SGE);
	ck_assert_int_eq(((struct sockaddr_in *)&info.peer)->sin_port,
			 ((struct sockaddr_in *)&ends.address)->sin_port);
	fabric_ep_close(ends.client.ep);
	event_loop_run(ends.loop);
	ends_stop();
}
END_TEST

/* What the acceptor sees of where the client came from. */
static struct sockaddr_storage seen;

static void on_requested_seen(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct fabric_ep_info info;

	fabric_ep_info(ends.server.ep, &info);
	seen = info.peer;
	fabric_ep_reject(ends.server.ep, NULL, 0);
}

static struct sockaddr_in loopback(uint8_t last, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last),
				    .sin_port = htons(port)};
}

static void connect_from(struct sockaddr_in from)
{
	ends_init(&ends.client);
	ends_init(&ends.server);
	memcpy(&ends.client.params.source, &from, sizeof(from));
	memset(&seen, 0, sizeof(seen));
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.server.closed, 1);
}

START_TEST(a_connection_comes_from_the_address_and_port_asked_for)
{
	static struct fabric_ep_events seen_events;
	const struct sockaddr_in *got = (const struct sockaddr_in *)&seen;
	uint16_t port;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	seen_events = ends_events;
	seen_events.requested = on_requested_seen;
	ends.incoming_events = &seen_events;
	connect_from(loopback(7, 0));
	ck_assert_uint_eq(got->sin_addr.s_addr, loopback(7, 0).sin_addr.s_addr);
	ck_assert_uint_ne(got->sin_port, 0);
	/* The port that was free a moment ago, from another address. */
	port = ntohs(got->sin_port);
	connect_from(loopback(8, port));
	ck_assert_uint_eq(got->sin_addr.s_addr, loopback(8, 0).sin_addr.s_addr);
	ck_assert_uint_eq(got->sin_port, htons(port));
	/* An address of any interface, with a port. */
	connect_from((struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)});
	ck_assert_uint_eq(got->sin_port, htons(port));
	ends_stop();
}
END_TEST

static uint16_t from_port; /* that the client had when it was up */

static void abort_it(struct end *end)
{
	struct fabric_ep_info info;

	fabric_ep_info(end->ep, &info);
	from_port = ntohs(((struct sockaddr_in *)&info.local)->sin_port);
	fabric_ep_abort(end->ep);
	/* It is over already. */
	ck_assert_int_eq(fabric_ep_keepalive(end->ep), -ENOTCONN);
	fabric_ep_abort(end->ep);
	fabric_ep_close(end->ep);
}

/* The port is free before closed() even, again and again. */
START_TEST(a_port_is_free_at_once_after_an_abort)
{
	struct sockaddr_in *source = (struct sockaddr_in *)&ends.client.params.source;
	struct fabric_ep_info info;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	for (unsigned i = 0; i < 20; i++) {
		uint16_t before = from_port;

		ends_init(&ends.client);
		ends_init(&ends.server);
		ends.client.step = abort_it;
		source->sin_family = AF_INET;
		source->sin_port = htons(before);
		ends_connect();
		event_loop_run(ends.loop);
		ck_assert_uint_eq(ends.client.closed, 1);
		ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_LOCAL);
		ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_LOST);
		if (i)
			ck_assert_uint_eq(from_port, before);
		/* What it was is known until it is freed. */
		fabric_ep_info(ends.client.ep, &info);
		ck_assert_uint_eq(ntohs(((struct sockaddr_in *)&info.local)->sin_port), from_port);
	}
	ends_stop();
}
END_TEST

START_TEST(an_abort_while_connecting_closes)
{
	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	ends_connect();
	fabric_ep_abort(ends.client.ep);
	ck_assert_uint_eq(ends.client.closed, 0);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.client.closed, 1);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_LOCAL);
	ends_stop();
}
END_TEST

START_TEST(a_source_that_cannot_be_had_is_an_error_at_once)
{
	struct sockaddr_in foreign = loopback(1, 0);
	struct fabric_ep *ep;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	foreign.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, of no host */
	memcpy(&ends.client.params.source, &foreign, sizeof(foreign));
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &ends_events, &ends.client, &ep),
			 -EADDRNOTAVAIL);
	ends.client.params.source.ss_family = AF_INET6;
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &ends_events, &ends.client, &ep),
			 -EAFNOSUPPORT);
	/* What listens there has it. */
	memcpy(&ends.client.params.source, &ends.address, sizeof(ends.address));
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &ends_events, &ends.client, &ep),
			 -EADDRINUSE);
	ends_stop();
}
END_TEST

START_TEST(a_foreign_address_can_be_bound_with_the_capability)
{
	const struct sockaddr_in server = loopback(1, 2049);
	struct fabric_ep_params params = {.source_transparent = true};
	struct sockaddr_in *source = (struct sockaddr_in *)&params.source, own = {0};
	socklen_t len = sizeof(own);
	int fd;

	*source = (struct sockaddr_in){.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(0xc0000201), /* 192.0.2.1 */
				       .sin_port = htons(40777)};
	fd = iwarp_socket_connect((const struct sockaddr *)&server, &params);
	if (ip_transparent_is_permitted()) {
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &len), 0);
		ck_assert(sockaddr_equal((struct sockaddr *)&own, (struct sockaddr *)source));
		close(fd);
	} else {
		ck_assert_int_eq(fd, -EPERM);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_socket");
	TCase *tc = tcase_create("loopback");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_rejected_client_is_refused);
	tcase_add_test(tc, a_port_without_listener_is_refused);
	tcase_add_loop_test(tc, a_peer_that_never_answers_is_closed, 0, 2);
	tcase_add_test(tc, garbage_ends_only_its_own_connection);
	tcase_add_test(tc, a_socket_that_cannot_be_watched_ends_its_connection);
	tcase_add_test(tc, a_reset_is_a_lost_connection);
	tcase_add_loop_test(tc, a_silent_peer_is_probed_and_closed, 0, 5);
	tcase_add_loop_test(tc, peers_are_asked_at_times_that_differ, 0, 8);
	tcase_add_test(tc, connecting_and_accepted_sockets_have_the_same_options);
	tcase_add_test(tc, an_error_says_whether_the_peer_still_answers);
	tcase_add_test(tc, closing_while_connecting_closes);
	tcase_add_test(tc, an_address_of_no_family_is_an_error);
	tcase_add_test(tc, a_paused_listener_accepts_no_connection_until_it_resumes);
	tcase_add_test(tc, running_out_of_descriptors_only_delays_accepting);
	tcase_add_test(tc, an_unwanted_connection_is_closed);
	tcase_add_test(tc, an_unwanted_connection_gets_the_reason);
	tcase_add_loop_test(tc, a_peer_without_a_request_gets_no_answer, 0, 5);
	tcase_add_test(tc, addresses_and_depths_are_reported);
	tcase_add_test(tc, a_connection_comes_from_the_address_and_port_asked_for);
	tcase_add_test(tc, a_port_is_free_at_once_after_an_abort);
	tcase_add_test(tc, an_abort_while_connecting_closes);
	tcase_add_test(tc, a_source_that_cannot_be_had_is_an_error_at_once);
	tcase_add_test(tc, a_foreign_address_can_be_bound_with_the_capability);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
