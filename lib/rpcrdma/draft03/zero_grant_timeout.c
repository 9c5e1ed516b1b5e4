// SPDX-License-Identifier: BSD-3-Clause
/* The timer keeps running when Calls can be sent again; it notices that when it expires. */
#include "rpcrdma/draft03/zero_grant_timeout.h"

static uint64_t limit_us(const struct requester *rq)
{
	return rq->conn->leg->config->stall_timeout_us;
}

static bool blocks_calls(const struct requester *rq)
{
	const struct credit_window *window = &rq->conn->window;

	return !window->granted && window->in_flight && rq->nqueued;
}

static void set_timer(struct requester *rq)
{
	rq->zero_grant.set = true;
	loop_timer_set(rq->conn->fabric->loop, rq->zero_grant.timer,
		       rq->zero_grant.since_us + limit_us(rq) - rdma_conn_now_us(rq->conn));
}

static void expired(void *arg)
{
	struct requester *rq = arg;

	rq->zero_grant.set = false;
	if (rdma_conn_is_closing(rq->conn) || !blocks_calls(rq))
		return;
	if (rdma_conn_now_us(rq->conn) - rq->zero_grant.since_us < limit_us(rq)) {
		set_timer(rq);
		return;
	}
	rq->conn->counters->credit_zero_stalls++;
	rdma_conn_fail(rq->conn, LEG_CLOSE_CALL_STALLED,
		       "the server granted 0 credits for %llu s while %u Calls wait",
		       (unsigned long long)(limit_us(rq) / 1000000), rq->nqueued);
}

void zero_grant_timeout_start(struct requester *rq)
{
	if (!limit_us(rq) || rdma_conn_is_closing(rq->conn) || !blocks_calls(rq))
		return;
	rq->zero_grant.since_us = rdma_conn_now_us(rq->conn);
	if (rq->zero_grant.set)
		return;
	if (!rq->zero_grant.timer)
		rq->zero_grant.timer = loop_timer_new(rq->conn->fabric->loop, expired, rq);
	if (rq->zero_grant.timer)
		set_timer(rq);
	else
		rdma_conn_fail(rq->conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
}

void zero_grant_timeout_stop(struct requester *rq)
{
	loop_timer_clear(rq->conn->fabric->loop, rq->zero_grant.timer);
}

void zero_grant_timeout_fini(struct requester *rq)
{
	loop_timer_free(rq->conn->fabric->loop, rq->zero_grant.timer);
}
