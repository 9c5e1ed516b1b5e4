// SPDX-License-Identifier: BSD-3-Clause
/* A check of a service's servers, between the thread that wants it and the one that does it. */
#include "daemon/health/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/base/loop.h"
#include "daemon/base/thread.h"
#include "daemon/health/check_steps.h"
#include "daemon/health/health.h"
#include "daemon/service/targets.h"

#define END_PATIENCE_MS 3000u /* for a check that is given up */

struct check {
	struct check_config config;
	struct server_uris servers;
	struct check_report report;
	struct check_steps steps; /* health's */

	/* Between the two. */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool is_over;
	bool given_up;    /* nobody wants to know any more … */
	bool nobody_told; /* … and tell_done() was not posted */
	/* Who wants it. */
	bool is_told;
	bool is_orphan; /* tell_done() is on its way, and frees it */
};

static void post(struct loop *loop, void (*fn)(void *arg), struct check *check)
{
	while (event_loop_post(loop, fn, check))
		;
}

/* Health's: nothing that was posted to it for this check is left. */
static void bury(void *arg)
{
	struct check *check = arg;

	free(check->report.servers);
	pthread_mutex_destroy(&check->lock);
	pthread_cond_destroy(&check->ended);
	free(check);
}

static void part_with(struct check *check)
{
	struct health *health = check->config.health;

	config_free(check->config.config);
	post(health_loop(health), bury, check);
	health_over(health);
}

static void tell_done(void *arg)
{
	struct check *check = arg;

	if (check->is_orphan) {
		part_with(check);
		return;
	}
	check->is_told = true;
	check->config.done(check->config.arg, &check->report);
}

/* Health's. */
static void on_over(void *arg)
{
	struct check *check = arg;

	pthread_mutex_lock(&check->lock);
	check->nobody_told = check->given_up;
	if (!check->nobody_told)
		post(check->config.loop, tell_done, check);
	check->is_over = true;
	pthread_cond_signal(&check->ended);
	pthread_mutex_unlock(&check->lock);
}

/* Health's. */
static void begin(void *arg)
{
	struct check *check = arg;
	const struct check_steps_config steps = {
		.ground = health_ground(check->config.health),
		.doors = check->config.doors,
		.service = check->config.service,
		.servers = &check->servers,
		.report = &check->report,
		.to_mount = check->config.to_mount,
		.last = check->config.last,
		.left_out = check->config.left_out,
		.over = on_over,
		.arg = check,
	};

	check_steps_begin(&check->steps, &steps);
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
	check->servers = config->to_mount ? mount_servers_of(config->service)
					  : server_uris_of(config->service);
	if (prepare_report(check)) {
		free(check);
		return -ENOMEM;
	}
	pthread_mutex_init(&check->lock, NULL);
	thread_cond_init(&check->ended);
	config_ref(config->config);
	health_begun(config->health);
	post(health_loop(config->health), begin, check);
	*out = check;
	return 0;
}

/* Health's. */
static void give_up(void *arg)
{
	struct check *check = arg;

	check_steps_give_up(&check->steps);
}

void check_give_up(struct check *check)
{
	post(health_loop(check->config.health), give_up, check);
}

/* Returns whether it came to its end. */
static bool await_end(struct check *check)
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
	if (!check->is_told) {
		check_give_up(check);
		if (!await_end(check))
			return;
	}
	if (check->is_told || check->nobody_told)
		part_with(check);
	else
		check->is_orphan = true;
}
