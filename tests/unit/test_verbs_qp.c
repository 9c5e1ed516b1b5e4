// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that a connection on a fake device is set up as drivers and libraries of real devices
 * require.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/ep_connect.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

#define ROCE_BITS 0xe00000
#define VENDOR    0x15b3u

static const struct verbs_counters *counters(void)
{
	return scene.fabric->counters;
}

/* ---- what is carried inline ---- */

START_TEST(a_smaller_inline_size_is_requested_if_a_device_refuses)
{
	static const struct {
		unsigned max, steps, bytes;
	} rows[] = {
		{188, 1, 128},
		{101, 2, 96},
		{64, 3, 64},
		{1, 4, 0},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		scene_begin(i % 2 ? IWARP : IB, 0);
		fake.max_inline = rows[i].max;
		scene_connected();
		ck_assert_uint_eq(fake.ninline, rows[i].steps);
		ck_assert_uint_eq(fake.inline_asked[rows[i].steps - 1], rows[i].bytes);
		ck_assert_uint_eq(verbs_ep_of(scene.ep)->max_inline_bytes, rows[i].bytes);
		scene_ended();
	}
}
END_TEST

/* Its kernel side loses what is. */
START_TEST(on_siw_nothing_is_carried_inline)
{
	scene_begin(IWARP, 0);
	fake.vendor_id = 0x626d74;
	fake.max_inline = 80;
	scene_connected();
	ck_assert_uint_eq(fake.ninline, 1);
	ck_assert_uint_eq(verbs_ep_of(scene.ep)->max_inline_bytes, 0);
	scene_ended();
}
END_TEST

/*
 * It does not copy unsignalled data, and reports them as done while TCP still sends from the
 * memory.
 */
START_TEST(on_siw_each_work_request_is_signalled)
{
	struct buf *buf;

	scene_begin(IWARP, 0);
	buf = buf_get(scene.pool, 8192);
	fake.vendor_id = _i ? 0x626d74 : 0;
	scene_connected();
	for (unsigned i = 0; i < 3; i++)
		scene_post(i, buf);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(!(fake.sends[i].wr.send_flags & IBV_SEND_SIGNALED), !_i && i < 2);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(scene.closed, 1);
	buf_put(buf);
	scene_end();
}
END_TEST

START_TEST(a_queue_pair_first_requests_sizes_that_the_device_gave_before)
{
	struct fabric_ep *other;

	scene_begin(IB, 0);
	fake.max_inline = 101;
	scene_connected();
	other = scene.ep;
	scene.established = 0;
	scene_connected();
	ck_assert_uint_eq(fake.ninline, 3);
	ck_assert_uint_eq(fake.inline_asked[2], 96);
	fabric_ep_abort(other);
	fake_loop_run(scene.loop);
	fabric_ep_free(other);
	scene.closed = 0;
	scene_ended();
}
END_TEST

/* A device that is short of memory for once does not say what it can carry. */
START_TEST(a_request_refused_for_lack_of_memory_is_retried)
{
	struct fabric_ep *other;

	scene_begin(IB, 0);
	fake.qps_without_memory = 2;
	scene_connected();
	ck_assert_uint_eq(fake.inline_asked[2], 64);
	other = scene.ep;
	scene.established = 0;
	scene_connected();
	ck_assert_uint_eq(fake.ninline, 4);
	ck_assert_uint_eq(fake.inline_asked[3], 128);
	fabric_ep_abort(other);
	fake_loop_run(scene.loop);
	fabric_ep_free(other);
	scene.closed = 0;
	scene_ended();
}
END_TEST

/* ---- time limits and traffic classes ---- */

#define RXE 0xffffffu /* its vendor */

static const struct {
	enum ibv_transport_type transport;
	uint8_t link_layer;
	unsigned configured;
	uint8_t option, timeout; /* of the manager, of the queue pair */
	unsigned vendor_id;
} timeouts[] = {
	{IB, IBV_LINK_LAYER_ETHERNET, 0, 14, 14, 0},
	{IB, IBV_LINK_LAYER_ETHERNET, 16, 16, 16, 0},
	{IB, IBV_LINK_LAYER_INFINIBAND, 0, 0, 19, 0},
	{IB, IBV_LINK_LAYER_INFINIBAND, 17, 17, 17, 0},
	{IWARP, IBV_LINK_LAYER_ETHERNET, 16, 0, 0, 0},
	{IB, IBV_LINK_LAYER_ETHERNET, 0, 0, 19, RXE},
	{IB, IBV_LINK_LAYER_ETHERNET, 16, 16, 16, RXE},
};

/* An acceptor's peer has a time limit of its own. */
START_TEST(lost_packets_are_retransmitted_after_the_ack_timeout)
{
	struct verbs_config config = scene_config();
	unsigned i = (unsigned)_i / 2;

	config.ack_timeout = timeouts[i].configured;
	scene_begin_as(timeouts[i].transport, 0, &config);
	fake.link_layer = timeouts[i].link_layer;
	fake.vendor_id = timeouts[i].vendor_id;
	if (_i % 2)
		scene_accepted();
	else
		scene_connected();
	ck_assert_uint_eq(fake.ack_timeout, timeouts[i].option);
	ck_assert(fake.ack_timeout_early == (timeouts[i].option > 0));
	ck_assert_uint_eq(fake.timeout, timeouts[i].timeout);
	ck_assert_uint_eq(fake.min_rnr_timer, timeouts[i].transport == IB ? 12 : 0);
	scene_ended();
}
END_TEST

START_TEST(packets_have_the_traffic_class_that_is_configured)
{
	struct verbs_config config = scene_config();

	config.tos = _i < 2 ? 106 : 0;
	scene_begin_as(IB, 0, &config);
	ck_assert_uint_eq(fake.listen_tos, config.tos);
	if (_i % 2)
		scene_accepted();
	else
		scene_connected();
	ck_assert_uint_eq(fake.tos, _i == 0 ? config.tos : 0);
	ck_assert_uint_eq(fake.traffic_class, config.tos);
	scene_ended();
}
END_TEST

START_TEST(attributes_for_roce_are_omitted_on_infiniband)
{
	scene_begin(IB, 0);
	fake.link_layer = _i ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
	scene_connected();
	ck_assert_int_eq(fake.rtr_mask & ROCE_BITS, _i ? ROCE_BITS : 0);
	scene_ended();
}
END_TEST

/* ---- addresses and routes ---- */

static void ask_only(void)
{
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &scene.ep),
			 0);
	ck_assert_int_eq(fake.resolve_ms, VERBS_RESOLVE_MS);
}

START_TEST(an_address_that_is_not_resolved_in_time_is_retried)
{
	scene_begin(IB, 0);
	ask_only();
	scene_event(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	ck_assert_uint_eq(fake.addrs_resolved, 2);
	/* Of five seconds one and a half are left. */
	fake_loop_advance(scene.loop, 3500000);
	scene_event(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	ck_assert_uint_eq(fake.addrs_resolved, 3);
	ck_assert_int_eq(fake.resolve_ms, 1500);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	scene_event(RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
	ck_assert_uint_eq(fake.routes_resolved, 2);
	ck_assert_uint_eq(counters()->resolve_retries, 3);
	scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	scene_answered();
	ck_assert_uint_eq(scene.established, 1);
	scene_ended();
}
END_TEST

START_TEST(a_set_up_ends_in_its_time_however_often_it_asks)
{
	scene_begin(IB, 0);
	ask_only();
	for (unsigned i = 0; i < 3 && !scene.closed; i++) {
		fake_loop_advance(scene.loop, 2000000);
		if (!scene.closed)
			scene_event(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	}
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(fake.addrs_resolved, 3);
	scene_end();
}
END_TEST

START_TEST(an_unresolvable_address_is_not_retried)
{
	scene_begin(IB, 0);
	ask_only();
	if (_i) {
		scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		scene_event(RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL);
	} else {
		scene_event(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	}
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_uint_eq(counters()->resolve_retries, 0);
	scene_end();
}
END_TEST

/* ---- answers of libraries ---- */

/* c4iw returns negative errnos of a queue pair in error, siw -1, with errno set. */
START_TEST(a_queue_pair_that_takes_no_work_is_the_end_of_its_connection)
{
	static const int errnos[] = {EINVAL, -EINVAL, -1};
	struct buf *buf;

	scene_begin(IB, 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	if (_i < 3) {
		fake.post_send_errno = errnos[_i % 3];
		scene_post(0, buf);
	} else {
		fake.post_recv_errno = errnos[_i % 3];
		fabric_recv_post(scene.ep, 1, 64);
	}
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOST);
	ck_assert_ptr_nonnull(strstr(scene.detail, strerror(EINVAL)));
	ck_assert_ptr_nonnull(strstr(scene.detail, _i < 3 ? "ibv_post_send" : "ibv_post_recv"));
	buf_put(buf);
	scene_end();
}
END_TEST

START_TEST(the_connection_manager_is_notified_of_data_before_the_confirmation)
{
	scene_begin(IB, 0);
	verbs_fake_request();
	fake_loop_run(scene.loop);
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	fake_loop_run(scene.loop);
	if (_i) {
		/* The device says so; the manager then says that the connection is established. */
		verbs_fake_async(IBV_EVENT_COMM_EST);
		fake_loop_run(scene.loop);
		ck_assert_uint_eq(scene.established, 0);
		ck_assert_uint_eq(fake.notifies, 1);
		scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	} else {
		scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
		ck_assert_uint_eq(scene.recvs, 1);
	}
	ck_assert_uint_eq(fake.notifies, 1);
	ck_assert_uint_eq(scene.established, 1);
	/* Later ones say nothing. */
	verbs_fake_async(IBV_EVENT_COMM_EST);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.notifies, 1);
	scene_ended();
}
END_TEST

START_TEST(windows_may_be_left_alone)
{
	struct verbs_config config = scene_config();
	struct fabric_ep_info info;
	struct buf *buf;

	config.windows_off = true;
	scene_begin_as(IB, WINDOWS, &config);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	fabric_ep_info(scene.ep, &info);
	ck_assert(!info.per_rpc_keys);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_uint_eq(fake.windows, 0);
	ck_assert_uint_eq(counters()->regions_lent, 1);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	buf_put(buf);
	scene_ended();
}
END_TEST

START_TEST(resources_of_a_removed_device_can_be_freed)
{
	ck_assert_int_eq(unsetenv("RDMAV_ALLOW_DISASSOC_DESTROY"), 0);
	verbs_process_init();
	ck_assert_str_eq(getenv("RDMAV_ALLOW_DISASSOC_DESTROY"), "1");
	ck_assert_int_eq(setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "0", 1), 0);
	verbs_process_init();
	ck_assert_str_eq(getenv("RDMAV_ALLOW_DISASSOC_DESTROY"), "0");
}
END_TEST

/* ---- what devices do beyond the standard ---- */

static const struct {
	struct ibv_ece own, peers;
	uint32_t set_options;
	bool fails;
} eces[] = {
	{{VENDOR, 0xff, 0}, {VENDOR, 0x0f, 0}, 0x0f, false},
	/* A peer without it: nothing beyond the standard. */
	{{VENDOR, 0xff, 0}, {0}, 0, false},
	{{VENDOR, 0xff, 0}, {VENDOR + 1, 0x0f, 0}, 0, true},
};

START_TEST(a_connector_offers_its_devices_limits_and_sets_the_answered_ones)
{
	scene_begin(IB, 0);
	fake.ece = eces[_i].own;
	scene_ask();
	ck_assert_uint_eq(fake.local_ece.vendor_id, VENDOR);
	ck_assert_uint_eq(fake.local_ece.options, 0xff);
	fake.remote_ece = eces[_i].peers;
	scene_answered();
	if (eces[_i].fails) {
		ck_assert_uint_eq(scene.closed, 1);
		scene_end();
		return;
	}
	ck_assert_uint_eq(fake.set_ece.vendor_id, VENDOR);
	ck_assert_uint_eq(fake.set_ece.options, eces[_i].set_options);
	scene_ended();
}
END_TEST

/* To a peer of another vendor the answer has no options; to one without it there is none. */
START_TEST(an_acceptor_sets_the_offered_limits_and_answers_its_devices_ones)
{
	scene_begin(IB, 0);
	fake.ece = (struct ibv_ece){VENDOR, 0x3c, 0};
	fake.remote_ece = eces[_i].peers;
	scene_accepted();
	ck_assert_uint_eq(fake.local_ece.vendor_id, VENDOR);
	if (eces[_i].peers.vendor_id) {
		ck_assert_uint_eq(fake.set_ece.vendor_id, VENDOR);
		ck_assert_uint_eq(fake.set_ece.options, eces[_i].set_options);
		ck_assert_uint_eq(fake.local_ece.options, 0x3c & eces[_i].set_options);
	}
	scene_ended();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_qp");
	TCase *tc = tcase_create("verbs_qp");

	tcase_add_test(tc, a_smaller_inline_size_is_requested_if_a_device_refuses);
	tcase_add_test(tc, on_siw_nothing_is_carried_inline);
	tcase_add_test(tc, a_request_refused_for_lack_of_memory_is_retried);
	tcase_add_loop_test(tc, on_siw_each_work_request_is_signalled, 0, 2);
	tcase_add_test(tc, a_queue_pair_first_requests_sizes_that_the_device_gave_before);
	tcase_add_loop_test(tc, lost_packets_are_retransmitted_after_the_ack_timeout, 0,
			    2 * ARRAY_SIZE(timeouts));
	tcase_add_loop_test(tc, packets_have_the_traffic_class_that_is_configured, 0, 4);
	tcase_add_loop_test(tc, attributes_for_roce_are_omitted_on_infiniband, 0, 2);
	tcase_add_test(tc, an_address_that_is_not_resolved_in_time_is_retried);
	tcase_add_test(tc, a_set_up_ends_in_its_time_however_often_it_asks);
	tcase_add_loop_test(tc, an_unresolvable_address_is_not_retried, 0, 2);
	tcase_add_loop_test(tc, a_queue_pair_that_takes_no_work_is_the_end_of_its_connection, 0, 6);
	tcase_add_loop_test(tc, the_connection_manager_is_notified_of_data_before_the_confirmation,
			    0, 2);
	tcase_add_test(tc, windows_may_be_left_alone);
	tcase_add_test(tc, resources_of_a_removed_device_can_be_freed);
	tcase_add_loop_test(tc, a_connector_offers_its_devices_limits_and_sets_the_answered_ones, 0,
			    ARRAY_SIZE(eces));
	tcase_add_loop_test(tc, an_acceptor_sets_the_offered_limits_and_answers_its_devices_ones, 0,
			    ARRAY_SIZE(eces));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
