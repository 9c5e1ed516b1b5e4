/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes the commands of a device on its own thread, because its adapter or driver can take any
 * time for them.
 *
 * The thread of a worker's device executes commands one by one, in the order of posting. It reports
 * each completed command to the worker's loop, in the same order. So a command runs after all
 * earlier ones, and a completed command implies that the earlier ones have completed.
 */
#ifndef FABRIC_VERBS_COMMAND_H
#define FABRIC_VERBS_COMMAND_H

#include <pthread.h>
#include <sys/queue.h>

#include "fabric/verbs/fd_watch.h"

/* A command of a device; or a call on another thread for an endpoint, see verbs_ep_offload(). */
struct verbs_command {
	TAILQ_ENTRY(verbs_command) entry;
	void (*run)(struct verbs_command *command);
	void (*done)(struct verbs_command *command);
};
TAILQ_HEAD(verbs_command_list, verbs_command);

/* Completed commands, for the loop of a worker. */
struct verbs_done_queue {
	struct verbs_notifier notifier;
	struct verbs_command_list list;
	unsigned out; /* pending commands; only the loop uses it */
};

/* The thread of a device; the lock guards the queue and `ends`. */
struct verbs_commands {
	struct verbs_done_queue *done_queue;
	pthread_mutex_t lock;
	pthread_cond_t posted;
	struct verbs_command_list queue;
	pthread_t thread;
	bool ends;
};

/** verbs_done_queue_init - Initializes the done queue. Returns 0 or a negative errno. */
int verbs_done_queue_init(struct verbs_done_queue *done_queue, struct loop *loop) MUST_CHECK;
/** verbs_done_queue_fini - Frees its resources; no command may be pending. */
void verbs_done_queue_fini(struct verbs_done_queue *done_queue);
/** verbs_thread_start - Starts a thread with a small stack. Returns 0 or a negative errno. */
int verbs_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg) MUST_CHECK;
/**
 * verbs_commands_start - Starts the thread of a device, which reports to @done_queue. Returns 0 or
 * a negative errno.
 */
int verbs_commands_start(struct verbs_commands *commands,
			 struct verbs_done_queue *done_queue) MUST_CHECK;
/** verbs_commands_stop - Ends the thread of a device; no command may be pending. */
void verbs_commands_stop(struct verbs_commands *commands);
/**
 * verbs_command_post - Posts a command.
 * @command: must not be posted; belongs to the caller again when @done is called
 * @run:     called on the device's thread; may use what no other thread uses until @done
 * @done:    called on the loop's thread; may free @command
 */
void verbs_command_post(struct verbs_commands *commands, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command));
/**
 * verbs_command_done - Reports a command that a thread has executed, so that the loop calls its
 * done(); any thread.
 */
void verbs_command_done(struct verbs_done_queue *done_queue, struct verbs_command *command);

#endif
