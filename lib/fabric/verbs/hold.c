// SPDX-License-Identifier: BSD-3-Clause
/*
 * A read-write lock per device. Threads that destroy queues hold it for reading, several at a time;
 * the reader of events only tries to get it for writing and does not wait.
 */
#include "fabric/verbs/hold.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

struct verbs_hold {
	LIST_ENTRY(verbs_hold) entry;
	const struct ibv_context *context;
	unsigned users;
	/* Read-locked by threads that destroy queues, write-locked by the reader of events. */
	pthread_rwlock_t events;
	atomic_bool wanted; /* the reader of events may have found it locked */
};

/* Guards the list and `users`. */
static pthread_mutex_t holds_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_hold) holds = LIST_HEAD_INITIALIZER(holds);

static struct verbs_hold *find(const struct ibv_context *context)
{
	struct verbs_hold *hold;

	LIST_FOREACH(hold, &holds, entry)
		if (hold->context == context)
			return hold;
	return NULL;
}

static struct verbs_hold *hold_new(const struct ibv_context *context)
{
	struct verbs_hold *hold = calloc(1, sizeof(*hold));

	if (!hold)
		return NULL;
	hold->context = context;
	pthread_rwlock_init(&hold->events, NULL);
	LIST_INSERT_HEAD(&holds, hold, entry);
	return hold;
}

struct verbs_hold *verbs_hold_get(const struct ibv_context *context)
{
	struct verbs_hold *hold;

	pthread_mutex_lock(&holds_lock);
	hold = find(context);
	if (!hold)
		hold = hold_new(context);
	if (hold)
		hold->users++;
	pthread_mutex_unlock(&holds_lock);
	return hold;
}

void verbs_hold_put(struct verbs_hold *hold)
{
	bool last;

	pthread_mutex_lock(&holds_lock);
	last = --hold->users == 0;
	if (last)
		LIST_REMOVE(hold, entry);
	pthread_mutex_unlock(&holds_lock);
	if (!last)
		return;
	pthread_rwlock_destroy(&hold->events);
	free(hold);
}

void verbs_hold_begin(struct verbs_hold *hold)
{
	(void)pthread_rwlock_rdlock(&hold->events);
}

bool verbs_hold_read(struct verbs_hold *hold)
{
	/* Set first, so that the thread that holds the lock sees it. */
	atomic_store(&hold->wanted, true);
	return !pthread_rwlock_trywrlock(&hold->events);
}

bool verbs_hold_end(struct verbs_hold *hold)
{
	(void)pthread_rwlock_unlock(&hold->events);
	return atomic_exchange(&hold->wanted, false);
}
