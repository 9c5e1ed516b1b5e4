// SPDX-License-Identifier: BSD-3-Clause
/*
 * A read-write lock per device. Threads that destroy queues hold it for reading, several at a time;
 * the reader of events only tries to get it for writing and does not wait.
 */
#include "fabric/verbs/event_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

struct verbs_event_lock {
	LIST_ENTRY(verbs_event_lock) entry;
	const struct ibv_context *context;
	unsigned users;
	/* Read-locked by threads that destroy queues, write-locked by the reader of events. */
	pthread_rwlock_t events;
	atomic_bool wanted; /* the reader of events may have found it locked */
};

/* Guards the list and `users`. */
static pthread_mutex_t event_locks_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_event_lock) event_locks = LIST_HEAD_INITIALIZER(event_locks);

static struct verbs_event_lock *event_lock_find(const struct ibv_context *context)
{
	struct verbs_event_lock *event_lock;

	LIST_FOREACH(event_lock, &event_locks, entry)
		if (event_lock->context == context)
			return event_lock;
	return NULL;
}

static struct verbs_event_lock *event_lock_new(const struct ibv_context *context)
{
	struct verbs_event_lock *event_lock = calloc(1, sizeof(*event_lock));

	if (!event_lock)
		return NULL;
	event_lock->context = context;
	pthread_rwlock_init(&event_lock->events, NULL);
	LIST_INSERT_HEAD(&event_locks, event_lock, entry);
	return event_lock;
}

struct verbs_event_lock *verbs_event_lock_get(const struct ibv_context *context)
{
	struct verbs_event_lock *event_lock;

	pthread_mutex_lock(&event_locks_lock);
	event_lock = event_lock_find(context);
	if (!event_lock)
		event_lock = event_lock_new(context);
	if (event_lock)
		event_lock->users++;
	pthread_mutex_unlock(&event_locks_lock);
	return event_lock;
}

void verbs_event_lock_put(struct verbs_event_lock *event_lock)
{
	bool last;

	pthread_mutex_lock(&event_locks_lock);
	last = --event_lock->users == 0;
	if (last)
		LIST_REMOVE(event_lock, entry);
	pthread_mutex_unlock(&event_locks_lock);
	if (!last)
		return;
	pthread_rwlock_destroy(&event_lock->events);
	free(event_lock);
}

void verbs_event_lock_block(struct verbs_event_lock *event_lock)
{
	(void)pthread_rwlock_rdlock(&event_lock->events);
}

bool verbs_event_lock_try_read(struct verbs_event_lock *event_lock)
{
	/* Set first, so that the thread that holds the lock sees it. */
	atomic_store(&event_lock->wanted, true);
	return !pthread_rwlock_trywrlock(&event_lock->events);
}

bool verbs_event_lock_release(struct verbs_event_lock *event_lock)
{
	(void)pthread_rwlock_unlock(&event_lock->events);
	return atomic_exchange(&event_lock->wanted, false);
}
