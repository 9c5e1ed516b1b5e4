/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version of a leg's connection: what the negotiation (negotiation.h) says is done here, from the attempt at
 * version two until the leg is open (draft-cel-nfsv4-rpcrdma-version-two-00 section 5; X-1, E5.2-2).
 */
#ifndef RPCRDMA_V2_VERSION_PROBE_H
#define RPCRDMA_V2_VERSION_PROBE_H

#include "rpcrdma/rdma_leg_impl.h"

/* How long an answer to the attempt is waited for. */
#define VERSION_PROBE_SILENCE_US 1000000u
/* A server that refuses the attempt may close at once: so long no Call is sent, and the next connection can have it. */
#define VERSION_PROBE_GRACE_US 20000u

/** version_probe_begin - the connection is established: open it, or send the attempt and wait. */
void version_probe_begin(struct rdma_leg *leg);
/** version_probe_heard - a message has come whose version is spoken: that may settle it. */
void version_probe_heard(struct rdma_leg *leg, const struct rpcrdma_header *hdr);
/** version_probe_open - what was waited for is here, or will not come: open the leg, if it is not. */
void version_probe_open(struct rdma_leg *leg);
/** version_probe_refused - an ERR_VERS has come. Returns whether it was for the attempt: that is all then. */
bool version_probe_refused(struct rdma_leg *leg, const struct rpcrdma_header *hdr) MUST_CHECK;
/**
 * version_probe_settle_another - settle another version than the assumed one, which the peer refused for a Call
 * @hdr: its ERR_VERS
 *
 * Returns false if there is none in common: the connection has failed.
 */
bool version_probe_settle_another(struct rdma_conn *conn, const struct rpcrdma_header *hdr);
/** version_probe_option - an RDMA_OPTIONAL has come that decodes as such. */
void version_probe_option(struct rdma_leg *leg, const struct rpcrdma_header *hdr);
/** version_probe_ended - the connection has ended: remember that it was before the version was settled. */
void version_probe_ended(struct rdma_leg *leg);
/** version_probe_fini - free what it took. */
void version_probe_fini(struct rdma_leg *leg);

#endif
