// SPDX-License-Identifier: BSD-3-Clause
/*
 * What may block for long is done aside, on a thread of its own, while the worker's other connections go on.
 *
 * Over iWARP some calls do: siw connects its TCP socket inside of rdma_connect(), and nobody may destroy what
 * the kernel's iWARP manager has not come to an end with. While an endpoint is aside, its thread uses the id
 * and the queue pair; the loop does nothing with them.
 */
#include "fabric/verbs/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)

/* The endpoint is back. Under the lock to the end: from then on the fabric may go. */
static void put_back(struct verbs_fabric *fabric, struct verbs_ep *ep)
{
	TAILQ_INSERT_TAIL(&fabric->back, ep, back_entry);
	(void)eventfd_write(fabric->back_fd, 1);
}

/*
 * Each thread sees the end of the one before it, and verbs_aside_fini() that of the last, so that the process does not end
 * while one of them is taken down.
 */
static void *aside_main(void *arg)
{
	struct verbs_ep *ep = arg;
	struct verbs_fabric *fabric = verbs_fabric_of(ep->ep.fabric);
	bool has_before;
	pthread_t before;

	ep->aside_result = ep->aside_fn(ep);
	pthread_mutex_lock(&fabric->back_lock);
	has_before = fabric->aside_has_ended;
	before = fabric->aside_ended;
	fabric->aside_has_ended = true;
	fabric->aside_ended = pthread_self();
	put_back(fabric, ep);
	pthread_mutex_unlock(&fabric->back_lock);
	if (has_before)
		pthread_join(before, NULL);
	return NULL;
}

/* Late rather than never. */
static void do_here(struct verbs_ep *ep)
{
	struct verbs_fabric *fabric = verbs_fabric_of(ep->ep.fabric);

	ep->aside_result = ep->aside_fn(ep);
	pthread_mutex_lock(&fabric->back_lock);
	put_back(fabric, ep);
	pthread_mutex_unlock(&fabric->back_lock);
}

static void back_ready(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_ep *ep;
	eventfd_t count;

	(void)eventfd_read(fabric->back_fd, &count);
	for (;;) {
		pthread_mutex_lock(&fabric->back_lock);
		ep = TAILQ_FIRST(&fabric->back);
		if (ep)
			TAILQ_REMOVE(&fabric->back, ep, back_entry);
		pthread_mutex_unlock(&fabric->back_lock);
		if (!ep)
			return;
		ep->aside = false;
		ep->back_fn(ep, ep->aside_result);
	}
}

void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result))
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	ep->aside = true;
	ep->aside_fn = fn;
	ep->back_fn = back;
	err = pthread_attr_init(&attr);
	if (!err) {
		(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
		err = pthread_create(&thread, &attr, aside_main, ep);
		pthread_attr_destroy(&attr);
	}
	if (err)
		do_here(ep);
}

int verbs_aside_init(struct verbs_fabric *fabric)
{
	int err;

	TAILQ_INIT(&fabric->back);
	fabric->back_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (fabric->back_fd < 0)
		return -errno;
	err = verbs_watch_init(&fabric->back_watch, fabric->fabric.loop, fabric->back_fd,
			       back_ready, fabric);
	if (err) {
		close(fabric->back_fd);
		return err;
	}
	pthread_mutex_init(&fabric->back_lock, NULL);
	verbs_watch_set(&fabric->back_watch, true);
	return 0;
}

void verbs_aside_fini(struct verbs_fabric *fabric)
{
	bool has_ended;
	pthread_t ended;

	verbs_watch_fini(&fabric->back_watch);
	/* The thread of the last endpoint may just be leaving. */
	pthread_mutex_lock(&fabric->back_lock);
	has_ended = fabric->aside_has_ended;
	ended = fabric->aside_ended;
	pthread_mutex_unlock(&fabric->back_lock);
	if (has_ended)
		pthread_join(ended, NULL);
	pthread_mutex_destroy(&fabric->back_lock);
	close(fabric->back_fd);
}
