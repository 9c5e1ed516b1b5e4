/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams RPCs to clients of the control socket, for trace and capture: a tap at all workers, an output format, and a
 * queue to the client.
 *
 * 	tap ──▶ watch_form ──▶ feed
 *
 * A slow reader never delays RPCs: it misses records, and a line reports how many.
 */
#ifndef DAEMON_CONTROL_WATCHING_H
#define DAEMON_CONTROL_WATCHING_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/proxy/proxy.h"
#include "daemon/tap/tap.h"

#define WATCHES_MAX  8u /* at a time */
#define WATCHES_KEPT 1u /* of these, and of each format's, for root and the daemon's own user */
#define WATCHES_USER 2u /* of the others, for one user */

struct watch_output;
struct watching;

/* Why a complete stream ended. */
enum watch_end {
	WATCH_FULL,  /* record() returned false */
	WATCH_TIME,  /* --seconds is over */
	WATCH_ASKED, /* the client ended its sending side */
};

/* An output format for one kind of tap records. */
struct watch_form {
	enum tap_kind kind;
	const char *name;   /* the command, for the log */
	unsigned max;       /* streams of this format at a time */
	size_t queue_bytes; /* for struct tap_config */
	size_t room_bytes;  /* that can be queued for the client */
	/* Most bytes that one call of begin(), record() or missed() writes. tail_bytes: the same for tail(). */
	size_t (*most_bytes)(const struct tap_request *request);
	size_t tail_bytes;
	/* Writes the beginning of the output. Returns the state of the stream, or NULL if memory ran out. */
	void *(*begin)(const struct tap_request *request, struct watch_output *out);
	/* Writes a record. Returns false if it was the last one. */
	bool (*record)(void *state, const void *record, size_t bytes, struct watch_output *out);
	/* Notes that @count records are missing after the last one. */
	void (*missed)(void *state, uint64_t count, struct watch_output *out);
	/* Writes the end of the output. Without it a client knows that the output is incomplete. */
	void (*tail)(void *state, enum watch_end why, struct watch_output *out);
	void (*free)(void *state);
};

/* Formats of the commands trace and capture (trace.c, capture.c). */
extern const struct watch_form trace_form, capture_form;

/** watch_put - Writes bytes to the client's queue. */
void watch_put(struct watch_output *out, const void *bytes, size_t len);

/** watching_new - Creates an empty list of streams. Returns NULL if memory ran out. */
struct watching *watching_new(struct proxy *proxy);
/** watching_free - Ends all streams immediately, before the proxy is stopped; accepts NULL. */
void watching_free(struct watching *watching);

/**
 * watch_begin - Starts a stream to a client.
 * @argument: for tap_request_parse()
 * @fd:       of the client; duplicated, so the caller keeps it
 * @user:     of the client; copied
 *
 * Returns NULL, or {"error": "why"} as a new reference.
 */
json_t *watch_begin(struct watching *watching, const struct watch_form *form, const char *argument,
		    int fd, const struct control_user *user) MUST_CHECK;

#endif
