/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: a request per connection, JSON back.
 *
 * A request is one line: a plain word with an argument or none ("status", "log debug"), or a JSON object,
 * {"command": "log", "argument": "debug"}. The answer is one JSON object on one line: {"schema": 1} with what the
 * command gives, or with {"error": "why"}; then the connection closes. Members are only ever added to a schema. A command
 * that streams answers with {"schema": 1} on a line of its own, and what follows is the command's, until either end closes.
 *
 * The socket has mode 0660. The commands that change something are for root and the daemon's
 * own user only. Clients are bounded in number, and one that does not finish its request or does not take its
 * answer is dropped. Some places are kept for root and the daemon's user; the others are shared by all users, of whom
 * none has more than CONTROL_USER_CLIENTS. A client that gets no place is answered at once that there is none.
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

#define CONTROL_MAX_CLIENTS  16u
#define CONTROL_KEPT_CLIENTS 4u       /* of these, for root and the daemon's own user */
#define CONTROL_USER_CLIENTS 8u       /* of the others, for one user */
#define CONTROL_TIMEOUT_US   5000000u /* for the request, and again for taking the answer */

/* The user at the other end of a connection to the control socket. */
struct control_user {
	uid_t uid;    /* (uid_t)-1: the kernel does not say */
	bool is_root; /* or the daemon's own user: may change things */
};

struct control_ops {
	/*
	 * Runs a command, in its own time, and calls done() once, on the main thread, now or later, with a reference that
	 * done() takes over; NULL if the answer cannot be had. @argument is the command's, or "", and @who asks, for the
	 * log: both are good during the call only. {"error": "why"} is a result, too. daemon/view/answer.h and query.h say
	 * what the answers have in them.
	 */
	void (*run)(void *arg, enum control_command_id command, const char *argument,
		    const char *who, void (*done)(void *done_arg, json_t *result), void *done_arg);
	/*
	 * Begins to send to a client what a command asks for, for as long as it wants. @fd is a duplicate's source: it
	 * stays the caller's, who closes it. Returns NULL, or why not: {"error": "why"}, a new reference.
	 */
	json_t *(*stream)(void *arg, enum control_command_id command, const char *argument, int fd,
			  const struct control_user *user);
	/* The daemon is to stop, as on SIGTERM; or @now. */
	void (*stop)(void *arg, bool now);
};

struct control;

/**
 * control_open - listen on the control socket
 * @path:  a socket that nobody listens on any more is replaced
 * @ops:   what commands do, with @arg; outlives the control
 * @error: on failure: what failed, a sentence without a full stop
 *
 * Returns 0, -EADDRINUSE if a daemon answers there already, or a negative errno.
 */
int control_open(struct loop *loop, const char *path, const struct control_ops *ops, void *arg,
		 char *error, size_t error_bytes, struct control **out) MUST_CHECK;

/**
 * control_close - drop every client, remove the socket, free
 *
 * Queries that have not been done yet may still call done(), which then only drops what it gets.
 * Accepts NULL.
 */
void control_close(struct control *control);

#endif
