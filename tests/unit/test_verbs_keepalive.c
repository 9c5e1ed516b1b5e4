// SPDX-License-Identifier: BSD-3-Clause
/* Tests keepalive probes of the verbs fabric on a fake device. */
#include <errno.h>

#include "fabric/verbs/verbs_config.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

static const struct verbs_counters *counters(void)
{
	return scene.fabric->counters;
}

START_TEST(a_probe_is_a_write_of_no_bytes)
{
	scene_begin(IB, 0);
	scene_ask();
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), -ENOTCONN);
	scene_answered();
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
		ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
		fake_loop_run(scene.loop);
		ck_assert_uint_eq(fake.nsends, i + 1);
		ck_assert_int_eq(fake.sends[i].wr.opcode, IBV_WR_RDMA_WRITE);
		ck_assert_int_eq(fake.sends[i].wr.num_sge, 0);
		/* The device keeps the time. */
		fake_loop_advance(scene.loop, 100 * SECOND);
		ck_assert_uint_eq(scene.closed, 0);
		scene_done(SEQ(i), IBV_WC_SUCCESS, 0);
	}
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
	fake_loop_run(scene.loop);
	scene_done(SEQ(3), IBV_WC_RETRY_EXC_ERR, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_SILENT);
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), -ENOTCONN);
	ck_assert_uint_eq(counters()->probes, 4);
	ck_assert_uint_eq(counters()->probes_unanswered, 1);
	scene_end();
}
END_TEST

/* Earlier Sends probe as well: the device fails the first that is not acknowledged. */
START_TEST(a_peer_that_acknowledges_nothing_is_silent_without_a_probe)
{
	struct buf *buf;

	scene_begin(IB, 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	scene_post(0, buf);
	fake_loop_run(scene.loop);
	scene_done(SEQ(0), IBV_WC_RETRY_EXC_ERR, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_SILENT);
	ck_assert_uint_eq(counters()->probes_unanswered, 0);
	buf_put(buf);
	scene_end();
}
END_TEST

START_TEST(over_iwarp_only_an_acceptor_that_may_read_probes)
{
	struct fabric_ep_info info;

	scene_begin(IWARP, 0);
	if (_i == 0) {
		scene_connected();
	} else {
		fake.initiator_depth = _i == 1 ? 0 : 1;
		scene_accepted();
	}
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), _i == 2 ? 0 : -EOPNOTSUPP);
	fabric_ep_info(scene.ep, &info);
	ck_assert_int_eq(info.watch, _i == 2 ? FABRIC_KEEPALIVE_PROBE : FABRIC_KEEPALIVE_NONE);
	scene_ended();
}
END_TEST

/*
 * So TCP has bytes in flight, but one such Write at a time: where no more are taken they would pile
 * up.
 */
START_TEST(over_iwarp_an_end_that_cannot_read_uses_tcp_keepalive)
{
	scene_begin(IWARP, 0);
	if (_i) {
		fake.initiator_depth = 0;
		scene_accepted();
	} else {
		scene_connected();
	}
	for (uint64_t i = 0; i < 2; i++) {
		for (int n = 0; n < 2; n++) {
			ck_assert_int_eq(fabric_ep_keepalive(scene.ep), -EOPNOTSUPP);
			fake_loop_run(scene.loop);
			ck_assert_uint_eq(fake.nsends, i + 1);
		}
		ck_assert_int_eq(fake.sends[i].wr.opcode, IBV_WR_RDMA_WRITE);
		ck_assert_int_eq(fake.sends[i].wr.num_sge, 0);
		fake_loop_advance(scene.loop, 100 * SECOND);
		ck_assert_uint_eq(scene.closed, 0);
		scene_done(SEQ(i), IBV_WC_SUCCESS, 0);
	}
	ck_assert_uint_eq(counters()->probes, 0);
	scene_ended();
}
END_TEST

START_TEST(over_iwarp_a_probe_is_one_of_the_reads_that_the_peer_accepts)
{
	struct buf *buf;

	scene_begin(IWARP, 0);
	fake.initiator_depth = 1;
	buf = buf_get(scene.pool, 100);
	scene_accepted();
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
	scene_post_read(buf);
	ck_assert_uint_eq(fake.nsends, 1);
	ck_assert_int_eq(fake.sends[0].wr.opcode, IBV_WR_RDMA_READ);
	ck_assert_int_eq(fake.sends[0].wr.num_sge, 1);
	ck_assert_uint_eq(fake.sends[0].len_bytes, 0);
	ck_assert_uint_ne(fake.sends[0].lkey, fake.recv_lkeys[0]);
	scene_done(SEQ(0) | 1, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(fake.nsends, 2);
	scene_done(SEQ(1) | 1, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.dones, 1);
	fake_loop_advance(scene.loop, 100 * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	buf_put(buf);
	scene_ended();
}
END_TEST

START_TEST(over_iwarp_reads_that_are_out_ask_as_well)
{
	struct buf *buf;

	scene_begin(IWARP, 0);
	buf = buf_get(scene.pool, 100);
	scene_accepted();
	for (uint64_t i = 0; i < 2; i++) {
		scene_post_read(buf);
		ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
		fake_loop_run(scene.loop);
		ck_assert_uint_eq(fake.nsends, i + 1);
		if (i == 0)
			scene_done(SEQ(i) | 1, IBV_WC_SUCCESS, 0);
		fake_loop_advance(scene.loop, 16 * SECOND);
		ck_assert_uint_eq(scene.closed, i);
	}
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_SILENT);
	buf_put(buf);
	scene_end();
}
END_TEST

START_TEST(over_iwarp_a_peer_that_does_not_answer_in_time_is_lost)
{
	scene_begin(IWARP, 0);
	scene_accepted();
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
	fake_loop_advance(scene.loop, 10 * SECOND);
	/* Whatever comes says that it is there. */
	scene_done(fake.recvs[1].wr_id, IBV_WC_SUCCESS, 10);
	fake_loop_advance(scene.loop, 19 * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	fake_loop_advance(scene.loop, 2 * SECOND);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_SILENT);
	ck_assert_uint_eq(counters()->probes_unanswered, 1);
	scene_end();
}
END_TEST

/*
 * What stands ahead of the question has to be taken first, however slowly; what comes behind it
 * proves nothing.
 */
START_TEST(over_iwarp_a_slow_peer_first_accepts_data_before_a_probe)
{
	struct buf *buf;
	uint64_t sent = 0, read;

	scene_begin(IWARP, 0);
	buf = buf_get(scene.pool, 100);
	scene_accepted();
	for (; sent < 3; sent++) {
		scene_post((unsigned)sent, buf);
		fake_loop_run(scene.loop);
	}
	/* The question is a Read of its own (0), or the user's (1). */
	if (_i)
		scene_post_read(buf);
	ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
	fake_loop_run(scene.loop);
	read = sent;
	scene_post(3, buf);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 5);
	ck_assert_int_eq(fake.sends[read].wr.opcode, IBV_WR_RDMA_READ);
	for (uint64_t i = 0; i < sent; i++) {
		fake_loop_advance(scene.loop, 10 * SECOND);
		ck_assert_uint_eq(scene.closed, 0);
		/* While the user's Reads are out it is asked again after a while. */
		if (_i)
			ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
		scene_done(SEQ(i), IBV_WC_SUCCESS, 0);
	}
	fake_loop_advance(scene.loop, 10 * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	if (_i)
		ck_assert_int_eq(fabric_ep_keepalive(scene.ep), 0);
	scene_done(SEQ(read + 1), IBV_WC_SUCCESS, 0);
	fake_loop_advance(scene.loop, 21 * SECOND);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_SILENT);
	buf_put(buf);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_keepalive");
	TCase *tc;

	tc = tcase_create("probes");
	tcase_add_test(tc, a_probe_is_a_write_of_no_bytes);
	tcase_add_test(tc, a_peer_that_acknowledges_nothing_is_silent_without_a_probe);
	tcase_add_loop_test(tc, over_iwarp_only_an_acceptor_that_may_read_probes, 0, 3);
	tcase_add_loop_test(tc, over_iwarp_an_end_that_cannot_read_uses_tcp_keepalive, 0, 2);
	tcase_add_test(tc, over_iwarp_a_probe_is_one_of_the_reads_that_the_peer_accepts);
	tcase_add_test(tc, over_iwarp_reads_that_are_out_ask_as_well);
	tcase_add_test(tc, over_iwarp_a_peer_that_does_not_answer_in_time_is_lost);
	tcase_add_loop_test(tc, over_iwarp_a_slow_peer_first_accepts_data_before_a_probe, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
