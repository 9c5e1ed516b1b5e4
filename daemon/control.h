/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: a request per connection, JSON back.
 *
 * A request is one line: a plain word with an argument or none ("status", "log debug") or a JSON
 * object
 * {"command": "log", "argument": "debug"}. The answer is one JSON object on one line: what the
 * command gives, or {"error": "why"}; then the connection closes.
 *
 * The socket has mode 0660. What changes something, stop and log, takes root or the daemon's own
 * user besides. Clients are bounded in number, and a client that does not finish its request or
 * does not take its answer is dropped.
 *
 * Everything here belongs to the main thread's loop.
 */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/loop.h"

#define CONTROL_MAX_CLIENTS 16u
#define CONTROL_TIMEOUT_US  5000000u /* for the request, and again for taking the answer */

/*
 * What can be asked for, and the members of each answer; the client prints "-" for one that is
 * missing. LEG is what leg/leg.h says of a leg.
 */
enum control_query {
	/*
	 * {"version", "pid", "uptime_s", "config", "log_level", "connections", "connections_total",
	 *  "workers": [{"connections", "memory_limit_bytes", "memory_used_bytes",
	 * "memory_peak_bytes", "memory_waiting", "slab_bytes"}]}
	 */
	CONTROL_STATUS,
	/*
	 * {"services": [{"name", "listen", "connect", "connections", "max_connections",
	 *                "connections_total", "refused": {REASON: count}}]}
	 */
	CONTROL_SERVICES,
	/*
	 * {"connections": [{"id", "service", "state", "client", "age_s", "client_leg": LEG,
	 *                   "server_leg": LEG}]}
	 * LEG: {"kind", "state", "local", "peer", "calls_in", "calls_out", "calls_held",
	 *       "credits_granted", "credits_available", "inline_send_bytes", "inline_recv_bytes",
	 *       "rpcrdma_version", "bytes_received", "bytes_sent"}, or absent
	 */
	CONTROL_CONNECTIONS,
	/*
	 * {"services": [{"name", "counters": stats_json()}], "help": stats_help_json()}
	 */
	CONTROL_STATS,
};

struct control_ops {
	/*
	 * Gathers what is asked for, in its own time, and calls done() once, on the main thread,
	 * now or later, with a reference that done() takes over; NULL if it cannot be had.
	 */
	void (*query)(void *arg, enum control_query query,
		      void (*done)(void *done_arg, json_t *result), void *done_arg);
	/* The daemon is to stop, as on SIGTERM. */
	void (*stop)(void *arg);
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
