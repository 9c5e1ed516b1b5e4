/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Negotiates the version of a leg's connection: carries out the decisions of negotiation.h, from
 * the probe for version two until the leg is open (draft-cel-nfsv4-rpcrdma-version-two-00 section
 * 5; X-1, E5.2-2).
 */
#ifndef RPCRDMA_V2_VERSION_PROBE_H
#define RPCRDMA_V2_VERSION_PROBE_H

#include "rpcrdma/rdma_leg_priv.h"

/* Timeout for the answer to the probe. */
#define VERSION_PROBE_SILENCE_US 1000000u
/*
 * A server that rejects the probe can close immediately: no Call is sent for this long after the
 * rejection.
 */
#define VERSION_PROBE_GRACE_US 20000u

/** version_probe_begin - Opens an established connection, or sends the probe and waits. */
void version_probe_begin(struct rdma_leg *leg);
/**
 * version_probe_message_received - Handles a message in a supported version, which can settle the
 * version.
 */
void version_probe_message_received(struct rdma_leg *leg, const struct rpcrdma_header *hdr);
/** version_probe_open - Opens the leg if it is not open, because the wait is over. */
void version_probe_open(struct rdma_leg *leg);
/**
 * version_probe_rejected - Handles an ERR_VERS. Returns true if it was for the probe and is
 * finished.
 */
bool version_probe_rejected(struct rdma_leg *leg, const struct rpcrdma_header *hdr) MUST_CHECK;
/**
 * version_probe_use_common - Settles another version than the assumed one, which the peer
 * rejected for a Call.
 * @hdr: its ERR_VERS
 *
 * Returns false if the ends have no common version: the connection has failed.
 */
bool version_probe_use_common(struct rdma_conn *conn, const struct rpcrdma_header *hdr);
/** version_probe_option - Handles a decoded RDMA_OPTIONAL. */
void version_probe_option(struct rdma_leg *leg, const struct rpcrdma_header *hdr);
/** version_probe_ended - Records a connection that ended before the version was settled. */
void version_probe_ended(struct rdma_leg *leg);
/** version_probe_fini - Frees the timer and the RDMA_OPTIONAL state. */
void version_probe_fini(struct rdma_leg *leg);

#endif
