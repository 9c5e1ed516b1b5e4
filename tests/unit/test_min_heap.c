// SPDX-License-Identifier: BSD-3-Clause
/* Tests the pairing heap against a linear search. */
#include <stdlib.h>

#include "base/compiler.h"
#include "daemon/base/min_heap.h"
#include "tests/lib/test.h"

#define THINGS 500u
#define STEPS  200000u

struct thing {
	struct heap_node node;
	uint64_t key;
	bool is_in;
};

static struct thing things[THINGS];
static struct min_heap heap;

static void add(struct thing *thing, uint64_t key)
{
	thing->key = key;
	thing->is_in = true;
	min_heap_add(&heap, &thing->node, key);
}

static void drop(struct thing *thing)
{
	min_heap_remove(&heap, &thing->node);
	thing->is_in = false;
}

static void expect_first(void)
{
	const struct heap_node *first = min_heap_first(&heap);
	const struct thing *least = NULL;

	for (unsigned i = 0; i < THINGS; i++)
		if (things[i].is_in && (!least || things[i].key < least->key))
			least = &things[i];
	if (!least) {
		ck_assert_ptr_null(first);
		return;
	}
	ck_assert_ptr_nonnull(first);
	ck_assert_uint_eq(first->key, least->key);
	ck_assert(container_of(first, struct thing, node)->is_in);
	ck_assert_uint_eq(container_of(first, struct thing, node)->key, least->key);
}

START_TEST(the_first_is_always_the_least)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < STEPS; i++) {
		struct thing *thing = &things[rand_r(&seed) % THINGS];

		/* Equal ones too. */
		if (thing->is_in)
			drop(thing);
		else
			add(thing, (uint64_t)rand_r(&seed) % (_i ? 7 : 100000));
		expect_first();
	}
	for (unsigned i = 0; i < THINGS; i++) {
		drop(&things[i]);
		expect_first();
	}
}
END_TEST

/* Each order leaves another shape. */
START_TEST(items_are_popped_in_order)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < THINGS; i++)
		add(&things[i], _i == 0 ? i : _i == 1 ? THINGS - i : i * 7919u % THINGS);
	for (unsigned i = 0; i < THINGS; i++) {
		struct heap_node *first = min_heap_first(&heap);

		ck_assert_uint_ge(first->key, last);
		last = first->key;
		drop(container_of(first, struct thing, node));
	}
	ck_assert_ptr_null(min_heap_first(&heap));
}
END_TEST

START_TEST(removing_an_item_of_no_heap_does_nothing)
{
	add(&things[0], 5);
	min_heap_remove(&heap, &things[1].node);
	ck_assert_ptr_eq(min_heap_first(&heap), &things[0].node);
	drop(&things[0]);
	drop(&things[0]);
	ck_assert_ptr_null(min_heap_first(&heap));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("min_heap");
	TCase *tc = tcase_create("min_heap");

	tcase_add_loop_test(tc, the_first_is_always_the_least, 0, 2);
	tcase_add_loop_test(tc, items_are_popped_in_order, 0, 3);
	tcase_add_test(tc, removing_an_item_of_no_heap_does_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
