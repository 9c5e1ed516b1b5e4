// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/storm_spoil.h"

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "rpcrdma/header.h"
#include "tests/sim/rig.h"

#define SPOIL_MAX 3u /* messages of one fault */

/*
 * Returns whether it is a Reply that is not by read chunk: without RDMA_DONE the connection would
 * end.
 */
static bool is_reply(const struct rpcrdma_header *hdr, const uint8_t *send, uint32_t len_bytes)
{
	if (hdr->nreads)
		return false;
	if (hdr->proc == RPCRDMA_NOMSG)
		return hdr->has_reply_chunk;
	return (hdr->proc == RPCRDMA_MSG || hdr->proc == RPCRDMA_MSGP) &&
	       len_bytes >= hdr->body_offset + 8 &&
	       be32_get(send + hdr->body_offset + 4) == RPC_REPLY;
}

/*
 * Of a Call that some client waits for, or of a reverse one: the proxy's own Calls have other XIDs.
 */
static bool is_waited_for(const struct storm *storm, uint32_t xid)
{
	const struct storm_session *session;

	for (unsigned i = 0; i < storm->nclients; i++)
		for (unsigned n = 0; n < storm->clients[i].nout; n++)
			if (storm->clients[i].out[n] == xid)
				return true;
	TAILQ_FOREACH(session, &storm->sessions, entry)
		for (unsigned n = 0; n < session->nreverse; n++)
			if (session->reverse[n].xid == xid)
				return true;
	return false;
}

static void note_spoiled(struct storm *storm, uint32_t xid)
{
	if (xid & STORM_REVERSE_XID)
		storm->counts.reverse_spoiled++;
	else
		storm->spoiled[storm->nspoiled++] = xid;
	storm->counts.spoiled++;
	storm->spoils--;
}

/* Makes of the header what nobody can use: of one of its lists, its type or its version. */
static void spoil(struct storm *storm, const struct rpcrdma_header *hdr, uint8_t *send)
{
	uint32_t lists =
		RPCRDMA_FIXED_BYTES + (hdr->proc == RPCRDMA_MSGP ? RPCRDMA_MSGP_EXTRA_BYTES : 0);

	switch (storm_below(storm, 4)) {
	case 0:
		be32_put(send + lists, 7);
		break;
	case 1:
		be32_put(send + lists + 4, 7);
		break;
	case 2:
		be32_put(send + 12, 66);
		break;
	default:
		be32_put(send + 4, 99);
		break;
	}
}

/*
 * A Call of a client with its data in a read chunk, which becomes one of their length word and the
 * data (A3.4-4).
 */
static void misplace(struct storm *storm, const struct rpcrdma_header *hdr, uint8_t *send)
{
	for (unsigned i = 0; i < hdr->nreads; i++)
		be32_put(send + RPCRDMA_FIXED_BYTES + i * RPCRDMA_READ_SEGMENT_BYTES + 4,
			 hdr->reads[i].position - 4);
	storm->spoiled[storm->nspoiled++] = hdr->xid;
	storm->counts.misplaced++;
	storm->misplaces--;
}

static bool has_data_chunk(const struct rpcrdma_header *hdr)
{
	return hdr->proc == RPCRDMA_MSG && hdr->nreads && hdr->reads[0].position &&
	       !(hdr->xid & STORM_REVERSE_XID);
}

/* Remembers which of the last Calls had a reply chunk; @hdr is of a Call. */
static void note_offered(struct storm *storm, const struct rpcrdma_header *hdr)
{
	storm->offered[hdr->xid % STORM_OFFERED_MAX] =
		(struct storm_offer){hdr->xid, hdr->has_reply_chunk};
}

/* A5.2-4 */
static void check_returned(const struct storm *storm, const struct rpcrdma_header *hdr)
{
	const struct storm_offer *offer = &storm->offered[hdr->xid % STORM_OFFERED_MAX];
	bool returns = hdr->vers == RPCRDMA_VERSION_TWO || storm->plan.dialect != STORM_DRAFT03;

	if (offer->xid != hdr->xid || hdr->proc == RPCRDMA_NOMSG)
		return;
	RIG_ASSERT(hdr->has_reply_chunk == (offer->has_reply_chunk && returns));
	RIG_ASSERT(!hdr->has_reply_chunk || hdr->reply_chunk.len_bytes == 0);
}

static void look_at_call(struct storm *storm, const struct rpcrdma_header *hdr, uint8_t *send)
{
	note_offered(storm, hdr);
	if (storm->misplaces && !storm->resting && storm->nspoiled < STORM_SPOILED_MAX &&
	    has_data_chunk(hdr) && is_waited_for(storm, hdr->xid))
		misplace(storm, hdr, send);
}

static void look_at_reply(struct storm *storm, const struct rpcrdma_header *hdr, uint8_t *send)
{
	check_returned(storm, hdr);
	if (!storm->spoils || storm->resting || storm->nspoiled == STORM_SPOILED_MAX ||
	    !is_waited_for(storm, hdr->xid))
		return;
	spoil(storm, hdr, send);
	note_spoiled(storm, hdr->xid);
}

static bool is_call(const struct rpcrdma_header *hdr, const uint8_t *send, uint32_t len_bytes)
{
	return (hdr->proc == RPCRDMA_MSG || hdr->proc == RPCRDMA_MSGP) &&
	       len_bytes >= hdr->body_offset + 8 &&
	       be32_get(send + hdr->body_offset + 4) == RPC_CALL;
}

static void alter(void *arg, uint8_t *send, uint32_t len_bytes)
{
	struct storm *storm = arg;
	struct rpcrdma_header hdr;

	if (rpcrdma_header_decode(send, len_bytes, &hdr) != RPCRDMA_OK)
		return;
	if (is_call(&hdr, send, len_bytes) || (hdr.proc == RPCRDMA_NOMSG && hdr.nreads))
		look_at_call(storm, &hdr, send);
	else if (is_reply(&hdr, send, len_bytes))
		look_at_reply(storm, &hdr, send);
}

void storm_spoil_init(struct storm *storm)
{
	if (storm->chain->ngates > 1)
		sim_net_alter(storm->chain->fabric_net, alter, storm);
}

void storm_spoil_some(struct storm *storm)
{
	if (storm->chain->ngates > 1)
		storm->spoils = 1 + storm_below(storm, SPOIL_MAX);
}

void storm_misplace_some(struct storm *storm)
{
	if (storm->chain->ngates > 1)
		storm->misplaces = 1 + storm_below(storm, SPOIL_MAX);
}

bool storm_is_spoiled(struct storm *storm, uint32_t xid)
{
	for (unsigned i = 0; i < storm->nspoiled; i++) {
		if (storm->spoiled[i] != xid)
			continue;
		storm->spoiled[i] = storm->spoiled[--storm->nspoiled];
		return true;
	}
	return false;
}
