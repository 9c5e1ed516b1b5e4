/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides the version of a connection (draft-cel-nfsv4-rpcrdma-version-two-00 section 5; X-1,
 * Pure.
 *
 *	connector with version two   probing ──any message of it──▶ settled: two
 *	                                ├──ERR_VERS──────────────▶ settled: highest common version
 *	                                └──no answer in 1 s──────▶ assumed: one
 *	connector without it         assumed: one
 *	                             assumed ──a Reply───────────▶ settled: one
 *	                                └──ERR_VERS to its Call──▶ settled: highest common version;
 *	                                                           the Call is sent again
 *	acceptor                     unsettled ──a Call──────────▶ settled: its version
 *
 * Until a version is settled, an acceptor accepts every version it supports, and answers in the
 * version of the message (E5.3-1). An invalid Call settles nothing: a client of another draft of
 * version two can fall back to version one.
 */
#ifndef RPCRDMA_V2_NEGOTIATION_H
#define RPCRDMA_V2_NEGOTIATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/dialect.h"
#include "rpcrdma/proto.h"

enum negotiation_stage {
	NEGOTIATION_UNSETTLED,
	NEGOTIATION_PROBING,
	NEGOTIATION_ASSUMED,
	NEGOTIATION_SETTLED,
};

struct negotiation {
	enum negotiation_stage stage;
	uint32_t highest;              /* highest version of this end */
	enum dialect_id version_one;   /* document that this end uses for version one */
	const struct dialect *dialect; /* in force, for messages that this end originates */
	bool probed;                   /* version two was probed … */
	uint32_t probe_xid;            /* … with this XID */
	bool answered;                 /* the probe was answered in time */
	bool called;                   /* a Call has been sent */
};

enum negotiation_verdict {
	NEGOTIATION_ACCEPT, /* accept: a supported version */
	NEGOTIATION_LATE, /* discard: an answer to the probe after the first Call of version one */
	NEGOTIATION_REJECT, /* answer ERR_VERS, if the message can be answered */
};

/**
 * negotiation_init - Initializes an end that supports versions up to @highest; 0 is one. A
 * connector assumes version one.
 * @version_one: the document that it uses for version one
 */
void negotiation_init(struct negotiation *neg, bool connector, uint32_t highest,
		      enum dialect_id version_one);
/**
 * negotiation_wants_probe - Returns true if a higher version than the assumed one must be probed
 * first.
 */
bool negotiation_wants_probe(const struct negotiation *neg);
/** negotiation_probe - Records the probe, sent with @xid. */
void negotiation_probe(struct negotiation *neg, uint32_t xid);
/** negotiation_timed_out - Assumes version one, because the probe was not answered in time. */
void negotiation_timed_out(struct negotiation *neg);
/**
 * negotiation_range - Returns the versions for ERR_VERS: the settled one, otherwise all supported
 * ones.
 */
void negotiation_range(const struct negotiation *neg, uint32_t *low, uint32_t *high);

/**
 * negotiation_least_bytes - Returns the default receive size of an end that can use all its
 * versions (E5.2-3).
 */
uint32_t negotiation_least_bytes(const struct negotiation *neg);

/** negotiation_is_settled_as - Returns true if @vers is the settled version. */
static inline bool negotiation_is_settled_as(const struct negotiation *neg, uint32_t vers)
{
	return neg->stage == NEGOTIATION_SETTLED && neg->dialect->version == vers;
}

/**
 * negotiation_check - Decides whether to accept a message with this fixed part; @optional: it is an
 * RDMA_OPTIONAL.
 */
enum negotiation_verdict negotiation_check(const struct negotiation *neg, uint32_t xid,
					   uint32_t vers, bool optional) MUST_CHECK;
/**
 * negotiation_message_received - Handles an accepted message of version @vers other than ERR_VERS.
 * Returns true if it ended the probe, or corrected an assumption before a Call was sent: the
 * version is then settled.
 */
bool negotiation_message_received(struct negotiation *neg, uint32_t vers);
/**
 * negotiation_call_received - Settles @vers, the version of a valid Call of the peer, if nothing is
 * settled yet.
 */
void negotiation_call_received(struct negotiation *neg, uint32_t vers);
/**
 * negotiation_may_call - Returns true if Calls can be sent: an acceptor of several versions waits
 * for a Call.
 */
static inline bool negotiation_may_call(const struct negotiation *neg)
{
	return neg->stage != NEGOTIATION_UNSETTLED || neg->highest == RPCRDMA_VERSION_ONE;
}
/** negotiation_call_sent - Records that a Call has been sent. */
static inline void negotiation_call_sent(struct negotiation *neg)
{
	neg->called = true;
}
/**
 * negotiation_reply_received - Settles the version of our Call, because a Reply (no error) arrived.
 */
static inline void negotiation_reply_received(struct negotiation *neg)
{
	if (neg->stage == NEGOTIATION_ASSUMED)
		neg->stage = NEGOTIATION_SETTLED;
}
/**
 * negotiation_rejected - Handles ERR_VERS for the probe, or for a Call while nothing is settled.
 * Settles the highest common version and returns true, or returns false if the ends have none.
 */
bool negotiation_rejected(struct negotiation *neg, uint32_t low, uint32_t high) MUST_CHECK;
/** negotiation_dialect - Returns the dialect in which this end uses a version. */
const struct dialect *negotiation_dialect(const struct negotiation *neg, uint32_t vers);

#endif
