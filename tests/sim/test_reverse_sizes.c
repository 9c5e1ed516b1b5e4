// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Calls from a server to its client through two gates: every size that can be carried, and
 * the result of the other sizes.
 */
#include "leg/leg.h"
#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define LARGEST_INLINE 262144u
#define AROUND_BYTES   400u /* at most, around the data of an RPC of the book, in all headers */

static struct chain *chain;

static void setup(void)
{
	chain = NULL;
}

static void teardown(void)
{
	if (chain)
		chain_end(chain);
	chain = NULL;
}

enum way { INLINE, BY_CHUNK };

static void make_chain(const struct chain_params *params, uint32_t threshold, enum way way)
{
	chain = chain_new(params);
	for (unsigned i = 0; i < 2; i++) {
		struct service_config *config = &chain->gates[i].config;

		config->inline_threshold_bytes = threshold;
		config->connect_version = config->listen_version = way == BY_CHUNK ? 2 : 1;
		config->characteristics = config->reverse_chunks = way == BY_CHUNK;
		config->receive_max_bytes = 4096;
		config->reverse_timeout_s = 5;
	}
	chain_connect(chain);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 2000);
	ck_assert_uint_eq(chain->book.list[0].answered, 1);
}

/* A Call with so much data, or one whose Reply has; returns its number. */
static unsigned call_back(uint32_t call_bytes, uint32_t reply_bytes)
{
	unsigned rpc = chain_book_add_sized(&chain->book, CHAIN_SERVER, call_bytes, reply_bytes);

	chain_end_call(&chain->server, rpc);
	return rpc;
}

/*
 * One whose Reply is shorter than it may be, for which there is a reply chunk where there are
 * chunks.
 */
static void call_back_bounded(uint32_t asked_bytes, uint32_t reply_bytes)
{
	chain_end_call(&chain->server,
		       chain_book_add_read(&chain->book, CHAIN_SERVER, asked_bytes, reply_bytes));
}

static void call_back_sized(uint32_t bytes)
{
	call_back(bytes, 0);
	call_back(0, bytes);
}

static unsigned refused_back(uint32_t bytes)
{
	unsigned rpc = chain_book_add_sized(&chain->book, CHAIN_SERVER, bytes, 0);

	chain->book.list[rpc].is_refused = true;
	chain_end_call(&chain->server, rpc);
	return rpc;
}

static void expect_all_answered(void)
{
	for (unsigned i = 0; i < chain->book.count; i++)
		ck_assert_msg(chain->book.list[i].answered == 1, "the answer to %u has not come",
			      i);
	ck_assert(!chain->client.wire.is_over);
	ck_assert(!chain->server.wire.is_over);
}

static uint64_t refused(unsigned gate)
{
	return gate_rdma(&chain->gates[gate]).reverse_refused +
	       gate_tcp(&chain->gates[gate]).reverse_refused;
}

/* Whatever fits a Send of the size that was agreed goes inline, in both directions. */
START_TEST(reverse_messages_that_fit_a_send_are_inline)
{
	static const uint32_t thresholds[] = {8192, 65536, LARGEST_INLINE};
	uint32_t threshold = thresholds[_i];

	make_chain(NULL, threshold, INLINE);
	call_back_sized(100);
	call_back_sized(4096);
	call_back_sized(threshold / 2);
	call_back_sized(threshold - AROUND_BYTES);
	if (threshold == LARGEST_INLINE)
		call_back_sized(200000);
	chain_run(chain, 1000);
	expect_all_answered();
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).keys_lent, 0);
	ck_assert_uint_eq(refused(0) + refused(1), 0);
}
END_TEST

/* SYSTEM_ERR at once, which costs the others nothing. */
START_TEST(reverse_messages_above_the_send_size_are_refused)
{
	uint32_t threshold = _i ? 65536 : 4096;

	make_chain(NULL, threshold, INLINE);
	refused_back(threshold);
	call_back_sized(threshold / 2);
	refused_back(threshold + 8192);
	refused_back(REVERSE_MAX_BYTES);
	chain_run(chain, 100);
	expect_all_answered();
	ck_assert_uint_eq(refused(1), 3);
	ck_assert_uint_eq(chain->book.list[1].arrived, 0);
}
END_TEST

/* With chunks for them, up to the bound that there is for a server's. */
START_TEST(with_chunks_longer_ones_pass)
{
	make_chain(NULL, 4096, BY_CHUNK);
	call_back_sized(100);
	call_back_sized(4096);
	call_back_sized(20000);
	call_back_sized(262144);
	call_back_sized(REVERSE_MAX_BYTES - AROUND_BYTES);
	refused_back(REVERSE_MAX_BYTES);
	chain_run(chain, 1000);
	expect_all_answered();
	ck_assert_uint_gt(gate_rdma(&chain->gates[1]).keys_lent, 0);
	ck_assert_uint_eq(refused(0), 0);
	ck_assert_uint_eq(refused(1), 1);
}
END_TEST

/* Clients hold all memory but little: long ones fail at once, short ones pass. */
START_TEST(where_memory_is_short_long_ones_fail_and_short_ones_pass)
{
	static const struct chain_params params = {.max_message_bytes = 1u << 20};
	unsigned gate = (unsigned)_i % 2;
	enum way way = _i < 2 ? INLINE : BY_CHUNK;
	struct budget_claim hog;

	make_chain(&params, way == INLINE ? LARGEST_INLINE : 4096, way);
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&chain->gates[gate].budget.other, &hog,
			       chain->gates[gate].budget.budget.limit_bytes - 100000));
	call_back(100, 0);
	refused_back(100000);
	call_back(1000, 0);
	call_back_bounded(20000, 100);
	chain_run(chain, 1000);
	expect_all_answered();
	ck_assert_uint_ge(refused(gate), 1);
	ck_assert_uint_eq(chain->gates[gate].budget.account.waiting, 0);
	budget_claim_release(&hog);
	call_back_sized(100000);
	chain_run(chain, 1000);
	expect_all_answered();
}
END_TEST

/*
 * Through both gates: the leg to the client fails the Call, its server gets the error, and the late
 * Reply is dropped.
 */
START_TEST(a_client_with_a_late_answer_is_logged)
{
	enum way way = _i ? BY_CHUNK : INLINE;
	uint32_t bytes = way == BY_CHUNK ? 100000 : 1000;
	unsigned rpc;

	make_chain(NULL, 4096, way);
	chain->client.hold = true;
	rpc = refused_back(bytes);
	chain_run(chain, 4900);
	ck_assert_uint_eq(chain->book.list[rpc].answered, 0);
	chain_run(chain, 300);
	expect_all_answered();
	ck_assert_uint_eq(gate_tcp(&chain->gates[0]).reverse_timeouts, 1);
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).reverse_timeouts, 0);
	ck_assert_uint_eq(chain->gates[1].budget.account.used_bytes, 0);
	chain->client.hold = false;
	chain_end_answer(&chain->client);
	chain_run(chain, 100);
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).reverse_late_replies, 0);
	ck_assert_uint_eq(chain->gates[1].budget.account.used_bytes, 0);
	call_back_sized(1000);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 100);
	expect_all_answered();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reverse_sizes");
	TCase *tc = tcase_create("reverse_sizes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, reverse_messages_that_fit_a_send_are_inline, 0, 3);
	tcase_add_loop_test(tc, reverse_messages_above_the_send_size_are_refused, 0, 2);
	tcase_add_test(tc, with_chunks_longer_ones_pass);
	tcase_add_loop_test(tc, where_memory_is_short_long_ones_fail_and_short_ones_pass, 0, 4);
	tcase_add_loop_test(tc, a_client_with_a_late_answer_is_logged, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
