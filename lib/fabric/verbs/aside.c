// SPDX-License-Identifier: BSD-3-Clause
/*
 * Over iWARP some calls block for the sake of one connection: siw connects its TCP socket inside of rdma_connect(), and nobody may
 * destroy what the kernel's iWARP manager has not come to an end with. They have a thread each. While an endpoint is aside, a
 * thread uses its id and its queues; the loop does nothing with them.
 */
#include "fabric/verbs/aside.h"

#include <errno.h>
#include <pthread.h>

#include "fabric/verbs/command.h"

#define STACK_BYTES (256u << 10)

static void run(struct verbs_command *command)
{
	struct verbs_ep *ep = container_of(command, struct verbs_ep, command);

	ep->aside_result = ep->aside_fn(ep);
}

static void done(struct verbs_command *command)
{
	struct verbs_ep *ep = container_of(command, struct verbs_ep, command);

	ep->aside = false;
	ep->back_fn(ep, ep->aside_result);
}

static void begin(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		  void (*back)(struct verbs_ep *ep, int result))
{
	assert(!ep->aside);
	ep->aside = true;
	ep->aside_fn = fn;
	ep->back_fn = back;
}

void verbs_ep_command(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result))
{
	begin(ep, fn, back);
	verbs_command_post(ep->device, &ep->command, run, done);
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

	run(&ep->command);
	pthread_mutex_lock(&fabric->aside_lock);
	has_before = fabric->aside_has_ended;
	before = fabric->aside_ended;
	fabric->aside_has_ended = true;
	fabric->aside_ended = pthread_self();
	verbs_command_return(fabric, &ep->command);
	pthread_mutex_unlock(&fabric->aside_lock);
	if (has_before)
		pthread_join(before, NULL);
	return NULL;
}

void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result))
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	begin(ep, fn, back);
	verbs_fabric_of(ep->ep.fabric)->commands_out++;
	ep->command.done = done;
	err = pthread_attr_init(&attr);
	if (!err) {
		(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
		err = pthread_create(&thread, &attr, aside_main, ep);
		pthread_attr_destroy(&attr);
	}
	if (!err)
		return;
	/* Late rather than never. */
	run(&ep->command);
	verbs_command_return(verbs_fabric_of(ep->ep.fabric), &ep->command);
}

void verbs_aside_fini(struct verbs_fabric *fabric)
{
	bool has_ended;
	pthread_t ended;

	/* The thread of the last endpoint may just be leaving. */
	pthread_mutex_lock(&fabric->aside_lock);
	has_ended = fabric->aside_has_ended;
	ended = fabric->aside_ended;
	pthread_mutex_unlock(&fabric->aside_lock);
	if (has_ended)
		pthread_join(ended, NULL);
	pthread_mutex_destroy(&fabric->aside_lock);
}
