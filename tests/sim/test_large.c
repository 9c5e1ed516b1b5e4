// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests messages of the largest sizes that servers offer, from a TCP client to a TCP server over
 * every kind of leg.
 */
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define MIB       (1u << 20)
#define LIMIT     (64 * MIB + 65536)
#define ANSWER_MS 20000u
#define KEPT      (8u * MIB) /* of empty slabs, by each pool */

/* What the messages pass by. */
static const struct way {
	unsigned gates; /* 1: a TCP leg to a TCP leg; 2: RDMA legs between */
	bool no_late_reads, ddp;
	uint32_t max_key_bytes;
} ways[] = {
	{1, false, false, 0},  {2, false, false, 0},  {2, true, false, 0},
	{2, false, true, 0},   {2, true, true, 0},    {2, false, false, MIB},
	{2, true, false, MIB}, {2, false, true, MIB}, {2, true, true, MIB},
};

static struct chain *chain;

static void teardown(void)
{
	if (chain)
		chain_end(chain);
	chain = NULL;
}

static unsigned call(unsigned rpc)
{
	chain_end_call(&chain->client, rpc);
	return rpc;
}

/* A Call that everybody answers at once, by which the chain is seen to live. */
static void expect_alive(void)
{
	unsigned rpc = call(chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));

	chain_run(chain, 100);
	ck_assert_uint_eq(chain->book.list[rpc].answered, 1);
}

static void open_chain(int i, uint32_t limit)
{
	const struct chain_params params = {
		.gates = ways[i].gates,
		.ddp = ways[i].ddp,
		.max_message_bytes = limit,
		.fabric = {.no_late_reads = ways[i].no_late_reads,
			   .max_key_bytes = ways[i].max_key_bytes},
	};

	chain = chain_new(&params);
	chain_connect(chain);
	expect_alive();
}

struct idle {
	struct buf_pool_stats pools[CHAIN_GATES_MAX];
};

static struct idle look_idle(void)
{
	struct idle idle = {0};

	for (unsigned i = 0; i < chain->ngates; i++)
		buf_pool_stats_get(chain->gates[i].pool, &idle.pools[i]);
	return idle;
}

/*
 * Nothing is held that was not held before, and what was mapped for what was large is given back.
 */
static void expect_idle(const struct idle *before)
{
	const struct idle now = look_idle();

	for (unsigned i = 0; i < chain->ngates; i++) {
		ck_assert_uint_eq(chain->gates[i].budget.account.used_bytes, 0);
		ck_assert_uint_eq(now.pools[i].in_use_bytes, before->pools[i].in_use_bytes);
		ck_assert_uint_le(now.pools[i].slab_bytes, before->pools[i].slab_bytes + KEPT);
	}
}

static void expect_answered(unsigned rpc)
{
	ck_assert_uint_eq(chain->book.list[rpc].arrived, 1);
	ck_assert_uint_eq(chain->book.list[rpc].answered, 1);
}

START_TEST(calls_and_replies_of_64_mib_pass)
{
	static const uint32_t sizes[] = {2 * MIB, 16 * MIB + 1, 64 * MIB};
	struct idle idle;

	open_chain(_i, LIMIT);
	idle = look_idle();
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned write =
			call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, sizes[i], 0));
		unsigned read;

		chain_run(chain, ANSWER_MS);
		expect_answered(write);
		read = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, sizes[i]));
		chain_run(chain, ANSWER_MS);
		expect_answered(read);
		expect_idle(&idle);
	}
}
END_TEST

/* The server gives more than it was asked for. */
START_TEST(a_reply_larger_than_its_call_allows_is_an_error_and_others_do_not_notice)
{
	struct idle idle;
	unsigned larger, write, read;

	open_chain(_i, 8 * MIB);
	idle = look_idle();
	larger = chain_book_add_read(&chain->book, CHAIN_CLIENT, MIB, 4 * MIB);
	chain->book.list[larger].is_refused = true;
	write = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 2 * MIB, 0));
	call(larger);
	read = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, 2 * MIB));
	chain_run(chain, ANSWER_MS);
	expect_answered(larger);
	expect_answered(write);
	expect_answered(read);
	expect_idle(&idle);
	expect_alive();
}
END_TEST

/* Neither is kept: the Call is not passed on, and of the Reply its XID is all that is. */
START_TEST(messages_above_the_limit_fail_and_other_calls_are_not_affected)
{
	struct idle idle;
	unsigned write, read, before, between, behind;

	open_chain(_i, 4 * MIB);
	idle = look_idle();
	write = chain_book_add_sized(&chain->book, CHAIN_CLIENT, 5 * MIB, 0);
	read = chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, 5 * MIB);
	chain->book.list[write].is_refused = chain->book.list[read].is_refused = true;
	before = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, MIB, 0));
	call(write);
	between = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, MIB));
	call(read);
	behind = call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 2 * MIB, 0));
	chain_run(chain, ANSWER_MS);
	ck_assert_uint_eq(chain->book.list[write].arrived, 0);
	ck_assert_uint_eq(chain->book.list[write].answered, 1);
	expect_answered(read);
	expect_answered(before);
	expect_answered(between);
	expect_answered(behind);
	expect_idle(&idle);
	expect_alive();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("large");
	TCase *tc = tcase_create("large");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, calls_and_replies_of_64_mib_pass, 0, ARRAY_SIZE(ways));
	tcase_add_loop_test(
		tc, a_reply_larger_than_its_call_allows_is_an_error_and_others_do_not_notice, 0,
		ARRAY_SIZE(ways));
	tcase_add_loop_test(tc, messages_above_the_limit_fail_and_other_calls_are_not_affected, 0,
			    ARRAY_SIZE(ways));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
