/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket shows: snapshots gathered from the workers, as JSON.
 *
 * status       {"version", "pid", "uptime_s", "log_level", "log_lines_dropped", "workers", "services", "connections",
 *               "memory": {"limit_bytes", "claimed_bytes", "peak_bytes", "waiting_claims",
 *                          "mapped_bytes", "in_use_bytes"}}
 * services     {"services": [{"name", "listen", "connect", "connections", "connections_total",
 *                             "max_connections", "refused": {reason: count}}]}
 * connections  {"connections": [{"id", "service", "worker", "state", "state_age_s", "age_s",
 *                                "client_address", "client": LEG or null, "upstream": LEG or null}]}
 *     LEG      {"kind", "state", "state_age_s", "local", "peer", "calls_in", "calls_out", "calls_held",
 *               "credits_granted", "credits_available", "inline_send_bytes", "inline_recv_bytes",
 *               "rpcrdma_version", "peer_profile", "peer_profile_why", "bytes_received",
 *               "bytes_sent"}; the profile is null but for an RDMA server
 * stats        {"services": {name: {module: {counter: value}}}, "help": {module: {counter: text}}}
 *
 * Each worker takes its part of a snapshot on its own thread, between two turns of its loop;
 * nothing is locked. Parts of one answer may so be a moment apart.
 */
#ifndef DAEMON_CONTROL_QUERY_H
#define DAEMON_CONTROL_QUERY_H

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/proxy/proxy.h"

/**
 * query_control_open - open the control socket of a proxy
 *
 * To be closed with control_close() before the proxy is stopped. What fails is logged. Returns 0 or
 * a negative errno.
 */
int query_control_open(struct proxy *proxy, struct control **out) MUST_CHECK;

#endif
