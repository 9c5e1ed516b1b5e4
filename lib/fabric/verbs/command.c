// SPDX-License-Identifier: BSD-3-Clause
/* The threads of devices, and the commands that come back to a loop: an eventfd wakes it for the first of several. */
#include "fabric/verbs/command.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)

/* ---- coming back ---- */

void verbs_command_return(struct verbs_fabric *fabric, struct verbs_command *command)
{
	bool first;

	/* Under the lock to the end: from then on the fabric may go. */
	pthread_mutex_lock(&fabric->back_lock);
	first = TAILQ_EMPTY(&fabric->back);
	TAILQ_INSERT_TAIL(&fabric->back, command, entry);
	if (first)
		(void)eventfd_write(fabric->back_fd, 1);
	pthread_mutex_unlock(&fabric->back_lock);
}

static void back_ready(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_command_list back = TAILQ_HEAD_INITIALIZER(back);
	struct verbs_command *command;
	eventfd_t count;

	(void)eventfd_read(fabric->back_fd, &count);
	pthread_mutex_lock(&fabric->back_lock);
	TAILQ_CONCAT(&back, &fabric->back, entry);
	pthread_mutex_unlock(&fabric->back_lock);
	while ((command = TAILQ_FIRST(&back))) {
		TAILQ_REMOVE(&back, command, entry);
		fabric->commands_out--;
		command->done(command);
	}
}

int verbs_commands_init(struct verbs_fabric *fabric)
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

void verbs_commands_fini(struct verbs_fabric *fabric)
{
	verbs_watch_fini(&fabric->back_watch);
	pthread_mutex_destroy(&fabric->back_lock);
	close(fabric->back_fd);
}

/* ---- the thread of a device ---- */

static struct verbs_command *next(struct verbs_commands *commands)
{
	struct verbs_command *command;

	pthread_mutex_lock(&commands->lock);
	while (!(command = TAILQ_FIRST(&commands->queue)) && !commands->ends)
		pthread_cond_wait(&commands->come, &commands->lock);
	if (command)
		TAILQ_REMOVE(&commands->queue, command, entry);
	pthread_mutex_unlock(&commands->lock);
	return command;
}

static void *run_commands(void *arg)
{
	struct verbs_device *device = arg;
	struct verbs_command *command;

	while ((command = next(&device->commands))) {
		command->run(command);
		verbs_command_return(device->fabric, command);
	}
	return NULL;
}

int verbs_commands_start(struct verbs_device *device)
{
	struct verbs_commands *commands = &device->commands;
	pthread_attr_t attr;
	int err;

	TAILQ_INIT(&commands->queue);
	commands->ends = false;
	pthread_mutex_init(&commands->lock, NULL);
	pthread_cond_init(&commands->come, NULL);
	err = pthread_attr_init(&attr);
	if (!err) {
		(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
		err = pthread_create(&commands->thread, &attr, run_commands, device);
		pthread_attr_destroy(&attr);
	}
	if (!err)
		return 0;
	pthread_cond_destroy(&commands->come);
	pthread_mutex_destroy(&commands->lock);
	return -err;
}

void verbs_commands_stop(struct verbs_device *device)
{
	struct verbs_commands *commands = &device->commands;

	pthread_mutex_lock(&commands->lock);
	commands->ends = true;
	pthread_cond_signal(&commands->come);
	pthread_mutex_unlock(&commands->lock);
	pthread_join(commands->thread, NULL);
	pthread_cond_destroy(&commands->come);
	pthread_mutex_destroy(&commands->lock);
}

void verbs_command_post(struct verbs_device *device, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command))
{
	struct verbs_commands *commands = &device->commands;
	bool first;

	command->run = run;
	command->done = done;
	device->fabric->commands_out++;
	pthread_mutex_lock(&commands->lock);
	first = TAILQ_EMPTY(&commands->queue);
	TAILQ_INSERT_TAIL(&commands->queue, command, entry);
	if (first)
		pthread_cond_signal(&commands->come);
	pthread_mutex_unlock(&commands->lock);
}
