// SPDX-License-Identifier: BSD-3-Clause
/* Tests what an RDMA leg reports when it connects or accepts on a fake device that hangs. */
#include <netinet/in.h>

#include "fabric/verbs/verbs.h"
#include "rpcrdma/rdma_leg.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/test_budget.h"
#include "tests/lib/time_limit.h"
#include "tests/unit/verbs_scene.h"

#define PATIENCE_S      20
#define FLAGS           5 /* the octet of the private data that has them */
#define SEND_INVALIDATE IBV_DEVICE_MEM_MGT_EXTENSIONS

static const struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = 99};

static struct loop *loop;
static struct buf_pool *pool;
static struct fabric *fabric;
static struct fabric_listener *listener;
static struct test_budget budget;
static struct rdma_leg_counters counters;
static struct rdma_leg_config config;
static struct leg *leg;
static unsigned closings, closed;

static void on_requested(void *arg)
{
	leg_accept(leg);
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	closings++;
}

static void on_closed(void *arg)
{
	closed++;
}

static void on_opened(void *arg)
{
}

static const struct leg_events events = {
	.requested = on_requested, .opened = on_opened, .closing = on_closing, .closed = on_closed};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(rdma_leg_adopt(&config, fabric, in, &leg), 0);
}

static void begin(unsigned cap_flags)
{
	static struct verbs_config verbs = {.setup_timeout_us = 5000000, .rnr_retry = 3};

	verbs_fake_reset(IBV_TRANSPORT_IB, cap_flags);
	loop = fake_loop_new();
	pool = buf_pool_new(65536, 8u << 20);
	test_budget_init(&budget, loop, 1u << 20);
	config = (struct rdma_leg_config){
		.leg = {.loop = loop,
			.pool = pool,
			.holder = &budget.holder,
			.max_message_bytes = 65536,
			.stall_timeout_us = 5000000,
			.connect_timeout_us = 5000000,
			.events = &events},
		.credits = 4,
		.inline_threshold_bytes = 4096,
		.remote_invalidation = true,
		.counters = &counters,
	};
	fabric = verbs_fabric_new(loop, pool, &verbs);
	ck_assert_ptr_nonnull(fabric);
	scene_await(loop, fabric);
	ck_assert_int_eq(fabric_listen(&verbs_fabric_ops, &verbs, loop,
				       (const struct sockaddr *)&addr, 1, on_incoming, NULL,
				       &listener),
			 0);
}

static void end(void)
{
	leg_close(leg, LEG_CLOSE_LOCAL);
	fake_loop_run(loop);
	ck_assert_uint_eq(closed, 1);
	leg_free(leg);
	fabric_listener_free(listener);
	fabric_free(fabric);
	test_budget_fini(&budget);
	buf_pool_free(pool);
	fake_loop_free(loop);
	ck_assert_uint_eq(fake.ids, 0);
}

static void expect_flag(bool flag)
{
	ck_assert_uint_eq(fake.conn.private_data_len, 8);
	ck_assert_uint_eq(fake.private_data[FLAGS], flag);
}

/* Bit 0 of the case is a device with memory windows, bit 1 one with Send with Invalidate. */
static unsigned cap_flags_of(int i)
{
	return (i & 1 ? WINDOWS : 0) | (i & 2 ? SEND_INVALIDATE : 0);
}

/* C3.2-1 */
START_TEST(a_server_offers_to_invalidate_if_its_device_can)
{
	begin(cap_flags_of(_i));
	verbs_fake_request();
	fake_loop_run(loop);
	expect_flag(_i & 2);
	end();
}
END_TEST

static void connect_leg(void)
{
	ck_assert_int_eq(rdma_leg_connect(&config, fabric, (const struct sockaddr *)&addr, &leg),
			 0);
	verbs_fake_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fake_loop_run(loop);
	verbs_fake_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	fake_loop_run(loop);
}

/* C3.2-2: whether the device could send it does not matter, it is to be sent to. */
START_TEST(a_client_offers_its_keys_if_they_die_alone)
{
	begin(cap_flags_of(_i));
	connect_leg();
	expect_flag(_i & 1);
	end();
}
END_TEST

/* A2-5: messages come in their order, and none is lost. The client is case 0, the server case 1. */
START_TEST(each_end_has_a_reliable_connection)
{
	begin(WINDOWS);
	fake.qp_type = IBV_QPT_UD;
	if (_i == 0)
		connect_leg();
	else
		verbs_fake_request();
	fake_loop_run(loop);
	ck_assert_int_eq(fake.qp_type, IBV_QPT_RC);
	end();
}
END_TEST

/* */
START_TEST(a_client_reads_only_chunks_of_reverse_calls)
{
	begin(WINDOWS);
	config.highest_version = _i & 1 ? 2 : 1;
	config.reverse_chunks = _i & 2;
	connect_leg();
	ck_assert_int_eq(fake.conn.initiator_depth > 0, _i == 3);
	ck_assert_uint_gt(fake.conn.responder_resources, 0);
	end();
}
END_TEST

/* Its client may be back before the device has destroyed the old connection's queues. */
START_TEST(the_close_of_a_leg_is_reported_while_its_device_hangs)
{
	struct time_limit limit;

	begin(WINDOWS);
	verbs_fake_request();
	fake_loop_run(loop);
	verbs_fake_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	fake_loop_run(loop);
	fake.blocks = VERBS_FAKE_DESTROY_QP;
	verbs_fake_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	time_limit_begin(&limit, PATIENCE_S);
	while (!fake.blocked && !time_limit_passed(&limit))
		fake_loop_run(loop);
	ck_assert(fake.blocked);
	fake_loop_run(loop);
	ck_assert_uint_eq(closings, 1);
	ck_assert_uint_eq(closed, 0);
	verbs_fake_release();
	end();
	ck_assert_uint_eq(closings, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_leg");
	TCase *tc = tcase_create("verbs_leg");

	tcase_add_loop_test(tc, a_server_offers_to_invalidate_if_its_device_can, 0, 4);
	tcase_add_loop_test(tc, a_client_offers_its_keys_if_they_die_alone, 0, 4);
	tcase_add_loop_test(tc, each_end_has_a_reliable_connection, 0, 2);
	tcase_add_loop_test(tc, a_client_reads_only_chunks_of_reverse_calls, 0, 4);
	tcase_add_test(tc, the_close_of_a_leg_is_reported_while_its_device_hangs);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
