/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams RPCs to clients of the control socket, for trace and capture: a tap at all workers, an
 * output format, and a queue to the client.
 *
 *	tap ──▶ tap_format ──▶ stream_client
 *
 * A slow client never delays RPCs: it misses records, and the output shows how many.
 */
#ifndef DAEMON_CONTROL_TAP_STREAM_H
#define DAEMON_CONTROL_TAP_STREAM_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/proxy/proxy.h"
#include "daemon/tap/tap.h"

#define TAP_STREAMS_MAX 8u /* at a time */
/*
 * Of TAP_STREAMS_MAX, and of the `max` of each format, this many are reserved for root and the
 * daemon's own user.
 */
#define TAP_STREAMS_RESERVED 1u
#define TAP_STREAMS_PER_USER 2u /* at a time for one other user */

struct tap_output;
struct tap_streams;

/* Why a complete stream ended. */
enum tap_stream_end {
	TAP_STREAM_FULL,   /* record() returned false */
	TAP_STREAM_TIME,   /* --seconds is over */
	TAP_STREAM_CLIENT, /* the client ended its sending side */
};

/* An output format for one kind of tap records. */
struct tap_format {
	enum tap_kind kind;
	const char *name;         /* the command, for the log */
	unsigned max;             /* streams of this format at a time */
	size_t queue_bytes;       /* for struct tap_config */
	size_t queue_limit_bytes; /* of the queue to the client */
	/*
	 * Most bytes that one call of begin(), record() or missed() writes. tail_bytes: the same
	 * for tail().
	 */
	size_t (*most_bytes)(const struct tap_request *request);
	size_t tail_bytes;
	/*
	 * Writes the beginning of the output. Returns the state of the stream, or NULL if memory
	 * ran out.
	 */
	void *(*begin)(const struct tap_request *request, struct tap_output *out);
	/* Writes a record. Returns false if it was the last one. */
	bool (*record)(void *state, const void *record, size_t bytes, struct tap_output *out);
	/* Notes that @count records are missing after the last one. */
	void (*missed)(void *state, uint64_t count, struct tap_output *out);
	/* Writes the end of the output. Output without it is incomplete. */
	void (*tail)(void *state, enum tap_stream_end why, struct tap_output *out);
	void (*free)(void *state);
};

/* Formats of the commands trace and capture (cmd_trace.c, cmd_capture.c). */
extern const struct tap_format trace_format, capture_format;

/** tap_output_put - Writes bytes to the client's queue. */
void tap_output_put(struct tap_output *out, const void *bytes, size_t len);

/** tap_streams_new - Creates an empty list of streams. Returns NULL if memory ran out. */
struct tap_streams *tap_streams_new(struct proxy *proxy);
/** tap_streams_free - Ends all streams immediately, before the proxy is stopped; accepts NULL. */
void tap_streams_free(struct tap_streams *tap_streams);

/**
 * tap_stream_start - Starts a stream to a client.
 * @argument: for tap_request_parse()
 * @fd:       of the client; duplicated, so the caller keeps it
 * @user:     of the client; copied
 *
 * Returns NULL, or {"error": "why"} as a new reference.
 */
json_t *tap_stream_start(struct tap_streams *tap_streams, const struct tap_format *form,
			 const char *argument, int fd, const struct control_user *user) MUST_CHECK;

#endif
