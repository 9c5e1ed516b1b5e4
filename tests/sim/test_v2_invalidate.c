// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that a server leg uses Send with Invalidate exactly when its client's RQREMINV allows it.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

static uint32_t xid = 0x100;

static void setup(void)
{
	v2_begin(NULL);
}

/* A Call that exposes one key, for a Reply that still comes inline. */
static struct fabric_key *call(void)
{
	struct fabric_key *key = raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE);
	struct rpcrdma_header hdr;
	uint8_t bytes[1024];
	size_t n;

	rpcrdma_header_init(&hdr, ++xid, 2, 32, RPCRDMA_MSG);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 9000};
	hdr.segments[hdr.nsegments++] = raw_segment(key);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_call(bytes + n, 100, xid, 200);
	raw_send(raw, bytes, n + 100);
	return key;
}

static void expect_reply(const struct fabric_key *key, bool invalidates)
{
	const struct raw_recv *recv = &raw->recvs[raw->nread];

	v2_next_reply(2, xid, 200);
	/* A5.2-4 */
	ck_assert(v2_hdr.has_reply_chunk);
	ck_assert_uint_eq(v2_hdr.segments[0].handle, key->rkey);
	ck_assert_uint_eq(v2_hdr.reply_chunk.len_bytes, 0);
	ck_assert_int_eq(recv->invalidated, invalidates);
	if (invalidates)
		ck_assert_uint_eq(recv->inv_rkey, key->rkey);
}

static void call_and_expect(bool invalidates)
{
	expect_reply(call(), invalidates);
}

static void expect_described(bool invalidates)
{
	char text[LEG_TEXT_BYTES];

	leg_describe(rig->server.leg, text);
	ck_assert_ptr_nonnull(
		strstr(text, invalidates ? "remote invalidation on" : "remote invalidation off"));
}

static void tell(bool invalidate)
{
	v2_send_upd(XCHAR_RQREMINV, invalidate, false);
}

/* Private data allow it; in version two they count for nothing. */
START_TEST(keys_of_a_peer_without_the_characteristic_are_not_invalidated)
{
	v2_open_server();
	call_and_expect(false);
	ck_assert(v2_leg(&rig->server)->conn.may_invalidate);
}
END_TEST

START_TEST(invalidation_follows_the_last_update)
{
	v2_open_server();
	v2_send_init(1, V2_FIRST_BYTES, _i);
	v2_next_option(XCHAR_INIT);
	call_and_expect(_i);
	expect_described(_i);
	for (unsigned n = 0; n < 3; n++) {
		tell(false);
		call_and_expect(false);
		call_and_expect(false);
		tell(true);
		call_and_expect(true);
		call_and_expect(true);
	}
	ck_assert_uint_eq(rig->server.counters.remote_invalidations_sent, _i ? 7 : 6);
	ck_assert_uint_eq(sim_net_stats(rig->net)->sends_invalidating, _i ? 7 : 6);
}
END_TEST

START_TEST(invalidation_follows_an_update_between_a_call_and_its_reply)
{
	const struct fabric_key *key;

	v2_open_server();
	v2_send_init(1, V2_FIRST_BYTES, !_i);
	v2_next_option(XCHAR_INIT);
	rig->server.hold = true;
	key = call();
	tell(_i);
	v2_silence();
	rig_answer_held(&rig->server);
	v2_run(1);
	expect_reply(key, _i);
}
END_TEST

START_TEST(no_remote_invalidation_unless_configured)
{
	rig->server.config.remote_invalidation = false;
	v2_open_server();
	v2_send_init(1, V2_FIRST_BYTES, true);
	v2_next_option(XCHAR_INIT);
	call_and_expect(false);
}
END_TEST

/* As the client: told by INIT if it is so, and taken for keys of that RPC. */
START_TEST(a_client_leg_accepts_invalidation_as_it_announced)
{
	/* Fewer than raise the Receives: then no key is exposed. */
	const unsigned calls = RECV_SIZING_OFTEN - 1;

	rig->client.config.remote_invalidation = _i & 1;
	rig->server.config.remote_invalidation = _i & 2;
	v2_open();
	for (unsigned n = 0; n < calls; n++)
		rig_call(&rig->client, 100, 100, 9000);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, calls);
	ck_assert_uint_eq(rig->client.counters.remote_invalidations_received, _i == 3 ? calls : 0);
	v2_no_sim_error();
}
END_TEST

START_TEST(a_client_leg_that_announced_none_is_not_invalidated)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[1024];
	size_t n;

	rig->client.config.remote_invalidation = _i;
	v2_open_client();
	rig_call(&rig->client, 100, 100, 9000);
	v2_run(1);
	v2_next_call(2);
	rpcrdma_header_init(&hdr, v2_hdr.xid, 2, 32, RPCRDMA_MSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_reply(bytes + n, 100, v2_hdr.xid);
	raw_send_inv(raw, bytes, n + 100, v2_hdr.segments[0].handle);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, _i);
	ck_assert_uint_eq(rig->client.closed, !_i);
	if (!_i)
		ck_assert_int_eq(rig->client.why, LEG_CLOSE_PROTOCOL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_invalidate");
	TCase *tc = tcase_create("v2_invalidate");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_test(tc, keys_of_a_peer_without_the_characteristic_are_not_invalidated);
	tcase_add_loop_test(tc, invalidation_follows_the_last_update, 0, 2);
	tcase_add_loop_test(tc, invalidation_follows_an_update_between_a_call_and_its_reply, 0, 2);
	tcase_add_test(tc, no_remote_invalidation_unless_configured);
	tcase_add_loop_test(tc, a_client_leg_accepts_invalidation_as_it_announced, 0, 4);
	tcase_add_loop_test(tc, a_client_leg_that_announced_none_is_not_invalidated, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
