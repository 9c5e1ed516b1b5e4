// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/inflight.h"

void inflight_init(struct inflight *flight, struct leg *leg)
{
	flight->leg = leg;
	xid_table_init(&flight->in, EXCHANGE_ORIGIN);
	TAILQ_INIT(&flight->in_list);
	xid_table_init(&flight->out, EXCHANGE_TARGET);
	TAILQ_INIT(&flight->out_list);
	TAILQ_INIT(&flight->faulted);
}

void inflight_fini(struct inflight *flight)
{
	xid_table_fini(&flight->in);
	xid_table_fini(&flight->out);
}

void inflight_release(struct inflight *flight)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&flight->in_list)))
		inflight_in_end(flight, x);
	while ((x = TAILQ_FIRST(&flight->out_list))) {
		inflight_out_remove(flight, x);
		exchange_put(x);
	}
	while ((x = inflight_fault_pop(flight)))
		exchange_put(x);
}

bool inflight_is_idle(const struct inflight *flight)
{
	return TAILQ_EMPTY(&flight->in_list) && TAILQ_EMPTY(&flight->out_list) &&
	       TAILQ_EMPTY(&flight->faulted);
}

void inflight_out_fault(struct inflight *flight, struct exchange *x)
{
	TAILQ_INSERT_TAIL(&flight->faulted, x, target_entry);
	x->target = flight->leg;
}

struct exchange *inflight_fault_pop(struct inflight *flight)
{
	struct exchange *x = TAILQ_FIRST(&flight->faulted);

	if (!x)
		return NULL;
	TAILQ_REMOVE(&flight->faulted, x, target_entry);
	x->target = NULL;
	return x;
}
