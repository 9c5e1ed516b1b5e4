// SPDX-License-Identifier: BSD-3-Clause
/*
 * Work requests of the sim fabric: executed one per step, completed in order, flushed when the
 * connection ends.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sim/sim_priv.h"

/*
 * wr->priv[0] is the status once executed. Of a Read, wr->priv[1] is its stage, and wr->priv[0] how
 * many bytes have been read until then; of others wr->priv[1] is LATE while its completion is.
 */
#define LATE 1u

static uint32_t wr_bytes(const struct fabric_wr *wr)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < wr->nsge; i++)
		sum += wr->sge[i].len_bytes;
	return sum;
}

static struct fabric_wr_list *list_of(struct sim_ep *ep, const struct fabric_wr *wr)
{
	return wr->op == FABRIC_READ ? &ep->reads : &ep->sends;
}

static void start_reads(struct sim_ep *ep);

static void complete(struct sim_ep *ep, void *arg)
{
	struct fabric_wr *wr = arg;
	enum fabric_status status = wr->priv[0];

	TAILQ_REMOVE(list_of(ep, wr), wr, entry);
	if (wr->op == FABRIC_READ) {
		ep->reads_out--;
		start_reads(ep);
	}
	wr->done(wr, status);
	if (status != FABRIC_OK)
		sim_break(ep, FABRIC_CLOSE_LOST, FABRIC_CLOSE_LOST);
}

static void complete_late(struct sim_ep *ep)
{
	struct fabric_wr *wr;

	TAILQ_FOREACH(wr, &ep->sends, entry) {
		if (wr->priv[1] != LATE)
			continue;
		wr->priv[1] = 0;
		sim_schedule(ep, ep, SIM_SEND_DONE, complete, wr);
	}
}

static void late_enough(struct sim_ep *ep, void *arg)
{
	complete_late(ep);
}

/* Returns whether the completion is late. */
static bool is_late(struct sim_ep *ep, struct fabric_wr *wr, enum fabric_status status)
{
	if (!ep->net->faults.late_sends || wr->op == FABRIC_READ)
		return false;
	if (!wr->lazy || status != FABRIC_OK) {
		complete_late(ep);
		return false;
	}
	wr->priv[1] = LATE;
	ep->net->stats.sends_late++;
	sim_schedule_after(ep, ep, SIM_LATE, FABRIC_LAZY_US, late_enough, NULL);
	return true;
}

static void executed(struct sim_ep *ep, struct fabric_wr *wr, enum fabric_status status)
{
	wr->priv[0] = status;
	if (is_late(ep, wr, status))
		return;
	if (wr->op == FABRIC_READ)
		wr->priv[1] = SIM_READ_ANSWERED;
	if (status != FABRIC_OK)
		ep->broken = true;
	sim_schedule(ep, ep, wr->op == FABRIC_READ ? SIM_READ_DONE : SIM_SEND_DONE, complete, wr);
}

static void deliver(struct sim_ep *ep, struct fabric_wr *wr)
{
	struct sim_ep *to = ep->peer;
	struct sim_stats *stats = &ep->net->stats;
	uint32_t len = wr_bytes(wr), at = 0, room = 0;
	bool posted = posted_recvs_first(&to->recvs, &room);
	struct fabric_recv recv = {.len_bytes = len, .size_bytes = room};
	uint8_t *copy;

	if (!posted || len > room) {
		if (!posted)
			stats->overruns++;
		else
			stats->overlong++;
		sim_break(ep, FABRIC_CLOSE_TERMINATED, FABRIC_CLOSE_PROTOCOL);
		return;
	}
	if (wr->op == FABRIC_SEND_INV && !ep->net->faults.no_send_inv) {
		stats->sends_invalidating++;
		if (!sim_key_invalidate(to, wr->inv_rkey)) {
			stats->access_errors++;
			sim_break(ep, FABRIC_CLOSE_TERMINATED, FABRIC_CLOSE_PROTOCOL);
			return;
		}
		recv.invalidated = true;
		recv.inv_rkey = wr->inv_rkey;
	}
	/* Exactly as long as the Send, so that a sanitizer sees who reads past it. */
	copy = malloc(len ? len : 1);
	assert(copy);
	for (unsigned i = 0; i < wr->nsge; i++) {
		memcpy(copy + at, wr->sge[i].addr, wr->sge[i].len_bytes);
		at += wr->sge[i].len_bytes;
	}
	if (ep->net->alter)
		ep->net->alter(ep->net->alter_arg, copy, len);
	recv.data = copy;
	posted_recvs_consume(&to->recvs);
	executed(ep, wr, FABRIC_OK);
	to->ep.events->recv(to->ep.arg, &recv);
	free(copy);
}

/* How many bytes of a Write are placed: fewer than it has, if the peer lies about it. */
static uint32_t placed_bytes(struct sim_ep *ep, uint32_t len)
{
	struct sim_net *net = ep->net;

	if (!len || !net->faults.lie_one_in || sim_random(net) % net->faults.lie_one_in)
		return len;
	net->stats.lies++;
	net->stats.reverse_lies += ep->connects;
	return sim_random(net) % 2 ? (uint32_t)(sim_random(net) % len) : 0;
}

static void place(const struct fabric_wr *wr, uint8_t *mem, uint32_t len)
{
	for (unsigned i = 0; i < wr->nsge && len; i++) {
		const struct fabric_sge *sge = &wr->sge[i];
		uint32_t n = sge->len_bytes < len ? sge->len_bytes : len;

		memcpy(mem, sge->addr, n);
		mem += n;
		len -= n;
	}
}

static void write_peer(struct sim_ep *ep, struct fabric_wr *wr)
{
	uint32_t len = wr_bytes(wr), ready;
	uint8_t *mem =
		sim_key_reach(ep->peer, wr->rkey, wr->raddr, len, FABRIC_REMOTE_WRITE, &ready);

	if (!mem && len) {
		ep->net->stats.access_errors++;
		executed(ep, wr, FABRIC_ERR_REMOTE);
		return;
	}
	len = placed_bytes(ep, len);
	if (len) {
		place(wr, mem, len);
		sim_key_written(ep->peer, wr->rkey, mem, len);
	}
	executed(ep, wr, FABRIC_OK);
}

/* Reads what is there of what the first Read wants; returns whether that was all. */
static bool answer_read(struct sim_ep *ep, struct fabric_wr *wr)
{
	struct fabric_sge *sge = &wr->sge[0];
	uint32_t ready;
	const uint8_t *mem;

	if (wr->priv[1] == SIM_READ_FAILED) {
		executed(ep, wr, ep->net->faults.fail_status);
		return true;
	}
	mem = sim_key_reach(ep->peer, wr->rkey, wr->raddr, sge->len_bytes, FABRIC_REMOTE_READ,
			    &ready);
	if (!mem) {
		ep->net->stats.access_errors++;
		executed(ep, wr, FABRIC_ERR_REMOTE);
		return true;
	}
	/* Each byte is Read once only: its value must not have changed. */
	memcpy(sge->addr + wr->priv[0], mem + wr->priv[0], ready - wr->priv[0]);
	wr->priv[0] = ready;
	if (ready < sge->len_bytes)
		return false;
	executed(ep, wr, FABRIC_OK);
	return true;
}

/*
 * Answers the Reads that have reached the peer, in order; one that must wait holds up those behind
 * it.
 */
static void answer_reads(struct sim_ep *ep, void *arg)
{
	struct fabric_wr *wr;

	TAILQ_FOREACH(wr, &ep->reads, entry) {
		if (wr->priv[1] == SIM_READ_ANSWERED)
			continue;
		if (wr->priv[1] < SIM_READ_ARRIVED || ep->broken || !sim_ep_reaches(ep))
			return;
		if (!answer_read(ep, wr)) {
			ep->net->stats.reads_waited++;
			sim_key_unfilled(ep->peer, wr->rkey);
			return;
		}
		if (ep->peer)
			sim_key_answered(ep->peer, wr->rkey);
	}
}

static void execute(struct sim_ep *ep, void *arg)
{
	struct sim_net *net = ep->net;
	struct fabric_wr *wr = arg;
	bool fails;

	if (ep->broken || !sim_ep_reaches(ep) ||
	    (ep->peer->takes_no_sends && wr->op != FABRIC_READ))
		return; /* stays listed, to be flushed */
	fails = ++net->stats.wrs == net->faults.fail_wr;
	if (wr->op == FABRIC_READ) {
		wr->priv[1] = fails ? SIM_READ_FAILED : SIM_READ_ARRIVED;
		answer_reads(ep, NULL);
	} else if (fails) {
		executed(ep, wr, net->faults.fail_status);
	} else if (wr->op == FABRIC_WRITE) {
		write_peer(ep, wr);
	} else {
		deliver(ep, wr);
	}
}

void sim_key_ready(struct fabric_key *key)
{
	struct sim_ep *ep = sim_ep_of(key->ep);

	assert(!ep->net->faults.no_late_reads);
	if (sim_key_is_read(ep, key))
		sim_schedule(ep->peer, ep->peer, SIM_READ_START, answer_reads, NULL);
}

static void start_reads(struct sim_ep *ep)
{
	struct fabric_wr *wr;

	TAILQ_FOREACH(wr, &ep->reads, entry) {
		if (ep->reads_out >= ep->ord)
			break;
		if (wr->priv[1])
			continue;
		wr->priv[1] = SIM_READ_ASKED;
		ep->reads_out++;
		if (ep->reads_out > ep->net->stats.max_reads)
			ep->net->stats.max_reads = ep->reads_out;
		sim_schedule(ep, ep, SIM_READ_START, execute, wr);
	}
}

int sim_post(struct fabric_ep *fep, struct fabric_wr *wr)
{
	struct sim_ep *ep = sim_ep_of(fep);
	unsigned max_sge = ep->net->faults.max_sge ? ep->net->faults.max_sge : FABRIC_MAX_SGE;
	struct fabric_wr *other;

	if (ep->state != SIM_OPEN)
		return -ENOTCONN;
	assert(wr->nsge <= max_sge && wr->done);
	assert((wr->op != FABRIC_READ && wr->op != FABRIC_WRITE) ||
	       !ep->net->faults.max_transfer_bytes ||
	       wr_bytes(wr) <= ep->net->faults.max_transfer_bytes);
	for (unsigned i = 0; i < wr->nsge; i++) {
		const struct fabric_sge *sge = &wr->sge[i];

		assert(sge->buf->refs > 0 && sge->addr >= sge->buf->mem &&
		       sge->addr + sge->len_bytes <= sge->buf->mem + sge->buf->size_bytes);
	}
	TAILQ_FOREACH(other, list_of(ep, wr), entry)
		assert(other != wr);
	wr->priv[0] = 0;
	wr->priv[1] = SIM_READ_POSTED;
	TAILQ_INSERT_TAIL(list_of(ep, wr), wr, entry);
	if (wr->op == FABRIC_READ) {
		assert(wr->nsge == 1 && wr->sge[0].len_bytes > 0 && ep->ord > 0);
		start_reads(ep);
	} else {
		sim_schedule(ep, ep->peer ? ep->peer : ep, SIM_INBOUND, execute, wr);
	}
	return 0;
}

/* Completes the first that is left of a list. */
bool sim_flush_one(struct fabric_wr_list *list)
{
	struct fabric_wr *wr = TAILQ_FIRST(list);

	if (!wr)
		return false;
	TAILQ_REMOVE(list, wr, entry);
	wr->done(wr, FABRIC_FLUSHED);
	return true;
}
