// SPDX-License-Identifier: BSD-3-Clause
/* The thread in which servers are tried, and what the connections of all checks stand on. */
#include "daemon/health/health.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/budget.h"
#include "base/compiler.h"
#include "daemon/base/loop.h"
#include "daemon/base/thread.h"
#include "daemon/config/config_memory.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"
#include "daemon/upstream/leg_factory.h"

#define BUDGET_BYTES ((size_t)256 << 20) /* nothing is set aside for it */

static void on_kick(void *arg)
{
	struct check_ground *ground = arg;
	struct check_backend *waiter;

	budget_account_woken(&ground->account);
	LIST_FOREACH(waiter, &ground->backends, entry)
		backend_woken(&waiter->backend);
}

static void kick(void *arg)
{
	event_loop_kick(((struct check_ground *)arg)->ground.loop);
}

/* Without connections. @loop is that of the thread and does not run yet. check_ground_fini() is due either way. */
static int check_ground_init(struct check_ground *ground, struct loop *loop, struct ports *ports)
{
	int rc = budget_init(&ground->budget, BUDGET_BYTES, 0, 1, 1);

	if (rc)
		return rc;
	ground->has_budget = true;
	LIST_INIT(&ground->backends);
	rc = budget_account_init(&ground->account, budget_part(&ground->budget, 0), loop, kick,
				 ground);
	ground->ground = (struct worker_ground){
		.loop = loop,
		.pool = pool_new(config_memory_buffer_max_bytes(), 0),
		.resolver = &resolver_system,
		.legs = &legs_system,
		.post = event_loop_post,
		.ports = ports,
		.wake = kick,
		.arg = ground,
	};
	event_loop_on_kick(loop, on_kick, ground);
	return rc || !ground->ground.pool ? -ENOMEM : 0;
}

/* Accepts one that is all zero. */
static void check_ground_fini(struct check_ground *ground)
{
	budget_account_fini(&ground->account);
	if (ground->has_budget)
		budget_fini(&ground->budget);
	pool_free(ground->ground.pool);
}

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
