// SPDX-License-Identifier: BSD-3-Clause
/* Tests payloads: which result goes into which chunk, and which are never guessed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT         (1024u * 1024 + 65536)

#define SEQUENCE      "53 x:16 1 0 0 1 "
#define SEQUENCE_DONE "53 0 x:16 1 0 0 0 0 "
#define PUTFH         "22 o:32 "
#define PUTFH_DONE    "22 0 "
#define READ(count)   "25 1 x:12 q0 " #count " "
#define READLINK      "27 "

static struct spec_items call_items, reply_items;
static struct rpc_payload found[8];
static struct spec_items found_in_call;
static struct call_info call_info;

/* A Call of NFSv4 with @args behind the tag. */
static struct nfs_msg *compound(const struct nfs_msg_auth *auth, const char *args)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, auth);

	call_items.count = 0;
	spec_put(call, "o:6", &call_items);
	spec_put(call, args, &call_items);
	return call;
}

/* Sets the facts of a Call, which is freed; returns how many payloads are in it, or -EBADMSG. */
static int look_into(struct nfs_msg *call)
{
	const struct look look = look_at_msg(call, LIMIT);
	int count = look_payloads(&look, &call_info, &found_in_call);

	nfs_msg_free(call);
	return count;
}

/* Whether a Reply to a Call can have payloads, or cannot be told to have none. */
static bool may_answer_with_payloads(struct nfs_msg *call)
{
	look_into(call);
	return call_info.results != CALL_RESULTS_NONE;
}

/* The payloads found in the first @have bytes of a Reply of @results; there are no others. */
static int payloads_begun(const char *results, uint32_t have)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	uint8_t *here = malloc(have);
	int count;

	reply_items.count = 0;
	spec_put(reply, results, &reply_items);
	memcpy(here, nfs_msg_bytes(reply), have);
	count = nfs_reply_ddp_items_partial(&call_info, here, have, nfs_msg_len(reply), found, 8);
	nfs_msg_free(reply);
	free(here);
	return count;
}

/* What is found in a Reply of @results to a Call of @args. */
static int payloads_of(const char *args, const char *results, unsigned max)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	int count;

	ck_assert(may_answer_with_payloads(compound(NULL, args)));
	reply_items.count = 0;
	spec_put(reply, results, &reply_items);
	count = nfs_reply_ddp_items(&call_info, nfs_msg_bytes(reply), nfs_msg_len(reply), found,
				    max);
	nfs_msg_free(reply);
	return count;
}

static void same_item(unsigned at, unsigned want)
{
	ck_assert_uint_eq(found[at].offset_bytes, reply_items.list[want].offset_bytes);
	ck_assert_uint_eq(found[at].len_bytes, reply_items.list[want].len_bytes);
}

START_TEST(the_nth_read_or_readlink_is_the_nth_payload)
{
	ck_assert_int_eq(
		payloads_of("1 7 " SEQUENCE PUTFH READ(4096) READ(17) PUTFH READLINK "9 w:0*0",
			    "0 o:6 7 " SEQUENCE_DONE PUTFH_DONE
			    "25 0 0 d:4096 25 0 1 d:17 " PUTFH_DONE "27 0 d:30 9 0 w:0*0 o:0",
			    8),
		3);
	for (unsigned i = 0; i < 3; i++)
		same_item(i, i);
}
END_TEST

START_TEST(a_payload_is_found_as_soon_as_its_length_is_here)
{
	static const char results[] = "0 o:6 2 " PUTFH_DONE "25 0 1 d:5000";
	uint32_t at;

	ck_assert_int_eq(payloads_of("0 2 " PUTFH READ(5000), results, 8), 1);
	at = found[0].offset_bytes;
	for (uint32_t have = 0; have < at; have++)
		ck_assert_int_eq(payloads_begun(results, have), -EBADMSG);
	for (uint32_t have = at; have <= at + 5000; have++) {
		ck_assert_int_eq(payloads_begun(results, have), 1);
		same_item(0, 0);
	}
}
END_TEST

/* Whatever is cut off before an operation, its status or its length: nothing is read there. */
START_TEST(one_before_other_operations_is_found_when_these_are_here)
{
	static const char results[] = "0 o:6 2 25 0 0 d:17 25 0 1 d:30";
	uint32_t at;

	ck_assert_int_eq(payloads_of("0 2 " READ(17) READ(30), results, 8), 2);
	at = found[1].offset_bytes;
	for (uint32_t have = 0; have < at; have++)
		ck_assert_int_eq(payloads_begun(results, have), -EBADMSG);
	ck_assert_int_eq(payloads_begun(results, at), 2);
	same_item(0, 0);
	same_item(1, 1);
}
END_TEST

START_TEST(a_version_3_read_is_found_as_soon_as_its_length_is_here)
{
	static const char results[] = "0 0 5000 1 d:5000";
	struct nfs_msg *call = nfs_msg_call(100003, 3, 6, NULL);

	call_items.count = 0;
	spec_put(call, "o:28 q0 5000", &call_items);
	ck_assert(may_answer_with_payloads(call));
	for (uint32_t have = 0; have < 44; have++)
		ck_assert_int_eq(payloads_begun(results, have), -EBADMSG);
	ck_assert_int_eq(payloads_begun(results, 44), 1);
	same_item(0, 0);
	ck_assert_uint_eq(found[0].offset_bytes, 44);
}
END_TEST

START_TEST(no_more_are_given_than_there_is_room_for)
{
	ck_assert_int_eq(
		payloads_of("0 2 " READ(4096) READ(17), "0 o:6 2 25 0 0 d:4096 25 0 1 d:17", 1), 1);
	same_item(0, 0);
	ck_assert_int_eq(payloads_of("0 1 " READ(8), "0 o:6 1 25 0 1 d:8", 0), 0);
}
END_TEST

START_TEST(a_read_that_fails_counts_with_nothing_in_it)
{
	ck_assert_int_eq(payloads_of("0 3 " READ(10) READ(10) READ(10),
				     "10025 o:6 2 25 0 0 d:10 25 10025", 8),
			 2);
	same_item(0, 0);
	ck_assert_uint_eq(found[1].len_bytes, 0);
}
END_TEST

START_TEST(an_operation_that_fails_before_the_read_leaves_none)
{
	ck_assert_int_eq(payloads_of("1 3 " SEQUENCE PUTFH READ(10),
				     "10001 o:6 2 " SEQUENCE_DONE "22 10001", 8),
			 0);
	/* Failed results are not walked: SETATTR's may lack its bitmap. */
	ck_assert_int_eq(
		payloads_of("0 2 34 1 x:12 w:0*0 o:0 " READ(10), "10004 o:6 1 34 10004", 8), 0);
}
END_TEST

START_TEST(an_operation_the_server_does_not_know_ends_the_walk)
{
	ck_assert_int_eq(payloads_of("2 2 10044 " READ(10), "10044 o:6 1 10044 10044", 8), 0);
}
END_TEST

START_TEST(read_plus_is_never_a_payload)
{
	ck_assert_int_eq(payloads_of("2 3 " SEQUENCE "68 1 x:12 q0 100 " READ(10),
				     "0 o:6 3 " SEQUENCE_DONE "68 0 1 n:2(0 q0 o:50) 25 0 1 d:10",
				     8),
			 1);
	same_item(0, 0);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	static const char *const replies[] = {
		"0 o:6 1 26 0 1 o:10",          /* another operation */
		"0 o:6 1 9 0 w:0*0 o:0",        /* another, that succeeds */
		"0 o:6 0",                      /* none, though nothing failed */
		"0 o:6 1 25 0 1 10",            /* data that are not there */
		"0 o:6 1 25 0 1 4294967295",    /* a length beyond everything */
		"0 o:6 1 25 0",                 /* cut off */
		"0 o:6 1 25",                   /* cut off before the status */
		"0 o:6 1",                      /* cut off before the operation */
		"0 o:6 4294967295 25 0 1 o:10", /* more results than fit */
		"0 4294967295",                 /* a tag beyond everything */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(replies); i++)
		ck_assert_msg(payloads_of("0 1 " READ(10), replies[i], 8) == -EBADMSG, "%s",
			      replies[i]);
}
END_TEST

START_TEST(error_replies_have_no_payload)
{
	uint8_t bytes[RPC_ERROR_REPLY_BYTES];
	size_t len;

	ck_assert(may_answer_with_payloads(compound(NULL, "0 1 " READ(10))));
	for (enum rpc_accept_stat stat = RPC_PROG_UNAVAIL; stat <= RPC_SYSTEM_ERR; stat++) {
		if (stat == RPC_PROG_MISMATCH)
			continue;
		len = rpc_encode_accepted(bytes, 1, stat);
		ck_assert_int_eq(nfs_reply_ddp_items(&call_info, bytes, (uint32_t)len, found, 8),
				 0);
	}
	len = rpc_encode_auth_error(bytes, 1, 1);
	ck_assert_int_eq(nfs_reply_ddp_items(&call_info, bytes, (uint32_t)len, found, 8), 0);
	len = rpc_encode_rpc_mismatch(bytes, 1);
	ck_assert_int_eq(nfs_reply_ddp_items(&call_info, bytes, (uint32_t)len, found, 8), 0);
	/* Not a Reply at all. */
	ck_assert_int_eq(nfs_reply_ddp_items(&call_info, bytes, 4, found, 8), -EBADMSG);
}
END_TEST

START_TEST(integrity_and_privacy_have_no_payloads)
{
	for (uint32_t service = RPC_GSS_INTEGRITY; service <= RPC_GSS_PRIVACY; service++) {
		const struct nfs_msg_auth gss = {RPC_AUTH_GSS, RPC_GSS_DATA, service, 28};

		ck_assert_int_le(look_into(compound(&gss, "0 1 38 1 x:12 q0 2 d:10")), 0);
		ck_assert_uint_eq(call_info.narg_payloads, 0);
		ck_assert_uint_eq(found_in_call.count, 0);
		ck_assert(!may_answer_with_payloads(compound(&gss, "0 1 " READ(10))));
	}
}
END_TEST

START_TEST(context_tokens_have_no_payloads)
{
	const struct nfs_msg_auth init = {RPC_AUTH_GSS, RPC_GSS_INIT, 0, 0};
	ck_assert(!may_answer_with_payloads(nfs_msg_call(100003, 3, 0, &init)));
	ck_assert(!may_answer_with_payloads(compound(&init, "0 1 " READ(10))));
}
END_TEST

START_TEST(calls_without_a_read_have_replies_without_payloads)
{
	ck_assert(!may_answer_with_payloads(compound(NULL, "0 2 " PUTFH "9 w:1*26")));
	ck_assert(!may_answer_with_payloads(nfs_msg_call(100003, 3, 1, NULL)));
	ck_assert(!may_answer_with_payloads(nfs_msg_call(100003, 3, 99, NULL)));
	ck_assert(!may_answer_with_payloads(nfs_msg_call(100005, 3, 5, NULL)));
	ck_assert(!may_answer_with_payloads(nfs_msg_call(0x20000001, 1, 6, NULL)));
}
END_TEST

START_TEST(a_call_that_cannot_be_followed_leaves_its_reply_alone)
{
	static const char *const calls[] = {
		"3 1 " READ(10),      /* a minor version that nobody knows */
		"0 1 99",             /* an operation that nobody knows */
		"1 1 68 1 x:12 q0 9", /* one of 4.2 in 4.1 */
		"0 2 " READ(10),      /* cut off */
		"0 2000000000",       /* more operations than fit */
	};
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	reply_items.count = 0;
	spec_put(reply, "0 o:6 1 25 0 1 d:10", &reply_items);
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		ck_assert_msg(may_answer_with_payloads(compound(NULL, calls[i])), "%s", calls[i]);
		ck_assert_int_eq(nfs_reply_ddp_items(&call_info, nfs_msg_bytes(reply),
						     nfs_msg_len(reply), found, 8),
				 -EBADMSG);
	}
	nfs_msg_free(reply);
}
END_TEST

/* GETFH so often, and a READ behind them; their results. */
static const struct {
	const char *args, *results;
} deferred_reads[] = {
	{"0 128 r:127(10) " READ(4096), "0 o:6 128 r:127(10 0 o:32) 25 0 1 d:4096"},
	{"0 129 r:128(10) " READ(4096), "0 o:6 129 r:128(10 0 o:32) 25 0 1 d:4096"},
	{"0 130 r:129(10) " READ(4096), "0 o:6 130 r:129(10 0 o:32) 25 0 1 d:4096"},
	{"0 1024 r:1023(10) " READ(4096), "0 o:6 1024 r:1023(10 0 o:32) 25 0 1 d:4096"},
	/* What follows the last READ has no part in it. */
	{"0 1024 r:500(10) " READ(4096) "r:523(31)",
	 "0 o:6 1024 r:500(10 0 o:32) 25 0 1 d:4096 r:523(31 0)"},
};

START_TEST(a_read_behind_many_operations_is_found)
{
	ck_assert_int_eq(payloads_of(deferred_reads[_i].args, deferred_reads[_i].results, 8), 1);
	ck_assert_uint_eq(call_info.nresult_payloads, 1);
	ck_assert_uint_eq(call_info.bounds_bytes[0], 4096);
	same_item(0, 0);
}
END_TEST

START_TEST(a_reply_of_other_operations_is_not_followed_behind_many_either)
{
	static const char args[] = "0 1024 r:1023(10) " READ(4096);

	ck_assert_int_eq(payloads_of(args,
				     "0 o:6 1024 r:100(10 0 o:32) 24 0 r:922(10 0 o:32) "
				     "25 0 1 d:4096",
				     8),
			 -EBADMSG);
	ck_assert_int_eq(payloads_of(args,
				     "0 o:6 1024 r:200(10 0 o:32) 24 0 r:822(10 0 o:32) "
				     "25 0 1 d:4096",
				     8),
			 -EBADMSG);
	ck_assert_int_eq(payloads_of(args, "0 o:6 1024 r:1023(10 0 o:32) 27 0 d:30", 8), -EBADMSG);
	/* The first that fails ends it, wherever that is. */
	ck_assert_int_eq(payloads_of(args, "0 o:6 300 r:299(10 0 o:32) 10 70", 8), 0);
	ck_assert_int_eq(payloads_of(args, "0 o:6 1024 r:1023(10 0 o:32) 25 70", 8), 1);
	ck_assert_uint_eq(found[0].len_bytes, 0);
}
END_TEST

/* 1 MiB of a directory has fewer entries than that. */
START_TEST(a_reply_is_walked_as_far_as_honest_ones_go)
{
	static const char args[] = "0 2 26 q0 x:8 8192 1048576 w:0*0 " READ(4096);

	ck_assert_int_eq(payloads_of(args,
				     "0 o:6 2 26 0 x:8 r:43000(1 q1 o:0 w:0*0 o:0) 0 1 "
				     "25 0 1 d:4096",
				     8),
			 1);
	same_item(0, 0);
	ck_assert_int_eq(payloads_of(args,
				     "0 o:6 2 26 0 x:8 r:66000(1 q1 o:0 w:0*0 o:0) 0 1 "
				     "25 0 1 d:4096",
				     8),
			 -EBADMSG);
}
END_TEST

START_TEST(more_operations_than_are_walked_are_not_followed)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	ck_assert(may_answer_with_payloads(compound(NULL, "0 n:1024(25 1 x:12 q0 4)")));
	ck_assert_int_eq(call_info.results, CALL_RESULTS_MAYBE);
	ck_assert_uint_eq(call_info.reply_ops, CALL_MAX_OPS);
	ck_assert(may_answer_with_payloads(compound(NULL, "0 n:1025(25 1 x:12 q0 4)")));
	ck_assert_int_eq(call_info.results, CALL_RESULTS_UNKNOWN);
	/* Nothing is offered for a payload that could not be found in the Reply. */
	ck_assert_uint_eq(call_info.nresult_payloads, 0);
	ck_assert_int_eq(
		nfs_reply_ddp_items(&call_info, nfs_msg_bytes(reply), nfs_msg_len(reply), found, 8),
		-EBADMSG);
	nfs_msg_free(reply);
}
END_TEST

START_TEST(payloads_of_calls_are_found_among_other_operations)
{
	struct nfs_msg *call = compound(NULL, "1 4 " SEQUENCE PUTFH "38 1 x:12 q0 2 d:4099 "
					      "6 5 d:11 o:4 w:0*0 o:0");
	struct look look = look_at_msg(call, LIMIT);

	ck_assert_int_eq(look_payloads(&look, &call_info, &found_in_call), 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(found_in_call.list[i].offset_bytes,
				  call_items.list[i].offset_bytes);
		ck_assert_uint_eq(found_in_call.list[i].len_bytes, call_items.list[i].len_bytes);
	}
	ck_assert_uint_eq(call_info.narg_payloads, 2);
	look.len_bytes -= 4;
	ck_assert_int_eq(look_payloads(&look, &call_info, &found_in_call), -EBADMSG);
	ck_assert_uint_eq(call_info.narg_payloads, 0);
	nfs_msg_free(call);
}
END_TEST

static bool writes(int payloads, struct nfs_msg *call)
{
	ck_assert_int_eq(look_into(call), payloads);
	return call_info.arg_is_data;
}

static struct nfs_msg *plain_call(uint32_t vers, uint32_t proc, const char *args)
{
	struct nfs_msg *call = nfs_msg_call(100003, vers, proc, NULL);

	call_items.count = 0;
	spec_put(call, args, &call_items);
	return call;
}

START_TEST(written_data_are_distinguished_from_paths)
{
	ck_assert(writes(1, plain_call(2, 8, "x:32 0 0 0 d:9")));
	ck_assert(!writes(1, plain_call(2, 13, "x:32 o:4 d:9 x:32")));
	ck_assert(writes(1, plain_call(3, 7, "o:28 q0 9 2 d:9")));
	ck_assert(!writes(1, plain_call(3, 10, "o:28 o:4 0 0 0 0 0 0 d:9")));
	ck_assert(writes(1, compound(NULL, "1 2 " PUTFH "38 1 x:12 q0 2 d:9")));
	ck_assert(!writes(1, compound(NULL, "1 2 " PUTFH "6 5 d:9 o:4 w:0*0 o:0")));
	ck_assert(!writes(0, compound(NULL, "1 2 " PUTFH READ(10))));
	ck_assert(!writes(-EBADMSG, compound(NULL, "1 3 " PUTFH "38 1 x:12 q0 2 d:9")));
}
END_TEST

START_TEST(write_chunks_are_asked_for_at_the_size_of_the_results)
{
	struct nfs_msg *call = compound(NULL, "1 5 " SEQUENCE PUTFH READ(70000) READLINK READ(3));

	ck_assert_int_eq(look_into(call), 0);
	ck_assert_uint_eq(call_info.nresult_payloads, 3);
	ck_assert(call_info.result_is_data);
	ck_assert_uint_eq(call_info.bounds_bytes[0], 70000);
	ck_assert_uint_ge(call_info.bounds_bytes[1], 4096);
	ck_assert_uint_eq(call_info.bounds_bytes[2], 3);
	/* The remaining message is small. */
	ck_assert_uint_lt(call_info.reply_bound_bytes - 70000 - call_info.bounds_bytes[1] - 4,
			  1024);
}
END_TEST

START_TEST(read_data_are_distinguished_from_paths)
{
	ck_assert_int_eq(look_into(compound(NULL, "1 3 " SEQUENCE PUTFH READLINK)), 0);
	ck_assert_uint_eq(call_info.nresult_payloads, 1);
	ck_assert(!call_info.result_is_data);
	/* The first counts. */
	ck_assert_int_eq(look_into(compound(NULL, "1 4 " SEQUENCE PUTFH READLINK READ(3))), 0);
	ck_assert(!call_info.result_is_data);
	ck_assert_int_eq(look_into(compound(NULL, "1 3 " SEQUENCE PUTFH READ(3))), 0);
	ck_assert(call_info.result_is_data);
	ck_assert_int_eq(look_into(compound(NULL, "1 4 " SEQUENCE PUTFH READ(3) "99")), -EBADMSG);
	ck_assert(!call_info.result_is_data);
}
END_TEST

START_TEST(the_result_of_a_version_3_read_has_a_bound)
{
	struct nfs_msg *call = nfs_msg_call(100003, 3, 6, NULL);
	struct look look;

	call_items.count = 0;
	spec_put(call, "o:28 q0 8192", &call_items);
	look = look_at_msg(call, LIMIT);
	look_whole(&look, &call_info);
	ck_assert_uint_eq(call_info.nresult_payloads, 1);
	ck_assert_uint_eq(call_info.bounds_bytes[0], 8192);
	look.len_bytes -= 4;
	look_whole(&look, &call_info);
	ck_assert_uint_eq(call_info.nresult_payloads, 0);
	/* Its Reply can be read all the same, should there be a payload in it. */
	ck_assert_int_eq(call_info.results, CALL_RESULTS_MAYBE);
	nfs_msg_free(call);
}
END_TEST

/* RFC 8267 sections 4 to 6: what may come in read chunks. Context tokens are of no program. */
static const struct nfs_msg_auth protected = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 0};
static const struct nfs_msg_auth hidden = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 0};
static const struct binding_row {
	uint32_t prog, vers, proc;
	const struct nfs_msg_auth *auth;
	enum nfs_binding expected;
} binding_rows[] = {
	{100003, 2, 8, NULL, NFS_BINDING_ITEMS},    /* WRITE */
	{100003, 2, 13, NULL, NFS_BINDING_ITEMS},   /* SYMLINK */
	{100003, 2, 4, NULL, NFS_BINDING_NO_ITEMS}, /* LOOKUP */
	{100003, 3, 7, NULL, NFS_BINDING_ITEMS},    /* WRITE */
	{100003, 3, 10, NULL, NFS_BINDING_ITEMS},   /* SYMLINK */
	{100003, 3, 0, NULL, NFS_BINDING_NO_ITEMS}, /* NULL */
	{100003, 3, 3, NULL, NFS_BINDING_NO_ITEMS}, /* LOOKUP */
	{100003, 3, 6, NULL, NFS_BINDING_NO_ITEMS}, /* READ, whose data are results */
	{100003, 3, 22, NULL, NFS_BINDING_UNKNOWN}, /* there is no such procedure */
	{100003, 4, 0, NULL, NFS_BINDING_NO_ITEMS}, /* NULL */
	{100003, 4, 1, NULL, NFS_BINDING_ITEMS},    /* COMPOUND */
	{100003, 5, 1, NULL, NFS_BINDING_UNKNOWN},  /* there is no such version */
	{100003, 3, 7, &protected, NFS_BINDING_NO_ITEMS},
	{100003, 4, 1, &hidden, NFS_BINDING_NO_ITEMS},
	{0x40000000, 1, 1, NULL, NFS_BINDING_NO_ITEMS}, /* CB_COMPOUND */
	{100227, 3, 2, NULL, NFS_BINDING_NO_ITEMS},     /* SETACL */
	{100005, 3, 1, NULL, NFS_BINDING_UNKNOWN},      /* MOUNT */
	{100021, 4, 2, NULL, NFS_BINDING_UNKNOWN},      /* NLM */
	{0x20000099, 1, 1, NULL, NFS_BINDING_UNKNOWN},
};

START_TEST(the_binding_is_known_of_nfs_its_callbacks_and_nfsacl)
{
	const struct binding_row *row = &binding_rows[_i];
	struct nfs_msg *call = nfs_msg_call(row->prog, row->vers, row->proc, row->auth);
	struct look look = look_at_msg(call, LIMIT);

	ck_assert(look_header(&look, &call_info));
	ck_assert_int_eq(nfs_args_binding(&call_info), row->expected);
	nfs_msg_free(call);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_payload");
	TCase *tc = tcase_create("nfs_payload");

	tcase_add_test(tc, the_nth_read_or_readlink_is_the_nth_payload);
	tcase_add_test(tc, a_payload_is_found_as_soon_as_its_length_is_here);
	tcase_add_test(tc, one_before_other_operations_is_found_when_these_are_here);
	tcase_add_test(tc, a_version_3_read_is_found_as_soon_as_its_length_is_here);
	tcase_add_test(tc, no_more_are_given_than_there_is_room_for);
	tcase_add_test(tc, a_read_that_fails_counts_with_nothing_in_it);
	tcase_add_test(tc, an_operation_that_fails_before_the_read_leaves_none);
	tcase_add_test(tc, an_operation_the_server_does_not_know_ends_the_walk);
	tcase_add_test(tc, read_plus_is_never_a_payload);
	tcase_add_test(tc, nonsense_is_refused);
	tcase_add_test(tc, error_replies_have_no_payload);
	tcase_add_test(tc, integrity_and_privacy_have_no_payloads);
	tcase_add_test(tc, context_tokens_have_no_payloads);
	tcase_add_test(tc, calls_without_a_read_have_replies_without_payloads);
	tcase_add_test(tc, a_call_that_cannot_be_followed_leaves_its_reply_alone);
	tcase_add_loop_test(tc, a_read_behind_many_operations_is_found, 0,
			    ARRAY_SIZE(deferred_reads));
	tcase_add_test(tc, a_reply_of_other_operations_is_not_followed_behind_many_either);
	tcase_add_test(tc, a_reply_is_walked_as_far_as_honest_ones_go);
	tcase_add_test(tc, more_operations_than_are_walked_are_not_followed);
	tcase_add_test(tc, payloads_of_calls_are_found_among_other_operations);
	tcase_add_test(tc, written_data_are_distinguished_from_paths);
	tcase_add_loop_test(tc, the_binding_is_known_of_nfs_its_callbacks_and_nfsacl, 0,
			    ARRAY_SIZE(binding_rows));
	tcase_add_test(tc, write_chunks_are_asked_for_at_the_size_of_the_results);
	tcase_add_test(tc, read_data_are_distinguished_from_paths);
	tcase_add_test(tc, the_result_of_a_version_3_read_has_a_bound);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
