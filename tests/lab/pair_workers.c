// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cases of fabric_pair: two workers on one device.
 *
 * The second worker has a thread, a loop, a pool and a fabric of its own. It echoes each Send on
 * the connections that the listener passes to it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "tests/lab/pair.h"

#define CONNECTIONS 4u
#define SENDS       40u
#define NO_KEY      0x12345600u

/* The second worker's; all its own but the counts. */
static struct {
	pthread_t thread;
	struct loop *loop;
	struct buf_pool *pool;
	struct fabric *fabric;
	struct fabric_ep *ends[CONNECTIONS];
	unsigned adopted;
	atomic_uint established, closed;
} other;

struct echo {
	struct fabric_wr wr;
	struct buf *buf;
};

static struct side clients[CONNECTIONS];

/* ---- the second worker ---- */

static void echo_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct echo *echo = container_of(wr, struct echo, wr);

	buf_put(echo->buf);
	free(echo);
}

static void echo_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct fabric_ep **ep = arg;

	if (fabric_ep_accept(*ep, &params_base))
		printf("# accept failed\n");
}

static void echo_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	atomic_fetch_add(&other.established, 1);
}

static void echo_recv(void *arg, const struct fabric_recv *recv)
{
	struct fabric_ep **ep = arg;
	struct echo *echo = calloc(1, sizeof(*echo));

	echo->buf = buf_get(other.pool, RECV_BYTES);
	memcpy(echo->buf->mem, recv->data, recv->len_bytes);
	echo->wr = (struct fabric_wr){.op = FABRIC_SEND,
				      .nsge = 1,
				      .sge = {{echo->buf, echo->buf->mem, recv->len_bytes}},
				      .done = echo_done};
	if (fabric_post(*ep, &echo->wr))
		echo_done(&echo->wr, FABRIC_FLUSHED);
	fabric_recv_post(*ep, 1, RECV_BYTES);
}

static void echo_closed(void *arg, enum fabric_close why, const char *detail)
{
	printf("# the second worker's connection: %s, %s\n", close_name(why), detail);
	atomic_fetch_add(&other.closed, 1);
}

static const struct fabric_ep_events echo_events = {
	.requested = echo_requested,
	.established = echo_established,
	.recv = echo_recv,
	.closed = echo_closed,
};

static void adopt(void *arg)
{
	struct fabric_ep **ep = &other.ends[other.adopted++];

	if (fabric_adopt(other.fabric, arg, &echo_events, ep, ep))
		printf("# adopt failed\n");
}

static void stop(void *arg)
{
	event_loop_stop(other.loop);
}

/* Made and freed where it runs. */
static void *worker_main(void *arg)
{
	struct buf_pool_stats stats;

	other.pool = buf_pool_new(BULK_BYTES, 8u << 20);
	other.fabric = another_fabric(other.loop, other.pool, 0);
	event_loop_run(other.loop);
	for (unsigned i = 0; i < other.adopted; i++)
		fabric_ep_free(other.ends[i]);
	fabric_free(other.fabric);
	buf_pool_stats_get(other.pool, &stats);
	buf_pool_free(other.pool);
	return stats.in_use_bytes ? &other : NULL;
}

/* ---- the first ---- */

static void hand_over(struct fabric_incoming *in)
{
	if (event_loop_post(other.loop, adopt, in))
		fabric_incoming_drop(in);
}

static bool all_established(void)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (!clients[i].established)
			return false;
	return atomic_load(&other.established) == CONNECTIONS;
}

static bool all_echoed(void)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (!clients[i].closed && clients[i].recvs < SENDS)
			return false;
	return true;
}

static bool one_closed(void)
{
	return clients[0].closed && atomic_load(&other.closed) == 1;
}

static bool all_closed(void)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (!clients[i].closed)
			return false;
	return atomic_load(&other.closed) == CONNECTIONS;
}

/* Numbered Sends on each connection come back in order. */
static bool echoes(struct buf *buf)
{
	bool ok;

	jobs_begin();
	for (unsigned i = 0; i < CONNECTIONS; i++)
		clients[i].recvs = clients[i].next_number = 0;
	for (uint32_t n = 0; n < SENDS; n++) {
		memcpy(buf->mem + n * 64, &n, 4);
		for (unsigned i = 0; i < CONNECTIONS; i++)
			if (!clients[i].closed &&
			    job_post(&clients[i], FABRIC_SEND, buf, n * 64, 64, 0, 0))
				printf("# post failed\n");
	}
	ok = wait_until(all_echoed) && wait_until(all_done) && done_failed == 0;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		ok = ok && !clients[i].out_of_order;
	return ok;
}

/* The first worker has used the device first, so the device's events are read here. */
static void case_events(struct buf *buf)
{
	jobs_begin();
	if (job_post(&clients[0], FABRIC_READ, buf, 0, 64, NO_KEY, 0))
		printf("# post failed\n");
	result(wait_until(one_closed),
	       "ends another worker's connection whose peer reads what it may not");
	result(echoes(buf), "goes on with that worker's other connections");
}

static void connect_clients(void)
{
	incoming_taken = hand_over;
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		memset(&clients[i], 0, sizeof(clients[i]));
		clients[i].refill = 1;
		if (fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events,
				   &clients[i], &clients[i].ep))
			printf("# connect failed\n");
	}
}

void pair_workers(void)
{
	struct buf *buf = buf_get(pool, SENDS * 64);
	void *left;

	other.loop = event_loop_new();
	if (pthread_create(&other.thread, NULL, worker_main, NULL))
		return result(false, "has a second worker");
	connect_clients();
	result(wait_until(all_established), "hands connections to a second worker");
	result(echoes(buf), "serves connections on two workers");
	case_events(buf);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (!clients[i].closed)
			fabric_ep_close(clients[i].ep);
	result(wait_until(all_closed), "closes what two workers have");
	incoming_taken = NULL;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		fabric_ep_free(clients[i].ep);
	buf_put(buf);
	if (event_loop_post(other.loop, stop, NULL))
		abort();
	pthread_join(other.thread, &left);
	result(!left, "gives every buffer of the second worker back");
	event_loop_free(other.loop);
}
