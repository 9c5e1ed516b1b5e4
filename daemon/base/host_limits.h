/* SPDX-License-Identifier: BSD-3-Clause */
/* What this host lets this process use: descriptors and memory. */
#ifndef DAEMON_BASE_HOST_LIMITS_H
#define DAEMON_BASE_HOST_LIMITS_H

#include <stdint.h>

struct host_limits {
	uint64_t descriptors;  /* hard limit, to which the daemon raises its own */
	uint64_t memory_bytes; /* of the host, or of the cgroup if that is less; 0: unknown */
	/* that the free descriptors allow, once the daemon listens; 0: not known, as with -t */
	uint64_t connections;
};

/** host_limits_get - Gets the limits of this process. */
void host_limits_get(struct host_limits *limits);

/**
 * host_cgroup_memory_bytes - Returns the smallest memory.max of a cgroup (version 2) and its parents.
 * @self: file that names the cgroup, /proc/self/cgroup
 * @root: directory of all cgroups, /sys/fs/cgroup
 *
 * Returns 0 if there is no such limit.
 */
uint64_t host_cgroup_memory_bytes(const char *self, const char *root);

#endif
