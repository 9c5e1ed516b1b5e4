// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the detection of a protocol by the first bytes of a connection, and how the bytes are
 * shown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/proto_sniff.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

static const struct {
	const char *hex;
	enum proto_sniff what;
	const char *text;
} rows[] = {
	{"8000002812345678"
	 "0000000000000002",
	 PROTO_SNIFF_RPC, "80 00 00 28 12 34 56 78 00 00 00 00 00 00 00 02 (RPC over TCP)"},
	{"0000002812345678"
	 "00000000",
	 PROTO_SNIFF_RPC, "00 00 00 28 12 34 56 78 00 00 00 00 (RPC over TCP)"},
	{"8000001812345678"
	 "0000000100000001",
	 PROTO_SNIFF_RPC, "80 00 00 18 12 34 56 78 00 00 00 01 00 00 00 01 (RPC over TCP)"},
	/*
	 * Version 3 of RPC, a Reply that is neither, a third type, too short a message, too little
	 * of one.
	 */
	{"8000002812345678"
	 "0000000000000003",
	 PROTO_SNIFF_UNKNOWN, "80 00 00 28 12 34 56 78 00 00 00 00 00 00 00 03"},
	{"8000001812345678"
	 "0000000100000002",
	 PROTO_SNIFF_UNKNOWN, "80 00 00 18 12 34 56 78 00 00 00 01 00 00 00 02"},
	{"8000002812345678"
	 "00000002",
	 PROTO_SNIFF_UNKNOWN, "80 00 00 28 12 34 56 78 00 00 00 02"},
	{"8000000812345678"
	 "00000000",
	 PROTO_SNIFF_UNKNOWN, "80 00 00 08 12 34 56 78 00 00 00 00"},
	{"8000002812345678"
	 "000000",
	 PROTO_SNIFF_UNKNOWN, "80 00 00 28 12 34 56 78 00 00 00"},
	{"4d50412049442052"
	 "6571204672616d65",
	 PROTO_SNIFF_IWARP, "\"MPA ID Req Frame\" (iWARP)"},
	{"4d50412049442052"
	 "6570204672616d65",
	 PROTO_SNIFF_IWARP, "\"MPA ID Rep Frame\" (iWARP)"},
	{"4d50412049442052"
	 "6571204672616d",
	 PROTO_SNIFF_UNKNOWN, "\"MPA ID Req Fram\""},
	{"474554202f204854"
	 "54502f312e310d0a"
	 "486f7374",
	 PROTO_SNIFF_HTTP, "\"GET / HTTP/1.1..\" (HTTP)"},
	{"485454502f312e31"
	 "2034303020426164",
	 PROTO_SNIFF_HTTP, "\"HTTP/1.1 400 Bad\" (HTTP)"},
	{"16030102000100"
	 "01fc0303",
	 PROTO_SNIFF_TLS, "16 03 01 02 00 01 00 01 fc 03 03 (TLS)"},
	{"15030300020228", PROTO_SNIFF_TLS, "15 03 03 00 02 02 28 (TLS)"},
	{"1603", PROTO_SNIFF_UNKNOWN, "16 03"},
	{"5353482d322e302d"
	 "4f70656e5353485f",
	 PROTO_SNIFF_SSH, "\"SSH-2.0-OpenSSH_\" (SSH)"},
	{"50524f5859205443"
	 "503420",
	 PROTO_SNIFF_PROXY, "\"PROXY TCP4 \" (PROXY protocol of a load balancer)"},
	{"0d0a0d0a000d0a51"
	 "5549540a20110054",
	 PROTO_SNIFF_PROXY,
	 "0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a 20 11 00 54 (PROXY protocol of a load balancer)"},
	/* What would end the quote, or begin an escape. */
	{"226f6b22205c090d", PROTO_SNIFF_UNKNOWN, "\".ok. ...\""},
	{"ff", PROTO_SNIFF_UNKNOWN, "ff"},
	{"", PROTO_SNIFF_UNKNOWN, "\"\""},
};

START_TEST(a_known_protocol_is_named_and_its_bytes_are_shown)
{
	uint8_t bytes[64];
	char text[PROTO_SNIFF_TEXT_BYTES];
	size_t len = hex_bytes(rows[_i].hex, bytes, sizeof(bytes));

	ck_assert_int_eq(proto_sniff_detect(bytes, len), rows[_i].what);
	ck_assert_str_eq(proto_sniff_text(bytes, len, text), rows[_i].text);
}
END_TEST

/*
 * Nothing behind the bytes that have come is looked at: each lies at the end of an allocation of
 * its own.
 */
START_TEST(any_bytes_are_shown_printable_and_within_the_room)
{
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	char text[PROTO_SNIFF_TEXT_BYTES];

	for (unsigned round = 0; round < 20000; round++) {
		size_t len = round % 24;
		uint8_t raw[24], *bytes;

		for (size_t i = 0; i < len; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			raw[i] = (uint8_t)(_i ? 0x20 + random % 0x5f : random);
		}
		/* The starts of what is known, cut short and gone wrong. */
		if (round % 3 == 0 && len) {
			uint8_t known[64];
			size_t known_len =
				hex_bytes(rows[random % ARRAY_SIZE(rows)].hex, known, 64);

			memcpy(raw, known, known_len < len ? known_len : len);
			raw[random % len] ^= (uint8_t)(round & 1);
		}
		bytes = exact_copy(raw, len);
		proto_sniff_text(bytes, len, text);
		ck_assert_uint_lt(strnlen(text, sizeof(text)), sizeof(text));
		for (const char *c = text; *c; c++)
			ck_assert(*c >= 0x20 && *c < 0x7f && *c != '\\');
		ck_assert(proto_sniff_detect(bytes, len) <= PROTO_SNIFF_PROXY);
		if (proto_sniff_detect(bytes, len) == PROTO_SNIFF_PROXY)
			for (size_t cut = 0; cut <= len; cut++)
				ck_assert(proto_sniff_is_prefix(PROTO_SNIFF_PROXY, bytes, cut));
		free(bytes);
	}
}
END_TEST

START_TEST(an_incomplete_beginning_can_still_match)
{
	const uint8_t *v1 = (const uint8_t *)"PROXY TCP",
		      *v2 = (const uint8_t *)"\r\n\r\n\0\r\nQUIT\n!";

	for (size_t len = 0; len <= 9; len++)
		ck_assert(proto_sniff_is_prefix(PROTO_SNIFF_PROXY, v1, len));
	for (size_t len = 0; len <= 13; len++)
		ck_assert(proto_sniff_is_prefix(PROTO_SNIFF_PROXY, v2, len));
	ck_assert(!proto_sniff_is_prefix(PROTO_SNIFF_PROXY, (const uint8_t *)"PROXI", 5));
	ck_assert(!proto_sniff_is_prefix(PROTO_SNIFF_PROXY, (const uint8_t *)"\r\n\r\n\r", 5));
	ck_assert(!proto_sniff_is_prefix(PROTO_SNIFF_IWARP, v1, 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("first_bytes");
	TCase *tc = tcase_create("first_bytes");

	tcase_add_loop_test(tc, a_known_protocol_is_named_and_its_bytes_are_shown, 0,
			    (int)ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, any_bytes_are_shown_printable_and_within_the_room, 0, 2);
	tcase_add_test(tc, an_incomplete_beginning_can_still_match);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
