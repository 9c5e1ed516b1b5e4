// SPDX-License-Identifier: BSD-3-Clause
/* Tests streams on sockets: their source address, and their socket options. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/stream_fixture.h"

static struct stream_target where;
static int listener;
static struct end
	users[RESERVED_PORTS_COUNT]; /* of the reserved ports, where a test needs them all */

static void setup(void)
{
	stream_setup();
	where = (struct stream_target){.source_port = SOURCE_PORT_ANY};
	listener = socket_listen(16, &where.addr);
}

static void teardown(void)
{
	close(listener);
	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++)
		if (users[i].stream)
			end_close(&users[i], true);
	stream_teardown();
}

static void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

/* ends[0], when its outcome is known. */
static void connect_stream(void)
{
	struct stream *stream;

	ck_assert_int_eq(stream_connect(&sockets.net, &where, &stream), 0);
	end_bind(&ends[0], stream);
	ck_assert_uint_eq(ends[0].connected, 0);
	await_outcome(&ends[0]);
}

/* The other end; returns the port that the stream came from. */
static uint16_t accept_stream(struct sockaddr_storage *from)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	struct stream *stream;
	int fd = accept4(listener, (struct sockaddr *)&addr, &len, SOCK_NONBLOCK);

	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tcp_stream_adopt(&sockets, fd, &stream), 0);
	end_bind(&ends[1], stream);
	if (from)
		*from = addr;
	return port_of(&addr);
}

/* A port that is free now. */
static uint16_t free_port(void)
{
	struct sockaddr_storage addr;

	close(socket_listen(1, &addr));
	return port_of(&addr);
}

START_TEST(the_preferred_port_is_used)
{
	where.preferred_port = free_port();
	connect_stream();
	ck_assert_uint_eq(accept_stream(NULL), where.preferred_port);
}
END_TEST

START_TEST(a_preferred_port_that_is_taken_is_left)
{
	struct sockaddr_storage addr;
	int taken = socket_listen(1, &addr);

	where.preferred_port = port_of(&addr);
	connect_stream();
	ck_assert_uint_ne(accept_stream(NULL), where.preferred_port);
	ck_assert_uint_eq(ends[0].stream->port_retries, 1);
	close(taken);
}
END_TEST

/* The same pair of addresses is taken, which only connect() finds. */
START_TEST(a_port_in_use_towards_the_same_server_is_left)
{
	struct sockaddr_storage addr = where.addr;
	int one = 1, taken = socket(AF_INET, SOCK_STREAM, 0);

	where.preferred_port = free_port();
	set_port(&addr, where.preferred_port);
	setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ck_assert_int_eq(bind(taken, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	ck_assert_int_eq(connect(taken, (struct sockaddr *)&where.addr, sizeof(struct sockaddr_in)),
			 0);
	close(accept4(listener, NULL, NULL, 0));
	connect_stream();
	ck_assert_uint_ne(accept_stream(NULL), where.preferred_port);
	ck_assert_uint_eq(ends[0].stream->port_retries, 1);
	close(taken);
}
END_TEST

/* After a reset the port must be free at once, for the same client's next connection. */
START_TEST(a_port_is_free_at_once_after_a_reset)
{
	connect_stream();
	where.preferred_port = accept_stream(NULL);
	end_close(&ends[0], true);
	end_close(&ends[1], false);
	connect_stream();
	ck_assert_uint_eq(accept_stream(NULL), where.preferred_port);
	ck_assert_uint_eq(ends[0].stream->port_retries, 0);
}
END_TEST

static struct sockaddr_storage sources[3];

/* The one that it may come from. */
static struct sockaddr_in *only_source(void)
{
	memset(sources, 0, sizeof(sources));
	where.sources = (struct stream_sources){.list = sources, .count = 1};
	return (struct sockaddr_in *)&sources[0];
}

START_TEST(a_connection_comes_from_the_address_asked_for)
{
	struct sockaddr_in *source = only_source();
	struct sockaddr_storage from;
	uint16_t port;

	source->sin_family = AF_INET;
	ck_assert_int_eq(inet_pton(AF_INET, "127.0.0.2", &source->sin_addr), 1);
	where.preferred_port = _i ? free_port() : 0;
	connect_stream();
	port = accept_stream(&from);
	ck_assert_uint_ne(port, 0);
	if (_i)
		ck_assert_uint_eq(port, where.preferred_port);
	ck_assert_uint_eq(((struct sockaddr_in *)&from)->sin_addr.s_addr, source->sin_addr.s_addr);
}
END_TEST

/* 192.0.2.1 is for documentation: no host has it. */
START_TEST(from_an_address_that_is_not_ours_there_is_no_connection)
{
	struct sockaddr_in *source = only_source();

	source->sin_family = AF_INET;
	ck_assert_int_eq(inet_pton(AF_INET, "192.0.2.1", &source->sin_addr), 1);
	connect_stream();
	ck_assert_int_eq(ends[0].error, -ENODEV);
}
END_TEST

START_TEST(an_immediate_failure_is_reported_later)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&where.addr;

	/* No connection goes to a multicast address: the kernel says so before a packet leaves. */
	*in = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(2049)};
	ck_assert_int_eq(inet_pton(AF_INET6, "ff02::1", &in->sin6_addr), 1);
	connect_stream();
	ck_assert_int_lt(ends[0].error, 0);
	settle();
	ck_assert_uint_eq(ends[0].connected, 1);
}
END_TEST

START_TEST(an_unwatchable_socket_is_reported_to_its_owner)
{
	fake_loop_blind(loop, true);
	connect_stream();
	ck_assert_int_eq(ends[0].error, -ENOMEM);
	ck_assert_uint_eq(ends[0].connected, 1);
	end_close(&ends[0], true);
	fake_loop_blind(loop, false);
	connect_stream();
	accept_stream(NULL);
	fake_loop_blind(loop, true);
	end_watch(&ends[0], LOOP_WRITE);
	settle();
	ck_assert_uint_eq(ends[0].events, LOOP_ERROR);
	ck_assert_uint_eq(ends[0].told, 1);
}
END_TEST

/* Whether this process may bind ports below 1024. */
static bool may_bind_reserved(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool may;

	in.sin_port = htons(IPPORT_RESERVED - 1);
	may = bind(fd, (struct sockaddr *)&in, sizeof(in)) == 0 || errno == EADDRINUSE;
	close(fd);
	return may;
}

START_TEST(a_reserved_port_is_used_where_that_is_allowed)
{
	where.source_port = SOURCE_PORT_AUTO;
	connect_stream();
	if (may_bind_reserved())
		ck_assert_uint_lt(accept_stream(NULL), IPPORT_RESERVED);
	else
		ck_assert_uint_ge(accept_stream(NULL), IPPORT_RESERVED);
}
END_TEST

START_TEST(without_a_reserved_port_there_is_no_connection_if_one_is_asked_for)
{
	where.source_port = SOURCE_PORT_RESERVED;
	/* Too high, so it is passed over. */
	where.preferred_port = free_port();
	connect_stream();
	if (may_bind_reserved()) {
		ck_assert_uint_lt(accept_stream(NULL), IPPORT_RESERVED);
	} else {
		ck_assert_int_eq(ends[0].error, -EACCES);
	}
}
END_TEST

/* A listener that sends nobody away, however late it accepts. */
static void listen_for_many(void)
{
	ck_assert_int_eq(listen(listener, 4096), 0);
}

/* Connections from all reserved ports. */
static void use_up_reserved_ports(void)
{
	listen_for_many();
	where.source_port = SOURCE_PORT_AUTO;
	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++) {
		connect_stream();
		ck_assert_int_eq(ends[0].error, 0);
		ck_assert_uint_eq(ends[0].stream->port_retries, 0);
		ck_assert(!ends[0].stream->port_shortfall);
		users[i] = ends[0];
		stream_bind(users[i].stream, ends[0].stream->events, &users[i]);
	}
}

/* ends[0], until the next one. */
static void drop_stream(void)
{
	end_close(&ends[0], true);
}

static uint16_t own_port(const struct end *end)
{
	struct sockaddr_storage local = {0}, peer;

	stream_addrs(end->stream, &local, &peer);
	return port_of(&local);
}

START_TEST(when_all_reserved_ports_are_used_up_none_is_tried)
{
	if (!may_bind_reserved())
		return;
	use_up_reserved_ports();
	for (unsigned i = 0; i < 20; i++) {
		connect_stream();
		ck_assert_int_eq(ends[0].error, 0);
		ck_assert_uint_eq(ends[0].stream->port_retries, 0);
		ck_assert(ends[0].stream->port_shortfall);
		ck_assert_uint_ge(own_port(&ends[0]), IPPORT_RESERVED);
		drop_stream();
	}
	where.source_port = SOURCE_PORT_RESERVED;
	connect_stream();
	ck_assert_int_eq(ends[0].error, -EADDRINUSE);
	ck_assert(!ends[0].stream->port_shortfall);
	drop_stream();
	/* One is free again: the next connection has it. */
	end_close(&users[7], true);
	connect_stream();
	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_uint_lt(own_port(&ends[0]), IPPORT_RESERVED);
	ck_assert_uint_eq(ends[0].stream->port_retries, 0);
}
END_TEST

static void two_sources(unsigned first)
{
	*only_source() = (struct sockaddr_in){.sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)};
	/* One between them that no IPv4 server sees. */
	sources[1].ss_family = AF_INET6;
	*(struct sockaddr_in *)&sources[2] = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 2)};
	where.sources.count = 3;
	where.sources.first = first;
}

static uint32_t own_host(const struct end *end)
{
	struct sockaddr_storage local = {0};

	stream_addrs(end->stream, &local, NULL);
	return ntohl(((struct sockaddr_in *)&local)->sin_addr.s_addr) - INADDR_LOOPBACK;
}

/* Each has its own, and those of the other are taken when they are used up. */
START_TEST(each_source_address_brings_its_reserved_ports)
{
	unsigned n;

	if (!may_bind_reserved())
		return;
	two_sources(2);
	use_up_reserved_ports();
	for (n = 0; n < RESERVED_PORTS_COUNT; n++)
		ck_assert_uint_eq(own_host(&users[n]), 2);
	connect_stream();
	ck_assert_uint_eq(own_host(&ends[0]), 1);
	ck_assert_uint_lt(own_port(&ends[0]), IPPORT_RESERVED);
	ck_assert(!ends[0].stream->port_shortfall);
	drop_stream();
	where.sources.count = 1;
	where.sources.first = 0;
	for (n = 0; n < RESERVED_PORTS_COUNT; n++) {
		end_close(&users[n], true);
		connect_stream();
		ck_assert_uint_lt(own_port(&ends[0]), IPPORT_RESERVED);
		users[n] = ends[0];
		stream_bind(users[n].stream, ends[0].stream->events, &users[n]);
	}
	connect_stream();
	ck_assert(ends[0].stream->port_shortfall);
	ck_assert_uint_eq(own_host(&ends[0]), 1);
}
END_TEST

START_TEST(a_source_address_that_is_gone_is_passed_over)
{
	two_sources(0);
	((struct sockaddr_in *)&sources[0])->sin_addr.s_addr = htonl(0xc0000201);
	where.source_port = _i ? SOURCE_PORT_ANY : SOURCE_PORT_AUTO;
	connect_stream();
	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_uint_eq(own_host(&ends[0]), 2);
	drop_stream();
	/* One of the family, and then none. */
	where.sources.count = 2;
	connect_stream();
	ck_assert_int_eq(ends[0].error, -ENODEV);
	drop_stream();
	where.sources.list = &sources[1];
	where.sources.count = 1;
	connect_stream();
	ck_assert_int_eq(ends[0].error, -ENODEV);
}
END_TEST

START_TEST(a_preferred_port_is_that_of_the_first_source)
{
	two_sources(2);
	where.preferred_port = free_port();
	connect_stream();
	ck_assert_uint_eq(own_port(&ends[0]), where.preferred_port);
	ck_assert_uint_eq(own_host(&ends[0]), 2);
	drop_stream();
	/* It is of another family: so is its port. */
	where.sources.first = 1;
	connect_stream();
	ck_assert_uint_ne(own_port(&ends[0]), where.preferred_port);
	ck_assert_uint_eq(own_host(&ends[0]), 2);
}
END_TEST

START_TEST(the_only_port_is_used_or_none)
{
	struct end first;

	where.port_only = true;
	where.preferred_port = free_port();
	connect_stream();
	ck_assert_uint_eq(own_port(&ends[0]), where.preferred_port);
	first = ends[0];
	stream_bind(first.stream, ends[0].stream->events, &first);
	connect_stream();
	ck_assert_int_eq(ends[0].error, -EBUSY);
	end_close(&first, true);
}
END_TEST

/* Another process has them: that is found out once. */
START_TEST(ports_that_others_have_are_tried_once)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};

	if (!may_bind_reserved())
		return;
	for (unsigned port = RESERVED_PORTS_LAST; port <= RESERVED_PORTS_FIRST; port++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

		/* An earlier test's connection may be in TIME_WAIT there. */
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		in.sin_port = htons((uint16_t)port);
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
		ck_assert_int_eq(listen(fd, 1), 0);
	}
	where.source_port = SOURCE_PORT_AUTO;
	connect_stream();
	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_uint_eq(ends[0].stream->port_retries, RESERVED_PORTS_COUNT);
	drop_stream();
	connect_stream();
	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_uint_eq(ends[0].stream->port_retries, 0);
	ck_assert(ends[0].stream->port_shortfall);
}
END_TEST

START_TEST(the_port_closed_last_is_reused_last)
{
	uint16_t first;

	if (!may_bind_reserved())
		return;
	where.source_port = SOURCE_PORT_AUTO;
	connect_stream();
	first = accept_stream(NULL);
	end_close(&ends[0], true);
	end_close(&ends[1], true);
	for (unsigned i = 1; i < RESERVED_PORTS_COUNT; i++) {
		fake_loop_advance(loop, 1000);
		connect_stream();
		ck_assert_uint_ne(accept_stream(NULL), first);
		end_close(&ends[0], true);
		end_close(&ends[1], true);
	}
	connect_stream();
	ck_assert_uint_eq(accept_stream(NULL), first);
}
END_TEST

/* A pin above 1023: only what is unanswered is worth leaving the reserved ports for it. */
START_TEST(a_preferred_port_above_goes_by_the_mode)
{
	static const struct {
		enum source_port mode;
		bool above, had;
	} rows[] = {
		{SOURCE_PORT_AUTO, false, false},     {SOURCE_PORT_AUTO, true, true},
		{SOURCE_PORT_ANY, false, true},       {SOURCE_PORT_ANY, true, true},
		{SOURCE_PORT_RESERVED, false, false}, {SOURCE_PORT_RESERVED, true, false},
	};

	if (!may_bind_reserved())
		return;
	where.source_port = rows[_i].mode;
	where.preferred_above = rows[_i].above;
	where.preferred_port = free_port();
	connect_stream();
	if (rows[_i].had)
		ck_assert_uint_eq(accept_stream(NULL), where.preferred_port);
	else
		ck_assert_uint_lt(accept_stream(NULL), IPPORT_RESERVED);
	ck_assert(!ends[0].stream->port_shortfall);
}
END_TEST

START_TEST(a_preferred_port_above_is_used_where_no_reserved_one_is_left)
{
	if (may_bind_reserved())
		use_up_reserved_ports();
	where.source_port = SOURCE_PORT_AUTO;
	where.preferred_port = free_port();
	connect_stream();
	ck_assert_int_eq(ends[0].error, 0);
	ck_assert_uint_eq(own_port(&ends[0]), where.preferred_port);
	ck_assert(ends[0].stream->port_shortfall);
}
END_TEST

/* What cannot be reached from any port is not tried from each. */
START_TEST(a_source_that_is_not_ours_is_tried_once)
{
	struct sockaddr_in *source = only_source();

	where.source_port = SOURCE_PORT_AUTO;
	source->sin_family = AF_INET;
	ck_assert_int_eq(inet_pton(AF_INET, "192.0.2.1", &source->sin_addr), 1);
	connect_stream();
	ck_assert_int_lt(ends[0].error, 0);
	ck_assert_uint_le(ends[0].stream->port_retries, 1);
	ck_assert(!ends[0].stream->port_shortfall);
}
END_TEST

static void expect_options(int fd)
{
	int value;
	socklen_t len = sizeof(value);

	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
	getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len);
	ck_assert_int_eq(value, 1);
	getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &len);
	ck_assert_int_eq(value, 1);
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len);
	ck_assert_int_eq(value, 65000);
	getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, &len);
	ck_assert_int_ge(value, 15);
	ck_assert_int_le(value, 30);
	getsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &value, &len);
	ck_assert_int_eq(value, 3);
}

/* The next descriptor that there will be. */
static int next_fd(void)
{
	int next = dup(0);

	close(next);
	return next;
}

START_TEST(a_socket_does_not_wait_and_is_kept_alive)
{
	int connected, accepted;

	connected = next_fd();
	connect_stream();
	expect_options(connected);
	accepted = next_fd();
	accept_stream(NULL);
	expect_options(accepted);
}
END_TEST

START_TEST(a_long_stall_timeout_is_as_long_as_the_kernel_knows)
{
	struct tcp_stream_net net;

	tcp_stream_net_init(&net, loop, reserved_ports, UINT64_MAX / 2, 30);
	ck_assert_uint_eq(net.user_timeout_ms, INT_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stream_socket");
	TCase *tc = tcase_create("stream_socket");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, the_preferred_port_is_used);
	tcase_add_test(tc, a_preferred_port_that_is_taken_is_left);
	tcase_add_test(tc, a_port_in_use_towards_the_same_server_is_left);
	tcase_add_test(tc, a_port_is_free_at_once_after_a_reset);
	tcase_add_test(tc, a_reserved_port_is_used_where_that_is_allowed);
	tcase_add_test(tc, without_a_reserved_port_there_is_no_connection_if_one_is_asked_for);
	tcase_add_test(tc, when_all_reserved_ports_are_used_up_none_is_tried);
	tcase_add_test(tc, each_source_address_brings_its_reserved_ports);
	tcase_add_loop_test(tc, a_source_address_that_is_gone_is_passed_over, 0, 2);
	tcase_add_test(tc, a_preferred_port_is_that_of_the_first_source);
	tcase_add_test(tc, the_only_port_is_used_or_none);
	tcase_add_test(tc, ports_that_others_have_are_tried_once);
	tcase_add_test(tc, the_port_closed_last_is_reused_last);
	tcase_add_loop_test(tc, a_preferred_port_above_goes_by_the_mode, 0, 6);
	tcase_add_test(tc, a_preferred_port_above_is_used_where_no_reserved_one_is_left);
	tcase_add_test(tc, a_source_that_is_not_ours_is_tried_once);
	tcase_add_test(tc, an_unwatchable_socket_is_reported_to_its_owner);
	tcase_add_loop_test(tc, a_connection_comes_from_the_address_asked_for, 0, 2);
	tcase_add_test(tc, from_an_address_that_is_not_ours_there_is_no_connection);
	tcase_add_test(tc, an_immediate_failure_is_reported_later);
	tcase_add_test(tc, a_socket_does_not_wait_and_is_kept_alive);
	tcase_add_test(tc, a_long_stall_timeout_is_as_long_as_the_kernel_knows);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
