/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out by trial whether a device has memory windows of type 2, which answer to one queue pair.
 *
 * Neither what a device reports nor what it allocates suffices (rdma-core 65, Linux 6.1): bnxt_re reports windows of type 2B, and
 * its library allocates none; mlx4 allocates them and reports that there are none (max_mw); irdma of the second generation
 * allocates what it does not report, so nothing says what its windows are.
 */
#ifndef FABRIC_VERBS_TRIAL_H
#define FABRIC_VERBS_TRIAL_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "fabric/verbs/verbs_config.h"

/**
 * verbs_windows_try - allocate a protection domain and a window on it, and free both
 *
 * Returns 0: the device has windows; -ENOSYS: it reports none of type 2; else why it allocates none.
 */
int verbs_windows_try(struct ibv_context *context, const struct ibv_device_attr *attr) MUST_CHECK;

/**
 * verbs_windows_found - find out, once for each device of the process, whether it has windows
 * @config: its found() is called with each result that is new for the device
 *
 * A result that may change (no memory, no window left) is not remembered: the next call tries again. May be called on any
 * thread. Returns true if the device has windows.
 */
bool verbs_windows_found(struct ibv_context *context, const struct ibv_device_attr *attr,
			 const struct verbs_config *config) MUST_CHECK;

#endif
