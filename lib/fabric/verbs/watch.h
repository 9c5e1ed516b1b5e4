/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that all connections of a device, a worker or a listener share, and that must be watched to be of use; and
 * what other threads leave for a loop.
 */
#ifndef FABRIC_VERBS_WATCH_H
#define FABRIC_VERBS_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>

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

/* The lock guards what other threads leave; they ring with it. */
struct verbs_box {
	pthread_mutex_t lock;
	int fd;
	struct verbs_watch watch;
};

/**
 * verbs_box_init - have @fn called with @arg on the loop's thread when another one has rung
 *
 * @fn begins with verbs_box_heard(). Returns 0 or a negative errno.
 */
int verbs_box_init(struct verbs_box *box, struct loop *loop, void (*fn)(void *arg),
		   void *arg) MUST_CHECK;
/** verbs_box_fini - free what that took; no thread has anything for it. */
void verbs_box_fini(struct verbs_box *box);
/** verbs_box_ring - wake the loop. */
static inline void verbs_box_ring(struct verbs_box *box)
{
	(void)eventfd_write(box->fd, 1);
}
/** verbs_box_heard - let the next ring wake the loop again. */
static inline void verbs_box_heard(struct verbs_box *box)
{
	eventfd_t count;

	(void)eventfd_read(box->fd, &count);
}

#endif
