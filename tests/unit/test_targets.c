// SPDX-License-Identifier: BSD-3-Clause
/* Tests the servers of a service: which one a client gets, and when it gets another. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "daemon/service/targets.h"
#include "tests/lib/test.h"

#define SERVERS 3u
#define SECOND  1000000u

static struct config_uri more[SERVERS - 1];
static struct service_config config;
static struct targets targets;
static struct log_limit lines;
static uint64_t now_us;

static void begin(enum balance balance)
{
	struct server_uris uris;
	static char name[] = "files", port[] = "2049", hosts[SERVERS][2] = {"a", "b", "c"};

	config = (struct service_config){
		.name = name,
		.connect = {TRANSPORT_TCP, hosts[0], port},
		.more = more,
		.nmore = SERVERS - 1,
		.balance = balance,
		.max_connections = 4,
	};
	for (unsigned i = 1; i < SERVERS; i++)
		more[i - 1] = (struct config_uri){TRANSPORT_TCP, hosts[i], port};
	uris = server_uris_of(&config);
	ck_assert_int_eq(targets_init(&targets, &uris, &config, &lines), 0);
}

static void setup(void)
{
	now_us = 100 * SECOND;
	begin(BALANCE_STANDBY);
}

static void teardown(void)
{
	targets_fini(&targets);
}

/* Returns the number of the server that the client 10.0.0.@who is given next, or -1. */
static int seek(struct target_seat *seat, unsigned who)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(0x0a000000 + who)};
	struct target *target =
		targets_seek(&targets, seat, (const struct sockaddr *)&addr, now_us);

	return target ? (int)target->index : -1;
}

static int first(unsigned who)
{
	struct target_seat seat = {0};
	int found = seek(&seat, who);

	targets_leave(&seat, now_us);
	return found;
}

static void has_failed(struct target_seat *seat)
{
	targets_failed(seat, "it is off", now_us);
}

static void open_one(struct target_seat *seat, unsigned who, int want)
{
	*seat = (struct target_seat){0};
	ck_assert_int_eq(seek(seat, who), want);
	targets_opened(seat);
}

static void leave(struct target_seat *seat)
{
	targets_leave(seat, now_us);
}

START_TEST(the_servers_are_tried_in_order_and_each_once)
{
	struct target_seat seat = {0};

	for (int i = 0; i < (int)SERVERS; i++) {
		ck_assert_int_eq(seek(&seat, 1), i);
		ck_assert_uint_eq(targets_left(&seat), SERVERS - 1 - (unsigned)i);
		has_failed(&seat);
	}
	ck_assert_int_eq(seek(&seat, 1), -1);
	leave(&seat);
}
END_TEST

START_TEST(one_that_has_failed_is_tried_last_for_ten_seconds)
{
	struct target_seat seat = {0};

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	leave(&seat);
	ck_assert_int_eq(first(2), 1);
	now_us += TARGETS_LAST_US - 1;
	ck_assert_int_eq(first(3), 1);
	now_us += 1;
	ck_assert_int_eq(first(4), 0);
}
END_TEST

START_TEST(one_that_a_probe_found_down_is_tried_last_until_it_answers)
{
	struct target_info info;

	targets_probed(&targets, 0, LEG_CLOSE_REFUSED, "it is off", now_us);
	now_us += 10 * TARGETS_LAST_US;
	ck_assert_int_eq(first(1), 1);
	target_info_get(&targets, &targets.list[0], now_us, &info);
	ck_assert_str_eq(info.error, "it is off");
	ck_assert_uint_eq(info.attempts + info.failures, 0);
	targets_probed(&targets, 0, LEG_CLOSE_LOCAL, NULL, now_us);
	ck_assert_int_eq(first(2), 0);
}
END_TEST

static void doubt(void *arg)
{
	++*(unsigned *)arg;
}

/* A connection of the client 10.0.0.@who to the first server ends without a Reply to its Call. */
static bool is_closed_on(unsigned who)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(0x0a000000 + who)};
	struct target_seat seat;
	bool counts;

	open_one(&seat, who, 0);
	counts = targets_unanswered(&seat, NULL, (const struct sockaddr *)&addr, LEG_CLOSE_PEER,
				    "it closed", now_us);
	leave(&seat);
	return counts;
}

START_TEST(one_that_closed_on_one_client_is_asked_before_it_is_tried_last)
{
	struct target_info info;
	unsigned doubts = 0;

	targets_on_doubt(&targets, doubt, &doubts);
	ck_assert(!is_closed_on(1));
	ck_assert(!is_closed_on(1));
	ck_assert_uint_eq(doubts, 2);
	ck_assert_uint_eq(targets_take_doubts(&targets), 1);
	ck_assert_int_eq(first(2), 0);
	if (_i == 0) {
		targets_asked(&targets, 0, LEG_CLOSE_LOCAL, NULL, now_us);
		ck_assert_int_eq(first(2), 0);
		/* It closes for one more client, though it answers NULL. */
		ck_assert(is_closed_on(2));
	} else {
		targets_asked(&targets, 0, LEG_CLOSE_PEER, "it closed again", now_us);
	}
	ck_assert_int_eq(first(3), 1);
	target_info_get(&targets, &targets.list[0], now_us, &info);
	ck_assert_str_eq(info.error, "it closed");
	ck_assert_uint_eq(info.failures, 1);
	/* As any that has failed, not as one that is asked again and again. */
	now_us += TARGETS_LAST_US;
	ck_assert_int_eq(first(4), 0);
}
END_TEST

/* Of one that sees the clients' own addresses. */
START_TEST(one_that_takes_no_connection_from_one_client_is_asked_too)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(0x0a000001)};
	static const enum leg_close for_all[] = {LEG_CLOSE_REFUSED, LEG_CLOSE_NO_ADDRESS,
						 LEG_CLOSE_NO_MOUNT};
	const struct sockaddr *client = (const struct sockaddr *)&addr;
	struct target_seat seat = {0}, other;
	unsigned doubts = 0;

	targets_on_doubt(&targets, doubt, &doubts);
	/* Others are served meanwhile. */
	open_one(&other, 2, 0);
	server_state_reached(&targets.list[0].server, NULL, now_us);
	ck_assert_int_eq(seek(&seat, 1), 0);
	ck_assert(!targets_unreached(&seat, NULL, client, LEG_CLOSE_REFUSED, "", now_us));
	ck_assert_uint_eq(doubts, 1);
	ck_assert_int_eq(first(3), 0);
	/* From the proxy's own address, or for want of one of the server's or of its port, it would be that for all. */
	if (_i == 0)
		client = NULL;
	ck_assert(targets_unreached(&seat, NULL, client, for_all[_i], "", now_us));
	ck_assert_int_eq(first(3), 1);
	leave(&seat);
	server_state_parted(&targets.list[0].server);
	leave(&other);
}
END_TEST

START_TEST(a_probe_that_failed_here_says_nothing_of_the_server)
{
	targets_probed(&targets, 0, LEG_CLOSE_RESOURCES, "out of memory", now_us);
	ck_assert_int_eq(first(1), 0);
}
END_TEST

START_TEST(those_with_connections_are_in_use)
{
	struct target_seat seat;

	ck_assert_uint_eq(targets_in_use(&targets), 0);
	open_one(&seat, 1, 0);
	ck_assert_uint_eq(targets_in_use(&targets), 1);
	leave(&seat);
	ck_assert_uint_eq(targets_in_use(&targets), 0);
}
END_TEST

START_TEST(an_answer_ends_that)
{
	struct target_seat seat = {0};

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	ck_assert_int_eq(first(2), 1);
	targets_answered(&seat, NULL, now_us);
	ck_assert_int_eq(first(3), 0);
	leave(&seat);
}
END_TEST

START_TEST(of_several_that_have_failed_the_one_is_first_that_failed_longest_ago)
{
	struct target_seat seat = {0};

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	now_us += SECOND;
	ck_assert_int_eq(seek(&seat, 1), 1);
	has_failed(&seat);
	now_us += SECOND;
	ck_assert_int_eq(seek(&seat, 1), 2);
	has_failed(&seat);
	leave(&seat);
	ck_assert_int_eq(first(1), 0);
	ck_assert_int_eq(first(2), 0);
}
END_TEST

START_TEST(all_connections_of_a_client_lead_to_one_server)
{
	struct target_seat old, young[3];

	now_us = 100 * SECOND;
	old = (struct target_seat){0};
	ck_assert_int_eq(seek(&old, 1), 0);
	has_failed(&old);
	ck_assert_int_eq(seek(&old, 1), 1);
	targets_opened(&old);
	/* The first server is back, and others are given it. */
	now_us += TARGETS_LAST_US;
	ck_assert_int_eq(first(2), 0);
	for (unsigned i = 0; i < 3; i++)
		open_one(&young[i], 1, 1);
	leave(&old);
	ck_assert_int_eq(first(1), 1);
	for (unsigned i = 0; i < 3; i++)
		leave(&young[i]);
}
END_TEST

START_TEST(a_client_whose_connection_lives_there_goes_there_though_others_have_failed)
{
	struct target_seat mine, other = {0}, more_of_mine;

	open_one(&mine, 1, 0);
	ck_assert_int_eq(seek(&other, 2), 0);
	has_failed(&other);
	leave(&other);
	open_one(&more_of_mine, 1, 0);
	leave(&mine);
	leave(&more_of_mine);
	ck_assert_int_eq(first(1), 1);
}
END_TEST

START_TEST(who_comes_while_another_connection_is_being_tried_follows_it)
{
	struct target_seat seat = {0};

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	ck_assert_int_eq(seek(&seat, 1), 1);
	now_us += TARGETS_LAST_US;
	ck_assert_int_eq(first(1), 1);
	leave(&seat);
}
END_TEST

START_TEST(a_home_is_kept_for_a_while_behind_the_last_connection)
{
	struct target_seat seat = {0};

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	ck_assert_int_eq(seek(&seat, 1), 1);
	targets_opened(&seat);
	leave(&seat);
	now_us += TARGETS_REMEMBER_US - 1;
	ck_assert_int_eq(first(1), 1);
	now_us += TARGETS_REMEMBER_US;
	ck_assert_int_eq(first(1), 0);
}
END_TEST

START_TEST(only_so_many_homes_are_kept)
{
	for (unsigned who = 0; who < 100; who++)
		ck_assert_int_eq(first(who), 0);
	ck_assert_uint_eq(targets.nleft, config.max_connections);
	ck_assert_uint_eq(targets.homes.count, config.max_connections);
}
END_TEST

START_TEST(by_source_clients_are_spread_and_each_has_its_own)
{
	unsigned clients[SERVERS] = {0};
	int was[256];

	teardown();
	begin(BALANCE_SOURCE);
	for (unsigned who = 0; who < 256; who++) {
		was[who] = first(who);
		clients[was[who]]++;
	}
	for (unsigned i = 0; i < SERVERS; i++)
		ck_assert_uint_gt(clients[i], 256 / SERVERS / 2);
	/* Also in another daemon, or after a restart. */
	teardown();
	begin(BALANCE_SOURCE);
	for (unsigned who = 0; who < 256; who++)
		ck_assert_int_eq(first(who), was[who]);
}
END_TEST

START_TEST(by_source_a_server_that_goes_moves_only_its_own_clients)
{
	int was[256];
	unsigned moved[SERVERS] = {0};

	teardown();
	begin(BALANCE_SOURCE);
	for (unsigned who = 0; who < 256; who++)
		was[who] = first(who);
	target_set(&targets, &targets.list[0], TARGET_DRAIN);
	now_us += TARGETS_REMEMBER_US;
	for (unsigned who = 0; who < 256; who++) {
		int now = first(who);

		if (was[who])
			ck_assert_int_eq(now, was[who]);
		else
			moved[now]++;
	}
	ck_assert_uint_eq(moved[0], 0);
	ck_assert(moved[1] && moved[2]);
}
END_TEST

START_TEST(a_drained_server_is_given_to_nobody)
{
	struct target_seat seat, next = {0};

	open_one(&seat, 1, 0);
	target_set(&targets, &targets.list[0], TARGET_DRAIN);
	ck_assert(!target_is_down(&targets.list[0]));
	ck_assert_int_eq(first(2), 1);
	ck_assert_int_eq(seek(&next, 1), 1);
	leave(&next);
	target_set(&targets, &targets.list[0], TARGET_UP);
	ck_assert_int_eq(first(3), 0);
	for (unsigned i = 0; i < SERVERS; i++)
		target_set(&targets, &targets.list[i], TARGET_DOWN);
	ck_assert(target_is_down(&targets.list[0]));
	ck_assert_int_eq(first(1), -1);
	leave(&seat);
}
END_TEST

START_TEST(what_became_of_each_is_counted)
{
	struct target_seat seat = {0};
	struct target_info info;

	ck_assert_int_eq(seek(&seat, 1), 0);
	has_failed(&seat);
	ck_assert_int_eq(seek(&seat, 1), 1);
	targets_opened(&seat);
	now_us += SECOND;
	target_info_get(&targets, &targets.list[0], now_us, &info);
	ck_assert_uint_eq(info.attempts, 1);
	ck_assert_uint_eq(info.failures, 1);
	ck_assert_uint_eq(info.connections_total, 0);
	ck_assert_uint_eq(info.last_us, TARGETS_LAST_US - SECOND);
	ck_assert_uint_eq(info.error_age_us, SECOND);
	ck_assert_str_eq(info.error, "it is off");
	target_info_get(&targets, &targets.list[1], now_us, &info);
	ck_assert_uint_eq(info.connections, 1);
	leave(&seat);
	leave(&seat);
	target_info_get(&targets, &targets.list[1], now_us, &info);
	ck_assert_uint_eq(info.connections, 0);
	ck_assert_uint_eq(info.connections_total, 1);
	ck_assert_uint_eq(info.failures, 0);
	ck_assert_uint_eq(info.last_us, 0);
}
END_TEST

START_TEST(a_server_is_found_by_its_address)
{
	ck_assert_ptr_eq(target_find(&targets, "tcp://b:2049"), &targets.list[1]);
	ck_assert_ptr_eq(target_find(&targets, "c:2049"), &targets.list[2]);
	ck_assert_ptr_eq(target_find(&targets, "a"), &targets.list[0]);
	ck_assert_ptr_null(target_find(&targets, "d"));
	ck_assert_ptr_null(target_find(&targets, ""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("targets");
	TCase *tc = tcase_create("targets");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_servers_are_tried_in_order_and_each_once);
	tcase_add_test(tc, one_that_has_failed_is_tried_last_for_ten_seconds);
	tcase_add_test(tc, one_that_a_probe_found_down_is_tried_last_until_it_answers);
	tcase_add_loop_test(tc, one_that_closed_on_one_client_is_asked_before_it_is_tried_last, 0,
			    2);
	tcase_add_loop_test(tc, one_that_takes_no_connection_from_one_client_is_asked_too, 0, 3);
	tcase_add_test(tc, a_probe_that_failed_here_says_nothing_of_the_server);
	tcase_add_test(tc, those_with_connections_are_in_use);
	tcase_add_test(tc, an_answer_ends_that);
	tcase_add_test(tc, of_several_that_have_failed_the_one_is_first_that_failed_longest_ago);
	tcase_add_test(tc, all_connections_of_a_client_lead_to_one_server);
	tcase_add_test(tc,
		       a_client_whose_connection_lives_there_goes_there_though_others_have_failed);
	tcase_add_test(tc, who_comes_while_another_connection_is_being_tried_follows_it);
	tcase_add_test(tc, a_home_is_kept_for_a_while_behind_the_last_connection);
	tcase_add_test(tc, only_so_many_homes_are_kept);
	tcase_add_test(tc, by_source_clients_are_spread_and_each_has_its_own);
	tcase_add_test(tc, by_source_a_server_that_goes_moves_only_its_own_clients);
	tcase_add_test(tc, a_drained_server_is_given_to_nobody);
	tcase_add_test(tc, what_became_of_each_is_counted);
	tcase_add_test(tc, a_server_is_found_by_its_address);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
