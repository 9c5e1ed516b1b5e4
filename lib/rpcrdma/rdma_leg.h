/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA leg: RPC-over-RDMA on one fabric endpoint, requester and responder at once.
 *
 * The end that connected is the client: its requester carries the forward Calls, with chunks; its
 * responder takes reverse Calls, inline only (RFC 8167). The end that accepted is the mirror image.
 * Calls and Replies are told apart by rdma_proc and the RPC message's type; each direction has its
 * own credits and XIDs.
 */
#ifndef RPCRDMA_RDMA_LEG_H
#define RPCRDMA_RDMA_LEG_H

#include "base/counter.h"
#include "fabric/fabric.h"
#include "leg/leg.h"
#include "rpcrdma/peer_profile.h"

#define RDMA_LEG_COUNTERS(X)                                                                       \
	X(calls_sent, "Calls sent")                                                                \
	X(calls_received, "Calls received and decoded")                                            \
	X(replies_sent, "Replies sent")                                                            \
	X(replies_received, "Replies received and matched")                                        \
	X(sends_msg, "RDMA_MSG sent")                                                              \
	X(sends_nomsg, "RDMA_NOMSG sent")                                                          \
	X(read_chunk_bytes_pulled, "bytes pulled from the peer by RDMA Read")                      \
	X(write_chunk_bytes_pushed, "bytes written into the peer's write chunks")                  \
	X(reply_chunk_bytes_pushed, "bytes written into the peer's reply chunks")                  \
	X(call_chunk_bytes_offered, "bytes of Calls offered as read chunks")                       \
	X(reply_chunk_bytes_taken, "bytes of Replies that came in reply chunks")                   \
	X(write_chunk_bytes_taken, "bytes of Replies that came in write chunks")                   \
	X(remote_invalidations_sent, "Sends with Invalidate sent")                                 \
	X(remote_invalidations_received, "Sends with Invalidate received")                         \
	X(credit_waits, "Calls that had to wait for a credit")                                     \
	X(credit_zero_received, "grants of zero, taken as one")                                    \
	X(err_vers_sent, "ERR_VERS sent")                                                          \
	X(err_vers_received, "ERR_VERS received")                                                  \
	X(err_chunk_sent, "ERR_CHUNK sent")                                                        \
	X(err_chunk_received, "ERR_CHUNK received")                                                \
	X(err_unknown_received, "RDMA_ERROR with an unknown code received")                        \
	X(short_discarded, "Sends too short for their kind, discarded")                            \
	X(bad_calls, "Calls that did not decode")                                                  \
	X(bad_replies, "Replies that did not decode or broke the protocol")                        \
	X(unmatched_replies, "Replies without a Call")                                             \
	X(xid_mismatches, "rdma_xid not the XID of the RPC message")                               \
	X(replies_too_big, "Replies larger than the peer's chunks, answered ERR_CHUNK")            \
	X(reverse_refused, "reverse Calls past their limits, answered SYSTEM_ERR")                 \
	X(payloads_not_found, "Replies with write chunks that could not be reduced")               \
	X(calls_too_big, "Calls over max_message_bytes, answered ERR_CHUNK")                       \
	X(calls_not_sendable, "Calls that could not be sent in any form, failed")                  \
	X(landings_cut, "Calls whose Reply was offered less room than it could need")              \
	X(memory_waits, "Calls that had to wait for memory")                                       \
	X(dones_ignored, "RDMA_DONE received, which release nothing")                              \
	X(tls_denied, "AUTH_TLS probes denied")                                                    \
	X(private_data_defaults, "connections whose peer sent no usable private data")
COUNTER_STRUCT(rdma_leg_counters, RDMA_LEG_COUNTERS);

/* Where DDP-eligible payloads of a Reply are; lib/nfs behind it. */
struct rdma_payload {
	uint32_t offset_bytes; /* in the RPC message, of the first data byte */
	uint32_t len_bytes;    /* without XDR padding */
};

struct rdma_binding {
	/*
	 * Keeps of a Call what reading its Reply takes, bounded; NULL if there is nothing to find
	 * in it.
	 */
	void *(*call_note)(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			   uint32_t len_bytes);
	/* Frees a note; accepts NULL. */
	void (*note_free)(void *arg, void *note);
	/*
	 * Finds the DDP-eligible payloads of a whole Reply, in order; an op that failed counts with
	 * length zero. Returns how many (at most @max), or a negative errno if the Reply cannot be
	 * followed.
	 */
	int (*reply_payloads)(void *arg, const void *note, const uint8_t *reply, uint32_t len_bytes,
			      struct rdma_payload *payloads, unsigned max);
	/* For a requester that moves payloads; NULL otherwise. The DDP-eligible items of a whole Call. */
	int (*call_payloads)(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			     uint32_t len_bytes, struct rdma_payload *payloads, unsigned max);
	/* Whether the first of them is written to a file, and is no path. */
	bool (*call_writes)(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			    uint32_t len_bytes);
	/* The largest length of each DDP-eligible result that the Reply to a Call can have. */
	int (*result_bounds)(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			     uint32_t len_bytes, uint32_t *bounds_bytes, unsigned max);
	void *arg;
};

struct rdma_leg_config {
	struct leg_config leg;
	uint32_t credits; /* to ask for as requester, to grant at most as responder */
	uint32_t inline_threshold_bytes; /* advertised both ways; receives are larger */
	uint32_t max_segment_bytes;      /* longest segment to offer; 0: no limit of our own */
	bool remote_invalidation; /* offer it, as the client where the device has keys that die alone */
	bool ddp; /* requester: move payloads by RDMA, where the binding finds one; else whole messages */
	const struct rdma_binding *binding; /* NULL: nothing is ever reduced */
	enum peer_id peer;                  /* what the server is; for legs that connect */
	struct peer_memory *peer_memory;    /* outlives the leg; NULL: nothing is kept */
	struct rdma_leg_counters *counters;
};

/**
 * rdma_leg_connect - make a leg that connects
 * @fabric: the worker's fabric
 * @addr:   the server
 * @config: copied, but for what it points to
 *
 * opened() or closed() follows. Returns 0, -ENOMEM or the fabric's errno.
 */
int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out) MUST_CHECK;

/**
 * rdma_leg_adopt - make a leg from an accepted connection
 * @in: taken, also on failure
 *
 * requested() follows, and leg_accept() or leg_close() is due after it.
 */
int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out) MUST_CHECK;

#endif
