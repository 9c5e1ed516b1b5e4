/* SPDX-License-Identifier: BSD-3-Clause */
/* A descriptor that all connections of a device, a worker or a listener share, and that must be watched to be of use. */
#ifndef FABRIC_VERBS_WATCH_H
#define FABRIC_VERBS_WATCH_H

#include <stdbool.h>

#include "base/loop.h"

#define VERBS_WATCH_RETRY_US 100000u

/* All zero: nothing is watched. */
struct verbs_watch {
	struct loop *loop;
	struct loop_io *io;
	struct loop_timer *retry;
	void (*fn)(void *arg);
	void *arg;
};

/**
 * verbs_watch_init - prepare to watch a descriptor; nothing is watched yet
 * @watch: to fill in; left all zero on failure
 * @fd:    non-blocking; stays the caller's
 * @fn:    called with @arg while it is readable
 *
 * Returns 0 or -ENOMEM.
 */
int verbs_watch_init(struct verbs_watch *watch, struct loop *loop, int fd, void (*fn)(void *arg),
		     void *arg) MUST_CHECK;
/** verbs_watch_set - watch from now on, or not; what cannot be watched is asked for again after a while. */
void verbs_watch_set(struct verbs_watch *watch, bool on);
/** verbs_watch_fini - watch no longer; accepts one that is all zero. */
void verbs_watch_fini(struct verbs_watch *watch);

#endif
