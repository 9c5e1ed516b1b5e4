// SPDX-License-Identifier: BSD-3-Clause
/* A check of a service's servers: its thread. */
#include "daemon/health/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/base/loop.h"
#include "daemon/base/thread.h"
#include "daemon/health/check_steps.h"

#define END_PATIENCE_S 3 /* for a check that is given up */

struct check {
	struct check_config config;
	struct check_report report;
	struct loop *loop; /* its own */
	pthread_t thread;
	struct check_steps steps; /* its own thread's */

	/* Between the two. */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool is_over;     /* the thread is about to end */
	bool given_up;    /* nobody wants to know any more … */
	bool nobody_told; /* … and tell_done() was not posted */
	bool is_told;
	bool is_orphan; /* tell_done() is on its way, and frees it */
};

static void free_all(struct check *check)
{
	event_loop_free(check->loop);
	config_free(check->config.config);
	free(check->report.servers);
	pthread_mutex_destroy(&check->lock);
	pthread_cond_destroy(&check->ended);
	free(check);
}

static void tell_done(void *arg)
{
	struct check *check = arg;

	if (check->is_orphan) {
		free_all(check);
		return;
	}
	check->is_told = true;
	check->config.done(check->config.arg, &check->report);
}

static void on_over(void *arg)
{
	event_loop_stop(((struct check *)arg)->loop);
}

static void *run(void *arg)
{
	struct check *check = arg;
	const struct check_steps_config steps = {
		.loop = check->loop,
		.ports = check->config.ports,
		.doors = check->config.doors,
		.service = check->config.service,
		.report = &check->report,
		.last = check->config.last,
		.left_out = check->config.left_out,
		.over = on_over,
		.arg = check,
	};

	check_steps_begin(&check->steps, &steps);
	event_loop_run(check->loop);
	event_loop_finish(check->loop);
	pthread_mutex_lock(&check->lock);
	check->nobody_told = check->given_up;
	while (!check->nobody_told && event_loop_post(check->config.loop, tell_done, check))
		;
	check->is_over = true;
	pthread_cond_signal(&check->ended);
	pthread_mutex_unlock(&check->lock);
	return NULL;
}

int check_start(const struct check_config *config, struct check **out)
{
	struct check *check = calloc(1, sizeof(*check));
	pthread_condattr_t attr;
	int rc = -ENOMEM;

	if (!check)
		return rc;
	check->config = *config;
	config_ref(config->config);
	pthread_mutex_init(&check->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&check->ended, &attr);
	pthread_condattr_destroy(&attr);
	check->loop = event_loop_new();
	check->report.with_mount = config->with_mount;
	check->report.nservers = config_nservers(config->service);
	check->report.servers = calloc(check->report.nservers, sizeof(*check->report.servers));
	if (check->report.servers)
		for (unsigned i = 0; i < check->report.nservers; i++)
			config_uri_text(config_server(config->service, i),
					check->report.servers[i].server);
	if (check->loop && check->report.servers)
		rc = thread_start("check", run, check, &check->thread);
	if (rc)
		free_all(check);
	else
		*out = check;
	return rc;
}

/* Its thread gives up what it is at. */
static void give_up(void *arg)
{
	struct check *check = arg;

	check_steps_give_up(&check->steps);
}

void check_give_up(struct check *check)
{
	while (event_loop_post(check->loop, give_up, check))
		;
}

/* Returns whether it came to its end. */
static bool await_end(struct check *check)
{
	struct timespec until;
	bool is_over;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_PATIENCE_S;
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
	if (!check->is_told) {
		check_give_up(check);
		if (!await_end(check)) {
			pthread_detach(check->thread);
			return;
		}
	}
	pthread_join(check->thread, NULL);
	if (check->is_told || check->nobody_told)
		free_all(check);
	else
		check->is_orphan = true;
}
