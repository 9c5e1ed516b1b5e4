// SPDX-License-Identifier: BSD-3-Clause
/* The server leg before hand-made clients, good ones and broken ones (peers.md section 6, item 10). */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/private_data.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

static struct rig *rig;
static struct raw *raw;

static struct rpcrdma_header hdr;
static const uint8_t *body;
static uint32_t len;

static const uint8_t pd_4096_inv[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

/* Where the stub's Reply has its payload, as an NFS binding would find it. */
static struct rdma_payload payloads[4];
static int npayloads;
static unsigned notes_out;

static void *call_note(void *arg, const struct rpc_call_hdr *call, const uint8_t *msg, uint32_t n)
{
	notes_out++;
	return malloc(1);
}

static void note_free(void *arg, void *note)
{
	if (note)
		notes_out--;
	free(note);
}

static int reply_payloads(void *arg, const void *note, const uint8_t *reply, uint32_t n,
			  struct rdma_payload *out, unsigned max)
{
	int count = npayloads < (int)max ? npayloads : (int)max;

	if (npayloads > 0)
		memcpy(out, payloads, (size_t)count * sizeof(*out));
	return count;
}

static const struct rdma_binding binding = {
	.call_note = call_note, .note_free = note_free, .reply_payloads = reply_payloads};

static void open_with(const uint8_t *pd, size_t n)
{
	rig->server.config.binding = &binding;
	raw = raw_open_client(rig, pd, n);
}

static void setup(void)
{
	rig = rig_new(NULL);
	npayloads = 0;
	notes_out = 0;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

static void setup_closed(void)
{
	rig = rig_new(NULL);
	npayloads = 0;
	notes_out = 0;
}

static void teardown(void)
{
	raw_free(raw);
	ck_assert_uint_eq(notes_out, 0);
	rig_end(rig);
}

static void begin(uint32_t xid, enum rpcrdma_proc proc)
{
	rpcrdma_header_init(&hdr, xid, 32, proc);
}

static void add_read(uint32_t position, const struct fabric_key *key)
{
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){position, raw_segment(key)};
}

static void add_write(const struct fabric_key *key)
{
	hdr.writes[hdr.nwrites++] =
		(struct rpcrdma_chunk){hdr.nsegments, 1, key ? key->len_bytes : 0};
	if (key)
		hdr.segments[hdr.nsegments++] = raw_segment(key);
	else
		hdr.writes[hdr.nwrites - 1].count = 0;
}

static void set_reply_chunk(const struct fabric_key *key)
{
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){hdr.nsegments, 1, key->len_bytes};
	hdr.segments[hdr.nsegments++] = raw_segment(key);
}

/* Sends the header with an inline Call that asks for a Reply of @reply_bytes. */
static void send_call(uint32_t call_bytes, uint32_t reply_bytes)
{
	uint8_t call[8192];

	rig_fill_call(call, call_bytes, hdr.xid, reply_bytes);
	raw_send_header(raw, &hdr, call, call_bytes);
}

static void next(void)
{
	raw_next_header(raw, &hdr, &body, &len);
}

static void expect_reply_bytes(const uint8_t *got, uint32_t n, uint32_t from, uint32_t total,
			       uint32_t xid)
{
	uint8_t *want = malloc(total);

	rig_fill_reply(want, total, xid);
	ck_assert_mem_eq(got, want + from, n);
	free(want);
}

static void expect_inline_reply(uint32_t xid, uint32_t n)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_eq(hdr.nreads, 0);
	ck_assert(!hdr.has_reply_chunk);
	ck_assert_uint_eq(len, n);
	expect_reply_bytes(body, n, 0, n, xid);
}

static void expect_silence(void)
{
	ck_assert_ptr_null(raw_next(raw));
}

/* The leg still works: nothing that came before has hurt it. */
static void expect_alive(void)
{
	ck_assert_ptr_nonnull(rig->server.leg);
	begin(0x77777777, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	expect_inline_reply(0x77777777, 100);
}

static void expect_closed(enum leg_close why)
{
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, why);
}

START_TEST(an_inline_call_is_answered_inline)
{
	begin(1, RPCRDMA_MSG);
	send_call(200, 300);
	expect_inline_reply(1, 300);
	ck_assert_uint_eq(rig->server.last_call_bytes, 200);
}
END_TEST

/* A3.3-3, A3.3-8, D2.2.2-1 */
START_TEST(grants_are_never_zero_nor_above_the_receives)
{
	rig->server.hold = true;
	for (uint32_t xid = 1; xid <= 16; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 16);
	rig_answer_held(&rig->server);
	rig_run(rig);
	for (uint32_t i = 0; i < 16; i++) {
		next();
		ck_assert_uint_ge(hdr.credit, 1);
		ck_assert_uint_le(hdr.credit, 32);
	}
	/* Used to the full, it has grown to what is configured. */
	ck_assert_uint_eq(hdr.credit, 32);
	rig->server.hold = true;
	for (uint32_t xid = 100; xid < 132; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 48);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->server);
	rig_run(rig);
}
END_TEST

START_TEST(a_client_that_asks_for_less_is_granted_less)
{
	uint8_t call[RIG_CALL_MIN];

	begin(1, RPCRDMA_MSG);
	hdr.credit = 3;
	rig_fill_call(call, sizeof(call), 1, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.credit, 3);
	begin(2, RPCRDMA_MSG);
	hdr.credit = 0;
	rig_fill_call(call, sizeof(call), 2, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.credit, 1);
}
END_TEST

/* A3.3-6 */
START_TEST(a_client_that_overruns_its_credits_loses_its_connection)
{
	rig->server.hold = true;
	for (uint32_t xid = 1; xid <= 64; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	expect_closed(LEG_CLOSE_PROTOCOL);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 1);
	ck_assert_uint_eq(rig->server.calls, 32 + 8);
}
END_TEST

/* A3.4-1, A3.4-5, A3.4-6, A-Δ5: a data item in two segments, with and without its pad. */
START_TEST(a_read_chunk_lands_at_its_position)
{
	for (uint32_t with_pad = 0; with_pad < 2; with_pad++) {
		uint32_t total = 44 + 1004 + 20, xid = 10 + with_pad;
		uint8_t call[2048], reduced[2048];

		rig_fill_call(call, total, xid, 100);
		memset(call + 44 + 1001, 0, 3);
		begin(xid, RPCRDMA_MSG);
		add_read(44, raw_lend(raw, call + 44, 600, FABRIC_REMOTE_READ));
		add_read(44, raw_lend(raw, call + 644, with_pad ? 404 : 401, FABRIC_REMOTE_READ));
		memcpy(reduced, call, 44);
		memcpy(reduced + 44, call + 44 + 1004, 20);
		raw_send_header(raw, &hdr, reduced, 64);
		expect_inline_reply(xid, 100);
		ck_assert_uint_eq(rig->server.last_call_bytes, total);
		ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
	}
}
END_TEST

/* A3.8-1, A-Δ7: several items, their entries in no order. */
START_TEST(read_chunks_come_in_any_order)
{
	uint8_t call[4096], reduced[4096];
	uint32_t total = 44 + 100 + 8 + 203 + 1 + 12;
	struct fabric_key *first, *second_a, *second_b;

	rig_fill_call(call, total, 20, 100);
	memset(call + 44 + 100 + 8 + 203, 0, 1);
	first = raw_lend(raw, call + 44, 100, FABRIC_REMOTE_READ);
	second_a = raw_lend(raw, call + 152, 3, FABRIC_REMOTE_READ);
	second_b = raw_lend(raw, call + 155, 200, FABRIC_REMOTE_READ);
	begin(20, RPCRDMA_MSG);
	add_read(152, second_a);
	add_read(44, first);
	add_read(152, second_b);
	memcpy(reduced, call, 44);
	memcpy(reduced + 44, call + 144, 8);
	memcpy(reduced + 52, call + 356, 12);
	raw_send_header(raw, &hdr, reduced, 64);
	expect_inline_reply(20, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, total);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
}
END_TEST

/* A5.1-2 */
START_TEST(a_position_zero_chunk_is_the_whole_call)
{
	uint8_t *call = malloc(100000);

	rig_fill_call(call, 100000, 30, 100);
	begin(30, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 60000, FABRIC_REMOTE_READ));
	add_read(0, raw_lend(raw, call + 60000, 40000, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(30, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, 100000);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 100000));
	free(call);
}
END_TEST

START_TEST(a_position_zero_chunk_and_others_are_merged)
{
	uint8_t *call = malloc(20000), *reduced = malloc(20000);
	uint32_t total = 9000 + 5003 + 1 + 400;

	rig_fill_call(call, total, 31, 100);
	memset(call + 14003, 0, 1);
	memcpy(reduced, call, 9000);
	memcpy(reduced + 9000, call + 14004, 400);
	begin(31, RPCRDMA_NOMSG);
	add_read(9000, raw_lend(raw, call + 9000, 5003, FABRIC_REMOTE_READ));
	/* The cut falls inside its second entry. */
	add_read(0, raw_lend(raw, reduced, 8000, FABRIC_REMOTE_READ));
	add_read(0, raw_lend(raw, reduced + 8000, 1400, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(31, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, total);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
	free(call);
	free(reduced);
}
END_TEST

/* A3.3-10 */
START_TEST(reads_stay_within_the_negotiated_depth)
{
	uint8_t call[4096];

	raw_free(raw);
	rig_end(rig);
	rig = rig_new(&(struct sim_faults){.max_ord = 2});
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	rig_fill_call(call, 4000, 32, 100);
	begin(32, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < 40; i++)
		add_read(0, raw_lend(raw, call + i * 100, 100, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(32, 100);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 4000));
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 2);
}
END_TEST

START_TEST(a_client_that_cannot_be_read_from_gets_err_chunk_for_read_chunks)
{
	uint8_t call[2048];

	raw = raw_new(rig, NULL, 0);
	raw->params.ird = 0;
	raw_connect(raw);
	rig_fill_call(call, 1024, 33, 100);
	begin(33, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 1024, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 33, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

static void refuse_reads(uint32_t xid, uint32_t position, const struct fabric_key *key,
			 uint32_t inline_bytes)
{
	begin(xid, RPCRDMA_MSG);
	add_read(position, key);
	send_call(inline_bytes, 100);
	raw_expect_error(raw, xid, RPCRDMA_ERR_CHUNK);
}

START_TEST(read_chunks_that_make_no_message_get_err_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 100, FABRIC_REMOTE_READ);
	struct fabric_key *other = raw_lend(raw, NULL, 100, FABRIC_REMOTE_READ);

	refuse_reads(40, 0, key, 100);   /* A-Δ8: an RDMA_MSG has its own beginning */
	refuse_reads(41, 104, key, 100); /* beyond the body */
	begin(42, RPCRDMA_MSG);
	add_read(44, key);
	add_read(48, other); /* overlaps the first */
	send_call(100, 100);
	raw_expect_error(raw, 42, RPCRDMA_ERR_CHUNK);
	begin(43, RPCRDMA_NOMSG); /* no beginning at all */
	add_read(44, key);
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 43, RPCRDMA_ERR_CHUNK);
	begin(44, RPCRDMA_NOMSG);
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 44, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 5);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(a_call_over_the_limit_gets_err_chunk_and_no_memory)
{
	begin(50, RPCRDMA_NOMSG);
	hdr.nreads = 2;
	hdr.reads[0].seg = (struct rpcrdma_segment){7, 0xffffffff, 0};
	hdr.reads[0].position = hdr.reads[1].position = 0;
	hdr.reads[1].seg = (struct rpcrdma_segment){7, 0xffffffff, 0xffffffff};
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 50, RPCRDMA_ERR_CHUNK);
	begin(51, RPCRDMA_NOMSG);
	hdr.nreads = 1;
	hdr.reads[0].seg = (struct rpcrdma_segment){7, RIG_MAX_MSG + 4, 0};
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 51, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.calls_too_big, 2);
	ck_assert_uint_eq(rig->budget.peak_bytes, 0);
	expect_alive();
}
END_TEST

START_TEST(a_read_chunk_that_cannot_be_read_closes)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE);

	begin(55, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	expect_closed(LEG_CLOSE_PROTOCOL);
	ck_assert_uint_eq(rig->server.calls, 0);
}
END_TEST

/* A5.2-2 and A5.2-3 */
START_TEST(a_long_reply_goes_into_the_reply_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE);

	begin(60, RPCRDMA_MSG);
	set_reply_chunk(key);
	send_call(RIG_CALL_MIN, 9999);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 9999);
	ck_assert_uint_eq(hdr.segments[0].handle, key->rkey);
	ck_assert_uint_eq(hdr.segments[0].offset, key->addr);
	expect_reply_bytes(key->mem, 9999, 0, 9999, 60);
	ck_assert_uint_eq(key->mem[9999], 0xee);
	ck_assert_uint_eq(rig->server.last_reply_max, 10000);
}
END_TEST

START_TEST(a_reply_chunk_in_segments_is_filled_in_order)
{
	struct fabric_key *keys[3];

	begin(61, RPCRDMA_MSG);
	for (unsigned i = 0; i < 3; i++)
		keys[i] = raw_lend(raw, NULL, 3000, FABRIC_REMOTE_WRITE);
	set_reply_chunk(keys[0]);
	hdr.segments[hdr.nsegments++] = raw_segment(keys[1]);
	hdr.segments[hdr.nsegments++] = raw_segment(keys[2]);
	hdr.reply_chunk.count = 3;
	hdr.reply_chunk.len_bytes = 9000;
	send_call(RIG_CALL_MIN, 5000);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.count, 3);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 3000);
	ck_assert_uint_eq(hdr.segments[1].len_bytes, 2000);
	ck_assert_uint_eq(hdr.segments[2].len_bytes, 0);
	expect_reply_bytes(keys[0]->mem, 3000, 0, 5000, 61);
	expect_reply_bytes(keys[1]->mem, 2000, 3000, 5000, 61);
}
END_TEST

START_TEST(an_unused_reply_chunk_is_left_out)
{
	begin(62, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 100);
	expect_inline_reply(62, 100);
}
END_TEST

START_TEST(a_reply_that_fits_nowhere_gets_err_chunk)
{
	begin(63, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 63, RPCRDMA_ERR_CHUNK);
	begin(64, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 4999, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 64, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_too_big, 2);
	expect_alive();
}
END_TEST

/* A3.7-1, A3.7-2, A-Δ5: the payload by RDMA, its pad nowhere, the rest inline. */
START_TEST(a_payload_goes_into_its_write_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE);

	payloads[0] = (struct rdma_payload){100, 1001};
	npayloads = 1;
	begin(70, RPCRDMA_MSG);
	add_write(key);
	send_call(RIG_CALL_MIN, 100 + 1004 + 16);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nwrites, 1);
	ck_assert_uint_eq(hdr.segments[0].handle, key->rkey);
	ck_assert_uint_eq(hdr.segments[0].offset, key->addr);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 1001);
	ck_assert_uint_eq(len, 116);
	expect_reply_bytes(body, 100, 0, 1120, 70);
	expect_reply_bytes(body + 100, 16, 1104, 1120, 70);
	expect_reply_bytes(key->mem, 1001, 100, 1120, 70);
	ck_assert_uint_eq(key->mem[1001], 0xee);
}
END_TEST

/* Linux adds a segment of four bytes for the pad of a chunk of odd length (peers.md 2.1). */
START_TEST(a_dummy_segment_for_the_pad_stays_empty)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1001, FABRIC_REMOTE_WRITE);
	struct fabric_key *dummy = raw_lend(raw, NULL, 4, FABRIC_REMOTE_WRITE);

	payloads[0] = (struct rdma_payload){100, 1001};
	npayloads = 1;
	begin(71, RPCRDMA_MSG);
	add_write(key);
	hdr.segments[hdr.nsegments++] = raw_segment(dummy);
	hdr.writes[0].count = 2;
	send_call(RIG_CALL_MIN, 100 + 1004);
	next();
	ck_assert_uint_eq(hdr.writes[0].count, 2);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 1001);
	ck_assert_uint_eq(hdr.segments[1].len_bytes, 0);
	ck_assert_uint_eq(len, 100);
}
END_TEST

START_TEST(unused_write_chunks_come_back_empty)
{
	begin(72, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 100);
	next();
	ck_assert_uint_eq(hdr.nwrites, 2);
	ck_assert_uint_eq(hdr.writes[0].len_bytes + hdr.writes[1].len_bytes, 0);
	ck_assert_uint_eq(hdr.segments[0].offset, raw->keys[0].addr);
	ck_assert_uint_eq(hdr.segments[1].offset, raw->keys[1].addr);
	ck_assert_uint_eq(len, 100);
}
END_TEST

/* A failed op counts with length zero, an empty chunk leaves its result inline (nfs-binding.md 3.1). */
START_TEST(the_nth_payload_takes_the_nth_chunk)
{
	struct fabric_key *first = raw_lend(raw, NULL, 600, FABRIC_REMOTE_WRITE);
	struct fabric_key *third = raw_lend(raw, NULL, 600, FABRIC_REMOTE_WRITE);

	payloads[0] = (struct rdma_payload){100, 0};
	payloads[1] = (struct rdma_payload){200, 400};
	payloads[2] = (struct rdma_payload){700, 500};
	npayloads = 3;
	begin(73, RPCRDMA_MSG);
	add_write(first);
	add_write(NULL);
	add_write(third);
	send_call(RIG_CALL_MIN, 1300);
	next();
	ck_assert_uint_eq(hdr.nwrites, 3);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(hdr.writes[1].count, 0);
	ck_assert_uint_eq(hdr.writes[2].len_bytes, 500);
	ck_assert_uint_eq(len, 800);
	expect_reply_bytes(body, 700, 0, 1300, 73);
	expect_reply_bytes(body + 700, 100, 1200, 1300, 73);
	expect_reply_bytes(third->mem, 500, 700, 1300, 73);
}
END_TEST

START_TEST(a_payload_longer_than_its_chunk_gets_err_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE);

	payloads[0] = (struct rdma_payload){100, 1001};
	npayloads = 1;
	begin(74, RPCRDMA_MSG);
	add_write(key);
	send_call(RIG_CALL_MIN, 1104);
	raw_expect_error(raw, 74, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(key->mem[0], 0xee);
	expect_alive();
}
END_TEST

START_TEST(a_reply_that_cannot_be_followed_is_not_reduced)
{
	npayloads = -22;
	begin(75, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 500);
	next();
	ck_assert_uint_eq(len, 500);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(rig->server.counters.payloads_not_found, 1);
}
END_TEST

START_TEST(write_chunk_and_reply_chunk_work_together)
{
	struct fabric_key *data = raw_lend(raw, NULL, 50000, FABRIC_REMOTE_WRITE);
	struct fabric_key *rest = raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE);

	payloads[0] = (struct rdma_payload){3000, 50000};
	npayloads = 1;
	begin(76, RPCRDMA_MSG);
	add_write(data);
	set_reply_chunk(rest);
	send_call(RIG_CALL_MIN, 3000 + 50000 + 4000);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 50000);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 7000);
	expect_reply_bytes(data->mem, 50000, 3000, 57000, 76);
	expect_reply_bytes(rest->mem, 3000, 0, 57000, 76);
	expect_reply_bytes(rest->mem + 3000, 4000, 53000, 57000, 76);
}
END_TEST

/* C5.1-1 */
START_TEST(the_only_key_of_a_call_is_invalidated)
{
	struct fabric_key *key = raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE);
	const struct raw_recv *recv;

	begin(80, RPCRDMA_MSG);
	set_reply_chunk(key);
	send_call(RIG_CALL_MIN, 9000);
	recv = raw_next(raw);
	ck_assert(recv->invalidated);
	ck_assert_uint_eq(recv->inv_rkey, key->rkey);
	/* Two keys: neither. */
	begin(81, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	add_write(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	hdr.reply_chunk.first = 0;
	hdr.writes[0].first = 1;
	send_call(RIG_CALL_MIN, 9000);
	ck_assert(!raw_next(raw)->invalidated);
}
END_TEST

static void expect_no_invalidation(const uint8_t *pd, size_t n)
{
	open_with(pd, n);
	begin(82, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 9000);
	ck_assert(!raw_next(raw)->invalidated);
}

START_TEST(nothing_is_invalidated_unless_the_client_offers_it)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0xfe, 3, 3};

	expect_no_invalidation(pd, sizeof(pd));
}
END_TEST

START_TEST(nothing_is_invalidated_unless_we_offer_it)
{
	rig->server.config.remote_invalidation = false;
	expect_no_invalidation(pd_4096_inv, sizeof(pd_4096_inv));
}
END_TEST

/* C4.1.1-1, C4.1.2-1, C5.2-2: what does not conform leaves 1024 each way. */
static void expect_threshold(const uint8_t *pd, size_t n, uint32_t threshold)
{
	struct leg_info info;

	open_with(pd, n);
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(info.inline_send_bytes, threshold);
	begin(1, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, threshold - 28);
	expect_inline_reply(1, threshold - 28);
	begin(2, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, threshold - 27);
	raw_expect_error(raw, 2, RPCRDMA_ERR_CHUNK);
}

START_TEST(a_client_without_private_data_gets_the_defaults)
{
	expect_threshold(NULL, 0, 1024);
}
END_TEST

START_TEST(private_data_of_others_is_ignored)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x19, 1, 1, 3, 3};

	expect_threshold(pd, sizeof(pd), 1024);
}
END_TEST

START_TEST(private_data_of_another_version_is_ignored)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 2, 1, 3, 3};

	expect_threshold(pd, sizeof(pd), 1024);
}
END_TEST

START_TEST(padded_private_data_conforms)
{
	uint8_t pd[56] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 1, 1};

	expect_threshold(pd, sizeof(pd), 2048);
}
END_TEST

START_TEST(the_smaller_of_both_ends_is_the_threshold)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 255, 255};

	expect_threshold(pd, sizeof(pd), 4096);
	ck_assert_uint_eq(raw->private_data_bytes, 8);
	ck_assert_uint_eq(raw->private_data[6], 3);
	ck_assert_uint_eq(raw->private_data[7], 3);
}
END_TEST

/* D2.4-2, X-3: no field of it is used, and nothing is said. */
START_TEST(sends_too_short_for_their_kind_are_discarded)
{
	uint8_t bytes[80];

	for (size_t n = 0; n < 28 + 40; n++) {
		begin(90, RPCRDMA_MSG);
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
		rig_fill_call(bytes + 28, 44, 90, 100);
		raw_send(raw, bytes, n);
		expect_silence();
	}
	ck_assert_uint_eq(rig->server.counters.short_discarded, 68);
	ck_assert_uint_le(rig->server.notes, 16);
	expect_alive();
}
END_TEST

/* A4.2-1 */
START_TEST(another_version_gets_err_vers_with_the_range)
{
	uint8_t bytes[128];

	begin(91, RPCRDMA_MSG);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
	rig_fill_call(bytes + 28, 44, 91, 100);
	xdr_store_u32(bytes + 4, 2);
	raw_send(raw, bytes, 72);
	raw_expect_error(raw, 91, RPCRDMA_ERR_VERS);
	raw->nread--;
	next();
	ck_assert_uint_eq(hdr.vers_low, 1);
	ck_assert_uint_eq(hdr.vers_high, 1);
	/* A Reply or an error of another version is nothing to answer. */
	xdr_store_u32(bytes + 32, 1);
	raw_send(raw, bytes, 72);
	xdr_store_u32(bytes + 12, RPCRDMA_ERROR);
	raw_send(raw, bytes, 72);
	expect_silence();
	expect_alive();
}
END_TEST

/* A4.1-4, A-Δ1 */
START_TEST(unknown_and_reserved_types_get_err_chunk)
{
	uint8_t bytes[128];

	begin(92, RPCRDMA_MSGP);
	hdr.align = hdr.thresh = 4;
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 36);
	rig_fill_call(bytes + 36, 44, 92, 100);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	xdr_store_u32(bytes + 12, 5);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	xdr_store_u32(bytes + 12, 0xffffffff);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* A3.8-2, A-Δ2, A4.2-3: no loops. */
START_TEST(dones_and_errors_are_never_answered)
{
	begin(93, RPCRDMA_DONE);
	raw_send_header(raw, &hdr, NULL, 0);
	begin(94, RPCRDMA_ERROR);
	for (uint32_t err = 0; err < 4; err++) {
		hdr.error = err;
		raw_send_header(raw, &hdr, NULL, 0);
	}
	expect_silence();
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 1);
	expect_alive();
}
END_TEST

/* A4.3-1, A4.3-2 */
START_TEST(lists_that_do_not_decode_get_err_chunk)
{
	uint8_t bytes[256];

	for (unsigned word = 0; word < 3; word++) {
		begin(95, RPCRDMA_MSG);
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
		rig_fill_call(bytes + 28, 44, 95, 100);
		xdr_store_u32(bytes + 16 + 4 * word, 2); /* neither 0 nor 1 */
		raw_send(raw, bytes, 72);
		raw_expect_error(raw, 95, RPCRDMA_ERR_CHUNK);
		xdr_store_u32(bytes + 16 + 4 * word, 1); /* and nothing there */
		raw_send(raw, bytes, 72);
		raw_expect_error(raw, 95, RPCRDMA_ERR_CHUNK);
	}
	/* A count whose product with 16 wraps. */
	begin(96, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 16, FABRIC_REMOTE_WRITE));
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 52);
	xdr_store_u32(bytes + 24, 0x10000001);
	raw_send(raw, bytes, 100);
	raw_expect_error(raw, 96, RPCRDMA_ERR_CHUNK);
	/* A segment that wraps. */
	xdr_store_u32(bytes + 24, 1);
	xdr_store_u64(bytes + 36, UINT64_MAX - 3);
	raw_send(raw, bytes, 100);
	raw_expect_error(raw, 96, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* */
START_TEST(an_xid_that_differs_from_the_calls_gets_err_chunk)
{
	uint8_t call[1024];

	rig_fill_call(call, RIG_CALL_MIN, 98, 100);
	begin(97, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, RIG_CALL_MIN);
	raw_expect_error(raw, 97, RPCRDMA_ERR_CHUNK);
	begin(99, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, RIG_CALL_MIN, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 99, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.xid_mismatches, 2);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(what_is_no_rpc_message_gets_err_chunk)
{
	uint8_t call[1024];

	rig_fill_call(call, 100, 100, 100);
	xdr_store_u32(call + 4, 2); /* neither CALL nor REPLY */
	begin(100, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	raw_expect_error(raw, 100, RPCRDMA_ERR_CHUNK);
	xdr_store_u32(call + 4, 1); /* a Reply in a read chunk */
	begin(101, RPCRDMA_NOMSG);
	xdr_store_u32(call, 101);
	add_read(0, raw_lend(raw, call, 100, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 101, RPCRDMA_ERR_CHUNK);
	/* Too short to be a Call. */
	begin(102, RPCRDMA_NOMSG);
	rig_fill_call(call, 44, 102, 100);
	add_read(0, raw_lend(raw, call, 12, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 102, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

static void expect_denied(uint32_t xid, uint32_t reject_stat, uint32_t detail)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(xdr_load_u32(body), xid);
	ck_assert_uint_eq(xdr_load_u32(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(xdr_load_u32(body + 12), reject_stat);
	ck_assert_uint_eq(xdr_load_u32(body + 16), detail);
}

START_TEST(rpc_errors_are_answered_by_rpc)
{
	uint8_t call[1024];

	rig_fill_call(call, 100, 103, 100);
	xdr_store_u32(call + 8, 3);
	begin(103, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	expect_denied(103, 0, 2); /* RPC_MISMATCH, low 2 */
	rig_fill_call(call, 100, 104, 100);
	xdr_store_u32(call + 28, 401); /* an auth body over 400 bytes */
	begin(104, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	expect_denied(104, 1, 1); /* AUTH_ERROR, AUTH_BADCRED */
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(auth_tls_is_denied_and_never_passed_on)
{
	uint8_t call[1024];

	rig_fill_call(call, 44, 105, 100);
	xdr_store_u32(call + 24, RPC_AUTH_TLS);
	begin(105, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 44);
	next();
	ck_assert_uint_eq(xdr_load_u32(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(xdr_load_u32(body + 12), 1);
	ck_assert_uint_eq(rig->server.counters.tls_denied, 1);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(an_xid_in_flight_used_again_closes)
{
	rig->server.hold = true;
	raw_post_call(raw, 106, 60, 100);
	raw_post_call(raw, 106, 60, 100);
	expect_closed(LEG_CLOSE_XID_REUSED);
}
END_TEST

START_TEST(an_xid_answered_may_be_used_again)
{
	for (int i = 0; i < 3; i++) {
		begin(107, RPCRDMA_MSG);
		send_call(RIG_CALL_MIN, 100);
		expect_inline_reply(107, 100);
	}
}
END_TEST

static void expect_fault_answer(enum exchange_fault fault, bool err_chunk)
{
	rig->server.answer_fault = fault;
	begin(110 + fault, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 100, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 100);
	if (err_chunk) {
		raw_expect_error(raw, 110 + fault, RPCRDMA_ERR_CHUNK);
		return;
	}
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nwrites, 1);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(len, 24);
	ck_assert_uint_eq(xdr_load_u32(body + 8), RPC_MSG_ACCEPTED);
	ck_assert_uint_eq(xdr_load_u32(body + 20), RPC_SYSTEM_ERR);
}

START_TEST(faults_are_answered_as_the_table_says)
{
	expect_fault_answer(EXCHANGE_FAULT_ERR_CHUNK, true);
	expect_fault_answer(EXCHANGE_FAULT_TOO_BIG, true);
	expect_fault_answer(EXCHANGE_FAULT_ERR_VERS, false);
	expect_fault_answer(EXCHANGE_FAULT_BAD_REPLY, false);
	expect_fault_answer(EXCHANGE_FAULT_CANT_SEND, false);
	rig->server.answer_fault = EXCHANGE_OK;
	expect_alive();
}
END_TEST

/* Admission: nothing is pulled before it has memory, and nobody passes. */
START_TEST(calls_wait_for_memory_in_order)
{
	struct budget_claim all;
	uint8_t call[2000];

	budget_claim_init(&all, NULL, NULL);
	budget_force(&rig->budget, &all, rig->budget.limit_bytes);
	rig_fill_call(call, 2000, 120, 100);
	begin(120, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 2000, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	begin(121, RPCRDMA_MSG);
	send_call(200, 100);
	ck_assert_uint_eq(rig->server.calls, 0);
	ck_assert_uint_eq(rig->server.counters.memory_waits, 2);
	ck_assert_uint_eq(rig->server.counters.read_chunk_bytes_pulled, 0);
	budget_release(&all);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 2);
	expect_inline_reply(121, 100); /* the other one has to be pulled first */
	expect_inline_reply(120, 100);
	expect_alive();
}
END_TEST

START_TEST(calls_that_wait_for_memory_end_with_the_connection)
{
	struct budget_claim all;

	budget_claim_init(&all, NULL, NULL);
	budget_force(&rig->budget, &all, rig->budget.limit_bytes);
	begin(122, RPCRDMA_MSG);
	send_call(200, 100);
	ck_assert_uint_eq(rig->budget.waiting, 1);
	leg_close(rig->server.leg, LEG_CLOSE_FATE);
	rig_run(rig);
	ck_assert_uint_eq(rig->budget.waiting, 0);
	budget_release(&all);
}
END_TEST

START_TEST(a_peer_that_takes_nothing_is_closed_in_time)
{
	begin(130, RPCRDMA_MSG);
	rig->server.hold = true;
	send_call(RIG_CALL_MIN, 100);
	sim_net_silence(rig->net);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

START_TEST(a_call_in_no_hurry_is_never_stalled)
{
	rig->server.hold = true;
	begin(131, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	rig_run_for(rig, 3600ull * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run(rig);
	expect_inline_reply(131, 100);
}
END_TEST

START_TEST(replies_that_come_after_the_close_are_let_go)
{
	rig->server.hold = true;
	begin(132, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	leg_close(rig->server.leg, LEG_CLOSE_FATE);
	rig_answer_held(&rig->server);
	rig_run(rig);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_FATE);
	expect_silence();
	ck_assert(raw->closed);
	ck_assert_int_eq(raw->why, FABRIC_CLOSE_PEER);
}
END_TEST

START_TEST(short_gather_lists_are_enough)
{
	raw_free(raw);
	rig_end(rig);
	rig = rig_new(&(struct sim_faults){.max_sge = 1});
	rig->server.config.inline_threshold_bytes = 65536;
	raw = raw_new(rig, (const uint8_t[]){0xf6, 0xab, 0x0e, 0x18, 1, 1, 63, 63}, 8);
	raw->params.recv_size_bytes = 70000;
	raw_connect(raw);
	begin(133, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 50000);
	expect_inline_reply(133, 50000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder");
	TCase *tc = tcase_create("open"), *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_checked_fixture(closed, setup_closed, teardown);
	tcase_add_test(tc, an_inline_call_is_answered_inline);
	tcase_add_test(tc, grants_are_never_zero_nor_above_the_receives);
	tcase_add_test(tc, a_client_that_asks_for_less_is_granted_less);
	tcase_add_test(tc, a_client_that_overruns_its_credits_loses_its_connection);
	tcase_add_test(tc, a_read_chunk_lands_at_its_position);
	tcase_add_test(tc, read_chunks_come_in_any_order);
	tcase_add_test(tc, a_position_zero_chunk_is_the_whole_call);
	tcase_add_test(tc, a_position_zero_chunk_and_others_are_merged);
	tcase_add_test(tc, reads_stay_within_the_negotiated_depth);
	tcase_add_test(closed, a_client_that_cannot_be_read_from_gets_err_chunk_for_read_chunks);
	tcase_add_test(tc, read_chunks_that_make_no_message_get_err_chunk);
	tcase_add_test(tc, a_call_over_the_limit_gets_err_chunk_and_no_memory);
	tcase_add_test(tc, a_read_chunk_that_cannot_be_read_closes);
	tcase_add_test(tc, a_long_reply_goes_into_the_reply_chunk);
	tcase_add_test(tc, a_reply_chunk_in_segments_is_filled_in_order);
	tcase_add_test(tc, an_unused_reply_chunk_is_left_out);
	tcase_add_test(tc, a_reply_that_fits_nowhere_gets_err_chunk);
	tcase_add_test(tc, a_payload_goes_into_its_write_chunk);
	tcase_add_test(tc, a_dummy_segment_for_the_pad_stays_empty);
	tcase_add_test(tc, unused_write_chunks_come_back_empty);
	tcase_add_test(tc, the_nth_payload_takes_the_nth_chunk);
	tcase_add_test(tc, a_payload_longer_than_its_chunk_gets_err_chunk);
	tcase_add_test(tc, a_reply_that_cannot_be_followed_is_not_reduced);
	tcase_add_test(tc, write_chunk_and_reply_chunk_work_together);
	tcase_add_test(tc, the_only_key_of_a_call_is_invalidated);
	tcase_add_test(closed, nothing_is_invalidated_unless_the_client_offers_it);
	tcase_add_test(closed, nothing_is_invalidated_unless_we_offer_it);
	tcase_add_test(closed, a_client_without_private_data_gets_the_defaults);
	tcase_add_test(closed, private_data_of_others_is_ignored);
	tcase_add_test(closed, private_data_of_another_version_is_ignored);
	tcase_add_test(closed, padded_private_data_conforms);
	tcase_add_test(closed, the_smaller_of_both_ends_is_the_threshold);
	tcase_add_test(tc, sends_too_short_for_their_kind_are_discarded);
	tcase_add_test(tc, another_version_gets_err_vers_with_the_range);
	tcase_add_test(tc, unknown_and_reserved_types_get_err_chunk);
	tcase_add_test(tc, dones_and_errors_are_never_answered);
	tcase_add_test(tc, lists_that_do_not_decode_get_err_chunk);
	tcase_add_test(tc, an_xid_that_differs_from_the_calls_gets_err_chunk);
	tcase_add_test(tc, what_is_no_rpc_message_gets_err_chunk);
	tcase_add_test(tc, rpc_errors_are_answered_by_rpc);
	tcase_add_test(tc, auth_tls_is_denied_and_never_passed_on);
	tcase_add_test(tc, an_xid_in_flight_used_again_closes);
	tcase_add_test(tc, an_xid_answered_may_be_used_again);
	tcase_add_test(tc, faults_are_answered_as_the_table_says);
	tcase_add_test(tc, calls_wait_for_memory_in_order);
	tcase_add_test(tc, calls_that_wait_for_memory_end_with_the_connection);
	tcase_add_test(tc, a_peer_that_takes_nothing_is_closed_in_time);
	tcase_add_test(tc, a_call_in_no_hurry_is_never_stalled);
	tcase_add_test(tc, replies_that_come_after_the_close_are_let_go);
	tcase_add_test(tc, short_gather_lists_are_enough);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}
