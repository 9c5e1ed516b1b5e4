// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/engine_priv.h"

/* Counted from the time at which our first FPDU was sent. */
static const uint64_t nudge_at_us[] = {20000, 100000, 1000000};

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t iwarp_engine_deadline(const struct iwarp_engine *engine)
{
	return sooner(sooner(engine->setup_deadline, engine->close_deadline),
		      sooner(engine->nudge_deadline, engine->keepalive_deadline));
}

/*
 * Linux siw sends its reply before it handles received data, so our first Send can stay unread
 * there until more data arrives. A zero-length RDMA Write (a "nudge") is such data, and has no
 * other effect.
 */
void engine_nudge_start(struct iwarp_engine *engine, uint64_t now_us)
{
	if (!engine->initiator || engine->rx_any || engine->nudge_started)
		return;
	engine->nudge_started = true;
	engine->first_sent_us = now_us;
	engine->nudge_deadline = now_us + nudge_at_us[0];
}

static void nudge(struct iwarp_engine *engine)
{
	engine->tx.nudge = true;
	engine->nudges++;
	engine->nudge_deadline = engine->nudges < ARRAY_SIZE(nudge_at_us)
					 ? engine->first_sent_us + nudge_at_us[engine->nudges]
					 : UINT64_MAX;
}

void engine_keepalive_sent(struct iwarp_engine *engine, uint64_t now_us)
{
	if (!engine->keepalive_end || engine->tx.sent < engine->keepalive_end ||
	    engine->state != ENGINE_OPEN)
		return;
	engine->keepalive_end = 0;
	engine->keepalive_deadline = now_us + IWARP_KEEPALIVE_TIMEOUT_US;
}

void engine_keepalive_received(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->keepalive_deadline != UINT64_MAX)
		engine->keepalive_deadline = now_us + IWARP_KEEPALIVE_TIMEOUT_US;
}

/* Extends the close deadline while the peer acknowledges data. Returns false if it does not. */
static bool close_extend(struct iwarp_engine *engine, uint64_t now_us)
{
	uint64_t taken = engine->tx.sent - engine->unacked_bytes;

	if (now_us >= engine->close_end || taken < engine->close_acked + IWARP_CLOSE_STEP_BYTES)
		return false;
	engine->close_acked = taken;
	engine->close_deadline = sooner(now_us + IWARP_CLOSE_TIMEOUT_US, engine->close_end);
	return true;
}

void iwarp_engine_expire(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->setup_deadline <= now_us) {
		engine->setup_deadline = UINT64_MAX;
		engine->counters->setup_timeouts++;
		engine_handshake_timeout(engine);
	}
	if (engine->close_deadline <= now_us && !close_extend(engine, now_us)) {
		engine->close_deadline = UINT64_MAX;
		engine_drop(engine, FABRIC_CLOSE_LOCAL, "closed");
	}
	if (engine->nudge_deadline <= now_us)
		nudge(engine);
	if (engine->keepalive_deadline <= now_us) {
		engine->keepalive_deadline = UINT64_MAX;
		engine_drop(engine, FABRIC_CLOSE_SILENT, "a keepalive got no answer");
	}
}
