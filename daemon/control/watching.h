/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients of the control socket that watch RPCs: a tap at all workers, a form for what it is given, and a feed.
 *
 *	tap ──▶ watch_form ──▶ feed
 *
 * What a client does not read in time is missed, and it is told how much: nobody waits for it.
 */
#ifndef DAEMON_CONTROL_WATCHING_H
#define DAEMON_CONTROL_WATCHING_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/proxy/proxy.h"
#include "daemon/tap/tap.h"

#define WATCHES_MAX  8u /* at once */
#define WATCHES_KEPT 1u /* of these, and of each form's, for root and the daemon's own user */
#define WATCHES_USER 2u /* of the others, for one user */

struct watch_output;
struct watching;

/* Why it is over, where all of it is put out. */
enum watch_end {
	WATCH_FULL,  /* record() has said so */
	WATCH_TIME,  /* so many seconds were asked for */
	WATCH_ASKED, /* the client has had enough */
};

/* How a kind of what is watched is written. */
struct watch_form {
	enum tap_kind kind;
	const char *name;   /* the command, for the log */
	unsigned max;       /* of these at once */
	size_t queue_bytes; /* for struct tap_config */
	size_t room_bytes;  /* that may wait for the client */
	/* What one call of begin(), record() or missed() puts out at most; and tail(). */
	size_t (*most_bytes)(const struct tap_request *request);
	size_t tail_bytes;
	/* Its own state, with what comes before all else put out; NULL without memory. */
	void *(*begin)(const struct tap_request *request, struct watch_output *out);
	/* Puts a record out. Returns false if that was the last one. */
	bool (*record)(void *state, const void *record, size_t bytes, struct watch_output *out);
	/* @count records are missing behind the last one. */
	void (*missed)(void *state, uint64_t count, struct watch_output *out);
	/* Nothing follows. A client that does not get this has not had all. */
	void (*tail)(void *state, enum watch_end why, struct watch_output *out);
	void (*free)(void *state);
};

/* Of the commands of these names: trace.c, capture.c. */
extern const struct watch_form trace_form, capture_form;

/** watch_put - put bytes out. */
void watch_put(struct watch_output *out, const void *bytes, size_t len);

/** watching_new - nobody watches yet; NULL without memory. */
struct watching *watching_new(struct proxy *proxy);
/** watching_free - end all at once; before the proxy is stopped. Accepts NULL. */
void watching_free(struct watching *watching);

/**
 * watch_begin - begin to send to a client what it wants to watch
 * @argument: for tap_request_parse()
 * @fd:       of the client; stays the caller's
 * @user:     of the client; copied
 *
 * Returns NULL, or {"error": "why"}, a new reference.
 */
json_t *watch_begin(struct watching *watching, const struct watch_form *form, const char *argument,
		    int fd, const struct control_user *user) MUST_CHECK;

#endif
