// SPDX-License-Identifier: BSD-3-Clause
/* Tests free lists of small objects. */
#include <string.h>

#include "base/freelist.h"
#include "tests/lib/test.h"

static struct freelists freelists;

static void setup(void)
{
	freelists_init(&freelists);
}

static void teardown(void)
{
	freelists_fini(&freelists);
}

START_TEST(freed_items_are_reused_for_their_size)
{
	void *a = freelists_get(&freelists, 100), *b;

	freelists_put(&freelists, a, 100);
	b = freelists_get(&freelists, 120);
	ck_assert(b == a || !FREELISTS_ENABLED);
	memset(b, 1, 120);
	freelists_put(&freelists, b, 120);
	b = freelists_get(&freelists, 129);
	memset(b, 1, 129);
	freelists_put(&freelists, b, 129);
}
END_TEST

START_TEST(no_more_are_kept_than_the_bound)
{
	void *objects[2 * FREELISTS_KEEP];

	for (unsigned i = 0; i < 2 * FREELISTS_KEEP; i++)
		objects[i] = freelists_get(&freelists, 1);
	for (unsigned i = 0; i < 2 * FREELISTS_KEEP; i++)
		freelists_put(&freelists, objects[i], 1);
	ck_assert_uint_eq(freelists.classes[0].count, FREELISTS_ENABLED ? FREELISTS_KEEP : 0);
}
END_TEST

START_TEST(large_objects_and_those_without_a_list_are_not_kept)
{
	size_t largest = FREELISTS_CLASSES * FREELISTS_STEP_BYTES;

	freelists_put(&freelists, freelists_get(&freelists, largest + 1), largest + 1);
	freelists_put(NULL, freelists_get(NULL, 40), 40);
	freelists_put(&freelists, NULL, 40);
	for (unsigned i = 0; i < FREELISTS_CLASSES; i++)
		ck_assert_uint_eq(freelists.classes[i].count, 0);
	freelists_put(&freelists, freelists_get(&freelists, largest), largest);
	ck_assert_uint_eq(freelists.classes[FREELISTS_CLASSES - 1].count, FREELISTS_ENABLED);
}
END_TEST

START_TEST(a_list_keeps_objects_up_to_its_limit)
{
	struct freelist list = {0};
	void *a = freelist_get(&list, 16384), *b = freelist_get(&list, 16384);

	freelist_put(&list, NULL, 1);
	ck_assert_uint_eq(list.count, 0);
	freelist_put(&list, a, 1);
	freelist_put(&list, b, 1);
	ck_assert_uint_eq(list.count, FREELISTS_ENABLED);
	b = freelist_get(&list, 16384);
	ck_assert(b == a || !FREELISTS_ENABLED);
	ck_assert_uint_eq(list.count, 0);
	freelist_put(&list, b, 1);
	freelist_fini(&list);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spares");
	TCase *tc = tcase_create("spares");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, freed_items_are_reused_for_their_size);
	tcase_add_test(tc, no_more_are_kept_than_the_bound);
	tcase_add_test(tc, large_objects_and_those_without_a_list_are_not_kept);
	tcase_add_test(tc, a_list_keeps_objects_up_to_its_limit);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
