// SPDX-License-Identifier: BSD-3-Clause
/* The loop is woken for the first of several completed commands. */
#include "fabric/verbs/command.h"

#define STACK_BYTES (256u << 10)

/* ---- completed commands ---- */

void verbs_command_done(struct verbs_done_queue *done_queue, struct verbs_command *command)
{
	bool first;

	/* Nothing is accessed after the unlock: the fabric can be freed then. */
	pthread_mutex_lock(&done_queue->notifier.lock);
	first = TAILQ_EMPTY(&done_queue->list);
	TAILQ_INSERT_TAIL(&done_queue->list, command, entry);
	if (first)
		verbs_notifier_wake(&done_queue->notifier);
	pthread_mutex_unlock(&done_queue->notifier.lock);
}

static void done_queue_ready(void *arg)
{
	struct verbs_done_queue *done_queue = arg;
	struct verbs_command_list back = TAILQ_HEAD_INITIALIZER(back);
	struct verbs_command *command;

	verbs_notifier_clear(&done_queue->notifier);
	pthread_mutex_lock(&done_queue->notifier.lock);
	TAILQ_CONCAT(&back, &done_queue->list, entry);
	pthread_mutex_unlock(&done_queue->notifier.lock);
	while ((command = TAILQ_FIRST(&back))) {
		TAILQ_REMOVE(&back, command, entry);
		done_queue->out--;
		command->done(command);
	}
}

int verbs_done_queue_init(struct verbs_done_queue *done_queue, struct loop *loop)
{
	TAILQ_INIT(&done_queue->list);
	return verbs_notifier_init(&done_queue->notifier, loop, done_queue_ready, done_queue);
}

void verbs_done_queue_fini(struct verbs_done_queue *done_queue)
{
	verbs_notifier_fini(&done_queue->notifier);
}

/* ---- the thread of a device ---- */

static struct verbs_command *command_next(struct verbs_commands *commands)
{
	struct verbs_command *command;

	pthread_mutex_lock(&commands->lock);
	while (!(command = TAILQ_FIRST(&commands->queue)) && !commands->ends)
		pthread_cond_wait(&commands->posted, &commands->lock);
	if (command)
		TAILQ_REMOVE(&commands->queue, command, entry);
	pthread_mutex_unlock(&commands->lock);
	return command;
}

static void *run_commands(void *arg)
{
	struct verbs_commands *commands = arg;
	struct verbs_command *command;

	while ((command = command_next(commands))) {
		command->run(command);
		verbs_command_done(commands->done_queue, command);
	}
	return NULL;
}

int verbs_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

int verbs_commands_start(struct verbs_commands *commands, struct verbs_done_queue *done_queue)
{
	int err;

	commands->done_queue = done_queue;
	TAILQ_INIT(&commands->queue);
	commands->ends = false;
	pthread_mutex_init(&commands->lock, NULL);
	pthread_cond_init(&commands->posted, NULL);
	err = verbs_thread_start(&commands->thread, run_commands, commands);
	if (err) {
		pthread_cond_destroy(&commands->posted);
		pthread_mutex_destroy(&commands->lock);
	}
	return err;
}

void verbs_commands_stop(struct verbs_commands *commands)
{
	pthread_mutex_lock(&commands->lock);
	commands->ends = true;
	pthread_cond_signal(&commands->posted);
	pthread_mutex_unlock(&commands->lock);
	pthread_join(commands->thread, NULL);
	pthread_cond_destroy(&commands->posted);
	pthread_mutex_destroy(&commands->lock);
}

void verbs_command_post(struct verbs_commands *commands, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command))
{
	bool first;

	command->run = run;
	command->done = done;
	commands->done_queue->out++;
	pthread_mutex_lock(&commands->lock);
	first = TAILQ_EMPTY(&commands->queue);
	TAILQ_INSERT_TAIL(&commands->queue, command, entry);
	if (first)
		pthread_cond_signal(&commands->posted);
	pthread_mutex_unlock(&commands->lock);
}
