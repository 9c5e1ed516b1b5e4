/* SPDX-License-Identifier: BSD-3-Clause */
/* What RDMA legs are made from: the configuration, and the upper-layer binding that finds payloads. */
#ifndef RPCRDMA_RDMA_CONFIG_H
#define RPCRDMA_RDMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "leg/leg.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/rdma_counters.h"

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

#endif
