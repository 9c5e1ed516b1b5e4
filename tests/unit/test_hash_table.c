// SPDX-License-Identifier: BSD-3-Clause
/* Tests the hash table: which entries are found, in which order, and the length of chains. */
#include "base/hash_table.h"

#include <stdbool.h>

#include "tests/lib/test.h"

#define MANY 10000u

struct entry {
	struct hash_node node;
	unsigned number;
};

static struct hash_table table;
static struct entry entries[MANY];

static void setup(void)
{
	hash_table_init(&table);
}

static void teardown(void)
{
	hash_table_fini(&table);
}

static void add(unsigned i, uint64_t hash)
{
	entries[i].number = i;
	hash_table_add(&table, &entries[i].node, hash);
}

static bool is_in(unsigned i, uint64_t hash)
{
	struct hash_node *node = hash_table_first(&table, hash);

	while (node && node != &entries[i].node)
		node = hash_table_next(node);
	return node;
}

static size_t longest_chain(void)
{
	size_t longest = 0;

	for (size_t i = 0; i <= table.mask; i++) {
		size_t n = 0;

		for (struct hash_node *node = table.buckets[i]; node; node = node->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

START_TEST(exactly_the_added_entries_are_found)
{
	ck_assert_ptr_null(hash_table_first(&table, hash_number(0)));
	for (unsigned i = 0; i < MANY; i++)
		add(i, hash_number(i));
	ck_assert_uint_eq(table.count, MANY);
	ck_assert_uint_le(longest_chain(), 20);
	for (unsigned i = 0; i < MANY; i += 2)
		hash_table_remove(&table, &entries[i].node);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert(is_in(i, hash_number(i)) == (i % 2 == 1));
	ck_assert_uint_eq(table.count, MANY / 2);
}
END_TEST

START_TEST(of_equal_hashes_the_last_one_comes_first)
{
	struct hash_node *node;

	for (unsigned i = 0; i < 40; i++)
		add(i, i % 2 ? 7 : UINT64_MAX);
	/* Growing turns chains around, so only what came since has an order. */
	ck_assert_ptr_eq(hash_table_first(&table, 7), &entries[39].node);
	node = hash_table_first(&table, 7);
	for (unsigned n = 1; n < 20; n++) {
		node = hash_table_next(node);
		ck_assert_ptr_nonnull(node);
		ck_assert_uint_eq(node->hash, 7);
	}
	ck_assert_ptr_null(hash_table_next(node));
}
END_TEST

START_TEST(any_node_can_be_taken_until_the_table_is_empty)
{
	struct hash_node *node;
	unsigned removed = 0;
	size_t at = 0;

	ck_assert_ptr_null(hash_table_any(&table, &at));
	for (unsigned i = 0; i < 1000; i++)
		add(i, hash_number(i));
	for (at = 0; (node = hash_table_any(&table, &at)); removed++)
		hash_table_remove(&table, node);
	ck_assert_uint_eq(removed, 1000);
	ck_assert_uint_eq(table.count, 0);
}
END_TEST

/* One entry at a time, as most connections have, takes no memory. */
START_TEST(one_entry_takes_no_memory)
{
	for (unsigned i = 0; i < 100; i++) {
		add(0, hash_number(i));
		ck_assert_ptr_eq(table.buckets, &table.first);
		hash_table_remove(&table, &entries[0].node);
	}
}
END_TEST

START_TEST(a_table_that_is_all_zero_can_be_freed)
{
	struct hash_table zero = {0};

	hash_table_fini(&zero);
	ck_assert_uint_eq(zero.count, 0);
}
END_TEST

START_TEST(hashes_of_bytes_depend_on_key_and_length)
{
	static const uint8_t zeros[24];
	struct hash_key keys[2];

	ck_assert_int_eq(hash_key_draw(&keys[0]), 0);
	ck_assert_int_eq(hash_key_draw(&keys[1]), 0);
	ck_assert_uint_ne(hash_bytes(&keys[0], 0, zeros, 8), hash_bytes(&keys[1], 0, zeros, 8));
	ck_assert_uint_ne(hash_bytes(&keys[0], 0, zeros, 8), hash_bytes(&keys[0], 0, zeros, 9));
	ck_assert_uint_ne(hash_bytes(&keys[0], 0, zeros, 8), hash_bytes(&keys[0], 1, zeros, 8));
	ck_assert_uint_eq(hash_bytes(&keys[0], 5, zeros, 24), hash_bytes(&keys[0], 5, zeros, 24));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash_table");
	TCase *tc = tcase_create("hash_table");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, exactly_the_added_entries_are_found);
	tcase_add_test(tc, of_equal_hashes_the_last_one_comes_first);
	tcase_add_test(tc, any_node_can_be_taken_until_the_table_is_empty);
	tcase_add_test(tc, one_entry_takes_no_memory);
	tcase_add_test(tc, a_table_that_is_all_zero_can_be_freed);
	tcase_add_test(tc, hashes_of_bytes_depend_on_key_and_length);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
