// SPDX-License-Identifier: BSD-3-Clause
/* Tests how the TCP leg connects to one address, and each outcome. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stream/tcp_connect.h"
#include "tests/unit/tcp_leg_fixture.h"

static struct stream_target where;
static int listener;

static void setup(void)
{
	fixture_setup();
	where = (struct stream_target){.source_port = SOURCE_PORT_ANY};
	listener = fixture_listen(16, &where.addr);
}

static void teardown(void)
{
	close(listener);
	fixture_teardown();
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
	ck_assert_uint_eq(port_of(&info.peer), port_of(&where.addr));
	ck_assert_uint_eq(port_of(&info.local), from);
	leg_close(leg, LEG_CLOSE_PEER);
	RUN_UNTIL(seen.closed);
	/* For the next connection of the same client. */
	leg_info(leg, &info);
	ck_assert_uint_eq(port_of(&info.local), from);
}
END_TEST

/* Also without a Call; and one that was there before the connection was up comes behind it. */
START_TEST(a_preface_goes_before_everything)
{
	uint8_t got[3];
	uint32_t len;

	memcpy(config.leg.preface, "\x01\x02\x03", 3);
	config.leg.preface_bytes = 3;
	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	if (_i)
		send_call(1, 44, 0, 1000);
	RUN_UNTIL(seen.opened);
	accept_leg();
	peer_read(got, sizeof(got));
	ck_assert_mem_eq(got, "\x01\x02\x03", 3);
	ck_assert_uint_eq(worker.counters.records_sent, _i);
	if (!_i)
		send_call(1, 44, 0, 1000);
	ck_assert_ptr_nonnull(peer_read_record(&len));
	ck_assert_uint_eq(len, 44);
	peer_send_reply(1, 100, 0);
	RUN_UNTIL(seen.nreplies);
	ck_assert_uint_eq(worker.counters.records_sent, 1);
}
END_TEST

START_TEST(a_silent_address_times_out)
{
	int fillers[2], silent = silent_addr(&where.addr, fillers);

	ck_assert_int_eq(tcp_leg_connect(&config, &where, &leg), 0);
	settle();
	advance_us(FIXTURE_CONNECT_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_TIMEOUT);
	ck_assert_str_ne(seen.detail, "");
	ck_assert_uint_eq(worker.counters.connect_failures, 1);
	close(fillers[0]);
	close(fillers[1]);
	close(silent);
}
END_TEST

START_TEST(an_address_that_refuses_closes)
{
	refusing_addr(&where.addr);
	connect_leg();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_REFUSED);
	ck_assert_int_eq(seen.close_errno, ECONNREFUSED);
	ck_assert_uint_eq(worker.counters.connect_failures, 1);
	ck_assert_str_ne(seen.detail, "");
}
END_TEST

START_TEST(an_address_that_cannot_be_is_unreachable)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&where.addr;

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
	int fillers[2], silent = silent_addr(&where.addr, fillers);

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

/* This process has it no more; the test is a process of its own. */
static void drop_net_bind_service(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_NET_BIND_SERVICE);
	ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

START_TEST(without_the_capability_the_lack_of_a_port_is_named)
{
	drop_net_bind_service();
	ck_assert(!tcp_connect_may_reserve());
	where.source_port = SOURCE_PORT_RESERVED;
	connect_leg();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_NO_SOURCE_PORT);
	ck_assert_str_eq(seen.detail,
			 "ports below 1024 need CAP_NET_BIND_SERVICE, which is missing");
}
END_TEST

START_TEST(reserved_ports_that_others_have_are_allowed_all_the_same)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(RESERVED_PORTS_FIRST)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (tcp_connect_may_reserve()) {
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
		ck_assert_int_eq(listen(fd, 1), 0);
		ck_assert(tcp_connect_may_reserve());
	}
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_connect");
	TCase *tc = tcase_create("tcp_connect");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_leg_connects_and_tells_its_addresses);
	tcase_add_loop_test(tc, a_preface_goes_before_everything, 0, 2);
	tcase_add_test(tc, a_silent_address_times_out);
	tcase_add_test(tc, an_address_that_refuses_closes);
	tcase_add_test(tc, an_address_that_cannot_be_is_unreachable);
	tcase_add_test(tc, a_connecting_leg_can_be_closed);
	tcase_add_test(tc, calls_made_before_the_connection_is_up_are_sent);
	tcase_add_test(tc, the_port_is_free_at_once_after_the_client_has_gone);
	tcase_add_test(tc, without_the_capability_the_lack_of_a_port_is_named);
	tcase_add_test(tc, reserved_ports_that_others_have_are_allowed_all_the_same);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
