// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Sends whose completion is not awaited, on a fake device: which are signalled, and when they
 * are done.
 */
#include "fabric/verbs/verbs_ep.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

#define SENDS 40
#define MS    1000u

static struct fabric_wr sends[SENDS];
static unsigned dones;
static enum fabric_status status;
static struct buf *buf;

/* In their order. */
static void on_done(struct fabric_wr *wr, enum fabric_status how)
{
	ck_assert_ptr_eq(wr, &sends[dones]);
	dones++;
	status = how;
}

static void begin(enum ibv_transport_type transport, unsigned vendor_id)
{
	dones = 0;
	scene_begin(transport, 0);
	fake.vendor_id = vendor_id;
	scene_connected();
	buf = buf_get(scene.pool, 1024);
}

static void end(void)
{
	buf_put(buf);
	if (scene.closed)
		scene_end();
	else
		scene_ended();
}

/* In one turn. */
static void post(unsigned from, unsigned to, bool lazy)
{
	for (unsigned i = from; i < to; i++) {
		sends[i] = (struct fabric_wr){.op = FABRIC_SEND,
					      .nsge = 1,
					      .sge = {{buf, buf->mem, 100}},
					      .lazy = lazy,
					      .done = on_done};
		ck_assert_int_eq(fabric_post(scene.ep, &sends[i]), 0);
	}
	fake_loop_run(scene.loop);
}

static bool is_signalled(unsigned i)
{
	ck_assert_uint_lt(i, fake.nsends);
	return fake.sends[i].wr.send_flags & IBV_SEND_SIGNALED;
}

/* What may complete all that has been posted. */
static void complete_signalled(void)
{
	for (unsigned i = 0; i < fake.nsends; i++)
		if (is_signalled(i))
			verbs_fake_done(fake.sends[i].wr.wr_id, IBV_WC_SUCCESS, 0);
	fake_loop_run(scene.loop);
}

START_TEST(one_of_sixteen_is_signalled)
{
	begin(IB, VERBS_FAKE_VENDOR);
	if (_i) {
		post(0, SENDS, true);
	} else {
		for (unsigned i = 0; i < SENDS; i++)
			post(i, i + 1, true);
	}
	for (unsigned i = 0; i < SENDS; i++)
		ck_assert_int_eq(is_signalled(i), i % 16 == 15);
	complete_signalled();
	ck_assert_uint_eq(dones, 32);
	ck_assert_int_eq(status, FABRIC_OK);
	end();
	ck_assert_uint_eq(dones, SENDS);
	ck_assert_int_eq(status, FABRIC_FLUSHED);
}
END_TEST

/* It stands for those before it. */
START_TEST(an_awaited_request_is_signalled)
{
	begin(IB, VERBS_FAKE_VENDOR);
	post(0, 3, true);
	post(3, 4, false);
	ck_assert(!is_signalled(2));
	ck_assert(is_signalled(3));
	complete_signalled();
	ck_assert_uint_eq(dones, 4);
	/* The count restarts. */
	post(4, 19, true);
	for (unsigned i = 4; i < 19; i++)
		ck_assert(!is_signalled(i));
	end();
}
END_TEST

/* Of one chain the last is. */
START_TEST(requests_after_it_in_its_chain_complete_with_it)
{
	begin(IB, VERBS_FAKE_VENDOR);
	for (unsigned i = 0; i < 4; i++) {
		sends[i] = (struct fabric_wr){.op = FABRIC_SEND,
					      .nsge = 1,
					      .sge = {{buf, buf->mem, 100}},
					      .lazy = i != 1,
					      .done = on_done};
		ck_assert_int_eq(fabric_post(scene.ep, &sends[i]), 0);
	}
	fake_loop_run(scene.loop);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(is_signalled(i), i == 3);
	complete_signalled();
	ck_assert_uint_eq(dones, 4);
	end();
}
END_TEST

/* Nothing comes behind it: then a Write of no bytes does. */
START_TEST(the_last_are_done_in_time)
{
	begin(_i ? IWARP : IB, VERBS_FAKE_VENDOR);
	post(0, 2, true);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US / 2 - MS);
	ck_assert_uint_eq(fake.nsends, 2);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US / 2 + MS);
	ck_assert_uint_eq(fake.nsends, 3);
	ck_assert_int_eq(fake.sends[2].wr.opcode, IBV_WR_RDMA_WRITE);
	ck_assert_int_eq(fake.sends[2].wr.num_sge, 0);
	ck_assert(is_signalled(2));
	ck_assert_uint_eq(dones, 0);
	complete_signalled();
	ck_assert_uint_eq(dones, 2);
	ck_assert_int_eq(status, FABRIC_OK);
	/* One is enough. */
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(fake.nsends, 3);
	/* And again. */
	post(2, 3, true);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US);
	ck_assert_uint_eq(fake.nsends, 5);
	ck_assert(is_signalled(4));
	end();
}
END_TEST

/* What was sent to have others done takes longer than that. */
START_TEST(requests_posted_meanwhile_complete_in_time_too)
{
	begin(IB, VERBS_FAKE_VENDOR);
	post(0, 1, true);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US);
	ck_assert_uint_eq(fake.nsends, 2);
	post(1, 2, true);
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(fake.nsends, 3);
	scene_done(fake.sends[1].wr.wr_id, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(dones, 1);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US);
	ck_assert_uint_eq(fake.nsends, 4);
	ck_assert(is_signalled(3));
	scene_done(fake.sends[3].wr.wr_id, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(dones, 2);
	end();
}
END_TEST

START_TEST(where_more_is_sent_nothing_is_sent_for_it)
{
	begin(IB, VERBS_FAKE_VENDOR);
	for (unsigned i = 0; i < SENDS; i++) {
		post(i, i + 1, true);
		fake_loop_advance(scene.loop, 3 * MS);
	}
	ck_assert_uint_eq(fake.nsends, SENDS);
	end();
}
END_TEST

/* Closing waits for what was posted, and does not wait long. */
START_TEST(a_close_has_them_done_at_once)
{
	begin(IB, VERBS_FAKE_VENDOR);
	post(0, 2, true);
	if (_i) {
		/* More wait, and leave in the same chain. */
		for (unsigned i = 2; i < 4; i++) {
			sends[i] = sends[0];
			ck_assert_int_eq(fabric_post(scene.ep, &sends[i]), 0);
		}
	}
	fabric_ep_close(scene.ep);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, _i ? 5 : 3);
	ck_assert(is_signalled(fake.nsends - 1));
	ck_assert_uint_eq(fake.disconnects, 0);
	complete_signalled();
	ck_assert_uint_eq(dones, _i ? 4 : 2);
	ck_assert_int_eq(status, FABRIC_OK);
	ck_assert_uint_eq(fake.disconnects, 1);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(scene.closed, 1);
	end();
}
END_TEST

/* What was sent to have others done has not come back. */
START_TEST(a_close_has_those_done_that_were_posted_meanwhile)
{
	begin(IB, VERBS_FAKE_VENDOR);
	post(0, 1, true);
	fake_loop_advance(scene.loop, FABRIC_LAZY_US);
	ck_assert_uint_eq(fake.nsends, 2);
	post(1, 2, true);
	ck_assert(!is_signalled(2));
	fabric_ep_close(scene.ep);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 3);
	scene_done(fake.sends[1].wr.wr_id, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(dones, 1);
	ck_assert_uint_eq(fake.nsends, 4);
	ck_assert(is_signalled(3));
	scene_done(fake.sends[3].wr.wr_id, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(dones, 2);
	ck_assert_uint_eq(fake.disconnects, 1);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	end();
}
END_TEST

/*
 * It sends from their memory until they complete: on_siw_each_work_request_is_signalled() in
 * test_verbs_qp.c.
 */
START_TEST(on_siw_each_is_signalled)
{
	begin(IWARP, 0x626d74);
	post(0, 3, true);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(is_signalled(i));
	fake_loop_advance(scene.loop, SECOND);
	ck_assert_uint_eq(fake.nsends, 3);
	end();
}
END_TEST

/* A failure ends the connection, and is reported for one work request as always. */
START_TEST(an_unsignalled_failed_request_is_reported)
{
	begin(IB, VERBS_FAKE_VENDOR);
	post(0, 3, true);
	scene_done(fake.sends[1].wr.wr_id, IBV_WC_REM_INV_REQ_ERR, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_TERMINATED);
	ck_assert_uint_eq(dones, 3);
	fake_loop_advance(scene.loop, SECOND);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_lazy");
	TCase *tc = tcase_create("verbs_lazy");

	tcase_add_loop_test(tc, one_of_sixteen_is_signalled, 0, 2);
	tcase_add_test(tc, an_awaited_request_is_signalled);
	tcase_add_test(tc, requests_after_it_in_its_chain_complete_with_it);
	tcase_add_loop_test(tc, the_last_are_done_in_time, 0, 2);
	tcase_add_test(tc, requests_posted_meanwhile_complete_in_time_too);
	tcase_add_test(tc, where_more_is_sent_nothing_is_sent_for_it);
	tcase_add_loop_test(tc, a_close_has_them_done_at_once, 0, 2);
	tcase_add_test(tc, a_close_has_those_done_that_were_posted_meanwhile);
	tcase_add_test(tc, on_siw_each_is_signalled);
	tcase_add_test(tc, an_unsignalled_failed_request_is_reported);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
