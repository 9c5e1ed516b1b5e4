// SPDX-License-Identifier: BSD-3-Clause
/* Tests completion queues of a fake device: which endpoints share one, and when it is freed. */
#include "fabric/verbs/cq.h"

#include <errno.h>
#include <malloc.h>

#include "fabric/verbs/ep_connect.h"
#include "fabric/verbs/wr_id.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

/* Endpoints in addition to the scene's, which has 256 entries for Sends and 8 for Receives. */
#define MORE      20
#define NEED      264u
#define FIRST     4095u
#define FIRST_EPS 15u /* that it is long enough for */

struct one {
	struct fabric_ep *ep;
	struct rdma_cm_id *id;
	unsigned first_recv; /* place of its first receive in fake.recvs */
	unsigned recvs, closed, dones;
	enum fabric_close why;
	struct fabric_wr wr;
};
static struct one more[MORE];
static unsigned nmore;

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	((struct one *)arg)->recvs++;
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct one *one = arg;

	one->closed++;
	one->why = why;
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
}

static const struct fabric_ep_events events = {
	.established = on_established, .recv = on_recv, .closed = on_closed};

static void event(struct one *one, enum rdma_cm_event_type type)
{
	fake.id = one->id;
	scene_event(type, 0);
}

/* As far as the address. */
static struct one *resolved(void)
{
	struct one *one = &more[nmore++];

	ck_assert_uint_le(nmore, MORE);
	*one = (struct one){.first_recv = fake.nrecvs};
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&events, one, &one->ep),
			 0);
	one->id = fake.id;
	event(one, RDMA_CM_EVENT_ADDR_RESOLVED);
	return one;
}

static struct one *connected(void)
{
	struct one *one = resolved();

	event(one, RDMA_CM_EVENT_ROUTE_RESOLVED);
	event(one, RDMA_CM_EVENT_CONNECT_RESPONSE);
	return one;
}

static uint64_t recv_of(const struct one *one)
{
	return fake.recvs[one->first_recv].wr_id;
}

static void ended(struct one *one)
{
	if (!one->closed)
		event(one, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_uint_eq(one->closed, 1);
	fabric_ep_free(one->ep);
	one->ep = NULL;
}

/* The first endpoint is the scene's. */
static void begin(void)
{
	nmore = 0;
	scene_begin(IB, 0);
}

static void begin_connected(void)
{
	begin();
	scene_connected();
	/* What follows asks for this id. */
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
}

static void end(void)
{
	for (unsigned i = 1; i < nmore; i++)
		if (more[i].ep)
			ended(&more[i]);
	fake.id = more[0].id;
	if (!scene.closed)
		scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	scene_end();
}

START_TEST(endpoints_of_a_device_share_a_completion_queue)
{
	struct one *other;

	begin_connected();
	ck_assert_uint_eq(fake.cq_entries, FIRST);
	other = connected();
	ck_assert_uint_eq(fake.cqs, 1);
	ck_assert_uint_ne(recv_of(other), fake.recvs[0].wr_id);
	scene_done(recv_of(other), IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(other->recvs, 1);
	ck_assert_uint_eq(scene.recvs, 0);
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(other->recvs, 1);
	ck_assert_uint_eq(scene.recvs, 1);
	/* A failure is of one alone. */
	scene_done(recv_of(other) + 4, IBV_WC_LOC_PROT_ERR, 0);
	ck_assert_uint_eq(other->closed, 1);
	ck_assert_uint_eq(scene.closed, 0);
	end();
}
END_TEST

/* See verbs_cq_may_share(). */
START_TEST(each_has_its_own_where_the_library_may_not_bear_that)
{
	begin();
	fake.vendor_id = _i ? 0x1077 : 0;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	ck_assert_uint_eq(fake.cq_entries, NEED);
	connected();
	ck_assert_uint_eq(fake.cqs, 2);
	ended(&more[1]);
	ck_assert_uint_eq(fake.cqs, 1);
	end();
}
END_TEST

/* No queue may have more work requests than entries. */
START_TEST(a_further_queue_is_created_where_none_has_entries_enough)
{
	begin();
	fake.max_cqe = 1 << 22;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	for (nmore = 1; nmore < FIRST_EPS;)
		connected();
	ck_assert_uint_eq(fake.cqs, 1);
	ck_assert_uint_eq(fake.cq_entries, FIRST);
	connected();
	ck_assert_uint_eq(fake.cqs, 2);
	ck_assert_uint_eq(fake.cq_entries, 2 * FIRST + 1);
	/* The last endpoint has it destroyed. */
	ended(&more[nmore - 1]);
	ck_assert_uint_eq(fake.cqs, 1);
	end();
}
END_TEST

START_TEST(entries_are_used_again)
{
	begin();
	fake.max_cqe = 2 * NEED;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	for (nmore = 1; nmore < MORE;) {
		ended(connected());
		ck_assert_uint_eq(fake.cqs, 1);
	}
	end();
}
END_TEST

/*
 * siw and rxe leave completions of a queue pair that was destroyed: until these are gone they take
 * entries.
 */
START_TEST(entries_are_used_again_once_the_queue_was_empty)
{
	struct verbs_cq *cq;

	begin();
	fake.max_cqe = 2 * NEED;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	connected();
	cq = verbs_ep_of(scene.ep)->cq;
	ck_assert_uint_eq(cq->used, 2 * NEED);
	ended(&more[1]);
	ck_assert_uint_eq(cq->used, NEED);
	connected();
	ck_assert_uint_eq(fake.cqs, 1);
	ck_assert_uint_eq(cq->used, 2 * NEED);
	end();
}
END_TEST

/* Completions of any of its endpoints may be lost. */
START_TEST(a_queue_that_cannot_be_polled_ends_all_its_endpoints_and_is_not_used_again)
{
	begin_connected();
	connected();
	ck_assert_ptr_eq(verbs_ep_of(scene.ep)->cq, verbs_ep_of(more[1].ep)->cq);
	fake.poll_errno = EIO;
	ended(&more[1]);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_str_eq(scene.detail, "the completion queue cannot be polled");
	ck_assert_uint_eq(fake.cqs, 0);
	fake.poll_errno = 0;
	ended(connected());
	ck_assert_uint_eq(fake.cqs, 0);
	scene_end();
}
END_TEST

/* Nor is the endpoint that has their place reached by them. */
START_TEST(completions_of_a_destroyed_queue_pair_are_ignored)
{
	struct one *first, *second;

	mallopt(M_PERTURB, 0x5a);
	begin_connected();
	first = connected();
	ended(first);
	scene_done(recv_of(first), IBV_WC_SUCCESS, 10);
	second = connected();
	ck_assert_uint_ne(recv_of(first), recv_of(second));
	scene_done(recv_of(first), IBV_WC_SUCCESS, 10);
	scene_done(recv_of(first), IBV_WC_WR_FLUSH_ERR, 0);
	scene_done(verbs_wr_base(77, 0), IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(first->recvs + second->recvs + scene.recvs, 0);
	ck_assert_uint_eq(second->closed + scene.closed, 0);
	scene_done(recv_of(second), IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(second->recvs, 1);
	end();
}
END_TEST

START_TEST(a_queue_that_fails_ends_all_of_its_endpoints)
{
	struct verbs_cq *cq;

	begin_connected();
	cq = verbs_ep_of(scene.ep)->cq;
	connected();
	connected();
	if (_i == 0) {
		verbs_fake_async(IBV_EVENT_CQ_ERR);
		verbs_fake_async(IBV_EVENT_CQ_ERR);
	} else {
		/* An event that nobody asked for would be waited for in vain. */
		fake.arm_errno = EIO;
		verbs_fake_done(recv_of(&more[1]), IBV_WC_SUCCESS, 10);
	}
	(void)loop_run_tasks(scene.loop);
	verbs_channel_ready(verbs_ep_of(scene.ep)->device);
	fake_loop_run(scene.loop);
	fake.arm_errno = 0;
	ck_assert_uint_eq(more[1].closed, 1);
	ck_assert_uint_eq(more[2].closed, 1);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, _i ? FABRIC_CLOSE_RESOURCES : FABRIC_CLOSE_LOST);
	ck_assert_int_eq(more[1].why, scene.why);
	ck_assert_ptr_nonnull(cq);
	end();
}
END_TEST

START_TEST(endpoints_after_a_failure_get_another_queue)
{
	struct verbs_cq *cq;

	begin_connected();
	cq = verbs_ep_of(scene.ep)->cq;
	fake.blocks = VERBS_FAKE_DESTROY_QP;
	verbs_fake_async(IBV_EVENT_CQ_ERR);
	fake_loop_run(scene.loop);
	ck_assert(cq->failed);
	ck_assert_uint_eq(scene.closed, 0);
	resolved();
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	event(&more[1], RDMA_CM_EVENT_ROUTE_RESOLVED);
	event(&more[1], RDMA_CM_EVENT_CONNECT_RESPONSE);
	ck_assert_uint_eq(more[1].closed, 0);
	ck_assert_uint_eq(fake.cqs, 1);
	/* The one that failed is freed, so this may stand where that stood. */
	ck_assert(!verbs_ep_of(more[1].ep)->cq->failed);
	ended(&more[1]);
	scene_end();
}
END_TEST

START_TEST(a_shorter_queue_is_asked_for_where_a_device_refuses)
{
	static const struct {
		unsigned refused, cqes;
	} rows[] = {{4095, 2047}, {2047, 1023}, {511, NEED}, {NEED + 1, NEED}};

	begin();
	fake.cqes_refused = rows[_i].refused;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	ck_assert_uint_eq(fake.cq_entries, rows[_i].cqes);
	end();
}
END_TEST

START_TEST(a_device_that_refuses_all_lengths_ends_the_set_up)
{
	begin();
	fake.cqes_refused = NEED;
	scene_ask();
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	scene_end();
}
END_TEST

/* They were to have a place on one that then is shorter. */
START_TEST(endpoints_that_a_shorter_queue_has_no_entries_for_get_another_one)
{
	begin();
	fake.cqes_refused = 600;
	for (unsigned i = 0; i < 5; i++)
		resolved();
	fake.blocks = VERBS_FAKE_CREATE_CQ;
	for (unsigned i = 0; i < 5; i++)
		event(&more[i], RDMA_CM_EVENT_ROUTE_RESOLVED);
	while (!fake.blocked)
		fake_loop_run(scene.loop);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(more[i].closed, 0);
	ck_assert_uint_ge(fake.cqs, 3);
	for (unsigned i = 0; i < 5; i++) {
		const struct verbs_cq *cq = verbs_ep_of(more[i].ep)->cq;

		ck_assert_uint_le(cq->used, cq->cqes);
	}
	for (unsigned i = 0; i < 5; i++)
		ended(&more[i]);
	scene.closed = 1;
	scene.ep = NULL;
	fabric_listener_free(scene.listener);
	fabric_free(scene.fabric);
	buf_pool_free(scene.pool);
	fake_loop_free(scene.loop);
	ck_assert_uint_eq(fake.cqs, 0);
}
END_TEST

/* In their order, whosever they are; and the next turn goes on. */
START_TEST(a_turn_takes_a_bounded_number_of_completions)
{
	const struct verbs_counters *counters;
	struct one *other;

	begin();
	scene.params.recv_count = scene.params.recv_max = 100;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	other = connected();
	counters = scene.fabric->counters;
	for (unsigned i = 0; i < 100; i++)
		verbs_fake_done(fake.recvs[i].wr_id, IBV_WC_SUCCESS, 10);
	verbs_fake_done(recv_of(other), IBV_WC_SUCCESS, 10);
	verbs_poll(verbs_ep_of(scene.ep)->cq);
	ck_assert_uint_eq(counters->completions, VERBS_POLL_BUDGET);
	ck_assert_uint_eq(scene.recvs, VERBS_POLL_BUDGET);
	ck_assert_uint_eq(other->recvs, 0);
	(void)loop_run_tasks(scene.loop);
	ck_assert_uint_eq(scene.recvs, 100);
	ck_assert_uint_eq(other->recvs, 1);
	end();
}
END_TEST

/*
 * Messages that arrived before the peer ended the connection are delivered, and those that others
 * get meanwhile, however many.
 */
START_TEST(completions_before_the_end_are_handled)
{
	static const struct rdma_cm_event gone = {.event = RDMA_CM_EVENT_DISCONNECTED};
	struct one *other;

	begin();
	scene.params.recv_count = scene.params.recv_max = 100;
	scene_connected();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	other = connected();
	for (unsigned i = 0; i < 100; i++)
		verbs_fake_done(fake.recvs[i].wr_id, IBV_WC_SUCCESS, 10);
	verbs_fake_done(recv_of(other), IBV_WC_SUCCESS, 10);
	verbs_ep_cm_event(verbs_ep_of(other->ep), &gone);
	(void)loop_run_tasks(scene.loop);
	ck_assert_uint_eq(scene.recvs, VERBS_POLL_BUDGET);
	ck_assert_uint_eq(other->recvs, 0);
	(void)loop_run_tasks(scene.loop);
	ck_assert_uint_eq(scene.recvs, 100);
	ck_assert_uint_eq(other->recvs, 1);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(other->closed, 1);
	end();
}
END_TEST

/* The connection manager may be late with what it says. */
START_TEST(messages_that_come_before_the_connection_is_up_wait_in_their_order)
{
	begin();
	scene_ask();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	verbs_fake_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	verbs_fake_invalidating(0x1234);
	scene_done(fake.recvs[1].wr_id, IBV_WC_SUCCESS, 20);
	ck_assert_uint_eq(scene.recvs, 0);
	verbs_fake_event(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.established, 1);
	ck_assert_uint_eq(scene.recvs, 2);
	ck_assert_uint_eq(scene.last.len_bytes, 20);
	ck_assert(scene.last.invalidated);
	ck_assert_uint_eq(scene.last.inv_rkey, 0x1234);
	end();
}
END_TEST

/* A failure, too: it is reported when the connection is up, or never. */
START_TEST(receives_that_fail_before_the_connection_is_up_end_it_then)
{
	begin();
	scene_ask();
	more[0] = (struct one){.id = fake.id};
	nmore = 1;
	scene_done(fake.recvs[0].wr_id, IBV_WC_LOC_PROT_ERR, 0);
	ck_assert_uint_eq(scene.closed, 0);
	if (_i)
		scene_event(RDMA_CM_EVENT_REJECTED, 28);
	else
		scene_answered();
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, _i ? FABRIC_CLOSE_REFUSED : FABRIC_CLOSE_LOST);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_cq");
	TCase *tc = tcase_create("verbs_cq");

	tcase_add_test(tc, endpoints_of_a_device_share_a_completion_queue);
	tcase_add_loop_test(tc, each_has_its_own_where_the_library_may_not_bear_that, 0, 2);
	tcase_add_test(tc, a_further_queue_is_created_where_none_has_entries_enough);
	tcase_add_test(tc, entries_are_used_again);
	tcase_add_test(tc, entries_are_used_again_once_the_queue_was_empty);
	tcase_add_test(tc,
		       a_queue_that_cannot_be_polled_ends_all_its_endpoints_and_is_not_used_again);
	tcase_add_test(tc, completions_of_a_destroyed_queue_pair_are_ignored);
	tcase_add_loop_test(tc, a_queue_that_fails_ends_all_of_its_endpoints, 0, 2);
	tcase_add_test(tc, endpoints_after_a_failure_get_another_queue);
	tcase_add_loop_test(tc, a_shorter_queue_is_asked_for_where_a_device_refuses, 0, 4);
	tcase_add_test(tc, a_device_that_refuses_all_lengths_ends_the_set_up);
	tcase_add_test(tc, endpoints_that_a_shorter_queue_has_no_entries_for_get_another_one);
	tcase_add_test(tc, a_turn_takes_a_bounded_number_of_completions);
	tcase_add_test(tc, completions_before_the_end_are_handled);
	tcase_add_test(tc, messages_that_come_before_the_connection_is_up_wait_in_their_order);
	tcase_add_loop_test(tc, receives_that_fail_before_the_connection_is_up_end_it_then, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
