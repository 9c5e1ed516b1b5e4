// SPDX-License-Identifier: BSD-3-Clause
/* The table of what RDMA legs count. */
#include "rpcrdma/rdma_counters.h"

COUNTER_TABLE(rdma_leg_counters, RDMA_LEG_COUNTERS);
