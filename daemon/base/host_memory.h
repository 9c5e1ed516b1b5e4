/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory when the host has none left.
 *
 * A proxy on the host of the client is in the way of that host's own writeback: the pages that the kernel wants to write
 * to free memory go through the daemon, which may not wait for memory to be freed for it.
 */
#ifndef DAEMON_BASE_HOST_MEMORY_H
#define DAEMON_BASE_HOST_MEMORY_H

#include "base/compiler.h"

/**
 * host_memory_flush_io - have this thread, and those that it makes, wait for no writeback when they allocate
 *
 * PR_SET_IO_FLUSHER, for which CAP_SYS_RESOURCE is needed. Returns 0 or a negative errno.
 */
int host_memory_flush_io(void);
/** host_memory_drop_resource - let go of CAP_SYS_RESOURCE for good, where it is there. */
void host_memory_drop_resource(void);
/** host_memory_lock - have nothing of the process leave memory, now and later. Returns 0 or a negative errno. */
int host_memory_lock(void) MUST_CHECK;

#endif
