// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the connection limits of a service: which limit each client counts against, and which
 * connection is evicted when one is reached.
 */
#include "daemon/service/door.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "tests/lib/test.h"

#define MAX       4u
#define MOST_HALF DOOR_HALF_OPEN_MIN
#define LATER_US  (10 * DOOR_PATIENCE_US)

static struct service_config config;
static struct door door;
static struct door_side side, other;
static unsigned wakes;
static struct guest *guests[2 * DOOR_HELD_MAX];

static void wake(void *arg)
{
	wakes++;
}

static void start(unsigned max, unsigned per_client)
{
	config = (struct service_config){.max_connections = max,
					 .max_connections_per_client = per_client};
	ck_assert_int_eq(door_init(&door, &config), 0);
	door_side_init(&side, wake, NULL);
	door_side_init(&other, wake, NULL);
	wakes = 0;
}

static struct guest *enter_from(uint32_t client, uint64_t now_us, enum leg_close *why)
{
	const struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(client)};

	return door_enter(&door, &side, (const struct sockaddr *)&in, now_us, why);
}

static struct guest *enter(void)
{
	enum leg_close why;
	struct guest *guest = enter_from(1, 0, &why);

	ck_assert_ptr_nonnull(guest);
	return guest;
}

static struct guest *seek(void)
{
	struct guest *guest = enter();
	enum leg_close why;

	ck_assert(door_seek(guest, 0, &why));
	return guest;
}

static struct guest *fresh(void)
{
	struct guest *guest = seek();

	door_reached(guest);
	return guest;
}

static struct guest *carry(void)
{
	struct guest *guest = fresh();

	ck_assert(door_carry(guest));
	return guest;
}

static void expect(unsigned half_open, unsigned seated, unsigned held)
{
	struct door_counts counts;

	door_counts_get(&door, &counts);
	ck_assert_uint_eq(counts.half_open, half_open);
	ck_assert_uint_eq(counts.seated, seated);
	ck_assert_uint_eq(counts.held, held);
}

static void expect_expelled(struct guest *guest, enum leg_close why)
{
	enum leg_close got = LEG_CLOSE_COUNT;

	ck_assert(!door_may_stay(guest, &got));
	ck_assert_int_eq(got, why);
}

static void expect_stays(struct guest *guest)
{
	enum leg_close why;

	ck_assert(door_may_stay(guest, &why));
}

static void finish(void)
{
	expect(0, 0, 0);
	ck_assert_ptr_null(door_expelled(&door, &side));
	door_fini(&door);
}

/* ---- half-open ones ---- */

START_TEST(half_open_ones_do_not_count_against_max_connections)
{
	struct guest *good[MAX];

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF - 1; i++)
		guests[i] = enter();
	for (unsigned i = 0; i < MAX; i++)
		good[i] = carry();
	expect(MOST_HALF - 1, MAX, 0);
	for (unsigned i = 0; i < MOST_HALF - 1; i++) {
		expect_stays(guests[i]);
		door_leave(guests[i]);
	}
	for (unsigned i = 0; i < MAX; i++)
		door_leave(good[i]);
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
	ck_assert_ptr_eq(door_expelled(&door, &side), guests[0]);
	ck_assert_ptr_eq(door_expelled(&door, &side), guests[1]);
	ck_assert_ptr_null(door_expelled(&door, &side));
	for (unsigned i = 0; i < most + 2; i++)
		door_leave(guests[i]);
	finish();
}
END_TEST

/* It waits for an old connection of its client to end, and for no longer than that. */
START_TEST(one_that_has_given_a_call_does_not_go)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++)
		guests[i] = enter();
	ck_assert(door_carry(guests[0]));
	expect(MOST_HALF, 0, 0);
	guests[MOST_HALF] = enter();
	expect_stays(guests[0]);
	expect_expelled(guests[1], LEG_CLOSE_HALF_OPEN);
	expect(MOST_HALF, 0, 0);
	ck_assert(door_seek(guests[0], 0, &why));
	door_reached(guests[0]);
	/* It has carried one. */
	ck_assert_int_eq(guests[0]->state.now, GUEST_CARRIES);
	for (unsigned i = 0; i < MOST_HALF + 1; i++)
		door_leave(guests[i]);
	finish();
}
END_TEST

START_TEST(where_all_have_given_a_call_later_ones_wait)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++) {
		guests[i] = enter();
		ck_assert(door_carry(guests[i]));
	}
	ck_assert(!door_has_room(&door, LATER_US));
	ck_assert(!door_expel_half_open(&door, LATER_US, 0));
	/* One that is here all the same sends nobody away. */
	guests[MOST_HALF] = enter_from(1, LATER_US, &why);
	expect(MOST_HALF + 1, 0, 0);
	for (unsigned i = 0; i < MOST_HALF + 1; i++) {
		expect_stays(guests[i]);
		door_leave(guests[i]);
	}
	finish();
}
END_TEST

START_TEST(later_ones_wait_until_the_oldest_has_had_its_time)
{
	enum leg_close why;

	start(MAX, 0);
	for (unsigned i = 0; i < MOST_HALF; i++) {
		ck_assert(door_has_room(&door, 1000));
		guests[i] = enter_from(1, 1000, &why);
	}
	ck_assert(!door_has_room(&door, 1000));
	ck_assert(!door_has_room(&door, 999 + DOOR_PATIENCE_US));
	ck_assert(door_has_room(&door, 1000 + DOOR_PATIENCE_US));
	/* One that goes on makes room at once. */
	ck_assert(door_seek(guests[7], 0, &why));
	ck_assert(door_has_room(&door, 1000));
	for (unsigned i = 0; i < MOST_HALF; i++)
		door_leave(guests[i]);
	finish();
}
END_TEST

START_TEST(the_silent_go_for_want_of_descriptors)
{
	struct guest *first, *second;
	enum leg_close why;

	start(MAX, 0);
	ck_assert(!door_expel_half_open(&door, LATER_US, 0));
	first = enter_from(1, 0, &why);
	second = enter_from(1, 5, &why);
	ck_assert(!door_expel_half_open(&door, 9, 10));
	ck_assert(door_expel_half_open(&door, 10, 10));
	ck_assert(!door_expel_half_open(&door, 10, 10));
	expect_expelled(first, LEG_CLOSE_HALF_OPEN);
	expect_stays(second);
	/* Its thread is not notified of one that leaves before the thread has looked. */
	door_leave(first);
	ck_assert_ptr_null(door_expelled(&door, &side));
	door_leave(second);
	finish();
}
END_TEST

/* ---- max_connections ---- */

START_TEST(the_oldest_without_a_call_makes_room)
{
	struct guest *all[MAX + 2];

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
		door_leave(all[i]);
	}
	finish();
}
END_TEST

START_TEST(none_whose_server_is_sought_or_that_has_given_a_call_does)
{
	struct guest *all[MAX], *late, *seeker;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 0);
	late = enter();
	for (unsigned i = 0; i < MAX; i++)
		all[i] = i % 2 ? seek() : carry();
	ck_assert(!door_seek(late, 0, &why));
	ck_assert_int_eq(why, LEG_CLOSE_TOO_MANY);
	expect(1, MAX, 0);
	/* A Call that was given while the server was sought counts when it is reached. */
	seeker = all[1];
	ck_assert(door_carry(seeker));
	door_reached(seeker);
	ck_assert(!door_seek(late, 0, &why));
	door_leave(all[0]);
	ck_assert(door_seek(late, 0, &why));
	for (unsigned i = 1; i < MAX; i++)
		door_leave(all[i]);
	door_leave(late);
	finish();
}
END_TEST

/* It counts no more while it ends, so that its client's next one has its place. */
START_TEST(one_whose_client_is_back_makes_room)
{
	struct guest *old, *back;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 1);
	old = carry();
	door_superseded(old);
	expect(0, 0, 0);
	back = enter();
	ck_assert(door_carry(back));
	ck_assert(door_seek(back, 0, &why));
	expect(0, 1, 0);
	door_leave(old);
	door_leave(back);
	finish();
}
END_TEST

START_TEST(one_that_has_to_go_goes_no_further)
{
	struct guest *first, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 0);
	first = fresh();
	next = seek();
	ck_assert(!door_carry(first));
	door_reached(first);
	expect_expelled(first, LEG_CLOSE_MADE_ROOM);
	ck_assert(!door_seek(first, 0, &why));
	ck_assert_int_eq(why, LEG_CLOSE_MADE_ROOM);
	expect(0, 1, 0);
	/* It may be held then, and its thread need not be told any more. */
	door_hold(first);
	expect(0, 1, 1);
	ck_assert_ptr_null(door_expelled(&door, &side));
	door_leave(first);
	door_leave(next);
	finish();
}
END_TEST

/* ---- half-closed ones ---- */

#define S(n) ((uint64_t)(n)*1000000)

static struct guest *half_closed(uint32_t client, uint64_t waits_us)
{
	enum leg_close why;
	struct guest *guest = enter_from(client, 0, &why);

	ck_assert_ptr_nonnull(guest);
	ck_assert(door_carry(guest));
	ck_assert(door_seek(guest, 0, &why));
	door_reached(guest);
	door_half_closed(guest, waits_us);
	return guest;
}

START_TEST(the_half_closed_one_that_has_waited_longest_makes_room)
{
	struct guest *all[MAX], *late, *later;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(MAX, 0);
	all[0] = carry();
	all[1] = half_closed(1, S(20));
	all[2] = half_closed(2, S(10));
	/* It has no Call without a Reply: what it still has to take is not for others to cut off. */
	all[3] = half_closed(3, 0);
	late = enter();
	later = enter();
	expect(2, MAX, 0);
	ck_assert(!door_seek(late, S(10) + DOOR_HALF_CLOSED_US - 1, &why));
	ck_assert_int_eq(why, LEG_CLOSE_TOO_MANY);
	ck_assert_uint_eq(wakes, 0);
	ck_assert(door_seek(late, S(10) + DOOR_HALF_CLOSED_US, &why));
	expect(1, MAX, 0);
	expect_expelled(all[2], LEG_CLOSE_HALF_CLOSED);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_ptr_eq(door_expelled(&door, &side), all[2]);
	/* Its oldest Call has a Reply by now. */
	door_half_closed(all[1], S(22));
	ck_assert(!door_seek(later, S(26), &why));
	ck_assert(door_seek(later, S(27), &why));
	expect_expelled(all[1], LEG_CLOSE_HALF_CLOSED);
	expect_stays(all[0]);
	expect_stays(all[3]);
	expect(0, MAX, 0);
	for (unsigned i = 0; i < MAX; i++)
		door_leave(all[i]);
	door_leave(late);
	door_leave(later);
	finish();
}
END_TEST

START_TEST(one_without_a_call_goes_before_a_half_closed_one)
{
	struct guest *half, *without, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(2, 0);
	half = half_closed(1, S(1));
	without = fresh();
	next = enter();
	ck_assert(door_seek(next, S(100), &why));
	expect_expelled(without, LEG_CLOSE_MADE_ROOM);
	expect_stays(half);
	door_leave(half);
	door_leave(without);
	door_leave(next);
	finish();
}
END_TEST

/* A connection whose server is sought, too; its end may come from the thread of another. */
START_TEST(a_half_closed_one_whose_server_is_sought_makes_room)
{
	struct guest *half, *next;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 0);
	half = enter();
	ck_assert(door_carry(half));
	/* Without a place there is none to make. */
	door_half_closed(half, S(1));
	ck_assert(!door_expel_half_closed(&door, S(100)));
	ck_assert(door_seek(half, S(1), &why));
	next = enter();
	ck_assert(door_seek(next, S(100), &why));
	expect_expelled(half, LEG_CLOSE_HALF_CLOSED);
	door_reached(half);
	expect(0, 1, 0);
	door_leave(half);
	door_leave(next);
	finish();
}
END_TEST

/* Held, superseded or gone, it is none that could make room any more. */
START_TEST(a_half_closed_one_that_ends_makes_no_room)
{
	struct guest *half, *good;
	enum leg_close why = LEG_CLOSE_COUNT;

	start(1, 1);
	half = half_closed(1, S(1));
	if (_i == 0)
		door_hold(half);
	else if (_i == 1)
		door_superseded(half);
	else
		door_leave(half);
	good = enter_from(1, S(50), &why);
	ck_assert_ptr_nonnull(good);
	ck_assert(door_seek(good, S(50), &why));
	ck_assert(!door_expel_half_closed(&door, S(100)));
	ck_assert_uint_eq(wakes, 0);
	if (_i != 2)
		door_leave(half);
	door_leave(good);
	finish();
}
END_TEST

START_TEST(of_an_address_its_own_half_closed_one_makes_room)
{
	struct guest *half, *elses, *first, *next;
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
	door_leave(half);
	door_leave(elses);
	door_leave(first);
	door_leave(next);
	ck_assert_uint_eq(client_counts_entries(&door.clients), 0);
	finish();
}
END_TEST

START_TEST(half_closed_ones_go_for_want_of_descriptors)
{
	struct guest *half;

	start(MAX, 0);
	ck_assert(!door_expel_half_closed(&door, S(100)));
	half = half_closed(1, S(10));
	ck_assert(!door_expel_half_closed(&door, S(14)));
	ck_assert(door_expel_half_closed(&door, S(15)));
	ck_assert(!door_expel_half_closed(&door, S(15)));
	expect_expelled(half, LEG_CLOSE_HALF_CLOSED);
	/* Clocks of two threads may be a turn apart. */
	door_leave(half);
	half = half_closed(1, S(20));
	ck_assert(!door_expel_half_closed(&door, S(20) - 1));
	door_leave(half);
	finish();
}
END_TEST

/* ---- max_connections_per_client ---- */

START_TEST(an_address_has_max_connections_per_client)
{
	struct guest *a, *b, *c, *elses;
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
		door_leave(a);
	else if (_i == 1)
		door_hold(a);
	else
		ck_assert(door_expel_half_open(&door, 1, 1));
	ck_assert(door_seek(b, 0, &why));
	c = enter_from(1, 0, &why);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_null(enter_from(1, 0, &why));
	if (_i != 0)
		door_leave(a);
	door_leave(b);
	door_leave(c);
	door_leave(elses);
	ck_assert_uint_eq(client_counts_entries(&door.clients), 0);
	finish();
}
END_TEST

/* ---- held ones ---- */

START_TEST(of_too_many_that_are_held_the_oldest_goes)
{
	struct guest *mine;

	start(MAX, 0);
	mine = carry();
	door_hold(mine);
	expect(0, 0, 1);
	for (unsigned i = 0; i < DOOR_HELD_MAX; i++) {
		guests[i] = door_enter_held(&door, &other, &guests[i], 0);
		ck_assert_ptr_nonnull(guests[i]);
		ck_assert_ptr_eq(guests[i]->owner, &guests[i]);
	}
	expect(0, 0, DOOR_HELD_MAX);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_ptr_null(door_expelled(&door, &other));
	ck_assert_ptr_eq(door_expelled(&door, &side), mine);
	door_leave(mine);
	mine = carry();
	door_hold(mine);
	expect(0, 0, DOOR_HELD_MAX);
	ck_assert_ptr_eq(door_expelled(&door, &other), guests[0]);
	door_leave(mine);
	for (unsigned i = 0; i < DOOR_HELD_MAX; i++)
		door_leave(guests[i]);
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
	struct door_side *mine = arg;
	unsigned seed = (unsigned)(uintptr_t)arg;
	struct guest *here[8] = {0};
	const struct sockaddr_in in = {.sin_family = AF_INET};
	enum leg_close why;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct guest **at = &here[rand_r(&seed) % ARRAY_SIZE(here)];

		while (door_expelled(&door, mine))
			;
		if (*at && (!door_may_stay(*at, &why) || rand_r(&seed) % 2)) {
			door_leave(*at);
			*at = NULL;
		}
		if (*at)
			continue;
		*at = door_enter(&door, mine, (const struct sockaddr *)&in, i, &why);
		if (!*at || !door_seek(*at, S(rand_r(&seed) % 10), &why) || rand_r(&seed) % 8 == 0)
			continue;
		door_reached(*at);
		if (rand_r(&seed) % 2)
			(void)!door_carry(*at);
		if (rand_r(&seed) % 4 == 0)
			door_half_closed(*at, 1 + i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(here); i++)
		if (here[i])
			door_leave(here[i]);
	return NULL;
}

static void *watch(void *arg)
{
	struct door_counts counts;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		door_counts_get(&door, &counts);
		if (counts.seated > MAX)
			return &door;
	}
	return NULL;
}

START_TEST(no_thread_seats_one_too_many)
{
	struct door_side sides[THREADS];
	pthread_t threads[THREADS], watcher;
	void *bad;

	start(MAX, 0);
	over = false;
	ck_assert_int_eq(pthread_create(&watcher, NULL, watch, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		door_side_init(&sides[i], NULL, NULL);
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
	tcase_add_test(tc, one_that_has_given_a_call_does_not_go);
	tcase_add_test(tc, where_all_have_given_a_call_later_ones_wait);
	tcase_add_test(tc, later_ones_wait_until_the_oldest_has_had_its_time);
	tcase_add_test(tc, the_silent_go_for_want_of_descriptors);
	tcase_add_test(tc, the_oldest_without_a_call_makes_room);
	tcase_add_test(tc, none_whose_server_is_sought_or_that_has_given_a_call_does);
	tcase_add_test(tc, one_whose_client_is_back_makes_room);
	tcase_add_test(tc, one_that_has_to_go_goes_no_further);
	tcase_add_test(tc, the_half_closed_one_that_has_waited_longest_makes_room);
	tcase_add_test(tc, one_without_a_call_goes_before_a_half_closed_one);
	tcase_add_test(tc, a_half_closed_one_whose_server_is_sought_makes_room);
	tcase_add_loop_test(tc, a_half_closed_one_that_ends_makes_no_room, 0, 3);
	tcase_add_test(tc, of_an_address_its_own_half_closed_one_makes_room);
	tcase_add_test(tc, half_closed_ones_go_for_want_of_descriptors);
	tcase_add_loop_test(tc, an_address_has_max_connections_per_client, 0, 3);
	tcase_add_test(tc, of_too_many_that_are_held_the_oldest_goes);
	tcase_add_test(tc, no_thread_seats_one_too_many);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
