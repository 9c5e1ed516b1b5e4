// SPDX-License-Identifier: BSD-3-Clause
/* Tests size classes of buffers, and how many unused slabs the pool keeps. */
#include <stdlib.h>
#include <string.h>

#include "fabric/buf_pool.h"
#include "tests/lib/test.h"

#define KIB           1024u
#define MIB           (1024u * KIB)
#define LARGEST_BYTES (100u * MIB)

static struct buf_pool *pool;
static struct buf_pool_stats stats;
static struct slab_domain domain;

static void setup(void)
{
	slab_domain_init(&domain);
	pool = buf_pool_new(LARGEST_BYTES, 4 * MIB);
	ck_assert_ptr_nonnull(pool);
}

static void teardown(void)
{
	buf_pool_free(pool);
}

static struct buf *get(size_t size_bytes)
{
	struct buf *buf = buf_get(pool, size_bytes);

	ck_assert_ptr_nonnull(buf);
	return buf;
}

static void look(void)
{
	buf_pool_stats_get(pool, &stats);
	ck_assert_uint_le(stats.empty_bytes, stats.slab_bytes);
}

START_TEST(classes_are_where_messages_are)
{
	static const struct {
		size_t asked, got;
	} rows[] = {
		{0, 512},
		{1, 512},
		{512, 512},
		{513, 768},
		{769, 1024},
		{1025, 1536},
		{16 * KIB + 1, 24 * KIB},
		{32 * KIB, 32 * KIB},
		{32 * KIB + 1, 40 * KIB},
		{40 * KIB + 1, 48 * KIB},
		{48 * KIB + 1, 64 * KIB},
		{64 * KIB + 200, 72 * KIB},
		{MIB, MIB},
		{MIB + 200, MIB + 8 * KIB},
		{MIB + 8 * KIB + 1, MIB + 72 * KIB},
		{MIB + 72 * KIB, MIB + 72 * KIB},
		{MIB + 72 * KIB + 1, MIB + 512 * KIB},
		{MIB + 512 * KIB + 1, 2 * MIB},
		{64 * MIB + 200, 64 * MIB + 8 * KIB},
		{64 * MIB + 64 * KIB, 64 * MIB + 72 * KIB},
		{80 * MIB, 96 * MIB},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(buf_pool_class_bytes(rows[i].asked), rows[i].got);
}
END_TEST

/* Each class is its own: none is taken for that of another size. */
START_TEST(every_size_has_a_buffer_of_its_class)
{
	size_t last = 0;

	for (size_t size = 1; size <= LARGEST_BYTES; size += size / 37 + 1) {
		struct buf *buf = get(size);

		ck_assert_uint_ge(buf->size_bytes, size);
		ck_assert_uint_ge(buf->size_bytes, last);
		ck_assert_uint_eq(buf->size_bytes, buf_pool_class_bytes(size));
		last = buf->size_bytes;
		look();
		ck_assert_uint_eq(stats.in_use_bytes, last);
		buf->mem[0] = buf->mem[size - 1] = 1;
		buf_put(buf);
	}
	ck_assert_ptr_null(buf_get(pool, 2 * LARGEST_BYTES));
}
END_TEST

START_TEST(one_reserve_holds_for_all_classes)
{
	struct buf *bufs[64];

	for (size_t size = 512; size <= 2 * MIB; size *= 2) {
		for (unsigned i = 0; i < 64; i++)
			bufs[i] = get(size + (i & 1) * size / 2);
		for (unsigned i = 0; i < 64; i++)
			buf_put(bufs[i]);
	}
	look();
	ck_assert_uint_eq(stats.in_use_bytes, 0);
	ck_assert_uint_eq(stats.slab_bytes, stats.empty_bytes);
	ck_assert_uint_le(stats.empty_bytes, 4 * MIB);
	ck_assert_uint_gt(stats.empty_bytes, 0);
}
END_TEST

START_TEST(buffers_larger_than_the_reserve_are_never_cached)
{
	struct buf *small = get(MIB);

	buf_put(small);
	buf_put(get(64 * MIB));
	look();
	/* Nor does it push out what fits. */
	ck_assert_uint_eq(stats.slab_bytes, MIB);
	ck_assert_uint_eq(stats.empty_bytes, MIB);
}
END_TEST

struct registration {
	struct slab_reg reg;
	unsigned *released;
};

static void release(struct slab_reg *reg)
{
	struct registration *r = (struct registration *)reg;

	(*r->released)++;
	free(r);
}

static void enter(struct buf *buf, unsigned *released)
{
	struct registration *r = calloc(1, sizeof(*r));

	r->reg.release = release;
	r->released = released;
	buf_slab_reg_add(buf, &domain, &r->reg);
}

START_TEST(the_slab_that_emptied_first_is_released_first)
{
	/* Each has a slab of its own; the reserve holds all but one. */
	static const size_t sizes[5] = {MIB, 768 * KIB, 512 * KIB, MIB + 8 * KIB, MIB};
	unsigned released[5] = {0};
	struct buf *bufs[5];

	for (unsigned i = 0; i < 5; i++) {
		bufs[i] = get(sizes[i]);
		enter(bufs[i], &released[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		buf_put(bufs[i]);
	/* The first is used once more. */
	bufs[0] = get(sizes[0]);
	ck_assert_ptr_nonnull(buf_slab_reg(bufs[0], &domain));
	buf_put(bufs[0]);
	buf_put(bufs[4]);
	look();
	ck_assert_uint_eq(stats.empty_bytes, sizes[0] + sizes[2] + sizes[3] + sizes[4]);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(released[i], i == 1);
	slab_domain_fini(&domain);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(released[i], 1);
}
END_TEST

START_TEST(a_slab_in_use_is_no_reserve)
{
	struct buf *a = get(512), *b = get(512);

	look();
	ck_assert_uint_eq(stats.empty_bytes, 0);
	buf_put(a);
	look();
	ck_assert_uint_eq(stats.empty_bytes, 0);
	buf_put(b);
	look();
	ck_assert_uint_eq(stats.empty_bytes, stats.slab_bytes);
	a = get(512);
	look();
	ck_assert_uint_eq(stats.empty_bytes, 0);
	buf_put(a);
}
END_TEST

#define MANY 20u

/* Each with a slab of its own, five times the reserve. */
static void use_many(unsigned n, unsigned *released)
{
	struct buf *bufs[MANY];

	for (unsigned i = 0; i < n; i++) {
		bufs[i] = get(MIB);
		if (released && !buf_slab_reg(bufs[i], &domain))
			enter(bufs[i], released);
	}
	for (unsigned i = 0; i < n; i++)
		buf_put(bufs[i]);
	look();
}

START_TEST(the_memory_of_a_device_stays_at_its_recent_peak)
{
	unsigned released = 0;

	use_many(MANY, NULL);
	ck_assert_uint_eq(stats.empty_bytes, 4 * MIB);
	buf_pool_keep_peak(pool, true);
	for (unsigned i = 0; i < 3; i++) {
		use_many(MANY, &released);
		ck_assert_uint_eq(stats.empty_bytes, MANY * MIB);
	}
	ck_assert_uint_eq(released, 0);
	slab_domain_fini(&domain);
	ck_assert_uint_eq(released, MANY);
	buf_pool_keep_peak(pool, false);
	look();
	ck_assert_uint_eq(stats.slab_bytes, 4 * MIB);
}
END_TEST

START_TEST(slabs_unused_for_a_period_are_freed)
{
	uint64_t now_us = 1000;
	unsigned calls = 1;

	ck_assert(!buf_pool_age(pool, now_us));
	buf_pool_keep_peak(pool, true);
	use_many(MANY, NULL);
	/* Within a period nothing changes, however often the time is set. */
	ck_assert(!buf_pool_age(pool, now_us += BUF_POOL_PERIOD_US - 1));
	ck_assert(!buf_pool_age(pool, now_us));
	look();
	ck_assert_uint_eq(stats.slab_bytes, MANY * MIB);
	ck_assert(!buf_pool_age(pool, ++now_us));
	use_many(10, NULL);
	ck_assert_uint_eq(stats.slab_bytes, MANY * MIB);
	/* Little by little: that takes the kernel long. */
	ck_assert(buf_pool_age(pool, now_us += BUF_POOL_PERIOD_US));
	look();
	ck_assert_uint_eq(stats.slab_bytes, 16 * MIB);
	while (buf_pool_age(pool, ++now_us))
		calls++;
	ck_assert_uint_eq(calls, 2);
	look();
	ck_assert_uint_eq(stats.slab_bytes, 10 * MIB);
	now_us += BUF_POOL_PERIOD_US;
	while (buf_pool_age(pool, now_us))
		;
	look();
	ck_assert_uint_eq(stats.slab_bytes, 4 * MIB);
	buf_pool_keep_peak(pool, false);
}
END_TEST

/* Slabs in use are not freed, and count for the next periods. */
START_TEST(a_peak_that_lasts_is_kept)
{
	struct buf *bufs[10];
	uint64_t now_us = 0;

	buf_pool_keep_peak(pool, true);
	for (unsigned i = 0; i < 10; i++)
		bufs[i] = get(MIB);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(!buf_pool_age(pool, now_us += BUF_POOL_PERIOD_US));
	for (unsigned i = 0; i < 10; i++)
		buf_put(bufs[i]);
	look();
	ck_assert_uint_eq(stats.slab_bytes, 10 * MIB);
	buf_pool_keep_peak(pool, false);
}
END_TEST

/* Other sizes are in use than before: those that are kept make room. */
START_TEST(cached_slabs_are_freed_for_buffers_in_use)
{
	struct buf *bufs[MANY / 2];

	buf_pool_keep_peak(pool, true);
	use_many(MANY, NULL);
	for (unsigned i = 0; i < MANY / 2; i++) {
		bufs[i] = get(2 * MIB);
		look();
		ck_assert_uint_le(stats.slab_bytes, (MANY + 4) * MIB);
	}
	for (unsigned i = 0; i < MANY / 2; i++)
		buf_put(bufs[i]);
	look();
	ck_assert_uint_eq(stats.slab_bytes, MANY * MIB);
	buf_pool_keep_peak(pool, false);
}
END_TEST

/* What is in use meanwhile does not count. */
START_TEST(no_more_is_kept_than_the_pool_may)
{
	struct buf *buf = get(16 * MIB);

	buf_pool_keep_max(pool, 10 * MIB);
	buf_pool_keep_peak(pool, true);
	use_many(8, NULL);
	ck_assert_uint_eq(stats.empty_bytes, 8 * MIB);
	use_many(MANY, NULL);
	ck_assert_uint_eq(stats.empty_bytes, 10 * MIB);
	buf_pool_keep_max(pool, 0);
	look();
	ck_assert_uint_eq(stats.empty_bytes, 4 * MIB);
	buf_pool_keep_peak(pool, false);
	buf_put(buf);
}
END_TEST

/* A reserve of 64 MiB. */
START_TEST(large_slabs_begin_where_a_huge_page_can)
{
	static const struct {
		size_t asked;
		unsigned nbufs;
	} rows[] = {
		{MIB, 8},    {MIB + 72 * KIB, 7}, {8 * KIB, 1024},
		{512, 1024}, {3 * MIB, 2},        {64 * MIB, 1},
	};
	struct buf_pool *large = buf_pool_new(LARGEST_BYTES, 64 * MIB);

	buf_pool_large_slabs(large, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf *buf = buf_get(large, rows[i].asked);
		size_t len_bytes;
		uint8_t *start;

		ck_assert_ptr_nonnull(buf);
		buf_slab_memory(buf, &start, &len_bytes);
		ck_assert_uint_eq(len_bytes, rows[i].nbufs * buf_pool_class_bytes(rows[i].asked));
		if (len_bytes >= 2 * MIB)
			ck_assert_uint_eq((uintptr_t)start % (2 * MIB), 0);
		memset(buf->mem, 1, rows[i].asked);
		buf_put(buf);
	}
	buf_pool_large_slabs(large, false);
	buf_pool_free(large);
}
END_TEST

START_TEST(a_small_reserve_has_no_large_slabs)
{
	struct buf *buf;
	size_t len_bytes;
	uint8_t *start;

	buf_pool_large_slabs(pool, true);
	buf = get(8 * KIB);
	buf_slab_memory(buf, &start, &len_bytes);
	ck_assert_uint_eq(len_bytes, 512 * KIB);
	buf_put(buf);
	buf_pool_large_slabs(pool, false);
}
END_TEST

/* A buffer of the same class as the last one, which is the same one. */
static struct buf *get_used(uint8_t with)
{
	struct buf *buf = get(MIB);

	memset(buf->mem, with, MIB);
	return buf;
}

static void expect_bytes(const struct buf *buf, size_t from, size_t to, uint8_t value)
{
	for (size_t i = from; i < to; i++)
		ck_assert_uint_eq(buf->mem[i], value);
}

START_TEST(data_of_other_connections_are_cleared_before_exposure)
{
	uint64_t owner = buf_pool_owner_new(pool);
	struct buf *buf = get_used(7);

	buf_put(buf);
	ck_assert_ptr_eq(get(MIB), buf);
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 100, 5000, owner), 5000);
	expect_bytes(buf, 0, 100, 7);
	expect_bytes(buf, 100, 5100, 0);
	expect_bytes(buf, 5100, MIB, 7);
	buf_put(buf);
}
END_TEST

START_TEST(memory_exposed_by_the_same_connection_is_not_cleared_again)
{
	uint64_t owner = buf_pool_owner_new(pool);
	struct buf *buf = get_used(7);

	ck_assert_uint_eq(buf_expose(buf, buf->mem + 100, 5000, owner), 5000);
	/* Segments of one chunk follow each other. */
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 5100, 1000, owner), 1000);
	memset(buf->mem, 9, MIB);
	buf_put(buf);
	ck_assert_ptr_eq(get(MIB), buf);
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 200, 3000, owner), 0);
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 90, 7000, owner), 10 + 990);
	expect_bytes(buf, 0, 90, 9);
	expect_bytes(buf, 90, 100, 0);
	expect_bytes(buf, 100, 6100, 9);
	expect_bytes(buf, 6100, 7090, 0);
	expect_bytes(buf, 7090, MIB, 9);
	/* Apart from it nothing is known. */
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 10000, 10, owner), 10);
	ck_assert_uint_eq(buf_expose(buf, buf->mem + 200, 10, owner), 10);
	buf_put(buf);
}
END_TEST

START_TEST(another_connection_finds_it_cleared)
{
	uint64_t first = buf_pool_owner_new(pool), second = buf_pool_owner_new(pool);
	struct buf *buf = get_used(7);

	ck_assert_uint_ne(first, second);
	ck_assert_uint_eq(buf_expose(buf, buf->mem, MIB, first), MIB);
	memset(buf->mem, 9, MIB);
	buf_put(buf);
	ck_assert_ptr_eq(get(MIB), buf);
	ck_assert_uint_eq(buf_expose(buf, buf->mem, 1000, second), 1000);
	expect_bytes(buf, 0, 1000, 0);
	buf_put(buf);
	ck_assert_ptr_eq(get(MIB), buf);
	ck_assert_uint_eq(buf_expose(buf, buf->mem, 1000, first), 1000);
	buf_put(buf);
}
END_TEST

/* It may have held anything: a Call of another client, what was read for one. */
START_TEST(a_use_between_that_was_not_exposed_makes_it_a_strangers)
{
	uint64_t owner = buf_pool_owner_new(pool);
	struct buf *buf = get_used(7);

	ck_assert_uint_eq(buf_expose(buf, buf->mem, 1000, owner), 1000);
	buf_put(buf);
	ck_assert_ptr_eq(get_used(8), buf);
	buf_put(buf);
	ck_assert_ptr_eq(get(MIB), buf);
	ck_assert_uint_eq(buf_expose(buf, buf->mem, 1000, owner), 1000);
	expect_bytes(buf, 0, 1000, 0);
	buf_put(buf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pool");
	TCase *tc = tcase_create("pool");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, classes_are_where_messages_are);
	tcase_add_test(tc, every_size_has_a_buffer_of_its_class);
	tcase_add_test(tc, one_reserve_holds_for_all_classes);
	tcase_add_test(tc, buffers_larger_than_the_reserve_are_never_cached);
	tcase_add_test(tc, the_slab_that_emptied_first_is_released_first);
	tcase_add_test(tc, a_slab_in_use_is_no_reserve);
	tcase_add_test(tc, the_memory_of_a_device_stays_at_its_recent_peak);
	tcase_add_test(tc, slabs_unused_for_a_period_are_freed);
	tcase_add_test(tc, a_peak_that_lasts_is_kept);
	tcase_add_test(tc, cached_slabs_are_freed_for_buffers_in_use);
	tcase_add_test(tc, no_more_is_kept_than_the_pool_may);
	tcase_add_test(tc, large_slabs_begin_where_a_huge_page_can);
	tcase_add_test(tc, a_small_reserve_has_no_large_slabs);
	tcase_add_test(tc, data_of_other_connections_are_cleared_before_exposure);
	tcase_add_test(tc, memory_exposed_by_the_same_connection_is_not_cleared_again);
	tcase_add_test(tc, another_connection_finds_it_cleared);
	tcase_add_test(tc, a_use_between_that_was_not_exposed_makes_it_a_strangers);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
