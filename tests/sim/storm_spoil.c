// SPDX-License-Identifier: BSD-3-Clause
/* Replies in a storm that cannot be used. */
#include "tests/sim/storm_spoil.h"

#include "rpc/msg.h"
#include "rpc/xdr.h"
#include "rpcrdma/header.h"
#include "tests/sim/rig.h"

#define SPOIL_MAX 3u /* Replies of one fault */

/* Whether it is a Reply, and none that is lent: without RDMA_DONE the connection would end. */
static bool is_reply(const struct rpcrdma_header *hdr, const uint8_t *send, uint32_t len_bytes)
{
	if (hdr->nreads)
		return false;
	if (hdr->proc == RPCRDMA_NOMSG)
		return hdr->has_reply_chunk;
	return (hdr->proc == RPCRDMA_MSG || hdr->proc == RPCRDMA_MSGP) &&
	       len_bytes >= hdr->body_offset + 8 &&
	       xdr_load_u32(send + hdr->body_offset + 4) == RPC_REPLY;
}

/* Of a Call that some client waits for, or of a reverse one: the proxy's own Calls have other XIDs. */
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

static void note(struct storm *storm, uint32_t xid)
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
		xdr_store_u32(send + lists, 7);
		break;
	case 1:
		xdr_store_u32(send + lists + 4, 7);
		break;
	case 2:
		xdr_store_u32(send + 12, 66);
		break;
	default:
		xdr_store_u32(send + 4, 99);
		break;
	}
}

static void alter(void *arg, uint8_t *send, uint32_t len_bytes)
{
	struct storm *storm = arg;
	struct rpcrdma_header hdr;

	if (!storm->spoils || storm->resting || storm->nspoiled == STORM_SPOILED_MAX)
		return;
	if (rpcrdma_header_decode(send, len_bytes, &hdr) != RPCRDMA_OK ||
	    !is_reply(&hdr, send, len_bytes) || !is_waited_for(storm, hdr.xid))
		return;
	spoil(storm, &hdr, send);
	note(storm, hdr.xid);
}

void storm_spoil_some(struct storm *storm)
{
	if (storm->chain->ngates == 1)
		return;
	storm->spoils = 1 + storm_below(storm, SPOIL_MAX);
	sim_net_alter(storm->chain->fabric_net, alter, storm);
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
