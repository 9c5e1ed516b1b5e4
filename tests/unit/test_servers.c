// SPDX-License-Identifier: BSD-3-Clause
/* Tests the servers of a service: which one a client gets, and when it gets another. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "daemon/service/servers.h"
#include "tests/lib/test.h"

#define SERVERS 3u
#define SECOND  1000000u

static struct config_uri more_servers[SERVERS - 1];
static struct service_config config;
static struct servers servers;
static struct log_limit lines;
static uint64_t now_us;

static void begin(enum balance balance)
{
	struct server_uris uris;
	static char name[] = "files", port[] = "2049", hosts[SERVERS][2] = {"a", "b", "c"};

	config = (struct service_config){
		.name = name,
		.connect = {TRANSPORT_TCP, hosts[0], port},
		.more_servers = more_servers,
		.nmore_servers = SERVERS - 1,
		.balance = balance,
		.max_connections = 4,
	};
	for (unsigned i = 1; i < SERVERS; i++)
		more_servers[i - 1] = (struct config_uri){TRANSPORT_TCP, hosts[i], port};
	uris = server_uris_of(&config);
	ck_assert_int_eq(servers_init(&servers, &uris, &config, &lines), 0);
}

static void setup(void)
{
	now_us = 100 * SECOND;
	begin(BALANCE_STANDBY);
}

static void teardown(void)
{
	servers_fini(&servers);
}

/* Returns the number of the server that the client 10.0.0.@who is given next, or -1. */
static int seek(struct server_choice *choice, unsigned who)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(0x0a000000 + who)};
	struct nfs_server *server =
		server_choice_next(&servers, choice, (const struct sockaddr *)&addr, now_us);

	return server ? (int)server->index : -1;
}

static int first(unsigned who)
{
	struct server_choice choice = {0};
	int found = seek(&choice, who);

	server_choice_release(&choice, now_us);
	return found;
}

static void has_failed(struct server_choice *choice)
{
	server_choice_failed(choice, "it is off", now_us);
}

static void open_one(struct server_choice *choice, unsigned who, int want)
{
	*choice = (struct server_choice){0};
	ck_assert_int_eq(seek(choice, who), want);
	server_choice_connected(choice);
}

static void leave(struct server_choice *choice)
{
	server_choice_release(choice, now_us);
}

START_TEST(the_servers_are_tried_in_order_and_each_once)
{
	struct server_choice choice = {0};

	for (int i = 0; i < (int)SERVERS; i++) {
		ck_assert_int_eq(seek(&choice, 1), i);
		ck_assert_uint_eq(server_choice_remaining(&choice), SERVERS - 1 - (unsigned)i);
		has_failed(&choice);
	}
	ck_assert_int_eq(seek(&choice, 1), -1);
	leave(&choice);
}
END_TEST

START_TEST(a_failed_server_is_tried_last_for_ten_seconds)
{
	struct server_choice choice = {0};

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	leave(&choice);
	ck_assert_int_eq(first(2), 1);
	now_us += SERVERS_TRY_LAST_US - 1;
	ck_assert_int_eq(first(3), 1);
	now_us += 1;
	ck_assert_int_eq(first(4), 0);
}
END_TEST

START_TEST(a_server_that_a_probe_found_down_is_tried_last_until_it_answers)
{
	struct server_stats info;

	servers_checked(&servers, 0, LEG_CLOSE_REFUSED, "it is off", now_us);
	now_us += 10 * SERVERS_TRY_LAST_US;
	ck_assert_int_eq(first(1), 1);
	server_stats_get(&servers, &servers.list[0], now_us, &info);
	ck_assert_str_eq(info.error, "it is off");
	ck_assert_uint_eq(info.attempts + info.failures, 0);
	servers_checked(&servers, 0, LEG_CLOSE_LOCAL, NULL, now_us);
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
	struct server_choice choice;
	bool counts;

	open_one(&choice, who, 0);
	counts = server_choice_unanswered(&choice, NULL, (const struct sockaddr *)&addr,
					  LEG_CLOSE_PEER, "it closed", now_us);
	leave(&choice);
	return counts;
}

START_TEST(a_server_that_closed_on_one_client_is_checked_before_it_is_tried_last)
{
	struct server_stats info;
	unsigned doubts = 0;

	servers_on_doubt(&servers, doubt, &doubts);
	ck_assert(!is_closed_on(1));
	ck_assert(!is_closed_on(1));
	ck_assert_uint_eq(doubts, 2);
	ck_assert_uint_eq(servers_take_doubts(&servers), 1);
	ck_assert_int_eq(first(2), 0);
	if (_i == 0) {
		servers_doubt_checked(&servers, 0, LEG_CLOSE_LOCAL, NULL, now_us);
		ck_assert_int_eq(first(2), 0);
		/* It closes for one more client, though it answers NULL. */
		ck_assert(is_closed_on(2));
	} else {
		servers_doubt_checked(&servers, 0, LEG_CLOSE_PEER, "it closed again", now_us);
	}
	ck_assert_int_eq(first(3), 1);
	server_stats_get(&servers, &servers.list[0], now_us, &info);
	ck_assert_str_eq(info.error, "it closed");
	ck_assert_uint_eq(info.failures, 1);
	/* As any that has failed, not as one that is asked again and again. */
	now_us += SERVERS_TRY_LAST_US;
	ck_assert_int_eq(first(4), 0);
}
END_TEST

/* Of one that sees the clients' own addresses. */
START_TEST(a_server_that_rejects_one_clients_connection_is_checked_too)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(0x0a000001)};
	static const enum leg_close for_all[] = {LEG_CLOSE_REFUSED, LEG_CLOSE_NO_ADDRESS,
						 LEG_CLOSE_NO_MOUNT};
	const struct sockaddr *client = (const struct sockaddr *)&addr;
	struct server_choice choice = {0}, other;
	unsigned doubts = 0;

	servers_on_doubt(&servers, doubt, &doubts);
	/* Others are served meanwhile. */
	open_one(&other, 2, 0);
	server_health_first_reply(&servers.list[0].health, NULL, now_us);
	ck_assert_int_eq(seek(&choice, 1), 0);
	ck_assert(!server_choice_unreached(&choice, NULL, client, LEG_CLOSE_REFUSED, "", now_us));
	ck_assert_uint_eq(doubts, 1);
	ck_assert_int_eq(first(3), 0);
	/*
	 * From the proxy's own address, or for want of one of the server's or of its port, it would
	 * be that for all.
	 */
	if (_i == 0)
		client = NULL;
	ck_assert(server_choice_unreached(&choice, NULL, client, for_all[_i], "", now_us));
	ck_assert_int_eq(first(3), 1);
	leave(&choice);
	server_health_disconnected(&servers.list[0].health);
	leave(&other);
}
END_TEST

START_TEST(a_probe_that_failed_here_says_nothing_of_the_server)
{
	servers_checked(&servers, 0, LEG_CLOSE_RESOURCES, "out of memory", now_us);
	ck_assert_int_eq(first(1), 0);
}
END_TEST

START_TEST(servers_with_connections_are_in_use)
{
	struct server_choice choice;

	ck_assert_uint_eq(servers_in_use(&servers), 0);
	open_one(&choice, 1, 0);
	ck_assert_uint_eq(servers_in_use(&servers), 1);
	leave(&choice);
	ck_assert_uint_eq(servers_in_use(&servers), 0);
}
END_TEST

START_TEST(an_answer_ends_that)
{
	struct server_choice choice = {0};

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	ck_assert_int_eq(first(2), 1);
	server_choice_first_reply(&choice, NULL, now_us);
	ck_assert_int_eq(first(3), 0);
	leave(&choice);
}
END_TEST

START_TEST(of_several_that_have_failed_the_one_is_first_that_failed_longest_ago)
{
	struct server_choice choice = {0};

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	now_us += SECOND;
	ck_assert_int_eq(seek(&choice, 1), 1);
	has_failed(&choice);
	now_us += SECOND;
	ck_assert_int_eq(seek(&choice, 1), 2);
	has_failed(&choice);
	leave(&choice);
	ck_assert_int_eq(first(1), 0);
	ck_assert_int_eq(first(2), 0);
}
END_TEST

START_TEST(all_connections_of_a_client_lead_to_one_server)
{
	struct server_choice old, young[3];

	now_us = 100 * SECOND;
	old = (struct server_choice){0};
	ck_assert_int_eq(seek(&old, 1), 0);
	has_failed(&old);
	ck_assert_int_eq(seek(&old, 1), 1);
	server_choice_connected(&old);
	/* The first server is back, and others are given it. */
	now_us += SERVERS_TRY_LAST_US;
	ck_assert_int_eq(first(2), 0);
	for (unsigned i = 0; i < 3; i++)
		open_one(&young[i], 1, 1);
	leave(&old);
	ck_assert_int_eq(first(1), 1);
	for (unsigned i = 0; i < 3; i++)
		leave(&young[i]);
}
END_TEST

START_TEST(a_client_with_an_open_connection_uses_that_server_again)
{
	struct server_choice mine, other = {0}, more_of_mine;

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

START_TEST(a_connection_of_the_same_client_follows_one_that_is_connecting)
{
	struct server_choice choice = {0};

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	ck_assert_int_eq(seek(&choice, 1), 1);
	now_us += SERVERS_TRY_LAST_US;
	ck_assert_int_eq(first(1), 1);
	leave(&choice);
}
END_TEST

START_TEST(a_home_is_kept_for_a_while_behind_the_last_connection)
{
	struct server_choice choice = {0};

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	ck_assert_int_eq(seek(&choice, 1), 1);
	server_choice_connected(&choice);
	leave(&choice);
	now_us += SERVERS_HOME_KEPT_US - 1;
	ck_assert_int_eq(first(1), 1);
	now_us += SERVERS_HOME_KEPT_US;
	ck_assert_int_eq(first(1), 0);
}
END_TEST

START_TEST(only_so_many_homes_are_kept)
{
	for (unsigned who = 0; who < 100; who++)
		ck_assert_int_eq(first(who), 0);
	ck_assert_uint_eq(servers.nidle_homes, config.max_connections);
	ck_assert_uint_eq(servers.homes.count, config.max_connections);
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
	server_order_set(&servers, &servers.list[0], SERVER_ORDER_DRAIN);
	now_us += SERVERS_HOME_KEPT_US;
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

START_TEST(a_drained_server_gets_no_client)
{
	struct server_choice choice, next = {0};

	open_one(&choice, 1, 0);
	server_order_set(&servers, &servers.list[0], SERVER_ORDER_DRAIN);
	ck_assert(!server_is_ordered_down(&servers.list[0]));
	ck_assert_int_eq(first(2), 1);
	ck_assert_int_eq(seek(&next, 1), 1);
	leave(&next);
	server_order_set(&servers, &servers.list[0], SERVER_ORDER_UP);
	ck_assert_int_eq(first(3), 0);
	for (unsigned i = 0; i < SERVERS; i++)
		server_order_set(&servers, &servers.list[i], SERVER_ORDER_DOWN);
	ck_assert(server_is_ordered_down(&servers.list[0]));
	ck_assert_int_eq(first(1), -1);
	leave(&choice);
}
END_TEST

START_TEST(the_outcome_of_each_connection_is_counted)
{
	struct server_choice choice = {0};
	struct server_stats info;

	ck_assert_int_eq(seek(&choice, 1), 0);
	has_failed(&choice);
	ck_assert_int_eq(seek(&choice, 1), 1);
	server_choice_connected(&choice);
	now_us += SECOND;
	server_stats_get(&servers, &servers.list[0], now_us, &info);
	ck_assert_uint_eq(info.attempts, 1);
	ck_assert_uint_eq(info.failures, 1);
	ck_assert_uint_eq(info.connections_total, 0);
	ck_assert_uint_eq(info.try_last_us, SERVERS_TRY_LAST_US - SECOND);
	ck_assert_uint_eq(info.error_age_us, SECOND);
	ck_assert_str_eq(info.error, "it is off");
	server_stats_get(&servers, &servers.list[1], now_us, &info);
	ck_assert_uint_eq(info.connections, 1);
	leave(&choice);
	leave(&choice);
	server_stats_get(&servers, &servers.list[1], now_us, &info);
	ck_assert_uint_eq(info.connections, 0);
	ck_assert_uint_eq(info.connections_total, 1);
	ck_assert_uint_eq(info.failures, 0);
	ck_assert_uint_eq(info.try_last_us, 0);
}
END_TEST

START_TEST(a_server_is_found_by_its_address)
{
	ck_assert_ptr_eq(servers_find(&servers, "tcp://b:2049"), &servers.list[1]);
	ck_assert_ptr_eq(servers_find(&servers, "c:2049"), &servers.list[2]);
	ck_assert_ptr_eq(servers_find(&servers, "a"), &servers.list[0]);
	ck_assert_ptr_null(servers_find(&servers, "d"));
	ck_assert_ptr_null(servers_find(&servers, ""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("targets");
	TCase *tc = tcase_create("targets");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_servers_are_tried_in_order_and_each_once);
	tcase_add_test(tc, a_failed_server_is_tried_last_for_ten_seconds);
	tcase_add_test(tc, a_server_that_a_probe_found_down_is_tried_last_until_it_answers);
	tcase_add_loop_test(
		tc, a_server_that_closed_on_one_client_is_checked_before_it_is_tried_last, 0, 2);
	tcase_add_loop_test(tc, a_server_that_rejects_one_clients_connection_is_checked_too, 0, 3);
	tcase_add_test(tc, a_probe_that_failed_here_says_nothing_of_the_server);
	tcase_add_test(tc, servers_with_connections_are_in_use);
	tcase_add_test(tc, an_answer_ends_that);
	tcase_add_test(tc, of_several_that_have_failed_the_one_is_first_that_failed_longest_ago);
	tcase_add_test(tc, all_connections_of_a_client_lead_to_one_server);
	tcase_add_test(tc, a_client_with_an_open_connection_uses_that_server_again);
	tcase_add_test(tc, a_connection_of_the_same_client_follows_one_that_is_connecting);
	tcase_add_test(tc, a_home_is_kept_for_a_while_behind_the_last_connection);
	tcase_add_test(tc, only_so_many_homes_are_kept);
	tcase_add_test(tc, by_source_clients_are_spread_and_each_has_its_own);
	tcase_add_test(tc, by_source_a_server_that_goes_moves_only_its_own_clients);
	tcase_add_test(tc, a_drained_server_gets_no_client);
	tcase_add_test(tc, the_outcome_of_each_connection_is_counted);
	tcase_add_test(tc, a_server_is_found_by_its_address);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
