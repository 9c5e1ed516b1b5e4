/* SPDX-License-Identifier: BSD-3-Clause */
/* What the connections of all checks stand on, in the one thread that checks have: memory apart from that of all clients. */
#ifndef DAEMON_HEALTH_CHECK_GROUND_H
#define DAEMON_HEALTH_CHECK_GROUND_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/budget.h"
#include "base/compiler.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"

/* Where a connection waits for the name of its server. */
struct check_backend {
	LIST_ENTRY(check_backend) entry; /* of its ground */
	struct backend backend;
};
LIST_HEAD(check_backend_list, check_backend);

struct check_ground {
	struct worker_ground ground;
	struct budget budget;
	struct budget_account account;
	struct check_backend_list backends;
	bool has_budget;
};

/**
 * check_ground_init - without connections
 * @ground: all zero
 * @loop:   of the thread, made by event_loop_new(), which does not run yet; outlives it, as does @ports
 *
 * Returns 0 or -ENOMEM. check_ground_fini() is due either way.
 */
int check_ground_init(struct check_ground *ground, struct loop *loop,
		      struct ports *ports) MUST_CHECK;
/** check_ground_fini - free it; accepts one that is all zero. */
void check_ground_fini(struct check_ground *ground);

#endif
