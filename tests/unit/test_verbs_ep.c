// SPDX-License-Identifier: BSD-3-Clause
/* Tests endpoints of the verbs fabric on a fake device: their states, set-up and close. */
#include <errno.h>
#include <string.h>

#include "fabric/verbs/pd.h"
#include "fabric/verbs/verbs_config.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

/* ---- tables ---- */

START_TEST(no_endpoint_steps_back)
{
	const struct state_table *table = &verbs_ep_states;

	for (unsigned from = 0; from < table->count; from++)
		for (unsigned to = 0; to <= from; to++)
			ck_assert_msg(!state_can_follow(table, from, to), "%s to %s",
				      state_name(table, from), state_name(table, to));
}
END_TEST

START_TEST(every_endpoint_comes_to_its_end)
{
	const struct state_table *table = &verbs_ep_states;

	for (unsigned from = 0; from < table->count; from++) {
		ck_assert_int_eq(table->rows[from].next == 0, from == VERBS_CLOSED);
		if (!verbs_state_over(from))
			ck_assert(state_can_follow(table, from, VERBS_DESTROY_PENDING));
		for (unsigned to = 0; verbs_state_over(from) && to < table->count; to++)
			ck_assert(!state_can_follow(table, from, to) || verbs_state_over(to));
	}
	ck_assert(state_can_follow(table, VERBS_CONNECTING, VERBS_CM_ABORT));
	ck_assert(state_can_follow(table, VERBS_CM_ABORT, VERBS_THREAD_WAIT));
}
END_TEST

START_TEST(only_iwarp_setups_in_progress_are_abandoned)
{
	for (unsigned state = 0; state < verbs_ep_states.count; state++) {
		bool setting_up = state == VERBS_CONNECTING || state == VERBS_ACCEPTED;

		ck_assert_int_eq(verbs_cm_end(state, true) == VERBS_CM_END_WAIT, setting_up);
		ck_assert_int_ne(verbs_cm_end(state, false), VERBS_CM_END_WAIT);
		ck_assert(verbs_cm_end(state, true) != VERBS_CM_END_WAIT ||
			  state_can_follow(&verbs_ep_states, state, VERBS_CM_ABORT));
	}
	ck_assert_int_eq(verbs_cm_end(VERBS_RESOLVING, true), VERBS_CM_END_SILENT);
	ck_assert_int_eq(verbs_cm_end(VERBS_REQUESTED, true), VERBS_CM_END_REJECT);
	ck_assert_int_eq(verbs_cm_end(VERBS_OPEN, true), VERBS_CM_END_DISCONNECT);
}
END_TEST

START_TEST(every_key_gets_free)
{
	const struct state_table *table = &verbs_key_states;

	for (unsigned from = 1; from < table->count; from++) {
		bool bind_is_out = from == VERBS_KEY_BINDING || from == VERBS_KEY_INVALIDATED_EARLY;

		ck_assert_uint_ne(table->rows[from].next, 0);
		/* Not before its bind has completed. */
		ck_assert_int_eq(state_can_follow(table, from, VERBS_KEY_FREE), !bind_is_out);
	}
}
END_TEST

/* ---- set-up ---- */

START_TEST(a_refused_connection_is_left_in_silence)
{
	scene_begin(_i ? IWARP : IB, 0);
	scene_ask();
	scene_event(RDMA_CM_EVENT_REJECTED, 28);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(fake.disconnects, 0);
	scene_end();
}
END_TEST

START_TEST(a_peer_that_is_not_reached_is_lost)
{
	scene_begin(_i ? IWARP : IB, 0);
	scene_ask();
	scene_event(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(fake.disconnects, 0);
	scene_end();
}
END_TEST

START_TEST(a_connect_that_fails_at_once_has_nothing_under_way)
{
	scene_begin(_i ? IWARP : IB, 0);
	fake.connect_errno = ECONNREFUSED;
	scene_ask();
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(fake.disconnects, 0);
	scene_end();
}
END_TEST

START_TEST(private_data_of_a_rejection_pass_in_both_directions)
{
	scene_begin(_i ? IWARP : IB, 0);
	verbs_fake_request();
	fake_loop_run(scene.loop);
	fabric_ep_reject(scene.ep, "not you", 7);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_uint_eq(fake.rejects, 1);
	ck_assert_str_eq(fake.rejection, "not you");
	scene_end();

	scene_begin(_i ? IWARP : IB, 0);
	scene_ask();
	fake.answer = "nor you";
	fake.answer_bytes = 7;
	scene_event(RDMA_CM_EVENT_REJECTED, 28);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(scene.rejected, 1);
	ck_assert_str_eq(scene.rejection, "nor you");
	scene_end();
}
END_TEST

START_TEST(an_accept_that_fails_rejects)
{
	scene_begin(_i ? IWARP : IB, 0);
	fake.accept_errno = ECONNRESET;
	verbs_fake_request();
	fake_loop_run(scene.loop);
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOST);
	ck_assert_int_eq(scene.ep->close_errno, ECONNRESET);
	ck_assert_uint_eq(fake.rejects, 1);
	ck_assert_uint_eq(fake.disconnects, 0);
	scene_end();
}
END_TEST

START_TEST(an_iwarp_setup_is_waited_for)
{
	scene_begin(IWARP, 0);
	scene_ask();
	fake_loop_advance(scene.loop, (SETUP_S + 1) * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	scene_event(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	ck_assert_uint_eq(scene.closed, 0);
	scene_event(RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(fake.disconnects, 0);
	scene_end();
}
END_TEST

/*
 * On InfiniBand and RoCE; what either end tells the other is for the other's Sends. Over iWARP a
 * Send is never refused.
 */
START_TEST(both_ends_retry_a_send_as_often_as_configured)
{
	scene_begin(_i < 2 ? IB : IWARP, 0);
	fake.peer_rnr_retry = 6;
	fake.initiator_depth = 2;
	if (_i % 2)
		scene_accepted();
	else
		scene_connected();
	ck_assert_uint_eq(fake.conn.rnr_retry_count, SCENE_RNR_RETRY);
	ck_assert_uint_eq(fake.conn.qp_num, 77);
	if (_i < 2) {
		ck_assert_int_eq(fake.qp->state, IBV_QPS_RTS);
		ck_assert_uint_eq(fake.rnr_retry, SCENE_RNR_RETRY);
		ck_assert_uint_eq(fake.max_rd_atomic, _i ? 2 : 7);
		ck_assert_uint_eq(fake.establishes, !_i);
	}
	scene_ended();
}
END_TEST

/* See fill_gap() in device.c. */
START_TEST(on_siw_a_completion_queue_fills_a_gap_as_long_as_the_device_is_used)
{
	scene_begin(IWARP, 0);
	fake.vendor_id = _i ? 0x626d74 : 0;
	scene_connected();
	ck_assert_uint_eq(fake.cqs, _i ? 2 : 1);
	scene_ended();
}
END_TEST

START_TEST(a_queue_pair_that_does_not_get_ready_ends_the_set_up)
{
	scene_begin(IB, 0);
	if (_i == 2) {
		verbs_fake_request();
		fake_loop_run(scene.loop);
		fake.modify_errno = EINVAL;
		ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
		fake_loop_run(scene.loop);
	} else {
		scene_ask();
		if (_i)
			fake.modify_errno = EINVAL;
		else
			fake.establish_errno = EINVAL;
		scene_answered();
	}
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_uint_eq(scene.established, 0);
	scene_end();
}
END_TEST

/* Of some drivers its descriptors are readable for ever then. */
START_TEST(a_device_that_is_gone_is_not_watched_for_a_dying_endpoint)
{
	const struct verbs_counters *counters;

	scene_begin(IWARP, 0);
	counters = scene.fabric->counters;
	scene_ask();
	fabric_ep_close(scene.ep);
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(counters->completion_events, 1);
	scene_event(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	scene_done(fake.recvs[1].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(counters->completion_events, 1);
	ck_assert_uint_eq(counters->device_removals, 0);
	ck_assert_uint_eq(scene.closed, 0);
	scene_event(RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOCAL);
	scene_end();
}
END_TEST

START_TEST(an_iwarp_setup_without_an_end_is_buried_aside)
{
	scene_begin(IWARP, 0);
	fake.initiator_depth = 0;
	verbs_fake_request();
	fake_loop_run(scene.loop);
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	fake_loop_run(scene.loop);
	fabric_ep_close(scene.ep);
	fake_loop_advance(scene.loop, 14 * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	fake_loop_advance(scene.loop, 2 * SECOND);
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOCAL);
	scene_end();
}
END_TEST

START_TEST(a_connect_that_blocks_is_waited_for_by_its_endpoint_alone)
{
	scene_begin(IWARP, 0);
	fake.blocks = VERBS_FAKE_CONNECT;
	scene_ask();
	fabric_ep_close(scene.ep);
	fake_loop_advance(scene.loop, 60 * SECOND);
	ck_assert_uint_eq(scene.closed, 0);
	ck_assert_uint_eq(fake.qps, 1);
	verbs_fake_release();
	scene_run_until(&scene.closed);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOCAL);
	scene_end();
}
END_TEST

static unsigned abandoned;

static void on_abandoned(struct fabric_wr *wr, enum fabric_status status)
{
	abandoned += status == FABRIC_FLUSHED;
}

static void ask_from(uint16_t port)
{
	struct sockaddr_in *source = (struct sockaddr_in *)&scene.params.source;

	source->sin_family = AF_INET;
	source->sin_port = htons(port);
	scene_ask();
}

/*
 * siw binds its socket when it connects; without a port of ours it is the host that has none left.
 */
START_TEST(a_port_in_use_is_reported)
{
	static const int errors[] = {EADDRINUSE, EADDRNOTAVAIL};
	const uint16_t port = _i % 2 ? 700 : 0;
	const int error = errors[_i / 2 % 2];

	scene_begin(IWARP, WINDOWS);
	if (_i < 4) {
		fake.connect_errno = error;
		ask_from(port);
		scene_run_until(&scene.closed);
	} else {
		ask_from(port);
		scene_event(RDMA_CM_EVENT_CONNECT_ERROR, -error);
		scene_run_until(&scene.closed);
	}
	ck_assert_int_eq(scene.why, port ? FABRIC_CLOSE_PORT : FABRIC_CLOSE_LOST);
	scene_end();
}
END_TEST

/* What was posted is not waited for, nor the peer's answer: the port is to be free. */
START_TEST(an_abort_does_not_wait)
{
	struct fabric_wr wr = {.op = FABRIC_SEND, .done = on_abandoned};

	scene_begin(_i % 2 ? IWARP : IB, WINDOWS);
	scene_connected();
	ck_assert_int_eq(fabric_post(scene.ep, &wr), 0);
	if (_i >= 2)
		fabric_ep_close(scene.ep);
	ck_assert_uint_eq(abandoned, 0);
	fabric_ep_abort(scene.ep);
	ck_assert_uint_eq(scene.closed, 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOCAL);
	ck_assert_uint_eq(abandoned, 1);
	ck_assert_uint_eq(fake.disconnects, 1);
	fabric_ep_abort(scene.ep);
	scene_end();
}
END_TEST

START_TEST(a_connection_comes_from_its_source)
{
	struct sockaddr_in *source = (struct sockaddr_in *)&scene.params.source;
	const struct sockaddr_in *bound = (const struct sockaddr_in *)&fake.source;

	scene_begin(IB, 0);
	source->sin_family = AF_INET;
	source->sin_addr.s_addr = htonl(0x7f000002);
	source->sin_port = htons(700);
	fake.resolve_errno = EADDRINUSE;
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &scene.ep),
			 -EADDRINUSE);
	fake.resolve_errno = 0;
	scene_ask();
	ck_assert_uint_eq(bound->sin_addr.s_addr, source->sin_addr.s_addr);
	ck_assert_uint_eq(bound->sin_port, htons(700));
	fabric_ep_close(scene.ep);
	fake_loop_run(scene.loop);
	scene_end();
}
END_TEST

START_TEST(a_device_says_whether_it_sends_invalidate)
{
	struct fabric_ep_info info;

	scene_begin(IB, _i ? IBV_DEVICE_MEM_MGT_EXTENSIONS : WINDOWS);
	scene_connected();
	fabric_ep_info(scene.ep, &info);
	ck_assert_int_eq(info.sends_invalidate, _i);
	ck_assert_int_eq(info.per_rpc_keys, !_i);
	ck_assert(!info.deferred_reads);
	ck_assert_uint_eq(info.max_transfer_bytes, VERBS_FAKE_MAX_MESSAGE);
	scene_ended();
}
END_TEST

/* When a peer asks, so that the answer to it can go by that. */
START_TEST(so_it_says_before_a_peer_is_accepted)
{
	struct fabric_ep_info info;

	scene_begin(IB, _i ? IBV_DEVICE_MEM_MGT_EXTENSIONS : 0);
	verbs_fake_request();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.requested, 1);
	fabric_ep_info(scene.ep, &info);
	ck_assert_int_eq(info.sends_invalidate, _i);
	fabric_ep_close(scene.ep);
	fake_loop_run(scene.loop);
	scene_end();
}
END_TEST

START_TEST(a_device_is_reported_by_its_name)
{
	char text[FABRIC_TEXT_BYTES];

	scene_begin(_i ? IWARP : IB, WINDOWS);
	scene_connected();
	fabric_ep_describe(scene.ep, text);
	ck_assert_msg(
		!strncmp(text, _i ? "device fake0 (iWARP), " : "device fake0, ", _i ? 22 : 14),
		"%s", text);
	scene_ended();
}
END_TEST

/* ---- what cannot be watched ---- */

/* It is asked for again, but not at once: a loop that has nothing else to do comes to rest. */
START_TEST(shared_resources_of_a_worker_are_watched_as_soon_as_possible)
{
	scene_begin_blind(_i ? IWARP : IB);
	verbs_fake_request();
	fake_loop_run(scene.loop);
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(scene.requested, 0);
	fake_loop_blind(scene.loop, false);
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(scene.requested, 1);
	fabric_ep_close(scene.ep);
	scene_run_until(&scene.closed);
	scene_end();
}
END_TEST

START_TEST(a_device_is_watched_as_soon_as_it_can_be)
{
	scene_begin(IB, 0);
	fake_loop_blind(scene.loop, true);
	scene_connected();
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	fake_loop_advance(scene.loop, SECOND);
	fake_loop_blind(scene.loop, false);
	scene_done(fake.recvs[1].wr_id, IBV_WC_SUCCESS, 20);
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(scene.recvs, 2);
	ck_assert_uint_eq(scene.last.len_bytes, 20);
	scene_ended();
}
END_TEST

/* ---- the end ---- */

START_TEST(flushed_work_waits_for_the_reason)
{
	scene_begin(IB, 0);
	scene_connected();
	scene_done(fake.recvs[0].wr_id, IBV_WC_WR_FLUSH_ERR, 0);
	ck_assert_uint_eq(scene.closed, 0);
	switch (_i) {
	case 0:
		fake_loop_advance(scene.loop, SECOND);
		break;
	case 1:
		scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
		break;
	default:
		/* Somebody waits for its end. */
		fabric_ep_check_disconnect(scene.ep);
		ck_assert_uint_eq(scene.closed, 0);
		fake_loop_run(scene.loop);
		break;
	}
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, _i == 1 ? FABRIC_CLOSE_PEER : FABRIC_CLOSE_LOST);
	scene_end();
}
END_TEST

START_TEST(a_send_without_a_receive_is_reported_by_its_name)
{
	struct buf *buf;

	scene_begin(IB, 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	scene_post(0, buf);
	fake_loop_run(scene.loop);
	scene_done(SEQ(0), IBV_WC_RNR_RETRY_EXC_ERR, 0);
	ck_assert_uint_eq(scene.dones, 1);
	ck_assert_int_eq(scene.status, FABRIC_FLUSHED);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_TERMINATED);
	ck_assert_str_eq(scene.detail, "the peer had no receive for a Send after 3 retries");
	buf_put(buf);
	scene_end();
}
END_TEST

START_TEST(a_close_sends_posted_data)
{
	struct buf *buf;

	scene_begin(IB, 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	scene_post(0, buf);
	fabric_ep_close(scene.ep);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 1);
	ck_assert_uint_eq(fake.disconnects, 0);
	ck_assert_int_eq(fabric_post(scene.ep, &scene.send_wr[1]), -ENOTCONN);
	scene_done(SEQ(0), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(fake.disconnects, 1);
	ck_assert_uint_eq(scene.dones, 1);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_ep");
	TCase *tc;

	tc = tcase_create("states");
	tcase_add_test(tc, no_endpoint_steps_back);
	tcase_add_test(tc, every_endpoint_comes_to_its_end);
	tcase_add_test(tc, only_iwarp_setups_in_progress_are_abandoned);
	tcase_add_test(tc, every_key_gets_free);
	suite_add_tcase(suite, tc);

	tc = tcase_create("set-up");
	tcase_add_loop_test(tc, a_refused_connection_is_left_in_silence, 0, 2);
	tcase_add_loop_test(tc, a_peer_that_is_not_reached_is_lost, 0, 2);
	tcase_add_loop_test(tc, a_connect_that_fails_at_once_has_nothing_under_way, 0, 2);
	tcase_add_loop_test(tc, private_data_of_a_rejection_pass_in_both_directions, 0, 2);
	tcase_add_loop_test(tc, an_accept_that_fails_rejects, 0, 2);
	tcase_add_test(tc, an_iwarp_setup_is_waited_for);
	tcase_add_loop_test(tc, both_ends_retry_a_send_as_often_as_configured, 0, 4);
	tcase_add_loop_test(tc, on_siw_a_completion_queue_fills_a_gap_as_long_as_the_device_is_used,
			    0, 2);
	tcase_add_loop_test(tc, a_queue_pair_that_does_not_get_ready_ends_the_set_up, 0, 3);
	tcase_add_test(tc, a_device_that_is_gone_is_not_watched_for_a_dying_endpoint);
	tcase_add_test(tc, an_iwarp_setup_without_an_end_is_buried_aside);
	tcase_add_test(tc, a_connect_that_blocks_is_waited_for_by_its_endpoint_alone);
	tcase_add_test(tc, a_connection_comes_from_its_source);
	tcase_add_loop_test(tc, a_port_in_use_is_reported, 0, 8);
	tcase_add_loop_test(tc, an_abort_does_not_wait, 0, 4);
	tcase_add_loop_test(tc, a_device_is_reported_by_its_name, 0, 2);
	tcase_add_loop_test(tc, a_device_says_whether_it_sends_invalidate, 0, 2);
	tcase_add_loop_test(tc, so_it_says_before_a_peer_is_accepted, 0, 2);
	suite_add_tcase(suite, tc);

	tc = tcase_create("what cannot be watched");
	tcase_add_loop_test(tc, shared_resources_of_a_worker_are_watched_as_soon_as_possible, 0, 2);
	tcase_add_test(tc, a_device_is_watched_as_soon_as_it_can_be);
	suite_add_tcase(suite, tc);

	tc = tcase_create("the end");
	tcase_add_loop_test(tc, flushed_work_waits_for_the_reason, 0, 3);
	tcase_add_test(tc, a_send_without_a_receive_is_reported_by_its_name);
	tcase_add_test(tc, a_close_sends_posted_data);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
