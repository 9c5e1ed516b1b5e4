// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/negotiation.h"

#include <assert.h>

#include "base/minmax.h"
#include "rpcrdma/proto.h"

static void settle_version(struct negotiation *neg, uint32_t vers)
{
	neg->stage = NEGOTIATION_SETTLED;
	neg->dialect = negotiation_dialect(neg, vers);
}

void negotiation_init(struct negotiation *neg, bool connector, uint32_t highest,
		      enum dialect_id version_one)
{
	*neg = (struct negotiation){
		.stage = connector ? NEGOTIATION_ASSUMED : NEGOTIATION_UNSETTLED,
		.highest =
			highest < RPCRDMA_VERSION_TWO ? RPCRDMA_VERSION_ONE : RPCRDMA_VERSION_TWO,
		.version_one = version_one,
		.dialect = dialect(version_one),
	};
}

const struct dialect *negotiation_dialect(const struct negotiation *neg, uint32_t vers)
{
	return dialect(vers == RPCRDMA_VERSION_TWO ? DIALECT_V2 : neg->version_one);
}

bool negotiation_wants_probe(const struct negotiation *neg)
{
	return neg->stage == NEGOTIATION_ASSUMED && neg->highest > RPCRDMA_VERSION_ONE &&
	       !neg->probed;
}

void negotiation_probe(struct negotiation *neg, uint32_t xid)
{
	assert(negotiation_wants_probe(neg));
	neg->stage = NEGOTIATION_PROBING;
	neg->probed = true;
	neg->probe_xid = xid;
}

void negotiation_timed_out(struct negotiation *neg)
{
	assert(neg->stage == NEGOTIATION_PROBING);
	neg->stage = NEGOTIATION_ASSUMED;
}

void negotiation_range(const struct negotiation *neg, uint32_t *low, uint32_t *high)
{
	bool settled = neg->stage == NEGOTIATION_SETTLED;

	*low = settled ? neg->dialect->version : RPCRDMA_VERSION_ONE;
	*high = settled ? neg->dialect->version : neg->highest;
}

uint32_t negotiation_least_bytes(const struct negotiation *neg)
{
	/* No version has a smaller default than the one before. */
	return negotiation_dialect(neg, neg->highest)->least_inline_bytes;
}

/*
 * Returns true for an answer to the probe after its timeout. A peer that rejected the probe has
 * answered it.
 */
static bool is_late(const struct negotiation *neg, uint32_t xid, uint32_t vers, bool optional)
{
	return neg->probed && !neg->answered && neg->called && vers == RPCRDMA_VERSION_TWO &&
	       neg->dialect->version == RPCRDMA_VERSION_ONE && neg->stage != NEGOTIATION_PROBING &&
	       (optional || xid == neg->probe_xid);
}

enum negotiation_verdict negotiation_check(const struct negotiation *neg, uint32_t xid,
					   uint32_t vers, bool optional)
{
	uint32_t low, high;

	if (is_late(neg, xid, vers, optional))
		return NEGOTIATION_LATE;
	negotiation_range(neg, &low, &high);
	return vers >= low && vers <= high ? NEGOTIATION_ACCEPT : NEGOTIATION_REJECT;
}

bool negotiation_message_received(struct negotiation *neg, uint32_t vers)
{
	bool probing = neg->stage == NEGOTIATION_PROBING;
	bool early = neg->stage == NEGOTIATION_ASSUMED && neg->probed && !neg->called;

	if (!probing && !early)
		return false;
	/* Version one is already assumed. */
	if (early && vers == RPCRDMA_VERSION_ONE)
		return false;
	neg->answered = true;
	settle_version(neg, vers);
	return true;
}

void negotiation_call_received(struct negotiation *neg, uint32_t vers)
{
	if (neg->stage == NEGOTIATION_UNSETTLED || neg->stage == NEGOTIATION_ASSUMED)
		settle_version(neg, vers);
}

bool negotiation_rejected(struct negotiation *neg, uint32_t low, uint32_t high)
{
	uint32_t vers = min_u32(high, neg->highest);

	if (vers < low || vers < RPCRDMA_VERSION_ONE)
		return false;
	neg->answered = true;
	settle_version(neg, vers);
	return true;
}
