// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's way up: addresses in turn, and the port that it comes from. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/tcp_leg_fixture.h"

static struct sockaddr_storage addrs[3];
static struct tcp_leg_addrs where;
static int listener;

static void setup(void)
{
	fixture_setup();
	memset(addrs, 0, sizeof(addrs));
	where = (struct tcp_leg_addrs){.addrs = addrs, .count = 1, .source_port = SOURCE_PORT_ANY};
	listener = fixture_listen(16, &addrs[0]);
}

static void teardown(void)
{
	close(listener);
	fixture_teardown();
}

static void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

/* A port of the loopback on which nobody listens, now that its listener is gone. */
static void refusing_addr(struct sockaddr_storage *addr)
{
	close(fixture_listen(1, addr));
}

/* A port whose listener's queue is full: the kernel drops further requests. */
static int silent_addr(struct sockaddr_storage *addr, int fillers[2])
{
	int fd = fixture_listen(0, addr);

	for (int i = 0; i < 2; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)addr, sizeof(struct sockaddr_in));
	}
	return fd;
}

static void connect_leg(void)
{
	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	ck_assert_uint_eq(seen.opened + seen.closed, 0);
	RUN_UNTIL(seen.opened || seen.closed);
}

/* The test's end; returns the port that the leg came from. */
static uint16_t accept_leg(void)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);

	peer = accept4(listener, (struct sockaddr *)&from, &len, SOCK_NONBLOCK);
	ck_assert_int_ge(peer, 0);
	return port_of(&from);
}

START_TEST(a_leg_connects_and_tells_its_addresses)
{
	struct leg_info info;
	uint16_t from;

	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	leg_info(leg, &info);
	ck_assert_str_eq(info.state, "connecting");
	RUN_UNTIL(seen.opened);
	from = accept_leg();
	leg_info(leg, &info);
	ck_assert_uint_eq(port_of(&info.peer), port_of(&addrs[0]));
	ck_assert_uint_eq(port_of(&info.local), from);
	leg_close(leg, LEG_CLOSE_PEER);
	RUN_UNTIL(seen.closed);
	/* For the next connection of the same client. */
	leg_info(leg, &info);
	ck_assert_uint_eq(port_of(&info.local), from);
}
END_TEST

START_TEST(the_next_address_is_tried_when_one_refuses)
{
	addrs[2] = addrs[0];
	refusing_addr(&addrs[0]);
	refusing_addr(&addrs[1]);
	where.count = 3;
	connect_leg();
	ck_assert_uint_eq(seen.opened, 1);
	ck_assert_uint_eq(worker.counters.connect_failures, 2);
	accept_leg();
}
END_TEST

START_TEST(an_address_that_is_silent_leaves_time_for_the_next)
{
	int fillers[2], silent;

	addrs[1] = addrs[0];
	silent = silent_addr(&addrs[0], fillers);
	where.count = 2;
	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	settle();
	advance_us(FIXTURE_CONNECT_US / 2 - 1);
	ck_assert_uint_eq(seen.opened, 0);
	advance_us(1);
	RUN_UNTIL(seen.opened);
	accept_leg();
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
}
END_TEST

START_TEST(when_all_are_silent_set_up_times_out)
{
	int fillers[2], silent = silent_addr(&addrs[0], fillers);

	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	settle();
	advance_us(FIXTURE_CONNECT_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_TIMEOUT);
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
}
END_TEST

START_TEST(when_all_refuse_so_does_the_leg)
{
	refusing_addr(&addrs[0]);
	connect_leg();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_REFUSED);
	ck_assert_str_ne(seen.detail, "");
}
END_TEST

START_TEST(an_address_that_cannot_be_is_unreachable)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&addrs[0];

	/* No connection goes to a multicast address: the kernel says so before a packet leaves. */
	*in = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(2049)};
	ck_assert_int_eq(inet_pton(AF_INET6, "ff02::1", &in->sin6_addr), 1);
	connect_leg();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_UNREACHABLE);
}
END_TEST

START_TEST(a_connecting_leg_can_be_closed)
{
	int fillers[2], silent = silent_addr(&addrs[0], fillers);

	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	settle();
	leg_close(leg, LEG_CLOSE_LOCAL);
	ck_assert_uint_eq(seen.closed, 0);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOCAL);
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
}
END_TEST

START_TEST(calls_made_before_the_connection_is_up_are_sent)
{
	uint32_t len;

	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	send_call(3, 44, 0, 100);
	RUN_UNTIL(seen.opened);
	accept_leg();
	ck_assert_uint_eq(get_word(peer_read_record(&len)), 3);
}
END_TEST

/* Source ports */

/* A port that is free now. */
static uint16_t free_port(void)
{
	struct sockaddr_storage addr;

	refusing_addr(&addr);
	return port_of(&addr);
}

START_TEST(the_preferred_port_is_used)
{
	where.preferred_port = free_port();
	connect_leg();
	ck_assert_uint_eq(accept_leg(), where.preferred_port);
}
END_TEST

START_TEST(a_preferred_port_that_is_taken_is_left)
{
	struct sockaddr_storage addr;
	int taken = fixture_listen(1, &addr);

	where.preferred_port = port_of(&addr);
	connect_leg();
	ck_assert_uint_ne(accept_leg(), where.preferred_port);
	ck_assert_uint_eq(worker.counters.source_port_retries, 1);
	close(taken);
}
END_TEST

/* The same pair of addresses is taken, which only connect() finds. */
START_TEST(a_port_in_use_towards_the_same_server_is_left)
{
	struct sockaddr_storage addr = addrs[0];
	int one = 1, taken = socket(AF_INET, SOCK_STREAM, 0);

	where.preferred_port = free_port();
	set_port(&addr, where.preferred_port);
	setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ck_assert_int_eq(bind(taken, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	ck_assert_int_eq(connect(taken, (struct sockaddr *)&addrs[0], sizeof(struct sockaddr_in)),
			 0);
	close(accept4(listener, NULL, NULL, 0));
	connect_leg();
	ck_assert_uint_ne(accept_leg(), where.preferred_port);
	ck_assert_uint_eq(worker.counters.source_port_retries, 1);
	close(taken);
}
END_TEST

/* Its client is gone, and comes again at once: the port must be free. */
START_TEST(the_port_is_free_at_once_after_the_client_has_gone)
{
	uint16_t from;
	uint32_t len;

	connect_leg();
	from = accept_leg();
	send_call(1, 44, 0, 100);
	peer_read_record(&len);
	leg_close(leg, LEG_CLOSE_PEER);
	RUN_UNTIL(seen.closed);
	leg_free(leg);
	close(peer);
	seen = (struct seen){0};
	where.preferred_port = from;
	connect_leg();
	ck_assert_uint_eq(accept_leg(), from);
	ck_assert_uint_eq(worker.counters.source_port_retries, 0);
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
	connect_leg();
	ck_assert_uint_eq(seen.opened, 1);
	if (may_bind_reserved())
		ck_assert_uint_lt(accept_leg(), IPPORT_RESERVED);
	else
		ck_assert_uint_ge(accept_leg(), IPPORT_RESERVED);
}
END_TEST

START_TEST(without_a_reserved_port_there_is_no_connection_if_one_is_asked_for)
{
	where.source_port = SOURCE_PORT_RESERVED;
	/* Too high, so it is passed over. */
	where.preferred_port = free_port();
	connect_leg();
	if (may_bind_reserved()) {
		ck_assert_uint_eq(seen.opened, 1);
		ck_assert_uint_lt(accept_leg(), IPPORT_RESERVED);
	} else {
		ck_assert_uint_eq(seen.closed, 1);
		ck_assert_int_eq(seen.why, LEG_CLOSE_RESOURCES);
	}
}
END_TEST

START_TEST(a_socket_does_not_wait_and_is_kept_alive)
{
	int value, keepalive_fd;
	socklen_t len = sizeof(value);
	struct sockaddr_storage addr = addrs[0];

	/* The accepted end, since the test has its descriptor. */
	peer = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(peer, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	keepalive_fd = accept4(listener, NULL, NULL, 0);
	ck_assert_int_eq(tcp_leg_accept(&config, keepalive_fd, &leg), 0);
	getsockopt(keepalive_fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len);
	ck_assert_int_eq(value, 1);
	getsockopt(keepalive_fd, IPPROTO_TCP, TCP_NODELAY, &value, &len);
	ck_assert_int_eq(value, 1);
	getsockopt(keepalive_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len);
	ck_assert_int_eq(value, 65000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_connect");
	TCase *tc = tcase_create("tcp_connect");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_leg_connects_and_tells_its_addresses);
	tcase_add_test(tc, the_next_address_is_tried_when_one_refuses);
	tcase_add_test(tc, an_address_that_is_silent_leaves_time_for_the_next);
	tcase_add_test(tc, when_all_are_silent_set_up_times_out);
	tcase_add_test(tc, when_all_refuse_so_does_the_leg);
	tcase_add_test(tc, an_address_that_cannot_be_is_unreachable);
	tcase_add_test(tc, a_connecting_leg_can_be_closed);
	tcase_add_test(tc, calls_made_before_the_connection_is_up_are_sent);
	tcase_add_test(tc, the_preferred_port_is_used);
	tcase_add_test(tc, a_preferred_port_that_is_taken_is_left);
	tcase_add_test(tc, a_port_in_use_towards_the_same_server_is_left);
	tcase_add_test(tc, the_port_is_free_at_once_after_the_client_has_gone);
	tcase_add_test(tc, a_reserved_port_is_used_where_that_is_allowed);
	tcase_add_test(tc, without_a_reserved_port_there_is_no_connection_if_one_is_asked_for);
	tcase_add_test(tc, a_socket_does_not_wait_and_is_kept_alive);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
