/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays the NFS upper-layer binding (lib/nfs) into the hands of the legs, which do not know it. */
#ifndef DAEMON_BINDING_H
#define DAEMON_BINDING_H

#include "leg/leg.h"
#include "rpcrdma/rdma_leg.h"

extern const struct leg_binding binding_for_legs;

#endif
