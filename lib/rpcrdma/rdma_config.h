/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration and counters of RDMA legs. */
#ifndef RPCRDMA_RDMA_CONFIG_H
#define RPCRDMA_RDMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/counters.h"
#include "base/minmax.h"
#include "leg/leg.h"
#include "rpc/call_check.h"
#include "rpcrdma/dialect.h"
#include "rpcrdma/peer_profile.h"

/*
 * Space for the header in Receives whose size CONF_RDMA advertises: the draft does not say whether
 * that size includes the header (A6.2-9).
 */
#define RDMA_HEADER_EXTRA_BYTES 4096u

/* Action after a Reply was not read in time (A3.8-3). */
enum done_policy {
	DONE_POLICY_CLOSE,    /* close the connection */
	DONE_POLICY_WITHDRAW, /* invalidate the memory: a later Read is an error */
};

#define RDMA_LEG_COUNTERS(X)                                                                       \
	X(connect_failures, "attempts to reach an address of a server that failed")                \
	X(source_port_retries, "source ports that were in use, so that another port was chosen")   \
	X(bytes_received, "bytes received in Sends and by RDMA")                                   \
	X(bytes_sent, "bytes sent in Sends and by RDMA")                                           \
	X(calls_short, "Calls, in both directions, sent inline in one Send")                       \
	X(calls_chunked, "Calls, in both directions, whose data go by RDMA (in a chunk)")          \
	X(calls_long, "Calls, in both directions, that go entirely by RDMA (RDMA_NOMSG)")          \
	X(calls_sent, "Calls sent")                                                                \
	X(calls_received, "valid Calls received")                                                  \
	X(replies_sent, "Replies sent")                                                            \
	X(replies_received, "Replies received")                                                    \
	X(sends_msg, "messages sent with the RPC header inline (RDMA_MSG)")                        \
	X(sends_nomsg, "messages sent entirely by RDMA (RDMA_NOMSG)")                              \
	X(sends_msgp, "messages sent with aligned data (RDMA_MSGP)")                               \
	X(msgp_received, "RDMA_MSGP messages received, on connections that support them")          \
	X(sends_version_one, "RPC-over-RDMA version one messages sent, of any type")               \
	X(sends_version_two, "RPC-over-RDMA version two messages sent, of any type")               \
	X(keys_lent, "memory segments exposed to the peer")                                        \
	X(read_chunk_bytes_pulled, "bytes of Calls read from the peer, by RDMA Read")              \
	X(reply_bytes_pulled, "bytes of Replies read from the server, by RDMA Read (draft03)")     \
	X(write_chunk_bytes_pushed,                                                                \
	  "bytes of data written into the peer's write chunks, by RDMA Write")                     \
	X(reply_chunk_bytes_pushed,                                                                \
	  "bytes of whole Replies written into the peer's reply chunks, by RDMA Write")            \
	X(call_chunk_bytes_offered, "bytes of Calls exposed for the peer to read, by RDMA Read")   \
	X(reply_chunk_bytes_taken,                                                                 \
	  "bytes of whole Replies that the peer wrote into reply chunks, by RDMA Write")           \
	X(write_chunk_bytes_taken,                                                                 \
	  "bytes of data that the peer wrote into write chunks, by RDMA Write")                    \
	X(remote_invalidations_sent,                                                               \
	  "Sends that invalidated a key of the peer (Send with Invalidate)")                       \
	X(remote_invalidations_received, "Sends received that invalidated a key of the proxy")     \
	X(credit_waits, "Calls that waited for a credit of the server")                            \
	X(credit_zero_received,                                                                    \
	  "Replies that granted zero credits, which the protocol forbids: treated as one")         \
	X(credit_zero_obeyed,                                                                      \
	  "Replies that granted zero credits, where zero means to wait (draft03)")                 \
	X(credit_zero_stalls,                                                                      \
	  "connections closed because no credit followed within stall_timeout_s (draft03)")        \
	X(err_vers_sent, "messages of an unsupported RPC-over-RDMA version rejected (ERR_VERS)")   \
	X(err_vers_received, "messages that the peer rejected for their version (ERR_VERS)")       \
	X(err_chunk_sent, "messages that could not be processed, rejected (ERR_CHUNK)")            \
	X(err_chunk_received, "Calls that the peer could not process (ERR_CHUNK)")                 \
	X(err_inval_option_sent, "unknown version two operations rejected (INVAL_OPTION)")         \
	X(err_inval_option_received, "operations that the peer does not know (INVAL_OPTION)")      \
	X(err_unknown_received, "Calls that the peer rejected with an unknown error")              \
	X(drained_calls,                                                                           \
	  "Calls ignored because the connection was draining; clients send them again")            \
	X(short_discarded, "messages discarded because they are too short")                        \
	X(bad_replies, "Replies that are malformed or break the protocol")                         \
	X(unmatched_replies, "Replies discarded because they match no Call")                       \
	X(xid_mismatches, "messages whose two transaction ids (XID) differ")                       \
	X(replies_too_big,                                                                         \
	  "Replies too long for the client's chunks, answered with an error (ERR_CHUNK)")          \
	X(replies_over_limit, "Replies discarded because they are longer than their Call allows")  \
	X(reverse_refused,                                                                         \
	  "callbacks of a server beyond the limits, answered with an error (SYSTEM_ERR)")          \
	X(reverse_timeouts,                                                                        \
	  "callbacks that timed out at the client, answered with an error (SYSTEM_ERR)")           \
	X(reverse_late_replies, "late Replies to timed-out callbacks, discarded")                  \
	X(payloads_not_found,                                                                      \
	  "Replies sent whole because the positions of their data are unknown")                    \
	X(calls_too_big, "Calls longer than max_message_bytes, rejected (ERR_CHUNK)")              \
	X(chunk_mismatches,                                                                        \
	  "Calls whose data came in a chunk of another length, rejected (GARBAGE_ARGS)")           \
	X(chunks_misplaced,                                                                        \
	  "Calls with a read chunk not at a DDP-eligible argument, rejected (ERR_CHUNK)")          \
	X(calls_not_sendable, "Calls failed because the server accepts them in no form")           \
	X(landings_cut, "Calls whose Reply chunk was shortened to what the server supports")       \
	X(memory_waits, "Calls that waited for memory")                                            \
	X(key_waits, "waits of a Call for a free memory key of the device")                        \
	X(null_calls_sent, "NULL Calls sent to check whether a silent server is alive")            \
	X(null_calls_answered, "NULL Calls that were answered")                                    \
	X(null_calls_unanswered, "connections closed because no NULL Call was answered")           \
	X(options_sent, "RDMA_OPTIONAL messages sent (version two characteristics)")               \
	X(options_received, "RDMA_OPTIONAL messages received")                                     \
	X(options_late, "answers to the version two probe that came too late, discarded")          \
	X(characteristics_wrong, "characteristics that contradict earlier messages")               \
	X(recv_raises, "times that the Receives of a connection were enlarged")                    \
	X(recv_raises_refused, "times that memory was too short to enlarge Receives")              \
	X(recv_lowered_unasked, "times that a peer reduced its Receives unasked")                  \
	X(replies_lent,                                                                            \
	  "Replies exposed for the client to read, because no chunk could hold them (draft03)")    \
	X(reply_bytes_lent, "bytes of Replies exposed for the client to read, by RDMA Read")       \
	X(dones_received, "RDMA_DONE messages received: the client has read a Reply")              \
	X(lent_timeouts, "exposed Replies without RDMA_DONE within done_timeout_s")                \
	X(dones_sent, "RDMA_DONE messages sent: a Reply of the server has been read")              \
	X(dones_ignored, "RDMA_DONE messages for no exposed Reply, ignored")                       \
	X(conf_asked, "configuration requests sent to servers (config_protocol)")                  \
	X(conf_answered, "configuration requests that were answered")                              \
	X(conf_refused, "configuration requests that failed or timed out")                         \
	X(conf_served, "configuration requests of clients answered")                               \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(private_data_defaults, "peers without usable private data at connection set-up")
COUNTER_STRUCT(rdma_leg_counters, RDMA_LEG_COUNTERS);

struct version_cache;

struct rdma_leg_config {
	struct leg_config leg;
	uint32_t credits;                /* requested as requester; the most granted as responder */
	uint32_t inline_threshold_bytes; /* advertised, both directions; rdma_recv_bytes() */
	uint32_t max_segment_bytes;      /* longest segment to expose; 0: no configured limit */
	bool remote_invalidation;        /* offered if the device supports it (C3.2-1, C3.2-2) */
	bool ddp; /* requester: move payloads in chunks; otherwise whole messages */
	/* Legs that connect: source address, port ignored; AF_UNSPEC: chosen by the host. */
	struct sockaddr_storage source;
	bool source_transparent;       /* as in fabric_ep_params */
	uint16_t source_port;          /* preferred source port; 0: any */
	bool source_port_only;         /* fail if that port is not available */
	enum peer_id peer;             /* legs that connect: quirks of the server */
	uint64_t keepalive_us;         /* silence after which the peer is checked; 0: never */
	struct peer_cache *peer_cache; /* cache of quirks found; outlives the leg; NULL: none */
	uint64_t peer_client; /* key for peer_cache: a number for the address of the client */
	/* The document that defines version one. */
	enum dialect_id version_one;
	/* Exposed Replies: timeout for RDMA_DONE, and the action after it. 0: no timeout. */
	uint64_t done_timeout_us;
	enum done_policy done_policy;
	/*
	 * RDMA_MSGP: opaques of at least threshold bytes are aligned to a multiple of align; 0:
	 * never.
	 */
	uint32_t padding_align_bytes, padding_threshold_bytes;
	bool config_protocol;        /* serve and use the Connection Configuration Protocol */
	uint64_t reverse_timeout_us; /* timeout for the Reply to a reverse Call; 0: none */
	/* The highest version; legs that connect try it first. 0: version one. */
	uint32_t highest_version;
	/* Cache of server versions for legs that connect; outlives the leg; NULL: none. */
	struct version_cache *version_cache;
	uint32_t receive_max_bytes; /* largest Receives after raises; 0: no raises */
	bool characteristics;       /* version two: send and understand characteristics */
	bool reverse_chunks;        /* version two: reverse Calls can use chunks */
	/*
	 * Reject Calls with a read chunk not at a DDP-eligible item (ERR_CHUNK); otherwise execute
	 * them.
	 */
	bool strict_chunks;
	struct rdma_leg_counters *counters;
};

/**
 * rdma_recv_bytes - Returns the initial size of a leg's Receives: a leg posts what it advertises
 * (C5.2-1).
 * @advertised_bytes: advertised in private data
 * @least_bytes:      minimum of every version that the connection can use (E5.2-3)
 * @configures:       CONF_RDMA also advertises the size, possibly without the header (A6.2-9)
 *
 * Reverse Calls use the same Receives. A TCP client permits callbacks of 4096 bytes, and servers
 * send that much regardless of the advertised size. The default of 8192 holds such a callback with
 * its header and the additions of RPCSEC_GSS. With 4096 or less, a longer callback ends the
 * connection.
 */
static inline uint32_t rdma_recv_bytes(uint32_t advertised_bytes, uint32_t least_bytes,
				       bool configures)
{
	return max_u32(advertised_bytes, least_bytes) + (configures ? RDMA_HEADER_EXTRA_BYTES : 0);
}

/**
 * rdma_reverse_free_bytes - Returns the longest reverse Call, or Reply to it, that needs no memory
 * from the budget.
 */
static inline uint32_t rdma_reverse_free_bytes(uint32_t recv_bytes)
{
	return min_u32(recv_bytes, REVERSE_FREE_BYTES);
}

#endif
