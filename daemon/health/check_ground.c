// SPDX-License-Identifier: BSD-3-Clause
/* What the connections of all checks stand on. */
#include "daemon/health/check_ground.h"

#include <errno.h>

#include "daemon/base/loop.h"
#include "daemon/config/config_memory.h"
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

int check_ground_init(struct check_ground *ground, struct loop *loop, struct ports *ports)
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

void check_ground_fini(struct check_ground *ground)
{
	budget_account_fini(&ground->account);
	if (ground->has_budget)
		budget_fini(&ground->budget);
	pool_free(ground->ground.pool);
}
