// SPDX-License-Identifier: BSD-3-Clause
/* The thread in which servers are tried. */
#include "daemon/health/health.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "daemon/base/loop.h"
#include "daemon/base/thread.h"

struct health {
	struct loop *loop;
	struct check_ground ground;
	pthread_t thread;
	atomic_uint checks;
};

static void *run(void *arg)
{
	event_loop_run(((struct health *)arg)->loop);
	return NULL;
}

int health_new(struct ports *ports, struct health **out)
{
	struct health *health = calloc(1, sizeof(*health));
	int rc = -ENOMEM;

	if (!health)
		return rc;
	atomic_init(&health->checks, 0);
	health->loop = event_loop_new();
	if (health->loop)
		rc = check_ground_init(&health->ground, health->loop, ports);
	if (!rc)
		rc = thread_start("health", run, health, &health->thread);
	if (rc) {
		check_ground_fini(&health->ground);
		event_loop_free(health->loop);
		free(health);
		return rc;
	}
	*out = health;
	return 0;
}

struct loop *health_loop(const struct health *health)
{
	return health->loop;
}

struct check_ground *health_ground(struct health *health)
{
	return &health->ground;
}

void health_begun(struct health *health)
{
	atomic_fetch_add(&health->checks, 1);
}

void health_over(struct health *health)
{
	atomic_fetch_sub(&health->checks, 1);
}

static void stop(void *arg)
{
	event_loop_stop(((struct health *)arg)->loop);
}

void health_free(struct health *health)
{
	if (!health)
		return;
	while (event_loop_post(health->loop, stop, health))
		;
	pthread_join(health->thread, NULL);
	if (atomic_load(&health->checks))
		return;
	check_ground_fini(&health->ground);
	event_loop_free(health->loop);
	free(health);
}
