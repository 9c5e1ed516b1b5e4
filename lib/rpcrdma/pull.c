// SPDX-License-Identifier: BSD-3-Clause
/* The read chunks of a message, fetched to where they belong. */
#include "rpcrdma/pull.h"

#include <string.h>

#include "base/least.h"
#include "rpcrdma/work.h"

struct pull {
	size_t size_bytes; /* with the tables and the inline bytes behind it */
	struct rdma_conn *conn;
	struct exchange *x;
	const struct rpc_msg *to;
	void (*done)(void *arg);
	void *arg;
	uint32_t total_bytes;
	unsigned ncopies, npulls;
	unsigned next;       /* of the pulls, the first that is not asked for whole */
	uint32_t next_bytes; /* … and how much of it is */
	unsigned posted;     /* Reads that are not done */
	struct plan_copy *copies;
	uint8_t *body;
	struct plan_pull pulls[];
};

struct pull *pull_new(struct rdma_conn *conn, const struct msg_plan *plan, const uint8_t *body,
		      uint32_t len_bytes)
{
	size_t pulls = plan->npulls * sizeof(plan->pulls[0]);
	size_t copies = plan->ncopies * sizeof(plan->copies[0]);
	size_t size = sizeof(struct pull) + pulls + copies + len_bytes;
	struct pull *pull = spares_get(conn->leg->config->spares, size);

	if (!pull)
		return NULL;
	*pull = (struct pull){
		.size_bytes = size,
		.conn = conn,
		.total_bytes = plan->total_bytes,
		.ncopies = plan->ncopies,
		.npulls = plan->npulls,
		.copies = (struct plan_copy *)(pull->pulls + plan->npulls),
		.body = (uint8_t *)pull + sizeof(*pull) + pulls + copies,
	};
	memcpy(pull->pulls, plan->pulls, pulls);
	memcpy(pull->copies, plan->copies, copies);
	if (len_bytes)
		memcpy(pull->body, body, len_bytes);
	return pull;
}

void pull_free(struct pull *pull)
{
	if (pull)
		spares_put(pull->conn->leg->config->spares, pull, pull->size_bytes);
}

uint32_t pull_total_bytes(const struct pull *pull)
{
	return pull->total_bytes;
}

static void on_read(void *arg);

/* One Read for the next bytes, no longer than the endpoint takes at once. */
static void read_next(struct pull *pull)
{
	const struct plan_pull *p = &pull->pulls[pull->next];
	uint32_t n = least(p->len_bytes - pull->next_bytes, pull->conn->max_transfer_bytes);
	struct fabric_sge to = {pull->to->buf, pull->to->data + p->to + pull->next_bytes, n};
	uint64_t from = p->offset + pull->next_bytes;

	pull->next_bytes += n;
	if (pull->next_bytes == p->len_bytes) {
		pull->next++;
		pull->next_bytes = 0;
	}
	pull->posted++;
	work_read(pull->conn, &to, p->handle, from, pull->x, on_read, pull);
}

static void read_more(struct pull *pull)
{
	while (pull->next < pull->npulls && pull->posted < PULL_READS_MAX)
		read_next(pull);
}

static void on_read(void *arg)
{
	struct pull *pull = arg;

	pull->posted--;
	if (!rdma_conn_is_up(pull->conn))
		return;
	read_more(pull);
	if (!pull->posted)
		pull->done(pull->arg);
}

bool pull_start(struct pull *pull, const struct rpc_msg *to, struct exchange *x,
		void (*done)(void *arg), void *arg)
{
	pull->to = to;
	pull->x = x;
	pull->done = done;
	pull->arg = arg;
	msg_plan_copy(pull->copies, pull->ncopies, to->data, pull->body);
	read_more(pull);
	return !pull->npulls;
}

/* An entry of a read list takes as much in its Send as a pull here; it makes two of these at most, and two copies. */
_Static_assert(sizeof(struct plan_pull) + sizeof(struct plan_copy) <=
		       RPCRDMA_READ_SEGMENT_BYTES + RPCRDMA_READ_SEGMENT_BYTES / 2,
	       "what is kept of a Send is at most three times as long");

size_t pull_cost_bytes(uint32_t recv_bytes)
{
	/* The two copies more are of what lies before and behind all chunks. */
	return sizeof(struct pull) + 3 * (size_t)recv_bytes + 2 * sizeof(struct plan_copy) +
	       work_cost_bytes(PULL_READS_MAX);
}
