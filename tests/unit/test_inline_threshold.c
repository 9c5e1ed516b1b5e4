// SPDX-License-Identifier: BSD-3-Clause
/* Tests how the inline limit is computed. */

#include "base/compiler.h"
#include "rpcrdma/private_data.h"
#include "rpcrdma/proto.h"
#include "tests/lib/test.h"

static struct inline_threshold make(uint32_t own, uint32_t profile)
{
	struct inline_threshold limit;

	inline_threshold_init(&limit, own, profile);
	return limit;
}

START_TEST(the_threshold_is_the_default_until_the_peer_announces_one)
{
	struct inline_threshold limit = make(8192, 0);

	ck_assert_uint_eq(inline_threshold_agreed(&limit, RPCRDMA_DEFAULT_INLINE), 1024);
	ck_assert_uint_eq(inline_threshold_agreed(&limit, RPCRDMA_DEFAULT_INLINE_TWO), 4096);
	ck_assert_uint_eq(inline_threshold_offer(&limit), 8192);
}
END_TEST

/* */
START_TEST(less_than_the_default_counts_as_the_default)
{
	static const struct {
		uint32_t own, profile, peer, agreed;
	} rows[] = {
		{1024, 0, 1024, 4096}, {8192, 0, 2048, 4096},    {1024, 0, 8192, 4096},
		{8192, 0, 5120, 5120}, {8192, 1024, 8192, 4096}, {5120, 0, 8192, 5120},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inline_threshold limit = make(rows[i].own, rows[i].profile);

		inline_threshold_set_peer(&limit, rows[i].peer);
		ck_assert_uint_eq(inline_threshold_agreed(&limit, RPCRDMA_DEFAULT_INLINE_TWO),
				  rows[i].agreed);
	}
}
END_TEST

START_TEST(the_least_of_all_sources_is_agreed)
{
	static const struct {
		uint32_t own, profile, peer, agreed;
	} rows[] = {
		{4096, 0, 4096, 4096},    {4096, 0, 1024, 1024},    {4096, 0, 65536, 4096},
		{4096, 1024, 4096, 1024}, {1024, 4096, 8192, 1024}, {8192, 4096, 2048, 2048},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inline_threshold limit = make(rows[i].own, rows[i].profile);

		inline_threshold_set_peer(&limit, rows[i].peer);
		ck_assert_uint_eq(inline_threshold_agreed(&limit, RPCRDMA_DEFAULT_INLINE),
				  rows[i].agreed);
	}
}
END_TEST

START_TEST(every_threshold_can_be_expressed_in_private_data)
{
	static const struct {
		uint32_t own, profile, offered;
	} rows[] = {
		{0, 0, RPCRDMA_INLINE_MIN},
		{1, 0, RPCRDMA_INLINE_MIN},
		{1023, 0, 1024},
		{1025, 0, 1024},
		{2047, 0, 1024},
		{2048, 0, 2048},
		{RPCRDMA_INLINE_MAX, 0, RPCRDMA_INLINE_MAX},
		{RPCRDMA_INLINE_MAX + 1, 0, RPCRDMA_INLINE_MAX},
		{UINT32_MAX, 0, RPCRDMA_INLINE_MAX},
		{4096, RPCRDMA_DEFAULT_INLINE, 1024},
		{4096, 1, RPCRDMA_INLINE_MIN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inline_threshold limit = make(rows[i].own, rows[i].profile);

		ck_assert_uint_eq(inline_threshold_offer(&limit), rows[i].offered);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inline_threshold");
	TCase *tc = tcase_create("inline_threshold");

	tcase_add_test(tc, the_threshold_is_the_default_until_the_peer_announces_one);
	tcase_add_test(tc, less_than_the_default_counts_as_the_default);
	tcase_add_test(tc, the_least_of_all_sources_is_agreed);
	tcase_add_test(tc, every_threshold_can_be_expressed_in_private_data);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
