// SPDX-License-Identifier: BSD-3-Clause
/* Two RDMA legs face to face: what a Call and its Reply may be, in both directions. */
#include "tests/lib/test.h"
#include "tests/sim/rig.h"

START_TEST(a_null_call_works_both_ways)
{
	struct rig *rig = rig_open(NULL);

	rig_call(&rig->client, RIG_CALL_MIN, RIG_REPLY_MIN, 1000);
	rig_call(&rig->server, RIG_CALL_MIN, RIG_REPLY_MIN, 1000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_uint_eq(rig->client.calls, 1);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(rig->client.counters.sends_nomsg, 0);
	rig_end(rig);
}
END_TEST

/* Every length around the inline threshold and every pad residue (peers.md 4.1). */
START_TEST(every_size_around_the_threshold_arrives_whole)
{
	struct rig *rig = rig_open(NULL);
	unsigned n = 0;

	for (uint32_t len = 4096 - 64; len <= 4096 + 8; len++) {
		rig_call(&rig->client, len, RIG_REPLY_MIN, RIG_REPLY_MIN);
		rig_call(&rig->client, RIG_CALL_MIN, len, len);
		n += 2;
		rig_run(rig);
	}
	ck_assert_uint_eq(rig->client.answered, n);
	ck_assert_uint_eq(rig->client.wrong, 0);
	rig_end(rig);
}
END_TEST

START_TEST(long_calls_and_replies_go_through_chunks)
{
	struct rig *rig = rig_open(NULL);
	const struct rdma_leg_counters *client = &rig->client.counters;
	const struct rdma_leg_counters *server = &rig->server.counters;

	rig_call(&rig->client, 1024 * 1024, RIG_REPLY_MIN, 200);
	rig_call(&rig->client, RIG_CALL_MIN, 1024 * 1024, 1024 * 1024);
	rig_call(&rig->client, 500000, 300000, RIG_MAX_MSG);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 3);
	ck_assert_uint_eq(rig->client.wrong, 0);
	ck_assert_uint_eq(client->sends_nomsg, 2);
	ck_assert_uint_eq(server->sends_nomsg, 2);
	ck_assert_uint_eq(client->call_chunk_bytes_offered, 1024 * 1024 + 500000);
	ck_assert_uint_eq(server->read_chunk_bytes_pulled, 1024 * 1024 + 500000);
	ck_assert_uint_eq(server->reply_chunk_bytes_pushed, 1024 * 1024 + 300000);
	ck_assert_uint_eq(client->reply_chunk_bytes_taken, 1024 * 1024 + 300000);
	rig_end(rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pair");
	TCase *tc = tcase_create("pair");

	tcase_add_test(tc, a_null_call_works_both_ways);
	tcase_add_test(tc, every_size_around_the_threshold_arrives_whole);
	tcase_add_test(tc, long_calls_and_replies_go_through_chunks);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
