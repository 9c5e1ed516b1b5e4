// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/iwarp/engine_priv.h"

#define DEFAULT_MSS_BYTES 1448u
/*
 * No Ethernet has segments this long, so the peer is software: not every adapter accepts an FPDU
 * longer than a TCP segment.
 */
#define BEYOND_ETHERNET_BYTES 16384u

void iwarp_env_fini(struct iwarp_env *env)
{
	free(env->spare);
	env->spare = NULL;
}

struct iwarp_engine *iwarp_engine_new(struct iwarp_env *env, const struct iwarp_config *config,
				      const struct fabric_ep_events *events, void *arg)
{
	struct iwarp_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->env = env;
	engine->counters = env->counters;
	engine->config = *config;
	if (!engine->config.setup_timeout_us)
		engine->config.setup_timeout_us = IWARP_SETUP_TIMEOUT_US;
	engine->events = events;
	engine->arg = arg;
	engine->setup_deadline = engine->close_deadline = engine->nudge_deadline = UINT64_MAX;
	engine->keepalive_deadline = UINT64_MAX;
	stag_table_init(&engine->keys, IWARP_MAX_KEYS);
	posted_recvs_init(&engine->recvs);
	TAILQ_INIT(&engine->awaiting_write);
	TAILQ_INIT(&engine->unbinding);
	TAILQ_INIT(&engine->queue);
	TAILQ_INIT(&engine->built);
	TAILQ_INIT(&engine->reads_wait);
	TAILQ_INIT(&engine->reads_out);
	TAILQ_INIT(&engine->failed);
	/* RFC 5041 section 5.1: the first message of a queue is number 1. */
	engine->send_msn_tx = engine->send_msn_rx = 1;
	engine->read_msn_tx = engine->read_msn_rx = 1;
	engine->rx.header_need = MPA_LENGTH_BYTES;
	rx_predict_init(&engine->rx.predict);
	engine->tx.valid = UINT64_MAX;
	iwarp_engine_mss(engine, DEFAULT_MSS_BYTES);
	return engine;
}

void iwarp_engine_counters_set(struct iwarp_engine *engine, struct iwarp_counters *counters)
{
	engine->counters = counters;
}

void iwarp_engine_free(struct iwarp_engine *engine)
{
	if (!engine)
		return;
	stag_table_fini(&engine->keys);
	posted_recvs_fini(&engine->recvs);
	engine_handshake_free(engine);
	free(engine->irrq);
	free(engine);
}

static bool fpdu_is_64k(enum iwarp_fpdu fpdu, unsigned mss_bytes)
{
	return fpdu == IWARP_FPDU_64K ||
	       (fpdu == IWARP_FPDU_AUTO && mss_bytes >= BEYOND_ETHERNET_BYTES);
}

void iwarp_engine_mss(struct iwarp_engine *engine, unsigned mss_bytes)
{
	unsigned bytes = mss_bytes & ~3u;

	if (bytes > IWARP_MAX_FPDU_BYTES || fpdu_is_64k(engine->config.fpdu, mss_bytes))
		bytes = IWARP_MAX_FPDU_BYTES;
	if (bytes < IWARP_MIN_FPDU_BYTES)
		bytes = IWARP_MIN_FPDU_BYTES;
	engine->fpdu_bytes = bytes;
	engine->mss_bytes = mss_bytes > IWARP_MIN_FPDU_BYTES ? mss_bytes : IWARP_MIN_FPDU_BYTES;
}

void iwarp_engine_depths(const struct iwarp_engine *engine, unsigned *ird, unsigned *ord)
{
	*ird = engine->ird;
	*ord = engine->ord;
}

void iwarp_engine_describe(const struct iwarp_engine *engine, char text[FABRIC_TEXT_BYTES])
{
	snprintf(text, FABRIC_TEXT_BYTES,
		 "MPA revision %u, CRC %s, no markers, FPDUs of up to %u bytes to it, "
		 "Reads: %u from it, %u to it",
		 engine->revision, engine->crc ? "on" : "off", engine->fpdu_bytes, engine->ird,
		 engine->ord);
}

void iwarp_engine_recv_post(struct iwarp_engine *engine, unsigned count, uint32_t size_bytes)
{
	if (engine->state <= ENGINE_OPEN && posted_recvs_add(&engine->recvs, count, size_bytes) < 0)
		engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory for receives");
}

unsigned iwarp_engine_recv_resize(struct iwarp_engine *engine, uint32_t size_bytes)
{
	const struct engine_rx *rx = &engine->rx;
	/*
	 * A Send whose header has arrived was checked against the first receive; inside recv() that
	 * receive is already consumed.
	 */
	bool in_send = rx->stage != RX_HEADER && rx->trailer_have < rx->trailer_need &&
		       engine_rx_is_send(rx);
	unsigned kept = rx->send_have || rx->send_buf || in_send ? 1 : 0;

	if (engine->state != ENGINE_OPEN)
		return FABRIC_RECV_KEPT;
	posted_recvs_resize(&engine->recvs, kept, size_bytes);
	return kept;
}

int iwarp_engine_post(struct iwarp_engine *engine, struct fabric_wr *wr)
{
	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	if (wr->op != FABRIC_READ) {
		TAILQ_INSERT_TAIL(&engine->queue, wr, entry);
		return 0;
	}
	/* A peer with an IRD of 0 will never accept this Read. */
	if (engine->ord == 0) {
		TAILQ_INSERT_TAIL(&engine->failed, wr, entry);
		return 0;
	}
	engine_read_post(engine, wr);
	return 0;
}

int iwarp_engine_key_bind(struct iwarp_engine *engine, struct fabric_key *key)
{
	int err;

	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	err = stag_table_add(&engine->keys, &engine->env->random, key);
	if (err < 0)
		return err;
	coverage_init(&key->written, 0);
	if (engine_key_awaits(key))
		TAILQ_INSERT_TAIL(&engine->awaiting_write, key, awaiting_write);
	buf_ref(key->buf);
	if ((key->rights & FABRIC_REMOTE_WRITE) && key->len_bytes >= RX_BULK_BYTES)
		engine->bulk++;
	return 0;
}

bool iwarp_engine_reads_wait(const struct iwarp_engine *engine)
{
	return engine_irrq_next(engine) != NULL;
}

bool iwarp_engine_key_unbind(struct iwarp_engine *engine, struct fabric_key *key)
{
	if ((key->rights & FABRIC_REMOTE_WRITE) && key->len_bytes >= RX_BULK_BYTES)
		engine->bulk--;
	if (engine_key_awaits(key))
		TAILQ_REMOVE(&engine->awaiting_write, key, awaiting_write);
	stag_table_remove(&engine->keys, key);
	coverage_fini(&key->written);
	if (engine->rx.key == key) {
		/* Discard the rest of the FPDU, and terminate with an invalid STag. */
		engine->rx.key = NULL;
		engine->rx.dest = NULL;
		engine->rx.verdict = REASON_STAG;
	}
	if (engine_key_busy(engine, key)) {
		/* The Response to the peer's Read is still sent; buf stays until then. */
		TAILQ_INSERT_TAIL(&engine->unbinding, key, entry);
		if (engine->state == ENGINE_OPEN && iwarp_engine_key_read_waits(engine, key))
			engine_drop(engine, FABRIC_CLOSE_LOCAL,
				    "unbound memory for which the peer's Read was waiting");
		return false;
	}
	buf_put(key->buf);
	return true;
}

void iwarp_engine_unacked(struct iwarp_engine *engine, size_t len_bytes)
{
	engine->unacked_bytes = len_bytes;
}

/* Returns the bytes to send before the close: in the socket, in the batch, posted, Responses. */
static uint64_t unsent_bytes(const struct iwarp_engine *engine)
{
	uint64_t bytes = engine->unacked_bytes;
	const struct fabric_wr *wr;

	if (engine->tx.batch)
		bytes += engine->tx.batch->unsent_bytes;
	TAILQ_FOREACH(wr, &engine->queue, entry)
		for (unsigned i = 0; i < wr->nsge; i++)
			bytes += wr->sge[i].len_bytes;
	for (unsigned i = engine->irrq_built; i < engine->irrq_count; i++) {
		const struct engine_irrq_entry *irrq =
			&engine->irrq[(engine->irrq_head + i) % engine->ird];

		bytes += irrq->read.size_bytes - irrq->offset;
	}
	return bytes;
}

void iwarp_engine_close(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->state >= ENGINE_CLOSING)
		return;
	engine_close_reason_set(engine, FABRIC_CLOSE_LOCAL, "closed");
	if (engine->state < ENGINE_OPEN) {
		engine_state_set(engine, ENGINE_DROPPED);
		return;
	}
	engine_state_set(engine, ENGINE_CLOSING);
	engine_close_deadline_set(engine, now_us);
	engine->close_acked = engine->tx.sent - engine->unacked_bytes;
	engine->close_end += unsent_bytes(engine) / IWARP_CLOSE_STEP_BYTES * IWARP_CLOSE_TIMEOUT_US;
	if (engine->close_end > now_us + IWARP_CLOSE_MAX_US)
		engine->close_end = now_us + IWARP_CLOSE_MAX_US;
}

void iwarp_engine_abort(struct iwarp_engine *engine, enum fabric_close why, const char *detail)
{
	engine_drop(engine, why, "%s", detail);
}

void iwarp_engine_rx_eof(struct iwarp_engine *engine)
{
	switch (engine->state) {
	case ENGINE_AWAIT_REPLY:
	case ENGINE_NEW:
	case ENGINE_AWAIT_REQUEST:
	case ENGINE_REQUESTED:
	case ENGINE_REPLYING:
		engine_handshake_eof(engine);
		break;
	case ENGINE_OPEN:
	case ENGINE_CLOSING:
		if (engine->rx.header_have > 0 || engine->rx.tagged_open || engine->rx.send_have)
			engine_drop(engine, FABRIC_CLOSE_LOST, "peer closed within a message");
		else
			engine_drop(engine, FABRIC_CLOSE_PEER, "orderly close");
		break;
	case ENGINE_LAST_FRAME:
	case ENGINE_FIN_WAIT:
	case ENGINE_DROPPED:
		engine_drop(engine, FABRIC_CLOSE_LOCAL, "closed");
		break;
	}
}

enum iwarp_action iwarp_engine_action(const struct iwarp_engine *engine)
{
	if (engine->state == ENGINE_DROPPED)
		return IWARP_DROP;
	return engine->state == ENGINE_FIN_WAIT ? IWARP_FIN : IWARP_CONTINUE;
}

enum fabric_close iwarp_engine_close_reason(const struct iwarp_engine *engine, const char **detail)
{
	*detail = engine->detail;
	return engine->why;
}

bool iwarp_engine_peer_speaks_rpc(const struct iwarp_engine *engine)
{
	return engine->peer_speaks_rpc;
}

static void list_flush(struct fabric_wr_list *list)
{
	struct fabric_wr *wr;

	while ((wr = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, wr, entry);
		wr->done(wr, FABRIC_FLUSHED);
	}
}

void iwarp_engine_flush(struct iwarp_engine *engine)
{
	struct fabric_key *key;

	if (engine->state != ENGINE_DROPPED)
		engine_state_set(engine, ENGINE_DROPPED);
	engine_batch_put(engine);
	engine->tx.wr = NULL;
	list_flush(&engine->built);
	list_flush(&engine->queue);
	while (!TAILQ_EMPTY(&engine->reads_out)) {
		const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
		bool refused = engine->refused && (uint32_t)wr->priv[1] == engine->refused_sink;

		engine_read_done(engine, refused ? FABRIC_ERR_REMOTE : FABRIC_FLUSHED);
	}
	list_flush(&engine->reads_wait);
	list_flush(&engine->failed);
	engine_irrq_flush(engine);
	while ((key = TAILQ_FIRST(&engine->unbinding))) {
		TAILQ_REMOVE(&engine->unbinding, key, entry);
		buf_put(key->buf);
		key->unbound(key);
	}
	buf_put(engine->rx.send_buf);
	engine->rx.send_buf = NULL;
	engine->rx.dest = NULL;
}
