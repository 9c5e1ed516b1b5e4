// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests clients behind a proxy: the PROXY header is read without a byte after it, the client's
 * address decides on access, and the number of waiting connections is bounded.
 */
#include "daemon/service/accept_filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define MOST   (ACCEPT_FILTER_MAX + 8)
#define HEADER "PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n"

static struct loop *loop;
static struct accept_filter *filter;
static struct config_cidr listed, allowed;
static struct service_config service;
static int far[MOST]; /* the peers' ends */
static unsigned ncame;

static struct accepted_conn admitted;
static unsigned nadmitted, nrefused;
static enum leg_close why;
static char detail[LEG_DETAIL_BYTES];

static void on_admitted(void *arg, struct accepted_conn *in)
{
	ck_assert_ptr_eq(arg, &service);
	admitted = *in;
	nadmitted++;
}

static void on_refused(void *arg, const struct accepted_conn *in, enum leg_close reason,
		       const char *sentence)
{
	ck_assert_ptr_eq(arg, &service);
	nrefused++;
	why = reason;
	snprintf(detail, sizeof(detail), "%s", sentence);
	accepted_conn_drop(in);
}

static const struct accept_filter_events events = {.admitted = on_admitted, .refused = on_refused};

static void setup(void)
{
	loop = fake_loop_new();
	nadmitted = nrefused = ncame = 0;
	admitted = (struct accepted_conn){.fd = -1};
	ck_assert_ptr_null(config_cidr_parse("10.0.0.1", &listed));
	ck_assert_ptr_null(config_cidr_parse("192.0.2.0/24", &allowed));
	service = (struct service_config){
		.accept_proxy_from = {.count = 1, .list = &listed},
		.has_allow = true,
		.nallow = 1,
		.allow = &allowed,
	};
	filter = accept_filter_new(loop, &service, &events, &service);
	ck_assert_ptr_nonnull(filter);
}

static void teardown(void)
{
	accept_filter_free(filter);
	if (nadmitted)
		close(admitted.fd);
	while (ncame)
		close(far[--ncame]);
	fake_loop_free(loop);
}

static struct sockaddr_storage address(const char *host, uint16_t port)
{
	struct sockaddr_storage addr = {.ss_family = AF_INET};

	ck_assert_int_eq(inet_pton(AF_INET, host, &((struct sockaddr_in *)&addr)->sin_addr), 1);
	sockaddr_set_port((struct sockaddr *)&addr, port);
	return addr;
}

/* Somebody, who has said @text by then; returns the peer's end. */
static int come(const char *host, const char *text)
{
	struct accepted_conn in = {.peer = address(host, 40000),
				   .local = address("10.0.0.9", 12049)};
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	in.fd = ends[0];
	far[ncame] = ends[1];
	ck_assert_int_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
	accept_filter_add(filter, &in);
	return far[ncame++];
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fake_loop_run(loop);
}

static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void expect(const struct sockaddr_storage *addr, const char *host, uint16_t port)
{
	struct sockaddr_storage wanted = address(host, port);

	ck_assert(sockaddr_equal((const struct sockaddr *)addr, (struct sockaddr *)&wanted));
}

static void expect_unread(const char *text)
{
	char bytes[64];
	ssize_t n = recv(admitted.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	ck_assert_int_eq(n, *text ? (ssize_t)strlen(text) : -1);
	if (n > 0)
		ck_assert_mem_eq(bytes, text, strlen(text));
}

static void expect_refused(enum leg_close reason, const char *sentence)
{
	ck_assert_uint_eq(nadmitted, 0);
	ck_assert_uint_eq(nrefused, 1);
	ck_assert_int_eq(why, reason);
	ck_assert_str_eq(detail, sentence);
	ck_assert_uint_eq(accept_filter_count(filter), 0);
}

START_TEST(the_client_of_a_proxy_header_is_checked_by_its_own_address)
{
	come("10.0.0.1", HEADER "and more");
	ck_assert_uint_eq(nadmitted, 1);
	expect(&admitted.peer, "192.0.2.10", 711);
	expect(&admitted.local, "192.0.2.30", 2049);
	expect(&admitted.proxy, "10.0.0.1", 40000);
	expect_unread("and more");
}
END_TEST

START_TEST(a_header_may_come_in_any_pieces)
{
	const size_t len = strlen(HEADER);
	char first[64] = "";
	int fd;

	strncat(first, HEADER, (size_t)_i);
	fd = come("10.0.0.1", first);
	fake_loop_run(loop);
	ck_assert_uint_eq(accept_filter_count(filter), 1);
	for (size_t i = (size_t)_i; i < len; i++) {
		char byte[] = {HEADER[i], '\0'};

		ck_assert_uint_eq(nadmitted, 0);
		say(fd, byte);
	}
	ck_assert_uint_eq(nadmitted, 1);
	ck_assert_uint_eq(accept_filter_count(filter), 0);
	expect(&admitted.peer, "192.0.2.10", 711);
	expect_unread("");
}
END_TEST

START_TEST(allow_checks_the_address_in_the_header)
{
	come("10.0.0.1", "PROXY TCP4 10.0.0.1 192.0.2.30 711 2049\r\n");
	expect_refused(LEG_CLOSE_NOT_ALLOWED, "");
}
END_TEST

START_TEST(so_does_a_privileged_port)
{
	service.require_privileged_port = true;
	come("10.0.0.1", HEADER);
	ck_assert_uint_eq(nadmitted, 1);
	close(admitted.fd);
	nadmitted = 0;
	come("10.0.0.1", "PROXY TCP4 192.0.2.10 192.0.2.30 1024 2049\r\n");
	expect_refused(LEG_CLOSE_UNPRIVILEGED, "");
}
END_TEST

/* It may have come with the header, or later. */
START_TEST(a_header_without_an_address_stands_for_the_proxy_itself)
{
	int fd = come("10.0.0.1", _i ? "PROXY UNKNOWN\r\n" : "PROXY UNKNOWN\r\nx");

	fake_loop_run(loop);
	if (_i)
		say(fd, "x");
	expect_refused(LEG_CLOSE_NOT_ALLOWED, "");
	nrefused = 0;
	service.allow = &listed;
	come("10.0.0.1", "PROXY UNKNOWN\r\n");
	ck_assert_uint_eq(nadmitted, 1);
	expect(&admitted.peer, "10.0.0.1", 40000);
	expect(&admitted.local, "10.0.0.9", 12049);
	ck_assert_int_eq(admitted.proxy.ss_family, AF_UNSPEC);
}
END_TEST

START_TEST(a_check_of_a_proxy_that_may_not_connect_is_a_look_only)
{
	int fd = come("10.0.0.1", "PROXY UNKNOWN\r\n");

	fake_loop_run(loop);
	ck_assert_uint_eq(nrefused, 0);
	if (_i) {
		fake_loop_advance(loop, ACCEPT_FILTER_HEADER_US);
		expect_refused(LEG_CLOSE_NOT_ALLOWED, "");
	} else {
		shutdown(fd, SHUT_WR);
		fake_loop_run(loop);
		expect_refused(LEG_CLOSE_PEER, "");
	}
}
END_TEST

START_TEST(connections_from_unlisted_peers_are_not_read)
{
	come("192.0.2.7", HEADER);
	ck_assert_uint_eq(nadmitted, 1);
	expect(&admitted.peer, "192.0.2.7", 40000);
	expect_unread(HEADER);
}
END_TEST

START_TEST(bytes_that_are_no_header_are_reported)
{
	come("10.0.0.1", "GET / HTTP/1.1\r\n");
	expect_refused(LEG_CLOSE_PROXY_HEADER,
		       "no PROXY header: the first bytes are \"GET / HTTP/1.1..\" (HTTP)");
}
END_TEST

START_TEST(a_close_within_the_header_has_a_detail)
{
	int fd = come("10.0.0.1", "PROXY TCP4");

	fake_loop_run(loop);
	shutdown(fd, SHUT_WR);
	fake_loop_run(loop);
	expect_refused(LEG_CLOSE_PROXY_HEADER, "truncated");
}
END_TEST

START_TEST(a_close_before_any_byte_has_no_detail)
{
	int fd = come("10.0.0.1", "");

	fake_loop_run(loop);
	shutdown(fd, SHUT_WR);
	fake_loop_run(loop);
	expect_refused(LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(there_is_a_time_for_all_of_it)
{
	int fd = come("10.0.0.1", "PROXY");

	fake_loop_advance(loop, ACCEPT_FILTER_HEADER_US - 1);
	say(fd, " TCP4 ");
	ck_assert_uint_eq(nrefused, 0);
	fake_loop_advance(loop, 1);
	expect_refused(LEG_CLOSE_PROXY_HEADER, "it did not arrive in time");
}
END_TEST

/* Each has its own, though there is one timer. */
START_TEST(later_connections_time_out_later)
{
	int first = come("10.0.0.1", ""), second;

	fake_loop_advance(loop, ACCEPT_FILTER_HEADER_US / 2);
	second = come("10.0.0.1", "");
	say(first, HEADER);
	ck_assert_uint_eq(nadmitted, 1);
	fake_loop_advance(loop, ACCEPT_FILTER_HEADER_US - 1);
	ck_assert_uint_eq(nrefused, 0);
	fake_loop_advance(loop, 1);
	ck_assert_uint_eq(nrefused, 1);
	ck_assert(is_closed(second));
}
END_TEST

START_TEST(the_oldest_goes_for_one_too_many)
{
	for (unsigned i = 0; i < ACCEPT_FILTER_MAX; i++) {
		ck_assert(accept_filter_can_accept(filter));
		come("10.0.0.1", i % 2 ? "PROXY" : "");
	}
	ck_assert(!accept_filter_can_accept(filter));
	fake_loop_advance(loop, ACCEPT_FILTER_GRACE_US - 1);
	ck_assert(!accept_filter_can_accept(filter));
	fake_loop_advance(loop, 1);
	ck_assert(accept_filter_can_accept(filter));
	come("10.0.0.1", "");
	ck_assert_uint_eq(nrefused, 1);
	ck_assert_int_eq(why, LEG_CLOSE_HALF_OPEN);
	ck_assert_uint_eq(accept_filter_count(filter), ACCEPT_FILTER_MAX);
	ck_assert(is_closed(far[0]));
	ck_assert(!is_closed(far[1]));
	/* Whose header is here needs no room. */
	come("10.0.0.1", HEADER);
	ck_assert_uint_eq(nadmitted, 1);
	ck_assert_uint_eq(nrefused, 1);
}
END_TEST

START_TEST(a_connection_that_cannot_be_watched_is_closed)
{
	fake_loop_blind(loop, true);
	come("10.0.0.1", "PROXY");
	fake_loop_run(loop);
	expect_refused(LEG_CLOSE_RESOURCES, "cannot watch its socket");
}
END_TEST

START_TEST(waiting_connections_close_with_the_filter)
{
	come("10.0.0.1", "PROXY");
	accept_filter_free(filter);
	filter = NULL;
	ck_assert_uint_eq(nrefused + nadmitted, 0);
	ck_assert(is_closed(far[0]));
	ck_assert_uint_eq(accept_filter_count(NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("porch");
	TCase *tc = tcase_create("porch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_client_of_a_proxy_header_is_checked_by_its_own_address);
	tcase_add_loop_test(tc, a_header_may_come_in_any_pieces, 0, (int)strlen(HEADER));
	tcase_add_test(tc, allow_checks_the_address_in_the_header);
	tcase_add_test(tc, so_does_a_privileged_port);
	tcase_add_loop_test(tc, a_header_without_an_address_stands_for_the_proxy_itself, 0, 2);
	tcase_add_loop_test(tc, a_check_of_a_proxy_that_may_not_connect_is_a_look_only, 0, 2);
	tcase_add_test(tc, connections_from_unlisted_peers_are_not_read);
	tcase_add_test(tc, bytes_that_are_no_header_are_reported);
	tcase_add_test(tc, a_close_within_the_header_has_a_detail);
	tcase_add_test(tc, a_close_before_any_byte_has_no_detail);
	tcase_add_test(tc, there_is_a_time_for_all_of_it);
	tcase_add_test(tc, later_connections_time_out_later);
	tcase_add_test(tc, the_oldest_goes_for_one_too_many);
	tcase_add_test(tc, a_connection_that_cannot_be_watched_is_closed);
	tcase_add_test(tc, waiting_connections_close_with_the_filter);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
