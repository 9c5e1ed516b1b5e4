// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg with servers that have quirks: what it sends to each, and how it detects
 * which server it is.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/private_data.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

#define MIB (1024u * 1024u)

static const uint8_t pd_ours[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

static struct peer_cache memory;
static uint64_t client; /* whose connection it is, for that */
static bool ddp;
static enum dialect_id version_one;

/* The client leg, told what the server is, before one with that private data. */
static void open_peer(enum peer_id id, const uint8_t *pd)
{
	rig = rig_new(NULL);
	rig->client.config.version_one = version_one;
	rig->client.config.peer = id;
	rig->client.config.ddp = ddp;
	rig->client.config.peer_cache = &memory;
	rig->client.config.peer_client = client;
	raw = raw_open_server(rig, pd, pd ? 8 : 0);
}

static void setup_peer(void)
{
	fake_nfs_reset();
	memory = (struct peer_cache){0};
	client = 0;
	ddp = false;
	version_one = DIALECT_RFC8166;
	fake_ceiling_bytes = 200;
}

static void teardown_peer(void)
{
	teardown();
}

static void expect_peer(const char *name)
{
	struct leg_info info;

	leg_info(rig->client.leg, &info);
	ck_assert_str_eq(info.peer_profile, name);
	ck_assert_ptr_nonnull(info.peer_why);
}

/* What ends an old NFS-Ganesha: any chunk or segment over 1 MiB. */
static void expect_ganesha_lives(void)
{
	ck_assert_uint_le(call.reply_chunk.len_bytes * call.has_reply_chunk, MIB);
	for (unsigned i = 0; i < call.nwrites; i++)
		ck_assert_uint_le(call.writes[i].len_bytes, MIB);
	for (unsigned i = 0; i < call.nsegments; i++)
		ck_assert_uint_le(call.segments[i].len_bytes, MIB);
	for (unsigned i = 0; i < call.nreads; i++)
		ck_assert_uint_le(call.reads[i].seg.len_bytes, MIB);
}

static void refuse(uint32_t xid)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
}

static const struct {
	const uint8_t pd[8];
	bool sent;
	const char *name;
} shown[] = {
	{{0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3}, true, "linux"},
	{{0xf6, 0xab, 0x0e, 0x18, 1, 0, 7, 7}, true, "linux"},
	{{0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 7}, true, "auto"},
	{{0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3}, true, "auto"},
	{{0xf6, 0xab, 0x0e, 0x18, 2, 0, 3, 3}, true, "ganesha"},
	{{0xf6, 0xab, 0x0e, 0x19, 1, 0, 3, 3}, true, "ganesha"},
	{{0}, false, "ganesha"},
};

START_TEST(the_server_is_what_its_private_data_say)
{
	open_peer(PEER_AUTO, shown[_i].sent ? shown[_i].pd : NULL);
	expect_peer(shown[_i].name);
}
END_TEST

/* Servers of the draft have no private data, so that a lack of them shows nothing. */
START_TEST(in_draft03_a_server_without_private_data_is_none_with_quirks)
{
	const char *name = shown[_i].name;

	version_one = DIALECT_DRAFT03;
	open_peer(PEER_AUTO, shown[_i].sent ? shown[_i].pd : NULL);
	expect_peer(strcmp(name, "ganesha") ? name : "auto");
	/* So it is offered whatever a Reply can need. */
	make_call(RIG_CALL_MIN, MIB, RIG_MAX_MSG);
	next_call();
	ck_assert(call.has_reply_chunk);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, RIG_MAX_MSG);
	ck_assert_uint_eq(rig->client.counters.landings_cut, 0);
}
END_TEST

START_TEST(in_draft03_what_is_configured_counts)
{
	version_one = DIALECT_DRAFT03;
	open_peer((enum peer_id)_i, NULL);
	expect_peer(peer_profile((enum peer_id)_i)->name);
}
END_TEST

START_TEST(what_is_configured_is_not_questioned)
{
	open_peer((enum peer_id)_i, pd_ours);
	expect_peer(peer_profile((enum peer_id)_i)->name);
}
END_TEST

START_TEST(only_a_server_has_a_profile)
{
	struct leg_info info;

	rig = rig_open(NULL);
	leg_info(rig->server.leg, &info);
	ck_assert_ptr_null(info.peer_profile);
	leg_info(rig->client.leg, &info);
	ck_assert_str_eq(info.peer_profile, "auto");
	rig_end(rig);
	open_peer(PEER_AUTO, NULL);
}
END_TEST

/* ntirpc before April 2026. The Reply may still be as long as it has room for. */
START_TEST(a_reply_chunk_for_ganesha_or_chimera_has_1_mib_at_most)
{
	open_peer((enum peer_id)_i, NULL);
	make_call(RIG_CALL_MIN, MIB, RIG_MAX_MSG);
	next_call();
	ck_assert_uint_eq(call.reply_chunk.len_bytes, MIB);
	expect_ganesha_lives();
	ck_assert_uint_eq(rig->client.counters.landings_cut, 1);
	write_reply(MIB);
	send_nomsg();
	expect_answered(1);
}
END_TEST

START_TEST(a_read_from_them_is_offered_a_write_chunk_whatever_ddp_says)
{
	open_peer((enum peer_id)_i, pd_4096);
	ck_assert(!rig->client.config.ddp);
	fake_ceiling_bytes = MIB + 200;
	fake_result_bounds[0] = MIB;
	fake_nresult_bounds = 1;
	make_call(RIG_CALL_MIN, 100, MIB + 200);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	ck_assert_uint_eq(call.writes[0].len_bytes, MIB);
	ck_assert(!call.has_reply_chunk);
	expect_ganesha_lives();
	ck_assert_uint_eq(rig->client.counters.landings_cut, 0);
}
END_TEST

START_TEST(a_write_to_them_has_its_data_in_a_chunk_whatever_ddp_says)
{
	open_peer((enum peer_id)_i, pd_4096);
	fake_call_payloads[0] = (struct rpc_payload){160, MIB};
	fake_ncall_payloads = 1;
	make_call(160 + MIB, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.nreads, 1);
	ck_assert_uint_eq(call.reads[0].position, 160);
	ck_assert_uint_eq(call_len, 160);
	expect_ganesha_lives();
}
END_TEST

START_TEST(they_are_lent_segments_of_1_mib_at_most)
{
	open_peer((enum peer_id)_i, pd_4096);
	fake_call_payloads[0] = (struct rpc_payload){160, MIB + 4};
	fake_ncall_payloads = 1;
	make_call(160 + MIB + 4, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.nreads, 2);
	expect_ganesha_lives();
}
END_TEST

START_TEST(ganesha_is_lent_a_long_call_in_segments)
{
	open_peer(PEER_GANESHA, pd_4096);
	make_call(MIB + 40000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.nreads, 2);
	expect_ganesha_lives();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

/*
 * What ends up in a file when WRITE data come inline, as ntirpc was from April 2025 to April 2026:
 * not they.
 */
START_TEST(they_get_no_file_data_inline)
{
	open_peer((enum peer_id)_i, NULL);
	fake_call_payloads[0] = (struct rpc_payload){160, 6};
	fake_call_writes = true;
	fake_ncall_payloads = 1;
	make_call(172, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.nreads, 1);
	ck_assert_uint_eq(call.reads[0].position, 160);
	ck_assert_uint_eq(call.reads[0].seg.len_bytes, 6);
	ck_assert_uint_eq(call_len, 164);
}
END_TEST

static void expect_inline(enum peer_id id, bool file_data, uint32_t call_bytes)
{
	open_peer(id, pd_4096);
	fake_call_payloads[0] = (struct rpc_payload){160, 6};
	fake_call_writes = file_data;
	fake_ncall_payloads = 1;
	make_call(call_bytes, 100, 100);
	next_call();
	ck_assert_uint_eq(call.nreads, 0);
	ck_assert_uint_eq(call_len, call_bytes);
}

/* It would take what follows for the data. */
START_TEST(they_get_file_data_inline_if_as_much_follows)
{
	expect_inline((enum peer_id)_i, true, 176);
}
END_TEST

START_TEST(they_get_a_path_inline_if_it_fits)
{
	expect_inline((enum peer_id)_i, false, 172);
}
END_TEST

/* The fault is what the TCP client is answered SYSTEM_ERR for. */
static void expect_not_sendable(uint32_t call_bytes)
{
	unsigned faults = rig->client.faults;
	uint64_t before = rig->client.counters.calls_not_sendable;

	make_call(call_bytes, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.faults, faults + 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(rig->client.counters.calls_not_sendable, before + 1);
	ck_assert_uint_eq(rig->client.closed, 0);
}

START_TEST(chimera_gets_no_long_call_without_a_payload)
{
	open_peer(PEER_CHIMERA, NULL);
	expect_not_sendable(5000);
	/* The payload alone is not enough: the rest of the message must fit inline. */
	fake_call_payloads[0] = (struct rpc_payload){160, 3000};
	fake_ncall_payloads = 1;
	expect_not_sendable(5000);
	make_call(3200, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.nreads, 1);
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

static void long_call_is_refused(void)
{
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	refuse(call.xid);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_ERR_CHUNK);
}

static void retry_connect(void)
{
	raw_free(raw);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	rig->client.opened = rig->client.closing = rig->client.closed = 0;
	raw = raw_open_server(rig, NULL, 0);
}

START_TEST(a_server_that_refuses_a_long_call_gets_no_other)
{
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	ck_assert_uint_eq(sends_waiting(), 0); /* nothing is sent twice */
	expect_peer("chimera");
	expect_not_sendable(5000);
	/* Short messages are still carried. */
	make_call(200, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(that_a_server_refuses_long_calls_is_remembered_for_a_while)
{
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	retry_connect();
	expect_peer("chimera");
	expect_not_sendable(5000);
	rig_run_for(rig, PEER_CACHE_US);
	retry_connect();
	expect_peer("ganesha");
	long_call_is_refused();
	expect_peer("chimera");
}
END_TEST

static void connect_as(uint64_t another)
{
	rig->client.config.peer_client = another;
	retry_connect();
}

/* The server may have refused it for what was in it. */
START_TEST(a_refusal_that_one_client_met_is_not_held_against_the_others)
{
	client = 1;
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	expect_peer("chimera");
	connect_as(2);
	expect_peer("ganesha");
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
	/* A server that takes them refuses none for its form. */
	connect_as(1);
	expect_peer("ganesha");
	long_call_is_refused();
	expect_peer("ganesha");
	connect_as(3);
	long_call_is_refused();
	expect_peer("ganesha");
}
END_TEST

START_TEST(a_refusal_that_two_clients_met_is_remembered_for_all)
{
	client = 1;
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	connect_as(2);
	long_call_is_refused();
	connect_as(3);
	expect_peer("chimera");
	expect_not_sendable(5000);
	rig_run_for(rig, PEER_CACHE_US);
	connect_as(1);
	expect_peer("ganesha");
}
END_TEST

static void long_call_is_taken(void)
{
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	reply_inline(call.xid, 100, 32);
}

/* On one connection, which lives for longer than that is remembered. */
START_TEST(a_server_that_goes_on_taking_long_calls_is_remembered_so)
{
	client = 1;
	open_peer(PEER_AUTO, NULL);
	for (unsigned i = 1; i <= 12; i++) {
		long_call_is_taken();
		expect_answered(i);
		rig_run_for(rig, PEER_CACHE_US / 5);
	}
	connect_as(2);
	long_call_is_refused();
	expect_peer("ganesha");
	rig_run_for(rig, PEER_CACHE_US);
	long_call_is_refused();
	expect_peer("chimera");
}
END_TEST

/* Private data show that another server has come to that place. */
START_TEST(private_data_weigh_more_than_what_is_remembered)
{
	atomic_store(&memory.rejects_until_us, UINT64_MAX);
	open_peer(PEER_AUTO, pd_4096);
	expect_peer("linux");
}
END_TEST

static void open_auto(void)
{
	open_peer(PEER_AUTO, NULL);
}

static void open_auto_with_private_data(void)
{
	open_peer(PEER_AUTO, pd_ours);
}

static void open_configured(void)
{
	open_peer(PEER_GANESHA, NULL);
}

/* The Reply could be longer than what it was offered. */
static void open_with_long_reply(void)
{
	open_peer(PEER_AUTO, NULL);
	fake_ceiling_bytes = 1000;
}

static void open_having_taken_one(void)
{
	open_peer(PEER_AUTO, NULL);
	make_call(5000, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}

static const struct {
	void (*open)(void);
	uint32_t call_bytes, reply_max_bytes;
	const char *name;
} refusals[] = {
	{open_auto, 5000, 100, "chimera"},
	{open_auto, 5000, 5000, "chimera"},
	{open_auto, 5000, RIG_MAX_MSG, "chimera"},
	{open_auto, 500, 100, "ganesha"},  /* an inline Call */
	{open_auto, 500, 5000, "ganesha"}, /* whose reply chunk it may be about */
	{open_auto_with_private_data, 5000, 100, "auto"},
	{open_configured, 5000, 100, "ganesha"},
	{open_having_taken_one, 5000, 100, "ganesha"},
	{open_with_long_reply, 5000, 100, "ganesha"},
};

START_TEST(only_a_refusal_that_can_mean_nothing_else_teaches)
{
	refusals[_i].open();
	make_call(refusals[_i].call_bytes, 100, refusals[_i].reply_max_bytes);
	next_call();
	refuse(call.xid);
	expect_peer(refusals[_i].name);
}
END_TEST

START_TEST(a_reply_chunk_that_may_be_too_short_teaches_nothing)
{
	open_peer(PEER_AUTO, NULL);
	fake_ceiling_bytes = 6000;
	make_call(5000, 100, 5000);
	next_call();
	refuse(call.xid);
	expect_peer("ganesha");
	fake_ceiling_bytes = RIG_MAX_MSG;
	make_call(5000, 100, RIG_MAX_MSG);
	next_call();
	refuse(call.xid);
	expect_peer("ganesha");
}
END_TEST

/* It believes that our receives have 1024 bytes, whatever it says of its own. */
START_TEST(solaris_is_sent_no_private_data_and_1024_bytes_at_most)
{
	struct leg_info info;

	open_peer(PEER_SOLARIS, pd_4096);
	ck_assert_uint_eq(raw->private_data_bytes, 0);
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.inline_send_bytes, 1024);
	ck_assert_uint_eq(info.inline_recv_bytes, 1024);
	make_call(1024 - RPCRDMA_MIN_HDR_BYTES, 100, 1024 - RPCRDMA_MIN_HDR_BYTES);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert(!call.has_reply_chunk);
	reply_inline(call.xid, 100, 32);
	make_call(1024, 100, 1024);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert(call.has_reply_chunk);
	write_reply(100);
	send_nomsg();
	expect_answered(2);
}
END_TEST

START_TEST(all_but_solaris_are_sent_private_data)
{
	open_peer((enum peer_id)_i, NULL);
	ck_assert_uint_eq(raw->private_data_bytes,
			  _i == PEER_SOLARIS ? 0 : RPCRDMA_PRIVATE_DATA_BYTES);
}
END_TEST

static void invalidate_unasked(void)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[512];
	size_t n;

	make_call(5000, 100, 100);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_reply(bytes + n, 100, call.xid);
	raw_send_inv(raw, bytes, n + 100, call.reads[0].seg.handle);
}

START_TEST(solaris_was_not_told_that_it_may_invalidate)
{
	open_peer(PEER_SOLARIS, pd_ours);
	invalidate_unasked();
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(linux_may_invalidate_though_its_flag_is_clear)
{
	open_peer(PEER_AUTO, pd_4096);
	expect_peer("linux");
	invalidate_unasked();
	expect_answered(1);
}
END_TEST

static const struct {
	enum peer_id id;
	const uint8_t *pd;
} unrestricted[] = {
	{PEER_AUTO, pd_ours}, {PEER_LINUX, pd_4096}, {PEER_LINUX, NULL}, /* a very old kernel */
	{PEER_STRICT, NULL},  {PEER_SOLARIS, NULL},
};

START_TEST(nothing_is_held_back_from_the_others)
{
	open_peer(unrestricted[_i].id, unrestricted[_i].pd);
	fake_call_payloads[0] = (struct rpc_payload){160, MIB + 4};
	fake_result_bounds[0] = MIB;
	fake_ncall_payloads = fake_nresult_bounds = 1;
	fake_call_writes = true;
	make_call(160 + MIB + 4, 100, RIG_MAX_MSG);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.nreads, 1);
	ck_assert_uint_eq(call.nwrites, 0);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, RIG_MAX_MSG);
	ck_assert_uint_eq(call.reply_chunk.count, 1);
	ck_assert_uint_eq(rig->client.counters.landings_cut, 0);
	write_reply(100);
	send_nomsg();
	expect_answered(1);
	/* Nor is anything moved apart that fits inline. */
	fake_call_payloads[0] = (struct rpc_payload){160, 6};
	make_call(172, 100, 100);
	next_call();
	ck_assert_uint_eq(call.nreads, 0);
	ck_assert_uint_eq(call_len, 172);
}
END_TEST

START_TEST(strict_closes_when_a_key_is_invalidated_without_both_flags)
{
	open_peer(PEER_STRICT, pd_4096);
	invalidate_unasked();
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(strict_takes_an_invalidation_that_both_offered)
{
	open_peer(PEER_STRICT, pd_ours);
	invalidate_unasked();
	expect_answered(1);
}
END_TEST

START_TEST(strict_takes_no_grant_of_zero)
{
	open_peer(PEER_STRICT, pd_ours);
	reply_inline(make_call(100, 100, 100), 100, 0);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

/*
 * A READ before a server that takes payloads in chunks; its write list comes back with that length,
 * or not at all.
 */
static void read_written(enum peer_id id, uint32_t written_bytes, bool returned)
{
	static const uint8_t payload[1004];
	uint8_t reply[128];

	ddp = true;
	open_peer(id, pd_ours);
	fake_ceiling_bytes = 8400;
	fake_result_bounds[0] = 8000;
	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nresult_bounds = fake_nreply_payloads = 1;
	make_call(RIG_CALL_MIN, 100, 8400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	ck_assert_int_eq(raw_write(raw, payload, written_bytes, call.segments[0].handle,
				   call.segments[0].offset),
			 FABRIC_OK);
	call.segments[0].len_bytes = written_bytes;
	call.nwrites = returned;
	call.credit = 32;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
}

START_TEST(strict_takes_no_written_pad)
{
	read_written(PEER_STRICT, 1004, true);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

START_TEST(strict_takes_a_payload_without_its_pad)
{
	read_written(PEER_STRICT, 1001, true);
	ck_assert_uint_eq(rig->client.faults, 0);
	ck_assert_uint_eq(rig->client.answered, 1);
}
END_TEST

START_TEST(strict_takes_no_reply_without_the_write_list_it_offered)
{
	read_written(PEER_STRICT, 0, false);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

/*
 * A READ or a READLINK before a server that takes payloads in chunks; it leaves the write chunk
 * unused, and its data or path come inline.
 */
static void answered_inline(enum peer_id id, bool is_data, uint32_t payload_bytes, bool returned)
{
	uint8_t reply[128];

	ddp = true;
	open_peer(id, pd_ours);
	fake_ceiling_bytes = 8400;
	fake_result_bounds[0] = 8000;
	fake_reply_payloads[0] = (struct rpc_payload){60, payload_bytes};
	fake_nresult_bounds = fake_nreply_payloads = 1;
	fake_call_reads = is_data;
	make_call(RIG_CALL_MIN, 100, 8400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	call.segments[0].len_bytes = 0;
	call.nwrites = returned;
	call.credit = 32;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
}

/* A3.7-1 */
START_TEST(data_beside_an_unused_write_chunk_are_refused)
{
	answered_inline((enum peer_id)_i, true, 40, true);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

START_TEST(data_without_the_write_list_are_refused)
{
	answered_inline((enum peer_id)_i, true, 40, false);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

/* A READ behind the end of the file, or that failed. */
START_TEST(without_data_a_write_chunk_stays_unused)
{
	answered_inline((enum peer_id)_i, true, 0, true);
	expect_answered(1);
}
END_TEST

START_TEST(a_path_beside_an_unused_write_chunk_is_taken_but_by_strict)
{
	answered_inline((enum peer_id)_i, false, 40, true);
	if (_i == PEER_STRICT) {
		expect_fault(EXCHANGE_FAULT_BAD_REPLY);
		return;
	}
	expect_answered(1);
}
END_TEST

START_TEST(draft03_takes_data_beside_an_unused_write_chunk)
{
	version_one = DIALECT_DRAFT03;
	answered_inline(PEER_AUTO, true, 40, true);
	expect_answered(1);
}
END_TEST

/* What strict refuses is taken of everybody else. */
START_TEST(the_others_are_forgiven)
{
	read_written((enum peer_id)_i, 1004, true);
	ck_assert_uint_eq(rig->client.answered, 1);
	teardown_peer();
	setup_peer();
	read_written((enum peer_id)_i, 0, false);
	ck_assert_uint_eq(rig->client.answered, 1);
	reply_inline(make_call(100, 100, 100), 100, 0);
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(rig->client.faults, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer");
	TCase *tc = tcase_create("peers");

	tcase_add_checked_fixture(tc, setup_peer, teardown_peer);
	tcase_add_loop_test(tc, the_server_is_what_its_private_data_say, 0, ARRAY_SIZE(shown));
	tcase_add_loop_test(tc, in_draft03_a_server_without_private_data_is_none_with_quirks, 0,
			    ARRAY_SIZE(shown));
	tcase_add_loop_test(tc, in_draft03_what_is_configured_counts, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc, what_is_configured_is_not_questioned, PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, only_a_server_has_a_profile);
	tcase_add_loop_test(tc, a_reply_chunk_for_ganesha_or_chimera_has_1_mib_at_most,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, a_read_from_them_is_offered_a_write_chunk_whatever_ddp_says,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, a_write_to_them_has_its_data_in_a_chunk_whatever_ddp_says,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, they_are_lent_segments_of_1_mib_at_most, PEER_GANESHA,
			    PEER_CHIMERA + 1);
	tcase_add_test(tc, ganesha_is_lent_a_long_call_in_segments);
	tcase_add_loop_test(tc, they_get_no_file_data_inline, PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, they_get_file_data_inline_if_as_much_follows, PEER_GANESHA,
			    PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, they_get_a_path_inline_if_it_fits, PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_test(tc, chimera_gets_no_long_call_without_a_payload);
	tcase_add_test(tc, a_server_that_refuses_a_long_call_gets_no_other);
	tcase_add_test(tc, that_a_server_refuses_long_calls_is_remembered_for_a_while);
	tcase_add_test(tc, a_refusal_that_one_client_met_is_not_held_against_the_others);
	tcase_add_test(tc, a_refusal_that_two_clients_met_is_remembered_for_all);
	tcase_add_test(tc, a_server_that_goes_on_taking_long_calls_is_remembered_so);
	tcase_add_test(tc, private_data_weigh_more_than_what_is_remembered);
	tcase_add_loop_test(tc, only_a_refusal_that_can_mean_nothing_else_teaches, 0,
			    ARRAY_SIZE(refusals));
	tcase_add_test(tc, a_reply_chunk_that_may_be_too_short_teaches_nothing);
	tcase_add_test(tc, solaris_is_sent_no_private_data_and_1024_bytes_at_most);
	tcase_add_loop_test(tc, all_but_solaris_are_sent_private_data, PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, solaris_was_not_told_that_it_may_invalidate);
	tcase_add_test(tc, linux_may_invalidate_though_its_flag_is_clear);
	tcase_add_loop_test(tc, nothing_is_held_back_from_the_others, 0, ARRAY_SIZE(unrestricted));
	tcase_add_test(tc, strict_closes_when_a_key_is_invalidated_without_both_flags);
	tcase_add_test(tc, strict_takes_an_invalidation_that_both_offered);
	tcase_add_test(tc, strict_takes_no_grant_of_zero);
	tcase_add_test(tc, strict_takes_no_written_pad);
	tcase_add_test(tc, strict_takes_a_payload_without_its_pad);
	tcase_add_test(tc, strict_takes_no_reply_without_the_write_list_it_offered);
	tcase_add_loop_test(tc, data_beside_an_unused_write_chunk_are_refused, PEER_AUTO,
			    PEER_COUNT);
	tcase_add_loop_test(tc, data_without_the_write_list_are_refused, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc, without_data_a_write_chunk_stays_unused, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc, a_path_beside_an_unused_write_chunk_is_taken_but_by_strict,
			    PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, draft03_takes_data_beside_an_unused_write_chunk);
	tcase_add_loop_test(tc, the_others_are_forgiven, PEER_AUTO, PEER_STRICT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
