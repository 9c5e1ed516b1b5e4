/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon shows of itself, as JSON.
 *
 * A member that has no meaning is null.
 *
 * status       {"version", "pid", "uptime_s", "log_level", "log_lines_dropped", "workers", "services", "connections",
 *               "services_leaving", "stopping": a truth,
 *               "memory": {"limit_bytes", "claimed_bytes", "peak_bytes", "waiting_claims", "oldest_wait_s",
 *                          "mapped_bytes", "in_use_bytes", "beside_limit_bytes"}}
 * services     {"services": [{"name", "listen", "connect", "connections", "connections_total",
 *                             "max_connections", "max_connections_per_client", "half_open", "held",
 *                             "refused": {reason: count},
 *                             "memory": {"claimed_bytes", "waiting_claims", "oldest_wait_s"},
 *                             "server": {"state": "unknown", "ok" or "down", "state_age_s", "error", "address",
 *                                        "waiting_clients", "attempts_failed", "late_calls"},
 *                             "draining": a truth, "listens": [all that "listen" is the first of], "mount",
 *                             "mount_targets": [as of "targets", where mount has some]}]}
 * connections  {"connections": [{"id", "service", "worker", "state", "state_age_s", "age_s",
 *                                "client_address", "calls_total": of the client's, "oldest_call_age_s": a number or null,
 *                                "oldest_call_operation", "oldest_call_stage": of those without a Reply,
 *                                "oldest_untaken_age_s", "oldest_untaken_operation": of those whose Reply a TCP client has
 *                                not taken, "client": LEG or null, "upstream": LEG or null}]}
 *     LEG      {"kind", "state", "state_age_s", "local", "peer", "calls_in", "calls_out",
 *               "peer_profile", "peer_profile_why", "bytes_received", "bytes_sent", "calls_held",
 *               "credits_granted", "credits_available", "credits_used", "inline_send_bytes", "inline_recv_bytes",
 *               "rpcrdma_version", "recv_size_bytes", "peer_recv_size_bytes", "recv_posted_bytes",
 *               "peer_reads_max", "replies_lent", "calls_abandoned", "dialect", "pending": a text or null}; from
 *               "calls_held" on all are null of TCP, the profile but of an RDMA server, the credits that are left also
 *               until its first Reply, "peer_reads_max" of a peer that has not configured the connection, and "dialect"
 *               of a version that one document alone describes
 * stats        {"services": {name: {module: {counter: value}, "closes": {"client": {reason: count},
 *                                   "server": …, "proxy": …}}}}; with an argument of that service only
 * latency      {"limits_s": [where each bucket ends], "services": {name: {"operations": {operation: {"calls", "unanswered",
 *               "errors", "errors_by_status": {status: count}, "request_bytes", "reply_bytes", "whole": TIMES,
 *               "stages": {"receive", "memory", "credit", "server" and "client": TIMES}}}}}}; with arguments of that service
 *               and operation only, and that in "operation"
 *     TIMES    {"count", "sum_s", "p50_s", "p99_s", "counts": [one a bucket, up to the last that has any; one more than
 *               there are limits is of those above them]}
 * counters     {"counters": {module: {counter: text}, "closes": {reason: text}}}
 * config       {"file", "lines": [the configuration in force, as a file would have it]}
 */
#ifndef DAEMON_VIEW_ANSWER_H
#define DAEMON_VIEW_ANSWER_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/view/gather.h"

#define ANSWER_ARGUMENT_BYTES                                                                      \
	400u /* a service, an operation, and whatever else somebody has typed */

#define ANSWER_SCHEMA 1 /* of all answers: "schema", which answer_text() sets */

enum answer_kind {
	ANSWER_STATUS,
	ANSWER_SERVICES,
	ANSWER_CONNECTIONS,
	ANSWER_OLDEST, /* as connections, but of GATHER_OLDEST_MOST at most: those with the oldest Calls, in that order */
	ANSWER_LATENCY,
	ANSWER_STATS,
	ANSWER_COUNTERS,
	ANSWER_CONFIG,
};

/**
 * answer_ask - have an answer
 * @argument: what alone is to be shown: of stats a service, of latency one and its operation; "": all. Longer than
 *	      ANSWER_ARGUMENT_BYTES is refused
 * @done:     called once with @arg, on the main thread, now or later, with a reference that it takes over: the answer,
 *	      {"error": "why"}, or NULL if it cannot be had
 */
void answer_ask(struct gathering *gathering, enum answer_kind kind, const char *argument,
		void (*done)(void *arg, json_t *answer), void *arg);
/** error_json - {"error": the text}; a new reference, NULL without memory. */
json_t *error_json(const char *format, ...) PRINTF_LIKE(1, 2) MUST_CHECK;

/** no_service_json - {"error": "there is no service …"}, with the one that may be meant; the same. */
json_t *no_service_json(const struct proxy *proxy, const char *name) MUST_CHECK;

/** lines_json - the lines of a text, each a string; @text may be NULL. A new reference, NULL without memory. */
json_t *lines_json(const char *text);

/**
 * answer_text - an answer as it is sent: with its schema, on one line
 * @answer: taken over; others may have it as well. NULL: there is none
 *
 * Returns the text without the end of its line, to be freed, or NULL without an answer or without memory.
 */
char *answer_text(json_t *answer) MUST_CHECK;

#endif
