// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/health.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "base/budget.h"
#include "base/budget_account.h"
#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/loop.h"
#include "daemon/base/thread.h"
#include "daemon/config/config.h"
#include "daemon/config/config_memory.h"
#include "daemon/health/check_report.h"
#include "daemon/health/check_steps.h"
#include "daemon/service/backend.h"
#include "daemon/service/servers.h"
#include "daemon/service/service_net.h"
#include "daemon/service/service_tls.h"
#include "daemon/upstream/leg_factory.h"

#define BUDGET_BYTES ((size_t)256 << 20) /* not reserved */

static void on_kick(void *arg)
{
	struct check_env *env = arg;
	struct check_backend *waiter;

	budget_account_woken(&env->account);
	LIST_FOREACH(waiter, &env->backends, entry)
		backend_woken(&waiter->backend);
}

static void kick(void *arg)
{
	event_loop_kick(((struct check_env *)arg)->env.loop);
}

/*
 * Without connections. @loop belongs to that thread and does not run yet. check_env_fini() is due
 * even on failure.
 */
static int check_env_init(struct check_env *env, struct loop *loop,
			  struct reserved_ports *reserved_ports, struct job_threads *jobs)
{
	int rc = budget_init(&env->budget, BUDGET_BYTES, 0, 1, 1);

	if (rc)
		return rc;
	env->has_budget = true;
	LIST_INIT(&env->backends);
	rc = budget_account_init(&env->account, budget_share(&env->budget, 0), loop, kick, env);
	env->env = (struct worker_env){
		.loop = loop,
		.pool = buf_pool_new(config_memory_buffer_max_bytes(), 0),
		.resolver = &resolver_system,
		.legs = &leg_factory_system,
		.post = event_loop_post,
		.reserved_ports = reserved_ports,
		.jobs = jobs,
		.wake = kick,
		.arg = env,
	};
	event_loop_on_kick(loop, on_kick, env);
	return rc || !env->env.pool ? -ENOMEM : 0;
}

/* Accepts all zero. */
static void check_env_fini(struct check_env *env)
{
	budget_account_fini(&env->account);
	if (env->has_budget)
		budget_fini(&env->budget);
	buf_pool_free(env->env.pool);
}

struct health {
	struct loop *loop;
	struct check_env env;
	pthread_t thread;
	atomic_uint checks; /* running checks */
};

static void *run(void *arg)
{
	event_loop_run(((struct health *)arg)->loop);
	return NULL;
}

int health_new(struct reserved_ports *reserved_ports, struct job_threads *jobs, struct health **out)
{
	struct health *health = calloc(1, sizeof(*health));
	int rc = -ENOMEM;

	if (!health)
		return rc;
	atomic_init(&health->checks, 0);
	health->loop = event_loop_new();
	if (health->loop)
		rc = check_env_init(&health->env, health->loop, reserved_ports, jobs);
	if (!rc)
		rc = thread_start("health", run, health, &health->thread);
	if (rc) {
		check_env_fini(&health->env);
		event_loop_free(health->loop);
		free(health);
		return rc;
	}
	*out = health;
	return 0;
}

static void stop(void *arg)
{
	event_loop_stop(((struct health *)arg)->loop);
}

bool health_free(struct health *health)
{
	if (!health)
		return true;
	while (event_loop_post(health->loop, stop, health))
		;
	pthread_join(health->thread, NULL);
	if (atomic_load(&health->checks))
		return false;
	check_env_fini(&health->env);
	event_loop_free(health->loop);
	free(health);
	return true;
}

/* ---- a check, shared by the thread that requested it and the health thread ---- */

#define END_PATIENCE_MS 3000u /* to wait for an aborted check */

struct check {
	struct check_config config;
	struct server_uris servers;
	struct check_report report;
	struct check_steps steps; /* used by the health thread */

	/* Used by both, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool is_over;
	bool given_up;        /* aborted by check_free() … */
	bool done_not_posted; /* … so report_done() was not posted */
	/* Used by the requesting thread. */
	bool is_notified;
	bool is_orphan; /* freed, but report_done() is posted and will free it */
};

static void post(struct loop *loop, void (*fn)(void *arg), struct check *check)
{
	while (event_loop_post(loop, fn, check))
		;
}

/* Health thread: runs after everything else that was posted for this check. */
static void check_free_later(void *arg)
{
	struct check *check = arg;

	free(check->report.servers);
	pthread_mutex_destroy(&check->lock);
	pthread_cond_destroy(&check->ended);
	free(check);
}

static void check_detach(struct check *check)
{
	struct health *health = check->config.health;

	config_free(check->config.config);
	service_tls_put(check->config.tls);
	post(health->loop, check_free_later, check);
	atomic_fetch_sub(&health->checks, 1);
}

static void report_done(void *arg)
{
	struct check *check = arg;

	if (check->is_orphan) {
		check_detach(check);
		return;
	}
	check->is_notified = true;
	check->config.done(check->config.arg, &check->report);
}

/* Health thread. */
static void on_over(void *arg)
{
	struct check *check = arg;

	pthread_mutex_lock(&check->lock);
	check->done_not_posted = check->given_up;
	if (!check->done_not_posted)
		post(check->config.loop, report_done, check);
	check->is_over = true;
	pthread_cond_signal(&check->ended);
	pthread_mutex_unlock(&check->lock);
}

/* Health thread. */
static void check_begin(void *arg)
{
	struct check *check = arg;
	const struct check_steps_config steps = {
		.env = &check->config.health->env,
		.listen_addrs = check->config.listen_addrs,
		.service = check->config.service,
		.tls = check->config.tls,
		.servers = &check->servers,
		.report = &check->report,
		.checks_mount = check->config.checks_mount,
		.last = check->config.last,
		.skipped_servers = check->config.skipped_servers,
		.finished = on_over,
		.arg = check,
	};

	check_steps_start(&check->steps, &steps);
}

static int prepare_report(struct check *check)
{
	const struct check_config *config = &check->config;
	struct check_report *report = &check->report;

	report->with_mount = config->with_mount;
	report->nservers = check->servers.count;
	report->servers = calloc(report->nservers, sizeof(*report->servers));
	if (!report->servers)
		return -ENOMEM;
	for (unsigned i = 0; i < report->nservers; i++)
		config_uri_text(&check->servers.list[i], report->servers[i].server);
	return 0;
}

int check_start(const struct check_config *config, struct check **out)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return -ENOMEM;
	check->config = *config;
	check->servers = config->checks_mount ? mount_servers_of(config->service)
					      : server_uris_of(config->service);
	if (prepare_report(check)) {
		free(check);
		return -ENOMEM;
	}
	pthread_mutex_init(&check->lock, NULL);
	thread_cond_init(&check->ended);
	config_ref(config->config);
	service_tls_ref(config->tls);
	atomic_fetch_add(&config->health->checks, 1);
	post(config->health->loop, check_begin, check);
	*out = check;
	return 0;
}

/* Health thread. */
static void check_abort_steps(void *arg)
{
	struct check *check = arg;

	check_steps_abort(&check->steps);
}

void check_abort(struct check *check)
{
	post(check->config.health->loop, check_abort_steps, check);
}

/* Returns whether the check has ended. */
static bool check_wait_end(struct check *check)
{
	struct timespec until = thread_deadline(END_PATIENCE_MS);
	bool is_over;

	pthread_mutex_lock(&check->lock);
	check->given_up = true;
	while (!check->is_over && !pthread_cond_timedwait(&check->ended, &check->lock, &until))
		;
	is_over = check->is_over;
	pthread_mutex_unlock(&check->lock);
	return is_over;
}

void check_free(struct check *check)
{
	if (!check)
		return;
	if (!check->is_notified) {
		check_abort(check);
		if (!check_wait_end(check))
			return;
	}
	if (check->is_notified || check->done_not_posted)
		check_detach(check);
	else
		check->is_orphan = true;
}
