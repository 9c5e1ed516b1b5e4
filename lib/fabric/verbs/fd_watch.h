/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches descriptors that all connections of a device, worker or listener depend on, with retries;
 * and wakes a loop from other threads.
 */
#ifndef FABRIC_VERBS_FD_WATCH_H
#define FABRIC_VERBS_FD_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>

#include "base/loop.h"

#define VERBS_FD_WATCH_RETRY_US 100000u

/* All zero: nothing is watched. */
struct verbs_fd_watch {
	struct loop *loop;
	struct loop_io *io;
	struct loop_timer *retry;
	void (*fn)(void *arg);
	void *arg;
};

/**
 * verbs_fd_watch_init - Prepares to watch a descriptor; it is not watched yet.
 * @watch: to initialize; all zero on failure
 * @fd:    non-blocking; the caller keeps it
 * @fn:    called with @arg while it is readable
 *
 * Returns 0 or -ENOMEM.
 */
int verbs_fd_watch_init(struct verbs_fd_watch *watch, struct loop *loop, int fd,
			void (*fn)(void *arg), void *arg) MUST_CHECK;
/**
 * verbs_fd_watch_set - Starts or stops watching; if the loop cannot watch the descriptor, it
 * retries after a while.
 */
void verbs_fd_watch_set(struct verbs_fd_watch *watch, bool on);
/** verbs_fd_watch_fini - Ends the watch; accepts one that is all zero. */
void verbs_fd_watch_fini(struct verbs_fd_watch *watch);

/* Wakes a loop from other threads. The lock guards their data, and they wake under it. */
struct verbs_notifier {
	pthread_mutex_t lock;
	int fd;
	struct verbs_fd_watch watch;
};

/**
 * verbs_notifier_init - Makes verbs_notifier_wake() call @fn with @arg on the loop's thread.
 *
 * @fn must begin with verbs_notifier_clear(). Returns 0 or a negative errno.
 */
int verbs_notifier_init(struct verbs_notifier *notifier, struct loop *loop, void (*fn)(void *arg),
			void *arg) MUST_CHECK;
/** verbs_notifier_fini - Frees its resources; no thread may use it any more. */
void verbs_notifier_fini(struct verbs_notifier *notifier);
/** verbs_notifier_wake - Wakes the loop. */
static inline void verbs_notifier_wake(struct verbs_notifier *notifier)
{
	(void)eventfd_write(notifier->fd, 1);
}
/** verbs_notifier_clear - Clears the wake-up, so that the next one wakes the loop again. */
static inline void verbs_notifier_clear(struct verbs_notifier *notifier)
{
	eventfd_t count;

	(void)eventfd_read(notifier->fd, &count);
}

#endif
