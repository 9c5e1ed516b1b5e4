// SPDX-License-Identifier: BSD-3-Clause
/*
 * FPDUs are built from the queues into a batch, one message at a time. A tagged message is finished
 * before the next one starts, even if others wait: Linux siw drops a connection on which two tagged
 * messages interleave.
 *
 * Read Responses and posted work alternate, message by message, so that neither starves: endless
 * Reads of a peer do not delay a Send, and endless Sends and Writes do not delay its Responses.
 *
 * A Read Response may have to wait for its data (fabric_key_ready()). Before it begins, it delays
 * only other Responses, which are sent in the order of the Reads. After it has begun, Sends and
 * Read Requests, which are not tagged, still pass it; a Write, and the Sends after that Write, wait
 * for its end.
 */
#include "fabric/iwarp/engine_priv.h"

/*
 * Limit of bytes built ahead of the socket: their payload is then still in the CPU cache when the
 * kernel copies it.
 */
#define BATCH_BYTES (512u * 1024u)
/* Maximum of one FPDU: its start, a piece for each sge, its end. */
#define FPDU_PIECES         (FABRIC_MAX_SGE + 2u)
#define FPDU_OVERHEAD_BYTES (MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES + TERM_MAX_BYTES + 8u)

enum tx_next {
	NEXT_NOTHING,
	NEXT_READ,
	NEXT_NUDGE,
	NEXT_RESPONSE,
	NEXT_WR,
};

static enum tx_next next_of(const struct iwarp_engine *engine)
{
	const struct engine_irrq_entry *irrq = engine_irrq_next(engine);
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->queue);
	uint32_t ready = irrq ? engine_irrq_ready(irrq) : 0;
	bool begun = irrq && irrq->offset > 0;

	if (engine->tx.wr)
		return NEXT_WR;
	if (begun && ready)
		return NEXT_RESPONSE;
	if (!TAILQ_EMPTY(&engine->reads_wait) && engine->reads_out_count < engine->ord &&
	    engine->state == ENGINE_OPEN)
		return NEXT_READ;
	if (engine->tx.nudge && !begun)
		return NEXT_NUDGE;
	if (irrq && !begun && ready == irrq->read.size_bytes && !(wr && engine->tx.response_last))
		return NEXT_RESPONSE;
	/* Before a Response that would have to wait after it has begun. */
	if (wr && !(begun && wr->op == FABRIC_WRITE))
		return NEXT_WR;
	return ready ? NEXT_RESPONSE : NEXT_NOTHING;
}

/*
 * Builds the next FPDU, if one is due and it may directly follow the FPDUs built so far. Returns
 * true if it built one. An FPDU that may not is built after the earlier FPDUs have been sent.
 */
static bool fpdu_next(struct iwarp_engine *engine)
{
	if (engine->tx.terminate != REASON_NONE) {
		engine_terminate_build(engine);
		return true;
	}
	if (!engine_up(engine) || engine->tx.await_first_fpdu)
		return false;
	switch (next_of(engine)) {
	case NEXT_READ:
		return engine_read_build(engine);
	case NEXT_NUDGE:
		return engine_nudge_build(engine);
	case NEXT_RESPONSE:
		return engine_response_build(engine);
	case NEXT_WR:
		return engine_wr_build(engine);
	case NEXT_NOTHING:
		break;
	}
	return false;
}

/* Returns true if nothing is left to send before the connection may end, or nothing can be sent. */
static bool tx_idle(const struct iwarp_engine *engine)
{
	const struct engine_tx *tx = &engine->tx;

	if (tx->batch && tx->batch->unsent_bytes)
		return false;
	if (engine->state == ENGINE_LAST_FRAME)
		return tx->terminate == REASON_NONE;
	/* A responder must not send before the initiator has sent its first FPDU. */
	return tx->await_first_fpdu || next_of(engine) == NEXT_NOTHING;
}

static void tx_finish_sent(struct iwarp_engine *engine)
{
	if (engine->tx.batch && engine->tx.batch->unsent_bytes == 0)
		engine_batch_put(engine);
	if ((engine->state == ENGINE_CLOSING || engine->state == ENGINE_LAST_FRAME) &&
	    tx_idle(engine))
		engine_state_set(engine, ENGINE_FIN_WAIT);
}

unsigned iwarp_engine_tx_plan(struct iwarp_engine *engine, const struct iovec **iov)
{
	struct engine_tx *tx = &engine->tx;
	struct fabric_wr *wr;

	while ((wr = TAILQ_FIRST(&engine->failed))) {
		TAILQ_REMOVE(&engine->failed, wr, entry);
		wr->done(wr, FABRIC_ERR_LOCAL);
	}
	if (engine->state >= ENGINE_FIN_WAIT)
		return 0;
	if (!engine_batch_get(engine)) {
		engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
		return 0;
	}
	while (tx->batch->unsent_bytes < BATCH_BYTES &&
	       iwarp_tx_batch_fits(tx->batch, FPDU_PIECES, FPDU_OVERHEAD_BYTES))
		if (!fpdu_next(engine))
			break;
	tx_finish_sent(engine);
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
		tx->segment_start = tx->sent;
	engine->counters->bytes_sent += len_bytes;
	fpdus = iwarp_tx_batch_sent(tx->batch, len_bytes, tx->sent);
	engine->counters->fpdus_sent += fpdus;
	if (fpdus)
		engine_nudge_start(engine, now_us);
	engine_keepalive_sent(engine, now_us);
	engine_irrq_sent(engine);
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
		engine_handshake_reply_sent(engine, now_us);
	tx_finish_sent(engine);
}
