// SPDX-License-Identifier: BSD-3-Clause
/* A line in the log for each Call that took long. */
#include "daemon/bridge/slow_call.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "daemon/base/amount.h"
#include "leg/exchange.h"

#define STAGES_BYTES 160u /* room for what all stages took */
#define SHOWN_PART   100u /* a stage is told that took such a part of the whole */

/* "server 1.2 s, client 30 ms" */
static void stages_text(const uint32_t took_us[CALL_STAGE_COUNT], uint64_t whole_us,
			char text[STAGES_BYTES])
{
	char time[AMOUNT_TEXT_BYTES];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		if (took_us[i] >= whole_us / SHOWN_PART)
			used += (size_t)snprintf(text + used, STAGES_BYTES - used, "%s%s %s",
						 used ? ", " : "", call_stage_name(i),
						 amount_time(took_us[i] / 1e6, time));
}

static void tell(const struct bridge *bridge, const struct call_end *end,
		 const struct call_report *report, uint32_t client_us, uint64_t whole_us)
{
	char time[AMOUNT_TEXT_BYTES], in[AMOUNT_TEXT_BYTES], back[AMOUNT_TEXT_BYTES];
	char stages[STAGES_BYTES], status[CALL_STATUS_TEXT_BYTES];
	struct log_ctx ctx = bridge->log;
	uint32_t took_us[CALL_STAGE_COUNT];

	memcpy(took_us, report->took_us, sizeof(took_us));
	took_us[CALL_STAGE_CLIENT] = client_us;
	stages_text(took_us, whole_us, stages);
	ctx.about.xid = &report->xid;
	log_limited(LOG_LEVEL_INFO, bridge_line_limit(bridge, LINE_SLOW), &ctx,
		    "%s took %s: %s; %s in, %s back%s%s", nfs_operation_name(end->operation),
		    amount_time((double)whole_us / 1e6, time), stages,
		    amount_bytes(report->request_bytes, in),
		    amount_bytes(report->reply_bytes, back), report->status ? ", " : "",
		    report->status ? call_status_name(report->status, status) : "");
}

void slow_call_look(const struct bridge *bridge, const struct call_end *end,
		    const struct call_report *report, uint32_t client_us)
{
	uint64_t whole_us = (uint64_t)end->before_us + client_us;
	uint64_t limit_us = bridge->ws->service->config->slow_log_ms * UINT64_C(1000);

	if (limit_us && whole_us >= limit_us &&
	    !log_leaves_out(LOG_LEVEL_INFO, bridge_line_limit(bridge, LINE_SLOW)))
		tell(bridge, end, report, client_us, whole_us);
}
