/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks the RPC-over-RDMA version of a connection (draft-cel-nfsv4-rpcrdma-version-two-00 section
 * 5).
 */
#ifndef TESTS_JUDGE_VERSIONS_H
#define TESTS_JUDGE_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/judge/header.h"

struct session;

struct versions {
	uint32_t settled;  /* by the first Call that was not rejected; or zero */
	uint32_t answered; /* of the Calls that the acceptor has answered; or zero */
	bool has_range;    /* the acceptor has rejected a version, and reported its own */
	uint32_t low, high;
	uint32_t refused_xid; /* the last rejected Call */
	unsigned refused;     /* and how often it was rejected */
};

/** versions_send - Judges the version of any message of @side. */
void versions_send(struct session *s, unsigned side, const struct header *h);
/** versions_call - Judges the version of a Call; returns false if it must be rejected. */
bool versions_call(struct session *s, unsigned side, uint32_t xid, uint32_t version);
/** versions_answered - Handles that @side has answered a Call of @version. */
void versions_answered(struct session *s, unsigned side, uint32_t version);
/**
 * versions_refuse - Judges that @side rejects a message of @version by ERR_VERS
 *
 * @call: it is a Call; @misversioned: in another version than the connection's.
 */
void versions_refuse(struct session *s, unsigned side, const struct header *h, uint32_t version,
		     bool call, bool misversioned);

#endif
