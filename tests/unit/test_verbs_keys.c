// SPDX-License-Identifier: BSD-3-Clause
/* Tests keys and Receives of the verbs fabric on a fake device. */
#include <errno.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

/*
 * Binds that follow the work request whose done() unbinds their keys: flushed when the endpoint is
 * destroyed, by a completion before that, and both.
 */
START_TEST(keys_may_be_taken_back_while_the_queue_is_flushed)
{
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	buf = buf_get(scene.pool, 100);
	scene.unbind_in_done = true;
	scene_connected();
	ck_assert_int_eq(scene_lend(0, buf), 0);
	scene_post(0, buf);
	ck_assert_int_eq(scene_lend(1, buf), 0);
	ck_assert_int_eq(scene_lend(2, buf), 0);
	scene_post(1, buf);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 5);
	if (_i == 1)
		scene_done(SEQ(1), IBV_WC_WR_FLUSH_ERR, 0);
	if (_i == 2) {
		verbs_fake_done(SEQ(1), IBV_WC_WR_FLUSH_ERR, 0);
		verbs_fake_done(SEQ(2), IBV_WC_WR_FLUSH_ERR, 0);
	}
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(scene.dones, 2);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(fabric_key_unbind(&scene.keys[i]));
	buf_put(buf);
	scene_end();
}
END_TEST

/* ---- keys ---- */

START_TEST(memory_exposed_for_reads_must_be_ready)
{
	struct buf *buf;

	scene_begin(IB, _i ? WINDOWS : 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	ck_assert_int_eq(scene_lend_for(0, buf, 99, FABRIC_REMOTE_READ), -EINVAL);
	ck_assert_int_eq(scene_lend_for(0, buf, 100, FABRIC_REMOTE_READ), 0);
	if (!fabric_key_unbind(&scene.keys[0])) {
		fake_loop_run(scene.loop);
		ck_assert_uint_eq(fake.nsends, 2);
		ck_assert_int_eq(fake.sends[1].wr.opcode, IBV_WR_LOCAL_INV);
		scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
		ck_assert_uint_eq(scene.unbound, 1);
	}
	buf_put(buf);
	scene_ended();
}
END_TEST

/*
 * The peer answers before the bind's own completion is seen; the window is not reused until that
 * is.
 */
START_TEST(a_key_may_be_invalidated_before_its_bind_is_seen_to_complete)
{
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	fake.max_windows = 2;
	buf = buf_get(scene.pool, 100);
	scene_connected();
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake_loop_run(scene.loop);
	verbs_fake_invalidating(scene.keys[0].rkey);
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 8);
	ck_assert(scene.last.invalidated);
	ck_assert_uint_eq(scene.last.inv_rkey, scene.keys[0].rkey);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	ck_assert_int_eq(scene_lend(1, buf), 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.windows, 2);
	ck_assert_uint_eq(fake.nsends, 2);
	ck_assert_int_eq(scene_lend(2, buf), -EAGAIN);
	scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_int_eq(scene_lend(2, buf), 0);
	ck_assert_uint_eq(fake.windows, 2);
	ck_assert_uint_ne(scene.keys[2].rkey, scene.keys[0].rkey);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[1]) && fabric_key_unbind(&scene.keys[2]));
	buf_put(buf);
	scene_end();
}
END_TEST

/* ---- receives ---- */

START_TEST(receives_are_posted_in_order_whatever_their_sizes)
{
	static const uint32_t want[] = {1024, 1024, 64, 64, 5000, 64, 64, 64};

	scene_begin(IB, 0);
	scene_connected();
	fabric_recv_post(scene.ep, 2, 64);
	fabric_recv_post(scene.ep, 1, 5000);
	/* The queue holds eight: the others wait. */
	fabric_recv_post(scene.ep, 4, 64);
	fabric_recv_post(scene.ep, 1, 2000);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nrecvs, 8);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(fake.recv_bytes[i], want[i]);
	for (unsigned i = 0; i < 3; i++) {
		scene_done(fake.recvs[i].wr_id, IBV_WC_SUCCESS, 10);
		ck_assert_uint_eq(scene.last.size_bytes, want[i]);
		ck_assert_uint_eq(scene.last.len_bytes, 10);
	}
	ck_assert_uint_eq(fake.nrecvs, 10);
	ck_assert_uint_eq(fake.recv_bytes[8], 64);
	ck_assert_uint_eq(fake.recv_bytes[9], 2000);
	scene_ended();
}
END_TEST

START_TEST(receives_that_are_posted_early_are_behind_the_initial_ones)
{
	static const uint32_t want[] = {1024, 1024, 64, 64, 5000};

	scene_begin(IB, 0);
	if (_i) {
		verbs_fake_request();
		fake_loop_run(scene.loop);
	} else {
		ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr,
						&scene.params, &scene_events, NULL, &scene.ep),
				 0);
	}
	fabric_recv_post(scene.ep, 2, 64);
	fabric_recv_post(scene.ep, 1, 5000);
	ck_assert_uint_eq(fake.nrecvs, 0);
	if (_i) {
		ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
		fake_loop_run(scene.loop);
	} else {
		scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	}
	ck_assert_uint_eq(fake.nrecvs, 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(fake.recv_bytes[i], want[i]);
	scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	scene_ended();
}
END_TEST

START_TEST(a_receive_of_the_same_size_has_the_same_buffer)
{
	scene_begin(IB, 0);
	scene.params.recv_count = 1;
	scene_connected();
	for (unsigned i = 0; i < 4; i++) {
		/* From the second on, the place that the last one left is used. */
		scene.refill_bytes = 1024;
		scene_done(fake.recvs[fake.nrecvs - 1].wr_id, IBV_WC_SUCCESS, 10);
	}
	ck_assert_uint_eq(fake.nrecvs, 5);
	ck_assert_uint_eq(fake.recv_addrs[2], fake.recv_addrs[0]);
	ck_assert_uint_eq(fake.recv_addrs[4], fake.recv_addrs[0]);
	scene.refill_bytes = 9000;
	scene_done(fake.recvs[4].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(fake.recv_bytes[5], 9000);
	scene.refill_bytes = 0;
	scene_done(fake.recvs[5].wr_id, IBV_WC_SUCCESS, 9000);
	ck_assert_uint_eq(scene.last.size_bytes, 9000);
	scene_ended();
}
END_TEST

START_TEST(a_send_too_long_ends_the_connection)
{
	scene_begin(IB, 0);
	scene_connected();
	scene_done(fake.recvs[0].wr_id, IBV_WC_LOC_LEN_ERR, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_PROTOCOL);
	scene_end();
}
END_TEST

/* ---- Reads ---- */

static void begin_without_reads(enum ibv_transport_type transport)
{
	scene_begin(transport, 0);
	fake.initiator_depth = 0;
	scene_connected();
}

/* The peer accepts none: as on iwarp, such a Read fails at once and nothing else does. */
START_TEST(a_read_that_the_peer_will_never_accept_fails_alone)
{
	struct buf *buf;

	begin_without_reads(_i ? IWARP : IB);
	buf = buf_get(scene.pool, 100);
	scene_post_read(buf);
	ck_assert_uint_eq(scene.dones, 1);
	ck_assert_int_eq(scene.status, FABRIC_ERR_LOCAL);
	ck_assert_uint_eq(fake.nsends, 0);
	ck_assert_uint_eq(scene.closed, 0);
	scene_post(0, buf);
	fake_loop_run(scene.loop);
	scene_done(SEQ(0), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.dones, 2);
	ck_assert_int_eq(scene.status, FABRIC_OK);
	buf_put(buf);
	scene_ended();
}
END_TEST

/* No done() comes from inside of fabric_ep_close(). */
START_TEST(a_read_that_cannot_be_ends_after_a_close_that_follows_it)
{
	struct buf *buf;

	begin_without_reads(IB);
	buf = buf_get(scene.pool, 100);
	scene.read_wr = (struct fabric_wr){
		.op = FABRIC_READ, .nsge = 1, .sge = {{buf, buf->mem, 10}}, .done = scene_on_done};
	ck_assert_int_eq(fabric_post(scene.ep, &scene.read_wr), 0);
	fabric_ep_close(scene.ep);
	ck_assert_uint_eq(scene.dones, 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.dones, 1);
	buf_put(buf);
	scene_ended();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_keys");
	TCase *tc;

	tc = tcase_create("keys");
	tcase_add_loop_test(tc, keys_may_be_taken_back_while_the_queue_is_flushed, 0, 3);
	tcase_add_loop_test(tc, memory_exposed_for_reads_must_be_ready, 0, 2);
	tcase_add_test(tc, a_key_may_be_invalidated_before_its_bind_is_seen_to_complete);
	suite_add_tcase(suite, tc);

	tc = tcase_create("receives");
	tcase_add_test(tc, receives_are_posted_in_order_whatever_their_sizes);
	tcase_add_loop_test(tc, receives_that_are_posted_early_are_behind_the_initial_ones, 0, 2);
	tcase_add_test(tc, a_receive_of_the_same_size_has_the_same_buffer);
	tcase_add_test(tc, a_send_too_long_ends_the_connection);
	suite_add_tcase(suite, tc);
	tc = tcase_create("Reads");
	tcase_add_loop_test(tc, a_read_that_the_peer_will_never_accept_fails_alone, 0, 2);
	tcase_add_test(tc, a_read_that_cannot_be_ends_after_a_close_that_follows_it);
	suite_add_tcase(suite, tc);

	return test_main(suite);
}
