// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/verbs_scene.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "fabric/verbs/verbs.h"
#include "fabric/verbs/verbs_ep.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define PATIENCE_S 20

struct verbs_scene scene;

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	scene.requested++;
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	scene.established++;
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	scene.recvs++;
	scene.last = *recv;
	if (scene.refill_bytes)
		fabric_recv_post(scene.ep, 1, scene.refill_bytes);
}

static void on_ending(void *arg, enum fabric_close reason, const char *detail)
{
	scene.ending++;
	scene.why = reason;
}

static void on_closed(void *arg, enum fabric_close reason, const char *detail)
{
	scene.closed++;
	scene.why = reason;
	snprintf(scene.detail, sizeof(scene.detail), "%s", detail);
}

static void on_rejected(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	scene.rejected++;
	memcpy(scene.rejection, private_data, len_bytes);
}

static void on_found(const char *text)
{
	scene.founds++;
	snprintf(scene.found, sizeof(scene.found), "%s", text);
}

static void on_key_free(void *arg)
{
	scene.keys_free++;
}

const struct fabric_ep_events scene_events = {
	.key_free = on_key_free,
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.rejected = on_rejected,
	.ending = on_ending,
	.closed = on_closed,
};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(fabric_adopt(scene.fabric, in, &scene_events, NULL, &scene.ep), 0);
}

struct verbs_config scene_config(void)
{
	return (struct verbs_config){.setup_timeout_us = SETUP_S * SECOND,
				     .rnr_retry = SCENE_RNR_RETRY,
				     .found = on_found};
}

static bool await_commands(void *arg)
{
	struct verbs_fabric *fabric = verbs_fabric_of(arg);
	struct pollfd back = {.fd = fabric->back.notifier.fd, .events = POLLIN};
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (fabric->back.out && !fake.blocked) {
		if (poll(&back, 1, 1) > 0)
			return true;
		if (time_limit_passed(&limit))
			ck_abort_msg("a command does not come back");
	}
	return false;
}

void scene_await(struct loop *loop, struct fabric *fabric)
{
	fake_loop_await(loop, await_commands, fabric);
}

static void begin(enum ibv_transport_type transport, unsigned cap_flags, bool blind,
		  struct verbs_config config)
{
	verbs_fake_reset(transport, cap_flags);
	scene = (struct verbs_scene){.addr = {.sin_family = AF_INET, .sin_port = 99}};
	scene.params = (struct fabric_ep_params){
		.ird = 4, .ord = 4, .recv_size_bytes = 1024, .recv_count = 2, .recv_max = 8};
	scene.loop = fake_loop_new();
	fake_loop_blind(scene.loop, blind);
	scene.pool = buf_pool_new(65536, 8u << 20);
	scene.fabric = verbs_fabric_new(scene.loop, scene.pool, &config);
	ck_assert_ptr_nonnull(scene.fabric);
	scene_await(scene.loop, scene.fabric);
	ck_assert_int_eq(fabric_listen(&verbs_fabric_ops, &config, scene.loop,
				       (struct sockaddr *)&scene.addr, 1, on_incoming, NULL,
				       &scene.listener),
			 0);
}

void scene_begin(enum ibv_transport_type transport, unsigned cap_flags)
{
	begin(transport, cap_flags, false, scene_config());
}

void scene_begin_as(enum ibv_transport_type transport, unsigned cap_flags,
		    const struct verbs_config *config)
{
	begin(transport, cap_flags, false, *config);
}

void scene_begin_blind(enum ibv_transport_type transport)
{
	begin(transport, 0, true, scene_config());
}

void scene_end(void)
{
	struct buf_pool_stats stats;

	ck_assert_uint_eq(scene.closed, 1);
	fabric_ep_free(scene.ep);
	fabric_listener_free(scene.listener);
	fabric_free(scene.fabric);
	buf_pool_stats_get(scene.pool, &stats);
	ck_assert_uint_eq(stats.in_use_bytes, 0);
	buf_pool_free(scene.pool);
	fake_loop_free(scene.loop);
	ck_assert_uint_eq(fake.ids, 0);
	ck_assert_uint_eq(fake.qps, 0);
	ck_assert_uint_eq(fake.cqs, 0);
	ck_assert_uint_eq(fake.windows, 0);
	ck_assert_uint_eq(fake.regions, 0);
	ck_assert_uint_eq(fake.pds, 0);
}

void scene_event(enum rdma_cm_event_type type, int status)
{
	verbs_fake_event(type, status);
	fake_loop_run(scene.loop);
}

void scene_done(uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes)
{
	verbs_fake_done(wr_id, status, bytes);
	fake_loop_run(scene.loop);
}

/* The thread that is aside comes back when it likes. */
static void run_until(bool (*holds)(const void *arg), const void *arg)
{
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (!holds(arg)) {
		if (time_limit_passed(&limit))
			ck_abort_msg("the thread that is aside does not come back");
		usleep(1000);
		fake_loop_run(scene.loop);
	}
}

static bool is_counted(const void *count)
{
	return *(const unsigned *)count;
}

static bool is_back(const void *ep)
{
	return !((const struct verbs_ep *)ep)->offloaded;
}

void scene_run_until(const unsigned *count)
{
	run_until(is_counted, count);
	ck_assert_uint_eq(*count, 1);
}

void scene_ask(void)
{
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &scene.ep),
			 0);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

void scene_answered(void)
{
	scene_event(fake.transport == IWARP ? RDMA_CM_EVENT_ESTABLISHED
					    : RDMA_CM_EVENT_CONNECT_RESPONSE,
		    0);
}

void scene_connected(void)
{
	scene_ask();
	run_until(is_back, verbs_ep_of(scene.ep));
	scene_answered();
	ck_assert_uint_eq(scene.established, 1);
}

/* Over iWARP nothing may leave before the peer has spoken. */
void scene_accepted(void)
{
	verbs_fake_request();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.requested, 1);
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ck_assert_uint_eq(scene.established, 1);
	if (fake.transport == IWARP)
		ck_assert_int_eq(fabric_ep_keepalive(scene.ep), -EOPNOTSUPP);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 0);
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
}

/* The peer ends it. */
void scene_ended(void)
{
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(scene.closed, 1);
	scene_end();
}

static void on_unbound(struct fabric_key *key)
{
	scene.unbound++;
}

void scene_on_done(struct fabric_wr *wr, enum fabric_status status)
{
	scene.dones++;
	scene.status = status;
	for (unsigned i = 0; scene.unbind_in_done && i < ARRAY_SIZE(scene.keys); i++)
		if (scene.keys[i].priv && !scene.unbinding[i])
			scene.unbinding[i] = !fabric_key_unbind(&scene.keys[i]);
}

void scene_post(unsigned i, struct buf *buf)
{
	scene.send_wr[i] = (struct fabric_wr){
		.op = FABRIC_SEND, .nsge = 1, .sge = {{buf, buf->mem, 10}}, .done = scene_on_done};
	ck_assert_int_eq(fabric_post(scene.ep, &scene.send_wr[i]), 0);
}

int scene_lend_for(unsigned i, struct buf *buf, uint32_t ready_bytes, unsigned rights)
{
	scene.keys[i] = (struct fabric_key){.buf = buf,
					    .mem = buf->mem,
					    .len_bytes = 100,
					    .ready_bytes = ready_bytes,
					    .rights = rights,
					    .unbound = on_unbound};
	return fabric_key_bind(scene.ep, &scene.keys[i]);
}

int scene_lend(unsigned i, struct buf *buf)
{
	return scene_lend_for(i, buf, 100, FABRIC_REMOTE_WRITE);
}

void scene_post_read(struct buf *buf)
{
	scene.read_wr = (struct fabric_wr){
		.op = FABRIC_READ, .nsge = 1, .sge = {{buf, buf->mem, 10}}, .done = scene_on_done};
	ck_assert_int_eq(fabric_post(scene.ep, &scene.read_wr), 0);
	fake_loop_run(scene.loop);
}
