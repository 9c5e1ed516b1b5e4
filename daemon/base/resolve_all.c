// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/resolve_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/thread.h"

struct batch;

struct item {
	struct batch *batch;
	struct resolver_answer answer;
	bool is_answered;
};

/* Lives until the last answer, which can arrive long after the wait has ended. */
struct batch {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	unsigned open; /* lookups without an answer */
	unsigned refs; /* of those, and of the waiting caller */
	struct item items[];
};

static struct batch *batch_new(size_t n)
{
	struct batch *batch = calloc(1, sizeof(*batch) + n * sizeof(batch->items[0]));

	if (!batch)
		return NULL;
	pthread_mutex_init(&batch->lock, NULL);
	thread_cond_init(&batch->answered);
	batch->refs = 1;
	return batch;
}

/* Unlocks it. */
static void batch_put(struct batch *batch)
{
	bool last = --batch->refs == 0;

	pthread_mutex_unlock(&batch->lock);
	if (!last)
		return;
	pthread_cond_destroy(&batch->answered);
	pthread_mutex_destroy(&batch->lock);
	free(batch);
}

static void on_answer(void *arg)
{
	struct item *item = arg;
	struct batch *batch = item->batch;

	pthread_mutex_lock(&batch->lock);
	item->is_answered = true;
	batch->open--;
	pthread_cond_signal(&batch->answered);
	batch_put(batch);
}

static bool start_lookup(const struct resolver *resolver, const struct resolve_lookup *lookup,
			 struct batch *batch, struct item *item)
{
	item->batch = batch;
	pthread_mutex_lock(&batch->lock);
	batch->open++;
	batch->refs++;
	pthread_mutex_unlock(&batch->lock);
	if (!resolver->start(lookup->host, lookup->port, &item->answer, on_answer, item))
		return true;
	pthread_mutex_lock(&batch->lock);
	batch->open--;
	batch_put(batch);
	return false;
}

/* Leaves it locked. */
static void wait_batch(struct batch *batch, unsigned timeout_ms)
{
	struct timespec until = thread_deadline(timeout_ms);

	pthread_mutex_lock(&batch->lock);
	while (batch->open && !pthread_cond_timedwait(&batch->answered, &batch->lock, &until))
		;
}

static void copy_answer(struct resolve_lookup *lookup, const struct item *item)
{
	if (lookup->result == RESOLVE_NOT_STARTED || !item->is_answered)
		return;
	lookup->answer = item->answer;
	lookup->result = item->answer.error ? RESOLVE_ERROR : RESOLVE_ADDRESSES;
}

void resolve_all(const struct resolver *resolver, struct resolve_lookup *lookups, size_t n,
		 unsigned timeout_ms)
{
	struct batch *batch = batch_new(n);

	for (size_t i = 0; i < n; i++)
		lookups[i].result =
			batch && start_lookup(resolver, &lookups[i], batch, &batch->items[i])
				? RESOLVE_TIMED_OUT
				: RESOLVE_NOT_STARTED;
	if (!batch)
		return;
	wait_batch(batch, timeout_ms);
	for (size_t i = 0; i < n; i++)
		copy_answer(&lookups[i], &batch->items[i]);
	batch_put(batch);
}
