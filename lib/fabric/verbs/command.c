// SPDX-License-Identifier: BSD-3-Clause
/* The loop is woken for the first of several completed commands. */
#include "fabric/verbs/command.h"

#define STACK_BYTES (256u << 10)

/* ---- completed commands ---- */

void verbs_command_return(struct verbs_returns *returns, struct verbs_command *command)
{
	bool first;

	/* Nothing is accessed after the unlock: the fabric can be freed then. */
	pthread_mutex_lock(&returns->box.lock);
	first = TAILQ_EMPTY(&returns->list);
	TAILQ_INSERT_TAIL(&returns->list, command, entry);
	if (first)
		verbs_box_ring(&returns->box);
	pthread_mutex_unlock(&returns->box.lock);
}

static void back_ready(void *arg)
{
	struct verbs_returns *returns = arg;
	struct verbs_command_list back = TAILQ_HEAD_INITIALIZER(back);
	struct verbs_command *command;

	verbs_box_heard(&returns->box);
	pthread_mutex_lock(&returns->box.lock);
	TAILQ_CONCAT(&back, &returns->list, entry);
	pthread_mutex_unlock(&returns->box.lock);
	while ((command = TAILQ_FIRST(&back))) {
		TAILQ_REMOVE(&back, command, entry);
		returns->out--;
		command->done(command);
	}
}

int verbs_returns_init(struct verbs_returns *returns, struct loop *loop)
{
	TAILQ_INIT(&returns->list);
	return verbs_box_init(&returns->box, loop, back_ready, returns);
}

void verbs_returns_fini(struct verbs_returns *returns)
{
	verbs_box_fini(&returns->box);
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
	struct verbs_commands *commands = arg;
	struct verbs_command *command;

	while ((command = next(commands))) {
		command->run(command);
		verbs_command_return(commands->returns, command);
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

int verbs_commands_start(struct verbs_commands *commands, struct verbs_returns *returns)
{
	int err;

	commands->returns = returns;
	TAILQ_INIT(&commands->queue);
	commands->ends = false;
	pthread_mutex_init(&commands->lock, NULL);
	pthread_cond_init(&commands->come, NULL);
	err = verbs_thread_start(&commands->thread, run_commands, commands);
	if (err) {
		pthread_cond_destroy(&commands->come);
		pthread_mutex_destroy(&commands->lock);
	}
	return err;
}

void verbs_commands_stop(struct verbs_commands *commands)
{
	pthread_mutex_lock(&commands->lock);
	commands->ends = true;
	pthread_cond_signal(&commands->come);
	pthread_mutex_unlock(&commands->lock);
	pthread_join(commands->thread, NULL);
	pthread_cond_destroy(&commands->come);
	pthread_mutex_destroy(&commands->lock);
}

void verbs_command_post(struct verbs_commands *commands, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command))
{
	bool first;

	command->run = run;
	command->done = done;
	commands->returns->out++;
	pthread_mutex_lock(&commands->lock);
	first = TAILQ_EMPTY(&commands->queue);
	TAILQ_INSERT_TAIL(&commands->queue, command, entry);
	if (first)
		pthread_cond_signal(&commands->come);
	pthread_mutex_unlock(&commands->lock);
}
