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
	X(connections_accepted, "clients taken over from the listener")                            \
	X(connections_opened, "connections made to servers")                                       \
	X(connect_failures, "attempts to reach an address of a server that failed")                \
	X(source_port_retries,                                                                     \
	  "source ports that were in use already, so that another one was taken")                  \
	X(source_port_shortfalls,                                                                  \
	  "connections to servers for which no reserved source port was to be had")                \
	X(bytes_received, "bytes received over TCP")                                               \
	X(bytes_sent, "bytes sent over TCP")                                                       \
	X(records_received, "RPC messages (records) received to their end")                        \
	X(records_sent, "RPC messages (records) sent to their end")                                \
	X(calls_received, "Calls received and passed on")                                          \
	X(calls_sent, "Calls sent to their end")                                                   \
	X(replies_received, "Replies received and passed on")                                      \
	X(replies_sent, "Replies sent to their end")                                               \
	X(payload_bytes_copied, "bytes of messages that were copied once more within the proxy")   \
	X(budget_waits, "Calls that had to wait for memory")                                       \
	X(calls_parked, "Calls read ahead of their turn, to get at a Reply behind them")           \
	X(stash_bytes, "bytes read and set aside while their connection waited")                   \
	X(retransmissions_swallowed,                                                               \
	  "Calls that came again while being answered, and were passed over")                      \
	X(retransmitted_closes, "connections closed because a Call came again and again")          \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(calls_too_big,                                                                           \
	  "Calls longer than max_message_bytes, answered with an error (SYSTEM_ERR)")              \
	X(system_errors_sent, "Calls answered with an error (SYSTEM_ERR), for whatever cause")     \
	X(reverse_refused,                                                                         \
	  "callbacks of a server past their limits, answered with an error (SYSTEM_ERR)")          \
	X(reverse_timeouts,                                                                        \
	  "callbacks that a client did not answer in time, answered with an error (SYSTEM_ERR)")   \
	X(unmatched_replies, "Replies to no Call, thrown away")                                    \
	X(replies_too_big, "Replies longer than their Call allows, thrown away")                   \
	X(stalls, "connections closed because a message got no further, either way")
COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);

/* The limits of a TCP leg. */

/* Of what is read and sent. */
#define TCP_STAGING_BYTES        (256u * 1024u)
#define TCP_BULK_BYTES           (16u * 1024u) /* records beyond it are received in place */
#define TCP_SCARCE_READ_BYTES    (4u * 1024u)  /* per read while the budget has waiters */
#define TCP_GATHERS_KEPT         8u
#define TCP_STALL_PROGRESS_BYTES (16u * 1024u) /* less than that is no progress */
/* Read and sent of a connection in a turn: a message of 1 MiB and its headers. Less would cut it in two turns. */
#define TCP_TURN_BYTES   ((1024u + 64u) * 1024u)
#define TCP_TURN_RECORDS 256u
/* Smallest piece of an incomplete message that is delivered; each piece costs the sender one system call. */
#define TCP_PART_BYTES       (128u * 1024u)
#define TCP_UNSENT_MAX_BYTES (8u * 1024u * 1024u)
#define TCP_ANSWERS_MAX      64u /* answers of our own that are not sent yet */

/* Of records that are too long, or too slow. One is read to its end, and nothing kept, up to so many times the limit … */
#define TCP_DRAIN_FACTOR    4u
#define TCP_DRAIN_MIN_BYTES (128u * 1024u * 1024u) /* … or to this */
/* A Call longer than most must come within the stall timeout and a second for each so many bytes. */
#define TCP_RECORD_FLOOR_BYTES (64u * 1024u)

/* Of Calls. */
#define TCP_CALLS_MAX         1024u          /* of one client, delivered and not answered */
#define TCP_PARKED_MAX_BYTES  (256u * 1024u) /* of one client's Calls, in buffers */
#define TCP_REVERSE_CALLS_MAX 64u            /* of one server */
#define TCP_COPIES_MAX        3u             /* of a Call, if it is older than the stall timeout */

/* What the TCP legs of one worker share. */
struct tcp_worker {
	uint8_t *staging; /* good within one callback only */
	struct spare_list
		gathers; /* of TCP_BULK_BYTES, for the starts of records (rpctcp/input.h) */
	struct stream_net *streams; /* makes those of connecting legs */
	struct tcp_leg_counters counters;
};

struct tcp_leg_config {
	struct leg_config leg;
	struct tcp_worker *worker;         /* outlives the leg … */
	struct tcp_leg_counters *counters; /* … as do these; NULL: the worker's */
	/* Of legs that are accepted: how long a client may take to answer a reverse Call; 0: for ever. */
	uint64_t reverse_timeout_us;
};

#endif
