// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests RPCs from a TCP client to a TCP server through two gates and RDMA, and the outcome when a
 * part fails.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define WRITE_BYTES 4098u /* of the row "NFSv4.0 op 38" */
#define STEPS_MAX   1000u /* more than the life below takes on any of the nets */

#define LONG_BYTES  (1u << 20)
#define CUT_STEPS   40u /* of the life of one such */

static struct chain *chain;

static void teardown(void)
{
	if (chain)
		chain_end(chain);
	chain = NULL;
}

static void call(unsigned rpc)
{
	struct chain_end *end =
		chain->book.list[rpc].from == CHAIN_CLIENT ? &chain->client : &chain->server;

	chain_end_call(end, rpc);
}

static void call_row(unsigned from, const char *name)
{
	call(chain_book_add_row(&chain->book, from, name));
}

static void call_write(uint32_t bytes)
{
	call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, bytes, 0));
}

static void call_read(uint32_t bytes)
{
	call(chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, bytes));
}

/* The first Call wakes the chain up. */
static void open_chain(const struct chain_params *params)
{
	chain = chain_new(params);
	chain_connect(chain);
	call_row(CHAIN_CLIENT, "NFSv3 1");
	chain_run(chain, 100);
	ck_assert_uint_eq(chain->client.replies, 1);
	ck_assert_uint_eq(chain->gates[1].bridges, 1);
}

static void expect_all_answered(void)
{
	for (unsigned i = 0; i < chain->book.count; i++) {
		ck_assert_msg(chain->book.list[i].arrived == 1, "Call %u has not come", i);
		ck_assert_msg(chain->book.list[i].answered == 1, "Reply %u has not come", i);
	}
}

static void expect_bridges_gone(void)
{
	for (unsigned i = 0; i < chain->ngates; i++)
		ck_assert_uint_eq(chain->gates[i].bridges_gone, chain->gates[i].bridges);
}

/* ---- a life without failures ---- */

START_TEST(no_server_is_connected_before_the_first_byte)
{
	chain = chain_new(NULL);
	chain_connect(chain);
	chain_run(chain, 1000);
	ck_assert_uint_eq(chain->gates[0].bridges, 1);
	ck_assert_uint_eq(chain->gates[1].bridges, 0);
	ck_assert_ptr_null(chain->server.wire.stream);
}
END_TEST

static void play_row(const struct nfs_row *row, const struct nfs_msg_auth *auth)
{
	struct row_built built;
	unsigned rpc;

	row_build(&built, row, auth);
	rpc = chain_book_add(&chain->book, CHAIN_CLIENT, &built);
	row_free(&built);
	call(rpc);
	chain_run(chain, 10);
	ck_assert_msg(chain->book.list[rpc].answered == 1, "%s: no Reply", row->name);
}

/* That each byte is the one that was sent is for the ends to see. */
START_TEST(each_procedure_and_operation_passes)
{
	static const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 60};
	const struct chain_params params = {.ddp = _i & 1};

	open_chain(&params);
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			play_row(row, _i & 2 ? &krb5 : NULL);
	ck_assert_uint_gt(chain->book.count, 150);
	expect_all_answered();
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).write_chunk_bytes_pushed > 0, _i & 1);
}
END_TEST

START_TEST(a_callback_passes_the_other_way)
{
	open_chain(NULL);
	for (const struct nfs_row *row = rows_cb; row->name; row++)
		if (strcmp(row->name, "NFSv4 NULL"))
			call_row(CHAIN_SERVER, row->name);
	chain_run(chain, 100);
	expect_all_answered();
}
END_TEST

/* Sixteen Calls from the client, and as many from the server. */
static void call_many(unsigned seed)
{
	static const uint32_t sizes[] = {1, 900, 4000, 4097, 65536, 70001, 262144, 1048576};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		call_write(sizes[(i + seed) % ARRAY_SIZE(sizes)]);
		call_read(sizes[(i * 3 + seed) % ARRAY_SIZE(sizes)]);
		call_row(CHAIN_SERVER, "NFSv4.0 callback op 3");
		call_row(CHAIN_SERVER, "NFSv4.0 callback op 4");
	}
}

/* Of every kind at once, with all that is scarce or late on the way but nothing that fails. */
START_TEST(sixteen_calls_in_flight_pass_whatever_the_pace)
{
	const struct pair_faults slow = {
		.seed = (uint64_t)_i + 1,
		.max_delay_us = 700,
		.short_reads = true,
		.short_writes = true,
	};
	const struct chain_params params = {
		.client = slow,
		.server = slow,
		.fabric = {.seed = (uint64_t)_i + 1, .max_delay_us = 700, .async_unbind = _i & 2},
		.ddp = _i & 1,
	};

	open_chain(&params);
	chain->client.wire.fragment_bytes = 30000;
	call_many((unsigned)_i);
	chain_run(chain, 5000);
	expect_all_answered();
}
END_TEST

START_TEST(calls_wait_for_memory_and_are_answered)
{
	const struct chain_params params = {.budget_bytes = 3u << 20, .ddp = _i};

	open_chain(&params);
	call_many(0);
	chain_run(chain, 5000);
	expect_all_answered();
	ck_assert_uint_gt(gate_tcp(&chain->gates[0]).budget_waits, 0);
}
END_TEST

/* ---- one look at each COMPOUND ---- */

static void expect_walked_once(const struct chain_gate *gate, unsigned compounds, uint64_t ops)
{
	ck_assert_uint_eq(gate->compounds, compounds);
	ck_assert_uint_eq(gate->ops, ops);
	ck_assert_uint_eq(gate->steps, ops);
	ck_assert_uint_eq(gate->wasted_bytes, 0);
}

/*
 * Whoever moves the bytes of a Call or Reply, those that one proxy sent are those that the other
 * received.
 */
static void expect_both_ends_count_alike(void)
{
	struct bridge_info near, far;

	bridge_info_get(bridge_next(&chain->gates[0].ws, NULL), &near);
	bridge_info_get(bridge_next(&chain->gates[1].ws, NULL), &far);
	ck_assert(near.has_server && far.has_client);
	ck_assert_uint_gt(near.server.bytes_sent, WRITE_BYTES);
	ck_assert_uint_eq(near.server.bytes_sent, far.client.bytes_received);
	ck_assert_uint_gt(near.server.bytes_received, 0);
	ck_assert_uint_eq(near.server.bytes_received, far.client.bytes_sent);
}

/*
 * SEQUENCE, PUTROOTFH and one more each, at the TCP origin of gate 0 and the RDMA origin of gate 1.
 */
START_TEST(a_compound_is_walked_once_by_each_gate)
{
	static const char *const names[] = {"NFSv4.1 op 41", "NFSv4.1 op 43", "NFSv4.1 op 53"};
	const struct chain_params params = {.ddp = _i};
	unsigned write;

	open_chain(&params);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		call_row(CHAIN_CLIENT, names[i]);
	chain_run(chain, 100);
	expect_all_answered();
	expect_walked_once(&chain->gates[0], 3, 9);
	expect_walked_once(&chain->gates[1], 3, 9);
	/* PUTROOTFH and WRITE, which with DDP is an RDMA_MSG with a read chunk, and READ. */
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).read_chunk_bytes_pulled, 0);
	write = chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv4.0 op 38");
	call(write);
	call_row(CHAIN_CLIENT, "NFSv4.0 op 25");
	chain_run(chain, 100);
	expect_all_answered();
	expect_walked_once(&chain->gates[0], 5, 13);
	expect_walked_once(&chain->gates[1], 5, 13);
	/* Only the payload, or the whole Call. */
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).read_chunk_bytes_pulled,
			  _i ? WRITE_BYTES : chain->book.list[write].call_bytes);
	expect_both_ends_count_alike();
}
END_TEST

/* ---- ends that go ---- */

static void call_some_and_hold(void)
{
	open_chain(NULL);
	chain->server.hold = true;
	call_row(CHAIN_CLIENT, "NFSv3 1");
	call_write(100000);
	call_read(100000);
	chain_run(chain, 100);
	ck_assert_uint_eq(chain->server.calls, 4);
	ck_assert_uint_eq(chain->client.replies, 1);
}

START_TEST(a_client_that_sends_no_more_still_gets_its_replies)
{
	call_some_and_hold();
	record_end_shutdown(&chain->client.wire);
	chain_run(chain, 1000);
	ck_assert_uint_eq(chain->gates[0].bridges_gone, 0);
	chain_end_answer(&chain->server);
	chain_run(chain, 1000);
	expect_all_answered();
	ck_assert(chain->client.wire.got_end);
	expect_bridges_gone();
	ck_assert_uint_eq(chain_closes(chain, 0, LEG_CLOSE_PEER), 1);
	ck_assert_uint_eq(chain_closes(chain, 1, LEG_CLOSE_LOST), 1);
}
END_TEST

START_TEST(a_client_that_resets_takes_the_whole_chain_with_it)
{
	call_some_and_hold();
	record_end_close(&chain->client.wire, true);
	chain_run(chain, 1000);
	expect_bridges_gone();
	ck_assert_uint_eq(chain_closes(chain, 0, LEG_CLOSE_LOST), 1);
	ck_assert_uint_eq(chain_closes(chain, 1, LEG_CLOSE_LOST), 1);
	ck_assert(chain->server.wire.is_over);
}
END_TEST

START_TEST(a_server_that_resets_takes_the_whole_chain_with_it)
{
	call_some_and_hold();
	record_end_close(&chain->server.wire, true);
	chain_run(chain, 5000);
	expect_bridges_gone();
	ck_assert_uint_eq(chain_closes(chain, 1, LEG_CLOSE_LOST), 1);
	ck_assert_uint_eq(chain_closes(chain, 0, LEG_CLOSE_PEER), 1);
	ck_assert(chain->client.wire.is_over);
	ck_assert_uint_eq(chain->client.replies, 1);
}
END_TEST

/* Nobody says goodbye. That all is released is for chain_end() to see. */
START_TEST(gates_that_do_not_reach_each_other_any_more_give_up)
{
	if (_i)
		call_some_and_hold();
	else
		open_chain(NULL);
	chain_run(chain, 3 * CHAIN_KEEPALIVE_S * 1000);
	ck_assert_uint_eq(chain->gates[0].bridges_gone + chain->gates[1].bridges_gone, 0);
	sim_net_part(chain->fabric_net);
	chain_run(chain, 2 * CHAIN_KEEPALIVE_S * 1000);
	expect_bridges_gone();
	for (unsigned gate = 0; gate < 2; gate++)
		ck_assert_uint_eq(chain_closes(chain, gate, LEG_CLOSE_SILENT), 1);
	ck_assert(chain->client.wire.is_over);
	ck_assert(chain->server.wire.is_over);
}
END_TEST

START_TEST(draining_the_client_finishes_calls_in_flight_and_accepts_no_more)
{
	call_some_and_hold();
	leg_drain(chain->gates[0].client->leg);
	chain_run(chain, 1000);
	call_row(CHAIN_CLIENT, "NFSv3 1");
	chain_run(chain, 1000);
	ck_assert_uint_eq(chain->server.calls, 4);
	ck_assert_uint_eq(chain->gates[0].bridges_gone, 0);
	chain_end_answer(&chain->server);
	chain_run(chain, 5000);
	ck_assert_uint_eq(chain->client.replies, 4);
	ck_assert_uint_eq(chain->book.list[4].arrived, 0);
	expect_bridges_gone();
	ck_assert_uint_eq(chain_closes(chain, 0, LEG_CLOSE_SHUTDOWN), 1);
}
END_TEST

/* ---- cut at every step ---- */

static void live(void)
{
	chain_connect(chain);
	call_row(CHAIN_CLIENT, "NFSv3 1");
	call_write(9000);
	call_read(70000);
	call_row(CHAIN_CLIENT, "NFSv4.0 op 38");
	chain_run(chain, 100);
	if (chain->server.wire.stream && !chain->server.wire.is_over)
		call_row(CHAIN_SERVER, "NFSv4.0 callback op 3");
	call_read(1000);
	chain_run(chain, 60000);
}

/* An end that is not connected yet has nothing to reset. */
static void reset_client(void *arg)
{
	record_end_close(&chain->client.wire, true);
}

static void reset_server(void *arg)
{
	record_end_close(&chain->server.wire, true);
}

enum cut { CUT_CLIENT, CUT_FABRIC, CUT_SERVER, RESET_CLIENT, RESET_SERVER, CUTS };

static void set_cut(struct chain_params *params, enum cut cut, unsigned step)
{
	switch (cut) {
	case CUT_CLIENT:
		params->client.cut_at_step = step;
		break;
	case CUT_FABRIC:
		params->fabric.cut_at_step = step;
		break;
	case CUT_SERVER:
		params->server.cut_at_step = step;
		break;
	case RESET_CLIENT:
		params->client.hook_at_step = step;
		params->client.hook = reset_client;
		break;
	default:
		params->server.hook_at_step = step;
		params->server.hook = reset_server;
	}
}

/* Steps of the net that is cut, so far. */
static unsigned steps_of(enum cut cut)
{
	if (cut == CUT_FABRIC)
		return sim_net_stats(chain->fabric_net)->steps;
	return pair_net_steps(cut == CUT_CLIENT || cut == RESET_CLIENT ? chain->client_net
								       : chain->server_net);
}

/*
 * chain_end() sees to the rest: one closing() and one closed() of each leg, nothing left, no Reply
 * twice.
 */
START_TEST(a_cut_at_every_step_ends_both_bridges_and_leaves_nothing)
{
	enum cut cut = _i / 2;
	bool was_cut = true;
	unsigned step;

	for (step = 1; was_cut; step++) {
		struct chain_params params = {
			.client = {.max_read_bytes = 5000, .max_write_bytes = 5000},
			.server = {.max_read_bytes = 5000, .max_write_bytes = 5000},
			.fabric = {.seed = step},
			.ddp = _i % 2,
		};

		ck_assert_uint_lt(step, STEPS_MAX);
		set_cut(&params, cut, step);
		chain = chain_new(&params);
		live();
		was_cut = steps_of(cut) >= step;
		if (was_cut && (cut < RESET_CLIENT || chain->client.wire.is_over))
			expect_bridges_gone();
		else
			expect_all_answered();
		chain_end(chain);
		chain = NULL;
	}
	ck_assert_uint_gt(step, 20);
}
END_TEST

/*
 * One gate has TCP on both sides; of two the last one writes the payload, if it is offered a chunk
 * for it.
 */
START_TEST(a_long_reply_is_delivered_in_parts)
{
	const struct chain_params params = {.gates = _i < 3 ? _i : 2, .ddp = _i == 3};
	unsigned rpc;

	chain = chain_new(&params);
	chain_connect(chain);
	rpc = chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, LONG_BYTES);
	call(rpc);
	call_read(1000);
	chain_run(chain, 5000);
	expect_all_answered();
	ck_assert_uint_gt(chain_last(chain)->server->more_events, 1);
	ck_assert_uint_eq(chain_last(chain)->server->replies, 2);
}
END_TEST

/*
 * Whoever has part of it never takes that for the whole: the ends look at each byte of what is one.
 */
START_TEST(a_long_reply_whose_server_ends_in_the_middle_never_arrives)
{
	uint64_t written = 0;
	unsigned torn = 0;

	for (unsigned step = 1; step < CUT_STEPS; step++) {
		const struct chain_params params = {
			.gates = _i < 3 ? _i : 2, .ddp = _i == 3, .server.cut_at_step = step};

		chain = chain_new(&params);
		chain_connect(chain);
		call_read(LONG_BYTES);
		chain_run(chain, 5000);
		ck_assert_uint_le(chain->book.list[0].answered, 1);
		if (!chain->book.list[0].answered) {
			const struct chain_tap *server = chain_last(chain)->server;

			ck_assert(!server || server->closed);
			torn += server && server->replies;
			written += gate_rdma(chain_last(chain)).write_chunk_bytes_pushed;
		}
		chain_end(chain);
		chain = NULL;
	}
	ck_assert_uint_gt(torn, 0);
	ck_assert(_i < 3 || written > 0);
}
END_TEST

START_TEST(a_long_call_is_delivered_in_parts)
{
	const struct chain_params params = {.gates = _i};

	chain = chain_new(&params);
	chain_connect(chain);
	call_write(LONG_BYTES);
	call_write(1000);
	chain_run(chain, 5000);
	expect_all_answered();
	ck_assert_uint_gt(chain_first(chain)->client->more_events, 1);
}
END_TEST

/* The server sees a whole Call or none. */
START_TEST(a_long_call_whose_client_ends_in_the_middle_never_arrives)
{
	unsigned torn = 0;

	for (unsigned step = 1; step < CUT_STEPS; step++) {
		const struct chain_params params = {.gates = _i, .client.cut_at_step = step};

		chain = chain_new(&params);
		chain_connect(chain);
		call_write(LONG_BYTES);
		chain_run(chain, 5000);
		ck_assert_uint_le(chain->book.list[0].arrived, 1);
		if (!chain->book.list[0].arrived) {
			const struct chain_tap *client = chain_first(chain)->client;

			ck_assert(!client || client->closed);
			torn += client && client->more_events;
		}
		chain_end(chain);
		chain = NULL;
	}
	ck_assert_uint_gt(torn, 0);
}
END_TEST

/*
 * A record of 1 MiB may take as long as it likes, if only 16 KiB come in each stall_timeout_s, of
 * 30 s here.
 */
START_TEST(a_long_call_of_a_slow_client_arrives)
{
	const struct chain_params params = {.gates = _i};
	const struct chain_rpc *rpc;
	uint8_t mark[4];
	unsigned number;
	struct iovec iov = {mark, sizeof(mark)};

	chain = chain_new(&params);
	chain_connect(chain);
	call_row(CHAIN_CLIENT, "NFSv3 1");
	chain_run(chain, 100);
	number = chain_book_add_sized(&chain->book, CHAIN_CLIENT, LONG_BYTES, 0);
	rpc = &chain->book.list[number];
	record_mark_encode(mark, rpc->call_bytes);
	ck_assert_int_eq(stream_writev(chain->client.wire.stream, &iov, 1), 4);
	for (uint32_t at = 0; at < rpc->call_bytes && !chain->client.wire.is_over;) {
		ssize_t n;

		iov = (struct iovec){rpc->call + at, 20 * 1024};
		if (iov.iov_len > rpc->call_bytes - at)
			iov.iov_len = rpc->call_bytes - at;
		n = stream_writev(chain->client.wire.stream, &iov, 1);
		if (n > 0)
			at += n;
		chain_run(chain, 2000);
	}
	chain_run(chain, 5000);
	ck_assert_uint_eq(chain_closes(chain, chain->ngates - 1, LEG_CLOSE_RECORD_STALLED), 0);
	expect_all_answered();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chain");
	TCase *tc = tcase_create("chain");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, a_long_call_of_a_slow_client_arrives, 1, 3);
	tcase_add_test(tc, no_server_is_connected_before_the_first_byte);
	tcase_add_loop_test(tc, each_procedure_and_operation_passes, 0, 4);
	tcase_add_test(tc, a_callback_passes_the_other_way);
	tcase_add_loop_test(tc, sixteen_calls_in_flight_pass_whatever_the_pace, 0, 8);
	tcase_add_loop_test(tc, calls_wait_for_memory_and_are_answered, 0, 2);
	tcase_add_loop_test(tc, a_compound_is_walked_once_by_each_gate, 0, 2);
	tcase_add_test(tc, a_client_that_sends_no_more_still_gets_its_replies);
	tcase_add_test(tc, a_client_that_resets_takes_the_whole_chain_with_it);
	tcase_add_test(tc, a_server_that_resets_takes_the_whole_chain_with_it);
	tcase_add_loop_test(tc, gates_that_do_not_reach_each_other_any_more_give_up, 0, 2);
	tcase_add_test(tc, draining_the_client_finishes_calls_in_flight_and_accepts_no_more);
	tcase_add_loop_test(tc, a_cut_at_every_step_ends_both_bridges_and_leaves_nothing, 0,
			    2 * CUTS);
	tcase_add_loop_test(tc, a_long_reply_is_delivered_in_parts, 1, 4);
	tcase_add_loop_test(tc, a_long_reply_whose_server_ends_in_the_middle_never_arrives, 1, 4);
	tcase_add_loop_test(tc, a_long_call_is_delivered_in_parts, 1, 3);
	tcase_add_loop_test(tc, a_long_call_whose_client_ends_in_the_middle_never_arrives, 1, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
