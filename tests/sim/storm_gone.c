// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients of a storm that send one Call, shut down their sending side and disconnect while the
 * server hangs. They have the same address as the others, and use the connection slots of the first
 * gate one after the other.
 */
#include <stdlib.h>

#include "rpc/xdr.h"
#include "tests/sim/rig.h"
#include "tests/sim/storm.h"

#define GONE_HANG_US 6000000u /* at least; and so much more at most */
#define GONE_OF      4u       /* turns from one to the next, about */
#define GONE_XID     0x05000000u

static void received(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	struct storm *storm = arg;
	uint32_t xid, seq;

	RIG_ASSERT(len_bytes >= 8);
	/* It answers no reverse Call. */
	if (be32_get(msg + 4) == 0)
		return;
	xid = be32_get(msg);
	RIG_ASSERT(storm_gone_knows(storm, xid));
	seq = storm_reply_seq(msg, len_bytes);
	RIG_ASSERT(seq <= storm->seq);
	storm_reply(&storm->reply, &storm->plan.traffic, xid, seq);
	if (storm_same(&storm->reply, msg, len_bytes))
		return;
	RIG_ASSERT(storm_may_fail(storm, xid, &storm->reply));
	RIG_ASSERT(storm_is_failure(&storm->plan.traffic, xid, msg, len_bytes));
}

static const struct record_end_events wire_events = {.received = received};

bool storm_gone_knows(const struct storm *storm, uint32_t xid)
{
	return xid > GONE_XID && xid <= GONE_XID + storm->gone.called;
}

static void come(struct storm *storm)
{
	struct storm_gone *gone = &storm->gone;
	struct storm_gone_wire *it = calloc(1, sizeof(*it));
	uint32_t xid = GONE_XID + ++gone->called;

	RIG_ASSERT(it);
	it->wire.events = &wire_events;
	it->wire.arg = storm;
	record_end_start(&it->wire, chain_dial(storm->chain));
	storm_call(&storm->call, &storm->plan.traffic, xid, ++storm->seq);
	record_end_send(&it->wire, storm->call.bytes, storm->call.len_bytes);
	TAILQ_INSERT_TAIL(&gone->wires, it, entry);
	storm->counts.gone++;
}

static void conn_tick(struct storm_gone *gone, struct storm_gone_wire *it)
{
	if (it->wire.is_over) {
		TAILQ_REMOVE(&gone->wires, it, entry);
		record_end_fini(&it->wire);
		free(it);
	} else if (!it->shut && !it->wire.out_bytes) {
		record_end_shutdown(&it->wire);
		it->shut = true;
	}
}

void storm_gone_init(struct storm *storm)
{
	struct service_config *config = &chain_first(storm->chain)->config;

	TAILQ_INIT(&storm->gone.wires);
	/* So many that they lack places soon; the other limit is reached by some alone. */
	config->max_connections = storm->nclients + 4;
	config->half_closed_timeout_s = storm->plan.traffic.seed / 4 % 2 ? 5 : 9;
}

void storm_gone_begin(struct storm *storm)
{
	if (!storm->gone.hang_end_us)
		storm->gone.hang_end_us = loop_now_us(storm->chain->loop) + GONE_HANG_US +
					  storm_below(storm, GONE_HANG_US);
}

bool storm_gone_hangs(const struct storm *storm)
{
	return storm->gone.hang_end_us != 0;
}

void storm_gone_turn(struct storm *storm)
{
	struct storm_gone *gone = &storm->gone;
	struct storm_gone_wire *it = TAILQ_FIRST(&gone->wires);
	struct conn_limits_counts counts;

	while (it) {
		struct storm_gone_wire *next = TAILQ_NEXT(it, entry);

		conn_tick(gone, it);
		it = next;
	}
	conn_limits_counts_get(&chain_first(storm->chain)->service.limits, &counts);
	RIG_ASSERT(counts.active <= chain_first(storm->chain)->config.max_connections);
	if (!gone->hang_end_us)
		return;
	if (loop_now_us(storm->chain->loop) >= gone->hang_end_us)
		gone->hang_end_us = 0;
	else if (!storm->resting && storm_below(storm, GONE_OF) == 0)
		come(storm);
}

bool storm_gone_lasts(const struct storm *storm)
{
	return storm->gone.hang_end_us || !TAILQ_EMPTY(&storm->gone.wires);
}

void storm_gone_close(struct storm *storm)
{
	struct storm_gone_wire *it;

	storm->gone.hang_end_us = 0;
	TAILQ_FOREACH(it, &storm->gone.wires, entry)
		record_end_close(&it->wire, true);
	storm_gone_turn(storm);
}

void storm_gone_counts(struct storm *storm)
{
	storm->counts.half_closed += chain_closes(storm->chain, 0, LEG_CLOSE_HALF_CLOSED);
	storm->counts.half_closed_timeouts +=
		chain_closes(storm->chain, 0, LEG_CLOSE_HALF_CLOSED_TIMEOUT);
}
