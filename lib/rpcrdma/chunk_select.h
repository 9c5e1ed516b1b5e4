/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the form of a Call, and where its Reply can be placed. Pure: sizes, limits and facts in,
 * a form out.
 *
 * A message that fits goes inline. Otherwise its single payload becomes a read chunk and the rest
 * goes inline, or the whole message becomes the position-zero read chunk of an RDMA_NOMSG (A5.1-1).
 * If the Reply is not certain to fit inline, the Call has a chunk for it: a write chunk for its
 * single payload, or a reply chunk for all of it.
 *
 * Some inputs are expensive because the whole Call must be parsed; chunk_select_needs() tells which
 * are required. While it returns any, the form depends on the content of the Call, so an incomplete
 * Call has no form yet.
 */
#ifndef RPCRDMA_CHUNK_SELECT_H
#define RPCRDMA_CHUNK_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "leg/exchange.h"
#include "rpc/xdr.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/proto.h"
#include "rpcrdma/rpc_limits.h"

/* The form of one message: which bytes are a read chunk, and in how many segments. */
struct msg_form {
	enum message_form form; /* short, chunked or long */
	uint32_t chunk_at;      /* offset in the message, and position of the chunk */
	uint32_t chunk_bytes;   /* without the pad of a payload */
	unsigned nsegments;
};

enum placement { PLACEMENT_NONE, PLACEMENT_REPLY_CHUNK, PLACEMENT_WRITE_CHUNK };

struct call_form {
	struct msg_form call;
	enum placement placement;
	uint32_t placement_bytes;
	unsigned placement_nsegments;
	/* the chunk is shorter than the longest Reply, because the peer supports no more */
	bool placement_truncated;
	bool padded; /* sent as RDMA_MSGP */
};

/* Facts that only the complete Call shows. */
#define CHUNK_SELECT_RESULT  0x1u /* result_bytes, reply_bytes */
#define CHUNK_SELECT_PAYLOAD 0x2u /* payload_at, payload_bytes, payload_is_data */

struct chunk_select_input {
	uint32_t call_bytes;
	uint32_t reply_max_bytes;   /* a longer Reply cannot be delivered */
	uint32_t max_message_bytes; /* longest message, for which buffers must suffice */
	struct rpc_limits limits;
	uint32_t max_segment_bytes; /* longest memory under one key */
	const struct peer_profile *peer;
	bool inline_only;    /* no chunks: a reverse Call without chunk support (D2.5-1) */
	bool moves_payloads; /* payloads can go by RDMA */
	unsigned known;      /* the facts below that are filled in; the others are zero */
	/* Longest possible payload of the Reply, with its pad; 0: no payload, or several. */
	uint32_t result_bytes;
	uint32_t reply_bytes; /* longest possible Reply */
	/* The single payload of the Call; 0 bytes: no payload, or several. */
	uint32_t payload_at, payload_bytes;
	bool payload_is_data; /* the payload is file data */
};

/**
 * call_form_is_plain - Returns true if the Call, and every Reply that it allows, fits inline. If
 * payloads are not moved, chunk_select_choose() would then choose call_form_plain().
 */
static inline bool call_form_is_plain(const struct rpc_limits *limits, uint32_t call_bytes,
				      uint32_t reply_max_bytes)
{
	return RPCRDMA_MIN_HDR_BYTES + (uint64_t)call_bytes <= limits->send_bytes &&
	       RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(reply_max_bytes) <= limits->recv_bytes;
}

/** call_form_plain - Returns the form of a Call that goes inline with an inline Reply. */
static inline struct call_form call_form_plain(void)
{
	return (struct call_form){.call.form = MESSAGE_FORM_SHORT};
}

/**
 * chunk_select_needs - Returns the missing facts, CHUNK_SELECT_*, that determine the form; call it
 * until it returns 0.
 */
unsigned chunk_select_needs(const struct chunk_select_input *input);

/**
 * chunk_select_choose - Chooses the form; all facts of chunk_select_needs() must be known. Returns
 * false if the Call cannot be sent and answered in any form.
 */
bool chunk_select_choose(const struct chunk_select_input *input, struct call_form *form) MUST_CHECK;

#endif
