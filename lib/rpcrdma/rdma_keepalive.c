// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_keepalive.h"

#include <errno.h>

#include "rpcrdma/requester.h"

#define TICKS                     2u /* checks per wait for an answer, and per silence at least */
#define NULL_CALLS_UNANSWERED_MAX NULL_CALLS_MAX

/* Far from the XIDs that a client counts up from the template Call. */
#define XID_DISTANCE 0x80000000u

static bool is_in_flight(const struct rdma_keepalive *watch, uint32_t xid)
{
	return requester_rpc_find(watch->rq, xid) || requester_is_control_xid(watch->rq, xid) ||
	       xid_table_find(&watch->rs->table, xid);
}

static uint64_t answer_us(const struct rdma_keepalive *watch)
{
	uint64_t keepalive_us = watch->rq->conn->config->keepalive_us;

	return keepalive_us < RDMA_KEEPALIVE_ANSWER_US ? keepalive_us : RDMA_KEEPALIVE_ANSWER_US;
}

static void fail_silent(struct rdma_keepalive *watch)
{
	struct rdma_conn *conn = watch->rq->conn;

	conn->counters->null_calls_unanswered++;
	rdma_conn_fail(
		conn, LEG_CLOSE_SILENT, "no NULL Call was answered in %llu s",
		(unsigned long long)(NULL_CALLS_UNANSWERED_MAX * answer_us(watch) / 1000000));
}

static void send_null_call(struct rdma_keepalive *watch)
{
	const struct call_info *like = requester_null_template(watch->rq);
	uint32_t xid;

	if (!like) {
		watch->asked = 0;
		return;
	}
	if (watch->asked == NULL_CALLS_UNANSWERED_MAX) {
		fail_silent(watch);
		return;
	}
	xid = like->hdr.xid + XID_DISTANCE;
	while (is_in_flight(watch, xid))
		xid++;
	/* An earlier unanswered NULL Call also serves as a check. */
	if (requester_null_send(watch->rq, xid, like) || watch->rq->sent_null_calls.count)
		watch->asked++;
}

static void probe_peer(struct rdma_keepalive *watch)
{
	struct rdma_conn *conn = watch->rq->conn;
	int rc = fabric_ep_keepalive(conn->ep);

	watch->quiet = 0;
	if (rc == -EOPNOTSUPP && conn->connector)
		send_null_call(watch);
}

/* Returns the number of consecutive checks without a message after which the peer is probed. */
static unsigned quiet_limit(const struct rdma_keepalive *watch)
{
	uint64_t check_us = answer_us(watch) / TICKS;

	if (watch->asked)
		return TICKS;
	return (unsigned)((watch->rq->conn->config->keepalive_us + check_us - 1) / check_us);
}

static void set_timer(struct rdma_keepalive *watch)
{
	loop_timer_set(watch->rq->conn->fabric->loop, watch->timer, answer_us(watch) / TICKS);
}

static void on_timer(void *arg)
{
	struct rdma_keepalive *watch = arg;
	struct rdma_conn *conn = watch->rq->conn;

	if (rdma_conn_is_closing(conn))
		return;
	if (conn->message_seen) {
		conn->message_seen = false;
		watch->quiet = watch->asked = 0;
	} else if (++watch->quiet >= quiet_limit(watch)) {
		probe_peer(watch);
	}
	set_timer(watch);
}

int rdma_keepalive_init(struct rdma_keepalive *watch, struct requester *rq,
			const struct responder *rs)
{
	*watch = (struct rdma_keepalive){.rq = rq, .rs = rs};
	watch->timer = loop_timer_new(rq->conn->fabric->loop, on_timer, watch);
	return watch->timer ? 0 : -ENOMEM;
}

void rdma_keepalive_fini(struct rdma_keepalive *watch)
{
	loop_timer_free(watch->rq->conn->fabric->loop, watch->timer);
}

void rdma_keepalive_start(struct rdma_keepalive *watch)
{
	const struct rdma_conn *conn = watch->rq->conn;
	struct fabric_ep_info info;

	fabric_ep_info(conn->ep, &info);
	if (!conn->config->keepalive_us || info.watch == FABRIC_KEEPALIVE_BUILTIN)
		return;
	if (info.watch == FABRIC_KEEPALIVE_NONE && conn->connector)
		requester_null_reserve_credit(watch->rq);
	set_timer(watch);
}

void rdma_keepalive_stop(struct rdma_keepalive *watch)
{
	loop_timer_clear(watch->rq->conn->fabric->loop, watch->timer);
}
