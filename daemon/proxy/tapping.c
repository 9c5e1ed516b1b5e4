// SPDX-License-Identifier: BSD-3-Clause
/*
 * The main thread creates one subscriber per worker and posts its insertion to that worker. A later post removes
 * and frees it there.
 */
#include "daemon/proxy/tapping.h"

#include <stdlib.h>

#include "daemon/base/loop.h"
#include "daemon/proxy/worker.h"

struct worker_seat {
	struct tap_seat seat;
	struct worker *worker;
};

struct tapping {
	size_t count;
	struct worker_seat *seats[];
};

/* ---- worker thread ---- */

static void sit_down(void *arg)
{
	struct worker_seat *seat = arg;

	LIST_INSERT_HEAD(&seat->worker->ground.taps, &seat->seat, entry);
}

static void seat_free(struct worker_seat *seat)
{
	tap_unref(seat->seat.tap);
	free(seat);
}

static void get_up(void *arg)
{
	struct worker_seat *seat = arg;

	LIST_REMOVE(&seat->seat, entry);
	seat_free(seat);
}

/* ---- main thread ---- */

static struct worker_seat *seat_new(struct worker *worker, struct tap *tap)
{
	struct worker_seat *seat = malloc(sizeof(*seat));

	if (!seat)
		return NULL;
	*seat = (struct worker_seat){.seat.tap = tap_ref(tap), .worker = worker};
	if (!event_loop_post(worker->loop, sit_down, seat))
		return seat;
	seat_free(seat);
	return NULL;
}

struct tapping *tapping_open(struct proxy *proxy, struct tap *tap)
{
	struct tapping *tapping =
		calloc(1, sizeof(*tapping) + proxy->nworkers * sizeof(tapping->seats[0]));

	for (size_t i = 0; tapping && i < proxy->nworkers; i++) {
		tapping->seats[i] = seat_new(proxy->workers[i], tap);
		if (!tapping->seats[i]) {
			tapping_close(tapping);
			return NULL;
		}
		tapping->count++;
	}
	return tapping;
}

void tapping_close(struct tapping *tapping)
{
	if (!tapping)
		return;
	for (size_t i = 0; i < tapping->count; i++) {
		struct worker_seat *seat = tapping->seats[i];

		/* A post fails only without memory. Retry, or the worker would fill an unused tap forever. */
		while (event_loop_post(seat->worker->loop, get_up, seat))
			;
	}
	free(tapping);
}
