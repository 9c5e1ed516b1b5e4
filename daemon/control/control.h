/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: one request per connection, answered in JSON.
 *
 * A request is one line: a plain word with or without an argument ("status", "log debug"), or a
 * JSON object, {"command": "log", "argument": "debug"}. The answer is one JSON object on one line:
 * {"schema": 1} with the members of the command, or with {"error": "why"}. Then the daemon closes
 * the connection. A schema never loses members. A streaming command answers with the line
 * {"schema": 1}. Its output follows until either end closes.
 *
 * The socket has mode 0660. Only root and the daemon's own user can run commands that change
 * something. The number of clients is limited, with some slots reserved for root and the daemon's
 * user. A client without a slot gets an error immediately. The daemon drops a client that does not
 * finish its request or does not read its answer.
 *
 * Everything here belongs to the main thread's loop.
 */
#ifndef DAEMON_CONTROL_CONTROL_H
#define DAEMON_CONTROL_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/control/control_request.h"

#define CONTROL_MAX_CLIENTS      16u
#define CONTROL_RESERVED_CLIENTS 4u       /* of these, for root and the daemon's own user */
#define CONTROL_MAX_USER_CLIENTS 8u       /* of the others, for one user */
#define CONTROL_TIMEOUT_US       5000000u /* for the request, and again for reading the answer */

/* The user at the other end of a connection to the control socket. */
struct control_user {
	uid_t uid;    /* (uid_t)-1: unknown */
	bool is_root; /* or the daemon's own user: can change things */
};

struct control_ops {
	/*
	 * Runs a command and calls done() once on the main thread, during this call or later.
	 * done() takes over the reference to the result; NULL: there is no answer. @argument is the
	 * command's, or "". @who names the client for the log. Both are valid during this call
	 * only. {"error": "why"} is a result, too. daemon/view/answer.h and cmd_table.h list the
	 * members.
	 */
	void (*run)(void *arg, enum control_command_id command, const char *argument,
		    const char *who, void (*done)(void *done_arg, json_t *result), void *done_arg);
	/*
	 * Starts to stream a command's output to a client until either end stops it. The
	 * implementation duplicates @fd; the caller keeps and closes its own. Returns NULL, or
	 * {"error": "why"} as a new reference.
	 */
	json_t *(*stream)(void *arg, enum control_command_id command, const char *argument, int fd,
			  const struct control_user *user);
	/* Stops the daemon as SIGTERM does, or immediately if @now. */
	void (*stop)(void *arg, bool now);
};

struct control;

/**
 * control_open - Listens on the control socket.
 * @path:  of the socket; an existing socket without a listener is replaced
 * @ops:   implement the commands, with @arg; outlives the control
 * @error: set on failure to a sentence without a full stop
 *
 * Returns 0, -EADDRINUSE if a daemon answers there already, or a negative errno.
 */
int control_open(struct loop *loop, const char *path, const struct control_ops *ops, void *arg,
		 char *error, size_t error_bytes, struct control **out) MUST_CHECK;

/**
 * control_close - Drops every client, removes the socket and frees @control; accepts NULL.
 *
 * Queries in progress can still call done(), which then only releases its result.
 */
void control_close(struct control *control);

#endif
