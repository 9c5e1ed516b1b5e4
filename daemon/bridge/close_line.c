// SPDX-License-Identifier: BSD-3-Clause
/* What the log says of a bridge that ends. */
#include "daemon/bridge/close_line.h"

#include <stdio.h>

#include "daemon/base/amount.h"
#include "daemon/service/close_text.h"

#define TOTALS_BYTES 160u

/* What somebody has to see to, whoever it was. */
static bool is_worth_a_warning(enum leg_close why, enum close_by by)
{
	switch (why) {
	case LEG_CLOSE_TOO_MANY:
	case LEG_CLOSE_PER_CLIENT:
	case LEG_CLOSE_RESOURCES:
	case LEG_CLOSE_OWN_UPSTREAM:
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
		return true;
	case LEG_CLOSE_NOT_RPC:
	case LEG_CLOSE_PROTOCOL:
	case LEG_CLOSE_VERSION:
	case LEG_CLOSE_BAD_REPLY:
	case LEG_CLOSE_RECORD_TOO_BIG:
		return by == CLOSE_BY_SERVER;
	default:
		return false;
	}
}

/* A port scan or a health check: it came, had nothing to say, and went or was shown out. */
static bool was_a_look_only(const struct bridge *bridge, enum leg_close why, enum close_by by)
{
	return by == CLOSE_BY_CLIENT && !bridge->open.passing && !bridge->calls.total &&
	       (why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST || why == LEG_CLOSE_SILENT ||
		why == LEG_CLOSE_NO_CALL || why == LEG_CLOSE_TIMEOUT);
}

static enum log_level level_of(const struct bridge *bridge, enum leg_close why, enum close_by by)
{
	/* A server that does not answer is told of once for the service; but what was told to open is told to close. */
	if (bridge->upstream.failure_told)
		return bridge->open.told ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
	if (is_worth_a_warning(why, by))
		return LOG_LEVEL_WARNING;
	return was_a_look_only(bridge, why, by) ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}

static unsigned unanswered(const struct bridge *bridge)
{
	const struct exchange *x;
	unsigned n = 0;

	TAILQ_FOREACH(x, &bridge->calls.list, owner_entry)
		n++;
	return n;
}

/* "12,345 Calls, 3.1 GiB in, 20 MiB out, 0 unanswered": in from the client, out to it. */
static const char *totals(const struct bridge *bridge, char text[TOTALS_BYTES])
{
	char calls[AMOUNT_TEXT_BYTES], in[AMOUNT_TEXT_BYTES], out[AMOUNT_TEXT_BYTES];
	struct leg_info info = {0};

	if (bridge->client.leg)
		leg_info(bridge->client.leg, &info);
	snprintf(text, TOTALS_BYTES, "%s Call%s, %s in, %s out, %u unanswered",
		 amount_count(bridge->calls.total, calls), bridge->calls.total == 1 ? "" : "s",
		 amount_bytes(info.bytes_received, in), amount_bytes(info.bytes_sent, out),
		 unanswered(bridge));
	return text;
}

static void log_last_call(const struct bridge *bridge)
{
	const struct last_call *last = &bridge->calls.last;
	struct call_facts facts = {.hdr = {.xid = last->xid,
					   .prog = last->prog,
					   .vers = last->vers,
					   .proc = last->proc},
				   .program = last->program,
				   .procedure = last->procedure};
	struct log_ctx ctx = bridge->log;
	char name[CALL_NAME_BYTES];

	if (!bridge->calls.total || !log_is_on(LOG_LEVEL_DEBUG))
		return;
	call_facts_name(&facts, name);
	ctx.about.xid = &last->xid;
	log_limited(
		LOG_LEVEL_DEBUG, bridge_line_limit(bridge, LINE_DEBUG), &ctx,
		"its last Call: XID 0x%08x, %s (program %u, version %u, procedure %u), %.3f s ago",
		last->xid, name, last->prog, last->vers, last->proc,
		(loop_now_us(bridge_loop(bridge)) - last->start_us) / 1e6);
}

/* The errno with which the leg of that side ended. */
static int errno_of(const struct bridge *bridge, enum close_by by)
{
	const struct leg *leg =
		by == CLOSE_BY_CLIENT ? bridge->client.leg : upstream_leg(&bridge->upstream);

	return leg ? leg->close_errno : 0;
}

void close_line_log(const struct bridge *bridge, enum leg_close why, enum close_by by,
		    const char *detail)
{
	enum log_level level = level_of(bridge, why, by);
	unsigned line = level == LOG_LEVEL_DEBUG ? LINE_DEBUG : service_line_closed(why, by);
	struct log_limit *limit = bridge_line_limit(bridge, line);
	char text[CLOSE_TEXT_BYTES], sums[TOTALS_BYTES], age[AMOUNT_TEXT_BYTES];
	uint64_t age_us = loop_now_us(bridge_loop(bridge)) - bridge->start_us;
	const struct log_ctx ctx = log_ctx_because(&bridge->log, leg_close_name(why));
	bool was_open = bridge->state.now == BRIDGE_OPEN;

	if (!log_leaves_out(level, limit))
		log_write_limited(level, limit, &ctx, "%s, after %s%s%s: %s",
				  close_text(why, by, errno_of(bridge, by), detail, text),
				  amount_age(age_us, age), was_open ? "" : " while ",
				  was_open ? "" : state_name(&bridge_states, bridge->state.now),
				  totals(bridge, sums));
	log_last_call(bridge);
}
