/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes the commands of a device: what its adapter or its driver may take any time for.
 *
 * Each device of a worker has a thread that executes them one after the other, in the order in which they were posted. The
 * worker's loop is told of each that was executed, in the same order. So a command finds done what those before it do, and a loop
 * that hears of one has heard of those before it.
 */
#ifndef FABRIC_VERBS_COMMAND_H
#define FABRIC_VERBS_COMMAND_H

#include <pthread.h>
#include <sys/queue.h>

#include "fabric/verbs/watch.h"

/* A command of a device; or what another thread does for an endpoint, see verbs_aside(). */
struct verbs_command {
	TAILQ_ENTRY(verbs_command) entry;
	void (*run)(struct verbs_command *command);
	void (*done)(struct verbs_command *command);
};
TAILQ_HEAD(verbs_command_list, verbs_command);

/* Commands that were executed, for the loop of a worker. */
struct verbs_returns {
	struct verbs_box box;
	struct verbs_command_list list;
	unsigned out; /* that have not come back: the loop's */
};

/* The thread of a device; the lock guards the queue and `ends`. */
struct verbs_commands {
	struct verbs_returns *returns;
	pthread_mutex_t lock;
	pthread_cond_t come;
	struct verbs_command_list queue;
	pthread_t thread;
	bool ends;
};

/** verbs_returns_init - prepare to hear of commands that were executed. Returns 0 or a negative errno. */
int verbs_returns_init(struct verbs_returns *returns, struct loop *loop) MUST_CHECK;
/** verbs_returns_fini - free what that took; every command has come back. */
void verbs_returns_fini(struct verbs_returns *returns);
/** verbs_thread_start - start a thread that needs a small stack. Returns 0 or a negative errno. */
int verbs_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg) MUST_CHECK;
/** verbs_commands_start - start the thread of a device, whose commands come back to @returns. Returns 0 or a negative errno. */
int verbs_commands_start(struct verbs_commands *commands, struct verbs_returns *returns) MUST_CHECK;
/** verbs_commands_stop - end the thread of a device, all of whose commands have come back. */
void verbs_commands_stop(struct verbs_commands *commands);
/**
 * verbs_command_post - execute a command
 * @command: not posted; the caller's again when @done is called
 * @run:     called on the device's thread; it may use what no other thread uses until @done
 * @done:    called on the loop's thread, and may free @command
 */
void verbs_command_post(struct verbs_commands *commands, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command));
/** verbs_command_return - have done() of a command called that some thread has executed; any thread. */
void verbs_command_return(struct verbs_returns *returns, struct verbs_command *command);

#endif
