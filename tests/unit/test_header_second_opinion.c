// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares our transport headers with those of rpcgen's code: random headers, both ways, whole and
 * damaged.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/header.h"
#include "tests/lib/hex.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include "tests/unit/header_random.h"
#include "tests/unit/rpcrdma_v1_peer.h"
#include "tests/unit/rpcrdma_v2_peer.h"

#define ROUNDS     10000
#define SEND_BYTES 16384

/* A version, and what rpcgen made of its description. */
static const struct opinion {
	uint32_t vers;
	size_t (*decode)(const uint8_t *send, size_t len, uint64_t *numbers, size_t *header_bytes);
	size_t (*encode)(const uint64_t *numbers, uint8_t *to, size_t room);
} opinions[] = {
	{RPCRDMA_VERSION_ONE, v1_peer_decode, v1_peer_encode},
	{RPCRDMA_VERSION_TWO, v2_peer_decode, v2_peer_encode},
};

static struct rpcrdma_header hdr;
static uint64_t ours[V2_MAX_NUMBERS], theirs[V2_MAX_NUMBERS];
static uint8_t our_bytes[SEND_BYTES], their_bytes[SEND_BYTES];

static void setup(void)
{
	random_start();
}

START_TEST(the_generated_encoder_writes_the_same_bytes)
{
	const struct opinion *opinion = &opinions[_i];

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t our_len, their_len;

		header_random(&hdr, opinion->vers);
		header_numbers(&hdr, ours);
		our_len = rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES);
		their_len = opinion->encode(ours, their_bytes, SEND_BYTES);
		ck_assert_uint_ne(our_len, 0);
		ck_assert_uint_eq(our_len, their_len);
		ck_assert_uint_eq(our_len, rpcrdma_header_bytes(&hdr));
		ck_assert_mem_eq(our_bytes, their_bytes, our_len);
	}
}
END_TEST

START_TEST(the_generated_decoder_reads_our_values)
{
	const struct opinion *opinion = &opinions[_i];

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t count, len, header_bytes;

		header_random(&hdr, opinion->vers);
		count = header_numbers(&hdr, ours);
		len = rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES);
		ck_assert_uint_eq(opinion->decode(our_bytes, len, theirs, &header_bytes), count);
		ck_assert_uint_eq(header_bytes, len);
		ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
	}
}
END_TEST

START_TEST(our_decoder_reads_the_generated_encoding)
{
	const struct opinion *opinion = &opinions[_i];

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t count, len;
		uint8_t *copy;

		header_random(&hdr, opinion->vers);
		count = header_numbers(&hdr, theirs);
		len = opinion->encode(theirs, their_bytes, SEND_BYTES);
		copy = exact_copy(their_bytes, len);
		memset(&hdr, 0xa5, sizeof(hdr));
		ck_assert_int_eq(rpcrdma_header_decode(copy, len, &hdr), RPCRDMA_OK);
		ck_assert_uint_eq(header_numbers(&hdr, ours), count);
		ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
		free(copy);
	}
}
END_TEST

static size_t damage(size_t len)
{
	for (uint32_t hits = 1 + random_below(3); hits; hits--)
		our_bytes[random_below((uint32_t)len)] ^= (uint8_t)(1u << random_below(8));
	return random_below(4) ? len : random_below((uint32_t)len + 1);
}

/* Damage has made it of another version. */
static bool is_of(const struct opinion *opinion)
{
	return hdr.vers == opinion->vers ||
	       (hdr.proc == RPCRDMA_ERROR && hdr.error == RPCRDMA_ERR_VERS);
}

/* An unknown error may come without what the description has after it, or has no place in it. */
static bool is_unknown_error(void)
{
	if (hdr.proc != RPCRDMA_ERROR)
		return false;
	return hdr.error != RPCRDMA_ERR_VERS && hdr.error != RPCRDMA_ERR_CHUNK &&
	       (hdr.vers == RPCRDMA_VERSION_ONE || hdr.error != RPCRDMA_ERR_INVAL_OPTION);
}

START_TEST(we_take_no_damaged_header_that_they_refuse)
{
	const struct opinion *opinion = &opinions[_i];
	unsigned taken = 0, refused = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t len, count, header_bytes;
		uint8_t *copy;

		header_random(&hdr, opinion->vers);
		len = damage(rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES));
		copy = exact_copy(our_bytes, len);
		if (rpcrdma_header_decode(copy, len, &hdr) != RPCRDMA_OK) {
			refused++;
		} else if (is_of(opinion) && !is_unknown_error()) {
			taken++;
			count = header_numbers(&hdr, ours);
			ck_assert_uint_eq(opinion->decode(copy, len, theirs, &header_bytes), count);
			ck_assert_uint_eq(header_bytes, hdr.body_offset);
			ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
		}
		free(copy);
	}
	ck_assert_uint_gt(taken, ROUNDS / 10);
	ck_assert_uint_gt(refused, ROUNDS / 10);
}
END_TEST

/* Of version two, where nothing follows but what has one reading: the verdict that what they read asks for. */
static enum rpcrdma_verdict verdict_by_them(size_t numbers)
{
	static const enum rpcrdma_verdict verdicts[] = {
		[RPCRDMA_MSGP] = RPCRDMA_RESERVED,
		[RPCRDMA_DONE] = RPCRDMA_RESERVED,
		[RPCRDMA_ERROR] = RPCRDMA_OK,
		[RPCRDMA_OPTIONAL] = RPCRDMA_OK,
	};

	ck_assert_uint_ge(numbers, 4);
	ck_assert_uint_lt(theirs[3], ARRAY_SIZE(verdicts));
	return verdicts[theirs[3]];
}

static uint32_t random_proc_without_lists(void)
{
	return RPCRDMA_MSGP + random_below(4);
}

/* Both take lists, and we look at them more closely. */
START_TEST(we_refuse_nothing_without_lists_that_they_take)
{
	unsigned seen[RPCRDMA_OPTIONAL + 1] = {0}, refused = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t len, count, header_bytes;
		uint8_t *copy;

		header_random(&hdr, RPCRDMA_VERSION_TWO);
		len = damage(rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES));
		our_bytes[7] = RPCRDMA_VERSION_TWO;
		our_bytes[15] = (uint8_t)random_proc_without_lists();
		copy = exact_copy(our_bytes, len);
		count = v2_peer_decode(copy, len, theirs, &header_bytes);
		if (!count) {
			refused++;
		} else if (theirs[1] == RPCRDMA_VERSION_TWO) {
			seen[theirs[3]]++;
			ck_assert_int_eq(rpcrdma_header_decode(copy, len, &hdr),
					 verdict_by_them(count));
		}
		free(copy);
	}
	for (uint32_t proc = RPCRDMA_MSGP; proc <= RPCRDMA_OPTIONAL; proc++)
		ck_assert_uint_gt(seen[proc], ROUNDS / 50);
	ck_assert_uint_gt(refused, ROUNDS / 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("header_second_opinion");
	TCase *tc = tcase_create("header_second_opinion");
	int count = ARRAY_SIZE(opinions);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, the_generated_encoder_writes_the_same_bytes, 0, count);
	tcase_add_loop_test(tc, the_generated_decoder_reads_our_values, 0, count);
	tcase_add_loop_test(tc, our_decoder_reads_the_generated_encoding, 0, count);
	tcase_add_loop_test(tc, we_take_no_damaged_header_that_they_refuse, 0, count);
	tcase_add_test(tc, we_refuse_nothing_without_lists_that_they_take);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
