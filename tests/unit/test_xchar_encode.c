// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests encoding transport characteristics: golden bytes, buffers of each size, RESPs to requests
 * of any length.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define ROOM_BYTES 4096u

static const struct xchar_value values[] = {
	{XCHAR_RBSIZ, true, 65536},
	{XCHAR_RQREMINV, true, 1},
	{XCHAR_BRS, true, XCHAR_BRS_SZLIM},
};

/* Elements of a REQ: in the subset, asked of so far; both times in order. */
struct judged {
	uint32_t count, asked;
	enum xchar_set (*set)(uint32_t n);
};

static enum xchar_set set_of(void *arg, uint32_t n)
{
	struct judged *judged = arg;

	ck_assert_uint_eq(n, judged->asked++ % judged->count);
	return judged->set(n);
}

static enum xchar_set all_done(uint32_t n)
{
	(void)n;
	return XCHAR_DONE;
}

static enum xchar_set all_pending(uint32_t n)
{
	(void)n;
	return XCHAR_PEND;
}

static enum xchar_set in_turn(uint32_t n)
{
	return n % XCHAR_SETS;
}

static enum xchar_set first_done(uint32_t n)
{
	return n ? XCHAR_REJ : XCHAR_DONE;
}

static size_t encode_init(uint8_t *to, size_t room)
{
	return xchar_encode_init(to, room, values, ARRAY_SIZE(values), 6);
}

static size_t encode_init_all_may_change(uint8_t *to, size_t room)
{
	return xchar_encode_init(to, room, values, 1, 0);
}

static size_t encode_init_empty(uint8_t *to, size_t room)
{
	return xchar_encode_init(to, room, NULL, 0, 0);
}

static size_t encode_req(uint8_t *to, size_t room)
{
	return xchar_encode_req(to, room, values, 2);
}

static size_t encode_resp(uint8_t *to, size_t room)
{
	struct judged judged = {.count = 34, .set = first_done};

	return xchar_encode_resp(to, room, judged.count, set_of, &judged);
}

static size_t encode_resp_empty(uint8_t *to, size_t room)
{
	struct judged judged = {.set = all_done};

	return xchar_encode_resp(to, room, 0, set_of, &judged);
}

static size_t encode_upd(uint8_t *to, size_t room)
{
	return xchar_encode_upd(to, room, &values[2], true);
}

static const struct {
	enum xchar_op op;
	const char *bytes;
	size_t (*encode)(uint8_t *to, size_t room);
} goldens[] = {
	{XCHAR_INIT,
	 "00000003 00000001 00000004 00010000 00000002 00000004 00000001"
	 "00000003 00000004 00000002 00000001 00000006",
	 encode_init},
	{XCHAR_INIT, "00000001 00000001 00000004 00010000 00000000", encode_init_all_may_change},
	{XCHAR_INIT, "00000000 00000000", encode_init_empty},
	{XCHAR_REQ, "00000002 00000001 00000004 00010000 00000002 00000004 00000001", encode_req},
	{XCHAR_RESP, "00000001 00000001 00000002 fffffffe 00000003 00000000", encode_resp},
	{XCHAR_RESP, "00000000 00000000 00000000", encode_resp_empty},
	{XCHAR_UPD, "00000003 00000004 00000002 00000001", encode_upd},
};

START_TEST(each_operation_encodes_to_its_golden_bytes)
{
	uint8_t expected[256], got[256];
	size_t len = hex_bytes(goldens[_i].bytes, expected, sizeof(expected));

	ck_assert_uint_eq(goldens[_i].encode(got, sizeof(got)), len);
	ck_assert_mem_eq(got, expected, len);
}
END_TEST

START_TEST(encoding_never_writes_past_its_room)
{
	uint8_t got[256];
	size_t len = goldens[_i].encode(got, sizeof(got));

	for (size_t room = 0; room < len; room++) {
		memset(got, 0xa5, sizeof(got));
		ck_assert_uint_eq(goldens[_i].encode(got, room), 0);
		for (size_t at = room; at < sizeof(got); at++)
			ck_assert_uint_eq(got[at], 0xa5);
	}
	ck_assert_uint_eq(goldens[_i].encode(got, len), len);
	ck_assert_uint_eq(goldens[_i].encode(NULL, 0), 0);
}
END_TEST

START_TEST(encoded_values_decode)
{
	struct xchar_operation heard;
	uint8_t got[256];
	size_t len = goldens[_i].encode(got, sizeof(got));

	ck_assert_int_eq(xchar_decode(goldens[_i].op, got, len, &heard), XCHAR_OK);
	ck_assert_int_eq(heard.op, goldens[_i].op);
}
END_TEST

/* B4.3-1: the subsets are disjoint and cover the request, in as few words as that takes. */
static void check_resp(uint32_t count, enum xchar_set (*set)(uint32_t n))
{
	struct judged judged = {.count = count, .set = set};
	uint8_t got[ROOM_BYTES];
	size_t len = xchar_encode_resp(got, sizeof(got), count, set_of, &judged);
	struct xchar_operation heard;
	uint32_t nwords[XCHAR_SETS] = {0};

	ck_assert_uint_eq(judged.asked, 2 * count);
	ck_assert_int_eq(xchar_decode(XCHAR_RESP, got, len, &heard), XCHAR_OK);
	for (uint32_t n = 0; n < count; n++)
		nwords[set(n)] = n / 32 + 1;
	for (unsigned in = 0; in < XCHAR_SETS; in++) {
		ck_assert_uint_eq(heard.sets[in].nwords, nwords[in]);
		for (uint32_t n = 0; n < count + 64; n++)
			ck_assert_int_eq(xchar_subset_has(&heard.sets[in], n),
					 n < count && set(n) == in);
	}
	judged.asked = 0;
	ck_assert_uint_eq(xchar_encode_resp(got, len - 1, count, set_of, &judged), 0);
	judged.asked = 0;
	ck_assert_uint_eq(xchar_encode_resp(got, len, count, set_of, &judged), len);
}

START_TEST(a_resp_covers_a_request_of_any_length)
{
	static const uint32_t counts[] = {1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 96, 97, 8192};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		check_resp(counts[i], all_done);
		check_resp(counts[i], all_pending);
		check_resp(counts[i], in_turn);
		check_resp(counts[i], first_done);
	}
}
END_TEST

START_TEST(a_resp_that_cannot_fit_asks_for_nothing)
{
	static const uint32_t counts[] = {33, 64, 0x7fffffff, 0x80000000, UINT32_MAX};
	uint8_t got[16];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct judged judged = {.count = counts[i], .set = all_done};

		ck_assert_uint_eq(xchar_encode_resp(got, sizeof(got), counts[i], set_of, &judged),
				  0);
		ck_assert_uint_eq(judged.asked, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xchar_encode");
	TCase *tc = tcase_create("xchar_encode");
	int count = ARRAY_SIZE(goldens);

	tcase_add_loop_test(tc, each_operation_encodes_to_its_golden_bytes, 0, count);
	tcase_add_loop_test(tc, encoding_never_writes_past_its_room, 0, count);
	tcase_add_loop_test(tc, encoded_values_decode, 0, count);
	tcase_add_test(tc, a_resp_covers_a_request_of_any_length);
	tcase_add_test(tc, a_resp_that_cannot_fit_asks_for_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
