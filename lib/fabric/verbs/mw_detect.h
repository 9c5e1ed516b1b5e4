/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests whether a device supports memory windows of type 2, which are valid on one queue pair.
 *
 * Neither the reported features nor a successful allocation suffice (rdma-core 65, Linux 6.1).
 * bnxt_re reports windows of type 2B, and its library allocates none. mlx4 allocates them and
 * reports that it has none (max_mw). irdma of the second generation allocates windows that it does
 * not report, so their type is unknown.
 */
#ifndef FABRIC_VERBS_MW_DETECT_H
#define FABRIC_VERBS_MW_DETECT_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "fabric/verbs/verbs_config.h"

/**
 * verbs_mw_try - Allocates a protection domain and a window in it, and frees both.
 *
 * Returns 0 if the device has windows, -ENOSYS if it reports none of type 2, or else the error of
 * the allocation.
 */
int verbs_mw_try(struct ibv_context *context, const struct ibv_device_attr *attr) MUST_CHECK;

/**
 * verbs_mw_detect - Returns true if the device has windows; tests each device of the process
 * once.
 * @config: its found() is called with each new result for the device
 *
 * A result that can change (no memory, no window left) is not kept: the next call tests again. Any
 * thread.
 */
bool verbs_mw_detect(struct ibv_context *context, const struct ibv_device_attr *attr,
		     const struct verbs_config *config) MUST_CHECK;

#endif
