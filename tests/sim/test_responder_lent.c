// SPDX-License-Identifier: BSD-3-Clause
/* The server leg before a hand-made client of draft-03, which reads Replies that fit nowhere. */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/responder_lent.h"
#include "tests/lib/test.h"
#include "tests/sim/client_peer.h"

#define S            1000000ull
#define TIMEOUT_US   (30 * S)
#define RECV_BYTES   8192u
#define SPARE_RECVS  RDMA_RECV_RESERVE
#define HOSTILE_STEP 100000u

/* The Reply that was lent last. */
static struct rpcrdma_header lent;

static void new_rig(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	fake_nfs_reset();
	rig->server.config.version_one = DIALECT_DRAFT03;
	rig->server.config.done_timeout_us = TIMEOUT_US;
}

static void setup_draft_closed(void)
{
	new_rig(NULL);
}

static void setup_draft(void)
{
	new_rig(NULL);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

/* Nothing was connected yet. */
static void reopen(const struct sim_faults *faults)
{
	rig_end(rig);
	new_rig(faults);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

/* The next Send is a Reply to be read: of a chunk at position zero, and nothing else. */
static void next_lent(uint32_t xid)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_ge(hdr.credit, 1);
	ck_assert_uint_ge(hdr.nreads, 1);
	for (unsigned i = 0; i < hdr.nreads; i++)
		ck_assert_uint_eq(hdr.reads[i].position, 0);
	ck_assert(!hdr.has_reply_chunk);
	ck_assert_uint_eq(len, 0);
	lent = hdr;
}

static void call_lent(uint32_t xid, uint32_t reply_bytes)
{
	begin(xid, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, reply_bytes);
	next_lent(xid);
}

/* All that was lent, one behind the other; the caller frees it. */
static uint8_t *read_lent(uint32_t *bytes)
{
	uint8_t *got = NULL;

	*bytes = 0;
	for (unsigned i = 0; i < lent.nreads; i++) {
		const struct rpcrdma_segment *seg = &lent.reads[i].seg;

		got = realloc(got, *bytes + seg->len_bytes);
		ck_assert_int_eq(
			raw_read(raw, got + *bytes, seg->len_bytes, seg->handle, seg->offset),
			FABRIC_OK);
		*bytes += seg->len_bytes;
	}
	return got;
}

static void expect_lent(uint32_t xid, uint32_t reply_bytes)
{
	uint32_t bytes;
	uint8_t *got = read_lent(&bytes);

	ck_assert_uint_eq(bytes, reply_bytes);
	expect_reply_bytes(got, bytes, 0, bytes, xid);
	free(got);
}

static void post_done(uint32_t xid, uint32_t credit)
{
	struct rpcrdma_header done;
	uint8_t bytes[RPCRDMA_FIXED_BYTES];

	rpcrdma_header_init(&done, xid, RPCRDMA_VERSION_ONE, credit, RPCRDMA_DONE);
	ck_assert_uint_eq(rpcrdma_header_encode(&done, bytes, sizeof(bytes)), sizeof(bytes));
	raw_post_send(raw, bytes, sizeof(bytes));
}

static void send_done(uint32_t xid)
{
	post_done(xid, 32);
	rig_run_for(rig, raw->step_us);
}

/* The peer that reads it loses its connection: last of all that a test does. */
static void expect_dead(const struct rpcrdma_segment *seg)
{
	uint8_t byte;

	ck_assert_int_eq(raw_read(raw, &byte, 1, seg->handle, seg->offset), FABRIC_ERR_REMOTE);
	expect_closed(LEG_CLOSE_LOST);
}

/* A5.1-3, A3.8-2 */
START_TEST(a_reply_that_fits_nowhere_is_read_by_the_client)
{
	struct leg_info before, after;

	call_lent(1, 100000);
	leg_info(rig->server.leg, &before);
	ck_assert_str_eq(before.dialect, "draft03");
	ck_assert_uint_eq(before.replies_lent, 1);
	ck_assert_uint_eq(rig->server.last_reply_max, RIG_MAX_MSG);
	expect_lent(1, 100000);
	expect_alive();
	expect_lent(1, 100000);
	send_done(1);
	expect_silence();
	leg_info(rig->server.leg, &after);
	ck_assert_uint_eq(after.replies_lent, 0);
	ck_assert_uint_eq(after.bytes_sent - before.bytes_sent,
			  100000 + RPCRDMA_MIN_HDR_BYTES +
				  100); /* and the Reply that said it lives */
	expect_alive();
	ck_assert_uint_eq(rig->server.counters.replies_lent, 1);
	ck_assert_uint_eq(rig->server.counters.reply_bytes_lent, 100000);
	ck_assert_uint_eq(rig->server.counters.dones_received, 1);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 0);
	ck_assert_uint_eq(rig->server.counters.err_chunk_sent, 0);
	expect_dead(&lent.reads[0].seg);
}
END_TEST

/* A5.2-3, A-Δ3: it is used if it is just large enough, and else not at all. */
START_TEST(for_a_reply_chunk_that_is_too_small_it_is_lent)
{
	struct fabric_key *small = raw_lend(raw, NULL, 4999, FABRIC_REMOTE_WRITE);

	begin(2, RPCRDMA_MSG);
	set_reply_chunk(small);
	send_call(RIG_CALL_MIN, 5000);
	next_lent(2);
	expect_lent(2, 5000);
	ck_assert_uint_eq(small->mem[0], 0xee);
	begin(3, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 5000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 5000);
	next();
	ck_assert_uint_eq(hdr.nreads, 0);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 5000);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 1);
}
END_TEST

START_TEST(what_fits_inline_is_not_lent)
{
	const uint32_t room = 4096 - RPCRDMA_MIN_HDR_BYTES;

	begin(4, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, room);
	expect_inline_reply(4, room);
	call_lent(5, room + 4);
	expect_lent(5, room + 4);
}
END_TEST

/* A3.8-1: the payload is written, and what is left of it on both sides is read. */
START_TEST(the_rest_of_a_payload_is_lent_in_stretches)
{
	struct fabric_key *data = raw_lend(raw, NULL, 50000, FABRIC_REMOTE_WRITE);
	uint32_t bytes;
	uint8_t *got;

	fake_reply_payloads[0] = (struct rpc_payload){3000, 50000};
	fake_nreply_payloads = 1;
	begin(6, RPCRDMA_MSG);
	add_write(data);
	send_call(RIG_CALL_MIN, 3000 + 50000 + 4000);
	next_lent(6);
	ck_assert_uint_eq(lent.nreads, 2);
	ck_assert_uint_eq(lent.reads[0].seg.len_bytes, 3000);
	ck_assert_uint_eq(lent.nwrites, 1);
	ck_assert_uint_eq(lent.writes[0].len_bytes, 50000);
	ck_assert_uint_eq(lent.segments[0].handle, data->rkey);
	expect_reply_bytes(data->mem, 50000, 3000, 57000, 6);
	got = read_lent(&bytes);
	ck_assert_uint_eq(bytes, 7000);
	expect_reply_bytes(got, 3000, 0, 57000, 6);
	expect_reply_bytes(got + 3000, 4000, 53000, 57000, 6);
	free(got);
	send_done(6);
	expect_alive();
}
END_TEST

/* With a Call in a read chunk, and in a Send that takes the one key of the Call away. */
START_TEST(it_goes_with_every_other_kind_of_chunk)
{
	uint8_t call[2000];
	struct fabric_key *key;

	rig_fill_call(call, sizeof(call), 7, 9000);
	key = raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ);
	begin(7, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	next_lent(7);
	ck_assert(raw->recvs[0].invalidated);
	ck_assert_uint_eq(raw->recvs[0].inv_rkey, key->rkey);
	expect_lent(7, 9000);
	send_done(7);
	expect_alive();
}
END_TEST

/* As many segments as its header may have, which must fit the client's receive; not one more. */
START_TEST(a_reply_of_too_many_segments_gets_err_chunk)
{
	const uint32_t most = (4096 - RPCRDMA_MIN_HDR_BYTES) / RPCRDMA_READ_SEGMENT_BYTES;

	rig->server.config.max_segment_bytes = 512;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(8, most * 512);
	ck_assert_uint_eq(rig->server.last_reply_max, most * 512);
	ck_assert_uint_eq(lent.nreads, most);
	expect_lent(8, most * 512);
	ck_assert_uint_ge(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(most * 512) + lend_cost_bytes(most));
	begin(9, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, most * 512 + 4);
	raw_expect_error(raw, 9, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_too_big, 1);
	ck_assert_uint_eq(rig->server.counters.keys_lent, most);
	send_done(8);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* However long receives are. */
START_TEST(no_list_is_longer_than_the_longest)
{
	static const uint8_t pd_64k[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 63, 63};

	rig->server.config.max_segment_bytes = 512;
	rig->server.config.inline_threshold_bytes = 65536;
	raw = raw_new(rig, pd_64k, sizeof(pd_64k));
	raw->params.recv_size_bytes = 65536;
	raw_connect(raw);
	call_lent(10, RPCRDMA_MAX_SEGMENTS * 512);
	ck_assert_uint_eq(lent.nreads, RPCRDMA_MAX_SEGMENTS);
	begin(11, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, RPCRDMA_MAX_SEGMENTS * 512 + 4);
	raw_expect_error(raw, 11, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* Whatever the client said of its own Reads: who asks for none does not read. */
START_TEST(to_a_client_that_never_reads_nothing_is_lent)
{
	raw = raw_new(rig, pd_4096_inv, sizeof(pd_4096_inv));
	raw->params.ord = 0;
	raw_connect(raw);
	begin(12, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 12, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 0);
	expect_alive();
}
END_TEST

START_TEST(a_client_of_rfc_8166_gets_err_chunk)
{
	rig->server.config.version_one = DIALECT_RFC8166;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	begin(13, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100000);
	raw_expect_error(raw, 13, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* The end that connected lends Calls alone: the other one's Reads of Replies are the forward direction's. */
START_TEST(no_reply_to_a_reverse_call_is_lent)
{
	rig->client.config.version_one = DIALECT_DRAFT03;
	raw = raw_open_server(rig, pd_4096_inv, sizeof(pd_4096_inv));
	begin(14, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 14, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.counters.replies_lent, 0);
}
END_TEST

START_TEST(a_payload_longer_than_its_write_chunk_is_not_lent)
{
	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nreply_payloads = 1;
	begin(15, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 9000);
	raw_expect_error(raw, 15, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* A3.8-5 */
START_TEST(memory_is_claimed_until_done_and_no_more_than_that)
{
	rig->server.hold = true;
	begin(16, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100000);
	ck_assert_uint_eq(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(RIG_CALL_MIN) + rpc_msg_cost_bytes(RIG_MAX_MSG));
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	next_lent(16);
	ck_assert_uint_eq(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(RIG_CALL_MIN) + rpc_msg_cost_bytes(100000));
	send_done(16);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
}
END_TEST

/* Nothing of a Call in a chunk is known when it claims memory. */
START_TEST(a_hidden_call_claims_no_more_than_what_is_proved)
{
	uint8_t call[RIG_CALL_MIN];

	rig->server.config.leg.max_message_bytes = 3 * RIG_MAX_MSG;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	rig_fill_call(call, sizeof(call), 17, 5000);
	begin(17, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->server.last_reply_max, FACTS_UNBOUNDED_BYTES);
	next_lent(17);
	fake_ceiling_bytes = 6000;
	call_lent(18, 5000);
	ck_assert_uint_eq(rig->server.last_reply_max, 6000);
}
END_TEST

START_TEST(an_xid_is_in_use_until_done)
{
	call_lent(20, 5000);
	send_done(20);
	call_lent(20, 5000);
	expect_lent(20, 5000);
	begin(20, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	expect_silence();
	expect_closed(LEG_CLOSE_XID_REUSED);
}
END_TEST

/* A3.8-2 */
START_TEST(done_frees_nothing_else)
{
	call_lent(21, 5000);
	rig->server.hold = true;
	begin(22, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 6000);
	rig->server.hold = false;
	send_done(22); /* of a Call that is not answered */
	send_done(0x0badcafe);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 2);
	expect_lent(21, 5000);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	next_lent(22);
	expect_lent(22, 6000);
	send_done(21);
	send_done(21);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 3);
	ck_assert_uint_eq(rig->server.counters.dones_received, 1);
	expect_lent(22, 6000);
	expect_silence();
	expect_alive();
}
END_TEST

static unsigned recvs_posted(void)
{
	struct leg_info info;

	leg_info(rig->server.leg, &info);
	return (unsigned)(info.recv_posted_bytes / info.recv_size_bytes);
}

/* A3.8-4: RDMA_DONE of each, and a Call for each credit, may be sent at once. */
START_TEST(each_reply_that_is_lent_has_a_receive_for_its_done)
{
	struct leg_info info;

	rig->server.config.credits = 4;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 1 + 4);
	for (uint32_t xid = 1; xid <= 4; xid++)
		call_lent(xid, 5000);
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 4 + 4);
	/* It is answered: what is in flight is what its server has. */
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(info.calls_in_flight_in, 0);
	for (uint32_t xid = 1; xid <= 4; xid++)
		post_done(xid, 4);
	for (uint32_t xid = 5; xid <= 8; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 5000);
	rig_run(rig);
	for (uint32_t xid = 5; xid <= 8; xid++) {
		next_lent(xid);
		expect_lent(xid, 5000);
		send_done(xid);
	}
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 4);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	expect_alive();
}
END_TEST

/* What came is forgotten, so that more can come. */
static void forget_recvs(void)
{
	ck_assert_uint_eq(raw->nread, raw->nrecvs);
	for (unsigned i = 0; i < raw->nrecvs; i++)
		free(raw->recvs[i].data);
	fabric_recv_post(raw->ep, raw->nrecvs, RECV_BYTES);
	raw->nread = raw->nrecvs = 0;
}

START_TEST(with_one_credit_a_thousand_replies_are_read)
{
	const uint32_t count = 1000;

	rig->server.config.credits = 1;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	raw_post_call(raw, 1, RIG_CALL_MIN, 5000);
	rig_run_for(rig, 1000);
	for (uint32_t xid = 1; xid <= count; xid++) {
		next_lent(xid);
		ck_assert_uint_eq(lent.credit, 1);
		expect_lent(xid, 5000);
		forget_recvs();
		post_done(xid, 1);
		if (xid < count)
			raw_post_call(raw, xid + 1, RIG_CALL_MIN, 5000);
		rig_run_for(rig, 1000);
	}
	ck_assert_uint_eq(rig->server.counters.dones_received, count);
	ck_assert_uint_eq(rig->server.counters.replies_lent, count);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 1);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* A3.8-5 */
START_TEST(no_more_are_lent_at_once_than_credits_granted)
{
	rig->server.config.credits = 2;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(30, 5000);
	call_lent(31, 5000);
	begin(32, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 32, RPCRDMA_ERR_CHUNK);
	expect_alive();
	send_done(30);
	call_lent(32, 5000);
	expect_lent(32, 5000);
}
END_TEST

static void call_asking(uint32_t xid, uint32_t credit, uint32_t reply_bytes)
{
	begin(xid, RPCRDMA_MSG);
	hdr.credit = credit;
	send_call(RIG_CALL_MIN, reply_bytes);
}

/* The sim knows how many receives were announced. */
START_TEST(all_that_is_granted_may_be_lent)
{
	rig->server.config.credits = 64;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	/* Used often enough, the grant has grown to all there is. */
	for (uint32_t xid = 100; xid < 148; xid++) {
		call_asking(xid, 64, 100);
		expect_inline_reply(xid, 100);
	}
	ck_assert_uint_eq(hdr.credit, 64);
	for (uint32_t xid = 1; xid <= 64; xid++) {
		call_asking(xid, 64, 5000);
		next_lent(xid);
	}
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 64 + 64);
	call_asking(65, 64, 5000);
	raw_expect_error(raw, 65, RPCRDMA_ERR_CHUNK);
	for (uint32_t xid = 1; xid <= 64; xid++)
		send_done(xid);
	call_lent(65, 5000);
	expect_lent(65, 5000);
}
END_TEST

/* A3.8-6: as in a Call; what is ignored asks for nothing. */
START_TEST(done_asks_for_credits)
{
	call_lent(33, 5000);
	ck_assert_uint_eq(lent.credit, 16);
	rig->server.hold = true;
	raw_post_call(raw, 34, RIG_CALL_MIN, 100);
	raw_post_call(raw, 35, RIG_CALL_MIN, 100);
	rig_run_for(rig, 1000);
	post_done(33, 3);
	post_done(0x0badcafe, 7);
	rig_run_for(rig, 1000);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	for (uint32_t xid = 34; xid <= 35; xid++) {
		expect_inline_reply(xid, 100);
		ck_assert_uint_eq(hdr.credit, 3);
	}
}
END_TEST

START_TEST(sixty_four_without_done_leave_memory_for_others)
{
	size_t limit = rig->budget.budget.limit_bytes;
	struct budget_claim theirs;
	unsigned nlent = 0;

	rig->server.config.credits = 64;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	raw->step_us = 1;
	for (uint32_t xid = 1; xid <= 64; xid++)
		call_asking(xid, 64, 1000000);
	nlent = rig->server.counters.replies_lent;
	ck_assert_uint_gt(nlent, 8);
	ck_assert_uint_lt(nlent, 64);
	ck_assert_uint_le(rig->budget.account.used_bytes, limit);
	budget_claim_init(&theirs, NULL, NULL);
	ck_assert(budget_claim(&rig->budget.other, &theirs, 2 * rpc_msg_cost_bytes(RIG_MAX_MSG)));
	budget_release(&theirs);
	/* Those that wait for memory get what these give back. */
	for (uint32_t xid = 1; xid <= 64; xid++) {
		next_lent(xid);
		send_done(xid);
	}
	ck_assert_uint_eq(rig->server.counters.replies_lent, 64);
	ck_assert_uint_le(rig->budget.account.peak_bytes, limit);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* A3.8-3 */
START_TEST(without_done_the_connection_closes_in_time)
{
	call_lent(40, 5000);
	expect_lent(40, 5000);
	rig_run_for(rig, TIMEOUT_US - 10000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 20000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
	ck_assert_ptr_nonnull(strstr(rig->server.detail, "no RDMA_DONE for the Reply 0x28"));
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 1);
}
END_TEST

/* One timer is all there is: each has its own time all the same. */
START_TEST(each_reply_has_its_own_time)
{
	call_lent(41, 5000);
	rig_run_for(rig, 20 * S);
	call_lent(42, 5000);
	rig_run_for(rig, 5 * S);
	send_done(41);
	rig_run_for(rig, 24 * S);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * S);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
	ck_assert_ptr_nonnull(strstr(rig->server.detail, "0x2a"));
}
END_TEST

START_TEST(done_in_time_ends_the_limit)
{
	for (uint32_t xid = 43; xid < 46; xid++) {
		call_lent(xid, 5000);
		rig_run_for(rig, 25 * S);
		send_done(xid);
	}
	rig_run_for(rig, 100 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 0);
	expect_alive();
}
END_TEST

START_TEST(or_its_memory_is_taken_back_alone)
{
	rig->server.config.done_policy = DONE_POLICY_WITHDRAW;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(50, 5000);
	rig_run_for(rig, 20 * S);
	call_lent(51, 6000);
	rig_run_for(rig, 11 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 1);
	ck_assert_uint_eq(rig->server.notes, 1);
	expect_lent(51, 6000);
	send_done(50); /* too late */
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 1);
	call_lent(50, 7000);
	expect_lent(50, 7000);
	rig_run_for(rig, 60 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 3);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
	expect_dead(&lent.reads[0].seg);
}
END_TEST

START_TEST(a_leg_that_drains_waits_for_done)
{
	call_lent(60, 5000);
	call_lent(61, 5000);
	leg_drain(rig->server.leg);
	rig_run_for(rig, S);
	send_done(60);
	ck_assert_uint_eq(rig->server.closed, 0);
	expect_lent(61, 5000);
	send_done(61);
	expect_closed(LEG_CLOSE_SHUTDOWN);
}
END_TEST

START_TEST(a_leg_that_drains_waits_no_longer_than_for_that)
{
	rig->server.config.done_policy = _i ? DONE_POLICY_WITHDRAW : DONE_POLICY_CLOSE;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(62, 5000);
	leg_drain(rig->server.leg);
	rig_run_for(rig, TIMEOUT_US - 10000);
	ck_assert_uint_eq(rig->server.closed, 0);
	expect_closed(_i ? LEG_CLOSE_SHUTDOWN : LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* What is lent then goes with it: the bench looks for what is left. */
START_TEST(a_connection_may_end_with_some_lent)
{
	reopen(&(struct sim_faults){.async_unbind = _i & 1});
	call_lent(63, 5000);
	call_lent(64, 5000);
	if (_i & 2)
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	else
		fabric_ep_close(raw->ep);
	expect_closed(_i & 2 ? LEG_CLOSE_LOCAL : LEG_CLOSE_PEER);
}
END_TEST

/* The client is done with the XID and uses it, while the device still unbinds the key. */
START_TEST(keys_that_die_slowly_hold_memory_and_nothing_else)
{
	bool waited = false;

	reopen(&(struct sim_faults){.async_unbind = true, .max_delay_us = 100000, .seed = 5});
	raw->step_us = S;
	for (uint32_t i = 0; i < 20; i++) {
		call_lent(65, 5000);
		expect_lent(65, 5000);
		post_done(65, 32);
		while (rig->server.counters.dones_received <= i)
			rig_run_for(rig, 100);
		waited |= rig->budget.account.used_bytes > 0;
	}
	ck_assert(waited);
	rig_run(rig);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* Keys that are being unbound hold nobody up who drains. */
START_TEST(a_leg_may_end_while_keys_are_unbound)
{
	reopen(&(struct sim_faults){
		.async_unbind = true, .max_delay_us = 100000, .seed = (uint64_t)_i + 1});
	raw->step_us = S;
	call_lent(66, 5000);
	post_done(66, 32);
	while (rig->server.counters.dones_received < 1)
		rig_run_for(rig, 100);
	if (_i & 1)
		leg_drain(rig->server.leg);
	else
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	expect_closed(_i & 1 ? LEG_CLOSE_SHUTDOWN : LEG_CLOSE_LOCAL);
}
END_TEST

START_TEST(where_a_key_is_missing_the_call_gets_err_chunk)
{
	rig_end(rig);
	new_rig(&(struct sim_faults){.fail_bind = (unsigned)_i, .async_unbind = _i == 3});
	rig->server.config.max_segment_bytes = 2000;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	begin(67, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 67, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 0);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	call_lent(67, 5000);
	expect_lent(67, 5000);
	send_done(67);
	expect_alive();
}
END_TEST

/* Wherever the network breaks, nothing is left over. */
START_TEST(a_connection_that_breaks_anywhere_leaves_nothing)
{
	rig_end(rig);
	new_rig(&(struct sim_faults){.async_unbind = _i & 1,
				     .max_delay_us = 5000,
				     .seed = (uint64_t)_i + 1,
				     .cut_at_step = (unsigned)_i + 1});
	rig->server.config.done_policy = _i & 2 ? DONE_POLICY_WITHDRAW : DONE_POLICY_CLOSE;
	raw = raw_new(rig, pd_4096_inv, sizeof(pd_4096_inv));
	raw_connect(raw);
	for (uint32_t xid = 1; xid <= 6; xid++) {
		raw_post_call(raw, xid, RIG_CALL_MIN, 5000);
		rig_run_for(rig, HOSTILE_STEP);
		post_done(xid / 2 + 1, 32);
		rig_run_for(rig, xid * 1000);
	}
	rig_run_for(rig, TIMEOUT_US);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_lent");
	TCase *tc = tcase_create("open");
	TCase *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, setup_draft, teardown);
	tcase_add_checked_fixture(closed, setup_draft_closed, teardown);
	tcase_add_test(tc, a_reply_that_fits_nowhere_is_read_by_the_client);
	tcase_add_test(tc, for_a_reply_chunk_that_is_too_small_it_is_lent);
	tcase_add_test(tc, what_fits_inline_is_not_lent);
	tcase_add_test(tc, the_rest_of_a_payload_is_lent_in_stretches);
	tcase_add_test(tc, it_goes_with_every_other_kind_of_chunk);
	tcase_add_test(closed, a_reply_of_too_many_segments_gets_err_chunk);
	tcase_add_test(closed, no_list_is_longer_than_the_longest);
	tcase_add_test(closed, to_a_client_that_never_reads_nothing_is_lent);
	tcase_add_test(closed, a_client_of_rfc_8166_gets_err_chunk);
	tcase_add_test(closed, no_reply_to_a_reverse_call_is_lent);
	tcase_add_test(tc, a_payload_longer_than_its_write_chunk_is_not_lent);
	tcase_add_test(tc, memory_is_claimed_until_done_and_no_more_than_that);
	tcase_add_test(closed, a_hidden_call_claims_no_more_than_what_is_proved);
	tcase_add_test(tc, an_xid_is_in_use_until_done);
	tcase_add_test(tc, done_frees_nothing_else);
	tcase_add_test(closed, each_reply_that_is_lent_has_a_receive_for_its_done);
	tcase_add_test(closed, with_one_credit_a_thousand_replies_are_read);
	tcase_add_test(closed, no_more_are_lent_at_once_than_credits_granted);
	tcase_add_test(closed, all_that_is_granted_may_be_lent);
	tcase_add_test(tc, done_asks_for_credits);
	tcase_add_test(closed, sixty_four_without_done_leave_memory_for_others);
	tcase_add_test(tc, without_done_the_connection_closes_in_time);
	tcase_add_test(tc, each_reply_has_its_own_time);
	tcase_add_test(tc, done_in_time_ends_the_limit);
	tcase_add_test(closed, or_its_memory_is_taken_back_alone);
	tcase_add_test(tc, a_leg_that_drains_waits_for_done);
	tcase_add_loop_test(closed, a_leg_that_drains_waits_no_longer_than_for_that, 0, 2);
	tcase_add_loop_test(closed, a_connection_may_end_with_some_lent, 0, 4);
	tcase_add_test(closed, keys_that_die_slowly_hold_memory_and_nothing_else);
	tcase_add_loop_test(closed, a_leg_may_end_while_keys_are_unbound, 0, 8);
	tcase_add_loop_test(closed, where_a_key_is_missing_the_call_gets_err_chunk, 1, 4);
	tcase_add_loop_test(closed, a_connection_that_breaks_anywhere_leaves_nothing, 0, 120);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}
