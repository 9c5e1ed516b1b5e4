/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lays the NFS upper-layer binding (lib/nfs) into the hands of a bridge's legs, which do not know
 * it, and keeps what the binding learns from one connection.
 */
#ifndef DAEMON_BRIDGE_BINDING_H
#define DAEMON_BRIDGE_BINDING_H

#include "leg/leg.h"
#include "nfs/nfs.h"
#include "rpcrdma/rdma_leg.h"

struct binding {
	struct leg_binding leg;   /* for struct leg_config */
	struct rdma_binding rdma; /* for struct rdma_leg_config */
	struct nfs_sessions sessions;
};

/** binding_init - a binding that has seen nothing yet; it holds no memory of its own. */
void binding_init(struct binding *binding);
/** binding_learn - take note of an exchange whose Reply is in: sessions limit the Replies to come.
 */
void binding_learn(struct binding *binding, const struct exchange *x);

#endif
