// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/background.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/base/loop.h"
#include "daemon/base/thread.h"

#define RETRY_NS 1000000L /* between attempts to post to the loop */

struct background {
	struct background_work work;
	struct loop *loop;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	bool is_posted,
		is_detached; /* posted to the loop, which frees it; detached by the caller */
};

static void background_free(struct background *background)
{
	pthread_mutex_destroy(&background->lock);
	free(background);
}

/* On the loop's thread. */
static void on_posted(void *arg)
{
	struct background *background = arg;
	struct background_work work = background->work;
	bool is_detached;

	/* The thread posted this as its last action. */
	pthread_join(background->thread, NULL);
	is_detached = background->is_detached;
	background_free(background);
	if (is_detached)
		work.drop(work.arg);
	else
		work.done(work.arg);
}

static bool post(struct background *background)
{
	background->is_posted = !event_loop_post(background->loop, on_posted, background);
	return background->is_posted;
}

static void *run(void *arg)
{
	struct background *background = arg;
	struct background_work work = background->work;

	work.run(work.arg);
	pthread_mutex_lock(&background->lock);
	/* A post fails only for lack of memory, and the caller waits for it. */
	while (!background->is_detached && !post(background)) {
		pthread_mutex_unlock(&background->lock);
		nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
		pthread_mutex_lock(&background->lock);
	}
	if (background->is_posted) {
		pthread_mutex_unlock(&background->lock);
		return NULL;
	}
	pthread_mutex_unlock(&background->lock);
	pthread_detach(pthread_self());
	background_free(background);
	work.drop(work.arg);
	return NULL;
}

int background_start(struct loop *loop, const char *name, const struct background_work *work,
		     struct background **out)
{
	struct background *background = calloc(1, sizeof(*background));
	int rc;

	if (!background)
		return -ENOMEM;
	background->work = *work;
	background->loop = loop;
	pthread_mutex_init(&background->lock, NULL);
	/* Set before the thread can use it: it frees itself only after background_detach(). */
	rc = thread_start(name, run, background, &background->thread);
	if (rc) {
		background_free(background);
		return rc;
	}
	*out = background;
	return 0;
}

void background_detach(struct background *background)
{
	if (!background)
		return;
	pthread_mutex_lock(&background->lock);
	background->is_detached = true;
	pthread_mutex_unlock(&background->lock);
}
