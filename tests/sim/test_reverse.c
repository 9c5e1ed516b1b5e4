// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests reverse Calls of version two: where they are sent, and that they can have chunks (B3.3-1 to
 * -4, X-16).
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

#define LONG_BYTES 9000u /* longer than any receive here */
/*
 * Outside of the levels: INIT says nothing of reverse Calls; and what is tested says nothing of
 * anything.
 */
#define SAYS_NOTHING  4u
#define TELLS_NOTHING 5u

static struct rig *rig;
static struct raw *raw;

/* The last message that the hand-made peer got. */
static struct rpcrdma_header hdr;
static const uint8_t *body;
static uint32_t len;

static void make(const struct sim_faults *faults, bool client_chunks, bool server_chunks)
{
	rig = rig_new(faults);
	raw = NULL;
	fake_nfs_reset();
	for (int i = 0; i < 2; i++) {
		struct rdma_leg_config *config = i ? &rig->server.config : &rig->client.config;

		config->highest_version = 2;
		config->characteristics = true;
		config->reverse_chunks = i ? server_chunks : client_chunks;
	}
}

/* Two legs face to face, which have told each other what they are. */
static void open_pair(const struct sim_faults *faults, bool client_chunks, bool server_chunks)
{
	make(faults, client_chunks, server_chunks);
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.opened, 1);
	/* The first Call settles the version. */
	rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	rig->client.answered = 0;
}

/* Which version that is, is the client's to say. */
START_TEST(a_reverse_call_waits_for_the_version)
{
	make(NULL, false, false);
	rig_connect(rig);
	rig_run(rig);
	rig_call(&rig->server, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.calls, 0);
	rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.calls, 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->client.counters.err_vers_sent, 0);
}
END_TEST

static void end(void)
{
	if (raw)
		raw_free(raw);
	rig_run(rig);
	rig_end(rig);
	fake_nfs_reset();
}

/* ---- a peer made by hand ---- */

static void begin(uint32_t xid, enum rpcrdma_proc proc)
{
	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_TWO, 32, proc);
}

static void send_option(uint32_t xid, enum xchar_op op, const uint8_t *info, size_t bytes)
{
	begin(xid, RPCRDMA_OPTIONAL);
	hdr.opttype = op;
	hdr.optinfo = info;
	hdr.optinfo_bytes = (uint32_t)bytes;
	raw_send_header(raw, &hdr, NULL, 0);
}

static void send_init(uint32_t xid, unsigned level)
{
	struct xchar_value value = {XCHAR_BRS, true, level};
	uint8_t info[64];

	send_option(xid, XCHAR_INIT, info,
		    xchar_encode_init(info, sizeof(info), &value, level <= XCHAR_BRS_GENL, 0));
}

static void send_upd(enum xchar_brs level)
{
	struct xchar_value value = {XCHAR_BRS, true, level};
	uint8_t info[64];

	send_option(0x7777, XCHAR_UPD, info, xchar_encode_upd(info, sizeof(info), &value, false));
}

static void next(void)
{
	raw_next_header(raw, &hdr, &body, &len);
}

static void expect_silence(void)
{
	ck_assert(!raw_next(raw));
}

static void send_call(uint32_t xid)
{
	uint8_t call[RIG_CALL_MIN];

	begin(xid, RPCRDMA_MSG);
	rig_fill_call(call, sizeof(call), xid, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
}

/* The Reply to the reverse Call of `hdr`, inline; a grant of @credit with it. */
static void answer(uint32_t reply_bytes, uint32_t credit)
{
	uint8_t reply[4096];
	uint32_t xid = hdr.xid;

	begin(xid, RPCRDMA_MSG);
	hdr.credit = credit;
	rig_fill_reply(reply, reply_bytes, xid);
	raw_send_header(raw, &hdr, reply, reply_bytes);
}

/* A connector before our acceptor, which has said that, and called once. */
static void open_connector(const struct sim_faults *faults, bool chunks, unsigned level)
{
	make(faults, false, chunks);
	raw = raw_open_client(rig, NULL, 0);
	send_init(1, level);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_OPTIONAL);
	send_call(2);
	next();
	ck_assert_uint_eq(hdr.xid, 2);
}

/* An acceptor before our connector, which has said that. */
static void open_acceptor(const struct sim_faults *faults, bool chunks, unsigned level,
			  unsigned ird)
{
	make(faults, chunks, false);
	rig->client.config.characteristics = level != TELLS_NOTHING;
	raw = raw_new(rig, NULL, 0);
	raw->params.ird = ird;
	rig->raw_server = raw;
	rig_connect(rig);
	rig_run_for(rig, 100000);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_OPTIONAL);
	send_init(hdr.xid, level);
	if (level == TELLS_NOTHING)
		raw_expect_error(raw, hdr.xid, RPCRDMA_ERR_INVAL_OPTION);
	ck_assert_uint_eq(rig->client.opened, 1);
}

static void call_behind(uint32_t call_bytes, uint32_t reply_bytes)
{
	rig_call(&rig->server, call_bytes, reply_bytes, reply_bytes);
	rig_run_for(rig, 100000);
}

static void expect_refused(unsigned n)
{
	expect_silence();
	ck_assert_uint_eq(rig->server.faults, n);
	ck_assert_uint_eq(rig->server.counters.reverse_refused, n);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	/* One note for all of them. */
	ck_assert_uint_eq(rig->server.notes, 1);
}

static void expect_short_call(void)
{
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(be32_get(body + 4), RPC_CALL);
	ck_assert_uint_eq(hdr.nreads + hdr.nwrites + hdr.has_reply_chunk, 0);
}

/* ---- the end that calls ---- */

/* B3.3-1 */
START_TEST(a_peer_with_none_gets_no_reverse_call)
{
	open_connector(NULL, _i, XCHAR_BRS_NONE);
	call_behind(100, 100);
	call_behind(LONG_BYTES, 100);
	expect_refused(2);
	send_call(3);
	next();
	ck_assert_uint_eq(hdr.xid, 3);
	end();
}
END_TEST

/* B3.3-2, X-16: without chunks where they were not both for them. */
START_TEST(a_peer_with_less_than_genl_gets_reverse_calls_without_chunks)
{
	static const unsigned levels[] = {SAYS_NOTHING, XCHAR_BRS_UNKNOWN, XCHAR_BRS_SZLIM,
					  XCHAR_BRS_GENL};

	/* The last one says it to an end that does not. */
	open_connector(NULL, _i < 3, levels[_i]);
	call_behind(100, 3000);
	expect_short_call();
	answer(3000, 16);
	ck_assert_uint_eq(rig->server.answered, 1);
	call_behind(LONG_BYTES, 100);
	expect_refused(1);
	/* What may be longer inline than was said is the origin's to bear. */
	call_behind(100, LONG_BYTES);
	expect_short_call();
	end();
}
END_TEST

START_TEST(a_peer_with_genl_gets_reverse_calls_with_chunks)
{
	uint8_t got[LONG_BYTES], want[LONG_BYTES];

	open_connector(NULL, true, XCHAR_BRS_GENL);
	call_behind(LONG_BYTES, LONG_BYTES);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.vers, 2);
	ck_assert_uint_eq(hdr.nreads, 1);
	ck_assert_uint_eq(hdr.reads[0].position, 0);
	ck_assert(hdr.has_reply_chunk);
	ck_assert_int_eq(
		raw_read(raw, got, LONG_BYTES, hdr.reads[0].seg.handle, hdr.reads[0].seg.offset),
		FABRIC_OK);
	rig_fill_call(want, LONG_BYTES, hdr.xid, LONG_BYTES);
	ck_assert_mem_eq(got, want, LONG_BYTES);
	rig_fill_reply(want, LONG_BYTES, hdr.xid);
	ck_assert_int_eq(
		raw_write(raw, want, LONG_BYTES, hdr.segments[0].handle, hdr.segments[0].offset),
		FABRIC_OK);
	hdr.nreads = 0;
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.wrong, 0);
	/* A Reply of limited size has no chunk even so. */
	call_behind(100, 3000);
	expect_short_call();
	end();
}
END_TEST

/* B3.2-1, B3.2-2: private data offer nothing here, the characteristic alone does. */
START_TEST(a_reverse_reply_may_invalidate_where_that_was_said)
{
	const struct sim_faults faults = {.shared_keys = _i};
	uint8_t reply[LONG_BYTES], out[256];
	struct rpcrdma_segment to;

	open_connector(&faults, true, XCHAR_BRS_GENL);
	call_behind(100, LONG_BYTES);
	next();
	to = hdr.segments[hdr.reply_chunk.first];
	rig_fill_reply(reply, LONG_BYTES, hdr.xid);
	ck_assert_int_eq(raw_write(raw, reply, LONG_BYTES, to.handle, to.offset), FABRIC_OK);
	hdr.proc = RPCRDMA_NOMSG;
	hdr.segments[hdr.reply_chunk.first].len_bytes = LONG_BYTES;
	raw_send_inv(raw, out, rpcrdma_header_encode(&hdr, out, sizeof(out)), to.handle);
	rig_run_for(rig, 100000);
	ck_assert_uint_eq(rig->server.answered, !_i);
	ck_assert_uint_eq(rig->server.closed, _i);
	if (_i)
		ck_assert_int_eq(rig->server.why, LEG_CLOSE_PROTOCOL);
	end();
}
END_TEST

/* Each Call goes by what holds when its turn comes. */
START_TEST(an_upd_changes_where_reverse_calls_go)
{
	open_connector(NULL, true, XCHAR_BRS_GENL);
	call_behind(100, 100);
	expect_short_call();
	/* One credit until the first Reply: these wait. */
	rig_call(&rig->server, LONG_BYTES, 100, 100);
	rig_call(&rig->server, 100, 100, 100);
	rig_run_for(rig, 100000);
	expect_silence();
	{
		struct rpcrdma_header first = hdr;

		send_upd(XCHAR_BRS_SZLIM);
		hdr = first;
	}
	answer(100, 16);
	expect_short_call();
	ck_assert_uint_eq(rig->server.answered, 1);
	expect_refused(1);
	send_upd(XCHAR_BRS_NONE);
	call_behind(100, 100);
	expect_refused(2);
	send_upd(XCHAR_BRS_UNKNOWN);
	call_behind(100, 100);
	expect_short_call();
	send_upd(XCHAR_BRS_GENL);
	call_behind(LONG_BYTES, 100);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	end();
}
END_TEST

/*
 * B3.2-1: it exposes keys for reverse Calls with chunks only; whether its device could send such a
 * Send does not matter.
 */
START_TEST(an_acceptor_accepts_invalidation_of_its_exposed_memory)
{
	const struct sim_faults faults = {.shared_keys = _i & 1, .no_send_inv = _i & 2};
	bool chunks = _i & 4, told = false;
	struct xchar_operation operation;
	struct xchar_value value;

	make(&faults, false, chunks);
	raw = raw_open_client(rig, NULL, 0);
	send_init(1, XCHAR_BRS_GENL);
	next();
	ck_assert_int_eq(xchar_decode(hdr.opttype, hdr.optinfo, hdr.optinfo_bytes, &operation),
			 XCHAR_OK);
	while (xchar_next(&operation.spec, &value))
		if (value.id == XCHAR_RQREMINV)
			told = value.value;
	ck_assert_int_eq(told, chunks && !faults.shared_keys);
	end();
}
END_TEST

/* what was said holds in version two alone. */
START_TEST(version_one_has_no_chunks_for_reverse_calls)
{
	uint8_t call[RIG_CALL_MIN];

	make(NULL, false, true);
	raw = raw_open_client(rig, NULL, 0);
	send_init(1, _i ? XCHAR_BRS_GENL : XCHAR_BRS_NONE);
	next();
	rpcrdma_header_init(&hdr, 2, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	rig_fill_call(call, sizeof(call), 2, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	call_behind(100, 100);
	expect_short_call();
	ck_assert_uint_eq(hdr.vers, 1);
	rpcrdma_header_init(&hdr, hdr.xid, RPCRDMA_VERSION_ONE, 16, RPCRDMA_MSG);
	rig_fill_reply(call, 24, hdr.xid);
	raw_send_header(raw, &hdr, call, 24);
	call_behind(LONG_BYTES, 100);
	expect_refused(1);
	end();
}
END_TEST

/* ---- the end that is called ---- */

/* A reverse Call by position-zero chunk, with nothing for its Reply. */
static void begin_by_chunk(uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes)
{
	uint8_t call[LONG_BYTES];

	rig_fill_call(call, call_bytes, xid, reply_bytes);
	begin(xid, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){
		0, raw_segment(raw_lend(raw, call, call_bytes, FABRIC_REMOTE_READ))};
}

/* A long one, with a reply chunk of @room. */
static struct fabric_key *send_long_call(uint32_t xid, uint32_t reply_bytes, uint32_t room)
{
	struct fabric_key *landing;

	begin_by_chunk(xid, LONG_BYTES, reply_bytes);
	landing = raw_lend(raw, NULL, room, FABRIC_REMOTE_WRITE);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, room};
	hdr.segments[hdr.nsegments++] = raw_segment(landing);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run_for(rig, 100000);
	return landing;
}

/* B3.3-3, X-13: whatever the other end says of itself. */
START_TEST(a_reverse_call_with_chunks_is_answered_with_them)
{
	static const unsigned levels[] = {SAYS_NOTHING, XCHAR_BRS_NONE, XCHAR_BRS_GENL};
	uint8_t want[LONG_BYTES];
	struct fabric_key *landing;

	open_acceptor(NULL, true, levels[_i], 16);
	landing = send_long_call(0x91, LONG_BYTES, 20000);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, LONG_BYTES);
	rig_fill_reply(want, LONG_BYTES, 0x91);
	ck_assert_mem_eq(landing->mem, want, LONG_BYTES);
	/* A short Reply stays inline, its chunk unused. */
	send_long_call(0x92, 100, 20000);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 0);
	ck_assert_uint_eq(len, 100);
	end();
}
END_TEST

START_TEST(a_reverse_call_with_chunks_is_refused_by_a_peer_without_genl)
{
	open_acceptor(NULL, _i, _i ? TELLS_NOTHING : XCHAR_BRS_GENL, 16);
	send_long_call(0x91, 100, 20000);
	raw_expect_error(raw, 0x91, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.calls, 0);
	ck_assert_uint_eq(rig->client.counters.read_chunk_bytes_pulled, 0);
	end();
}
END_TEST

START_TEST(a_reverse_call_of_a_peer_that_cannot_be_read_from_is_refused)
{
	open_acceptor(NULL, true, XCHAR_BRS_GENL, 0);
	send_long_call(0x91, 100, 20000);
	raw_expect_error(raw, 0x91, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.calls, 0);
	end();
}
END_TEST

/*
 * Nothing of the Call is here, so that its flavour is not known: the answer is one that each client
 * accepts.
 */
static void expect_auth_failed(uint32_t xid)
{
	next();
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(len, 20);
	ck_assert_uint_eq(be32_get(body + 4), RPC_REPLY);
	ck_assert_uint_eq(be32_get(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(be32_get(body + 12), 1); /* AUTH_ERROR */
	ck_assert_uint_eq(be32_get(body + 16), RPC_AUTH_FAILED);
}

/* Its Reply may stand behind clients' Calls that wait for memory: it has some now, or none. */
START_TEST(a_reverse_call_with_chunks_waits_for_no_memory)
{
	size_t limit, left = 2 * rpc_msg_cost_bytes(RIG_MAX_MSG);
	struct budget_claim taken;
	uint8_t call[RIG_CALL_MIN];

	open_acceptor(NULL, true, XCHAR_BRS_GENL, 16);
	limit = rig->client_budget.budget.limit_bytes;
	budget_claim_init(&taken, NULL, NULL);
	/* There is some, but what the largest of the clients' Calls may need is left to them. */
	ck_assert(budget_claim(&rig->client_budget.other, &taken, _i ? limit : limit - left));
	send_long_call(0x91, LONG_BYTES, 20000);
	expect_auth_failed(0x91);
	ck_assert_uint_eq(rig->client.counters.reverse_refused, 1);
	ck_assert_uint_eq(rig->client.counters.read_chunk_bytes_pulled, 0);
	ck_assert_uint_eq(rig->client.notes, 1);
	ck_assert_uint_eq(rig->client_budget.account.waiting, 0);
	/* That of a short one takes work requests, at least. */
	begin_by_chunk(0x94, RIG_CALL_MIN, 100);
	raw_send_header(raw, &hdr, NULL, 0);
	expect_auth_failed(0x94);
	/* One of limited size takes none. */
	rig_fill_call(call, sizeof(call), 0x92, 100);
	begin(0x92, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(len, 100);
	budget_claim_release(&taken);
	rig_run_for(rig, 100000);
	send_long_call(0x93, LONG_BYTES, 20000);
	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(rig->client.counters.reverse_refused, 2);
	ck_assert_uint_eq(rig->client.counters.auth_failed_sent, 2);
	end();
}
END_TEST

/*
 * What the peer takes inline may be much, which nothing but the budget counts: without memory its
 * Reply is to be short.
 */
START_TEST(a_long_reply_inline_to_a_reverse_call_takes_memory_too)
{
	struct xchar_value value = {XCHAR_RBSIZ, true, 65536};
	struct budget_claim taken;
	uint8_t info[64];

	open_acceptor(NULL, false, XCHAR_BRS_SZLIM, 16);
	send_option(0x7777, XCHAR_UPD, info, xchar_encode_upd(info, sizeof(info), &value, false));
	budget_claim_init(&taken, NULL, NULL);
	ck_assert(budget_claim(&rig->client_budget.other, &taken,
			       rig->client_budget.budget.limit_bytes));
	send_call(0x91);
	next();
	ck_assert_uint_eq(len, 100);
	ck_assert_uint_eq(rig->client.last_reply_max, rdma_reverse_free_bytes(4096));
	/* The program behind proves that its Reply is short. */
	fake_ceiling_bytes = 200;
	send_call(0x92);
	next();
	ck_assert_uint_eq(len, 100);
	ck_assert_uint_eq(rig->client.last_reply_max, 200);
	budget_claim_release(&taken);
	fake_ceiling_bytes = UINT32_MAX;
	send_call(0x93);
	next();
	ck_assert_uint_eq(rig->client.last_reply_max, 65536 - RPCRDMA_MIN_HDR_BYTES);
	ck_assert_uint_eq(rig->client.counters.reverse_refused, 0);
	end();
}
END_TEST

/* ---- both ends ---- */

static const uint32_t sizes[] = {100, 4068, 4069, 8192, LONG_BYTES, 65536, 200000};
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

static void call_every_size(struct rig_side *side)
{
	for (unsigned i = 0; i < NSIZES * NSIZES; i++)
		rig_call(side, sizes[i / NSIZES], sizes[i % NSIZES], sizes[i % NSIZES]);
}

START_TEST(reverse_calls_of_every_size_pass)
{
	static const struct sim_faults worlds[] = {
		{0},
		{.max_key_bytes = 3000},
		{.async_unbind = true, .seed = 5, .max_delay_us = 300},
		{.max_ord = 1, .seed = 9, .max_delay_us = 300},
	};

	open_pair(&worlds[_i], true, true);
	call_every_size(&rig->server);
	call_every_size(&rig->client);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, NSIZES * NSIZES);
	ck_assert_uint_eq(rig->client.answered, NSIZES * NSIZES);
	ck_assert_uint_eq(rig->server.wrong + rig->client.wrong, 0);
	ck_assert_uint_eq(rig->server.faults + rig->client.faults, 0);
	ck_assert_uint_gt(rig->client.counters.read_chunk_bytes_pulled, 0);
	ck_assert_uint_gt(rig->client.counters.reply_chunk_bytes_pushed, 0);
	/*
	 * B3.2-2: where only one key is exposed, and the exposing end has allowed its invalidation.
	 */
	if (!worlds[_i].max_key_bytes)
		ck_assert_uint_gt(rig->server.counters.remote_invalidations_received, 0);
	end();
}
END_TEST

START_TEST(chunks_at_one_end_alone_change_nothing)
{
	open_pair(NULL, _i, !_i);
	rig_call(&rig->server, 100, 4000, 4000);
	rig_call(&rig->server, LONG_BYTES, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.faults, 1);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(rig->server.counters.reverse_refused, 1);
	ck_assert_uint_eq(rig->server.closed + rig->client.closed, 0);
	end();
}
END_TEST

/* Its payload alone is a chunk, where the two ends move payloads. */
START_TEST(the_payload_of_a_reverse_call_moves_by_itself)
{
	make(NULL, true, true);
	rig->server.config.ddp = true;
	rig_connect(rig);
	rig_run(rig);
	rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	fake_call_payloads[0] = (struct rpc_payload){60, 8000};
	fake_ncall_payloads = 1;
	rig_call(&rig->server, 8100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->client.last_call_bytes, 8100);
	ck_assert_uint_eq(rig->client.counters.read_chunk_bytes_pulled, 8000);
	end();
}
END_TEST

START_TEST(a_reverse_call_ends_with_its_connection)
{
	open_pair(NULL, true, true);
	rig->client.hold = true;
	for (int i = 0; i < 20; i++)
		rig_call(&rig->server, LONG_BYTES, LONG_BYTES, LONG_BYTES);
	rig_run_for(rig, 50 + 50 * (unsigned)_i);
	leg_close(_i % 2 ? rig->client.leg : rig->server.leg, LEG_CLOSE_LOCAL);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed + rig->server.closed, 2);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reverse");
	TCase *tc = tcase_create("reverse");

	tcase_add_loop_test(tc, a_peer_with_none_gets_no_reverse_call, 0, 2);
	tcase_add_loop_test(tc, a_peer_with_less_than_genl_gets_reverse_calls_without_chunks, 0, 4);
	tcase_add_test(tc, a_reverse_call_waits_for_the_version);
	tcase_add_test(tc, a_peer_with_genl_gets_reverse_calls_with_chunks);
	tcase_add_loop_test(tc, a_reverse_reply_may_invalidate_where_that_was_said, 0, 2);
	tcase_add_test(tc, an_upd_changes_where_reverse_calls_go);
	tcase_add_loop_test(tc, an_acceptor_accepts_invalidation_of_its_exposed_memory, 0, 8);
	tcase_add_loop_test(tc, version_one_has_no_chunks_for_reverse_calls, 0, 2);
	tcase_add_loop_test(tc, a_reverse_call_with_chunks_is_answered_with_them, 0, 3);
	tcase_add_loop_test(tc, a_reverse_call_with_chunks_is_refused_by_a_peer_without_genl, 0, 2);
	tcase_add_test(tc, a_reverse_call_of_a_peer_that_cannot_be_read_from_is_refused);
	tcase_add_loop_test(tc, a_reverse_call_with_chunks_waits_for_no_memory, 0, 2);
	tcase_add_test(tc, a_long_reply_inline_to_a_reverse_call_takes_memory_too);
	tcase_add_loop_test(tc, reverse_calls_of_every_size_pass, 0, 4);
	tcase_add_loop_test(tc, chunks_at_one_end_alone_change_nothing, 0, 2);
	tcase_add_test(tc, the_payload_of_a_reverse_call_moves_by_itself);
	tcase_add_loop_test(tc, a_reverse_call_ends_with_its_connection, 0, 8);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
