/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the daemon working when its host is out of memory.
 *
 * On an NFS client's own host, writeback goes through this daemon: to free memory the kernel writes
 * dirty pages to the server. So the daemon must not wait until memory is freed.
 */
#ifndef DAEMON_BASE_MEMLOCK_H
#define DAEMON_BASE_MEMLOCK_H

#include "base/compiler.h"

/**
 * memlock_set_io_flusher - Exempts this thread, and those that it starts, from waiting for
 * writeback when they allocate
 *
 * Sets PR_SET_IO_FLUSHER, which needs CAP_SYS_RESOURCE. Returns 0 or a negative errno.
 */
int memlock_set_io_flusher(void);
/** memlock_drop_cap_sys_resource - Drops CAP_SYS_RESOURCE for good, if present. */
void memlock_drop_cap_sys_resource(void);
/**
 * memlock_all - Locks all memory of the process, present and future. Returns 0 or a negative errno.
 */
int memlock_all(void) MUST_CHECK;

#endif
