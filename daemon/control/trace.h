/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer to `trace`: RPCs as they finish, a line of JSON each.
 *
 * {"schema": 1}
 * {"time": "2026-11-25T22:34:25.123456Z", "service", "connection": its number, "client_address", "callback": a truth, "operation",
 *  "xid", "answered": a truth, "error": a status or null, "request_bytes", "reply_bytes", "carried": {"client": FORMS,
 *  "upstream": FORMS}, "took_s", "stages_s": {"receive", "memory", "credit", "server", "client"}}
 *     FORMS  {"call", "reply"}: "record" of TCP, "short", "chunked", "long" or "lent"; null where there was none
 * {"missed": a count}, where the client did not read in time
 * {"end": "count", "seconds", or "asked" of a client that has ended its sending side}, the last line: without it something
 *  is missing, since the daemon has ended or the client did not read
 */
#ifndef DAEMON_CONTROL_TRACE_H
#define DAEMON_CONTROL_TRACE_H

#include "daemon/control/watching.h"

extern const struct watch_form trace_form;

#endif
