// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_watch.h"

#include <errno.h>

#include "rpcrdma/requester.h"

#define LOOKS 2u /* checks while waiting for an answer, and the fewest in a silence */
#define ASKS  NULL_CALLS_MAX

/* Far from the XIDs that a client counts up from the template Call. */
#define XID_DISTANCE 0x80000000u

static bool is_in_flight(const struct rdma_watch *watch, uint32_t xid)
{
	return requester_rpc_find(watch->rq, xid) || requester_is_ours(watch->rq, xid) ||
	       xid_table_find(&watch->rs->table, xid);
}

static uint64_t answer_us(const struct rdma_watch *watch)
{
	uint64_t keepalive_us = watch->rq->conn->config->keepalive_us;

	return keepalive_us < RDMA_WATCH_ANSWER_US ? keepalive_us : RDMA_WATCH_ANSWER_US;
}

static void give_up(struct rdma_watch *watch)
{
	struct rdma_conn *conn = watch->rq->conn;

	conn->counters->null_calls_unanswered++;
	rdma_conn_fail(conn, LEG_CLOSE_SILENT, "no NULL Call was answered in %llu s",
		       (unsigned long long)(ASKS * answer_us(watch) / 1000000));
}

static void ask_server(struct rdma_watch *watch)
{
	const struct call_facts *like = requester_null_like(watch->rq);
	uint32_t xid;

	if (!like) {
		watch->asked = 0;
		return;
	}
	if (watch->asked == ASKS) {
		give_up(watch);
		return;
	}
	xid = like->hdr.xid + XID_DISTANCE;
	while (is_in_flight(watch, xid))
		xid++;
	/* An earlier unanswered NULL Call also serves as a check. */
	if (requester_null_send(watch->rq, xid, like) || watch->rq->nulls.count)
		watch->asked++;
}

static void ask(struct rdma_watch *watch)
{
	struct rdma_conn *conn = watch->rq->conn;
	int rc = fabric_ep_probe(conn->ep);

	watch->quiet = 0;
	if (rc == -EOPNOTSUPP && conn->connector)
		ask_server(watch);
}

/* Returns the number of consecutive checks without a message after which the peer is probed. */
static unsigned patience(const struct rdma_watch *watch)
{
	uint64_t look_us = answer_us(watch) / LOOKS;

	if (watch->asked)
		return LOOKS;
	return (unsigned)((watch->rq->conn->config->keepalive_us + look_us - 1) / look_us);
}

static void set_timer(struct rdma_watch *watch)
{
	loop_timer_set(watch->rq->conn->fabric->loop, watch->timer, answer_us(watch) / LOOKS);
}

static void look(void *arg)
{
	struct rdma_watch *watch = arg;
	struct rdma_conn *conn = watch->rq->conn;

	if (rdma_conn_is_over(conn))
		return;
	if (conn->heard) {
		conn->heard = false;
		watch->quiet = watch->asked = 0;
	} else if (++watch->quiet >= patience(watch)) {
		ask(watch);
	}
	set_timer(watch);
}

int rdma_watch_init(struct rdma_watch *watch, struct requester *rq, const struct responder *rs)
{
	*watch = (struct rdma_watch){.rq = rq, .rs = rs};
	watch->timer = loop_timer_new(rq->conn->fabric->loop, look, watch);
	return watch->timer ? 0 : -ENOMEM;
}

void rdma_watch_fini(struct rdma_watch *watch)
{
	loop_timer_free(watch->rq->conn->fabric->loop, watch->timer);
}

void rdma_watch_start(struct rdma_watch *watch)
{
	const struct rdma_conn *conn = watch->rq->conn;
	struct fabric_ep_info info;

	fabric_ep_info(conn->ep, &info);
	if (!conn->config->keepalive_us || info.watch == FABRIC_WATCH_ITSELF)
		return;
	if (info.watch == FABRIC_WATCH_NONE && conn->connector)
		requester_null_reserve(watch->rq);
	set_timer(watch);
}

void rdma_watch_end(struct rdma_watch *watch)
{
	loop_timer_clear(watch->rq->conn->fabric->loop, watch->timer);
}
