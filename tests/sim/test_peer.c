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
#include "tests/sim/quirk_peer.h"

#define MIB (1024u * 1024u)

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

START_TEST(private_data_identify_the_server)
{
	open_peer(PEER_AUTO, shown[_i].sent ? shown[_i].pd : NULL);
	expect_peer(shown[_i].name);
}
END_TEST

/* Servers of the draft have no private data, so that a lack of them shows nothing. */
START_TEST(in_draft03_a_server_without_private_data_is_none_with_quirks)
{
	const char *name = shown[_i].name;

	peer_version_one = DIALECT_DRAFT03;
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
	peer_version_one = DIALECT_DRAFT03;
	open_peer((enum peer_id)_i, NULL);
	expect_peer(peer_profile((enum peer_id)_i)->name);
}
END_TEST

START_TEST(a_configured_peer_is_not_detected)
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

START_TEST(exposed_segments_are_at_most_1_mib)
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

START_TEST(ganesha_gets_a_long_call_in_segments)
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
START_TEST(file_data_are_not_sent_inline)
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
START_TEST(file_data_are_sent_inline_if_enough_data_follow)
{
	expect_inline((enum peer_id)_i, true, 176);
}
END_TEST

START_TEST(paths_are_sent_inline_if_they_fit)
{
	expect_inline((enum peer_id)_i, false, 172);
}
END_TEST

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

START_TEST(solaris_does_not_invalidate_without_permission)
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

int main(void)
{
	Suite *suite = suite_create("peer");
	TCase *tc = tcase_create("peer");

	tcase_add_checked_fixture(tc, setup_peer, teardown_peer);
	tcase_add_loop_test(tc, private_data_identify_the_server, 0, ARRAY_SIZE(shown));
	tcase_add_loop_test(tc, in_draft03_a_server_without_private_data_is_none_with_quirks, 0,
			    ARRAY_SIZE(shown));
	tcase_add_loop_test(tc, in_draft03_what_is_configured_counts, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc, a_configured_peer_is_not_detected, PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, only_a_server_has_a_profile);
	tcase_add_loop_test(tc, a_reply_chunk_for_ganesha_or_chimera_has_1_mib_at_most,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, a_read_from_them_is_offered_a_write_chunk_whatever_ddp_says,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, a_write_to_them_has_its_data_in_a_chunk_whatever_ddp_says,
			    PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, exposed_segments_are_at_most_1_mib, PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_test(tc, ganesha_gets_a_long_call_in_segments);
	tcase_add_loop_test(tc, file_data_are_not_sent_inline, PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, file_data_are_sent_inline_if_enough_data_follow, PEER_GANESHA,
			    PEER_CHIMERA + 1);
	tcase_add_loop_test(tc, paths_are_sent_inline_if_they_fit, PEER_GANESHA, PEER_CHIMERA + 1);
	tcase_add_test(tc, chimera_gets_no_long_call_without_a_payload);
	tcase_add_test(tc, solaris_is_sent_no_private_data_and_1024_bytes_at_most);
	tcase_add_loop_test(tc, all_but_solaris_are_sent_private_data, PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, solaris_does_not_invalidate_without_permission);
	tcase_add_test(tc, linux_may_invalidate_though_its_flag_is_clear);
	tcase_add_loop_test(tc, nothing_is_held_back_from_the_others, 0, ARRAY_SIZE(unrestricted));
	tcase_add_test(tc, strict_closes_when_a_key_is_invalidated_without_both_flags);
	tcase_add_test(tc, strict_takes_an_invalidation_that_both_offered);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
