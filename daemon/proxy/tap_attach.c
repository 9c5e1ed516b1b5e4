// SPDX-License-Identifier: BSD-3-Clause
/*
 * The main thread creates one subscriber per worker and posts its insertion to that worker. A later
 * post removes and frees it there.
 */
#include "daemon/proxy/tap_attach.h"

#include <stdlib.h>

#include "daemon/base/loop.h"
#include "daemon/proxy/worker.h"

struct worker_subscriber {
	struct tap_subscriber subscriber;
	struct worker *worker;
};

struct tap_attach {
	size_t count;
	struct worker_subscriber *subscribers[];
};

/* ---- worker thread ---- */

static void subscribe(void *arg)
{
	struct worker_subscriber *subscriber = arg;

	LIST_INSERT_HEAD(&subscriber->worker->env.taps, &subscriber->subscriber, entry);
}

static void subscriber_free(struct worker_subscriber *subscriber)
{
	tap_unref(subscriber->subscriber.tap);
	free(subscriber);
}

static void unsubscribe(void *arg)
{
	struct worker_subscriber *subscriber = arg;

	LIST_REMOVE(&subscriber->subscriber, entry);
	subscriber_free(subscriber);
}

/* ---- main thread ---- */

static struct worker_subscriber *subscriber_new(struct worker *worker, struct tap *tap)
{
	struct worker_subscriber *subscriber = malloc(sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	*subscriber = (struct worker_subscriber){.subscriber.tap = tap_ref(tap), .worker = worker};
	if (!event_loop_post(worker->loop, subscribe, subscriber))
		return subscriber;
	subscriber_free(subscriber);
	return NULL;
}

struct tap_attach *tap_attach_open(struct proxy *proxy, struct tap *tap)
{
	struct tap_attach *tap_attach = calloc(
		1, sizeof(*tap_attach) + proxy->nworkers * sizeof(tap_attach->subscribers[0]));

	for (size_t i = 0; tap_attach && i < proxy->nworkers; i++) {
		tap_attach->subscribers[i] = subscriber_new(proxy->workers[i], tap);
		if (!tap_attach->subscribers[i]) {
			tap_attach_close(tap_attach);
			return NULL;
		}
		tap_attach->count++;
	}
	return tap_attach;
}

void tap_attach_close(struct tap_attach *tap_attach)
{
	if (!tap_attach)
		return;
	for (size_t i = 0; i < tap_attach->count; i++) {
		struct worker_subscriber *subscriber = tap_attach->subscribers[i];

		/*
		 * A post fails only without memory. Retry, or the worker would fill an unused tap
		 * forever.
		 */
		while (event_loop_post(subscriber->worker->loop, unsubscribe, subscriber))
			;
	}
	free(tap_attach);
}
