// SPDX-License-Identifier: BSD-3-Clause
/* Tests the queue of accepted connections of a worker: a few per iteration, services in turn. */
#include "daemon/proxy/accept_queue.h"

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define SERVICES 3
#define MOST     100

static struct loop *loop;
static struct accept_queue accept_queue;
static struct accept_queue_service queues[SERVICES];
static struct accept_item handovers[MOST];
static struct accept_item *taken[MOST];
static unsigned nput, ntaken, turns, most_a_turn, before;
static struct loop_task other; /* somebody else's, once a turn */

static void take(void *arg, struct accept_item *accept_item)
{
	ck_assert_ptr_eq(arg, &accept_queue);
	taken[ntaken++] = accept_item;
}

static void look(void *arg)
{
	turns++;
	if (ntaken - before > most_a_turn)
		most_a_turn = ntaken - before;
	before = ntaken;
	if (ntaken < nput)
		loop_defer(loop, &other);
}

static void setup(void)
{
	loop = fake_loop_new();
	nput = ntaken = turns = most_a_turn = before = 0;
	accept_queue_init(&accept_queue, loop, take, &accept_queue);
	for (unsigned i = 0; i < SERVICES; i++)
		accept_queue_add_service(&accept_queue, &queues[i]);
	loop_task_init(&other, look, NULL);
}

static void teardown(void)
{
	accept_queue_fini(&accept_queue);
	fake_loop_free(loop);
}

static void put(size_t service, unsigned count)
{
	while (count--) {
		struct accept_item *accept_item = &handovers[nput++];

		*accept_item = (struct accept_item){.owner = &queues[service], .id = nput};
		accept_queue_put(&accept_queue, &queues[service], accept_item);
	}
}

START_TEST(a_turn_takes_a_few)
{
	loop_defer(loop, &other);
	put(1, 5 * ACCEPT_QUEUE_BATCH);
	ck_assert_uint_eq(ntaken, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(ntaken, 5 * ACCEPT_QUEUE_BATCH);
	ck_assert_uint_eq(most_a_turn, ACCEPT_QUEUE_BATCH);
	ck_assert_uint_ge(turns, 5);
	for (unsigned i = 0; i < ntaken; i++)
		ck_assert_ptr_eq(taken[i], &handovers[i]);
}
END_TEST

START_TEST(services_take_turns)
{
	put(2, 50);
	put(0, 2);
	fake_loop_run(loop);
	ck_assert_uint_eq(ntaken, 52);
	ck_assert_ptr_eq(taken[0], &handovers[50]);
	ck_assert_ptr_eq(taken[1], &handovers[0]);
	ck_assert_ptr_eq(taken[2], &handovers[51]);
	for (unsigned i = 3; i < ntaken; i++)
		ck_assert_ptr_eq(taken[i], &handovers[i - 2]);
}
END_TEST

START_TEST(a_flush_takes_all_at_once)
{
	put(0, 9);
	put(1, 9);
	accept_queue_flush(&accept_queue);
	ck_assert_uint_eq(ntaken, 18);
	fake_loop_run(loop);
	ck_assert_uint_eq(ntaken, 18);
	put(2, 1);
	fake_loop_run(loop);
	ck_assert_uint_eq(ntaken, 19);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accept_queue");
	TCase *tc = tcase_create("accept_queue");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_turn_takes_a_few);
	tcase_add_test(tc, services_take_turns);
	tcase_add_test(tc, a_flush_takes_all_at_once);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
