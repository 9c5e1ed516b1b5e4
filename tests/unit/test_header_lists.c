// SPDX-License-Identifier: BSD-3-Clause
/* Tests chunk lists of hostile peers: both sides of each limit, wrap-around and overlap. */
#include <stdlib.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

static uint8_t send_buf[16384];
static struct xdr_writer out;
static struct rpcrdma_header hdr;
static uint32_t version;

static void setup(void)
{
	xdr_writer_init(&out, send_buf, sizeof(send_buf));
	xdr_put_u32(&out, 1);
	xdr_put_u32(&out, version);
	xdr_put_u32(&out, 32);
	xdr_put_u32(&out, RPCRDMA_MSG);
}

static void setup_version_one(void)
{
	version = RPCRDMA_VERSION_ONE;
	setup();
}

static void setup_version_two(void)
{
	version = RPCRDMA_VERSION_TWO;
	setup();
}

static void put_word(uint32_t word)
{
	xdr_put_u32(&out, word);
}

static void put_segment(uint32_t handle, uint32_t len_bytes, uint64_t offset)
{
	xdr_put_u32(&out, handle);
	xdr_put_u32(&out, len_bytes);
	xdr_put_u64(&out, offset);
}

static void put_read(uint32_t position, uint32_t handle, uint32_t len_bytes, uint64_t offset)
{
	put_word(1);
	put_word(position);
	put_segment(handle, len_bytes, offset);
}

/* @count segments of four bytes, none like any other put by this test. */
static void put_chunk(uint32_t count)
{
	static uint64_t offset;

	put_word(count);
	for (uint32_t i = 0; i < count; i++, offset += 4)
		put_segment(7, 4, offset);
}

static void expect(enum rpcrdma_verdict expected)
{
	size_t len = xdr_written_bytes(&out);
	uint8_t *copy = exact_copy(send_buf, len);

	ck_assert_uint_ne(len, 0);
	ck_assert_int_eq(rpcrdma_header_decode(copy, len, &hdr), expected);
	free(copy);
}

static void put_reads(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_read(0, 7, 4, 4 * (uint64_t)i);
	put_word(0);
	put_word(0);
	put_word(0);
}

START_TEST(as_many_read_segments_as_the_limit_pass)
{
	put_reads(RPCRDMA_MAX_SEGMENTS);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.nreads, RPCRDMA_MAX_SEGMENTS);
}
END_TEST

START_TEST(one_read_segment_more_is_bad)
{
	put_reads(RPCRDMA_MAX_SEGMENTS + 1);
	expect(RPCRDMA_BAD_LISTS);
}
END_TEST

static void put_one_chunk_each(uint32_t in_writes, uint32_t in_reply)
{
	put_word(0);
	put_word(1);
	put_chunk(in_writes);
	put_word(0);
	put_word(1);
	put_chunk(in_reply);
}

START_TEST(as_many_write_segments_as_the_limit_pass)
{
	put_one_chunk_each(RPCRDMA_MAX_SEGMENTS, 0);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.writes[0].count, RPCRDMA_MAX_SEGMENTS);
	setup();
	put_one_chunk_each(0, RPCRDMA_MAX_SEGMENTS);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.reply_chunk.count, RPCRDMA_MAX_SEGMENTS);
	setup();
	put_one_chunk_each(RPCRDMA_MAX_SEGMENTS - 1, 1);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.reply_chunk.first, RPCRDMA_MAX_SEGMENTS - 1);
}
END_TEST

START_TEST(one_write_segment_more_is_bad)
{
	put_one_chunk_each(RPCRDMA_MAX_SEGMENTS + 1, 0);
	expect(RPCRDMA_BAD_LISTS);
	setup();
	put_one_chunk_each(RPCRDMA_MAX_SEGMENTS, 1);
	expect(RPCRDMA_BAD_LISTS);
}
END_TEST

static void put_write_chunks(uint32_t count)
{
	put_word(0);
	for (uint32_t i = 0; i < count; i++) {
		put_word(1);
		put_chunk(1);
	}
	put_word(0);
	put_word(0);
}

START_TEST(as_many_write_chunks_as_the_limit_pass)
{
	put_write_chunks(RPCRDMA_MAX_CHUNKS);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.nwrites, RPCRDMA_MAX_CHUNKS);
	ck_assert_uint_eq(hdr.writes[RPCRDMA_MAX_CHUNKS - 1].first, RPCRDMA_MAX_CHUNKS - 1);
}
END_TEST

START_TEST(one_write_chunk_more_is_bad)
{
	put_write_chunks(RPCRDMA_MAX_CHUNKS + 1);
	expect(RPCRDMA_BAD_LISTS);
}
END_TEST

/* A4.3-2: counts whose product with 16 would wrap, and those that the Send just does not hold */
START_TEST(counts_are_held_against_the_send)
{
	static const uint32_t counts[] = {2, 16, 0x10000000, 0x10000001, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		setup();
		put_word(0);
		put_word(1);
		put_word(counts[i]);
		put_segment(7, 4, 0);
		put_word(0);
		put_word(0);
		expect(RPCRDMA_BAD_LISTS);
		setup();
		put_word(0);
		put_word(0);
		put_word(1);
		put_word(counts[i]);
		put_segment(7, 4, 0);
		expect(RPCRDMA_BAD_LISTS);
	}
}
END_TEST

/* Requirements 1.0: what a header-only Send of 1024 bytes holds */
START_TEST(a_kibibyte_holds_41_read_segments_or_61_write_segments)
{
	uint8_t to[1024];

	put_reads(41);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, to, sizeof(to)), 28 + 41 * 24);
	setup();
	put_reads(42);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, to, sizeof(to)), 0);
	setup();
	put_word(0);
	put_word(1);
	put_chunk(61);
	put_word(0);
	put_word(0);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, to, sizeof(to)), 28 + 8 + 61 * 16);
	setup();
	put_word(0);
	put_word(1);
	put_chunk(62);
	put_word(0);
	put_word(0);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, to, sizeof(to)), 0);
}
END_TEST

/* A4.3-1 */
START_TEST(discriminators_are_zero_or_one)
{
	static const uint32_t words[] = {2, 3, 0x100, 0x01000000, 0x80000001, 0xffffffff};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		for (unsigned list = 0; list < 3; list++) {
			setup();
			for (unsigned before = 0; before < list; before++)
				put_word(0);
			put_word(words[i]);
			for (unsigned after = 0; after < 12; after++)
				put_word(0);
			expect(RPCRDMA_BAD_LISTS);
		}
		setup();
		put_read(0, 7, 4, 0);
		put_word(words[i]);
		for (unsigned after = 0; after < 12; after++)
			put_word(0);
		expect(RPCRDMA_BAD_LISTS);
	}
}
END_TEST

/* A3.4-1 */
START_TEST(positions_are_multiples_of_four)
{
	static const uint32_t positions[] = {0, 4, 0x98, 0xfffffffc};

	for (size_t i = 0; i < ARRAY_SIZE(positions); i++) {
		for (uint32_t more = 0; more < 4; more++) {
			setup();
			put_read(positions[i] + more, 7, 4, 0);
			put_word(0);
			put_word(0);
			put_word(0);
			expect(more ? RPCRDMA_BAD_LISTS : RPCRDMA_OK);
		}
	}
}
END_TEST

/* A segment, as the only one of the read list, a write chunk or the reply chunk. */
static void expect_segment(uint32_t len_bytes, uint64_t offset, enum rpcrdma_verdict expected)
{
	setup();
	put_read(0, 7, len_bytes, offset);
	put_word(0);
	put_word(0);
	put_word(0);
	expect(expected);
	setup();
	put_word(0);
	put_word(1);
	put_word(1);
	put_segment(7, len_bytes, offset);
	put_word(0);
	put_word(0);
	expect(expected);
	setup();
	put_word(0);
	put_word(0);
	put_word(1);
	put_word(1);
	put_segment(7, len_bytes, offset);
	expect(expected);
}

/* A4.3-2 */
START_TEST(offset_and_length_do_not_wrap)
{
	expect_segment(1, UINT64_MAX - 1, RPCRDMA_OK);
	expect_segment(1, UINT64_MAX, RPCRDMA_BAD_LISTS);
	expect_segment(0, UINT64_MAX, RPCRDMA_OK);
	expect_segment(UINT32_MAX, UINT64_MAX - UINT32_MAX, RPCRDMA_OK);
	expect_segment(UINT32_MAX, UINT64_MAX - UINT32_MAX + 1, RPCRDMA_BAD_LISTS);
	expect_segment(UINT32_MAX, 0, RPCRDMA_OK);
}
END_TEST

/* Two segments of the read list; of one write chunk; of a write chunk and the reply chunk. */
static void expect_pair(const struct rpcrdma_segment *a, const struct rpcrdma_segment *b,
			enum rpcrdma_verdict expected)
{
	setup();
	put_read(0, a->handle, a->len_bytes, a->offset);
	put_read(0, b->handle, b->len_bytes, b->offset);
	put_word(0);
	put_word(0);
	put_word(0);
	expect(expected);
	setup();
	put_word(0);
	put_word(1);
	put_word(2);
	put_segment(a->handle, a->len_bytes, a->offset);
	put_segment(b->handle, b->len_bytes, b->offset);
	put_word(0);
	put_word(0);
	expect(expected);
	setup();
	put_word(0);
	put_word(1);
	put_word(1);
	put_segment(a->handle, a->len_bytes, a->offset);
	put_word(0);
	put_word(1);
	put_word(1);
	put_segment(b->handle, b->len_bytes, b->offset);
	expect(expected);
}

static void expect_either_order(struct rpcrdma_segment a, struct rpcrdma_segment b,
				enum rpcrdma_verdict expected)
{
	expect_pair(&a, &b, expected);
	expect_pair(&b, &a, expected);
}

START_TEST(segments_of_one_direction_and_handle_do_not_overlap)
{
	struct rpcrdma_segment a = {7, 100, 1000};

	expect_either_order(a, a, RPCRDMA_BAD_LISTS);
	expect_either_order(a, (struct rpcrdma_segment){7, 1, 1099}, RPCRDMA_BAD_LISTS);
	expect_either_order(a, (struct rpcrdma_segment){7, 10, 1050}, RPCRDMA_BAD_LISTS);
	expect_either_order(a, (struct rpcrdma_segment){7, 1001, 0}, RPCRDMA_BAD_LISTS);
}
END_TEST

START_TEST(segments_may_touch_or_lie_under_another_handle)
{
	struct rpcrdma_segment a = {7, 100, 1000};

	expect_either_order(a, (struct rpcrdma_segment){7, 100, 1100}, RPCRDMA_OK);
	expect_either_order(a, (struct rpcrdma_segment){7, 1000, 0}, RPCRDMA_OK);
	expect_either_order(a, (struct rpcrdma_segment){8, 100, 1000}, RPCRDMA_OK);
}
END_TEST

START_TEST(an_empty_segment_overlaps_nothing)
{
	struct rpcrdma_segment a = {7, 100, 1000};

	expect_either_order(a, (struct rpcrdma_segment){7, 0, 1000}, RPCRDMA_OK);
	expect_either_order(a, (struct rpcrdma_segment){7, 0, 1050}, RPCRDMA_OK);
}
END_TEST

START_TEST(memory_may_be_read_and_written_in_one_call)
{
	put_read(0, 7, 100, 1000);
	put_word(0);
	put_word(1);
	put_word(1);
	put_segment(7, 100, 1000);
	put_word(0);
	put_word(0);
	expect(RPCRDMA_OK);
}
END_TEST

START_TEST(lengths_are_summed_in_64_bits)
{
	put_word(0);
	put_word(1);
	put_word(RPCRDMA_MAX_SEGMENTS);
	for (uint32_t i = 0; i < RPCRDMA_MAX_SEGMENTS; i++)
		put_segment(7, UINT32_MAX, (uint64_t)i << 32);
	put_word(0);
	put_word(0);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, (uint64_t)RPCRDMA_MAX_SEGMENTS * UINT32_MAX);
}
END_TEST

/* A-delta-7: the order of positions is free, and kept. */
START_TEST(read_segments_keep_the_order_of_the_wire)
{
	put_read(400, 7, 4, 0);
	put_read(0, 7, 4, 4);
	put_read(400, 7, 4, 8);
	put_word(0);
	put_word(0);
	put_word(0);
	expect(RPCRDMA_OK);
	ck_assert_uint_eq(hdr.reads[0].position, 400);
	ck_assert_uint_eq(hdr.reads[1].position, 0);
	ck_assert_uint_eq(hdr.reads[2].seg.offset, 8);
}
END_TEST

START_TEST(a_list_that_never_ends_is_bad)
{
	while (out.end - out.pos >= 24)
		put_read(0, 7, 0, 0);
	expect(RPCRDMA_BAD_LISTS);
	setup();
	put_word(0);
	while (out.end - out.pos >= 8) {
		put_word(1);
		put_word(0);
	}
	expect(RPCRDMA_BAD_LISTS);
}
END_TEST

static void add_tests(Suite *suite, const char *name, void (*setup_version)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup_version, NULL);
	tcase_add_test(tc, as_many_read_segments_as_the_limit_pass);
	tcase_add_test(tc, one_read_segment_more_is_bad);
	tcase_add_test(tc, as_many_write_segments_as_the_limit_pass);
	tcase_add_test(tc, one_write_segment_more_is_bad);
	tcase_add_test(tc, as_many_write_chunks_as_the_limit_pass);
	tcase_add_test(tc, one_write_chunk_more_is_bad);
	tcase_add_test(tc, counts_are_held_against_the_send);
	tcase_add_test(tc, a_kibibyte_holds_41_read_segments_or_61_write_segments);
	tcase_add_test(tc, discriminators_are_zero_or_one);
	tcase_add_test(tc, positions_are_multiples_of_four);
	tcase_add_test(tc, offset_and_length_do_not_wrap);
	tcase_add_test(tc, segments_of_one_direction_and_handle_do_not_overlap);
	tcase_add_test(tc, segments_may_touch_or_lie_under_another_handle);
	tcase_add_test(tc, an_empty_segment_overlaps_nothing);
	tcase_add_test(tc, memory_may_be_read_and_written_in_one_call);
	tcase_add_test(tc, lengths_are_summed_in_64_bits);
	tcase_add_test(tc, read_segments_keep_the_order_of_the_wire);
	tcase_add_test(tc, a_list_that_never_ends_is_bad);
	suite_add_tcase(suite, tc);
}

int main(void)
{
	Suite *suite = suite_create("header_lists");

	add_tests(suite, "version one", setup_version_one);
	add_tests(suite, "version two", setup_version_two);
	return test_main(suite);
}
