// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests inline thresholds from 1 KiB to 256 KiB, equal or different at both ends: each leg posts
 * the size that it advertised, and each limit is used to its last byte.
 */
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

#define KIB 1024u

static const uint32_t thresholds[] = {1 * KIB, 4 * KIB, 8 * KIB, 64 * KIB, 256 * KIB};
#define THRESHOLDS (int)ARRAY_SIZE(thresholds)

static struct rig *rig;

static void open_rig(uint32_t client, uint32_t server, uint32_t version)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.inline_threshold_bytes = client;
	rig->server.config.inline_threshold_bytes = server;
	rig->client.config.highest_version = rig->server.config.highest_version = version;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_ptr_nonnull(rig->client.leg);
	ck_assert_ptr_nonnull(rig->server.leg);
}

static void close_rig(void)
{
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
	rig_end(rig);
}

static const struct rdma_conn *conn_of(const struct rig_side *side)
{
	return &rdma_leg_of(side->leg)->conn;
}

static void posts(const struct rig_side *side, uint32_t bytes)
{
	const struct posted_recvs *recvs = &conn_of(side)->recvs;

	ck_assert_uint_eq(posted_recvs_smallest(recvs), bytes);
	ck_assert_uint_eq(posted_recvs_largest(recvs), bytes);
}

/* C5.2-1; E5.2-3: an end that can speak version two has the size used there without negotiation. */
START_TEST(the_announced_size_is_the_posted_receive_size)
{
	uint32_t told = thresholds[_i];

	open_rig(told, told, 1);
	ck_assert_uint_eq(conn_of(&rig->server)->theirs.recv_bytes, told);
	ck_assert_uint_eq(conn_of(&rig->client)->theirs.recv_bytes, told);
	posts(&rig->client, told);
	posts(&rig->server, told);
	close_rig();
	open_rig(told, told, 2);
	posts(&rig->client, told < 4 * KIB ? 4 * KIB : told);
	posts(&rig->server, told < 4 * KIB ? 4 * KIB : told);
	close_rig();
}
END_TEST

/* An RPC of this form, each byte of which is looked at. */
static void carry(uint32_t call_bytes, uint32_t reply_bytes, uint32_t reply_max)
{
	unsigned answered = rig->client.answered;

	rig_call(&rig->client, call_bytes, reply_bytes, reply_max);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, answered + 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
}

static const int steps[] = {-28, -4, -1, 0, 1, 4, 28};

/* Where only the Call may be long, and where the header has a reply chunk of one segment, too. */
static void calls_around(uint32_t limit)
{
	const struct rdma_leg_counters *client = &rig->client.counters;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(steps); i++) {
		int step = steps[i / 2];
		uint32_t header = i % 2 ? 28 + 4 + 16 : 28, body = limit - header + (uint32_t)step;
		uint64_t inlined = client->sends_msg, long_ones = client->sends_nomsg;
		uint64_t pulled = rig->server.counters.read_chunk_bytes_pulled;

		carry(body, RIG_REPLY_MIN, i % 2 ? 2 * limit : RIG_REPLY_MIN);
		ck_assert_uint_eq(client->sends_msg - inlined, step <= 0);
		ck_assert_uint_eq(client->sends_nomsg - long_ones, step > 0);
		ck_assert_uint_eq(rig->server.counters.read_chunk_bytes_pulled - pulled,
				  step > 0 ? body : 0);
	}
}

/*
 * Where a chunk is offered only if the Reply does not fit, and where one is always offered, which
 * comes back then.
 */
static void replies_around(uint32_t limit)
{
	const struct rdma_leg_counters *server = &rig->server.counters;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(steps); i++) {
		int step = steps[i / 2];
		uint32_t header = i % 2 ? 28 + 4 + 16 : 28, body = limit - header + (uint32_t)step;
		uint64_t inlined = server->sends_msg, long_ones = server->sends_nomsg;
		uint64_t pushed = server->reply_chunk_bytes_pushed;

		carry(RIG_CALL_MIN, body, i % 2 ? 2 * limit : body);
		ck_assert_uint_eq(server->sends_msg - inlined, step <= 0);
		ck_assert_uint_eq(server->sends_nomsg - long_ones, step > 0);
		ck_assert_uint_eq(server->reply_chunk_bytes_pushed - pushed, step > 0 ? body : 0);
	}
}

/* C5.2-2 */
START_TEST(each_limit_is_used_to_its_last_byte)
{
	uint32_t client = thresholds[_i / THRESHOLDS], server = thresholds[_i % THRESHOLDS];
	uint32_t limit = client < server ? client : server;

	open_rig(client, server, 1);
	ck_assert_uint_eq(conn_of(&rig->client)->limits.send_bytes, limit);
	ck_assert_uint_eq(conn_of(&rig->client)->limits.recv_bytes, limit);
	calls_around(limit);
	replies_around(limit);
	close_rig();
}
END_TEST

/* The same of reverse Calls, which have no other way. */
START_TEST(reverse_calls_are_as_long_as_each_limit)
{
	uint32_t client = thresholds[_i / THRESHOLDS], server = thresholds[_i % THRESHOLDS];
	uint32_t limit = client < server ? client : server, room = limit - 28;

	open_rig(client, server, 1);
	carry(RIG_CALL_MIN, RIG_REPLY_MIN, RIG_REPLY_MIN);
	for (uint32_t more = 0; more < 2; more++) {
		rig_call(&rig->server, room + more, RIG_REPLY_MIN, RIG_REPLY_MIN);
		rig_run(rig);
		ck_assert_uint_eq(rig->server.answered, 1);
		ck_assert_uint_eq(rig->server.faults, more);
	}
	rig_call(&rig->server, RIG_CALL_MIN, room, room);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 2);
	close_rig();
}
END_TEST

/* Peers may send less than they take, or take less than they send. */
START_TEST(each_way_has_its_own_limit)
{
	/* Sends of 64 KiB, Receives of 2 KiB; and the reverse. */
	static const uint8_t told[][8] = {{0xf6, 0xab, 0x0e, 0x18, 1, 0, 63, 1},
					  {0xf6, 0xab, 0x0e, 0x18, 1, 0, 1, 63}};
	uint32_t recv = _i ? 2 * KIB : 64 * KIB, send = _i ? 64 * KIB : 2 * KIB;
	struct raw *raw;
	struct leg_info info;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.inline_threshold_bytes = 256 * KIB;
	raw = raw_open_server(rig, told[_i], sizeof(told[_i]));
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.inline_send_bytes, send);
	ck_assert_uint_eq(info.inline_recv_bytes, recv);
	posts(&rig->client, 256 * KIB);
	raw_free(raw);
	rig_end(rig);
}
END_TEST

/* servers send what TCP clients invite, however small the advertised size. */
START_TEST(by_default_callbacks_fit_that_tcp_clients_invite)
{
	static const uint8_t told[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};
	struct raw *raw;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.inline_threshold_bytes = 8 * KIB;
	raw = raw_open_server(rig, told, sizeof(told));
	raw_post_call(raw, 0x56, 4096 + 400, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.last_call_bytes, 4096 + 400);
	ck_assert_uint_eq(rig->client.closed, 0);
	raw_free(raw);
	rig_end(rig);
}
END_TEST

/* A message that fits a Send of 256 KiB goes as that Send alone: no memory is exposed for it. */
START_TEST(a_long_call_and_its_long_reply_are_one_send_each)
{
	open_rig(256 * KIB, 256 * KIB, 1);
	for (unsigned i = 0; i < 20; i++)
		carry(200000, 200000, 200000);
	ck_assert_uint_eq(rig->client.counters.sends_msg, 20);
	ck_assert_uint_eq(rig->server.counters.sends_msg, 20);
	ck_assert_uint_eq(rig->client.counters.keys_lent, 0);
	close_rig();
	/* C4-2: what the last connection could says nothing of the next one. */
	open_rig(256 * KIB, 1 * KIB, 1);
	carry(200000, 200000, 200000);
	ck_assert_uint_eq(rig->client.counters.sends_nomsg, 1);
	ck_assert_uint_eq(rig->server.counters.reply_chunk_bytes_pushed, 200000);
	close_rig();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thresholds");
	TCase *tc = tcase_create("thresholds");

	tcase_add_loop_test(tc, the_announced_size_is_the_posted_receive_size, 0, THRESHOLDS);
	tcase_add_loop_test(tc, each_limit_is_used_to_its_last_byte, 0, THRESHOLDS * THRESHOLDS);
	tcase_add_loop_test(tc, reverse_calls_are_as_long_as_each_limit, 0,
			    THRESHOLDS * THRESHOLDS);
	tcase_add_loop_test(tc, each_way_has_its_own_limit, 0, 2);
	tcase_add_test(tc, by_default_callbacks_fit_that_tcp_clients_invite);
	tcase_add_test(tc, a_long_call_and_its_long_reply_are_one_send_each);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
