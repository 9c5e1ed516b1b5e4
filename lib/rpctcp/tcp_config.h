/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration, counters and limits of TCP legs, and what those of one worker share. */
#ifndef RPCTCP_TCP_CONFIG_H
#define RPCTCP_TCP_CONFIG_H

#include <stdint.h>

#include "base/counters.h"
#include "leg/leg.h"
#include "rpc/call_check.h"
#include "stream/stream.h"

#define TCP_LEG_COUNTERS(X)                                                                        \
	X(connections_accepted, "client connections accepted")                                     \
	X(connections_opened, "connections made to servers")                                       \
	X(connect_failures, "failed attempts to connect to an address of a server")                \
	X(source_port_retries, "source ports that were in use, so that another port was chosen")   \
	X(source_port_shortfalls,                                                                  \
	  "connections to servers for which no reserved source port was free")                     \
	X(bytes_received, "bytes received over TCP")                                               \
	X(bytes_sent, "bytes sent over TCP")                                                       \
	X(records_received, "RPC messages (records) received completely")                          \
	X(records_sent, "RPC messages (records) sent completely")                                  \
	X(calls_received, "Calls received and forwarded")                                          \
	X(calls_sent, "Calls sent completely")                                                     \
	X(replies_received, "Replies received and forwarded")                                      \
	X(replies_sent, "Replies sent completely")                                                 \
	X(payload_bytes_copied, "bytes of messages copied once more within the proxy")             \
	X(budget_waits, "Calls that waited for memory")                                            \
	X(calls_parked, "Calls read early, to reach a Reply queued after them")                    \
	X(stash_bytes, "bytes read and buffered while their connection waited")                    \
	X(retransmissions_swallowed, "retransmissions of Calls in flight, discarded")              \
	X(retransmitted_closes, "connections closed because a Call was retransmitted repeatedly")  \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(calls_too_big,                                                                           \
	  "Calls longer than max_message_bytes, answered with an error (SYSTEM_ERR)")              \
	X(system_errors_sent, "Calls answered with an error (SYSTEM_ERR), for any reason")         \
	X(reverse_refused,                                                                         \
	  "callbacks of a server beyond the limits, answered with an error (SYSTEM_ERR)")          \
	X(reverse_timeouts,                                                                        \
	  "callbacks that timed out at the client, answered with an error (SYSTEM_ERR)")           \
	X(unmatched_replies, "Replies discarded because they match no Call")                       \
	X(replies_too_big, "Replies discarded because they are longer than their Call allows")     \
	X(stalls, "connections closed because a message made no progress in either direction")     \
	X(tls_probes_accepted, "Calls that request TLS, accepted: the handshake follows")          \
	X(clear_calls_denied,                                                                      \
	  "Calls without TLS to a service that requires it, denied (AUTH_TOOWEAK)")
COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);

/* The limits of a TCP leg. */

/* Reading and sending. */
#define TCP_STAGING_BYTES        (256u * 1024u)
#define TCP_BULK_BYTES           (16u * 1024u) /* longer records are received in place */
#define TCP_SCARCE_READ_BYTES    (4u * 1024u)  /* per read while the budget is contended */
#define TCP_PREBUFFERS_KEPT      8u
#define TCP_STALL_PROGRESS_BYTES (16u * 1024u) /* less is no progress */
/*
 * Per connection and iteration: a message of 1 MiB with its headers. Less would cut it into two
 * iterations.
 */
#define TCP_ITERATION_BYTES   ((1024u + 64u) * 1024u)
#define TCP_ITERATION_RECORDS 256u
/*
 * Smallest part of an incomplete message that is delivered; each part costs the sender one system
 * call.
 */
#define TCP_PARTIAL_MIN_BYTES (128u * 1024u)
#define TCP_UNSENT_MAX_BYTES  (8u * 1024u * 1024u)
#define TCP_LOCAL_REPLIES_MAX 64u /* unsent locally generated Replies */

/*
 * Records that are too long or too slow. A record is read to its end and discarded, up to this
 * multiple of max_message_bytes …
 */
#define TCP_DRAIN_FACTOR    4u
#define TCP_DRAIN_MIN_BYTES (128u * 1024u * 1024u) /* … or this, if it is more */
/* A long Call must arrive within the stall timeout plus a second per this many bytes. */
#define TCP_RECORD_FLOOR_BYTES (64u * 1024u)

/* Calls. */
#define TCP_CALLS_MAX         1024u          /* of one client, delivered and not answered */
#define TCP_PARKED_MAX_BYTES  (256u * 1024u) /* of one client's Calls, in buffers */
#define TCP_REVERSE_CALLS_MAX 64u            /* of one server */
/* TLS: from a client's probe to the end of its handshake. */
#define TCP_TLS_TIMEOUT_US 10000000u
/* duplicates of a Call that is older than the stall timeout */
#define TCP_COPIES_MAX 3u

/* Shared by the TCP legs of one worker. */
struct tcp_worker {
	uint8_t *staging; /* valid within one callback only */
	/* Prebuffers of TCP_BULK_BYTES (rpctcp/record_rx.h). */
	struct freelist prebuffers;
	struct stream_net *streams; /* creates the streams of connecting legs */
	struct tcp_leg_counters counters;
};

struct tls_context;
struct tls_worker;
struct tls_counters;

enum tcp_tls_policy {
	TCP_TLS_OFF,
	TCP_TLS_ALLOWED,  /* accepted legs: the client decides */
	TCP_TLS_REQUIRED, /* no Call passes in clear */
};

/* RPC-with-TLS (RFC 9289); all zero: off. */
struct tcp_tls_config {
	enum tcp_tls_policy policy;
	struct tls_context *context;   /* the leg keeps a reference of its own */
	struct tls_worker *worker;     /* outlives the leg, … */
	struct tls_counters *counters; /* … and so do these */
	/* Connecting legs: the program of the probe, which the server should have. */
	uint32_t probe_program, probe_version;
};

struct tcp_leg_config {
	struct leg_config leg;
	struct tcp_worker *worker;         /* outlives the leg, … */
	struct tcp_leg_counters *counters; /* … and so do these; NULL: the worker's */
	/* Accepted legs: how long a client can take to answer a reverse Call; 0: no limit. */
	uint64_t reverse_timeout_us;
	struct tcp_tls_config tls;
};

#endif
