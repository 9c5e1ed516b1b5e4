// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares our transport characteristics with those of rpcgen's code: random ones, both ways,
 * whole, damaged and at each limit.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/lib/hex.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include "tests/unit/rpcrdma_v2_peer.h"

#define ROUNDS       10000
#define INFO_BYTES   8192
#define MAX_VALUES   12
#define MAX_ELEMENTS 200
#define OP_COUNT     5

/* Said: to be encoded by them; told: what was decoded then. */
static uint64_t said[V2_MAX_NUMBERS], told[V2_MAX_NUMBERS], ours[V2_MAX_NUMBERS],
	theirs[V2_MAX_NUMBERS];
static size_t nsaid, ntold, nours;
static uint8_t our_bytes[INFO_BYTES], their_bytes[INFO_BYTES];
static struct xchar_value values[MAX_VALUES];
static enum xchar_set set_of_element[MAX_ELEMENTS];

static void setup(void)
{
	random_start();
}

static void say(uint64_t number)
{
	said[nsaid++] = number;
}

static void tell(uint64_t number)
{
	told[ntold++] = number;
}

static void say_and_tell(uint64_t number)
{
	say(number);
	tell(number);
}

static struct xchar_value random_known_value(void)
{
	struct xchar_value value = {.id = 1 + random_below(XCHAR_ID_MAX), .known = true};

	switch (value.id) {
	case XCHAR_RBSIZ:
		value.value = random_u32() >> random_below(32);
		break;
	case XCHAR_RQREMINV:
		value.value = random_below(2);
		break;
	case XCHAR_BRS:
		value.value = random_below(XCHAR_BRS_GENL + 1);
		break;
	}
	return value;
}

static void say_known(const struct xchar_value *value)
{
	uint8_t data[4];

	be32_put(data, value->value);
	say(value->id);
	say(sizeof(data));
	for (size_t at = 0; at < sizeof(data); at++)
		say(data[at]);
	tell(value->id);
	tell(1);
	tell(value->value);
}

static void say_unknown(void)
{
	uint32_t id = random_below(2) ? 0xffffff00 + random_below(0x100) : 4 + random_below(16);
	uint32_t bytes = random_below(20);

	say_and_tell(id);
	tell(0);
	say(bytes);
	for (uint32_t at = 0; at < bytes; at++)
		say((uint8_t)random_u32());
}

static void say_random_value(void)
{
	struct xchar_value value = random_known_value();

	if (random_below(3))
		say_known(&value);
	else
		say_unknown();
}

static void say_random_spec(void)
{
	uint32_t count = random_below(MAX_VALUES + 1);

	say_and_tell(count);
	for (uint32_t n = 0; n < count; n++)
		say_random_value();
}

static void say_random_subset(void)
{
	uint32_t count = random_below(5);

	say_and_tell(count);
	for (uint32_t n = 0; n < count; n++)
		say_and_tell(random_below(4) ? random_u32() : 0);
}

static void say_random_operation(enum xchar_op op)
{
	nsaid = 0;
	ntold = 0;
	switch (op) {
	case XCHAR_INIT:
		say_random_spec();
		say_random_subset();
		break;
	case XCHAR_REQ:
		say_random_spec();
		break;
	case XCHAR_RESP:
		for (unsigned set = 0; set < XCHAR_SETS; set++)
			say_random_subset();
		break;
	case XCHAR_UPD:
		say_random_value();
		say_and_tell(random_below(2));
		break;
	}
}

static void put_values(struct xchar_spec spec)
{
	struct xchar_value value;

	while (xchar_next(&spec, &value)) {
		ours[nours++] = value.id;
		ours[nours++] = value.known;
		if (value.known)
			ours[nours++] = value.value;
	}
}

static void put_spec(const struct xchar_spec *spec)
{
	ours[nours++] = spec->left;
	put_values(*spec);
}

static void put_subset(const struct xchar_subset *subset)
{
	ours[nours++] = subset->nwords;
	for (uint32_t word = 0; word < subset->nwords; word++) {
		uint32_t bits = 0;

		for (uint32_t bit = 0; bit < 32; bit++)
			bits |= (uint32_t)xchar_subset_has(subset, 32 * word + bit) << bit;
		ours[nours++] = bits;
	}
}

/* What we decoded, in the order that the peer speaks in. */
static void put_operation(const struct xchar_operation *operation)
{
	nours = 0;
	switch (operation->op) {
	case XCHAR_INIT:
		put_spec(&operation->spec);
		put_subset(&operation->nochg);
		break;
	case XCHAR_REQ:
		put_spec(&operation->spec);
		break;
	case XCHAR_RESP:
		for (unsigned set = 0; set < XCHAR_SETS; set++)
			put_subset(&operation->sets[set]);
		break;
	case XCHAR_UPD:
		put_values(operation->spec);
		ours[nours++] = operation->pendclr;
		break;
	}
}

START_TEST(our_decoder_reads_the_generated_encoding)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct xchar_operation operation;
		uint8_t *copy;
		size_t len;

		say_random_operation((enum xchar_op)_i);
		len = xchar_peer_encode((uint32_t)_i, said, their_bytes, INFO_BYTES);
		copy = exact_copy(their_bytes, len);
		ck_assert_int_eq(xchar_decode((uint32_t)_i, copy, len, &operation), XCHAR_OK);
		put_operation(&operation);
		ck_assert_uint_eq(nours, ntold);
		ck_assert_mem_eq(ours, told, ntold * sizeof(told[0]));
		ck_assert_uint_eq(xchar_peer_decode((uint32_t)_i, copy, len, theirs), ntold);
		ck_assert_mem_eq(theirs, told, ntold * sizeof(told[0]));
		free(copy);
	}
}
END_TEST

static enum xchar_set set_of(void *arg, uint32_t n)
{
	(void)arg;
	return set_of_element[n];
}

static void say_set(uint32_t count, enum xchar_set set)
{
	uint32_t words[MAX_ELEMENTS / 32 + 1] = {0}, nwords = 0;

	for (uint32_t n = 0; n < count; n++) {
		if (set_of_element[n] == set) {
			nwords = n / 32 + 1;
			words[n / 32] |= 1u << n % 32;
		}
	}
	say_and_tell(nwords);
	for (uint32_t word = 0; word < nwords; word++)
		say_and_tell(words[word]);
}

static size_t encode_random_resp(void)
{
	uint32_t count = random_below(MAX_ELEMENTS + 1), sets = 1 + random_below(XCHAR_SETS);

	for (uint32_t n = 0; n < count; n++)
		set_of_element[n] = random_below(sets);
	for (unsigned set = 0; set < XCHAR_SETS; set++)
		say_set(count, set);
	return xchar_encode_resp(our_bytes, INFO_BYTES, count, set_of, NULL);
}

static size_t encode_random_upd(void)
{
	bool pendclr = random_below(2);

	values[0] = random_known_value();
	say_known(&values[0]);
	say_and_tell(pendclr);
	return xchar_encode_upd(our_bytes, INFO_BYTES, &values[0], pendclr);
}

static unsigned say_random_known_values(void)
{
	unsigned count = random_below(MAX_VALUES + 1);

	say_and_tell(count);
	for (unsigned n = 0; n < count; n++) {
		values[n] = random_known_value();
		say_known(&values[n]);
	}
	return count;
}

static size_t encode_random_init(void)
{
	unsigned count = say_random_known_values();
	uint32_t nochg = random_below(1u << count);

	say_and_tell(nochg ? 1 : 0);
	if (nochg)
		say_and_tell(nochg);
	return xchar_encode_init(our_bytes, INFO_BYTES, values, count, nochg);
}

/* An operation of known values, as we encode it. */
static size_t encode_random_operation(enum xchar_op op)
{
	nsaid = 0;
	ntold = 0;
	switch (op) {
	case XCHAR_INIT:
		return encode_random_init();
	case XCHAR_REQ:
		return xchar_encode_req(our_bytes, INFO_BYTES, values, say_random_known_values());
	case XCHAR_RESP:
		return encode_random_resp();
	case XCHAR_UPD:
		return encode_random_upd();
	}
	return 0;
}

START_TEST(the_generated_codec_reads_our_values_and_writes_the_same_bytes)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t len = encode_random_operation((enum xchar_op)_i);

		ck_assert_uint_ne(len, 0);
		ck_assert_uint_eq(xchar_peer_decode((uint32_t)_i, our_bytes, len, theirs), ntold);
		ck_assert_mem_eq(theirs, told, ntold * sizeof(told[0]));
		ck_assert_uint_eq(xchar_peer_encode((uint32_t)_i, said, their_bytes, INFO_BYTES),
				  len);
		ck_assert_mem_eq(our_bytes, their_bytes, len);
	}
}
END_TEST

/* Whether both take it, and then read the same. */
static bool agree(uint32_t opttype, size_t len)
{
	uint8_t *copy = exact_copy(their_bytes, len);
	size_t count = xchar_peer_decode(opttype, copy, len, theirs);
	struct xchar_operation operation;

	ck_assert_int_eq(xchar_decode(opttype, copy, len, &operation),
			 count ? XCHAR_OK : XCHAR_BAD);
	if (count) {
		put_operation(&operation);
		ck_assert_uint_eq(nours, count);
		ck_assert_mem_eq(ours, theirs, count * sizeof(theirs[0]));
	}
	free(copy);
	return count;
}

static size_t damage(size_t len)
{
	for (uint32_t hits = 1 + random_below(3); hits; hits--)
		their_bytes[random_below((uint32_t)len)] ^= (uint8_t)(1u << random_below(8));
	return random_below(4) ? len : random_below((uint32_t)len + 1);
}

START_TEST(both_decoders_accept_the_same_damaged_messages)
{
	unsigned taken = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t len;

		say_random_operation((enum xchar_op)_i);
		len = xchar_peer_encode((uint32_t)_i, said, their_bytes, INFO_BYTES);
		taken += agree((uint32_t)_i, damage(len));
	}
	ck_assert_uint_gt(taken, ROUNDS / 50);
	ck_assert_uint_lt(taken, ROUNDS - ROUNDS / 50);
}
END_TEST

START_TEST(both_decoders_accept_the_same_words_at_limits)
{
	static const uint32_t limits[] = {
		0,          1,          2,          3,          4,          5,          8,
		12,         16,         31,         32,         0x10000,    0x10001,    0x01000000,
		0x1fffffff, 0x20000000, 0x20000001, 0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff,
		0x80000000, 0xfffffffb, 0xfffffffc, 0xfffffffd, 0xfffffffe, 0xffffffff,
	};
	unsigned taken = 0, refused = 0;

	for (unsigned round = 0; round < ROUNDS / 100; round++) {
		size_t len;

		say_random_operation((enum xchar_op)_i);
		len = xchar_peer_encode((uint32_t)_i, said, their_bytes, INFO_BYTES);
		for (size_t at = 0; at < len; at += 4) {
			uint32_t before = be32_get(their_bytes + at);

			for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
				be32_put(their_bytes + at, limits[i]);
				if (agree((uint32_t)_i, len))
					taken++;
				else
					refused++;
			}
			be32_put(their_bytes + at, before);
		}
	}
	ck_assert_uint_gt(taken, 100);
	ck_assert_uint_gt(refused, 100);
}
END_TEST

START_TEST(both_decoders_accept_the_same_random_words)
{
	unsigned taken = 0;

	for (unsigned round = 0; round < 10 * ROUNDS; round++) {
		size_t len = 4 * random_below(12);

		for (size_t at = 0; at < len; at += 4)
			be32_put(their_bytes + at,
				 random_below(8) ? random_below(5) : random_u32());
		taken += agree((uint32_t)_i, len);
	}
	ck_assert_uint_gt(taken, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xchar_second_opinion");
	TCase *tc = tcase_create("xchar_second_opinion");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, our_decoder_reads_the_generated_encoding, XCHAR_INIT, OP_COUNT);
	tcase_add_loop_test(tc, the_generated_codec_reads_our_values_and_writes_the_same_bytes,
			    XCHAR_INIT, OP_COUNT);
	tcase_add_loop_test(tc, both_decoders_accept_the_same_damaged_messages, XCHAR_INIT,
			    OP_COUNT);
	tcase_add_loop_test(tc, both_decoders_accept_the_same_words_at_limits, XCHAR_INIT,
			    OP_COUNT);
	tcase_add_loop_test(tc, both_decoders_accept_the_same_random_words, XCHAR_INIT, OP_COUNT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
