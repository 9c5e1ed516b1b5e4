// SPDX-License-Identifier: BSD-3-Clause
/* Tests sessions: the sizes that CREATE_SESSION allowed limit the Replies of that session. */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT   (1024u * 1024 + 65536)
#define CHANNEL "0 1049620 1049480 4096 8 64 w:0*0 "
#define CREATE  "43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0) "

static struct nfs_sessions sessions;

static void setup(void)
{
	memset(&sessions, 0, sizeof(sessions));
}

static struct nfs_msg *compound(const struct nfs_msg_auth *auth, const char *before)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, auth);
	struct spec_items none = {0};

	spec_put(call, before, &none);
	return call;
}

static void put_id(struct nfs_msg *msg, uint32_t id)
{
	put_words(msg, 4, id);
}

static void learn(const char *args, const struct nfs_msg *reply)
{
	struct nfs_msg *call = compound(NULL, args);
	const struct look look = look_at_msg(call, LIMIT);
	struct call_info call_info;

	look_whole(&look, &call_info);
	nfs_sessions_learn(&sessions, &call_info, nfs_msg_bytes(reply), nfs_msg_len(reply));
	nfs_msg_free(call);
}

/* A session of @id whose replies may have @max bytes. */
static void create(uint32_t id, uint32_t max)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	struct spec_items none = {0};

	spec_put(reply, "0 o:0 1 43 0", &none);
	put_id(reply, id);
	spec_put(reply, "1 3 0 1049620", &none);
	put_u32(reply, max);
	spec_put(reply, "4096 8 64 w:0*0 " CHANNEL, &none);
	learn("o:0 1 1 " CREATE, reply);
	nfs_msg_free(reply);
}

/* What a READ of @count bytes in session @id can get. */
static uint32_t ceiling_with(const struct nfs_msg_auth *auth, uint32_t id, uint32_t count)
{
	struct nfs_msg *call = compound(auth, auth ? "x:8 o:0 1 2 53" : "o:0 1 2 53");
	struct spec_items none = {0};
	struct call_info call_info;
	struct look look;

	put_id(call, id);
	spec_put(call, "1 0 0 1 25 1 x:12 q0", &none);
	put_u32(call, count);
	look = look_at_msg(call, LIMIT);
	look.sessions = &sessions;
	look_whole(&look, &call_info);
	nfs_msg_free(call);
	return call_info.reply_bound_bytes;
}

static uint32_t ceiling(uint32_t id, uint32_t count)
{
	return ceiling_with(NULL, id, count);
}

START_TEST(a_session_is_a_ceiling)
{
	ck_assert_uint_gt(ceiling(7, 100000), 100000);
	create(7, 40000);
	ck_assert_uint_ge(ceiling(7, 100000), 40000);
	ck_assert_uint_le(ceiling(7, 100000), 41024);
	/* Smaller results stay what they are. */
	ck_assert_uint_lt(ceiling(7, 1000), 3000);
}
END_TEST

START_TEST(other_sessions_are_not_touched)
{
	create(7, 40000);
	ck_assert_uint_gt(ceiling(8, 100000), 100000);
}
END_TEST

START_TEST(a_session_that_allows_more_than_the_service_changes_nothing)
{
	create(7, UINT32_MAX);
	ck_assert_uint_eq(ceiling(7, UINT32_MAX), LIMIT);
}
END_TEST

START_TEST(the_same_session_again_replaces_itself)
{
	create(7, 40000);
	create(7, 50000);
	ck_assert_uint_eq(sessions.count, 1);
	ck_assert_uint_gt(ceiling(7, 100000), 50000);
}
END_TEST

START_TEST(the_oldest_session_goes_when_there_are_too_many)
{
	for (uint32_t id = 0; id <= NFS_MAX_SESSIONS; id++)
		create(id, 40000);
	ck_assert_uint_eq(sessions.count, NFS_MAX_SESSIONS);
	ck_assert_uint_gt(ceiling(0, 100000), 100000);
	for (uint32_t id = 1; id <= NFS_MAX_SESSIONS; id++)
		ck_assert_uint_le(ceiling(id, 100000), 41024);
}
END_TEST

START_TEST(a_session_made_behind_a_sequence_counts)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	struct spec_items none = {0};

	spec_put(reply, "0 o:0 2 53 0 x:16 1 0 0 0 0 43 0", &none);
	put_id(reply, 9);
	spec_put(reply, "1 3 0 1049620 40000 4096 8 64 w:0*0 " CHANNEL, &none);
	learn("o:0 1 2 53 x:16 1 0 0 1 " CREATE, reply);
	nfs_msg_free(reply);
	ck_assert_uint_le(ceiling(9, 100000), 41024);
}
END_TEST

START_TEST(krb5i_is_read_inside_its_wrapping)
{
	const struct nfs_msg_auth krb5i = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 28};
	struct nfs_msg *call = compound(&krb5i, "x:8 o:0 1 1 " CREATE);
	struct nfs_msg *reply = nfs_msg_reply(&krb5i);
	const struct look look = look_at_msg(call, LIMIT);
	struct spec_items none = {0};
	struct call_info call_info;

	spec_put(reply, "x:8 0 o:0 1 43 0", &none);
	put_id(reply, 3);
	spec_put(reply, "1 3 0 1049620 40000 4096 8 64 w:0*0 " CHANNEL "o:28", &none);
	look_whole(&look, &call_info);
	nfs_sessions_learn(&sessions, &call_info, nfs_msg_bytes(reply), nfs_msg_len(reply));
	nfs_msg_free(call);
	nfs_msg_free(reply);
	ck_assert_uint_le(ceiling_with(&krb5i, 3, 100000), 41024);
}
END_TEST

START_TEST(calls_other_than_create_session_are_ignored)
{
	static const char *const calls[] = {
		"o:0 1 1 " CREATE,            /* refused, below */
		"o:0 0 1 22 o:8",             /* version 4.0 */
		"o:0 1 1 24",                 /* another operation */
		"o:0 1 0",                    /* none */
		"o:0 1 2 53 x:16 1 0 0 1 24", /* a sequence of others */
		"o:0",                        /* cut off */
	};
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	struct spec_items none = {0};

	spec_put(reply, "10022 o:0 1 43 10022", &none);
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		learn(calls[i], reply);
	ck_assert_uint_eq(sessions.count, 0);
	nfs_msg_free(reply);
}
END_TEST

START_TEST(a_reply_cut_off_anywhere_makes_no_session)
{
	struct nfs_msg *call = compound(NULL, "o:0 1 1 " CREATE);
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	const struct look look = look_at_msg(call, LIMIT);
	struct spec_items none = {0};
	struct call_info call_info;

	spec_put(reply, "0 o:0 1 43 0 x:16 1 3 " CHANNEL CHANNEL, &none);
	look_whole(&look, &call_info);
	for (uint32_t len = 0; len < nfs_msg_len(reply); len++)
		nfs_sessions_learn(&sessions, &call_info, nfs_msg_bytes(reply), len);
	ck_assert_uint_eq(sessions.count, 0);
	nfs_sessions_learn(&sessions, &call_info, nfs_msg_bytes(reply), nfs_msg_len(reply));
	ck_assert_uint_eq(sessions.count, 1);
	nfs_msg_free(call);
	nfs_msg_free(reply);
}
END_TEST

/*
 * Its Call has CREATE_SESSION among the first two, so nobody looks through a Reply of any length.
 */
START_TEST(a_reply_of_more_operations_is_not_looked_through)
{
	struct nfs_msg *reply = nfs_msg_reply(NULL);
	struct spec_items none = {0};

	spec_put(reply, "0 o:0 3 53 0 x:16 1 0 0 0 0 22 0 43 0 x:16 1 3 " CHANNEL CHANNEL, &none);
	learn("o:0 1 2 53 x:16 1 0 0 1 " CREATE, reply);
	ck_assert_uint_eq(sessions.count, 0);
	nfs_msg_free(reply);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_session");
	TCase *tc = tcase_create("nfs_session");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_session_is_a_ceiling);
	tcase_add_test(tc, other_sessions_are_not_touched);
	tcase_add_test(tc, a_session_that_allows_more_than_the_service_changes_nothing);
	tcase_add_test(tc, the_same_session_again_replaces_itself);
	tcase_add_test(tc, the_oldest_session_goes_when_there_are_too_many);
	tcase_add_test(tc, a_session_made_behind_a_sequence_counts);
	tcase_add_test(tc, krb5i_is_read_inside_its_wrapping);
	tcase_add_test(tc, calls_other_than_create_session_are_ignored);
	tcase_add_test(tc, a_reply_cut_off_anywhere_makes_no_session);
	tcase_add_test(tc, a_reply_of_more_operations_is_not_looked_through);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
