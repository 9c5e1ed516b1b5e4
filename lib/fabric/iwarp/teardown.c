// SPDX-License-Identifier: BSD-3-Clause
/* Connection teardown: the state setter, the close reason, the last frame and its time limit. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/iwarp/engine_priv.h"

STATE_TABLE(iwarp_engine_states, ENGINE_STATES);

void engine_state_set(struct iwarp_engine *engine, enum engine_state state)
{
	engine->state = (enum engine_state)state_next(&iwarp_engine_states, engine->state, state);
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

static void PRINTF_LIKE(3, 0) close_reason_set(struct iwarp_engine *engine, enum fabric_close why,
					       const char *format, va_list args)
{
	if (engine->close_reason_set)
		return;
	engine->close_reason_set = true;
	engine->why = why;
	vsnprintf(engine->detail, sizeof(engine->detail), format, args);
}

void engine_close_reason_set(struct iwarp_engine *engine, enum fabric_close why, const char *format,
			     ...)
{
	va_list args;

	va_start(args, format);
	close_reason_set(engine, why, format, args);
	va_end(args);
}

void engine_drop(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	close_reason_set(engine, why, format, args);
	va_end(args);
	if (engine->state != ENGINE_DROPPED)
		engine_state_set(engine, ENGINE_DROPPED);
}

void engine_close_deadline_set(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->close_deadline == UINT64_MAX)
		engine->close_deadline = engine->close_end = now_us + IWARP_CLOSE_TIMEOUT_US;
	engine->setup_deadline = engine->nudge_deadline = engine->keepalive_deadline = UINT64_MAX;
}

void engine_send_last_frame(struct iwarp_engine *engine, uint64_t now_us)
{
	engine_state_set(engine, ENGINE_LAST_FRAME);
	engine_close_deadline_set(engine, now_us);
}

/* Removes frames of which no byte has been sent. */
static void tx_truncate(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;

	if (tx->batch)
		tx->built = iwarp_tx_batch_truncate(tx->batch, tx->sent);
	tx->valid = tx->built;
	tx->wr = NULL;
}

void engine_terminate(struct iwarp_engine *engine, enum terminate_reason reason, uint64_t now_us)
{
	const struct terminate_code_info *info = terminate_code_info(reason);
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
	engine_close_reason_set(engine, FABRIC_CLOSE_PROTOCOL, "peer sent %s", info->text);
	tx_truncate(engine);
	engine_send_last_frame(engine, now_us);
}
