/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs fabric: RDMA devices and the kernel's rxe and siw, by libibverbs and librdmacm. */
#ifndef FABRIC_VERBS_VERBS_H
#define FABRIC_VERBS_VERBS_H

#include "fabric/fabric.h"
#include "fabric/verbs/verbs_config.h"

extern const struct fabric_ops verbs_fabric_ops;

/**
 * verbs_fabric_new - Creates a worker's verbs fabric.
 * @loop, @pool: the worker's
 * @config:      copied
 *
 * Returns NULL without memory or without the kernel's RDMA connection manager, and sets errno.
 */
struct fabric *verbs_fabric_new(struct loop *loop, struct buf_pool *pool,
				const struct verbs_config *config);

#endif
