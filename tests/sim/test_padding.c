// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests RDMA_MSGP between two legs, and at each of them with a hand-made peer: whatever padding a
 * message has, it arrives byte for byte.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "tests/lib/test.h"
#include "tests/nfs/pads.h"
#include "tests/nfs/rows.h"
#include "tests/sim/raw.h"

#define XID       0x12345678u /* of all messages of tests/nfs */
#define HDR_BYTES 36u

static const uint8_t pd_4096[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

static struct rig *rig;
static struct raw *raw;
static struct nfs_msg *call, *reply; /* the RPC that goes on */
static struct spec_items call_items, reply_items;
static const char *name = "";
static unsigned arrived;

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
	ck_assert_msg(same(&x->call, call), "%s: another Call arrives", name);
	arrived++;
	give_msg(side, &x->reply, reply);
	leg_reply(side->leg, x);
}

static void take(struct rig_side *side, const struct exchange *x)
{
	if (x->fault != EXCHANGE_OK)
		return;
	ck_assert_msg(same(&x->reply, reply), "%s: another Reply arrives", name);
	arrived++;
}

static void new_rig(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	for (struct rig_side *side = &rig->client;; side = &rig->server) {
		side->config.version_one = DIALECT_DRAFT03;
		side->config.padding_align_bytes = 64;
		side->config.padding_threshold_bytes = 1024;
		side->on_call = serve;
		side->on_reply = take;
		if (side == &rig->server)
			break;
	}
	arrived = 0;
}

static void drop_messages(void)
{
	if (call)
		nfs_msg_free(call);
	if (reply)
		nfs_msg_free(reply);
	call = reply = NULL;
}

/* An RPC of that program, by what stands behind the headers. */
static void make(uint32_t prog, uint32_t vers, uint32_t proc, const char *args, const char *results)
{
	drop_messages();
	call_items.count = reply_items.count = 0;
	call = nfs_msg_call(prog, vers, proc, NULL);
	spec_put(call, args, &call_items);
	reply = nfs_msg_reply(NULL);
	spec_put(reply, results, &reply_items);
}

#define WCC           "0 0 "
#define NFSV3(number) 100003, 3, number
#define WRITE(n)      NFSV3(7), "o:32 q0 " #n " 2 d:" #n, "0 " WCC #n " 2 x:8"
#define READ(n)       NFSV3(6), "o:32 q0 " #n, "0 0 " #n " 1 d:" #n
#define SYMLINK(a, b) NFSV3(10), "o:32 o:" #a " 0 0 0 0 0 0 d:" #b, "0 1 o:32 0 " WCC
#define SETACL        100227, 3, 2, "o:32 3 2 n:2(1 0 7) 0 n:0()", "0 0"
#define WRITE4(a, b, c)                                                                            \
	100003, 4, 1, "o:" #a " 0 2 22 o:" #b " 38 1 x:12 q0 2 d:" #c,                             \
		"0 o:" #a " 2 22 0 38 0 " #c " 2 x:8"

static void teardown(void)
{
	if (raw)
		raw_free(raw);
	raw = NULL;
	rig_end(rig);
	drop_messages();
}

/* ---- two legs ---- */

static void give(struct rig_side *side)
{
	struct exchange *x = exchange_new(NULL);

	give_msg(side, &x->call, call);
	ck_assert_int_eq(rpc_call_decode(x->call.data, x->call.len_bytes, &x->call_info.hdr),
			 RPC_OK);
	rig_look(side, x);
	x->reply_max_bytes = nfs_msg_len(reply) > 4096 ? nfs_msg_len(reply) : 4096;
	if (x->reply_max_bytes > x->call_info.reply_bound_bytes)
		x->reply_max_bytes = x->call_info.reply_bound_bytes;
	rig_give(side, x);
	rig_run_for(rig, 1000);
}

static void play_row(const struct nfs_row *row)
{
	struct row_built built;
	unsigned before = arrived;

	row_build(&built, row, NULL);
	call = built.call;
	reply = built.reply;
	name = row->name;
	give(&rig->client);
	ck_assert_msg(arrived == before + 2, "%s: no Reply", name);
	call = reply = NULL;
	row_free(&built);
}

static const struct {
	uint32_t align, thresh, inline_bytes;
	bool ddp;
	struct sim_faults faults;
} pairs[] = {
	{64, 1024, 65536, false, {0}},
	{4096, 1024, 65536, false, {0}},
	{1000, 2000, 65536, true, {0}},
	{512, 1024, 4096, true, {0}},
	{512, 1024, 262144, true, {.max_sge = 2}},
	{3, 1024, 8192, false, {.max_sge = 1}},
};

/* Every procedure and operation. */
START_TEST(padded_messages_between_two_legs_arrive_unchanged)
{
	new_rig(&pairs[_i].faults);
	rig->client.config.ddp = pairs[_i].ddp;
	for (struct rig_side *side = &rig->client;; side = &rig->server) {
		side->config.padding_align_bytes = pairs[_i].align;
		side->config.padding_threshold_bytes = pairs[_i].thresh;
		side->config.inline_threshold_bytes = pairs[_i].inline_bytes;
		side->config.leg.max_message_bytes = 4 * 1024 * 1024;
		if (side == &rig->server)
			break;
	}
	rig_connect(rig);
	rig_run(rig);
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			play_row(row);
	ck_assert_uint_gt(rig->client.counters.sends_msgp, 0);
	ck_assert_uint_gt(rig->server.counters.sends_msgp, 0);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, rig->server.counters.msgp_received);
	ck_assert_uint_eq(rig->server.counters.sends_msgp, rig->client.counters.msgp_received);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 0);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 0);
}
END_TEST

/* The one that accepted calls; it is no NFS client, but nothing here looks for that. */
START_TEST(nothing_of_the_reverse_direction_is_padded)
{
	new_rig(NULL);
	rig_connect(rig);
	rig_run(rig);
	make(WRITE(2000));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	give(&rig->server);
	make(READ(2000));
	give(&rig->server);
	ck_assert_uint_eq(arrived, 6);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	ck_assert_uint_eq(rig->server.counters.sends_msgp, 0);
}
END_TEST

/*
 * A payload is not copied for the sake of pads: with two of them the list is longer than the
 * endpoint gathers.
 */
START_TEST(data_that_would_be_copied_get_no_padding)
{
	new_rig(&(struct sim_faults){.max_sge = 3});
	rig->client.config.inline_threshold_bytes = rig->server.config.inline_threshold_bytes =
		65536;
	rig_connect(rig);
	rig_run(rig);
	make(SYMLINK(100, 20000));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	make(SYMLINK(20000, 20000));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	ck_assert_uint_eq(arrived, 4);
}
END_TEST

#define LOOKUPS(n, ops, results) 100003, 4, 1, "o:0 0 " #n " " ops, "0 o:0 " #n " " results

/* Nor are many that are short, each of which would be, beyond what is counted for a Send. */
START_TEST(many_short_ones_are_sent_without)
{
	new_rig(NULL);
	rig->client.config.inline_threshold_bytes = rig->server.config.inline_threshold_bytes =
		65536;
	rig_connect(rig);
	rig_run(rig);
	make(LOOKUPS(3, "15 o:4000 15 o:4000 15 o:4000 ", "15 0 15 0 15 0"));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	make(LOOKUPS(5, "15 o:4000 15 o:4000 15 o:4000 15 o:4000 15 o:4000 ",
		     "15 0 15 0 15 0 15 0 15 0"));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
	ck_assert_uint_eq(rig->client.counters.sends_msg, 1);
	ck_assert_uint_eq(arrived, 4);
}
END_TEST

/* ---- the server leg, before a hand-made client ---- */

static struct rpcrdma_header hdr;
static const uint8_t *body;
static uint32_t len;

static void begin_server(void)
{
	new_rig(NULL);
	rig->server.config.padding_align_bytes = 0;
	rig->server.config.inline_threshold_bytes = 8192;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
}

static void begin(uint32_t align, uint32_t thresh)
{
	rpcrdma_header_init(&hdr, XID, RPCRDMA_VERSION_ONE, 16, RPCRDMA_MSGP);
	hdr.align = align;
	hdr.thresh = thresh;
}

/* The header with a message behind it, with the pads that it says. */
static void send_padded(const struct nfs_msg *msg, const struct spec_items *cut)
{
	const struct pads_how how = {hdr.align, hdr.thresh, (uint32_t)rpcrdma_header_bytes(&hdr)};
	struct pads_bytes padded = pads_put(msg, &how, cut);

	raw_send_header(raw, &hdr, padded.at, padded.len);
	free(padded.at);
}

static void next(void)
{
	raw_next_header(raw, &hdr, &body, &len);
}

/* The Call has arrived, and its Reply comes without pads. */
static void expect_served(void)
{
	ck_assert_msg(arrived == 1, "%s does not arrive", name);
	arrived = 0;
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(len, nfs_msg_len(reply));
	ck_assert_mem_eq(body, nfs_msg_bytes(reply), len);
}

static void play(const char *what, uint32_t align, uint32_t thresh)
{
	name = what;
	begin(align, thresh);
	send_padded(call, NULL);
	expect_served();
}

static const uint32_t aligns[] = {512, 8, 3, 1, 0, 1000};

START_TEST(the_server_gets_the_message_without_pads)
{
	uint32_t align = aligns[_i];

	begin_server();
	make(WRITE(200));
	for (uint32_t thresh = 199; thresh <= 201; thresh++)
		play("WRITE", align, thresh);
	play("WRITE", align, 0);
	make(SYMLINK(9, 150));
	for (uint32_t thresh = 149; thresh <= 151; thresh++)
		play("SYMLINK", align, thresh);
	play("SYMLINK", align, 9);
	make(SETACL);
	play("SETACL", align, 32);
	play("SETACL", align, 33);
	make(WRITE4(5, 28, 333));
	play("COMPOUND", align, 5);
	play("COMPOUND", align, 28);
	play("COMPOUND", align, 333);
	play("COMPOUND", align, 334);
	ck_assert_uint_eq(rig->server.counters.msgp_received, 14);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 0);
}
END_TEST

/* As if a second buffer began there. */
START_TEST(data_may_be_aligned_to_half_the_receive)
{
	begin_server();
	make(WRITE(4000));
	play("WRITE", 4096, 4000);
	make(NFSV3(0), "", "");
	play("NULL", 4096, 1000);
}
END_TEST

static void expect_refused(const char *what)
{
	name = what;
	raw_expect_error(raw, XID, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(arrived, 0);
}

START_TEST(an_undecodable_rdma_msgp_gets_err_chunk)
{
	static const char neither[40] = "\0\0\0\1\0\0\0\2 neither Call nor Reply";

	begin_server();
	make(WRITE(200));
	/* Without pads, where these say that there are many, or more than any message has. */
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t large[] = {1u << 31, UINT32_MAX, 8193, 8192};

		begin(large[i], 4);
		raw_send_header(raw, &hdr, nfs_msg_bytes(call), nfs_msg_len(call));
		expect_refused("an alignment");
	}
	/* The alignment is refused for what it is. */
	begin(8193, 4000);
	send_padded(call, NULL);
	expect_refused("an alignment that no opaque has");
	make(200001, 1, 1, "o:2000", "o:10");
	begin(64, 1024);
	send_padded(call, NULL);
	expect_refused("a program that is not known");
	make(NFSV3(7), "o:32 q0 200 2 d:200 0", "0");
	begin(64, 100);
	send_padded(call, NULL);
	expect_refused("bytes behind the arguments");
	begin(64, 0);
	raw_send_header(raw, &hdr, neither, sizeof(neither));
	raw_expect_error(raw, XID, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 8);
	ck_assert_uint_eq(rig->server.notes, 8);
	make(WRITE(200));
	play("WRITE", 64, 100);
}
END_TEST

START_TEST(unknown_calls_can_have_padded_data_below_the_threshold)
{
	begin_server();
	make(200001, 1, 1, "o:100", "o:10");
	play("a short Call", 64, nfs_msg_len(call) + 1);
	begin(64, nfs_msg_len(call));
	send_padded(call, NULL);
	expect_refused("a Call as long as the threshold");
}
END_TEST

START_TEST(too_short_sends_are_discarded)
{
	begin_server();
	begin(64, 0);
	raw_send_header(raw, &hdr, "\0\0\0\1", 4);
	begin(64, 1024);
	raw_send_header(raw, &hdr, "\0\0\0\1\0\0\0\0", 8);
	ck_assert_uint_eq(rig->server.counters.short_discarded, 2);
	ck_assert_ptr_null(raw_next(raw));
	make(WRITE(200));
	play("WRITE", 64, 100);
}
END_TEST

/* Its position is that without pads, and they have none. */
START_TEST(data_may_be_in_a_read_chunk)
{
	begin_server();
	make(WRITE4(5, 28, 333));
	for (uint32_t thresh = 5; thresh <= 400; thresh += 100) {
		const struct rpc_payload *data = &call_items.list[0];
		const struct fabric_key *key =
			raw_lend(raw, nfs_msg_bytes(call) + data->offset_bytes, data->len_bytes,
				 FABRIC_REMOTE_READ);

		begin(64, thresh);
		hdr.reads[hdr.nreads++] =
			(struct rpcrdma_read_segment){data->offset_bytes, raw_segment(key)};
		send_padded(call, &call_items);
		expect_served();
	}
}
END_TEST

START_TEST(without_the_drafts_extras_it_is_refused)
{
	new_rig(NULL);
	rig->server.config.version_one = DIALECT_RFC8166;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	make(WRITE(2000));
	begin(64, 1024);
	send_padded(call, NULL);
	expect_refused("an RDMA_MSGP");
	ck_assert_uint_eq(rig->server.counters.msgp_received, 0);
}
END_TEST

/* ---- the client leg, before a hand-made server ---- */

static void begin_client(void)
{
	new_rig(NULL);
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

/* A READ whose Call has come. */
static void ask(void)
{
	make(READ(1500));
	give(&rig->client);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	arrived = 0;
}

START_TEST(a_reply_is_made_plain_by_its_call)
{
	begin_client();
	for (unsigned i = 0; i < ARRAY_SIZE(aligns); i++)
		for (uint32_t thresh = 1499; thresh <= 1501; thresh++) {
			ask();
			begin(aligns[i], thresh);
			send_padded(reply, NULL);
			ck_assert_uint_eq(arrived, 1);
		}
	ck_assert_uint_eq(rig->client.counters.msgp_received, 18);
}
END_TEST

START_TEST(a_call_is_padded_from_the_begin_of_its_send)
{
	struct pads_bytes want;

	begin_client();
	make(WRITE(1024));
	give(&rig->client);
	next();
	want = pads_put(call, &(struct pads_how){64, 1024, HDR_BYTES}, NULL);
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSGP);
	ck_assert_uint_eq(hdr.align, 64);
	ck_assert_uint_eq(hdr.thresh, 1024);
	ck_assert_uint_eq(len, want.len);
	/* Ours are zeros. */
	for (uint32_t i = 0; i < len; i++)
		ck_assert(body[i] == want.at[i] || (want.at[i] == PADS_FILLING && !body[i]));
	free(want.at);
	make(WRITE(1023));
	give(&rig->client);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
}
END_TEST

/* A peer that has RFC 8166 alone. */
START_TEST(where_they_are_refused_no_more_are_sent)
{
	struct rpcrdma_header error;

	begin_client();
	make(WRITE(1024));
	give(&rig->client);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSGP);
	rpcrdma_header_init(&error, XID, RPCRDMA_VERSION_ONE, 16, RPCRDMA_ERROR);
	error.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &error, NULL, 0);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_ERR_CHUNK);
	give(&rig->client);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(rig->client.counters.sends_msgp, 1);
}
END_TEST

START_TEST(a_reply_that_cannot_be_made_plain_fails_its_call_alone)
{
	begin_client();
	ask();
	begin(1u << 31, 1024);
	raw_send_header(raw, &hdr, nfs_msg_bytes(reply), nfs_msg_len(reply));
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_BAD_REPLY);
	ask();
	begin(512, 1024);
	raw_send_header(raw, &hdr, nfs_msg_bytes(reply), nfs_msg_len(reply));
	ck_assert_uint_eq(rig->client.counters.bad_replies, 2);
	ask();
	begin(512, 1024);
	send_padded(reply, NULL);
	ck_assert_uint_eq(arrived, 1);
}
END_TEST

/* A late one, say: nobody can know its pads, and nobody wants to. */
START_TEST(a_reply_to_no_call_is_dropped)
{
	begin_client();
	make(READ(1500));
	begin(64, 1024);
	hdr.xid = 99;
	send_padded(reply, NULL);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 1);
	ask();
	begin(64, 1024);
	send_padded(reply, NULL);
	ck_assert_uint_eq(arrived, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("padding_over_rdma");
	TCase *tc = tcase_create("padding");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, padded_messages_between_two_legs_arrive_unchanged, 0,
			    ARRAY_SIZE(pairs));
	tcase_add_test(tc, nothing_of_the_reverse_direction_is_padded);
	tcase_add_test(tc, data_that_would_be_copied_get_no_padding);
	tcase_add_test(tc, many_short_ones_are_sent_without);
	tcase_add_loop_test(tc, the_server_gets_the_message_without_pads, 0, ARRAY_SIZE(aligns));
	tcase_add_test(tc, data_may_be_aligned_to_half_the_receive);
	tcase_add_test(tc, an_undecodable_rdma_msgp_gets_err_chunk);
	tcase_add_test(tc, unknown_calls_can_have_padded_data_below_the_threshold);
	tcase_add_test(tc, too_short_sends_are_discarded);
	tcase_add_test(tc, data_may_be_in_a_read_chunk);
	tcase_add_test(tc, without_the_drafts_extras_it_is_refused);
	tcase_add_test(tc, a_reply_is_made_plain_by_its_call);
	tcase_add_test(tc, a_call_is_padded_from_the_begin_of_its_send);
	tcase_add_test(tc, where_they_are_refused_no_more_are_sent);
	tcase_add_test(tc, a_reply_that_cannot_be_made_plain_fails_its_call_alone);
	tcase_add_test(tc, a_reply_to_no_call_is_dropped);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
