// SPDX-License-Identifier: BSD-3-Clause
/* Endpoints of the verbs fabric on a device that is none: their states, receives, keys and probes. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "fabric/verbs/states.h"
#include "fabric/verbs/verbs.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_fake.h"

#define IB      IBV_TRANSPORT_IB
#define IWARP   IBV_TRANSPORT_IWARP
#define WINDOWS IBV_DEVICE_MEM_WINDOW_TYPE_2B
#define SETUP_S 5u
#define SECOND  1000000u
#define SEQ(n)  ((uint64_t)(n) << 2) /* wr_id of the n-th Send or Write; a Read's is one more */

static struct loop *loop;
static struct pool *pool;
static struct fabric *fabric;
static struct fabric_listener *listener;
static struct fabric_ep *ep;
static struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = 99};
static struct fabric_ep_params params;
static unsigned requested, established, closed, recvs;
static enum fabric_close why;
static struct fabric_recv last;
static unsigned refill_bytes; /* a receive of that size for each one used */

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	requested++;
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	established++;
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	recvs++;
	last = *recv;
	if (refill_bytes)
		fabric_recv_post(ep, 1, refill_bytes);
}

static void on_closed(void *arg, enum fabric_close reason, const char *detail)
{
	closed++;
	why = reason;
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(fabric_adopt(fabric, in, &events, NULL, &ep), 0);
}

static void begin(enum ibv_transport_type transport, unsigned cap_flags)
{
	struct verbs_config config = {.setup_timeout_us = SETUP_S * SECOND};

	verbs_fake_reset(transport, cap_flags);
	requested = established = closed = recvs = refill_bytes = 0;
	params = (struct fabric_ep_params){
		.ird = 4, .ord = 4, .recv_size_bytes = 1024, .recv_count = 2, .recv_max = 8};
	loop = fake_loop_new();
	pool = pool_new(65536, 8u << 20);
	fabric = verbs_fabric_new(loop, pool, &config);
	ck_assert_ptr_nonnull(fabric);
	ck_assert_int_eq(fabric_listen(&verbs_fabric_ops, &config, loop, (struct sockaddr *)&addr,
				       1, on_incoming, NULL, &listener),
			 0);
}

/* What is left, is left by the endpoint. */
static void end(void)
{
	struct pool_stats stats;

	ck_assert_uint_eq(closed, 1);
	fabric_ep_free(ep);
	fabric_listener_free(listener);
	fabric_free(fabric);
	pool_stats_get(pool, &stats);
	ck_assert_uint_eq(stats.in_use_bytes, 0);
	pool_free(pool);
	fake_loop_free(loop);
	ck_assert_uint_eq(fake.ids, 0);
	ck_assert_uint_eq(fake.qps, 0);
	ck_assert_uint_eq(fake.windows, 0);
	ck_assert_uint_eq(fake.regions, 0);
}

static void event(enum rdma_cm_event_type type, int status)
{
	verbs_fake_event(type, status);
	fake_loop_run(loop);
}

static void done(uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes)
{
	verbs_fake_done(wr_id, status, bytes);
	fake_loop_run(loop);
}

/* The thread that is aside comes back when it likes. */
static void run_until(const unsigned *count)
{
	for (unsigned i = 0; i < 5000 && !*count; i++) {
		usleep(1000);
		fake_loop_run(loop);
	}
	ck_assert_uint_eq(*count, 1);
}

static void ask(void)
{
	ck_assert_int_eq(
		fabric_connect(fabric, (struct sockaddr *)&addr, &params, &events, NULL, &ep), 0);
	event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static void connected(void)
{
	ask();
	if (fake.transport == IWARP)
		for (unsigned i = 0; i < 50; i++, usleep(1000))
			fake_loop_run(loop);
	event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ck_assert_uint_eq(established, 1);
}

/* Over iWARP nothing may leave before the peer has spoken. */
static void accepted(void)
{
	verbs_fake_request();
	fake_loop_run(loop);
	ck_assert_uint_eq(requested, 1);
	ck_assert_int_eq(fabric_ep_accept(ep, &params), 0);
	event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ck_assert_uint_eq(established, 1);
	if (fake.transport == IWARP)
		ck_assert_int_eq(fabric_ep_probe(ep), -EOPNOTSUPP);
	done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
}

/* The peer ends it. */
static void ended(void)
{
	event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(closed, 1);
	end();
}

/* ---- tables ---- */

START_TEST(no_endpoint_steps_back)
{
	const struct state_table *table = &verbs_ep_states;

	for (unsigned from = 0; from < table->count; from++)
		for (unsigned to = 0; to <= from; to++)
			ck_assert_msg(!state_may(table, from, to), "%s to %s",
				      state_name(table, from), state_name(table, to));
}
END_TEST

START_TEST(every_endpoint_comes_to_its_end)
{
	const struct state_table *table = &verbs_ep_states;

	for (unsigned from = 0; from < table->count; from++) {
		ck_assert_int_eq(table->rows[from].next == 0, from == VERBS_CLOSED);
		if (!verbs_state_over(from))
			ck_assert(state_may(table, from, VERBS_DYING));
		for (unsigned to = 0; verbs_state_over(from) && to < table->count; to++)
			ck_assert(!state_may(table, from, to) || verbs_state_over(to));
	}
	ck_assert(state_may(table, VERBS_CONNECTING, VERBS_ABANDONED));
	ck_assert(state_may(table, VERBS_ABANDONED, VERBS_RETURNING));
}
END_TEST

START_TEST(only_what_is_under_way_over_iwarp_is_abandoned)
{
	for (unsigned state = 0; state < verbs_ep_states.count; state++) {
		bool setting_up = state == VERBS_CONNECTING || state == VERBS_ACCEPTED;

		ck_assert_int_eq(verbs_parting(state, true) == VERBS_PART_ABANDON, setting_up);
		ck_assert_int_ne(verbs_parting(state, false), VERBS_PART_ABANDON);
		ck_assert(verbs_parting(state, true) != VERBS_PART_ABANDON ||
			  state_may(&verbs_ep_states, state, VERBS_ABANDONED));
	}
	ck_assert_int_eq(verbs_parting(VERBS_RESOLVING, true), VERBS_PART_SILENTLY);
	ck_assert_int_eq(verbs_parting(VERBS_REQUESTED, true), VERBS_PART_REJECT);
	ck_assert_int_eq(verbs_parting(VERBS_OPEN, true), VERBS_PART_DISCONNECT);
}
END_TEST

START_TEST(every_key_gets_free)
{
	const struct state_table *table = &verbs_key_states;

	for (unsigned from = 1; from < table->count; from++) {
		bool bind_is_out = from == VERBS_KEY_BINDING || from == VERBS_KEY_OUTRUN;

		ck_assert_uint_ne(table->rows[from].next, 0);
		/* Not before its bind has completed. */
		ck_assert_int_eq(state_may(table, from, VERBS_KEY_FREE), !bind_is_out);
	}
}
END_TEST

/* ---- set-up ---- */

START_TEST(a_refused_connection_is_left_in_silence)
{
	begin(_i ? IWARP : IB, 0);
	ask();
	event(RDMA_CM_EVENT_REJECTED, 28);
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(fake.disconnects, 0);
	end();
}
END_TEST

START_TEST(a_peer_that_is_not_reached_is_lost)
{
	begin(_i ? IWARP : IB, 0);
	ask();
	event(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(fake.disconnects, 0);
	end();
}
END_TEST

START_TEST(a_connect_that_fails_at_once_has_nothing_under_way)
{
	begin(_i ? IWARP : IB, 0);
	fake.connect_errno = ECONNREFUSED;
	ask();
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(fake.disconnects, 0);
	end();
}
END_TEST

START_TEST(an_accept_that_fails_rejects)
{
	begin(_i ? IWARP : IB, 0);
	fake.accept_errno = EINVAL;
	verbs_fake_request();
	fake_loop_run(loop);
	ck_assert_int_eq(fabric_ep_accept(ep, &params), 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOST);
	ck_assert_uint_eq(fake.rejects, 1);
	ck_assert_uint_eq(fake.disconnects, 0);
	end();
}
END_TEST

START_TEST(an_iwarp_setup_is_waited_for)
{
	begin(IWARP, 0);
	ask();
	fake_loop_advance(loop, (SETUP_S + 1) * SECOND);
	ck_assert_uint_eq(closed, 0);
	event(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	ck_assert_uint_eq(closed, 0);
	event(RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH);
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(fake.disconnects, 0);
	end();
}
END_TEST

START_TEST(an_iwarp_setup_without_an_end_is_buried_aside)
{
	begin(IWARP, 0);
	fake.initiator_depth = 0;
	verbs_fake_request();
	fake_loop_run(loop);
	ck_assert_int_eq(fabric_ep_accept(ep, &params), 0);
	fabric_ep_close(ep);
	fake_loop_advance(loop, 14 * SECOND);
	ck_assert_uint_eq(closed, 0);
	fake_loop_advance(loop, 2 * SECOND);
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOCAL);
	end();
}
END_TEST

START_TEST(a_connect_that_blocks_is_waited_for_by_its_endpoint_alone)
{
	begin(IWARP, 0);
	fake.connect_blocks = true;
	ask();
	fabric_ep_close(ep);
	fake_loop_advance(loop, 60 * SECOND);
	ck_assert_uint_eq(closed, 0);
	ck_assert_uint_eq(fake.qps, 1);
	sem_post(&fake.connect_go);
	run_until(&closed);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOCAL);
	end();
}
END_TEST

START_TEST(a_connection_comes_from_its_source)
{
	struct sockaddr_in *source = (struct sockaddr_in *)&params.source;
	const struct sockaddr_in *bound = (const struct sockaddr_in *)&fake.source;

	begin(IB, 0);
	source->sin_family = AF_INET;
	source->sin_addr.s_addr = htonl(0x7f000002);
	source->sin_port = htons(700);
	fake.resolve_errno = EADDRINUSE;
	ck_assert_int_eq(
		fabric_connect(fabric, (struct sockaddr *)&addr, &params, &events, NULL, &ep),
		-EADDRINUSE);
	fake.resolve_errno = 0;
	ask();
	ck_assert_uint_eq(bound->sin_addr.s_addr, source->sin_addr.s_addr);
	ck_assert_uint_eq(bound->sin_port, htons(700));
	fabric_ep_close(ep);
	fake_loop_run(loop);
	end();
}
END_TEST

START_TEST(a_device_says_whether_it_sends_invalidate)
{
	struct fabric_ep_info info;

	begin(IB, _i ? IBV_DEVICE_MEM_MGT_EXTENSIONS : WINDOWS);
	connected();
	fabric_ep_info(ep, &info);
	ck_assert_int_eq(info.sends_invalidate, _i);
	ck_assert_int_eq(info.per_rpc_keys, !_i);
	ck_assert(!info.late_reads);
	ck_assert_uint_eq(info.max_transfer_bytes, VERBS_FAKE_MAX_MESSAGE);
	ended();
}
END_TEST

/* ---- the end ---- */

START_TEST(flushed_work_waits_for_the_reason)
{
	begin(IB, 0);
	connected();
	done(fake.recvs[0].wr_id, IBV_WC_WR_FLUSH_ERR, 0);
	ck_assert_uint_eq(closed, 0);
	if (_i)
		event(RDMA_CM_EVENT_DISCONNECTED, 0);
	else
		fake_loop_advance(loop, SECOND);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(why, _i ? FABRIC_CLOSE_PEER : FABRIC_CLOSE_LOST);
	end();
}
END_TEST

static struct fabric_wr send_wr[4];
static unsigned sends_done;
static struct fabric_key keys[3];
static unsigned unbound;
static bool unbind_in_done;

static void on_unbound(struct fabric_key *key)
{
	unbound++;
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	sends_done++;
	for (unsigned i = 0; unbind_in_done && i < ARRAY_SIZE(keys); i++)
		if (keys[i].priv)
			(void)!fabric_key_unbind(&keys[i]);
}

static void post(unsigned i, struct buf *buf)
{
	send_wr[i] = (struct fabric_wr){
		.op = FABRIC_SEND, .nsge = 1, .sge = {{buf, buf->mem, 10}}, .done = on_done};
	ck_assert_int_eq(fabric_post(ep, &send_wr[i]), 0);
}

static int lend(unsigned i, struct buf *buf)
{
	keys[i] = (struct fabric_key){.buf = buf,
				      .mem = buf->mem,
				      .len_bytes = 100,
				      .ready_bytes = 100,
				      .rights = FABRIC_REMOTE_WRITE,
				      .unbound = on_unbound};
	return fabric_key_bind(ep, &keys[i]);
}

START_TEST(a_close_sends_what_was_posted)
{
	struct buf *buf;

	begin(IB, 0);
	buf = buf_get(pool, 100);
	sends_done = 0;
	unbind_in_done = false;
	connected();
	post(0, buf);
	fabric_ep_close(ep);
	fake_loop_run(loop);
	ck_assert_uint_eq(fake.nsends, 1);
	ck_assert_uint_eq(fake.disconnects, 0);
	ck_assert_int_eq(fabric_post(ep, &send_wr[1]), -ENOTCONN);
	done(SEQ(0), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(fake.disconnects, 1);
	ck_assert_uint_eq(sends_done, 1);
	event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	end();
}
END_TEST

/* Binds that stand behind the work request whose done() takes their keys back. */
START_TEST(keys_may_be_taken_back_while_the_queue_is_flushed)
{
	struct buf *buf;

	begin(IB, WINDOWS);
	buf = buf_get(pool, 100);
	sends_done = unbound = 0;
	unbind_in_done = true;
	connected();
	ck_assert_int_eq(lend(0, buf), 0);
	post(0, buf);
	ck_assert_int_eq(lend(1, buf), 0);
	ck_assert_int_eq(lend(2, buf), 0);
	post(1, buf);
	fake_loop_run(loop);
	ck_assert_uint_eq(fake.nsends, 5);
	event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(sends_done, 2);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(fabric_key_unbind(&keys[i]));
	buf_put(buf);
	end();
}
END_TEST

/* ---- keys ---- */

START_TEST(memory_lent_for_reads_must_be_ready)
{
	struct buf *buf;

	begin(IB, _i ? WINDOWS : 0);
	buf = buf_get(pool, 100);
	connected();
	keys[0] = (struct fabric_key){.buf = buf,
				      .mem = buf->mem,
				      .len_bytes = 100,
				      .ready_bytes = 99,
				      .rights = FABRIC_REMOTE_READ,
				      .unbound = on_unbound};
	ck_assert_int_eq(fabric_key_bind(ep, &keys[0]), -EINVAL);
	keys[0].ready_bytes = 100;
	ck_assert_int_eq(fabric_key_bind(ep, &keys[0]), 0);
	unbound = 0;
	if (!fabric_key_unbind(&keys[0])) {
		fake_loop_run(loop);
		ck_assert_uint_eq(fake.nsends, 2);
		ck_assert_int_eq(fake.sends[1].wr.opcode, IBV_WR_LOCAL_INV);
		done(SEQ(1), IBV_WC_SUCCESS, 0);
		ck_assert_uint_eq(unbound, 1);
	}
	buf_put(buf);
	ended();
}
END_TEST

/* The peer answers before the bind's own completion is seen; the window is not lent again until that is. */
START_TEST(a_key_may_be_invalidated_before_its_bind_is_seen_to_complete)
{
	struct buf *buf;

	begin(IB, WINDOWS);
	buf = buf_get(pool, 100);
	connected();
	ck_assert_int_eq(lend(0, buf), 0);
	fake_loop_run(loop);
	verbs_fake_invalidating(keys[0].rkey);
	done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 8);
	ck_assert(last.invalidated);
	ck_assert_uint_eq(last.inv_rkey, keys[0].rkey);
	ck_assert(fabric_key_unbind(&keys[0]));
	ck_assert_int_eq(lend(1, buf), 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(fake.windows, 2);
	ck_assert_uint_eq(fake.nsends, 2);
	done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_int_eq(lend(2, buf), 0);
	ck_assert_uint_eq(fake.windows, 2);
	ck_assert_uint_ne(keys[2].rkey, keys[0].rkey);
	event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&keys[1]) && fabric_key_unbind(&keys[2]));
	buf_put(buf);
	end();
}
END_TEST

/* ---- receives ---- */

START_TEST(receives_are_posted_in_order_whatever_their_sizes)
{
	static const uint32_t want[] = {1024, 1024, 64, 64, 5000, 64, 64, 64};

	begin(IB, 0);
	connected();
	fabric_recv_post(ep, 2, 64);
	fabric_recv_post(ep, 1, 5000);
	/* The queue holds eight: the others wait. */
	fabric_recv_post(ep, 4, 64);
	fabric_recv_post(ep, 1, 2000);
	fake_loop_run(loop);
	ck_assert_uint_eq(fake.nrecvs, 8);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(fake.recv_bytes[i], want[i]);
	for (unsigned i = 0; i < 3; i++) {
		done(fake.recvs[i].wr_id, IBV_WC_SUCCESS, 10);
		ck_assert_uint_eq(last.size_bytes, want[i]);
		ck_assert_uint_eq(last.len_bytes, 10);
	}
	ck_assert_uint_eq(fake.nrecvs, 10);
	ck_assert_uint_eq(fake.recv_bytes[8], 64);
	ck_assert_uint_eq(fake.recv_bytes[9], 2000);
	ended();
}
END_TEST

START_TEST(receives_that_are_posted_early_are_behind_the_initial_ones)
{
	static const uint32_t want[] = {1024, 1024, 64, 64, 5000};

	begin(IB, 0);
	if (_i) {
		verbs_fake_request();
		fake_loop_run(loop);
	} else {
		ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&addr, &params, &events,
						NULL, &ep),
				 0);
	}
	fabric_recv_post(ep, 2, 64);
	fabric_recv_post(ep, 1, 5000);
	ck_assert_uint_eq(fake.nrecvs, 0);
	if (_i) {
		ck_assert_int_eq(fabric_ep_accept(ep, &params), 0);
	} else {
		event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	}
	ck_assert_uint_eq(fake.nrecvs, 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(fake.recv_bytes[i], want[i]);
	event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ended();
}
END_TEST

START_TEST(a_receive_of_the_same_size_has_the_same_buffer)
{
	begin(IB, 0);
	params.recv_count = 1;
	connected();
	for (unsigned i = 0; i < 4; i++) {
		/* From the second on, the place that the last one left is used. */
		refill_bytes = 1024;
		done(fake.recvs[fake.nrecvs - 1].wr_id, IBV_WC_SUCCESS, 10);
	}
	ck_assert_uint_eq(fake.nrecvs, 5);
	ck_assert_uint_eq(fake.recv_addrs[2], fake.recv_addrs[0]);
	ck_assert_uint_eq(fake.recv_addrs[4], fake.recv_addrs[0]);
	refill_bytes = 9000;
	done(fake.recvs[4].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(fake.recv_bytes[5], 9000);
	refill_bytes = 0;
	done(fake.recvs[5].wr_id, IBV_WC_SUCCESS, 9000);
	ck_assert_uint_eq(last.size_bytes, 9000);
	ended();
}
END_TEST

START_TEST(a_send_too_long_ends_the_connection)
{
	begin(IB, 0);
	connected();
	done(fake.recvs[0].wr_id, IBV_WC_LOC_LEN_ERR, 0);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(why, FABRIC_CLOSE_PROTOCOL);
	end();
}
END_TEST

/* ---- probes ---- */

START_TEST(a_probe_is_a_write_of_no_bytes)
{
	begin(IB, 0);
	ask();
	ck_assert_int_eq(fabric_ep_probe(ep), -ENOTCONN);
	event(RDMA_CM_EVENT_ESTABLISHED, 0);
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_int_eq(fabric_ep_probe(ep), 0);
		ck_assert_int_eq(fabric_ep_probe(ep), 0);
		fake_loop_run(loop);
		ck_assert_uint_eq(fake.nsends, i + 1);
		ck_assert_int_eq(fake.sends[i].wr.opcode, IBV_WR_RDMA_WRITE);
		ck_assert_int_eq(fake.sends[i].wr.num_sge, 0);
		/* The device keeps the time. */
		fake_loop_advance(loop, 100 * SECOND);
		ck_assert_uint_eq(closed, 0);
		done(SEQ(i), IBV_WC_SUCCESS, 0);
	}
	ck_assert_int_eq(fabric_ep_probe(ep), 0);
	fake_loop_run(loop);
	done(SEQ(3), IBV_WC_RETRY_EXC_ERR, 0);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOST);
	ck_assert_int_eq(fabric_ep_probe(ep), -ENOTCONN);
	end();
}
END_TEST

START_TEST(over_iwarp_only_an_acceptor_that_may_read_probes)
{
	begin(IWARP, 0);
	if (_i == 0) {
		connected();
	} else {
		fake.initiator_depth = _i == 1 ? 0 : 1;
		accepted();
	}
	ck_assert_int_eq(fabric_ep_probe(ep), _i == 2 ? 0 : -EOPNOTSUPP);
	ended();
}
END_TEST

static struct fabric_wr read_wr;

static void post_read(struct buf *buf)
{
	read_wr = (struct fabric_wr){
		.op = FABRIC_READ, .nsge = 1, .sge = {{buf, buf->mem, 10}}, .done = on_done};
	ck_assert_int_eq(fabric_post(ep, &read_wr), 0);
	fake_loop_run(loop);
}

START_TEST(over_iwarp_a_probe_is_one_of_the_reads_that_the_peer_accepts)
{
	struct buf *buf;

	begin(IWARP, 0);
	fake.initiator_depth = 1;
	buf = buf_get(pool, 100);
	sends_done = 0;
	unbind_in_done = false;
	accepted();
	ck_assert_int_eq(fabric_ep_probe(ep), 0);
	post_read(buf);
	ck_assert_uint_eq(fake.nsends, 1);
	ck_assert_int_eq(fake.sends[0].wr.opcode, IBV_WR_RDMA_READ);
	ck_assert_int_eq(fake.sends[0].wr.num_sge, 1);
	ck_assert_uint_eq(fake.sends[0].len_bytes, 0);
	ck_assert_uint_ne(fake.sends[0].lkey, fake.recv_lkeys[0]);
	done(SEQ(0) | 1, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(fake.nsends, 2);
	done(SEQ(1) | 1, IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(sends_done, 1);
	fake_loop_advance(loop, 100 * SECOND);
	ck_assert_uint_eq(closed, 0);
	buf_put(buf);
	ended();
}
END_TEST

START_TEST(over_iwarp_reads_that_are_out_ask_as_well)
{
	struct buf *buf;

	begin(IWARP, 0);
	buf = buf_get(pool, 100);
	sends_done = 0;
	unbind_in_done = false;
	accepted();
	for (uint64_t i = 0; i < 2; i++) {
		post_read(buf);
		ck_assert_int_eq(fabric_ep_probe(ep), 0);
		fake_loop_run(loop);
		ck_assert_uint_eq(fake.nsends, i + 1);
		if (i == 0)
			done(SEQ(i) | 1, IBV_WC_SUCCESS, 0);
		fake_loop_advance(loop, 16 * SECOND);
		ck_assert_uint_eq(closed, i);
	}
	ck_assert_int_eq(why, FABRIC_CLOSE_LOST);
	buf_put(buf);
	end();
}
END_TEST

START_TEST(over_iwarp_a_peer_that_does_not_answer_in_time_is_lost)
{
	begin(IWARP, 0);
	accepted();
	ck_assert_int_eq(fabric_ep_probe(ep), 0);
	fake_loop_advance(loop, 10 * SECOND);
	/* Whatever comes says that it is there. */
	done(fake.recvs[1].wr_id, IBV_WC_SUCCESS, 10);
	fake_loop_advance(loop, 19 * SECOND);
	ck_assert_uint_eq(closed, 0);
	fake_loop_advance(loop, 2 * SECOND);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(why, FABRIC_CLOSE_LOST);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_ep");
	TCase *tc = tcase_create("states");

	tcase_add_test(tc, no_endpoint_steps_back);
	tcase_add_test(tc, every_endpoint_comes_to_its_end);
	tcase_add_test(tc, only_what_is_under_way_over_iwarp_is_abandoned);
	tcase_add_test(tc, every_key_gets_free);
	suite_add_tcase(suite, tc);

	tc = tcase_create("set-up and end");
	tcase_add_loop_test(tc, a_refused_connection_is_left_in_silence, 0, 2);
	tcase_add_loop_test(tc, a_peer_that_is_not_reached_is_lost, 0, 2);
	tcase_add_loop_test(tc, a_connect_that_fails_at_once_has_nothing_under_way, 0, 2);
	tcase_add_loop_test(tc, an_accept_that_fails_rejects, 0, 2);
	tcase_add_test(tc, an_iwarp_setup_is_waited_for);
	tcase_add_test(tc, an_iwarp_setup_without_an_end_is_buried_aside);
	tcase_add_test(tc, a_connect_that_blocks_is_waited_for_by_its_endpoint_alone);
	tcase_add_test(tc, a_connection_comes_from_its_source);
	tcase_add_loop_test(tc, a_device_says_whether_it_sends_invalidate, 0, 2);
	tcase_add_loop_test(tc, flushed_work_waits_for_the_reason, 0, 2);
	tcase_add_test(tc, a_close_sends_what_was_posted);
	suite_add_tcase(suite, tc);

	tc = tcase_create("keys, receives and probes");
	tcase_add_test(tc, keys_may_be_taken_back_while_the_queue_is_flushed);
	tcase_add_loop_test(tc, memory_lent_for_reads_must_be_ready, 0, 2);
	tcase_add_test(tc, a_key_may_be_invalidated_before_its_bind_is_seen_to_complete);
	tcase_add_test(tc, receives_are_posted_in_order_whatever_their_sizes);
	tcase_add_loop_test(tc, receives_that_are_posted_early_are_behind_the_initial_ones, 0, 2);
	tcase_add_test(tc, a_receive_of_the_same_size_has_the_same_buffer);
	tcase_add_test(tc, a_send_too_long_ends_the_connection);
	tcase_add_test(tc, a_probe_is_a_write_of_no_bytes);
	tcase_add_loop_test(tc, over_iwarp_only_an_acceptor_that_may_read_probes, 0, 3);
	tcase_add_test(tc, over_iwarp_a_probe_is_one_of_the_reads_that_the_peer_accepts);
	tcase_add_test(tc, over_iwarp_reads_that_are_out_ask_as_well);
	tcase_add_test(tc, over_iwarp_a_peer_that_does_not_answer_in_time_is_lost);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
