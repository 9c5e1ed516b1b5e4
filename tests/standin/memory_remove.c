// SPDX-License-Identifier: BSD-3-Clause
/*
 * As in Linux 6.1. A driver that can disassociate a process from a device (uverbs:
 * disassociate_ucontext) leaves it a dead context and an event, IBV_EVENT_DEVICE_FATAL. Another
 * driver waits until all processes have closed the device, which works until then. Either way the
 * connection manager reports the removal to the owners of the device's ids. For uverbs the device
 * that returns is another device.
 */
#define _GNU_SOURCE
#include "tests/standin/memory_remove.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/standin/memory.h"

#define CONN_TICK_US 10000u

static void die(struct memory_context *context)
{
	struct memory_channel *channel;

	context->dead = true;
	/* From now on they have an error to report, which is never read. */
	LIST_FOREACH(channel, &context->channels, entry)
		(void)eventfd_write(channel->fd, 1);
	memory_async_device(context, IBV_EVENT_DEVICE_FATAL);
}

static void take_away(struct memory_device *device)
{
	struct memory_context *context = device->context;

	device->context = NULL;
	if (context)
		memory_cm_removed(&context->context);
}

/* Returns the device once the file named by STANDIN_RELEASE exists. */
static void *bring_back(void *arg)
{
	const char *name = getenv("STANDIN_RELEASE");
	struct memory_device *device = arg;

	if (!name)
		return NULL;
	while (access(name, F_OK))
		usleep(CONN_TICK_US);
	pthread_mutex_lock(&memory_lock);
	take_away(device);
	device->context = memory_context_new(device);
	pthread_mutex_unlock(&memory_lock);
	fprintf(stderr, "standin: device %s is back\n", device->device.name);
	return NULL;
}

void memory_remove(enum memory_removal how)
{
	struct memory_device *device = memory_device_at(0);
	pthread_t thread;

	pthread_mutex_lock(&memory_lock);
	if (device->context && how != MEMORY_WAITS)
		die(device->context);
	if (how != MEMORY_FATAL)
		take_away(device);
	pthread_mutex_unlock(&memory_lock);
	if (!pthread_create(&thread, NULL, bring_back, device))
		pthread_detach(thread);
}
