// SPDX-License-Identifier: BSD-3-Clause
/*
 * Implements `trace`: one line of JSON for each finished RPC.
 *
 * {"schema": 1}
 * {"time": "2026-11-25T22:34:25.123456Z", "service", "connection": its number,
 *  "client_address", "client_name": verified by TLS, or null, "callback": a boolean, "operation", "xid", "answered": a boolean,
 *  "error": a status or null, "error_name": the same with the prefix of its protocol,
 *  "request_bytes", "reply_bytes",
 *  "carried": {"client": FORMS, "upstream": FORMS}, "took_s",
 *  "stages_s": {"receive", "memory", "credit", "server", "client"}}
 *     FORMS  {"call", "reply"}: "record" over TCP, "short", "chunked", "long" or "lent";
 *            null without such a message
 * {"missed": a count}, if the client did not read in time
 * {"end": "count", "seconds", or "asked" if the client closed its sending side}: the last line
 *
 * A stream without the last line is incomplete: the daemon has stopped, or the client did not read.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "daemon/base/address.h"
#include "daemon/base/clock.h"
#include "daemon/control/tap_stream.h"
#include "daemon/service/call_stats.h"
#include "daemon/tap/tap_event.h"
#include "daemon/view/answer.h"

#define CALL_TIME_BYTES 40u

/*
 * call_time_text - Converts a CLOCK_MONOTONIC time to wall clock, "2026-11-25T22:34:25.123456Z".
 * Returns @text.
 */
static const char *call_time_text(uint64_t mono_us, char text[CALL_TIME_BYTES])
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

/* An error that the proxy answers itself goes to the caller only; the other side sent no Reply. */
static json_t *forms_json(const struct tap_call *call, enum exchange_role side)
{
	bool sent = side == EXCHANGE_ORIGIN || call->sent;
	bool replied = call->answered && (side == EXCHANGE_ORIGIN || call->reply_bytes);

	return json_pack("{s:o, s:o}", "call", form_json(call->call_forms[side], sent), "reply",
			 form_json(call->reply_forms[side], replied));
}

static json_t *status_json(const struct tap_call *call)
{
	char text[CALL_STATUS_TEXT_BYTES];

	return call->answered && call->status ? json_string(call_status_name(call->status, text))
					      : json_null();
}

static json_t *status_full_json(const struct tap_call *call)
{
	char text[NFS_STATUS_TEXT_BYTES];

	if (!call->answered || !call->status)
		return json_null();
	return json_string(call_status_full_name(call->prog, call->vers, call->status, text));
}

/* Returns a new reference, or NULL if memory ran out. */
static json_t *call_json(const struct tap_call *call)
{
	json_t *stages = json_object();
	char time[CALL_TIME_BYTES];
	uint64_t whole_us = 0;

	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++) {
		whole_us += call->stage_elapsed_us[i];
		json_object_set_new(stages, call_stage_name(i),
				    json_real(call->stage_elapsed_us[i] / 1e6));
	}
	return json_pack(
		"{s:s, s:s, s:I, s:o, s:b, s:s, s:I, s:b, s:o, s:o, s:I, s:o, s:{s:o, s:o}, s:f, "
		"s:o, s:s?}",
		"time", call_time_text(call->over_us, time), "service", call->service, "connection",
		(json_int_t)call->connection, "client_address", address_json(&call->client),
		"callback", (int)call->callback, "operation", nfs_operation_name(call->operation),
		"xid", (json_int_t)call->xid, "answered", (int)call->answered, "error",
		status_json(call), "error_name", status_full_json(call), "request_bytes",
		(json_int_t)call->request_bytes, "reply_bytes",
		call->answered ? json_integer(call->reply_bytes) : json_null(), "carried", "client",
		forms_json(call, call->callback ? EXCHANGE_TARGET : EXCHANGE_ORIGIN), "upstream",
		forms_json(call, call->callback ? EXCHANGE_ORIGIN : EXCHANGE_TARGET), "took_s",
		(double)whole_us / 1e6, "stages_s", stages, "client_name",
		call->client_name[0] ? call->client_name : NULL);
}

#define LINE_BYTES  2048u /* longer than any line */
#define QUEUE_BYTES (1024u * 1024u)
#define ROOM_BYTES  (256u * 1024u)
#define TAIL_BYTES  64u
#define TRACES_MAX  4u

struct trace {
	uint64_t left; /* lines until the end; 0: no limit */
};

static size_t most_bytes(const struct tap_request *request)
{
	return LINE_BYTES;
}

/* If memory ran out, the line is lost without a "missed" line. */
static void put_line(json_t *object, struct tap_output *out)
{
	char line[LINE_BYTES];
	size_t len = object ? json_dumpb(object, line, sizeof(line) - 1,
					 JSON_COMPACT | JSON_REAL_PRECISION(9))
			    : 0;

	json_decref(object);
	if (!len || len >= sizeof(line))
		return;
	line[len] = '\n';
	tap_output_put(out, line, len + 1);
}

static void *begin(const struct tap_request *request, struct tap_output *out)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->left = request->count;
	put_line(json_pack("{s:i}", "schema", ANSWER_SCHEMA), out);
	return trace;
}

static bool record(void *state, const void *bytes, size_t len, struct tap_output *out)
{
	struct trace *trace = state;

	put_line(call_json(bytes), out);
	return !trace->left || --trace->left;
}

static void missed(void *state, uint64_t count, struct tap_output *out)
{
	put_line(json_pack("{s:I}", "missed", (json_int_t)count), out);
}

static void tail(void *state, enum tap_stream_end why, struct tap_output *out)
{
	static const char *const words[] = {[TAP_STREAM_FULL] = "count",
					    [TAP_STREAM_TIME] = "seconds",
					    [TAP_STREAM_CLIENT] = "asked"};

	put_line(json_pack("{s:s}", "end", words[why]), out);
}

const struct tap_format trace_format = {
	.name = "trace",
	.kind = TAP_CALLS,
	.max = TRACES_MAX,
	.queue_bytes = QUEUE_BYTES,
	.queue_limit_bytes = ROOM_BYTES,
	.most_bytes = most_bytes,
	.tail_bytes = TAIL_BYTES,
	.begin = begin,
	.record = record,
	.missed = missed,
	.tail = tail,
	.free = free,
};
