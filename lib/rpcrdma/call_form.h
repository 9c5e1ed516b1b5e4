/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The form in which a Call is sent, and where its Reply may land. Pure: sizes, limits and facts in, a form out.
 *
 * A message that fits goes inline. Else its one payload is a read chunk at its position and the rest goes inline, or
 * the whole of it is the position-zero read chunk of an RDMA_NOMSG (A5.1-1). A Reply that is not sure to fit inline
 * is offered a chunk: a write chunk for its one payload, or a reply chunk for all of it.
 *
 * Some facts are dear, since the whole Call must be read for them, so call_form_needs() says which ones matter.
 * While it names any, the form hangs on what the Call holds, and a Call that is not all here has none yet.
 */
#ifndef RPCRDMA_CALL_FORM_H
#define RPCRDMA_CALL_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "leg/exchange.h"
#include "rpc/xdr.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/proto.h"
#include "rpcrdma/rpc_terms.h"

/* How one message is sent: what of it is lent as a read chunk, and in how many segments. */
struct msg_form {
	enum message_form form; /* short, chunked or long */
	uint32_t chunk_at;      /* in the message; the chunk's position */
	uint32_t chunk_bytes;   /* without the pad of a payload */
	unsigned nsegments;
};

enum landing { LANDING_NONE, LANDING_REPLY_CHUNK, LANDING_WRITE_CHUNK };

struct call_form {
	struct msg_form call;
	enum landing landing;
	uint32_t landing_bytes;
	unsigned landing_nsegments;
	bool landing_cut; /* to less than the Reply could need, since the peer takes no more */
	bool padded;      /* it was sent as RDMA_MSGP */
};

/* What only the whole Call shows. */
#define CALL_FORM_RESULT  0x1u /* result_bytes, reply_bytes */
#define CALL_FORM_PAYLOAD 0x2u /* payload_at, payload_bytes, payload_is_data */

struct call_form_ask {
	uint32_t call_bytes;
	uint32_t reply_max_bytes;   /* a Reply longer than that is of no use */
	uint32_t max_message_bytes; /* no buffer is to be larger than one for such a message */
	struct rpc_terms terms;
	uint32_t max_segment_bytes; /* longest memory under one key */
	const struct peer_profile *peer;
	bool inline_only; /* without chunks: a reverse Call, where those are not for it (D2.5-1) */
	bool moves_payloads; /* payloads may go by RDMA */
	unsigned known;      /* which of the facts below are filled in; the others are all zero */
	/* The longest that the one payload of the Reply can be, its pad counted; 0: none or several. */
	uint32_t result_bytes;
	uint32_t reply_bytes; /* the longest that the Reply can be */
	/* The one payload of the Call; of 0 bytes: none or several. */
	uint32_t payload_at, payload_bytes;
	bool payload_is_data; /* it is written to a file */
};

/**
 * call_form_is_plain - whether a Call and each Reply that it allows fit inline
 *
 * Where payloads are not moved that is the form which call_form_choose() would choose: call_form_plain().
 */
static inline bool call_form_is_plain(const struct rpc_terms *terms, uint32_t call_bytes,
				      uint32_t reply_max_bytes)
{
	return RPCRDMA_MIN_HDR_BYTES + (uint64_t)call_bytes <= terms->send_bytes &&
	       RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(reply_max_bytes) <= terms->recv_bytes;
}

/** call_form_plain - return the form of a Call that goes inline as a whole, and so does its Reply. */
static inline struct call_form call_form_plain(void)
{
	return (struct call_form){.call.form = MESSAGE_FORM_SHORT};
}

/** call_form_needs - the facts, CALL_FORM_*, that are not known and that the form hangs on; asked until 0. */
unsigned call_form_needs(const struct call_form_ask *ask);

/**
 * call_form_choose - choose the form; nothing that call_form_needs() names may be missing
 *
 * Returns false if there is none in which the Call could be sent and answered.
 */
bool call_form_choose(const struct call_form_ask *ask, struct call_form *form) MUST_CHECK;

#endif
