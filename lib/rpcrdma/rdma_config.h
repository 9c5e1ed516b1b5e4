/* SPDX-License-Identifier: BSD-3-Clause */
/* What RDMA legs are made from, and what they count. */
#ifndef RPCRDMA_RDMA_CONFIG_H
#define RPCRDMA_RDMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/counter.h"
#include "base/least.h"
#include "leg/leg.h"
#include "rpc/call_verdict.h"
#include "rpcrdma/dialect.h"
#include "rpcrdma/peer_profile.h"

/*
 * The longest header that a message of the size may have that the configuration program tells: the draft does not say
 * whether it counts, so there is room for both (A6.2-9).
 */
#define RDMA_HEADER_ROOM_BYTES 4096u

/* What an end does whose Reply was not read in time (A3.8-3). */
enum done_policy {
	DONE_POLICY_CLOSE,    /* the connection */
	DONE_POLICY_WITHDRAW, /* takes its memory back: reading it is an error from then on */
};

#define RDMA_LEG_COUNTERS(X)                                                                       \
	X(connect_failures, "attempts to reach an address of a server that failed")                \
	X(source_port_retries,                                                                     \
	  "source ports that were in use already, so that another one was taken")                  \
	X(bytes_received, "bytes of Sends received, and of what came by RDMA")                     \
	X(bytes_sent, "bytes of Sends sent, and of what went by RDMA")                             \
	X(calls_short, "Calls, either way, that travel in one Send")                               \
	X(calls_chunked, "Calls, either way, whose data travel by RDMA (a chunk)")                 \
	X(calls_long, "Calls, either way, that travel as a whole by RDMA (RDMA_NOMSG)")            \
	X(calls_sent, "Calls sent")                                                                \
	X(calls_received, "Calls received and understood")                                         \
	X(replies_sent, "Replies sent")                                                            \
	X(replies_received, "Replies received to Calls of ours")                                   \
	X(sends_msg, "messages whose RPC header travels inline (RDMA_MSG) sent")                   \
	X(sends_nomsg, "messages that travel as a whole by RDMA (RDMA_NOMSG) sent")                \
	X(sends_msgp, "messages with aligned data (RDMA_MSGP) sent")                               \
	X(msgp_received, "such messages received, on connections that may have them")              \
	X(sends_version_one, "messages of version one of RPC-over-RDMA sent, of any kind")         \
	X(sends_version_two, "messages of version two sent, of any kind")                          \
	X(keys_lent, "times that memory was made accessible to the peer")                          \
	X(read_chunk_bytes_pulled, "bytes of Calls fetched from the peer, by RDMA Read")           \
	X(reply_bytes_pulled, "bytes of Replies that are lent to us fetched, by RDMA Read")        \
	X(write_chunk_bytes_pushed,                                                                \
	  "bytes of data put into the memory that the peer offered for them, by RDMA Write")       \
	X(reply_chunk_bytes_pushed, "bytes of whole Replies put there, by RDMA Write")             \
	X(call_chunk_bytes_offered, "bytes of Calls offered to the peer to fetch, by RDMA Read")   \
	X(reply_chunk_bytes_taken,                                                                 \
	  "bytes of whole Replies that the peer put into our memory, by RDMA Write")               \
	X(write_chunk_bytes_taken, "bytes of data that the peer put there, by RDMA Write")         \
	X(remote_invalidations_sent,                                                               \
	  "Sends that also took the peer its key away (Send with Invalidate) sent")                \
	X(remote_invalidations_received, "Sends that also took a key of ours away received")       \
	X(credit_waits, "Calls that waited until the server allowed more at once (a credit)")      \
	X(credit_zero_received,                                                                    \
	  "Replies that allowed no further Call, which the protocol forbids: taken as one")        \
	X(credit_zero_obeyed,                                                                      \
	  "Replies that allowed no further Call, where that says to wait (draft03)")               \
	X(credit_zero_stalls,                                                                      \
	  "connections closed because the server allowed none in time then (stall_timeout_s)")     \
	X(err_vers_sent, "messages of another version of RPC-over-RDMA refused (ERR_VERS)")        \
	X(err_vers_received,                                                                       \
	  "messages of ours that the peer refused for their version (ERR_VERS)")                   \
	X(err_chunk_sent, "messages that cannot be carried out refused (ERR_CHUNK)")               \
	X(err_chunk_received, "Calls of ours that the peer could not carry out (ERR_CHUNK)")       \
	X(err_inval_option_sent,                                                                   \
	  "operations of version two that are unknown here refused (INVAL_OPTION)")                \
	X(err_inval_option_received, "operations of ours that the peer does not know")             \
	X(err_unknown_received, "Calls of ours that the peer refused with an unknown error")       \
	X(drained_calls,                                                                           \
	  "Calls that came while the connection was being ended, left for the next one")           \
	X(short_discarded, "messages too short to be any, thrown away")                            \
	X(bad_replies, "Replies that are malformed or break the protocol")                         \
	X(unmatched_replies, "Replies to no Call, thrown away")                                    \
	X(xid_mismatches, "messages whose two transaction ids (XID) differ")                       \
	X(replies_too_big,                                                                         \
	  "Replies for which the client left too little room, answered with an error (ERR_CHUNK)") \
	X(replies_over_limit, "Replies longer than their Call allows, thrown away")                \
	X(reverse_refused,                                                                         \
	  "callbacks of a server past their limits, answered with an error (SYSTEM_ERR)")          \
	X(reverse_timeouts,                                                                        \
	  "callbacks that a client did not answer in time, answered with an error (SYSTEM_ERR)")   \
	X(reverse_late_replies, "Replies to such that came after all, thrown away")                \
	X(payloads_not_found,                                                                      \
	  "Replies whose data could not be told from the rest, so that they went as a whole")      \
	X(calls_too_big, "Calls longer than max_message_bytes, refused (ERR_CHUNK)")               \
	X(chunk_mismatches,                                                                        \
	  "Calls whose data came in a chunk of another length, refused (GARBAGE_ARGS)")            \
	X(chunks_misplaced,                                                                        \
	  "Calls with a read chunk where no data may be moved, refused (ERR_CHUNK)")               \
	X(calls_not_sendable, "Calls that the server cannot take in any form, failed")             \
	X(landings_cut,                                                                            \
	  "Calls whose Reply was given less room than it could need, as the server takes no more") \
	X(memory_waits, "Calls that had to wait for memory")                                       \
	X(key_waits, "times that a Call waited since the device had no memory key left")           \
	X(null_calls_sent, "empty Calls sent to ask a silent server whether it is there")          \
	X(null_calls_answered, "of these, those that were answered")                               \
	X(null_calls_unanswered, "connections closed because none was answered")                   \
	X(options_sent, "messages of version two's characteristics (RDMA_OPTIONAL) sent")          \
	X(options_received, "such messages received")                                              \
	X(options_late, "answers to the attempt at version two that came too late, thrown away")   \
	X(characteristics_wrong, "characteristics that break what was told or asked before")       \
	X(recv_raises, "times that the receives of a connection became larger")                    \
	X(recv_raises_refused, "times that there was no memory for that")                          \
	X(recv_lowered_unasked, "times that a peer took smaller receives, and nobody had asked")   \
	X(replies_lent,                                                                            \
	  "Replies that fit nowhere, lent to the client, which reads them (draft03)")              \
	X(reply_bytes_lent, "bytes of such Replies lent to the client to fetch, by RDMA Read")     \
	X(dones_received, "RDMA_DONE messages, by which a client says that it has read one")       \
	X(lent_timeouts, "Replies lent for which none came within done_timeout_s")                 \
	X(dones_sent, "Replies lent to us whose memory was given back (RDMA_DONE)")                \
	X(dones_ignored, "RDMA_DONE messages for nothing that is lent, which have no effect")      \
	X(conf_asked, "servers that were asked how to configure the connection (config_protocol)") \
	X(conf_answered, "of these, those that said it")                                           \
	X(conf_refused, "of these, those that did not, or not in time")                            \
	X(conf_served, "clients that asked that, and were answered")                               \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(private_data_defaults,                                                                   \
	  "peers that did not say what they can at the start (no usable private data)")
COUNTER_STRUCT(rdma_leg_counters, RDMA_LEG_COUNTERS);

struct version_cache;

struct rdma_leg_config {
	struct leg_config leg;
	uint32_t credits; /* to ask for as requester, to grant at most as responder */
	uint32_t inline_threshold_bytes; /* told both ways, and posted: rdma_recv_bytes() */
	uint32_t max_segment_bytes;      /* longest segment to offer; 0: no limit of our own */
	bool remote_invalidation;        /* offer it, if the device can (C3.2-1, C3.2-2) */
	bool ddp; /* requester: move payloads by RDMA, where a Call or Reply has one; else whole messages */
	/* Legs that connect: where to come from; AF_UNSPEC: an address of the host's choice. Its port is not looked at. */
	struct sockaddr_storage source;
	bool source_foreign;   /* as in fabric_ep_params */
	uint16_t source_port;  /* if it can be had; 0: no matter which */
	bool source_port_only; /* from that port, or not at all */
	enum peer_id peer;     /* what the server is; for legs that connect */
	uint64_t keepalive_us; /* a peer that said nothing for so long is asked; 0: never */
	struct peer_memory *peer_memory; /* outlives the leg; NULL: nothing is kept */
	uint64_t peer_client; /* for that: a number for the address of the client that it serves */
	/* What version one is taken for. */
	enum dialect_id version_one;
	/* A Reply that is lent: how long its RDMA_DONE may take, and what is done then. 0: for ever. */
	uint64_t done_timeout_us;
	enum done_policy done_policy;
	/* Opaques of so many bytes or more are sent at a multiple of that, where there is RDMA_MSGP; 0: none are. */
	uint32_t padding_align_bytes, padding_threshold_bytes;
	bool config_protocol;        /* the configuration program is served, and asked */
	uint64_t reverse_timeout_us; /* how long a reverse Call waits for its Reply; 0: for ever */
	/* The highest version to speak: of legs that connect, to try first. 0: version one. */
	uint32_t highest_version;
	/* Where a leg that connects notes what it found of its server's; outlives the leg; NULL: nowhere. */
	struct version_cache *version_cache;
	uint32_t receive_max_bytes; /* the receive size may be raised to so much; 0: it is not */
	bool characteristics; /* version two: they are told, and those of the peer understood */
	bool reverse_chunks;  /* version two: reverse Calls may use chunks */
	/* A Call with a read chunk where its program's binding lets nothing move gets ERR_CHUNK; else it is executed. */
	bool strict_chunks;
	struct rdma_leg_counters *counters;
};

/**
 * rdma_recv_bytes - the receives that a leg begins with: what it tells is what it posts (C5.2-1)
 * @told_bytes:  told in private data
 * @least_bytes: what is taken by default in any version that it may come to speak (E5.2-3)
 * @configures:  it may have told it by the configuration program, too, and then a header comes besides (A6.2-9)
 *
 * Reverse Calls have no other receives. A TCP client invites callbacks of 4096 bytes, and servers send what it invites,
 * whatever is told them: the 8192 that are told by default hold these with their header, and with what RPCSEC_GSS adds.
 * Who tells 4096 or less is left with callbacks as long as that: a server that sends a longer one ends the connection.
 */
static inline uint32_t rdma_recv_bytes(uint32_t told_bytes, uint32_t least_bytes, bool configures)
{
	return most(told_bytes, least_bytes) + (configures ? RDMA_HEADER_ROOM_BYTES : 0);
}

/** rdma_reverse_free_bytes - of a reverse Call to a leg with such receives, and of its Reply, that take nothing from the budget. */
static inline uint32_t rdma_reverse_free_bytes(uint32_t recv_bytes)
{
	return least(recv_bytes, REVERSE_FREE_BYTES);
}

#endif
