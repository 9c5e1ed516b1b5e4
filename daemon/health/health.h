/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread in which servers are tried, with its loop. The daemon has one, which is there before anybody connects: to
 * make a loop takes descriptors, which may be short later.
 */
#ifndef DAEMON_HEALTH_HEALTH_H
#define DAEMON_HEALTH_HEALTH_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/budget.h"
#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"

/* Where a connection waits for the name of its server. */
struct check_backend {
	LIST_ENTRY(check_backend) entry; /* of its ground */
	struct backend backend;
};
LIST_HEAD(check_backend_list, check_backend);

/* What the connections of all checks stand on, in the one thread that checks have: memory apart from that of all clients. */
struct check_ground {
	struct worker_ground ground;
	struct budget budget;
	struct budget_account account;
	struct check_backend_list backends;
	bool has_budget;
};

struct health;

/** health_new - start it; @ports: of the process, outlive it. Returns 0 or a negative errno. */
int health_new(struct ports *ports, struct health **out) MUST_CHECK;
/** health_loop - its loop, to post to. */
struct loop *health_loop(const struct health *health);
/** health_ground - what checks stand on in that thread. */
struct check_ground *health_ground(struct health *health);
/** health_begun, health_over - count the checks that are not over; from any thread. */
void health_begun(struct health *health);
void health_over(struct health *health);
/** health_free - end it. One that is left with a check is left to the end of the process. Accepts NULL. */
void health_free(struct health *health);

#endif
