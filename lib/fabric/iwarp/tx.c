// SPDX-License-Identifier: BSD-3-Clause
/*
 * What to send next: FPDUs are built from the queues into a batch, one message at a time. A tagged message is
 * finished before the next one starts, whatever else waits: Linux siw drops a connection on which two of them
 * interleave.
 */
#include "fabric/iwarp/engine_priv.h"

/* As much is built ahead of the socket: its CRC is in the cache still when the kernel copies it. */
#define BATCH_BYTES (512u * 1024u)
/* The most that one FPDU takes: its start, a piece for each sge, its end. */
#define FPDU_PIECES     (FABRIC_MAX_SGE + 2u)
#define FPDU_GLUE_BYTES (MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES + TERM_MAX_BYTES + 8u)

/*
 * Build the next FPDU, if there is one to build and it may follow what is built already; returns whether.
 * One that may not is built once all before it has been sent.
 */
static bool fpdu_next(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;

	if (tx->terminate != REASON_NONE) {
		engine_terminate_build(engine);
		return true;
	}
	if (!engine_up(engine) || tx->hold)
		return false;
	if (!tx->irq && !tx->wr) {
		if (!TAILQ_EMPTY(&engine->reads_wait) && engine->reads_out_count < engine->ord &&
		    engine->state == ENGINE_OPEN)
			return engine_read_build(engine);
		if (tx->nudge)
			return engine_nudge_build(engine);
		tx->offset = 0;
		if (engine->irq_built < engine->irq_count) {
			tx->irq =
				&engine->irq[(engine->irq_head + engine->irq_built) % engine->ird];
			tx->total = tx->irq->read.size_bytes;
		} else if (!TAILQ_EMPTY(&engine->queue)) {
			tx->wr = TAILQ_FIRST(&engine->queue);
			tx->sge = 0;
			tx->sge_offset = 0;
			tx->total = 0;
			for (unsigned i = 0; i < tx->wr->nsge; i++)
				tx->total += tx->wr->sge[i].len_bytes;
		} else {
			return false;
		}
	}
	return tx->irq ? engine_response_build(engine) : engine_wr_build(engine);
}

/* Whether anything is left that must go out before the connection may end. */
static bool tx_idle(const struct iwarp_engine *engine)
{
	const struct engine_tx *tx = &engine->tx;

	if (tx->batch && tx->batch->unsent_bytes)
		return false;
	if (engine->state == ENGINE_ENDING)
		return tx->terminate == REASON_NONE;
	/* A responder whose peer never spoke may not speak either. */
	return tx->hold || (TAILQ_EMPTY(&engine->queue) && engine->irq_count == 0);
}

static void tx_settle(struct iwarp_engine *engine)
{
	if (engine->tx.batch && engine->tx.batch->unsent_bytes == 0)
		engine_batch_put(engine);
	if ((engine->state == ENGINE_CLOSING || engine->state == ENGINE_ENDING) && tx_idle(engine))
		engine_state_set(engine, ENGINE_ENDED);
}

unsigned iwarp_engine_tx_plan(struct iwarp_engine *engine, const struct iovec **iov)
{
	struct engine_tx *tx = &engine->tx;
	struct fabric_wr *wr;

	while ((wr = TAILQ_FIRST(&engine->failed))) {
		TAILQ_REMOVE(&engine->failed, wr, entry);
		wr->done(wr, FABRIC_ERR_LOCAL);
	}
	if (engine->state >= ENGINE_ENDED)
		return 0;
	if (!engine_batch_get(engine)) {
		engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
		return 0;
	}
	while (tx->batch->unsent_bytes < BATCH_BYTES &&
	       iwarp_batch_room(tx->batch, FPDU_PIECES, FPDU_GLUE_BYTES))
		if (!fpdu_next(engine))
			break;
	tx_settle(engine);
	if (!tx->batch)
		return 0;
	*iov = &tx->batch->iov[tx->batch->iov_head];
	return tx->batch->iov_tail - tx->batch->iov_head;
}

void iwarp_engine_tx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us)
{
	struct engine_tx *tx = &engine->tx;
	unsigned fpdus;
	struct fabric_wr *wr;

	if (!tx->batch)
		return;
	tx->sent += len_bytes;
	if (tx->batch->unsent_bytes == len_bytes)
		tx->train = tx->sent;
	engine->counters->bytes_sent += len_bytes;
	fpdus = iwarp_batch_sent(tx->batch, len_bytes, tx->sent);
	engine->counters->fpdus_sent += fpdus;
	if (fpdus)
		engine_nudge_start(engine, now_us);
	engine_irq_sent(engine);
	while ((wr = TAILQ_FIRST(&engine->built)) && wr->priv[0] <= tx->sent &&
	       wr->priv[0] <= tx->valid) {
		TAILQ_REMOVE(&engine->built, wr, entry);
		if (wr->op == FABRIC_WRITE)
			engine->counters->writes_sent++;
		else
			engine->counters->sends_sent++;
		if (wr->op == FABRIC_SEND_INV)
			engine->counters->sends_inv_sent++;
		wr->done(wr, FABRIC_OK);
	}
	if (engine->state == ENGINE_REPLYING && tx->batch->unsent_bytes == 0)
		engine_setup_replied(engine, now_us);
	tx_settle(engine);
}
