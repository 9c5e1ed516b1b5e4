// SPDX-License-Identifier: BSD-3-Clause
/* The answer to `trace`: RPCs as they finish, a line of JSON each. */
#include "daemon/control/trace.h"

#include <stdlib.h>

#include "daemon/tap/tap_record.h"
#include "daemon/view/answer.h"
#include "daemon/view/call_json.h"

#define LINE_BYTES  2048u /* more than any line has */
#define QUEUE_BYTES (1024u * 1024u)
#define ROOM_BYTES  (256u * 1024u)
#define TAIL_BYTES  64u
#define TRACES_MAX  4u

struct trace {
	uint64_t left; /* lines, and then it ends; 0: on and on */
};

static size_t most_bytes(const struct tap_request *request)
{
	return LINE_BYTES;
}

/* A line without memory for it is one that is missing; there is no telling of it either. */
static void put_line(json_t *object, struct watch_output *out)
{
	char line[LINE_BYTES];
	size_t len = object ? json_dumpb(object, line, sizeof(line) - 1,
					 JSON_COMPACT | JSON_REAL_PRECISION(9))
			    : 0;

	json_decref(object);
	if (!len || len >= sizeof(line))
		return;
	line[len] = '\n';
	watch_put(out, line, len + 1);
}

static void *begin(const struct tap_request *request, struct watch_output *out)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->left = request->count;
	put_line(json_pack("{s:i}", "schema", ANSWER_SCHEMA), out);
	return trace;
}

static bool record(void *state, const void *bytes, size_t len, struct watch_output *out)
{
	struct trace *trace = state;

	put_line(call_json(bytes), out);
	return !trace->left || --trace->left;
}

static void missed(void *state, uint64_t count, struct watch_output *out)
{
	put_line(json_pack("{s:I}", "missed", (json_int_t)count), out);
}

static void tail(void *state, enum watch_end why, struct watch_output *out)
{
	static const char *const words[] = {
		[WATCH_FULL] = "count", [WATCH_TIME] = "seconds", [WATCH_ASKED] = "asked"};

	put_line(json_pack("{s:s}", "end", words[why]), out);
}

const struct watch_form trace_form = {
	.name = "trace",
	.kind = TAP_CALLS,
	.max = TRACES_MAX,
	.queue_bytes = QUEUE_BYTES,
	.room_bytes = ROOM_BYTES,
	.most_bytes = most_bytes,
	.tail_bytes = TAIL_BYTES,
	.begin = begin,
	.record = record,
	.missed = missed,
	.tail = tail,
	.free = free,
};
