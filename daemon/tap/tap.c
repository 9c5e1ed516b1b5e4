// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/tap/tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One of two areas: workers fill one while the main thread empties the other. */
struct area {
	uint8_t *memory;
	size_t used;
};

/* Precedes each record; both are padded to a multiple of its size. */
struct record_head {
	_Alignas(max_align_t) size_t bytes;
};

struct tap {
	atomic_uint refs;
	struct tap_config config;
	pthread_mutex_t lock; /* guards the next five members */
	struct area fill;
	uint64_t missed;
	bool posted; /* filled() is due */
	bool full;   /* all records are missed until the main thread has caught up */
	bool closed;
	struct area drain;     /* used by the main thread only, like the next two */
	size_t drained;        /* bytes already taken */
	uint64_t drain_missed; /* missed after those records */
};

static size_t padded(size_t bytes)
{
	size_t unit = sizeof(struct record_head);

	return (bytes + unit - 1) / unit * unit;
}

static void tap_free(struct tap *tap)
{
	pthread_mutex_destroy(&tap->lock);
	free(tap->fill.memory);
	free(tap->drain.memory);
	free(tap);
}

struct tap *tap_new(const struct tap_config *config)
{
	struct tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		return NULL;
	atomic_init(&tap->refs, 1);
	tap->config = *config;
	pthread_mutex_init(&tap->lock, NULL);
	tap->fill.memory = malloc(config->queue_bytes);
	tap->drain.memory = malloc(config->queue_bytes);
	if (tap->fill.memory && tap->drain.memory)
		return tap;
	tap_free(tap);
	return NULL;
}

struct tap *tap_ref(struct tap *tap)
{
	atomic_fetch_add(&tap->refs, 1);
	return tap;
}

void tap_unref(struct tap *tap)
{
	if (tap && atomic_fetch_sub(&tap->refs, 1) == 1)
		tap_free(tap);
}

const struct tap_config *tap_config(const struct tap *tap)
{
	return &tap->config;
}

/* Runs on the main thread. */
static void on_filled(void *arg)
{
	struct tap *tap = arg;
	bool closed;

	pthread_mutex_lock(&tap->lock);
	tap->posted = false;
	closed = tap->closed;
	pthread_mutex_unlock(&tap->lock);
	if (!closed)
		tap->config.filled(tap->config.arg);
	tap_unref(tap);
}

/* Under the lock. If the post fails, the next record tries again. */
static void notify_reader(struct tap *tap)
{
	if (tap->posted)
		return;
	tap_ref(tap);
	tap->posted = !tap->config.post(tap->config.loop, on_filled, tap);
	if (!tap->posted)
		atomic_fetch_sub(&tap->refs, 1); /* never the last: the caller has one */
}

/* Under the lock: reserves the space of a record; NULL if the queue is full. */
static uint8_t *reserve_bytes(struct tap *tap, size_t bytes)
{
	size_t space_bytes = tap->config.queue_bytes - tap->fill.used;
	size_t needed = sizeof(struct record_head) + padded(bytes);
	struct record_head *head;

	if (tap->full || needed > space_bytes) {
		tap->full = tap->fill.used > 0;
		return NULL;
	}
	head = (struct record_head *)(void *)(tap->fill.memory + tap->fill.used);
	head->bytes = bytes;
	tap->fill.used += needed;
	return (uint8_t *)(head + 1);
}

void tap_put(struct tap *tap, const void *head, size_t head_bytes, const void *body,
	     size_t body_bytes)
{
	uint8_t *to;

	pthread_mutex_lock(&tap->lock);
	if (tap->closed) {
		pthread_mutex_unlock(&tap->lock);
		return;
	}
	to = reserve_bytes(tap, head_bytes + body_bytes);
	if (to) {
		memcpy(to, head, head_bytes);
		if (body_bytes)
			memcpy(to + head_bytes, body, body_bytes);
	} else {
		tap->missed++;
	}
	/*
	 * Missed records are reported with those that wait; if none wait, the first missed one
	 * notifies.
	 */
	if (to || tap->missed == 1)
		notify_reader(tap);
	pthread_mutex_unlock(&tap->lock);
}

/* Hands the area that the workers have filled to the main thread. */
static void swap_queues(struct tap *tap)
{
	struct area empty = tap->drain;

	empty.used = 0;
	pthread_mutex_lock(&tap->lock);
	tap->drain = tap->fill;
	tap->fill = empty;
	tap->full = false;
	tap->drain_missed = tap->missed;
	tap->missed = 0;
	pthread_mutex_unlock(&tap->lock);
	tap->drained = 0;
}

bool tap_drain(struct tap *tap, bool (*each)(void *arg, const void *record, size_t bytes),
	       void *arg, uint64_t *missed)
{
	bool goes_on = true;

	if (tap->drained == tap->drain.used)
		swap_queues(tap);
	while (goes_on && tap->drained < tap->drain.used) {
		const struct record_head *head = (const void *)(tap->drain.memory + tap->drained);

		tap->drained += sizeof(*head) + padded(head->bytes);
		goes_on = each(arg, head + 1, head->bytes);
	}
	*missed = 0;
	if (tap->drained == tap->drain.used) {
		*missed = tap->drain_missed;
		tap->drain_missed = 0;
	}
	return tap->drained < tap->drain.used;
}

void tap_close(struct tap *tap)
{
	pthread_mutex_lock(&tap->lock);
	tap->closed = true;
	pthread_mutex_unlock(&tap->lock);
}
