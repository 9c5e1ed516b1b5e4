// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that all connections that wait for a server's name share one look-up, and how long its
 * result is used.
 */
#include "daemon/service/dns_cache.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/loop.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define DESKS   2
#define CLIENTS 10000u
#define S       1000000ull

/* ---- a resolver that answers when it is told to ---- */

static unsigned asked;
static int fails; /* it cannot begin */
static struct resolver_answer *due;
static void (*due_done)(void *arg);
static void *due_arg;

static int begin(const char *host, const char *port, struct resolver_answer *answer,
		 void (*done)(void *arg), void *arg)
{
	ck_assert_str_eq(port, "2049");
	ck_assert_ptr_null(due);
	asked++;
	if (fails)
		return fails;
	due = answer;
	due_done = done;
	due_arg = arg;
	return 0;
}

static const struct resolver resolver = {.start = begin};

static void answer(const struct resolver_answer *what)
{
	ck_assert_ptr_nonnull(due);
	*due = *what;
	due = NULL;
	due_done(due_arg);
}

static struct resolver_answer found(uint32_t ipv4)
{
	struct resolver_answer what = {.naddrs = 1};
	struct sockaddr_in *in = (struct sockaddr_in *)&what.addrs[0];

	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(ipv4)};
	return what;
}

static void answer_with(uint32_t ipv4)
{
	const struct resolver_answer what = found(ipv4);

	answer(&what);
}

static void answer_error(bool is_final)
{
	answer(&(struct resolver_answer){.error = "no", .is_final = is_final});
}

/* ---- desks, of which each could be on a thread of its own, and who waits there ---- */

struct waiter {
	struct dns_wait wait;
	unsigned told;
	size_t naddrs;
	uint32_t ipv4; /* of the first; 0: none */
	enum leg_close why;
	char error[80];
	struct waiter *drops; /* leaves when this one is told */
	struct dns_waiters *again;
};

static struct loop *loop;
static struct log_limit lines;
static struct dns_cache name;
static struct dns_waiters desks[DESKS];
static struct waiter waiters[8];
static unsigned logged;
static char line[LOG_LINE_BYTES];

static bool take_line(void *arg, const char *text, size_t len)
{
	logged++;
	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	return true;
}

static uint64_t now_us(clockid_t clock)
{
	return loop_now_us(loop);
}

static void wake(void *arg)
{
	dns_waiters_woken(arg);
}

static void setup_as(char *host)
{
	static char port[] = "2049";
	static struct config_uri uri;

	static const struct log_output output = {
		.write = take_line, .form = LOG_FORM_LEVEL, .now_us = now_us};

	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
	loop = fake_loop_new();
	fake_loop_advance(loop, 7 * S);
	lines = (struct log_limit){.burst = 1};
	uri = (struct config_uri){TRANSPORT_TCP, host, port};
	dns_cache_init(&name, &uri, "files", &lines);
	for (unsigned i = 0; i < DESKS; i++)
		ck_assert_int_eq(
			dns_waiters_init(&desks[i], &name, loop, &resolver, wake, &desks[i]), 0);
	memset(waiters, 0, sizeof(waiters));
	asked = logged = 0;
	fails = 0;
	due = NULL;
	line[0] = '\0';
}

static void setup(void)
{
	static char host[] = "filer";

	setup_as(host);
}

static void teardown(void)
{
	if (due)
		answer_with(1);
	for (unsigned i = 0; i < DESKS; i++)
		dns_waiters_fini(&desks[i]);
	dns_cache_fini(&name);
	fake_loop_free(loop);
}

static void on_told(void *arg, const struct dns_result *result)
{
	struct waiter *w = arg;

	w->told++;
	w->naddrs = result->naddrs;
	w->ipv4 =
		result->naddrs ? ntohl(((struct sockaddr_in *)result->addrs)->sin_addr.s_addr) : 0;
	w->why = result->why;
	snprintf(w->error, sizeof(w->error), "%s", result->error ? result->error : "");
	if (w->drops)
		dns_waiters_remove(&desks[0], &w->drops->wait);
	if (w->again)
		dns_waiters_add(w->again, &w->wait, on_told, w);
	w->again = NULL;
}

/* Comes to a desk; what is known already it is told. */
static struct waiter *come(unsigned i)
{
	struct waiter *w = &waiters[i];

	memset(w, 0, sizeof(*w));
	dns_waiters_add(&desks[i % DESKS], &w->wait, on_told, w);
	ck_assert_uint_eq(w->told, 0);
	fake_loop_run(loop);
	return w;
}

static void pass(uint64_t us)
{
	fake_loop_advance(loop, us);
}

static void expect(const struct waiter *w, uint32_t ipv4)
{
	ck_assert_uint_eq(w->told, 1);
	ck_assert_uint_eq(w->ipv4, ipv4);
}

static void expect_error(const struct waiter *w, enum leg_close why)
{
	expect(w, 0);
	ck_assert_int_eq(w->why, why);
	ck_assert_str_ne(w->error, "");
}

/* A first answer, that is kept no more. */
static void know(uint32_t ipv4)
{
	struct waiter *w = come(7);

	answer_with(ipv4);
	fake_loop_run(loop);
	expect(w, ipv4);
	pass(DNS_CACHE_KEPT_US);
	asked = 0;
}

/* ---- */

START_TEST(one_lookup_serves_all_waiting_queries)
{
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(come(i)->told, 0);
	ck_assert_uint_eq(asked, 1);
	answer_with(10);
	fake_loop_run(loop);
	for (unsigned i = 0; i < 4; i++)
		expect(&waiters[i], 10);
	/* Who comes in the next seconds too, at either desk. */
	pass(DNS_CACHE_KEPT_US - 1);
	expect(come(4), 10);
	expect(come(5), 10);
	ck_assert_uint_eq(asked, 1);
	pass(1);
	ck_assert_uint_eq(come(6)->told, 0);
	ck_assert_uint_eq(asked, 2);
	answer_with(11);
	fake_loop_run(loop);
	expect(&waiters[6], 11);
	ck_assert_uint_eq(logged, 0);
}
END_TEST

START_TEST(a_cancelled_query_is_not_notified_and_the_others_are)
{
	struct waiter *first = come(0), *second = come(2), *third = come(1);

	dns_waiters_remove(&desks[0], &first->wait);
	dns_waiters_remove(&desks[0], &first->wait);
	answer_with(10);
	/* Also when it is on its way. */
	dns_waiters_remove(&desks[1], &third->wait);
	fake_loop_run(loop);
	ck_assert_uint_eq(first->told + third->told, 0);
	expect(second, 10);
}
END_TEST

START_TEST(an_answer_without_waiting_queries_is_kept)
{
	struct waiter *first = come(0);

	dns_waiters_remove(&desks[0], &first->wait);
	answer_with(10);
	fake_loop_run(loop);
	expect(come(1), 10);
	ck_assert_uint_eq(asked, 1);
}
END_TEST

START_TEST(queries_can_be_added_and_cancelled_during_a_notification)
{
	struct waiter *first = come(0), *second = come(2), *third = come(4);

	first->drops = second;
	first->again = &desks[0];
	answer_with(10);
	fake_loop_run(loop);
	ck_assert_uint_eq(first->told, 2);
	ck_assert_uint_eq(second->told, 0);
	expect(third, 10);
}
END_TEST

START_TEST(an_error_goes_to_all_waiting_queries_and_is_not_kept)
{
	come(0);
	come(1);
	answer_error(_i);
	fake_loop_run(loop);
	expect_error(&waiters[0], LEG_CLOSE_NO_ADDRESS);
	expect_error(&waiters[1], LEG_CLOSE_NO_ADDRESS);
	ck_assert_str_eq(waiters[0].error, "its name \"filer\" cannot be resolved: no");
	pass(DNS_CACHE_ERROR_US - 1);
	expect_error(come(2), LEG_CLOSE_NO_ADDRESS);
	ck_assert_uint_eq(asked, 1);
	pass(1);
	come(3);
	ck_assert_uint_eq(asked, 2);
	answer_with(10);
	fake_loop_run(loop);
	expect(&waiters[3], 10);
}
END_TEST

START_TEST(a_look_up_that_cannot_begin_is_for_want_of_resources)
{
	fails = -EAGAIN;
	expect_error(come(0), LEG_CLOSE_RESOURCES);
	fails = 0;
	pass(DNS_CACHE_ERROR_US);
	come(1);
	answer_with(10);
	fake_loop_run(loop);
	expect(&waiters[1], 10);
}
END_TEST

START_TEST(the_last_good_answer_is_used_when_a_look_up_fails)
{
	know(10);
	if (_i)
		fails = -EAGAIN;
	come(0);
	if (!_i)
		answer_error(false);
	fake_loop_run(loop);
	expect(&waiters[0], 10);
	ck_assert_uint_eq(logged, 1);
	ck_assert_ptr_nonnull(strstr(line, "<4>files: DNS lookup of filer failed ("));
	ck_assert_ptr_nonnull(strstr(line, _i ? strerror(EAGAIN) : "(no)"));
	ck_assert_ptr_nonnull(strstr(line, "using addresses resolved 5 s ago"));
	/* Nobody waits for the next look-up before the answer would have been too old anyway. */
	pass(DNS_CACHE_KEPT_US - 1);
	expect(come(1), 10);
	ck_assert_uint_eq(asked, 1);
	ck_assert_uint_eq(logged, 1);
	pass(1);
	fails = 0;
	come(2);
	ck_assert_uint_eq(asked, 2);
	answer_with(11);
	fake_loop_run(loop);
	expect(&waiters[2], 11);
}
END_TEST

START_TEST(a_silent_name_server_is_waited_for_a_second_while_an_answer_is_known)
{
	know(10);
	come(0);
	come(1);
	pass(DNS_CACHE_SILENT_US - 1);
	ck_assert_uint_eq(waiters[0].told + waiters[1].told, 0);
	pass(1);
	expect(&waiters[0], 10);
	expect(&waiters[1], 10);
	ck_assert_uint_eq(logged, 1);
	ck_assert_ptr_nonnull(strstr(
		line, "(the name server does not respond): using addresses resolved 6 s ago"));
	/* It is silent still: nobody else waits for it. */
	for (unsigned i = 2; i < 6; i++) {
		pass(10 * S);
		expect(come(i), 10);
	}
	ck_assert_uint_eq(asked, 1);
	ck_assert_uint_eq(logged, 1);
	answer_with(11);
	expect(come(6), 11);
}
END_TEST

START_TEST(without_an_answer_a_silent_name_server_is_waited_for)
{
	come(0);
	pass(100 * S);
	ck_assert_uint_eq(waiters[0].told, 0);
	answer_with(10);
	fake_loop_run(loop);
	expect(&waiters[0], 10);
}
END_TEST

START_TEST(an_answer_of_yesterday_is_not_used)
{
	know(10);
	pass(DNS_CACHE_STALE_US - DNS_CACHE_KEPT_US - 1);
	come(0);
	answer_error(false);
	fake_loop_run(loop);
	expect(&waiters[0], 10);
	pass(DNS_CACHE_KEPT_US);
	come(1);
	answer_error(false);
	fake_loop_run(loop);
	expect_error(&waiters[1], LEG_CLOSE_NO_ADDRESS);
}
END_TEST

/* Another host may have the address by now. */
START_TEST(a_name_that_is_gone_is_not_used)
{
	know(10);
	come(0);
	answer_error(true);
	fake_loop_run(loop);
	expect_error(&waiters[0], LEG_CLOSE_NO_ADDRESS);
	pass(DNS_CACHE_KEPT_US);
	come(1);
	answer_error(false);
	fake_loop_run(loop);
	expect_error(&waiters[1], LEG_CLOSE_NO_ADDRESS);
	ck_assert_uint_eq(logged, 0);
}
END_TEST

/* ---- what is no upstream ---- */

static void add_door(struct self_connect *listen_addrs, uint32_t ipv4)
{
	struct resolver_answer at = found(ipv4);

	((struct sockaddr_in *)at.addrs)->sin_port = htons(2049);
	ck_assert_int_eq(
		self_connect_add(listen_addrs, TRANSPORT_TCP, (const struct sockaddr *)at.addrs),
		0);
	name.listen_addrs = listen_addrs;
}

static struct resolver_answer found_two(uint32_t a, uint32_t b)
{
	struct resolver_answer what = found(a);

	what.addrs[1] = found(b).addrs[0];
	what.naddrs = 2;
	for (unsigned i = 0; i < 2; i++)
		((struct sockaddr_in *)&what.addrs[i])->sin_port = htons(2049);
	return what;
}

START_TEST(a_name_of_this_daemon_is_refused_for_that)
{
	struct resolver_answer what = found_two(10, 11);
	struct self_connect listen_addrs = {0};

	add_door(&listen_addrs, 10);
	add_door(&listen_addrs, 11);
	know(9);
	come(0);
	answer(&what);
	fake_loop_run(loop);
	/* Not even the last good answer is used. */
	expect_error(&waiters[0], LEG_CLOSE_OWN_UPSTREAM);
	expect_error(come(1), LEG_CLOSE_OWN_UPSTREAM);
	pass(DNS_CACHE_KEPT_US);
	come(2);
	answer_with(9);
	fake_loop_run(loop);
	expect(&waiters[2], 9);
	self_connect_fini(&listen_addrs);
	name.listen_addrs = NULL;
}
END_TEST

START_TEST(an_address_of_this_daemon_is_left_out)
{
	struct resolver_answer what = found_two(_i ? 11 : 10, _i ? 10 : 11);
	struct self_connect listen_addrs = {0};

	add_door(&listen_addrs, 10);
	come(0);
	answer(&what);
	fake_loop_run(loop);
	expect(&waiters[0], 11);
	ck_assert_uint_eq(waiters[0].naddrs, 1);
	ck_assert_ptr_nonnull(strstr(line, "files: the name filer has the address 0.0.0.10:2049, "
					   "where this daemon listens"));
	self_connect_fini(&listen_addrs);
	name.listen_addrs = NULL;
}
END_TEST

START_TEST(an_answer_without_addresses_is_an_error)
{
	come(0);
	answer(&(struct resolver_answer){0});
	fake_loop_run(loop);
	expect_error(&waiters[0], LEG_CLOSE_NO_ADDRESS);
	ck_assert_str_eq(waiters[0].error,
			 "its name \"filer\" cannot be resolved: it has no address");
}
END_TEST

static void setup_literal(void)
{
	static char host[] = "192.0.2.7";

	setup_as(host);
}

START_TEST(a_literal_is_not_looked_up)
{
	for (unsigned i = 0; i < 3; i++) {
		expect(come(i), 0xc0000207);
		pass(DNS_CACHE_KEPT_US);
	}
	ck_assert_uint_eq(asked, 0);
}
END_TEST

/* ---- many ---- */

static struct dns_wait many[CLIENTS];
static unsigned many_told, turns;
static struct loop_task counter;

static void on_many(void *arg, const struct dns_result *result)
{
	many_told++;
}

static void count_turn(void *arg)
{
	/* A turn later than the task of the answer: as many as one turn may tell. */
	turns++;
	ck_assert_uint_le(many_told, turns * DNS_CACHE_PER_ITERATION);
	if (many_told < CLIENTS)
		loop_defer(loop, &counter);
}

START_TEST(many_waiting_queries_are_notified_a_few_at_a_time)
{
	many_told = turns = 0;
	for (unsigned i = 0; i < CLIENTS; i++)
		dns_waiters_add(&desks[0], &many[i], on_many, NULL);
	fake_loop_run(loop);
	ck_assert_uint_eq(many_told, 0);
	answer_with(10);
	loop_task_init(&counter, count_turn, NULL);
	loop_defer(loop, &counter);
	fake_loop_run(loop);
	ck_assert_uint_eq(many_told, CLIENTS);
	ck_assert_uint_eq(turns, CLIENTS / DNS_CACHE_PER_ITERATION);
	ck_assert_uint_eq(asked, 1);
}
END_TEST

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS  2000u

struct worker {
	struct loop *loop;
	struct dns_waiters waiters;
	struct dns_wait wait;
	unsigned told;
};

static void on_kick(void *arg)
{
	dns_waiters_woken(&((struct worker *)arg)->waiters);
}

static void kick(void *arg)
{
	event_loop_kick(((struct worker *)arg)->loop);
}

static void on_round(void *arg, const struct dns_result *result)
{
	struct worker *worker = arg;

	ck_assert_uint_ge(result->naddrs, 1);
	if (++worker->told == ROUNDS)
		event_loop_stop(worker->loop);
	else
		dns_waiters_add(&worker->waiters, &worker->wait, on_round, worker);
}

static void *run(void *arg)
{
	event_loop_run(((struct worker *)arg)->loop);
	return NULL;
}

/* /etc/hosts knows it. */
START_TEST(workers_share_the_systems_answer)
{
	struct dns_cache local;
	struct worker workers[THREADS] = {0};
	pthread_t threads[THREADS];
	struct time_limit limit;
	char host[] = "localhost", port[] = "2049";
	const struct config_uri uri = {TRANSPORT_TCP, host, port};

	dns_cache_init(&local, &uri, "files", &lines);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].loop = event_loop_new();
		event_loop_on_kick(workers[i].loop, on_kick, &workers[i]);
		ck_assert_int_eq(dns_waiters_init(&workers[i].waiters, &local, workers[i].loop,
						  &resolver_system, kick, &workers[i]),
				 0);
		dns_waiters_add(&workers[i].waiters, &workers[i].wait, on_round, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &workers[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	time_limit_begin(&limit, 60);
	while (!resolver_quiesce(1000))
		ck_assert(!time_limit_passed(&limit));
	for (unsigned i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(workers[i].told, ROUNDS);
		dns_waiters_fini(&workers[i].waiters);
		event_loop_free(workers[i].loop);
	}
	dns_cache_fini(&local);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dns_cache");
	TCase *tc = tcase_create("dns_cache");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_lookup_serves_all_waiting_queries);
	tcase_add_test(tc, a_cancelled_query_is_not_notified_and_the_others_are);
	tcase_add_test(tc, an_answer_without_waiting_queries_is_kept);
	tcase_add_test(tc, queries_can_be_added_and_cancelled_during_a_notification);
	tcase_add_loop_test(tc, an_error_goes_to_all_waiting_queries_and_is_not_kept, 0, 2);
	tcase_add_test(tc, a_look_up_that_cannot_begin_is_for_want_of_resources);
	tcase_add_loop_test(tc, the_last_good_answer_is_used_when_a_look_up_fails, 0, 2);
	tcase_add_test(tc, a_silent_name_server_is_waited_for_a_second_while_an_answer_is_known);
	tcase_add_test(tc, without_an_answer_a_silent_name_server_is_waited_for);
	tcase_add_test(tc, an_answer_of_yesterday_is_not_used);
	tcase_add_test(tc, a_name_that_is_gone_is_not_used);
	tcase_add_test(tc, an_answer_without_addresses_is_an_error);
	tcase_add_test(tc, a_name_of_this_daemon_is_refused_for_that);
	tcase_add_loop_test(tc, an_address_of_this_daemon_is_left_out, 0, 2);
	tcase_add_test(tc, many_waiting_queries_are_notified_a_few_at_a_time);
	tcase_add_test(tc, workers_share_the_systems_answer);
	suite_add_tcase(suite, tc);
	tc = tcase_create("literal");
	tcase_add_checked_fixture(tc, setup_literal, teardown);
	tcase_add_test(tc, a_literal_is_not_looked_up);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
