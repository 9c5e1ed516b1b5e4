/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the daemon working when its host is out of memory.
 *
 * On an NFS client's own host, writeback goes through this daemon: to free memory the kernel writes dirty pages to the
 * server. So the daemon must not wait for memory to be freed.
 */
#ifndef DAEMON_BASE_HOST_MEMORY_H
#define DAEMON_BASE_HOST_MEMORY_H

#include "base/compiler.h"

/**
 * host_memory_flush_io - Exempts this thread, and those that it starts, from waiting for writeback when they allocate
 *
 * Sets PR_SET_IO_FLUSHER, which needs CAP_SYS_RESOURCE. Returns 0 or a negative errno.
 */
int host_memory_flush_io(void);
/** host_memory_drop_resource - Drops CAP_SYS_RESOURCE for good, if present. */
void host_memory_drop_resource(void);
/** host_memory_lock - Locks all memory of the process, present and future. Returns 0 or a negative errno. */
int host_memory_lock(void) MUST_CHECK;

#endif
