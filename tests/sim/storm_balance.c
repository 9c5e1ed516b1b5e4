// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/storm_balance.h"

#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/sim/sim_priv.h"
#include "tests/sim/rig.h"

/* What the legs of a chain hold. */
struct held {
	size_t bytes;  /* claimed from the budget, at one gate */
	unsigned keys; /* bound, at all */
};

static const struct rdma_leg *rdma_leg_in(const struct chain_tap *tap)
{
	struct leg_info info;

	if (!tap->leg || !tap->opened || tap->closing)
		return NULL;
	leg_info(tap->leg, &info);
	return strcmp(info.kind, "sim") ? NULL : rdma_leg_of(tap->leg);
}

/* The other end of its connection. */
static const struct rdma_leg *peer_of(const struct rdma_leg *leg)
{
	return sim_ep_of(leg->conn.ep)->peer->ep.arg;
}

static size_t claimed(const struct budget_claim *claim)
{
	return claim->state == BUDGET_CLAIM_GRANTED ? claim->bytes : 0;
}

/* Calls that it has sent; reverse Calls can be abandoned without an answer. */
static void add_sent(struct held *held, const struct rdma_leg *leg)
{
	const struct requester *rq = &leg->requester;
	const struct rdma_conn *conn = &leg->conn;
	const struct exchange *x;

	RIG_ASSERT(rq->nqueued == 0 && rq->count == rq->abandoned);
	RIG_ASSERT(rq->reverse || rq->count == 0);
	RIG_ASSERT(conn->window.in_flight == rq->abandoned + rq->sent_null_calls.count +
						     control_msgs_credits(&conn->control));
	TAILQ_FOREACH(x, &rq->active, target_entry) {
		const struct requester_rpc *rpc = x->target_priv;

		RIG_ASSERT(rpc->state == REQUESTER_ABANDONED);
		held->bytes += claimed(&x->claim);
		held->keys += rpc->exposed_mem.nkeys;
	}
}

/* Calls that came. Returns how many have no answer. */
static unsigned add_taken(struct held *held, const struct rdma_leg *leg)
{
	const struct exchange *x;
	unsigned count = 0;

	TAILQ_FOREACH(x, &leg->responder.calls, origin_entry) {
		const struct responder_rpc *rpc = x->origin_priv;

		RIG_ASSERT(leg->responder.reverse && rpc->state == RESPONDER_EXECUTING);
		held->bytes += claimed(&x->claim);
		count++;
	}
	RIG_ASSERT(leg->conn.grant.in_flight == count && leg->conn.grant.exposed == 0);
	return count;
}

/*
 * Receives left for the next Call: of Replies by read chunk, and of control messages that have no
 * answer. Any message of the peer completes several of these.
 */
static unsigned spare_max(const struct rdma_conn *conn)
{
	unsigned exposed = conn->limits.dialect->read_chunk_replies ? conn->config->credits : 0;
	unsigned control = conn->limits.dialect->options && conn->connector ? CONTROL_MSGS_MAX : 0;

	return exposed + control;
}

static void check_receives(const struct rdma_leg *leg, const struct rdma_leg *peer)
{
	const struct rdma_conn *conn = &leg->conn;
	const struct credit_grant *grant = &conn->grant;
	unsigned want = RDMA_RECV_RESERVE + conn->window.in_flight + grant->granted;
	unsigned have = conn->recvs_posted + grant->in_flight;
	unsigned may_call = peer->conn.window.granted;

	RIG_ASSERT(have >= want && have <= want + spare_max(conn));
	RIG_ASSERT(conn->recvs_posted + peer->conn.window.in_flight >=
		   may_call + conn->window.in_flight);
}

/* Memory is held for larger receives than at first while there are some, and not longer. */
static size_t claimed_for_receives(const struct rdma_leg *leg)
{
	const struct rdma_conn *conn = &leg->conn;
	uint32_t first = rdma_recv_bytes(inline_threshold_offer(&conn->recv_limit),
					 negotiation_least_bytes(&conn->negotiation),
					 conn->config->config_protocol);
	size_t bytes = leg->options ? claimed(&leg->options->claim) : 0;

	RIG_ASSERT((bytes > 0) == (posted_recvs_largest(&conn->recvs) > first));
	return bytes;
}

static void check_leg(struct held *held, const struct rdma_leg *leg)
{
	const struct rdma_leg *peer = peer_of(leg);

	RIG_ASSERT(rdma_conn_is_up(&leg->conn) && rdma_conn_is_up(&peer->conn));
	RIG_ASSERT(TAILQ_EMPTY(&leg->conn.work_requests.waiting) &&
		   leg->conn.work_requests.reads == 0);
	for (unsigned i = 0; i < WORK_CLASSES; i++)
		RIG_ASSERT(TAILQ_EMPTY(&leg->conn.work_requests.classes[i].posted));
	add_sent(held, leg);
	RIG_ASSERT(add_taken(held, leg) == peer->requester.abandoned);
	check_receives(leg, peer);
	held->bytes += claimed_for_receives(leg);
}

void storm_balance_always(const struct chain_tap *tap)
{
	const struct rdma_leg *leg = tap ? rdma_leg_in(tap) : NULL;
	const struct rdma_conn *conn = leg ? &leg->conn : NULL;

	/* On one that is lost, of which it is still to hear, none are posted any more. */
	if (!leg || !rdma_conn_is_up(conn) || sim_ep_of(conn->ep)->state != SIM_OPEN)
		return;
	RIG_ASSERT(conn->recvs_posted + conn->grant.in_flight >=
		   RDMA_RECV_RESERVE + conn->window.in_flight + conn->grant.granted +
			   conn->grant.exposed);
	RIG_ASSERT(conn->window.in_flight <= conn->window.asked &&
		   conn->grant.in_flight <= conn->grant.granted);
	RIG_ASSERT(conn->grant.exposed <= conn->grant.granted &&
		   conn->grant.granted <= conn->grant.max);
}

unsigned storm_balance(const struct chain *chain)
{
	struct held held = {0};
	unsigned legs = 0;

	for (unsigned i = 0; i < chain->ngates; i++) {
		const struct chain_gate *gate = &chain->gates[i];
		const struct chain_tap *tap;

		held.bytes = 0;
		for (tap = gate->taps; tap; tap = tap->next) {
			const struct rdma_leg *leg = rdma_leg_in(tap);

			if (!leg)
				continue;
			check_leg(&held, leg);
			legs++;
		}
		RIG_ASSERT(gate->budget.account.used_bytes == held.bytes);
		RIG_ASSERT(gate->budget.account.waiting == 0);
	}
	RIG_ASSERT(sim_net_stats(chain->fabric_net)->keys_bound == held.keys);
	return legs / 2;
}

static void check_counters(const struct chain_gate *gate)
{
	const struct rdma_leg_counters rdma = gate_rdma(gate);

	RIG_ASSERT(rdma.bad_calls == 0);
	RIG_ASSERT(rdma.short_discarded == 0 && rdma.xid_mismatches == 0);
	RIG_ASSERT(rdma.replies_over_limit == 0 && rdma.credit_zero_received == 0);
	RIG_ASSERT(rdma.err_vers_sent == 0 && rdma.characteristics_wrong == 0);
	RIG_ASSERT(rdma.recv_lowered_unasked == 0 && rdma.dones_ignored == 0);
	RIG_ASSERT(rdma.chunk_mismatches == 0 && rdma.calls_not_sendable == 0);
}

void storm_balance_end(const struct chain *chain, bool withdrawn)
{
	static const enum leg_close never[] = {
		LEG_CLOSE_VERSION, LEG_CLOSE_BAD_REPLY,      LEG_CLOSE_RESOURCES,
		LEG_CLOSE_NOT_RPC, LEG_CLOSE_RECORD_STALLED, LEG_CLOSE_XID_REUSED,
	};
	const struct sim_stats *stats = sim_net_stats(chain->fabric_net);

	RIG_ASSERT(stats->overruns == 0 && stats->overlong == 0);
	RIG_ASSERT(stats->access_errors == 0 || withdrawn);
	for (unsigned i = 0; i < chain->ngates; i++) {
		check_counters(&chain->gates[i]);
		for (unsigned why = 0; why < ARRAY_SIZE(never); why++)
			RIG_ASSERT(chain_closes(chain, i, never[why]) == 0);
		RIG_ASSERT(withdrawn || (!chain_closes(chain, i, LEG_CLOSE_PROTOCOL) &&
					 !chain_closes(chain, i, LEG_CLOSE_TERMINATED) &&
					 !chain_closes(chain, i, LEG_CLOSE_REPLY_STALLED)));
	}
}
