// SPDX-License-Identifier: BSD-3-Clause
/* Our transport headers and those of code that rpcgen wrote: random ones, both ways, whole and damaged. */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/header.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"
#include "tests/unit/rpcrdma_v1_peer.h"

#define ROUNDS     10000
#define SEND_BYTES 16384

static uint64_t random_state;
static struct rpcrdma_header hdr;
static uint64_t ours[V1_MAX_NUMBERS], theirs[V1_MAX_NUMBERS];
static uint8_t our_bytes[SEND_BYTES], their_bytes[SEND_BYTES];

static void setup(void)
{
	random_state = 0x9e3779b97f4a7c15;
}

/* xorshift64: the same sequence in every run. */
static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t random_below(uint32_t limit)
{
	return (uint32_t)(random_u64() >> 32) % limit;
}

static uint32_t random_u32(void)
{
	return (uint32_t)(random_u64() >> 32);
}

/* Mostly few, sometimes as many as there may be. */
static uint32_t random_count(uint32_t limit)
{
	return random_below(8) ? random_below(4) : random_below(limit + 1);
}

/* Legal beside all others of its header: handles are counted up. */
static struct rpcrdma_segment random_segment(uint32_t *handle)
{
	struct rpcrdma_segment segment = {
		.handle = (*handle)++,
		.len_bytes = random_u32() >> random_below(32),
		.offset = (random_u64() >> random_below(64)) & ~(UINT64_C(1) << 63),
	};

	return segment;
}

static void random_chunk(struct rpcrdma_chunk *chunk, uint32_t *handle)
{
	*chunk = (struct rpcrdma_chunk){.first = hdr.nsegments};
	chunk->count = random_count(RPCRDMA_MAX_SEGMENTS - hdr.nsegments);
	if (chunk->count > RPCRDMA_MAX_SEGMENTS - hdr.nsegments)
		chunk->count = RPCRDMA_MAX_SEGMENTS - hdr.nsegments;
	for (unsigned i = 0; i < chunk->count; i++) {
		hdr.segments[hdr.nsegments] = random_segment(handle);
		chunk->len_bytes += hdr.segments[hdr.nsegments++].len_bytes;
	}
}

static void random_header(void)
{
	uint32_t handle = random_u32();

	rpcrdma_header_init(&hdr, random_u32(), RPCRDMA_VERSION_ONE, random_u32(), random_below(5));
	switch (hdr.proc) {
	case RPCRDMA_ERROR:
		hdr.error = random_below(4) ? 1 + random_below(2) : random_u32();
		if (hdr.error == RPCRDMA_ERR_VERS) {
			hdr.vers = random_u32();
			hdr.vers_low = random_u32();
			hdr.vers_high = random_u32();
		}
		return;
	case RPCRDMA_DONE:
		return;
	case RPCRDMA_MSGP:
		hdr.align = random_u32();
		hdr.thresh = random_u32();
		break;
	default:
		break;
	}
	hdr.nreads = random_count(RPCRDMA_MAX_SEGMENTS);
	for (unsigned i = 0; i < hdr.nreads; i++) {
		hdr.reads[i].position = random_u32() & ~3u;
		hdr.reads[i].seg = random_segment(&handle);
	}
	hdr.nwrites = random_count(RPCRDMA_MAX_CHUNKS);
	for (unsigned i = 0; i < hdr.nwrites; i++)
		random_chunk(&hdr.writes[i], &handle);
	hdr.has_reply_chunk = random_below(2);
	if (hdr.has_reply_chunk)
		random_chunk(&hdr.reply_chunk, &handle);
}

static size_t put_segment(uint64_t *numbers, const struct rpcrdma_segment *segment)
{
	numbers[0] = segment->handle;
	numbers[1] = segment->len_bytes;
	numbers[2] = segment->offset;
	return 3;
}

static size_t put_chunk(uint64_t *numbers, const struct rpcrdma_chunk *chunk)
{
	size_t n = 0;

	numbers[n++] = chunk->count;
	for (unsigned i = 0; i < chunk->count; i++)
		n += put_segment(numbers + n, &hdr.segments[chunk->first + i]);
	return n;
}

static size_t put_lists(uint64_t *numbers)
{
	size_t n = 0;

	numbers[n++] = hdr.nreads;
	for (unsigned i = 0; i < hdr.nreads; i++) {
		numbers[n++] = hdr.reads[i].position;
		n += put_segment(numbers + n, &hdr.reads[i].seg);
	}
	numbers[n++] = hdr.nwrites;
	for (unsigned i = 0; i < hdr.nwrites; i++)
		n += put_chunk(numbers + n, &hdr.writes[i]);
	numbers[n++] = hdr.has_reply_chunk;
	if (hdr.has_reply_chunk)
		n += put_chunk(numbers + n, &hdr.reply_chunk);
	return n;
}

/* What our header says, in the order that the peer speaks in. */
static size_t our_numbers(void)
{
	uint64_t *numbers = ours;
	size_t n = 0;

	numbers[n++] = hdr.xid;
	numbers[n++] = hdr.vers;
	numbers[n++] = hdr.credit;
	numbers[n++] = hdr.proc;
	switch (hdr.proc) {
	case RPCRDMA_MSGP:
		numbers[n++] = hdr.align;
		numbers[n++] = hdr.thresh;
		return n + put_lists(numbers + n);
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return n + put_lists(numbers + n);
	case RPCRDMA_DONE:
		return n;
	case RPCRDMA_ERROR:
		numbers[n++] = hdr.error;
		if (hdr.error == RPCRDMA_ERR_VERS) {
			numbers[n++] = hdr.vers_low;
			numbers[n++] = hdr.vers_high;
		}
		return n;
	}
	return 0;
}

START_TEST(they_encode_to_the_same_bytes)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t our_len, their_len;

		random_header();
		our_numbers();
		our_len = rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES);
		their_len = v1_peer_encode(ours, their_bytes, SEND_BYTES);
		ck_assert_uint_ne(our_len, 0);
		ck_assert_uint_eq(our_len, their_len);
		ck_assert_uint_eq(our_len, rpcrdma_header_bytes(&hdr));
		ck_assert_mem_eq(our_bytes, their_bytes, our_len);
	}
}
END_TEST

START_TEST(they_read_in_ours_what_we_said)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t count, len, header_bytes;

		random_header();
		count = our_numbers();
		len = rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES);
		ck_assert_uint_eq(v1_peer_decode(our_bytes, len, theirs, &header_bytes), count);
		ck_assert_uint_eq(header_bytes, len);
		ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
	}
}
END_TEST

START_TEST(we_read_in_theirs_what_they_said)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t count, len;
		uint8_t *copy;

		random_header();
		count = our_numbers();
		memcpy(theirs, ours, count * sizeof(ours[0]));
		len = v1_peer_encode(theirs, their_bytes, SEND_BYTES);
		copy = exact_copy(their_bytes, len);
		memset(&hdr, 0xa5, sizeof(hdr));
		ck_assert_int_eq(rpcrdma_header_decode(copy, len, &hdr), RPCRDMA_OK);
		free(copy);
		ck_assert_uint_eq(our_numbers(), count);
		ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
	}
}
END_TEST

/* An unknown error may come without the words that the document has after it. */
static bool may_be_shorter(void)
{
	return hdr.proc == RPCRDMA_ERROR && hdr.error != RPCRDMA_ERR_VERS &&
	       hdr.error != RPCRDMA_ERR_CHUNK;
}

static size_t damage(size_t len)
{
	for (uint32_t hits = 1 + random_below(3); hits; hits--)
		our_bytes[random_below((uint32_t)len)] ^= (uint8_t)(1u << random_below(8));
	return random_below(4) ? len : random_below((uint32_t)len + 1);
}

START_TEST(we_take_no_damaged_header_that_they_refuse)
{
	unsigned taken = 0, refused = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t len, count, header_bytes;
		uint8_t *copy;

		random_header();
		len = damage(rpcrdma_header_encode(&hdr, our_bytes, SEND_BYTES));
		copy = exact_copy(our_bytes, len);
		if (rpcrdma_header_decode(copy, len, &hdr) != RPCRDMA_OK) {
			refused++;
		} else if (!may_be_shorter()) {
			taken++;
			count = our_numbers();
			ck_assert_uint_eq(v1_peer_decode(copy, len, theirs, &header_bytes), count);
			ck_assert_uint_eq(header_bytes, hdr.body_offset);
			ck_assert_mem_eq(ours, theirs, count * sizeof(ours[0]));
		}
		free(copy);
	}
	ck_assert_uint_gt(taken, ROUNDS / 10);
	ck_assert_uint_gt(refused, ROUNDS / 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("header_second_opinion");
	TCase *tc = tcase_create("header_second_opinion");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, they_encode_to_the_same_bytes);
	tcase_add_test(tc, they_read_in_ours_what_we_said);
	tcase_add_test(tc, we_read_in_theirs_what_they_said);
	tcase_add_test(tc, we_take_no_damaged_header_that_they_refuse);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
