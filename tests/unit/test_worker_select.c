// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the choice of a worker for a connection: by the number of connections and the load of each.
 */
#include "daemon/proxy/worker_select.h"

#include "daemon/proxy/worker.h"
#include "tests/lib/test.h"

#define WORKERS 2
#define NOW_US                                                                                     \
	1000000000u /* at which all of them have been looked at, so that no thread is asked */
#define SECOND_US 1000000u

static struct worker storage[WORKERS];
static struct worker *const workers[WORKERS] = {&storage[0], &storage[1]};

static void setup(void)
{
	for (size_t i = 0; i < WORKERS; i++) {
		storage[i] = (struct worker){.index = (unsigned)i, .load.at_us = NOW_US};
		atomic_init(&storage[i].connections, 0);
	}
}

/* Connections come one by one, and stay. */
static void place(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		atomic_fetch_add(&worker_select(workers, WORKERS, i, NOW_US)->connections, 1);
}

static unsigned count_of(size_t i)
{
	return atomic_load(&storage[i].connections);
}

START_TEST(equally_busy_workers_get_equally_many)
{
	storage[0].load.busy = storage[1].load.busy = (unsigned)_i;
	place(1000);
	ck_assert_uint_eq(count_of(0), 500);
	ck_assert_uint_eq(count_of(1), 500);
}
END_TEST

START_TEST(equal_workers_take_turns)
{
	ck_assert_ptr_eq(worker_select(workers, WORKERS, 6, NOW_US), workers[0]);
	ck_assert_ptr_eq(worker_select(workers, WORKERS, 7, NOW_US), workers[1]);
}
END_TEST

START_TEST(a_worker_with_more_connections_gets_none_until_the_other_has_as_many)
{
	atomic_store(&storage[0].connections, 40);
	place(40);
	ck_assert_uint_eq(count_of(0), 40);
	ck_assert_uint_eq(count_of(1), 40);
}
END_TEST

START_TEST(a_busy_worker_gets_a_quarter_of_an_idle_workers_connections)
{
	storage[1].load.busy = WORKER_LOAD_PARTS;
	place(1000);
	ck_assert_uint_ge(count_of(1), 195);
	ck_assert_uint_le(count_of(1), 205);
}
END_TEST

START_TEST(beside_one_bulk_client_the_next_few_go_elsewhere)
{
	atomic_store(&storage[0].connections, 1);
	storage[0].load.busy = WORKER_LOAD_PARTS;
	place(7);
	ck_assert_uint_eq(count_of(0), 1);
	ck_assert_uint_eq(count_of(1), 7);
}
END_TEST

static const struct {
	uint64_t cpu_us;
	unsigned busy;
} measured[] = {{0, 0},
		{SECOND_US / WORKER_LOAD_PARTS - 1, 0},
		{SECOND_US / WORKER_LOAD_PARTS, 1},
		{SECOND_US - 1, WORKER_LOAD_PARTS - 1},
		{SECOND_US, WORKER_LOAD_PARTS},
		{3 * SECOND_US, WORKER_LOAD_PARTS}};

START_TEST(busy_is_the_time_used_since_the_last_sample)
{
	struct worker_load load = {.at_us = NOW_US, .cpu_us = 77};

	worker_load_update(&load, NOW_US + SECOND_US, 77 + measured[_i].cpu_us);
	ck_assert_uint_eq(load.busy, measured[_i].busy);
	worker_load_update(&load, NOW_US + 2 * SECOND_US, 77 + measured[_i].cpu_us);
	ck_assert_uint_eq(load.busy, 0);
}
END_TEST

START_TEST(a_clock_that_cannot_be_read_any_more_says_nothing)
{
	struct worker_load load = {.at_us = NOW_US, .cpu_us = SECOND_US};

	worker_load_update(&load, NOW_US + SECOND_US, 0);
	ck_assert_uint_eq(load.busy, 0);
}
END_TEST

START_TEST(threads_are_asked_as_seldom_as_that)
{
	storage[0].thread = storage[1].thread = pthread_self();
	worker_select_update(workers, WORKERS, NOW_US + WORKER_LOAD_US - 1);
	ck_assert_uint_eq(storage[0].load.at_us, NOW_US);
	worker_select(workers, WORKERS, 0, NOW_US + WORKER_LOAD_US);
	for (size_t i = 0; i < WORKERS; i++) {
		ck_assert_uint_eq(storage[i].load.at_us, NOW_US + WORKER_LOAD_US);
		ck_assert_uint_gt(storage[i].load.cpu_us, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("worker_select");
	TCase *tc = tcase_create("worker_select");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, equally_busy_workers_get_equally_many, 0, WORKER_LOAD_PARTS + 1);
	tcase_add_test(tc, equal_workers_take_turns);
	tcase_add_test(tc, a_worker_with_more_connections_gets_none_until_the_other_has_as_many);
	tcase_add_test(tc, a_busy_worker_gets_a_quarter_of_an_idle_workers_connections);
	tcase_add_test(tc, beside_one_bulk_client_the_next_few_go_elsewhere);
	tcase_add_loop_test(tc, busy_is_the_time_used_since_the_last_sample, 0,
			    (int)ARRAY_SIZE(measured));
	tcase_add_test(tc, a_clock_that_cannot_be_read_any_more_says_nothing);
	tcase_add_test(tc, threads_are_asked_as_seldom_as_that);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
