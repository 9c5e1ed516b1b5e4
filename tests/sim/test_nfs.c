// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests every NFS procedure and operation through two legs: as whole messages, and with payloads
 * moved by RDMA (RFC 8267). The messages arrive byte for byte as sent, in both directions.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "tests/lib/test.h"
#include "tests/nfs/rows.h"
#include "tests/sim/rig.h"

#define INLINE_BYTES 4096u

static struct rig *rig;
static const struct row_built *row_now;
static const char *row_name;
static unsigned rows_seen;

static bool same(const struct rpc_msg *got, const struct nfs_msg *want)
{
	return got->len_bytes == nfs_msg_len(want) &&
	       !memcmp(got->data, nfs_msg_bytes(want), got->len_bytes);
}

static void give_msg(struct rig_side *side, struct rpc_msg *msg, const struct nfs_msg *from)
{
	ck_assert_int_eq(rpc_msg_get(side->rig->pool, nfs_msg_len(from), msg), 0);
	memcpy(msg->data, nfs_msg_bytes(from), msg->len_bytes);
}

static void serve(struct rig_side *side, struct exchange *x)
{
	ck_assert_msg(same(&x->call, row_now->call), "%s: another Call arrives", row_name);
	give_msg(side, &x->reply, row_now->reply);
	leg_reply(side->leg, x);
}

static void check(struct rig_side *side, const struct exchange *x)
{
	ck_assert_msg(x->fault == EXCHANGE_OK, "%s: fault %d", row_name, x->fault);
	ck_assert_msg(same(&x->reply, row_now->reply), "%s: another Reply arrives", row_name);
	rows_seen++;
}

static void open_rig(bool ddp, uint32_t inline_bytes)
{
	rig = rig_new(NULL);
	rig->client.config.ddp = ddp;
	rig->client.config.inline_threshold_bytes = rig->server.config.inline_threshold_bytes =
		inline_bytes;
	rig->client.config.leg.max_message_bytes = rig->server.config.leg.max_message_bytes =
		4 * 1024 * 1024;
	rig->client.on_reply = check;
	rig->server.on_call = serve;
	rig_connect(rig);
	rig_run(rig);
	rows_seen = 0;
}

/* Frees @built. */
static void play(struct row_built *built, const char *name)
{
	struct exchange *x = exchange_new(NULL);
	unsigned before = rows_seen;

	row_now = built;
	row_name = name;
	give_msg(&rig->client, &x->call, built->call);
	ck_assert_int_eq(rpc_call_decode(x->call.data, x->call.len_bytes, &x->call_info.hdr),
			 RPC_OK);
	rig_look(&rig->client, x);
	x->reply_max_bytes = x->call_info.reply_bound_bytes < 3 * 1024 * 1024
				     ? x->call_info.reply_bound_bytes
				     : 3 * 1024 * 1024;
	rig_give(&rig->client, x);
	rig_run_for(rig, 1000);
	ck_assert_msg(rows_seen == before + 1, "%s: no Reply", row_name);
	row_free(built);
}

static void play_row(const struct nfs_row *row, const struct nfs_msg_auth *auth)
{
	struct row_built built;

	row_build(&built, row, auth);
	play(&built, row->name);
}

static void play_rows(bool ddp, const struct nfs_msg_auth *auth)
{
	open_rig(ddp, INLINE_BYTES);
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			play_row(row, auth);
	ck_assert_uint_gt(rows_seen, 100);
}

START_TEST(whole_messages_arrive)
{
	play_rows(false, NULL);
	ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed, 0);
	ck_assert_uint_gt(rig->server.counters.reply_chunk_bytes_pushed, 0);
	rig_end(rig);
}
END_TEST

START_TEST(payloads_moved_by_rdma_arrive)
{
	play_rows(true, NULL);
	ck_assert_uint_gt(rig->server.counters.write_chunk_bytes_pushed, 0);
	ck_assert_uint_eq(rig->server.counters.payloads_not_found, 0);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 0);
	rig_end(rig);
}
END_TEST

/* Nothing of a message with integrity or privacy is moved. */
START_TEST(protected_messages_stay_whole)
{
	static const struct nfs_msg_auth krb5i = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY,
						  60};

	play_rows(true, &krb5i);
	ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed, 0);
	rig_end(rig);
}
END_TEST

START_TEST(plain_kerberos_is_moved_like_any_other)
{
	static const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 60};

	play_rows(true, &krb5);
	ck_assert_uint_gt(rig->server.counters.write_chunk_bytes_pushed, 0);
	rig_end(rig);
}
END_TEST

/* A COMPOUND whose last operation of so many is a READ. */
static void play_late_read(unsigned ops)
{
	struct row_built built = {.call = nfs_msg_call(100003, 4, 1, NULL),
				  .reply = nfs_msg_reply(NULL)};
	char call[100], reply[100];

	snprintf(call, sizeof(call), "o:0 0 %u r:%u(24) 25 x:16 q0 40000", ops, ops - 1);
	snprintf(reply, sizeof(reply), "0 o:0 %u r:%u(24 0) 25 0 1 d:40000", ops, ops - 1);
	spec_put(built.call, call, &built.call_items);
	spec_put(built.reply, reply, &built.reply_items);
	play(&built, "READ");
}

static const struct {
	unsigned ops;
	bool moves;
} deferred_reads[] = {{2, true},   {128, true},   {129, true},
		      {400, true}, {1024, false}, {1025, false}};

/*
 * However many operations stand before it, as long as their results fit around the data
 * (RPC_INLINE_AROUND_MAX_BYTES). Else, and past those that are walked, it is a whole message.
 */
START_TEST(the_data_of_a_late_read_move)
{
	open_rig(true, 4 * INLINE_BYTES);
	play_late_read(deferred_reads[_i].ops);
	ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed,
			  deferred_reads[_i].moves ? 40000 : 0);
	ck_assert_uint_eq(rig->server.counters.payloads_not_found, 0);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 0);
	rig_end(rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_over_rdma");
	TCase *tc = tcase_create("nfs");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, whole_messages_arrive);
	tcase_add_test(tc, payloads_moved_by_rdma_arrive);
	tcase_add_test(tc, protected_messages_stay_whole);
	tcase_add_test(tc, plain_kerberos_is_moved_like_any_other);
	tcase_add_loop_test(tc, the_data_of_a_late_read_move, 0, ARRAY_SIZE(deferred_reads));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
