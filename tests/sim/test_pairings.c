// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests messages in pieces from a leg that delivers them so to each kind of leg: they pass whole,
 * and an aborted message closes the connection to which it was being sent.
 *
 * A stub is that leg, on either side of a bridge, and delivers Calls or Replies. The other side is
 * a TCP leg, or an RDMA leg connected to another gate.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/chain.h"
#include "tests/sim/rig.h"

#define REVERSE_BYTES 2000u /* of a payload in a reverse Call or its Reply, which have no chunks */
#define LARGE_BYTES   100000u              /* … in those that may */
#define BROKEN        LEG_CLOSE_TERMINATED /* the stub's reason, used nowhere else */

/* What the stub stands before. */
static const struct pairing {
	unsigned gates; /* 1: a TCP leg; 2: an RDMA leg */
	bool no_late_reads, ddp;
} pairings[] = {
	{1, false, false}, {2, false, false}, {2, true, false}, {2, false, true}, {2, true, true},
};

/* The stub's side, and the messages that it delivers. */
enum way { CLIENT_CALLS, CLIENT_ANSWERS, SERVER_CALLS, SERVER_ANSWERS, WAYS };

#define CASES ((int)(ARRAY_SIZE(pairings) * WAYS))

static struct chain *chain;
static enum way way;
static bool hurried; /* nothing happens between one piece and the next, or the end */

static void teardown(void)
{
	if (chain)
		chain_end(chain);
	chain = NULL;
}

static bool stub_is_client(void)
{
	return way == CLIENT_CALLS || way == CLIENT_ANSWERS;
}

static bool stub_calls(void)
{
	return way == CLIENT_CALLS || way == SERVER_CALLS;
}

static struct stub_leg *stub(void)
{
	return &chain->stubs[stub_is_client() ? CHAIN_CLIENT : CHAIN_SERVER];
}

/* The end that the stub's messages go to. */
static struct chain_end *far_end(void)
{
	return stub_is_client() ? &chain->server : &chain->client;
}

/* What came there whole: Calls, or Replies. */
static unsigned came(void)
{
	return stub_calls() ? far_end()->calls : far_end()->replies;
}

/* The leg that gets the stub's messages from the fabric, and what it has delivered. */
static const struct chain_tap *peer_leg(void)
{
	return stub_is_client() ? chain_last(chain)->client : chain_first(chain)->server;
}

static unsigned peer_came(void)
{
	return stub_calls() ? peer_leg()->calls : peer_leg()->replies;
}

/* A Call that is whole on all of its way, which a chain needs to come up. */
static void wake(void)
{
	unsigned rpc = chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1");
	const struct chain_rpc *it = &chain->book.list[rpc];
	struct exchange *x;

	if (stub_is_client()) {
		stub_leg_call(stub(), it->call, it->call_bytes, it->call_bytes);
		chain_run(chain, 100);
		ck_assert_uint_eq(stub()->replies, 1);
		return;
	}
	chain_end_call(&chain->client, rpc);
	chain_run(chain, 100);
	x = stub_leg_answer(stub(), it->reply, it->reply_bytes, it->reply_bytes - 1);
	stub_leg_reply_grow(stub(), x, it->reply_bytes);
	chain_run(chain, 100);
	ck_assert_uint_eq(chain->client.replies, 1);
}

static void open_chain(int i)
{
	const struct pairing *pairing = &pairings[i / WAYS];
	struct chain_params params = {
		.gates = pairing->gates,
		.ddp = pairing->ddp,
		.fabric = {.no_late_reads = pairing->no_late_reads},
	};

	way = (enum way)(i % WAYS);
	hurried = false;
	params.stub_client = stub_is_client();
	params.stub_server = !stub_is_client();
	chain = chain_new(&params);
	chain_connect(chain);
	chain_run(chain, 100);
	wake();
	ck_assert_uint_eq(stub()->opened, 1);
}

/* ---- one RPC, with the stub's part of it in pieces ---- */

static struct {
	struct exchange *x;
	const uint8_t *msg;
	uint32_t len_bytes,
		least_bytes; /* least_bytes: with which the message can be delivered first */
	uint32_t reply_sum;
} now;

/* The RPC to be: a small one, or one with a payload on the stub's part. */
static unsigned add_rpc(bool large)
{
	bool forward = way == CLIENT_CALLS || way == SERVER_ANSWERS;
	unsigned from = stub_is_client() == stub_calls() ? CHAIN_CLIENT : CHAIN_SERVER;
	uint32_t bytes = forward ? LARGE_BYTES : REVERSE_BYTES;

	if (large)
		return chain_book_add_sized(&chain->book, from, stub_calls() ? bytes : 0,
					    stub_calls() ? 0 : bytes);
	return chain_book_add_row(&chain->book, from,
				  forward ? "NFSv3 1" : "NFSv4.0 callback op 3");
}

static void prepare(bool large)
{
	unsigned rpc = add_rpc(large);
	const struct chain_rpc *it = &chain->book.list[rpc];
	struct rpc_call_hdr hdr;

	now.msg = stub_calls() ? it->call : it->reply;
	now.len_bytes = stub_calls() ? it->call_bytes : it->reply_bytes;
	now.reply_sum = rig_sum(it->reply, it->reply_bytes);
	now.least_bytes = 1;
	if (!stub_calls()) {
		chain_end_call(far_end(), rpc);
		chain_run(chain, 10);
		return;
	}
	ck_assert_int_eq(rpc_call_decode(it->call, it->call_bytes, &hdr), RPC_OK);
	now.least_bytes = hdr.args_offset;
}

static void give(uint32_t have_bytes)
{
	now.x = stub_calls() ? stub_leg_call(stub(), now.msg, now.len_bytes, have_bytes)
			     : stub_leg_answer(stub(), now.msg, now.len_bytes, have_bytes);
	if (!hurried)
		chain_run(chain, 10);
}

static void grow(uint32_t have_bytes)
{
	if (stub_calls())
		stub_leg_call_grow(stub(), now.x, have_bytes);
	else
		stub_leg_reply_grow(stub(), now.x, have_bytes);
	if (!hurried)
		chain_run(chain, 10);
}

/* Byte by byte at first, then in larger steps, to one byte before the end. */
static uint32_t next_piece(uint32_t have)
{
	uint32_t step = have < now.least_bytes + 4 ? 1 : 1 + (now.len_bytes - have) / 3;

	return have + step < now.len_bytes ? have + step : now.len_bytes - 1;
}

/* Delivers this many pieces of a large message; returns whether there are more before the last. */
static bool give_pieces(unsigned pieces)
{
	uint32_t have = now.least_bytes;

	give(have);
	for (unsigned i = 0; i < pieces && have < now.len_bytes - 1; i++) {
		have = next_piece(have);
		grow(have);
	}
	return have < now.len_bytes - 1;
}

static void expect_passed(unsigned before)
{
	ck_assert_uint_eq(came(), before);
	grow(now.len_bytes);
	chain_run(chain, 10);
	ck_assert_uint_eq(came(), before + 1);
	if (!stub_calls())
		return;
	ck_assert_uint_eq(stub()->replies, came());
	ck_assert_uint_eq(stub()->last_reply_sum, now.reply_sum);
}

START_TEST(a_message_in_two_pieces_passes_wherever_it_is_split)
{
	bool more = true;

	open_chain(_i);
	for (unsigned extra = 0; more; extra++) {
		unsigned before = came();

		prepare(false);
		give(now.least_bytes + extra);
		more = now.least_bytes + extra < now.len_bytes - 1;
		expect_passed(before);
	}
}
END_TEST

/*
 * A Call by read chunk is Read as it arrives, all of it or the data at its end, if the endpoint can
 * wait.
 */
static bool is_read_late(int i)
{
	const struct pairing *pairing = &pairings[i / WAYS];

	return pairing->gates == 2 && !pairing->no_late_reads && way == CLIENT_CALLS;
}

START_TEST(a_large_message_passes_in_many_pieces)
{
	unsigned before;

	open_chain(_i);
	for (int n = 0; n < 3; n++) {
		before = came();
		prepare(true);
		give_pieces(100);
		expect_passed(before);
	}
	ck_assert_int_eq(sim_net_stats(chain->fabric_net)->reads_waited > 0, is_read_late(_i));
}
END_TEST

/* ---- broken off ---- */

static void expect_broken_off(unsigned before, unsigned peer_before)
{
	unsigned stub_gate = stub_is_client() ? 0 : chain->ngates - 1;
	/*
	 * A proxy closes a client connection with FIN, and resets a server connection to free the
	 * port.
	 */
	enum leg_close heard = stub_is_client() ? LEG_CLOSE_LOST : LEG_CLOSE_PEER;

	stub_leg_break(stub(), BROKEN);
	chain_run(chain, 5000);
	for (unsigned i = 0; i < chain->ngates; i++)
		ck_assert_uint_eq(chain->gates[i].bridges_gone, 1);
	ck_assert_uint_eq(came(), before);
	ck_assert(far_end()->wire.is_over);
	ck_assert_uint_eq(chain_closes(chain, stub_gate, BROKEN), 1);
	if (chain->ngates == 1) {
		/* What has not begun to arrive leaves nothing to reset. */
		ck_assert(far_end()->wire.got_reset || hurried);
		return;
	}
	ck_assert_uint_eq(peer_came(), peer_before);
	ck_assert_int_eq(peer_leg()->why, heard);
	ck_assert_uint_eq(chain_closes(chain, !stub_gate, heard), 1);
}

START_TEST(a_small_message_broken_off_at_any_byte_never_arrives)
{
	bool more = true;

	for (unsigned extra = 0; more; extra++) {
		unsigned before, peer_before;

		open_chain(_i);
		prepare(false);
		before = came();
		peer_before = peer_came();
		give(now.least_bytes + extra);
		more = now.least_bytes + extra < now.len_bytes - 1;
		expect_broken_off(before, peer_before);
		teardown();
	}
}
END_TEST

static void break_large(int i, bool in_a_hurry)
{
	bool more = true;

	for (unsigned pieces = 0; more; pieces++) {
		unsigned before, peer_before;

		ck_assert_uint_lt(pieces, 100);
		open_chain(i);
		prepare(true);
		hurried = in_a_hurry;
		before = came();
		peer_before = peer_came();
		more = give_pieces(pieces);
		expect_broken_off(before, peer_before);
		teardown();
	}
}

START_TEST(a_large_message_broken_off_at_any_piece_never_arrives)
{
	break_large(_i, false);
}
END_TEST

START_TEST(pieces_and_the_end_in_one_turn_make_no_message)
{
	break_large(_i, true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pairings");
	TCase *tc = tcase_create("pairings");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, a_message_in_two_pieces_passes_wherever_it_is_split, 0, CASES);
	tcase_add_loop_test(tc, a_large_message_passes_in_many_pieces, 0, CASES);
	tcase_add_loop_test(tc, a_small_message_broken_off_at_any_byte_never_arrives, 0, CASES);
	tcase_add_loop_test(tc, a_large_message_broken_off_at_any_piece_never_arrives, 0, CASES);
	tcase_add_loop_test(tc, pieces_and_the_end_in_one_turn_make_no_message, 0, CASES);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
