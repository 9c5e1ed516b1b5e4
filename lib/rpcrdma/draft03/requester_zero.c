// SPDX-License-Identifier: BSD-3-Clause
/* The timer is not cleared when Calls may be sent again: it finds that when it expires. */
#include "rpcrdma/draft03/requester_zero.h"

static uint64_t limit_us(const struct requester_zero *zero)
{
	return zero->conn->leg->config->stall_timeout_us;
}

static bool holds_calls(const struct requester_zero *zero)
{
	const struct credit_window *window = &zero->conn->window;

	return !window->granted && window->in_flight && *zero->nheld;
}

static void set_timer(struct requester_zero *zero)
{
	zero->set = true;
	loop_timer_set(zero->conn->fabric->loop, zero->timer,
		       zero->since_us + limit_us(zero) - rdma_conn_now_us(zero->conn));
}

static void expired(void *arg)
{
	struct requester_zero *zero = arg;

	zero->set = false;
	if (rdma_conn_is_over(zero->conn) || !holds_calls(zero))
		return;
	if (rdma_conn_now_us(zero->conn) - zero->since_us < limit_us(zero)) {
		set_timer(zero);
		return;
	}
	zero->conn->counters->credit_zero_stalls++;
	rdma_conn_fail(zero->conn, LEG_CLOSE_CALL_STALLED,
		       "the server granted 0 credits and no more in %llu s, %u Calls wait",
		       (unsigned long long)(limit_us(zero) / 1000000), *zero->nheld);
}

void requester_zero_init(struct requester_zero *zero, struct rdma_conn *conn, const unsigned *nheld)
{
	*zero = (struct requester_zero){.conn = conn, .nheld = nheld};
}

void requester_zero_watch(struct requester_zero *zero)
{
	if (!limit_us(zero) || rdma_conn_is_over(zero->conn) || !holds_calls(zero))
		return;
	zero->since_us = rdma_conn_now_us(zero->conn);
	if (zero->set)
		return;
	if (!zero->timer)
		zero->timer = loop_timer_new(zero->conn->fabric->loop, expired, zero);
	if (zero->timer)
		set_timer(zero);
	else
		rdma_conn_fail(zero->conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
}

void requester_zero_end(struct requester_zero *zero)
{
	loop_timer_clear(zero->conn->fabric->loop, zero->timer);
}

void requester_zero_fini(struct requester_zero *zero)
{
	loop_timer_free(zero->conn->fabric->loop, zero->timer);
}
