// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the connection limits of a service: which limit each client counts against, and which
 * connection is evicted when one is reached.
 */
#include "daemon/service/conn_limits.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "tests/lib/test.h"

#define MAX       4u
#define MOST_HALF CONN_LIMITS_HALF_OPEN_MIN
#define LATER_US  (10 * CONN_LIMITS_GRACE_US)

static struct service_config config;
static struct conn_limits limits;
static struct conn_limits_thread side, other;
static unsigned wakes;
static struct conn_slot *guests[2 * CONN_LIMITS_TARPIT_MAX];
static struct conn_slot *crowd[CONFIG_AUTO_SHARE + 1];

static void wake(void *arg)
{
	wakes++;
}

static void start(unsigned max, unsigned per_client)
{
	config = (struct service_config){.max_connections = max,
					 .max_connections_per_client = per_client};
	ck_assert_int_eq(conn_limits_init(&limits, &config), 0);
	conn_limits_thread_init(&side, wake, NULL);
	conn_limits_thread_init(&other, wake, NULL);
	wakes = 0;
}

static struct conn_slot *enter_from(uint32_t client, uint64_t now_us, enum leg_close *why)
{
	const struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(client)};

	return conn_limits_add(&limits, &side, (const struct sockaddr *)&in, now_us, why);
}

static struct conn_slot *enter(void)
{
	enum leg_close why;
	struct conn_slot *slot = enter_from(1, 0, &why);

	ck_assert_ptr_nonnull(slot);
	return slot;
}

static struct conn_slot *seek(void)
{
	struct conn_slot *slot = enter();
	enum leg_close why;

	ck_assert(conn_slot_connecting(slot, 0, &why));
	return slot;
}

static struct conn_slot *fresh(void)
{
	struct conn_slot *slot = seek();

	conn_slot_connected(slot);
	return slot;
}

static struct conn_slot *carry(void)
{
	struct conn_slot *slot = fresh();

	ck_assert(conn_slot_first_call(slot));
	return slot;
}

static void expect(unsigned half_open, unsigned active, unsigned held)
{
	struct conn_limits_counts counts;

	conn_limits_counts_get(&limits, &counts);
	ck_assert_uint_eq(counts.half_open, half_open);
	ck_assert_uint_eq(counts.active, active);
	ck_assert_uint_eq(counts.tarpit, held);
}

static void expect_expelled(struct conn_slot *slot, enum leg_close why)
{
	enum leg_close got = LEG_CLOSE_COUNT;

	ck_assert(!conn_slot_may_stay(slot, &got));
	ck_assert_int_eq(got, why);
}

static void expect_stays(struct conn_slot *slot)
{
	enum leg_close why;

	ck_assert(conn_slot_may_stay(slot, &why));
}

static void finish(void)
{
	expect(0, 0, 0);
	ck_assert_ptr_null(conn_limits_next_evicted(&limits, &side));
	conn_limits_fini(&limits);
}

/* ---- half-open ones ---- */

START_TEST(half_open_ones_do_not_count_against_max_connections)
{
	struct conn_slot *good[MAX];

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF - 1; i++)
		guests[i] = enter();
	for (unsigned i = 0; i < MAX; i++)
		good[i] = carry();
	expect(MOST_HALF - 1, MAX, 0);
	for (unsigned i = 0; i < MOST_HALF - 1; i++) {
		expect_stays(guests[i]);
		conn_slot_free(guests[i]);
	}
	for (unsigned i = 0; i < MAX; i++)
		conn_slot_free(good[i]);
	finish();
}
END_TEST

START_TEST(past_their_limit_the_oldest_half_open_one_goes)
{
	/* max_connections, where that is more than the least. */
	unsigned most = _i ? 200 : MOST_HALF;

	start(_i ? most : MAX, 0);
	for (unsigned i = 0; i < most + 2; i++)
		guests[i] = enter();
	expect(most, 0, 0);
	ck_assert_uint_eq(wakes, 2);
	expect_expelled(guests[0], LEG_CLOSE_HALF_OPEN);
	expect_expelled(guests[1], LEG_CLOSE_HALF_OPEN);
	expect_stays(guests[2]);
	/* Its thread is notified of each once, oldest first. */
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &side), guests[0]);
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &side), guests[1]);
	ck_assert_ptr_null(conn_limits_next_evicted(&limits, &side));
	for (unsigned i = 0; i < most + 2; i++)
		conn_slot_free(guests[i]);
	finish();
}
END_TEST

/* With "auto" max_connections can be as many as there are descriptors: that many need not be half-open. */
START_TEST(half_open_ones_of_auto_have_the_limit_of_its_share)
{
	enum leg_close why;

	start(100000, 0);
	config.auto_connections = true;
	for (unsigned i = 0; i < CONFIG_AUTO_SHARE; i++)
		crowd[i] = enter();
	expect(CONFIG_AUTO_SHARE, 0, 0);
	crowd[CONFIG_AUTO_SHARE] = enter();
	expect(CONFIG_AUTO_SHARE, 0, 0);
	ck_assert(!conn_slot_may_stay(crowd[0], &why));
	ck_assert_int_eq(why, LEG_CLOSE_HALF_OPEN);
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &side), crowd[0]);
	for (unsigned i = 0; i <= CONFIG_AUTO_SHARE; i++)
		conn_slot_free(crowd[i]);
	finish();
}
END_TEST

/* It waits for an old connection of its client to end, and for no longer than that. */
START_TEST(a_connection_with_a_call_is_not_evicted)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++)
		guests[i] = enter();
	ck_assert(conn_slot_first_call(guests[0]));
	expect(MOST_HALF, 0, 0);
	guests[MOST_HALF] = enter();
	expect_stays(guests[0]);
	expect_expelled(guests[1], LEG_CLOSE_HALF_OPEN);
	expect(MOST_HALF, 0, 0);
	ck_assert(conn_slot_connecting(guests[0], 0, &why));
	conn_slot_connected(guests[0]);
	/* It has carried one. */
	ck_assert_int_eq(guests[0]->state.now, CONN_SLOT_ACTIVE);
	for (unsigned i = 0; i < MOST_HALF + 1; i++)
		conn_slot_free(guests[i]);
	finish();
}
END_TEST

START_TEST(where_all_have_given_a_call_later_ones_wait)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++) {
		guests[i] = enter();
		ck_assert(conn_slot_first_call(guests[i]));
	}
	ck_assert(!conn_limits_can_accept(&limits, LATER_US));
	ck_assert(!conn_limits_evict_half_open(&limits, LATER_US, 0));
	/* One that is here all the same sends nobody away. */
	guests[MOST_HALF] = enter_from(1, LATER_US, &why);
	expect(MOST_HALF + 1, 0, 0);
	for (unsigned i = 0; i < MOST_HALF + 1; i++) {
		expect_stays(guests[i]);
		conn_slot_free(guests[i]);
	}
	finish();
}
END_TEST

START_TEST(later_ones_wait_until_the_oldest_has_had_its_time)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++) {
		ck_assert(conn_limits_can_accept(&limits, 1000));
		guests[i] = enter_from(1, 1000, &why);
	}
	ck_assert(!conn_limits_can_accept(&limits, 1000));
	ck_assert(!conn_limits_can_accept(&limits, 999 + CONN_LIMITS_GRACE_US));
	ck_assert(conn_limits_can_accept(&limits, 1000 + CONN_LIMITS_GRACE_US));
	/* One that goes on makes room at once. */
	ck_assert(conn_slot_connecting(guests[7], 0, &why));
	ck_assert(conn_limits_can_accept(&limits, 1000));
	for (unsigned i = 0; i < MOST_HALF; i++)
		conn_slot_free(guests[i]);
	finish();
}
END_TEST

START_TEST(silent_clients_are_evicted_if_descriptors_are_short)
{
	struct conn_slot *first, *second;
	enum leg_close why;

	start(MAX, 0);
	ck_assert(!conn_limits_evict_half_open(&limits, LATER_US, 0));
	first = enter_from(1, 0, &why);
	second = enter_from(1, 5, &why);
	ck_assert(!conn_limits_evict_half_open(&limits, 9, 10));
	ck_assert(conn_limits_evict_half_open(&limits, 10, 10));
	ck_assert(!conn_limits_evict_half_open(&limits, 10, 10));
	expect_expelled(first, LEG_CLOSE_HALF_OPEN);
	expect_stays(second);
	/* Its thread is not notified of one that leaves before the thread has looked. */
	conn_slot_free(first);
	ck_assert_ptr_null(conn_limits_next_evicted(&limits, &side));
	conn_slot_free(second);
	finish();
}
END_TEST

/* ---- max_connections ---- */

START_TEST(the_oldest_without_a_call_makes_room)
{
	struct conn_slot *all[MAX + 2];

	start(MAX, 0);
	all[0] = carry();
	all[1] = seek();
	all[2] = fresh();
	all[3] = fresh();
	all[4] = seek();
	expect_expelled(all[2], LEG_CLOSE_MADE_ROOM);
	expect(0, MAX, 0);
	all[5] = seek();
	expect_expelled(all[3], LEG_CLOSE_MADE_ROOM);
	expect(0, MAX, 0);
	ck_assert_uint_eq(wakes, 2);
	for (unsigned i = 0; i < MAX + 2; i++) {
		if (i < 2 || i > 3)
			expect_stays(all[i]);
		conn_slot_free(all[i]);
	}
	finish();
}
END_TEST

START_TEST(no_client_with_a_call_or_a_connecting_server_is_evicted)
{
	struct conn_slot *all[MAX], *late, *seeker;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 0);
	late = enter();
	for (unsigned i = 0; i < MAX; i++)
		all[i] = i % 2 ? seek() : carry();
	ck_assert(!conn_slot_connecting(late, 0, &why));
	ck_assert_int_eq(why, LEG_CLOSE_TOO_MANY);
	expect(1, MAX, 0);
	/* A Call that was given while the server was sought counts when it is reached. */
	seeker = all[1];
	ck_assert(conn_slot_first_call(seeker));
	conn_slot_connected(seeker);
	ck_assert(!conn_slot_connecting(late, 0, &why));
	conn_slot_free(all[0]);
	ck_assert(conn_slot_connecting(late, 0, &why));
	for (unsigned i = 1; i < MAX; i++)
		conn_slot_free(all[i]);
	conn_slot_free(late);
	finish();
}
END_TEST

/* It counts no more while it ends, so that its client's next one has its place. */
START_TEST(a_superseded_connection_gives_its_slot_to_its_client)
{
	struct conn_slot *old, *back;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 1);
	old = carry();
	conn_slot_superseded(old);
	expect(0, 0, 0);
	back = enter();
	ck_assert(conn_slot_first_call(back));
	ck_assert(conn_slot_connecting(back, 0, &why));
	expect(0, 1, 0);
	conn_slot_free(old);
	conn_slot_free(back);
	finish();
}
END_TEST

START_TEST(an_evicted_connection_does_not_change_state_again)
{
	struct conn_slot *first, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 0);
	first = fresh();
	next = seek();
	ck_assert(!conn_slot_first_call(first));
	conn_slot_connected(first);
	expect_expelled(first, LEG_CLOSE_MADE_ROOM);
	ck_assert(!conn_slot_connecting(first, 0, &why));
	ck_assert_int_eq(why, LEG_CLOSE_MADE_ROOM);
	expect(0, 1, 0);
	/* It may be held then, and its thread need not be told any more. */
	conn_slot_tarpit(first);
	expect(0, 1, 1);
	ck_assert_ptr_null(conn_limits_next_evicted(&limits, &side));
	conn_slot_free(first);
	conn_slot_free(next);
	finish();
}
END_TEST

/* ---- half-closed ones ---- */

#define S(n) ((uint64_t)(n)*1000000)

static struct conn_slot *half_closed(uint32_t client, uint64_t oldest_call_us)
{
	enum leg_close why;
	struct conn_slot *slot = enter_from(client, 0, &why);

	ck_assert_ptr_nonnull(slot);
	ck_assert(conn_slot_first_call(slot));
	ck_assert(conn_slot_connecting(slot, 0, &why));
	conn_slot_connected(slot);
	conn_slot_half_closed(slot, oldest_call_us);
	return slot;
}

START_TEST(the_half_closed_one_that_has_waited_longest_makes_room)
{
	struct conn_slot *all[MAX], *late, *later;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 0);
	all[0] = carry();
	all[1] = half_closed(1, S(20));
	all[2] = half_closed(2, S(10));
	/*
	 * It has no Call without a Reply: what it still has to take is not for others to cut off.
	 */
	all[3] = half_closed(3, 0);
	late = enter();
	later = enter();
	expect(2, MAX, 0);
	ck_assert(!conn_slot_connecting(late, S(10) + CONN_LIMITS_HALF_CLOSED_US - 1, &why));
	ck_assert_int_eq(why, LEG_CLOSE_TOO_MANY);
	ck_assert_uint_eq(wakes, 0);
	ck_assert(conn_slot_connecting(late, S(10) + CONN_LIMITS_HALF_CLOSED_US, &why));
	expect(1, MAX, 0);
	expect_expelled(all[2], LEG_CLOSE_HALF_CLOSED);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &side), all[2]);
	/* Its oldest Call has a Reply by now. */
	conn_slot_half_closed(all[1], S(22));
	ck_assert(!conn_slot_connecting(later, S(26), &why));
	ck_assert(conn_slot_connecting(later, S(27), &why));
	expect_expelled(all[1], LEG_CLOSE_HALF_CLOSED);
	expect_stays(all[0]);
	expect_stays(all[3]);
	expect(0, MAX, 0);
	for (unsigned i = 0; i < MAX; i++)
		conn_slot_free(all[i]);
	conn_slot_free(late);
	conn_slot_free(later);
	finish();
}
END_TEST

START_TEST(one_without_a_call_goes_before_a_half_closed_one)
{
	struct conn_slot *half, *without, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(2, 0);
	half = half_closed(1, S(1));
	without = fresh();
	next = enter();
	ck_assert(conn_slot_connecting(next, S(100), &why));
	expect_expelled(without, LEG_CLOSE_MADE_ROOM);
	expect_stays(half);
	conn_slot_free(half);
	conn_slot_free(without);
	conn_slot_free(next);
	finish();
}
END_TEST

/* A connection whose server is sought, too; its end may come from the thread of another. */
START_TEST(a_half_closed_client_that_waits_for_its_server_is_evicted)
{
	struct conn_slot *half, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 0);
	half = enter();
	ck_assert(conn_slot_first_call(half));
	/* Without a place there is none to make. */
	conn_slot_half_closed(half, S(1));
	ck_assert(!conn_limits_evict_half_closed(&limits, S(100)));
	ck_assert(conn_slot_connecting(half, S(1), &why));
	next = enter();
	ck_assert(conn_slot_connecting(next, S(100), &why));
	expect_expelled(half, LEG_CLOSE_HALF_CLOSED);
	conn_slot_connected(half);
	expect(0, 1, 0);
	conn_slot_free(half);
	conn_slot_free(next);
	finish();
}
END_TEST

/* Held, superseded or gone, it is none that could make room any more. */
START_TEST(a_half_closed_one_that_ends_makes_no_room)
{
	struct conn_slot *half, *good;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 1);
	half = half_closed(1, S(1));
	if (_i == 0)
		conn_slot_tarpit(half);
	else if (_i == 1)
		conn_slot_superseded(half);
	else
		conn_slot_free(half);
	good = enter_from(1, S(50), &why);
	ck_assert_ptr_nonnull(good);
	ck_assert(conn_slot_connecting(good, S(50), &why));
	ck_assert(!conn_limits_evict_half_closed(&limits, S(100)));
	ck_assert_uint_eq(wakes, 0);
	if (_i != 2)
		conn_slot_free(half);
	conn_slot_free(good);
	finish();
}
END_TEST

START_TEST(of_an_address_its_own_half_closed_one_makes_room)
{
	struct conn_slot *half, *elses, *first, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 2);
	elses = half_closed(2, S(1));
	half = half_closed(1, S(10));
	first = enter_from(1, S(12), &why);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(enter_from(1, S(14), &why));
	ck_assert_int_eq(why, LEG_CLOSE_PER_CLIENT);
	next = enter_from(1, S(15), &why);
	ck_assert_ptr_nonnull(next);
	expect_expelled(half, LEG_CLOSE_HALF_CLOSED);
	expect_stays(elses);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_ptr_null(enter_from(1, S(100), &why));
	conn_slot_free(half);
	conn_slot_free(elses);
	conn_slot_free(first);
	conn_slot_free(next);
	ck_assert_uint_eq(client_limits_addresses(&limits.clients), 0);
	finish();
}
END_TEST

START_TEST(half_closed_ones_go_for_want_of_descriptors)
{
	struct conn_slot *half;

	start(MAX, 0);
	ck_assert(!conn_limits_evict_half_closed(&limits, S(100)));
	half = half_closed(1, S(10));
	ck_assert(!conn_limits_evict_half_closed(&limits, S(14)));
	ck_assert(conn_limits_evict_half_closed(&limits, S(15)));
	ck_assert(!conn_limits_evict_half_closed(&limits, S(15)));
	expect_expelled(half, LEG_CLOSE_HALF_CLOSED);
	/* Clocks of two threads may be a turn apart. */
	conn_slot_free(half);
	half = half_closed(1, S(20));
	ck_assert(!conn_limits_evict_half_closed(&limits, S(20) - 1));
	conn_slot_free(half);
	finish();
}
END_TEST

/* ---- max_connections_per_client ---- */

START_TEST(an_address_has_max_connections_per_client)
{
	struct conn_slot *a, *b, *c, *elses;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 2);
	a = enter_from(1, 0, &why);
	b = enter_from(1, 0, &why);
	ck_assert_ptr_null(enter_from(1, 0, &why));
	ck_assert_int_eq(why, LEG_CLOSE_PER_CLIENT);
	elses = enter_from(2, 0, &why);
	ck_assert_ptr_nonnull(elses);
	/* Whatever happens to one of them. */
	if (_i == 0)
		conn_slot_free(a);
	else if (_i == 1)
		conn_slot_tarpit(a);
	else
		ck_assert(conn_limits_evict_half_open(&limits, 1, 1));
	ck_assert(conn_slot_connecting(b, 0, &why));
	c = enter_from(1, 0, &why);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_null(enter_from(1, 0, &why));
	if (_i != 0)
		conn_slot_free(a);
	conn_slot_free(b);
	conn_slot_free(c);
	conn_slot_free(elses);
	ck_assert_uint_eq(client_limits_addresses(&limits.clients), 0);
	finish();
}
END_TEST

/* ---- held ones ---- */

START_TEST(of_too_many_that_are_held_the_oldest_goes)
{
	struct conn_slot *mine;

	start(MAX, 0);
	mine = carry();
	conn_slot_tarpit(mine);
	expect(0, 0, 1);
	for (unsigned i = 0; i < CONN_LIMITS_TARPIT_MAX; i++) {
		guests[i] = conn_limits_add_tarpit(&limits, &other, &guests[i], 0);
		ck_assert_ptr_nonnull(guests[i]);
		ck_assert_ptr_eq(guests[i]->owner, &guests[i]);
	}
	expect(0, 0, CONN_LIMITS_TARPIT_MAX);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_ptr_null(conn_limits_next_evicted(&limits, &other));
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &side), mine);
	conn_slot_free(mine);
	mine = carry();
	conn_slot_tarpit(mine);
	expect(0, 0, CONN_LIMITS_TARPIT_MAX);
	ck_assert_ptr_eq(conn_limits_next_evicted(&limits, &other), guests[0]);
	conn_slot_free(mine);
	for (unsigned i = 0; i < CONN_LIMITS_TARPIT_MAX; i++)
		conn_slot_free(guests[i]);
	finish();
}
END_TEST

/* ---- threads ---- */

#define THREADS 4u
#define ROUNDS  20000u

static bool over;

/* Its guests come, are sought a server, give a Call or not, and go; those that have to go do so. */
static void *live(void *arg)
{
	struct conn_limits_thread *mine = arg;
	unsigned seed = (unsigned)(uintptr_t)arg;
	struct conn_slot *here[8] = {0};
	const struct sockaddr_in in = {.sin_family = AF_INET};
	enum leg_close why;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct conn_slot **at = &here[rand_r(&seed) % ARRAY_SIZE(here)];

		while (conn_limits_next_evicted(&limits, mine))
			;
		if (*at && (!conn_slot_may_stay(*at, &why) || rand_r(&seed) % 2)) {
			conn_slot_free(*at);
			*at = NULL;
		}
		if (*at)
			continue;
		*at = conn_limits_add(&limits, mine, (const struct sockaddr *)&in, i, &why);
		if (!*at || !conn_slot_connecting(*at, S(rand_r(&seed) % 10), &why) ||
		    rand_r(&seed) % 8 == 0)
			continue;
		conn_slot_connected(*at);
		if (rand_r(&seed) % 2)
			(void)!conn_slot_first_call(*at);
		if (rand_r(&seed) % 4 == 0)
			conn_slot_half_closed(*at, 1 + i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(here); i++)
		if (here[i])
			conn_slot_free(here[i]);
	return NULL;
}

static void *watch(void *arg)
{
	struct conn_limits_counts counts;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		conn_limits_counts_get(&limits, &counts);
		if (counts.active > MAX)
			return &limits;
	}
	return NULL;
}

START_TEST(no_thread_seats_one_too_many)
{
	struct conn_limits_thread sides[THREADS];
	pthread_t threads[THREADS], watcher;
	void *bad;

	start(MAX, 0);
	over = false;
	ck_assert_int_eq(pthread_create(&watcher, NULL, watch, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		conn_limits_thread_init(&sides[i], NULL, NULL);
		ck_assert_int_eq(pthread_create(&threads[i], NULL, live, &sides[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(watcher, &bad);
	ck_assert_ptr_null(bad);
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("door");
	TCase *tc = tcase_create("door");

	tcase_add_test(tc, half_open_ones_do_not_count_against_max_connections);
	tcase_add_loop_test(tc, past_their_limit_the_oldest_half_open_one_goes, 0, 2);
	tcase_add_test(tc, half_open_ones_of_auto_have_the_limit_of_its_share);
	tcase_add_test(tc, a_connection_with_a_call_is_not_evicted);
	tcase_add_test(tc, where_all_have_given_a_call_later_ones_wait);
	tcase_add_test(tc, later_ones_wait_until_the_oldest_has_had_its_time);
	tcase_add_test(tc, silent_clients_are_evicted_if_descriptors_are_short);
	tcase_add_test(tc, the_oldest_without_a_call_makes_room);
	tcase_add_test(tc, no_client_with_a_call_or_a_connecting_server_is_evicted);
	tcase_add_test(tc, a_superseded_connection_gives_its_slot_to_its_client);
	tcase_add_test(tc, an_evicted_connection_does_not_change_state_again);
	tcase_add_test(tc, the_half_closed_one_that_has_waited_longest_makes_room);
	tcase_add_test(tc, one_without_a_call_goes_before_a_half_closed_one);
	tcase_add_test(tc, a_half_closed_client_that_waits_for_its_server_is_evicted);
	tcase_add_loop_test(tc, a_half_closed_one_that_ends_makes_no_room, 0, 3);
	tcase_add_test(tc, of_an_address_its_own_half_closed_one_makes_room);
	tcase_add_test(tc, half_closed_ones_go_for_want_of_descriptors);
	tcase_add_loop_test(tc, an_address_has_max_connections_per_client, 0, 3);
	tcase_add_test(tc, of_too_many_that_are_held_the_oldest_goes);
	tcase_add_test(tc, no_thread_seats_one_too_many);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
