// SPDX-License-Identifier: BSD-3-Clause
/* Tests GETATTR and CB_GETATTR: the maximum Reply size follows the requested attributes. */
#include "nfs/proc_table.h"
#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT   (64u * 1024 * 1024 + 65536)
#define LAST    86u
#define ATTR_FH "o:128"
#define BITMAP  "w:8*0"
#define ACL64   "n:330(0 0 0 o:768)" /* names as long as can be; under 256 KiB */

/* The largest value of each attribute (RFC 8881 sections 5.6 and 5.7, RFC 7862, 8276, 9754). */
static const char *const values[LAST + 1] = {
	[0] = BITMAP,
	[1] = "1",
	[2] = "1",
	[3] = "q1",
	[4] = "q1",
	[5] = "1",
	[6] = "1",
	[7] = "1",
	[8] = "q1 q2",
	[9] = "1",
	[10] = "90",
	[11] = "0",
	[12] = ACL64,
	[13] = "15",
	[14] = "1",
	[15] = "1",
	[16] = "0",
	[17] = "1",
	[18] = "1",
	[19] = ATTR_FH,
	[20] = "q1",
	[21] = "q1",
	[22] = "q1",
	[23] = "q1",
	[24] = "n:4(o:255) n:24(n:1(o:1024) n:4(o:255))",
	[25] = "0",
	[26] = "1",
	[27] = "q1",
	[28] = "255",
	[29] = "255",
	[30] = "q1048576",
	[31] = "q1048576",
	[32] = "o:255",
	[33] = "0644",
	[34] = "1",
	[35] = "1",
	[36] = "o:768",
	[37] = "o:768",
	[38] = "q1",
	[39] = "q1",
	[40] = "q1",
	[41] = "8 1",
	[42] = "q1",
	[43] = "q1",
	[44] = "q1",
	[45] = "q1",
	[46] = "0",
	[47] = "q1 0",
	[48] = "1 q1 0",
	[49] = "q1 0",
	[50] = "q1 0",
	[51] = "q1 0",
	[52] = "q1 0",
	[53] = "q1 0",
	[54] = "1 q1 0",
	[55] = "q1",
	[56] = "q1 0",
	[57] = "q1 0",
	[58] = "0 " ACL64,
	[59] = "0 " ACL64,
	[60] = "q1 q2",
	[61] = "0 1 o:1024 o:1024 0 q0 0",
	[62] = "w:64*1",
	[63] = "1 o:64",
	[64] = "w:64*1",
	[65] = "4096",
	[66] = "4096",
	[67] = "0 0 n:4(o:255) n:8(n:4(0 o:32 o:1024) n:4(o:255))",
	[68] = "n:8(1 w:8*0 n:4(q1))",
	[69] = "q1 n:1(q1 0)",
	[70] = "1 n:1(q1)",
	[71] = "q1 n:1(q1 0)",
	[72] = "1 n:1(q1)",
	[73] = "q1",
	[74] = "1 1",
	[75] = BITMAP,
	[76] = "3",
	[77] = "4096",
	[78] = "q1",
	[79] = "0",
	[80] = "0 0 o:8192",
	[81] = "0644 022",
	[82] = "1",
	[83] = "0",
	[84] = "q1 0",
	[85] = "q1 0",
	[86] = BITMAP " " BITMAP " " BITMAP " " BITMAP " " BITMAP,
};

static void put_mask(struct nfs_msg *msg, unsigned first, unsigned last)
{
	put_u32(msg, last / 32 + 1);
	for (unsigned word = 0; word <= last / 32; word++) {
		uint32_t bits = 0;

		for (unsigned bit = 0; bit < 32; bit++)
			if (32 * word + bit >= first && 32 * word + bit <= last)
				bits |= 1u << bit;
		put_u32(msg, bits);
	}
}

/* A GETATTR of attributes @first to @last in an NFSv4.2 COMPOUND. */
static struct nfs_msg *getattr_call(unsigned first, unsigned last)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct spec_items none = {0};

	spec_put(call, "o:0 2 1 9", &none);
	put_mask(call, first, last);
	return call;
}

static struct nfs_msg *getattr_reply(unsigned first, unsigned last)
{
	const struct nfs_msg_auth longest = {.verf_bytes = 400};
	struct nfs_msg *reply = nfs_msg_reply(&longest), *body = nfs_msg_new();
	struct spec_items none = {0};

	for (unsigned attr = first; attr <= last; attr++)
		spec_put(body, values[attr], &none);
	spec_put(reply, "0 o:0 1 9 0", &none);
	put_mask(reply, first, last);
	put_opaque(reply, nfs_msg_len(body));
	nfs_msg_free(body);
	return reply;
}

static uint32_t check(unsigned first, unsigned last)
{
	struct nfs_msg *call = getattr_call(first, last);
	struct nfs_msg *reply = getattr_reply(first, last);
	uint32_t ceiling = look_ceiling(call, LIMIT);

	ck_assert_msg(ceiling >= nfs_msg_len(reply), "attributes %u to %u: %u under %u", first,
		      last, ceiling, nfs_msg_len(reply));
	nfs_msg_free(call);
	nfs_msg_free(reply);
	return ceiling;
}

START_TEST(each_attribute_has_room)
{
	for (unsigned attr = 0; attr <= LAST; attr++)
		check(attr, attr);
}
END_TEST

START_TEST(all_attributes_at_once_have_room)
{
	ck_assert_uint_lt(check(0, LAST), 4u * 1024 * 1024);
}
END_TEST

START_TEST(replies_to_usual_compounds_fit_inline)
{
	/* 4096 bytes are what peers take inline; the transport header takes 28 of them. */
	static const char *const calls[] = {
		"o:0 2 3 53 x:16 1 0 0 1 22 o:128 9 2 0x10011a 0xb0a23a",
		/* SEQUENCE, PUTFH, OPEN, GETFH, ACCESS, GETATTR */
		"o:0 2 6 53 x:16 1 0 0 1 22 o:128 18 0 0x101 0 q7 o:20 1 1 n:1(0) o:0 0 o:255 10 "
		"3 63 9 2 0x10011a 0xb0a23a",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
		struct spec_items none = {0};

		spec_put(call, calls[i], &none);
		ck_assert_uint_le(look_ceiling(call, LIMIT), 4096 - 28);
		nfs_msg_free(call);
	}
}
END_TEST

/* It gets what is allowed without a proof, and what is around that. */
static void check_unbounded(const struct nfs_msg *call)
{
	uint32_t ceiling = look_ceiling(call, LIMIT);

	ck_assert_uint_ge(ceiling, REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_le(ceiling, REPLY_UNBOUNDED_BYTES + 1024);
}

START_TEST(an_unknown_attribute_has_no_bound)
{
	struct nfs_msg *call = getattr_call(LAST + 1, LAST + 1);

	check_unbounded(call);
	nfs_msg_free(call);
}
END_TEST

START_TEST(a_bitmap_beyond_its_maximum_is_not_followed)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct spec_items none = {0};

	spec_put(call, "o:0 2 1 9 w:9*0", &none);
	check_unbounded(call);
	nfs_msg_free(call);
}
END_TEST

START_TEST(callbacks_ask_for_attributes_too)
{
	struct nfs_msg *call = nfs_msg_call(0x40000000, 1, 1, NULL);
	struct spec_items none = {0};

	spec_put(call, "o:0 1 0 1 3 o:128 w:1*24", &none);
	ck_assert_uint_lt(look_ceiling(call, LIMIT), 1024);
	nfs_msg_free(call);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_attrs");
	TCase *tc = tcase_create("nfs_attrs");

	tcase_add_test(tc, each_attribute_has_room);
	tcase_add_test(tc, all_attributes_at_once_have_room);
	tcase_add_test(tc, replies_to_usual_compounds_fit_inline);
	tcase_add_test(tc, an_unknown_attribute_has_no_bound);
	tcase_add_test(tc, a_bitmap_beyond_its_maximum_is_not_followed);
	tcase_add_test(tc, callbacks_ask_for_attributes_too);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
