// SPDX-License-Identifier: BSD-3-Clause
/* An RPC that is over, as JSON. */
#include "daemon/view/call_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/base/address.h"
#include "daemon/base/clock.h"
#include "daemon/service/call_stats.h"

const char *call_time_text(uint64_t mono_us, char text[CALL_TIME_BYTES])
{
	int64_t us = (int64_t)(clock_us(CLOCK_REALTIME) - (clock_us(CLOCK_MONOTONIC) - mono_us));
	time_t seconds = us / 1000000;
	char day[24];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, CALL_TIME_BYTES, "%s.%06dZ", day, (int)(us % 1000000));
	return text;
}

static json_t *address_json(const struct sockaddr_storage *addr)
{
	char text[ADDRESS_TEXT_BYTES];

	return json_string(address_text((const struct sockaddr *)addr, text));
}

static json_t *form_json(uint8_t form, bool known)
{
	return known ? json_string(message_form_name(form)) : json_null();
}

/* What is answered in the place of a Reply goes to whoever has called; from the other end there was none. */
static json_t *forms_json(const struct tap_call *call, enum exchange_side side)
{
	bool sent = side == EXCHANGE_ORIGIN || call->sent;
	bool replied = call->answered && (side == EXCHANGE_ORIGIN || call->reply_bytes);

	return json_pack("{s:o, s:o}", "call", form_json(call->call_forms[side], sent), "reply",
			 form_json(call->reply_forms[side], replied));
}

static json_t *error_json(const struct tap_call *call)
{
	char text[CALL_STATUS_TEXT_BYTES];

	return call->answered && call->status ? json_string(call_status_name(call->status, text))
					      : json_null();
}

json_t *call_json(const struct tap_call *call)
{
	json_t *stages = json_object();
	char time[CALL_TIME_BYTES];
	uint64_t whole_us = 0;

	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++) {
		whole_us += call->took_us[i];
		json_object_set_new(stages, call_stage_name(i), json_real(call->took_us[i] / 1e6));
	}
	return json_pack(
		"{s:s, s:s, s:I, s:o, s:b, s:s, s:I, s:b, s:o, s:I, s:o, s:{s:o, s:o}, s:f, s:o}",
		"time", call_time_text(call->over_us, time), "service", call->service, "connection",
		(json_int_t)call->connection, "client_address", address_json(&call->client),
		"callback", (int)call->callback, "operation", nfs_operation_name(call->operation),
		"xid", (json_int_t)call->xid, "answered", (int)call->answered, "error",
		error_json(call), "request_bytes", (json_int_t)call->request_bytes, "reply_bytes",
		call->answered ? json_integer(call->reply_bytes) : json_null(), "carried", "client",
		forms_json(call, call->callback ? EXCHANGE_TARGET : EXCHANGE_ORIGIN), "upstream",
		forms_json(call, call->callback ? EXCHANGE_ORIGIN : EXCHANGE_TARGET), "took_s",
		(double)whole_us / 1e6, "stages_s", stages);
}
