// SPDX-License-Identifier: BSD-3-Clause
/* Tests free lists of small objects. */
#include <string.h>

#include "base/spares.h"
#include "tests/lib/test.h"

static struct spares spares;

static void setup(void)
{
	spares_init(&spares);
}

static void teardown(void)
{
	spares_fini(&spares);
}

START_TEST(what_is_given_back_is_used_again_for_its_size)
{
	void *a = spares_get(&spares, 100), *b;

	spares_put(&spares, a, 100);
	b = spares_get(&spares, 120);
	ck_assert(b == a || !SPARES_ARE_KEPT);
	memset(b, 1, 120);
	spares_put(&spares, b, 120);
	b = spares_get(&spares, 129);
	memset(b, 1, 129);
	spares_put(&spares, b, 129);
}
END_TEST

START_TEST(no_more_are_kept_than_the_bound)
{
	void *objects[2 * SPARES_KEEP];

	for (unsigned i = 0; i < 2 * SPARES_KEEP; i++)
		objects[i] = spares_get(&spares, 1);
	for (unsigned i = 0; i < 2 * SPARES_KEEP; i++)
		spares_put(&spares, objects[i], 1);
	ck_assert_uint_eq(spares.classes[0].count, SPARES_ARE_KEPT ? SPARES_KEEP : 0);
}
END_TEST

START_TEST(large_objects_and_those_of_nobody_are_not_kept)
{
	size_t largest = SPARES_CLASSES * SPARES_STEP_BYTES;

	spares_put(&spares, spares_get(&spares, largest + 1), largest + 1);
	spares_put(NULL, spares_get(NULL, 40), 40);
	spares_put(&spares, NULL, 40);
	for (unsigned i = 0; i < SPARES_CLASSES; i++)
		ck_assert_uint_eq(spares.classes[i].count, 0);
	spares_put(&spares, spares_get(&spares, largest), largest);
	ck_assert_uint_eq(spares.classes[SPARES_CLASSES - 1].count, SPARES_ARE_KEPT);
}
END_TEST

START_TEST(a_list_keeps_what_it_may)
{
	struct spare_list list = {0};
	void *a = spare_list_get(&list, 16384), *b = spare_list_get(&list, 16384);

	spare_list_put(&list, NULL, 1);
	ck_assert_uint_eq(list.count, 0);
	spare_list_put(&list, a, 1);
	spare_list_put(&list, b, 1);
	ck_assert_uint_eq(list.count, SPARES_ARE_KEPT);
	b = spare_list_get(&list, 16384);
	ck_assert(b == a || !SPARES_ARE_KEPT);
	ck_assert_uint_eq(list.count, 0);
	spare_list_put(&list, b, 1);
	spare_list_fini(&list);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spares");
	TCase *tc = tcase_create("spares");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_given_back_is_used_again_for_its_size);
	tcase_add_test(tc, no_more_are_kept_than_the_bound);
	tcase_add_test(tc, large_objects_and_those_of_nobody_are_not_kept);
	tcase_add_test(tc, a_list_keeps_what_it_may);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
