// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests COMPOUNDs of many operations: payloads keep their order, and the maximum Reply size
 * includes each operation.
 */
#include "tests/lib/test.h"
#include "tests/nfs/compounds.h"
#include "tests/nfs/look.h"

#define COMPOUNDS 4000u
#define LIMIT     (1024u * 1024 + 65536)

static void same_items(uint32_t seed, int count, const struct rpc_payload *found,
		       const struct spec_items *want)
{
	ck_assert_msg(count == (int)want->count, "%u: %d payloads, not %u", seed, count,
		      want->count);
	for (int i = 0; i < count; i++)
		ck_assert_msg(found[i].offset_bytes == want->list[i].offset_bytes &&
				      found[i].len_bytes == want->list[i].len_bytes,
			      "%u: payload %d at %u, not at %u", seed, i, found[i].offset_bytes,
			      want->list[i].offset_bytes);
}

START_TEST(payloads_keep_their_order_among_many_operations)
{
	unsigned several = 0;

	for (uint32_t seed = 0; seed < COMPOUNDS; seed++) {
		struct rpc_payload found[SPEC_MAX_ITEMS];
		struct spec_items items;
		struct row_built built;
		struct call_info call_info;
		struct look look;
		int count;

		compound_build(&built, seed, false);
		look = look_at_msg(built.call, LIMIT);
		count = look_payloads(&look, &call_info, &items);
		same_items(seed, count, items.list, &built.call_items);
		count = nfs_reply_ddp_items(&call_info, nfs_msg_bytes(built.reply),
					    nfs_msg_len(built.reply), found, SPEC_MAX_ITEMS);
		same_items(seed, count, found, &built.reply_items);
		several += count > 2;
		row_free(&built);
	}
	ck_assert_uint_gt(several, COMPOUNDS / 10);
}
END_TEST

START_TEST(ceilings_hold_the_sum_of_all_results)
{
	for (uint32_t seed = 0; seed < COMPOUNDS; seed++) {
		struct row_built built;
		uint32_t ceiling;

		compound_build(&built, seed, false);
		ceiling = look_ceiling(built.call, LIMIT);
		ck_assert_msg(ceiling >= nfs_msg_len(built.reply), "%u: ceiling %u under %u bytes",
			      seed, ceiling, nfs_msg_len(built.reply));
		row_free(&built);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_compound");
	TCase *tc = tcase_create("nfs_compound");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, payloads_keep_their_order_among_many_operations);
	tcase_add_test(tc, ceilings_hold_the_sum_of_all_results);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
