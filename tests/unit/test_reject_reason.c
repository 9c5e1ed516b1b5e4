// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the reason of a rejection: it is received as it was sent, and hostile ones are not
 * accepted.
 */
#include "rpcrdma/reject_reason.h"

#include <stdlib.h>
#include <string.h>

#include "rpcrdma/private_data.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define REJ_BYTES 148u /* as InfiniBand reports it */

static char words[REJECT_REASON_WORDS_BYTES];

static bool decode(const uint8_t *data, size_t len)
{
	uint8_t *copy = exact_copy(data, len);
	bool taken;

	memset(words, 0x55, sizeof(words));
	taken = reject_reason_decode(copy, len, words);
	free(copy);
	return taken;
}

/* Padded, as one device does, or not. */
START_TEST(a_sent_reason_is_read_back)
{
	uint8_t data[REJ_BYTES] = {0};
	size_t len = reject_reason_encode(LEG_CLOSE_REFUSED, data);

	ck_assert_uint_gt(len, 6);
	ck_assert(decode(data, _i ? REJ_BYTES : len));
	ck_assert_str_eq(words, "its server refuses the connection");
}
END_TEST

/* Whatever keeps a server from being used can be what a client is rejected for. */
START_TEST(the_servers_cause_is_reported)
{
	static const enum leg_close whys[] = {LEG_CLOSE_REFUSED, LEG_CLOSE_TIMEOUT,
					      LEG_CLOSE_NOT_RPC, LEG_CLOSE_PROTOCOL,
					      LEG_CLOSE_VERSION};
	uint8_t data[REJECT_REASON_BYTES];

	ck_assert_uint_gt(reject_reason_encode(whys[_i], data), 6);
}
END_TEST

START_TEST(every_reason_fits_and_has_no_addresses)
{
	unsigned told = 0;

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++) {
		uint8_t data[REJECT_REASON_BYTES];
		size_t len = reject_reason_encode((enum leg_close)why, data);
		struct rpcrdma_private_data pd;

		ck_assert_uint_le(len, REJ_BYTES);
		if (!len)
			continue;
		told++;
		ck_assert(decode(data, len));
		ck_assert_uint_eq(strlen(words), len - 6);
		ck_assert_ptr_null(strpbrk(words, "?\"'/:0123456789"));
		/* It is not taken for what an acceptance carries. */
		ck_assert(!rpcrdma_private_data_decode(data, len, &pd));
	}
	ck_assert_uint_ge(told, 15);
	ck_assert_uint_eq(reject_reason_encode(LEG_CLOSE_LOCAL, (uint8_t[REJECT_REASON_BYTES]){0}),
			  0);
}
END_TEST

static const char *const bad[] = {
	"",
	"5250524a01",
	"5250524a0101",              /* no words */
	"5250524a0100 61",           /* none said to follow */
	"5250524a0102 61",           /* one less than said */
	"5250524a0002 6161",         /* version 0 */
	"5250524a0202 6161",         /* version 2 */
	"5250524b0102 6161",         /* another identifier */
	"f6ab0e1801010303 0000",     /* that of RFC 8797 */
	"00000000000000000000 0000", /* nothing but padding */
};

START_TEST(malformed_private_data_give_no_reason)
{
	uint8_t data[REJ_BYTES];

	ck_assert(!decode(data, hex_bytes(bad[_i], data, sizeof(data))));
}
END_TEST

START_TEST(the_length_that_is_said_is_bounded)
{
	uint8_t data[300] = {0x52, 0x50, 0x52, 0x4a, 1};

	memset(data + 6, 'a', sizeof(data) - 6);
	for (unsigned said = 0; said < 256; said++) {
		data[5] = (uint8_t)said;
		ck_assert_int_eq(decode(data, sizeof(data)), said >= 1 && said <= 88);
		ck_assert_int_eq(decode(data, 50), said >= 1 && said <= 44);
	}
}
END_TEST

START_TEST(hostile_words_are_made_harmless)
{
	static const char hostile[] = "a\"b\\c\n\033[31m\xff\x7f d";
	uint8_t data[64] = {0x52, 0x50, 0x52, 0x4a, 1, sizeof(hostile)};

	/* With the zero at its end. */
	memcpy(data + 6, hostile, sizeof(hostile));
	ck_assert(decode(data, sizeof(data)));
	ck_assert_str_eq(words, "a'b?c??[31m?? d?");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reject_reason");
	TCase *tc = tcase_create("reject_reason");

	tcase_add_loop_test(tc, a_sent_reason_is_read_back, 0, 2);
	tcase_add_loop_test(tc, the_servers_cause_is_reported, 0, 5);
	tcase_add_test(tc, every_reason_fits_and_has_no_addresses);
	tcase_add_loop_test(tc, malformed_private_data_give_no_reason, 0,
			    (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tc, the_length_that_is_said_is_bounded);
	tcase_add_test(tc, hostile_words_are_made_harmless);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
