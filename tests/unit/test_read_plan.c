// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests plans of messages: each byte of the message has exactly one source, for any list of chunks.
 */
#include "rpcrdma/read_plan.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"

#define LIMIT 100000u

static struct rpcrdma_header hdr;
static struct read_plan plan;

static void setup(void)
{
	rpcrdma_header_init(&hdr, 1, RPCRDMA_VERSION_ONE, 1, RPCRDMA_MSG);
}

static void add(uint32_t position, uint32_t len)
{
	hdr.reads[hdr.nreads] =
		(struct rpcrdma_read_segment){position, {hdr.nreads, len, 1000 * hdr.nreads}};
	hdr.nreads++;
}

static bool place(uint8_t *times, uint32_t to, uint32_t len, uint32_t total)
{
	if (to > total || len > total - to)
		return false;
	for (uint32_t i = to; i < to + len; i++)
		times[i]++;
	return true;
}

/* Each byte of the message is placed once, and none outside of it. */
static void expect_covered(uint32_t total)
{
	uint8_t *times = calloc(1, total + 1);
	bool good = plan.total_bytes == total;

	for (unsigned i = 0; i < plan.ncopies; i++)
		good = good && place(times, plan.copies[i].to, plan.copies[i].len_bytes, total);
	for (unsigned i = 0; i < plan.nplan_reads; i++)
		good = good && plan.plan_reads[i].len_bytes &&
		       place(times, plan.plan_reads[i].to, plan.plan_reads[i].len_bytes, total);
	for (uint32_t i = 0; i < total; i++)
		good = good && times[i] == 1;
	for (unsigned i = 0, last = 0; i < plan.nchunks; last = plan.chunks[i++].position)
		good = good && plan.chunks[i].position > last && plan.chunks[i].position <= total &&
		       plan.chunks[i].len_bytes <= total - plan.chunks[i].position;
	free(times);
	ck_assert(good);
}

START_TEST(without_chunks_the_body_is_the_message)
{
	ck_assert_int_eq(read_plan_make(&hdr, 77, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(77);
	ck_assert_uint_eq(plan.nplan_reads, 0);
	ck_assert_uint_eq(plan.nchunks, 0);
}
END_TEST

static void expect_chunk(unsigned i, uint32_t position, uint32_t len)
{
	ck_assert_uint_lt(i, plan.nchunks);
	ck_assert_uint_eq(plan.chunks[i].position, position);
	ck_assert_uint_eq(plan.chunks[i].len_bytes, len);
}

/* All its segments, no pad; an empty one, too. The position-zero chunk is none of them. */
START_TEST(a_chunk_is_as_long_as_its_segments)
{
	add(92, 3);
	add(60, 5);
	add(60, 0);
	add(60, 8);
	add(80, 0);
	ck_assert_int_eq(read_plan_make(&hdr, 80, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(100);
	ck_assert_uint_eq(plan.nchunks, 3);
	expect_chunk(0, 60, 13);
	expect_chunk(1, 80, 0);
	expect_chunk(2, 92, 3);
	hdr.proc = RPCRDMA_NOMSG;
	add(0, 80);
	ck_assert_int_eq(read_plan_make(&hdr, 0, LIMIT, &plan), READ_PLAN_OK);
	ck_assert_uint_eq(plan.nchunks, 3);
	expect_chunk(0, 60, 13);
}
END_TEST

START_TEST(a_chunk_at_the_end_gets_its_pad)
{
	add(60, 5);
	ck_assert_int_eq(read_plan_make(&hdr, 60, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(68);
	ck_assert_uint_eq(plan.copies[plan.ncopies - 1].from, PLAN_ZEROS);
	ck_assert_uint_eq(plan.copies[plan.ncopies - 1].len_bytes, 3);
}
END_TEST

START_TEST(two_chunks_may_touch)
{
	add(60, 8);
	add(68, 8);
	ck_assert_int_eq(read_plan_make(&hdr, 80, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(96);
}
END_TEST

START_TEST(empty_segments_take_no_read)
{
	add(60, 0);
	add(60, 8);
	add(60, 0);
	add(72, 0);
	ck_assert_int_eq(read_plan_make(&hdr, 80, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(88);
	ck_assert_uint_eq(plan.nplan_reads, 1);
}
END_TEST

START_TEST(the_limit_counts_all_of_the_message)
{
	add(60, LIMIT - 100);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_OK);
	ck_assert_int_eq(read_plan_make(&hdr, 101, LIMIT, &plan), READ_PLAN_TOO_BIG);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT - 1, &plan), READ_PLAN_TOO_BIG);
	hdr.reads[0].seg.len_bytes = UINT32_MAX;
	add(60, UINT32_MAX);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_TOO_BIG);
	hdr.nreads = 0;
	ck_assert_int_eq(read_plan_make(&hdr, 101, 100, &plan), READ_PLAN_TOO_BIG);
	add(80, 1);
	ck_assert_int_eq(read_plan_make(&hdr, 100, 60, &plan), READ_PLAN_TOO_BIG);
}
END_TEST

START_TEST(lists_that_make_no_message_are_bad)
{
	add(104, 8);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_BAD);
	hdr.nreads = 0;
	add(0, 8);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_BAD);
	hdr.nreads = 0;
	add(60, 8);
	add(64, 8);
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_BAD);
	hdr.proc = RPCRDMA_NOMSG;
	ck_assert_int_eq(read_plan_make(&hdr, 100, LIMIT, &plan), READ_PLAN_BAD);
}
END_TEST

/* As many entries as a header can hold, each its own chunk, in reverse order. */
START_TEST(the_longest_list_fits_the_plan)
{
	hdr.proc = RPCRDMA_NOMSG;
	for (uint32_t i = 1; i < RPCRDMA_MAX_SEGMENTS; i++)
		add(12 * (RPCRDMA_MAX_SEGMENTS - i), 5);
	add(0, 1024); /* four less than lies before the last chunk */
	ck_assert_int_eq(read_plan_make(&hdr, 0, LIMIT, &plan), READ_PLAN_BAD);
	hdr.reads[RPCRDMA_MAX_SEGMENTS - 1].seg.len_bytes += 8;
	ck_assert_int_eq(read_plan_make(&hdr, 0, LIMIT, &plan), READ_PLAN_OK);
	expect_covered(255 * 12 + 8 + 4);
	ck_assert_uint_eq(plan.nplan_reads, 2 * RPCRDMA_MAX_SEGMENTS - 1);
}
END_TEST

START_TEST(random_lists_are_covered_or_refused)
{
	srand(1);
	for (int round = 0; round < 20000; round++) {
		unsigned n = (unsigned)rand() % 12;

		hdr.proc = rand() % 2 ? RPCRDMA_MSG : RPCRDMA_NOMSG;
		hdr.nreads = 0;
		for (unsigned i = 0; i < n; i++)
			add((uint32_t)rand() % 40 * 4, (uint32_t)rand() % 30);
		if (read_plan_make(&hdr, (uint32_t)rand() % 200, 300, &plan) == READ_PLAN_OK)
			expect_covered(plan.total_bytes);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("read_plan");
	TCase *tc = tcase_create("read_plan");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, without_chunks_the_body_is_the_message);
	tcase_add_test(tc, a_chunk_is_as_long_as_its_segments);
	tcase_add_test(tc, a_chunk_at_the_end_gets_its_pad);
	tcase_add_test(tc, two_chunks_may_touch);
	tcase_add_test(tc, empty_segments_take_no_read);
	tcase_add_test(tc, the_limit_counts_all_of_the_message);
	tcase_add_test(tc, lists_that_make_no_message_are_bad);
	tcase_add_test(tc, the_longest_list_fits_the_plan);
	tcase_add_test(tc, random_lists_are_covered_or_refused);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
