/* SPDX-License-Identifier: BSD-3-Clause */
/* What TCP legs are made from, share and count. */
#ifndef RPCTCP_TCP_CONFIG_H
#define RPCTCP_TCP_CONFIG_H

#include <stdint.h>

#include "base/counter.h"
#include "leg/leg.h"
#include "rpc/call_verdict.h"
#include "stream/stream.h"

#define TCP_LEG_COUNTERS(X)                                                                        \
	X(connections_accepted, "connections taken over from a listener")                          \
	X(connections_opened, "connections made to servers")                                       \
	X(connect_failures, "addresses that could not be reached")                                 \
	X(source_port_retries, "source ports that were taken when they were wanted")               \
	X(source_port_shortfalls,                                                                  \
	  "connections to servers for which no reserved source port was to be had")                \
	X(bytes_received, "bytes received")                                                        \
	X(bytes_sent, "bytes sent")                                                                \
	X(records_received, "records received whole")                                              \
	X(records_sent, "records sent whole")                                                      \
	X(calls_received, "Calls received and passed on")                                          \
	X(calls_sent, "Calls sent whole")                                                          \
	X(replies_received, "Replies received and passed on")                                      \
	X(replies_sent, "Replies sent whole")                                                      \
	X(payload_bytes_copied, "bytes of messages copied from staging")                           \
	X(budget_waits, "Calls that had to wait for memory")                                       \
	X(calls_parked, "Calls taken in before they could be passed on, for a Reply behind them")  \
	X(stash_bytes, "bytes set aside while their connection waited")                            \
	X(retransmissions_swallowed, "Calls in flight that were sent again")                       \
	X(retransmitted_closes, "connections closed since a Call was sent again and again")        \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(calls_too_big, "Calls longer than is carried, thrown away and answered SYSTEM_ERR")      \
	X(system_errors_sent, "Calls answered SYSTEM_ERR")                                         \
	X(reverse_refused, "reverse Calls past their limits, answered SYSTEM_ERR")                 \
	X(unmatched_replies, "Replies without a Call, thrown away")                                \
	X(replies_too_big, "Replies larger than their Call allows, thrown away")                   \
	X(stalls, "connections closed since a record made no progress, either way")
COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);

#define TCP_STAGING_BYTES (256u * 1024u)

/* What the TCP legs of one worker share. */
struct tcp_worker {
	uint8_t *staging;           /* good within one callback only */
	struct stream_net *streams; /* makes those of connecting legs */
	struct tcp_leg_counters counters;
};

struct tcp_leg_config {
	struct leg_config leg;
	struct tcp_worker *worker; /* outlives the leg */
};

#endif
