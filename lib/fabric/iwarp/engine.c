// SPDX-License-Identifier: BSD-3-Clause
/* The protocol engine: its life, its deadlines, what its owner posts. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/iwarp/state.h"

#define DEFAULT_MSS_BYTES 1448u

/* After our first FPDU went out, counted from then. */
static const uint64_t nudge_after_us[] = {20000, 100000, 1000000};

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
	engine->state = ENGINE_NEW;
	engine->setup_deadline = engine->close_deadline = engine->nudge_deadline = UINT64_MAX;
	iwarp_keys_init(&engine->keys, IWARP_MAX_KEYS);
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
	engine->rx.tagged_big = true;
	engine->tx.valid = UINT64_MAX;
	iwarp_engine_mss(engine, DEFAULT_MSS_BYTES);
	return engine;
}

void iwarp_engine_free(struct iwarp_engine *engine)
{
	if (!engine)
		return;
	iwarp_keys_fini(&engine->keys);
	engine_setup_forget(engine);
	free(engine->irq);
	free(engine);
}

void engine_setup_forget(struct iwarp_engine *engine)
{
	free(engine->setup);
	engine->setup = NULL;
	engine->request.private_data = NULL;
	engine->setup_deadline = UINT64_MAX;
}

void engine_state_set(struct iwarp_engine *engine, enum engine_state state)
{
	/* States only ever go forward. */
	if (state > engine->state)
		engine->state = state;
}

void engine_note(struct iwarp_engine *engine, const char *format, ...)
{
	char text[256];
	va_list args;

	if (engine->state == ENGINE_CLOSING || !engine->events->note)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	engine->events->note(engine->arg, text);
}

static void PRINTF_LIKE(3, 0) why_set(struct iwarp_engine *engine, enum fabric_close why,
				      const char *format, va_list args)
{
	if (engine->why_set)
		return;
	engine->why_set = true;
	engine->why = why;
	vsnprintf(engine->detail, sizeof(engine->detail), format, args);
}

void engine_why(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	why_set(engine, why, format, args);
	va_end(args);
}

void engine_drop(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	why_set(engine, why, format, args);
	va_end(args);
	engine_state_set(engine, ENGINE_DROPPED);
}

void engine_end(struct iwarp_engine *engine, uint64_t now_us)
{
	engine_state_set(engine, ENGINE_ENDING);
	if (engine->close_deadline == UINT64_MAX)
		engine->close_deadline = now_us + IWARP_CLOSE_TIMEOUT_US;
	engine->setup_deadline = engine->nudge_deadline = UINT64_MAX;
}

void engine_terminate(struct iwarp_engine *engine, enum iwarp_reason reason, uint64_t now_us)
{
	const struct iwarp_reason_info *info = iwarp_reason_info(reason);
	struct rdmap_terminate *term = &engine->tx.term;
	const struct engine_rx *rx = &engine->rx;

	term->layer = info->layer;
	term->type = info->type;
	term->code = info->code;
	if (info->bits && rx->header_have > MPA_LENGTH_BYTES) {
		term->bits = info->bits;
		term->segment_bytes =
			(uint16_t)(rx->payload_total + rx->header_have - MPA_LENGTH_BYTES);
		term->header_bytes = rx->header_have - MPA_LENGTH_BYTES;
		if (!(info->bits & TERM_HDR_RDMAP) && term->header_bytes > DDP_UNTAGGED_BYTES)
			term->header_bytes = DDP_UNTAGGED_BYTES;
		memcpy(term->header, rx->header + MPA_LENGTH_BYTES, term->header_bytes);
	}
	engine->tx.terminate = reason;
	engine_note(engine, "peer sent %s (%s); answered with Terminate %x%x %02x", info->text,
		    rx->header_have > MPA_LENGTH_BYTES + 1 ? rdmap_opcode_name(rx->ddp.opcode)
							   : "no header",
		    info->layer, info->type, info->code);
	engine_why(engine, FABRIC_CLOSE_PROTOCOL, "peer sent %s", info->text);
	engine_tx_cut(engine);
	engine_end(engine, now_us);
}

bool engine_open(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->ird) {
		engine->irq = calloc(engine->ird, sizeof(*engine->irq));
		if (!engine->irq) {
			engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
			return false;
		}
	}
	engine->counters->connections_opened++;
	engine->setup_deadline = UINT64_MAX;
	engine_state_set(engine, ENGINE_OPEN);
	return true;
}

void iwarp_engine_mss(struct iwarp_engine *engine, unsigned mss_bytes)
{
	unsigned bytes = engine->config.fpdu_64k ? IWARP_MAX_FPDU_BYTES : mss_bytes & ~3u;

	if (bytes > IWARP_MAX_FPDU_BYTES)
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

void iwarp_engine_recv_post(struct iwarp_engine *engine, unsigned count)
{
	engine->recv_posted += count;
}

int iwarp_engine_post(struct iwarp_engine *engine, struct fabric_wr *wr)
{
	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	if (wr->op != FABRIC_READ) {
		TAILQ_INSERT_TAIL(&engine->queue, wr, entry);
		return 0;
	}
	/* A peer that accepts no Read will never accept this one. */
	if (engine->ord == 0) {
		TAILQ_INSERT_TAIL(&engine->failed, wr, entry);
		return 0;
	}
	if (engine->reads_posted++ >= engine->ord)
		engine->counters->read_waits++;
	if (wr->sge[0].len_bytes >= ENGINE_BULK_BYTES)
		engine->bulk++;
	TAILQ_INSERT_TAIL(&engine->reads_wait, wr, entry);
	return 0;
}

int iwarp_engine_key_bind(struct iwarp_engine *engine, struct fabric_key *key)
{
	int err;

	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	err = iwarp_keys_add(&engine->keys, &engine->env->random, key);
	if (err < 0)
		return err;
	buf_ref(key->buf);
	if ((key->rights & FABRIC_REMOTE_WRITE) && key->len_bytes >= ENGINE_BULK_BYTES)
		engine->bulk++;
	return 0;
}

bool iwarp_engine_key_unbind(struct iwarp_engine *engine, struct fabric_key *key)
{
	if ((key->rights & FABRIC_REMOTE_WRITE) && key->len_bytes >= ENGINE_BULK_BYTES)
		engine->bulk--;
	iwarp_keys_remove(&engine->keys, key);
	if (engine->rx.key == key) {
		/* The rest of the FPDU goes nowhere, and its sender is told. */
		engine->rx.key = NULL;
		engine->rx.dest = NULL;
		engine->rx.verdict = REASON_STAG;
	}
	if (engine_key_busy(engine, key)) {
		/* The peer still gets the Response that it asked for; the reference to buf stays
		 * too. */
		TAILQ_INSERT_TAIL(&engine->unbinding, key, entry);
		return false;
	}
	buf_put(key->buf);
	return true;
}

void iwarp_engine_close(struct iwarp_engine *engine, uint64_t now_us)
{
	engine_why(engine, FABRIC_CLOSE_LOCAL, "closed");
	if (engine->state < ENGINE_OPEN) {
		engine_state_set(engine, ENGINE_DROPPED);
		return;
	}
	engine_state_set(engine, ENGINE_CLOSING);
	if (engine->close_deadline == UINT64_MAX)
		engine->close_deadline = now_us + IWARP_CLOSE_TIMEOUT_US;
	engine->setup_deadline = engine->nudge_deadline = UINT64_MAX;
}

void iwarp_engine_abort(struct iwarp_engine *engine, enum fabric_close why, const char *detail)
{
	engine_drop(engine, why, "%s", detail);
}

void iwarp_engine_rx_eof(struct iwarp_engine *engine)
{
	switch (engine->state) {
	case ENGINE_AWAIT_REPLY:
		engine_drop(engine, FABRIC_CLOSE_REFUSED, "peer closed without an MPA reply");
		break;
	case ENGINE_NEW:
	case ENGINE_AWAIT_REQUEST:
	case ENGINE_REQUESTED:
	case ENGINE_REPLYING:
		engine_drop(engine, FABRIC_CLOSE_PEER, "peer closed during set-up");
		break;
	case ENGINE_OPEN:
	case ENGINE_CLOSING:
		if (engine->rx.header_have > 0 || engine->rx.tagged_open || engine->rx.send_have)
			engine_drop(engine, FABRIC_CLOSE_LOST, "peer closed within a message");
		else
			engine_drop(engine, FABRIC_CLOSE_PEER, "in good order");
		break;
	case ENGINE_ENDING:
	case ENGINE_ENDED:
	case ENGINE_DROPPED:
		engine_drop(engine, FABRIC_CLOSE_LOCAL, "closed");
		break;
	}
}

uint64_t iwarp_engine_deadline(const struct iwarp_engine *engine)
{
	uint64_t first = engine->setup_deadline;

	if (engine->close_deadline < first)
		first = engine->close_deadline;
	if (engine->nudge_deadline < first)
		first = engine->nudge_deadline;
	return first;
}

/*
 * Linux siw sends its reply before it listens for data, so that our first Send can lie unread at
 * its end until more comes. More is a zero-length RDMA Write, which means nothing to anybody.
 */
void engine_nudge_start(struct iwarp_engine *engine, uint64_t now_us)
{
	if (!engine->initiator || engine->rx_any || engine->nudge_started)
		return;
	engine->nudge_started = true;
	engine->first_sent_us = now_us;
	engine->nudge_deadline = now_us + nudge_after_us[0];
}

static void nudge(struct iwarp_engine *engine)
{
	engine->tx.nudge = true;
	engine->nudges++;
	engine->nudge_deadline = engine->nudges < ARRAY_SIZE(nudge_after_us)
					 ? engine->first_sent_us + nudge_after_us[engine->nudges]
					 : UINT64_MAX;
}

void iwarp_engine_expire(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->setup_deadline <= now_us) {
		engine->setup_deadline = UINT64_MAX;
		engine->counters->setup_timeouts++;
		engine_drop(engine, FABRIC_CLOSE_TIMEOUT,
			    engine->initiator ? "no MPA reply in time" : "no MPA request in time");
	}
	if (engine->close_deadline <= now_us) {
		engine->close_deadline = UINT64_MAX;
		engine_drop(engine, FABRIC_CLOSE_LOCAL, "closed");
	}
	if (engine->nudge_deadline <= now_us)
		nudge(engine);
}

enum iwarp_wish iwarp_engine_wish(const struct iwarp_engine *engine)
{
	if (engine->state == ENGINE_DROPPED)
		return IWARP_DROP;
	return engine->state == ENGINE_ENDED ? IWARP_FIN : IWARP_GO_ON;
}

enum fabric_close iwarp_engine_why(const struct iwarp_engine *engine, const char **detail)
{
	*detail = engine->detail;
	return engine->why;
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

	engine_state_set(engine, ENGINE_DROPPED);
	engine_batch_put(engine);
	engine->tx.wr = NULL;
	engine->tx.irq = NULL;
	list_flush(&engine->built);
	list_flush(&engine->queue);
	while (!TAILQ_EMPTY(&engine->reads_out)) {
		const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
		bool refused = engine->refused && (uint32_t)wr->priv[1] == engine->refused_sink;

		engine_read_done(engine, refused ? FABRIC_ERR_REMOTE : FABRIC_FLUSHED);
	}
	list_flush(&engine->reads_wait);
	list_flush(&engine->failed);
	engine_irq_flush(engine);
	while ((key = TAILQ_FIRST(&engine->unbinding))) {
		TAILQ_REMOVE(&engine->unbinding, key, entry);
		buf_put(key->buf);
		key->unbound(key);
	}
	buf_put(engine->rx.send_buf);
	engine->rx.send_buf = NULL;
	engine->rx.dest = NULL;
}
