// SPDX-License-Identifier: BSD-3-Clause
/* Tests the log lines about a server's health, and their rate. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/service/server_health.h"
#include "tests/lib/test.h"

#define S(n) ((uint64_t)((n)*1e6))

static struct server_health state;
static struct sockaddr_in addr = {.sin_family = AF_INET};
static char said[64 * 1024];
static unsigned lines;

static bool collect(void *arg, const char *line, size_t len)
{
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	lines++;
	return true;
}

static uint64_t no_time(clockid_t clock)
{
	return 0;
}

static void start(const char *connect)
{
	static struct config_uri uri;

	config_uri_fini(&uri);
	ck_assert_ptr_null(config_uri_parse(connect, false, &uri));
	server_health_init(&state, "to-filer", &uri);
	inet_pton(AF_INET, "192.0.2.1", &addr.sin_addr);
	addr.sin_port = htons(20049);
}

static void setup(void)
{
	const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = no_time};

	said[0] = '\0';
	lines = 0;
	log_set_level(LOG_LEVEL_WARNING);
	log_set_output(&output);
	start("rdma://filer");
}

static void teardown(void)
{
	server_health_fini(&state);
	log_set_output(NULL);
}

static bool fail_for(enum leg_close why, const char *detail, uint64_t now_us)
{
	return server_health_failed(&state, (struct sockaddr *)&addr, why, detail, now_us);
}

static void refuse(uint64_t now_us)
{
	ck_assert(fail_for(LEG_CLOSE_REFUSED, "Connection refused", now_us));
}

static void reach(uint64_t now_us)
{
	server_health_first_reply(&state, (struct sockaddr *)&addr, now_us);
}

static void expect(const char *text)
{
	ck_assert_str_eq(said, text);
	said[0] = '\0';
}

START_TEST(a_server_that_does_not_answer_is_logged_once)
{
	server_health_wait_start(&state);
	refuse(S(1));
	refuse(S(2));
	refuse(S(30));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: Connection "
	       "refused; 1 client waits\n");
}
END_TEST

START_TEST(a_server_that_is_down_is_logged_every_minute_while_checked)
{
	server_health_wait_start(&state);
	server_health_wait_start(&state);
	for (unsigned s = 0; s <= 125; s++) {
		if (s % 5 == 0)
			refuse(S(s));
		server_health_tick(&state, S(s));
	}
	ck_assert_uint_eq(lines, 3);
	ck_assert_ptr_nonnull(strstr(
		said,
		"\n<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) has not answered for "
		"60 s: Connection refused; 13 attempts failed; 2 clients wait\n"));
	ck_assert_ptr_nonnull(strstr(said, " has not answered for 2 min: Connection refused; 25 "));
}
END_TEST

START_TEST(an_unused_server_is_not_logged)
{
	refuse(0);
	for (unsigned s = 0; s < 1000; s++)
		server_health_tick(&state, S(s));
	ck_assert_uint_eq(lines, 1);
}
END_TEST

START_TEST(the_end_of_an_outage_is_logged_with_its_duration)
{
	for (unsigned i = 0; i < 70; i++)
		refuse(S(10) + i);
	said[0] = '\0';
	reach(S(45));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) answers again after 35 s (70 "
	       "attempts failed)\n");
}
END_TEST

START_TEST(another_cause_is_logged_immediately)
{
	refuse(0);
	said[0] = '\0';
	ck_assert(fail_for(LEG_CLOSE_REFUSED, "it rejects: \"its server does not answer\"", S(1)));
	server_health_tick(&state, S(14));
	expect("");
	server_health_tick(&state, S(15));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) has not answered for 15 s: it "
	       "rejects: \"its server does not answer\"; 2 attempts failed\n");
	server_health_tick(&state, S(40));
	expect("");
}
END_TEST

START_TEST(alternating_causes_are_logged_only_a_few_times)
{
	for (unsigned s = 0; s < 600; s++) {
		ck_assert(fail_for(LEG_CLOSE_REFUSED, s % 20 < 10 ? "this" : "that", S(s)));
		server_health_tick(&state, S(s));
	}
	/* The first, one a minute, and those of the beginning. */
	ck_assert_uint_le(lines, 1 + 9 + SERVER_HEALTH_CAUSES);
}
END_TEST

START_TEST(the_first_answer_is_no_news)
{
	reach(0);
	reach(S(1));
	expect("");
}
END_TEST

START_TEST(a_flapping_server_is_logged_once_a_minute)
{
	for (unsigned i = 0; i < 1200; i++) {
		refuse(S(i * .1));
		reach(S(i * .1 + .05));
		server_health_tick(&state, S(i * .1 + .05));
	}
	/* At first as any other, then by a sum. */
	ck_assert_uint_eq(lines, 3);
	ck_assert_ptr_nonnull(strstr(
		said,
		"\n<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) is flapping: "
		"600 outages in the last 60 s. The last error: it does not answer: Connection "
		"refused\n"));
}
END_TEST

START_TEST(a_server_that_fails_again_after_a_short_return_is_logged_soon)
{
	refuse(0);
	reach(S(1));
	said[0] = '\0';
	refuse(S(2));
	server_health_tick(&state, S(16));
	expect("");
	server_health_tick(&state, S(17));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) has not answered for 15 s: "
	       "Connection refused; 1 attempt failed\n");
	reach(S(20));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) answers again after 18 s (1 "
	       "attempt failed)\n");
}
END_TEST

START_TEST(an_address_in_the_file_is_not_said_twice)
{
	server_health_fini(&state);
	start("tcp://192.0.2.1");
	refuse(0);
	expect("<4>to-filer: server tcp://192.0.2.1:2049 does not answer: Connection refused\n");
}
END_TEST

START_TEST(a_name_without_addresses_has_none)
{
	ck_assert(server_health_failed(&state, NULL, LEG_CLOSE_NO_ADDRESS, "no such name", 0));
	expect("<4>to-filer: server rdma://filer:20049 cannot be reached: no such name\n");
}
END_TEST

START_TEST(a_failure_without_words_has_those_of_its_reason)
{
	ck_assert(fail_for(LEG_CLOSE_TIMEOUT, "", 0));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: set-up timed "
	       "out\n");
}
END_TEST

START_TEST(an_answer_that_is_no_use_is_called_so)
{
	ck_assert(fail_for(LEG_CLOSE_VERSION, "", 0));
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) cannot be used: no common "
	       "RPC-over-RDMA version\n");
	server_health_fini(&state);
	start("tcp://192.0.2.1");
	ck_assert(server_health_failed(&state, NULL, LEG_CLOSE_TLS, "it has expired", 0));
	expect("<4>to-filer: server tcp://192.0.2.1:2049 cannot be used: it has expired\n");
}
END_TEST

START_TEST(failures_of_other_causes_do_not_count_against_the_server)
{
	ck_assert(!fail_for(LEG_CLOSE_RESOURCES, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_NO_SOURCE_PORT, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_NO_SOURCE_ADDRESS, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_SHUTDOWN, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_LOCAL, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_OWN_UPSTREAM, "", 0));
	ck_assert(!fail_for(LEG_CLOSE_TLS_LIMIT, "too many TLS handshakes wait", 0));
	expect("");
}
END_TEST

static void leave_without_answer(uint64_t now_us, bool counts)
{
	ck_assert_int_eq(server_health_unanswered(&state, (struct sockaddr *)&addr, NULL,
						  LEG_CLOSE_PEER, "it closes", now_us),
			 counts);
}

static enum server_reach reach_at(uint64_t now_us)
{
	struct server_health_info info;

	server_health_get(&state, now_us, &info);
	return info.reach;
}

/* It may be what that client has sent that the server closes for. */
START_TEST(one_without_an_answer_says_nothing_while_others_are_served)
{
	reach(S(1));
	reach(S(1));
	leave_without_answer(S(2), false);
	ck_assert_int_eq(reach_at(S(2)), SERVER_OK);
	server_health_disconnected(&state);
	leave_without_answer(S(3), false);
	expect("");
	server_health_disconnected(&state);
	leave_without_answer(S(4), true);
	ck_assert_int_eq(reach_at(S(4)), SERVER_DOWN);
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: it closes\n");
}
END_TEST

static bool close_on_sockaddr(const void *from, enum leg_close why, uint64_t now_us)
{
	return server_health_unanswered(&state, (struct sockaddr *)&addr, from, why, "it closes",
					now_us);
}

/*
 * A Call of client number @client was sent, and the server closed. Returns whether the server
 * failed by that.
 */
static bool close_on(uint8_t client, enum leg_close why, uint64_t now_us)
{
	const struct sockaddr_in from = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(0xc6336400u + client),
					 .sin_port = htons((uint16_t)(700 + now_us % 300))};

	return close_on_sockaddr(&from, why, now_us);
}

/* The same of a client at @text, an address of either family. */
static bool close_on_address(const char *text, uint64_t now_us)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(700)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(700)};

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		return close_on_sockaddr(&in, LEG_CLOSE_PEER, now_us);
	ck_assert_int_eq(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return close_on_sockaddr(&in6, LEG_CLOSE_PEER, now_us);
}

/*
 * What makes it close may be in the Call; so that client alone has failed, however often it tries.
 */
START_TEST(closing_for_one_client_does_not_mark_the_server_down)
{
	ck_assert(!server_health_take_doubt(&state));
	for (unsigned s = 0; s < 100; s++) {
		ck_assert(!close_on(1, s % 2 ? LEG_CLOSE_PEER : LEG_CLOSE_LOST, S(s)));
		ck_assert(server_health_take_doubt(&state));
		ck_assert(!server_health_take_doubt(&state));
		server_health_check_passed(&state, S(s));
		ck_assert(!server_health_is_down(&state));
	}
	expect("");
}
END_TEST

START_TEST(once_another_client_meets_the_same_it_is_down)
{
	ck_assert(!close_on(1, LEG_CLOSE_PEER, S(1)));
	server_health_check_passed(&state, S(2)); /* it answers NULL alone */
	ck_assert(close_on(2, LEG_CLOSE_PEER, S(30)));
	ck_assert_int_eq(reach_at(S(30)), SERVER_DOWN);
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: it closes\n");
	/* That it answers NULL would be no news. */
	ck_assert(server_health_take_doubt(&state));
	ck_assert(close_on(1, LEG_CLOSE_PEER, S(31)));
	ck_assert(!server_health_take_doubt(&state));
	reach(S(32));
	ck_assert_int_eq(reach_at(S(32)), SERVER_OK);
	ck_assert(!close_on(1, LEG_CLOSE_PEER, S(33)));
}
END_TEST

/* One machine may have many addresses: all of loopback, and all of an IPv6 subnet. */
START_TEST(two_addresses_that_may_be_one_machines_are_one_client)
{
	static const struct {
		const char *one, *other;
		bool counts;
	} pairs[] = {
		{"127.0.0.1", "127.0.0.2", false},
		{"127.0.0.1", "127.255.0.9", false},
		{"127.0.0.1", "::1", false},
		{"::ffff:127.0.0.3", "::1", false},
		{"192.0.2.7", "::ffff:192.0.2.7", false},
		{"2001:db8::1", "2001:db8::ffff:0:0:2", false},
		{"fe80::1", "fe80::2", false},
		{"2001:db8::1", "2001:db8:0:1::1", true},
		{"192.0.2.7", "192.0.2.8", true},
		{"::ffff:192.0.2.7", "::ffff:192.0.2.8", true},
		{"127.0.0.1", "192.0.2.7", true},
		{"::1", "2001:db8::1", true},
		{"::1", "::2", true},
	};

	ck_assert(!close_on_address(pairs[_i].one, S(1)));
	ck_assert_int_eq(close_on_address(pairs[_i].other, S(2)), pairs[_i].counts);
	ck_assert_int_eq(server_health_is_down(&state), pairs[_i].counts);
}
END_TEST

static void two_meet_it(uint64_t now_us)
{
	ck_assert(!close_on(1, LEG_CLOSE_PEER, now_us));
	ck_assert(close_on(2, LEG_CLOSE_PEER, now_us));
	(void)server_health_take_doubt(&state);
	ck_assert(server_health_is_down(&state));
}

/* Whoever looks whether it is up before he sends clients there sends none to one that is down. */
START_TEST(a_failure_that_two_clients_met_is_checked_after_a_while)
{
	two_meet_it(S(1));
	said[0] = '\0';
	for (unsigned s = 5; s <= 60; s += 5) {
		server_health_tick(&state, S(s));
		ck_assert(!server_health_take_doubt(&state));
	}
	server_health_tick(&state, S(61));
	ck_assert(server_health_take_doubt(&state));
	server_health_check_passed(&state, S(61));
	ck_assert_int_eq(reach_at(S(61)), SERVER_OK);
	ck_assert_ptr_nonnull(strstr(said, " answers again after 60 s (1 attempt failed)\n"));
	/* It takes two clients again. */
	ck_assert(!close_on(2, LEG_CLOSE_PEER, S(62)));
	ck_assert(!server_health_is_down(&state));
	ck_assert(server_health_take_doubt(&state));
	server_health_check_passed(&state, S(62));
	ck_assert(close_on(1, LEG_CLOSE_PEER, S(63)));
	ck_assert(server_health_is_down(&state));
}
END_TEST

START_TEST(a_server_in_doubt_is_checked_until_it_answers)
{
	char told[LEG_DETAIL_BYTES];

	two_meet_it(S(1));
	for (unsigned i = 1; i <= 3; i++) {
		server_health_tick(&state, S(1 + 60 * i));
		ck_assert(server_health_take_doubt(&state));
		ck_assert(server_health_check_failed(&state, LEG_CLOSE_PEER, "in vain",
						     S(1 + 60 * i), told));
		server_health_tick(&state, S(1 + 60 * i + 5));
		ck_assert(!server_health_take_doubt(&state));
	}
	ck_assert(server_health_is_down(&state));
}
END_TEST

/* Whether the second client comes before or behind the answer to NULL is all the same. */
START_TEST(an_answered_null_does_not_clear_failures_of_two_clients)
{
	ck_assert(!close_on(1, LEG_CLOSE_PEER, S(1)));
	ck_assert(server_health_take_doubt(&state));
	if (_i == 0)
		server_health_check_passed(&state, S(2));
	ck_assert(close_on(2, LEG_CLOSE_PEER, S(2)));
	if (_i == 1)
		server_health_check_passed(&state, S(2));
	ck_assert(server_health_is_down(&state));
}
END_TEST

/* As long as clients meet it, it is down for them; one alone that goes on does not keep it so. */
START_TEST(further_closes_put_that_off_if_two_clients_meet_them)
{
	bool one_alone = _i == 0;

	two_meet_it(S(1));
	for (unsigned s = 11; s <= 181; s += 10)
		(void)close_on(one_alone || s % 20 == 1 ? 2 : 1, LEG_CLOSE_PEER, S(s));
	server_health_tick(&state, S(185));
	ck_assert_int_eq(server_health_take_doubt(&state), one_alone);
	server_health_check_passed(&state, S(185));
	ck_assert_int_eq(server_health_is_down(&state), !one_alone);
}
END_TEST

START_TEST(old_failures_and_those_before_a_reply_do_not_count)
{
	ck_assert(!close_on(1, LEG_CLOSE_PEER, S(1)));
	if (_i) {
		reach(S(2));
		server_health_disconnected(&state);
		ck_assert(!close_on(2, LEG_CLOSE_PEER, S(3)));
	} else {
		ck_assert(!close_on(2, LEG_CLOSE_PEER, S(1) + SERVER_HEALTH_DOUBT_US));
	}
	ck_assert(!server_health_is_down(&state));
}
END_TEST

START_TEST(a_server_that_fails_its_check_is_down_and_checked_again)
{
	enum leg_close why = _i == 0 ? LEG_CLOSE_PEER : LEG_CLOSE_REFUSED;
	char told[LEG_DETAIL_BYTES];

	ck_assert(!close_on(1, LEG_CLOSE_PEER, S(1)));
	ck_assert(server_health_take_doubt(&state));
	ck_assert(
		!server_health_check_failed(&state, LEG_CLOSE_RESOURCES, "no memory", S(1), told));
	ck_assert_int_eq(reach_at(S(1)), SERVER_UNKNOWN);
	ck_assert(server_health_check_failed(&state, why, "in vain", S(1), told));
	ck_assert_int_eq(reach_at(S(1)), SERVER_DOWN);
	/* What clients meet is what they are told of. */
	ck_assert_str_eq(told, _i == 0 ? "it closes" : "in vain");
	expect(_i == 0 ? "<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: it closes\n"
		       : "<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) does not answer: in vain\n");
	/* Each further one is told with the server, and may find that it is back. */
	ck_assert(close_on(1, LEG_CLOSE_PEER, S(2)));
	ck_assert(server_health_take_doubt(&state));
	server_health_check_passed(&state, S(2));
	ck_assert_int_eq(reach_at(S(2)), SERVER_OK);
}
END_TEST

START_TEST(a_host_that_is_gone_is_gone_for_all)
{
	ck_assert(close_on(1, LEG_CLOSE_SILENT, S(1)));
	ck_assert_int_eq(reach_at(S(1)), SERVER_DOWN);
	ck_assert(!server_health_take_doubt(&state));
}
END_TEST

START_TEST(failures_of_other_causes_raise_no_doubt)
{
	ck_assert(!close_on(1, LEG_CLOSE_RESOURCES, S(1)));
	ck_assert(!close_on(2, LEG_CLOSE_SHUTDOWN, S(1)));
	ck_assert(!server_health_take_doubt(&state));
}
END_TEST

/*
 * What came just before it went down is no sign of life, and while new clients fail it is down for
 * them.
 */
START_TEST(replies_to_others_end_the_doubt_when_no_client_fails)
{
	reach(S(0));
	refuse(S(1));
	server_health_replied(&state);
	for (unsigned s = 5; s <= 30; s += 5)
		server_health_tick(&state, S(s));
	ck_assert_int_eq(reach_at(S(30)), SERVER_DOWN);
	refuse(S(31));
	said[0] = '\0';
	for (unsigned s = 35; s <= 45; s += 5) {
		server_health_replied(&state);
		server_health_tick(&state, S(s));
		ck_assert_int_eq(reach_at(S(s)), SERVER_DOWN);
	}
	server_health_replied(&state);
	server_health_tick(&state, S(50));
	ck_assert_int_eq(reach_at(S(50)), SERVER_OK);
	expect("<4>to-filer: server rdma://filer:20049 (192.0.2.1:20049) answers again after 49 s (2 "
	       "attempts failed)\n");
}
END_TEST

START_TEST(the_known_state_can_be_queried)
{
	struct server_health_info info;

	server_health_get(&state, S(1), &info);
	ck_assert_int_eq(info.reach, SERVER_UNKNOWN);
	ck_assert_str_eq(info.addr, "");
	server_health_wait_start(&state);
	refuse(S(2));
	refuse(S(3));
	server_health_get(&state, S(5), &info);
	ck_assert_int_eq(info.reach, SERVER_DOWN);
	ck_assert_uint_eq(info.age_us, S(3));
	ck_assert_str_eq(info.addr, "192.0.2.1:20049");
	ck_assert_str_eq(info.error, "Connection refused");
	ck_assert_uint_eq(info.failed, 2);
	ck_assert_uint_eq(info.waiting, 1);
	server_health_wait_end(&state);
	reach(S(6));
	server_health_get(&state, S(6), &info);
	ck_assert_int_eq(info.reach, SERVER_OK);
	ck_assert_str_eq(info.error, "");
	ck_assert_uint_eq(info.failed, 0);
	ck_assert_uint_eq(info.waiting, 0);
}
END_TEST

START_TEST(a_clock_that_is_behind_does_no_harm)
{
	struct server_health_info info;

	refuse(S(100));
	server_health_tick(&state, S(99));
	server_health_get(&state, S(99), &info);
	ck_assert_uint_eq(info.age_us, 0);
	reach(S(98));
	ck_assert_uint_eq(lines, 2);
	ck_assert_ptr_nonnull(strstr(said, "answers again after 0.0 s (1 attempt failed)"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("server_health");
	TCase *tc = tcase_create("server_health");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_server_that_does_not_answer_is_logged_once);
	tcase_add_test(tc, a_server_that_is_down_is_logged_every_minute_while_checked);
	tcase_add_test(tc, an_unused_server_is_not_logged);
	tcase_add_test(tc, the_end_of_an_outage_is_logged_with_its_duration);
	tcase_add_test(tc, another_cause_is_logged_immediately);
	tcase_add_test(tc, alternating_causes_are_logged_only_a_few_times);
	tcase_add_test(tc, the_first_answer_is_no_news);
	tcase_add_test(tc, a_flapping_server_is_logged_once_a_minute);
	tcase_add_test(tc, a_server_that_fails_again_after_a_short_return_is_logged_soon);
	tcase_add_test(tc, an_address_in_the_file_is_not_said_twice);
	tcase_add_test(tc, a_name_without_addresses_has_none);
	tcase_add_test(tc, a_failure_without_words_has_those_of_its_reason);
	tcase_add_test(tc, an_answer_that_is_no_use_is_called_so);
	tcase_add_test(tc, failures_of_other_causes_do_not_count_against_the_server);
	tcase_add_test(tc, one_without_an_answer_says_nothing_while_others_are_served);
	tcase_add_test(tc, closing_for_one_client_does_not_mark_the_server_down);
	tcase_add_test(tc, once_another_client_meets_the_same_it_is_down);
	tcase_add_loop_test(tc, two_addresses_that_may_be_one_machines_are_one_client, 0, 13);
	tcase_add_test(tc, a_failure_that_two_clients_met_is_checked_after_a_while);
	tcase_add_test(tc, a_server_in_doubt_is_checked_until_it_answers);
	tcase_add_loop_test(tc, an_answered_null_does_not_clear_failures_of_two_clients, 0, 2);
	tcase_add_loop_test(tc, further_closes_put_that_off_if_two_clients_meet_them, 0, 2);
	tcase_add_loop_test(tc, old_failures_and_those_before_a_reply_do_not_count, 0, 2);
	tcase_add_loop_test(tc, a_server_that_fails_its_check_is_down_and_checked_again, 0, 2);
	tcase_add_test(tc, a_host_that_is_gone_is_gone_for_all);
	tcase_add_test(tc, failures_of_other_causes_raise_no_doubt);
	tcase_add_test(tc, replies_to_others_end_the_doubt_when_no_client_fails);
	tcase_add_test(tc, the_known_state_can_be_queried);
	tcase_add_test(tc, a_clock_that_is_behind_does_no_harm);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
