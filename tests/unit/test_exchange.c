// SPDX-License-Identifier: BSD-3-Clause
/* Tests tables of exchanges by XID. */
#include <stdlib.h>
#include <string.h>

#include "leg/exchange.h"
#include "tests/lib/test.h"

#define MANY 30000u

/*
 * What a hash without a key makes one chain of: the same in the bits that a multiplication mixes
 * best.
 */
static uint32_t chosen_xid(unsigned kind, uint32_t i)
{
	const uint32_t inverse = 244002641u; /* of 2654435761 */

	switch (kind) {
	case 0:
		return inverse * ((i & 0x3ff) << 22 | (i >> 10));
	case 1:
		return i << 16 | i >> 16;
	case 2:
		return i * 65536u + i / 65536u;
	default:
		return i;
	}
}

static size_t longest_chain(const struct xid_table *table)
{
	size_t longest = 0;

	for (size_t i = 0; i <= table->table.mask; i++) {
		size_t n = 0;

		for (struct hash_node *node = table->table.buckets[i]; node; node = node->next)
			n++;
		if (n > longest)
			longest = n;
	}
	return longest;
}

START_TEST(no_choice_of_xids_makes_long_chains)
{
	struct exchange *all = calloc(MANY, sizeof(*all));
	struct xid_table table;

	ck_assert_uint_eq(244002641u * 2654435761u, 1);
	xid_table_init(&table, EXCHANGE_ORIGIN);
	for (uint32_t i = 0; i < MANY; i++) {
		all[i].call_info.hdr.xid = chosen_xid((unsigned)_i, i);
		ck_assert_int_eq(xid_table_add(&table, &all[i]), 0);
	}
	ck_assert_uint_le(longest_chain(&table), 40);
	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_ptr_eq(xid_table_find(&table, all[i].call_info.hdr.xid), &all[i]);
	for (uint32_t i = 0; i < MANY; i++)
		xid_table_remove(&table, &all[i]);
	ck_assert_uint_eq(table.table.count, 0);
	xid_table_fini(&table);
	free(all);
}
END_TEST

START_TEST(two_tables_have_different_keys)
{
	struct exchange x[2] = {0};
	struct xid_table tables[2];

	for (unsigned i = 0; i < 2; i++) {
		xid_table_init(&tables[i], EXCHANGE_TARGET);
		ck_assert_int_eq(xid_table_add(&tables[i], &x[i]), 0);
	}
	ck_assert(memcmp(&tables[0].key, &tables[1].key, sizeof(tables[0].key)));
	for (unsigned i = 0; i < 2; i++) {
		xid_table_remove(&tables[i], &x[i]);
		xid_table_fini(&tables[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exchange");
	TCase *tc = tcase_create("exchange");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, no_choice_of_xids_makes_long_chains, 0, 4);
	tcase_add_test(tc, two_tables_have_different_keys);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
