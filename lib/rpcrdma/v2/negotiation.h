/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which version a connection speaks (draft-cel-nfsv4-rpcrdma-version-two-00 section 5; ). Pure.
 *
 *	connector that tries version two   probing ──any message of it──▶ settled: two
 *	                                      ├──ERR_VERS──────────────▶ settled: the highest in common
 *	                                      └──nothing in a second───▶ assumed: one
 *	connector that does not            assumed: one
 *	                                   assumed ──a Reply───────────▶ settled: one
 *	                                      └──ERR_VERS to its Call──▶ settled: the highest in common; that Call once more
 *	acceptor                           unsettled ──a Call──────────▶ settled: its version
 *
 * While nothing is settled an acceptor takes whatever it speaks, and answers in the version of what came (E5.3-1). What
 * only looks like a Call settles nothing: a client of another draft of version two may fall back to version one.
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
	uint32_t highest;              /* of this end */
	enum dialect_id version_one;   /* the document that this end has for that */
	const struct dialect *dialect; /* in force: for what this end begins */
	bool probed;                   /* an attempt at version two was made … */
	uint32_t probe_xid;            /* … with this XID */
	bool answered;                 /* it had an answer in time */
	bool called;                   /* a Call has been sent */
};

enum negotiation_verdict {
	NEGOTIATION_TAKE, /* a version that is spoken */
	NEGOTIATION_LATE, /* an answer to the attempt after the first Call of version one: drop it */
	NEGOTIATION_REFUSE, /* ERR_VERS, if it can be answered */
};

/**
 * negotiation_init - of an end that speaks versions up to @highest; 0 is one. A connector assumes version one
 * @version_one: the row of the document that it has for that
 */
void negotiation_init(struct negotiation *neg, bool connector, uint32_t highest,
		      enum dialect_id version_one);
/** negotiation_tries - whether a higher version than the assumed one is to be tried first. */
bool negotiation_tries(const struct negotiation *neg);
/** negotiation_probe - the attempt goes, with @xid. */
void negotiation_probe(struct negotiation *neg, uint32_t xid);
/** negotiation_silence - it was not answered in time: version one is assumed. */
void negotiation_silence(struct negotiation *neg);
/** negotiation_range - the versions that ERR_VERS is to name: the settled one alone, else all. */
void negotiation_range(const struct negotiation *neg, uint32_t *low, uint32_t *high);

/** negotiation_least_bytes - what an end takes by default that may come to speak any version up to the highest (E5.2-3). */
uint32_t negotiation_least_bytes(const struct negotiation *neg);

/** negotiation_is_settled_as - whether @vers is what is spoken from now on: it is taken, and tells nothing new. */
static inline bool negotiation_is_settled_as(const struct negotiation *neg, uint32_t vers)
{
	return neg->stage == NEGOTIATION_SETTLED && neg->dialect->version == vers;
}

/** negotiation_judge - whether a message with this fixed part is taken; @optional: it is an RDMA_OPTIONAL. */
enum negotiation_verdict negotiation_judge(const struct negotiation *neg, uint32_t xid,
					   uint32_t vers, bool optional) MUST_CHECK;
/**
 * negotiation_heard - a message that is taken has come, of version @vers, and is no ERR_VERS
 *
 * Returns whether that has ended the attempt, or has corrected what was assumed before a Call was sent: the version is
 * settled then.
 */
bool negotiation_heard(struct negotiation *neg, uint32_t vers);
/** negotiation_call_came - settle @vers, in which a Call of the peer was understood, if nothing is settled yet. */
void negotiation_call_came(struct negotiation *neg, uint32_t vers);
/** negotiation_may_call - whether there is a version to call in: an acceptor of several waits for the peer's first Call. */
static inline bool negotiation_may_call(const struct negotiation *neg)
{
	return neg->stage != NEGOTIATION_UNSETTLED || neg->highest == RPCRDMA_VERSION_ONE;
}
/** negotiation_call_sent - a Call of ours goes. */
static inline void negotiation_call_sent(struct negotiation *neg)
{
	neg->called = true;
}
/** negotiation_reply_came - a Call of ours was answered, by no error: the version of the Call is settled. */
static inline void negotiation_reply_came(struct negotiation *neg)
{
	if (neg->stage == NEGOTIATION_ASSUMED)
		neg->stage = NEGOTIATION_SETTLED;
}
/**
 * negotiation_refused - ERR_VERS has come for the attempt, or for a Call while nothing is settled
 *
 * Returns whether there is a version in common: the highest is settled.
 */
bool negotiation_refused(struct negotiation *neg, uint32_t low, uint32_t high) MUST_CHECK;
/** negotiation_of - the dialect in which this end speaks a version. */
const struct dialect *negotiation_of(const struct negotiation *neg, uint32_t vers);

#endif
