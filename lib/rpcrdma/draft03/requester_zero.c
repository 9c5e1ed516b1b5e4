// SPDX-License-Identifier: BSD-3-Clause
/* The timer keeps running when Calls can be sent again; it notices that when it expires. */
#include "rpcrdma/draft03/requester_zero.h"

static uint64_t limit_us(const struct requester *rq)
{
	return rq->conn->leg->config->stall_timeout_us;
}

static bool holds_calls(const struct requester *rq)
{
	const struct credit_window *window = &rq->conn->window;

	return !window->granted && window->in_flight && rq->nheld;
}

static void set_timer(struct requester *rq)
{
	rq->zero.set = true;
	loop_timer_set(rq->conn->fabric->loop, rq->zero.timer,
		       rq->zero.since_us + limit_us(rq) - rdma_conn_now_us(rq->conn));
}

static void expired(void *arg)
{
	struct requester *rq = arg;

	rq->zero.set = false;
	if (rdma_conn_is_over(rq->conn) || !holds_calls(rq))
		return;
	if (rdma_conn_now_us(rq->conn) - rq->zero.since_us < limit_us(rq)) {
		set_timer(rq);
		return;
	}
	rq->conn->counters->credit_zero_stalls++;
	rdma_conn_fail(rq->conn, LEG_CLOSE_CALL_STALLED,
		       "the server granted 0 credits for %llu s while %u Calls wait",
		       (unsigned long long)(limit_us(rq) / 1000000), rq->nheld);
}

void requester_zero_watch(struct requester *rq)
{
	if (!limit_us(rq) || rdma_conn_is_over(rq->conn) || !holds_calls(rq))
		return;
	rq->zero.since_us = rdma_conn_now_us(rq->conn);
	if (rq->zero.set)
		return;
	if (!rq->zero.timer)
		rq->zero.timer = loop_timer_new(rq->conn->fabric->loop, expired, rq);
	if (rq->zero.timer)
		set_timer(rq);
	else
		rdma_conn_fail(rq->conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
}

void requester_zero_end(struct requester *rq)
{
	loop_timer_clear(rq->conn->fabric->loop, rq->zero.timer);
}

void requester_zero_fini(struct requester *rq)
{
	loop_timer_free(rq->conn->fabric->loop, rq->zero.timer);
}
