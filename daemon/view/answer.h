/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of the daemon about its state, as JSON. A member that does not apply is null.
 *
 * status       {"version", "pid", "uptime_s", "log_level", "log_lines_dropped", "workers",
 *               "services", "connections", "services_leaving", "stopping": a boolean,
 *               "memory": {"limit_bytes", "claimed_bytes", "peak_bytes", "waiting_claims",
 *                          "oldest_wait_s", "mapped_bytes", "in_use_bytes",
 *                          "beside_limit_bytes"},
 *               "problems": [PROBLEM, worst first], "host": the name of this machine}
 *     PROBLEM  {"id", "severity": "critical", "warning" or "notice", "service", "server": a URI,
 *               "reason": of refused clients, "age_s": how long it has lasted, "count" and
 *               "last_age_s": of events, "text", "cure"}
 * services     {"services": [{"name", "listen", "connect", "connections", "connections_total",
 *                             "max_connections", "max_connections_from": "file", "ports",
 *                             "descriptors" or "memory",
 *                             "max_connections_per_client", "half_open",
 *                             "held", "refused": {reason: count},
 *                             "memory": {"claimed_bytes", "waiting_claims", "oldest_wait_s"},
 *                             "server": {"state": "unknown", "ok" or "down", "state_age_s",
 *                                        "error", "address", "waiting_clients",
 *                                        "attempts_failed", "late_calls",
 *                                        "condition": "unknown", "ok", "silent", "disabled" or
 *                                        "down", "condition_age_s"},
 *                             "draining": a boolean, "balance", "targets": [TARGET],
 *                             "listens": [all listeners; "listen" is the first],
 *                             "mount", "mount_targets": [TARGET], "active": connections that
 *                             count against max_connections, "problems": [PROBLEM]}]}
 *     TARGET   {"connect", "order", "state", "state_age_s", "error", "address", "tried_last_s",
 *               "connections", "connections_total", "attempts", "failures", "last_error",
 *               "last_error_age_s"}
 * connections  {"connections": [{"id", "service", "worker", "state", "state_age_s", "age_s",
 *                                "client_address", "calls_total": of the client,
 *                                "oldest_call_age_s", "oldest_call_operation",
 *                                "oldest_call_stage": of the oldest Call without a Reply,
 *                                "oldest_untaken_age_s", "oldest_untaken_operation": of the
 *                                oldest Reply that a TCP client has not acknowledged,
 *                                "client": LEG, "upstream": LEG}],
 *               "selection": the argument, if the answer has one}; the argument selects a
 *              connection, or the connections of an address or a prefix
 *     LEG      {"kind", "state", "state_age_s", "local", "peer", "calls_in", "calls_out",
 *               "peer_profile", "peer_profile_why": of an RDMA server,
 *               "bytes_received", "bytes_sent", and for RDMA only: "calls_held",
 *               "credits_granted", "credits_available": null before the first Reply,
 *               "credits_used", "inline_send_bytes", "inline_recv_bytes", "rpcrdma_version",
 *               "recv_size_bytes", "peer_recv_size_bytes", "recv_posted_bytes",
 *               "peer_reads_max": null until the peer has configured the connection,
 *               "replies_lent", "calls_abandoned",
 *               "dialect": null for a version that only one document describes,
 *               "pending": a text,
 *               "tls": null for clear text and for RDMA, else {"version": "1.3", "cipher",
 *               "peer_name": the name in the peer's certificate; null without one,
 *               "verified": a boolean}}
 * stats        {"services": {name: {module: {counter: value},
 *                                   "closes": {"client": {reason: count}, "server": …,
 *                                              "proxy": …}}}}; the argument selects a service
 * latency      {"limits_s": [upper bound of each bucket],
 *               "services": {name: {"operations": {operation: {
 *                   "calls", "unanswered", "errors", "errors_by_status": {status: count},
 *                   "request_bytes", "reply_bytes", "whole": TIMES,
 *                   "stages": {"receive", "memory", "credit", "server", "client": TIMES each}
 *               }}}}}; the arguments select a service and an operation, then in "operation"
 *     TIMES    {"count", "sum_s", "p50_s", "p99_s",
 *               "counts": [one per bucket, up to the last that is not empty; the bucket
 *                          after the last limit has the times above it]}
 * counters     {"counters": {module: {counter: text}, "closes": {reason: text}}}
 * config       {"file", "lines": [the active configuration as a file]}
 */
#ifndef DAEMON_VIEW_ANSWER_H
#define DAEMON_VIEW_ANSWER_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/view/snapshot_collect.h"

#define ANSWER_ARGUMENT_BYTES 400u /* a service and an operation */

#define ANSWER_SCHEMA         1 /* value of "schema", which answer_text() adds to every answer */

enum answer_kind {
	ANSWER_STATUS,
	ANSWER_SERVICES,
	ANSWER_CONNECTIONS,
	ANSWER_OLDEST, /* the COLLECT_OLDEST_MAX connections with the oldest Calls, oldest first */
	ANSWER_LATENCY,
	ANSWER_STATS,
	ANSWER_COUNTERS,
	ANSWER_CONFIG,
};

/**
 * answer_query - Requests an answer.
 * @argument: what to show: a service for stats, a service and an operation for latency, a number
 *            or an address for connections; "": all. At most ANSWER_ARGUMENT_BYTES, else the answer
 *            is an error
 * @done:     called once with @arg on the main thread, during this call or later. It owns the
 *            answer, which can be {"error": "why"}; NULL: no answer
 */
void answer_query(struct snapshot_collector *snapshot_collector, enum answer_kind kind,
		  const char *argument, void (*done)(void *arg, json_t *answer), void *arg);
/** error_json - Returns {"error": the text} as a new reference, or NULL if memory ran out. */
json_t *error_json(const char *format, ...) PRINTF_LIKE(1, 2) MUST_CHECK;
/** invalid_selector_json - Returns the error if worker_conn_selector_parse() rejects @argument. */
json_t *invalid_selector_json(const char *argument) MUST_CHECK;
/** unknown_connection_json - Returns the error if the selector @argument selects no connection. */
json_t *unknown_connection_json(const char *argument) MUST_CHECK;

/**
 * unknown_service_json - Returns {"error": "there is no service …"} with the nearest name. NULL if
 * memory ran out.
 */
json_t *unknown_service_json(const struct proxy *proxy, const char *name) MUST_CHECK;

/**
 * lines_json - Returns the lines of @text, or of NULL, as an array: a new reference, or NULL if
 * memory ran out.
 */
json_t *lines_json(const char *text);

/**
 * answer_text - Serializes an answer with its schema on one line.
 * @answer: the reference is taken over; others can hold one, too. NULL: no answer
 *
 * Returns the text without a line end, which the caller frees, or NULL without an answer or if
 * memory ran out.
 */
char *answer_text(json_t *answer) MUST_CHECK;

#endif
