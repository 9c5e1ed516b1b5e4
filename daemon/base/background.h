/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs blocking work on a thread of its own, for a loop that must not block.
 *
 * A thread that blocks in a system call cannot be stopped, and the loop does not wait for it. After
 * background_detach() the thread calls drop() itself when the system call returns.
 */
#ifndef DAEMON_BASE_BACKGROUND_H
#define DAEMON_BASE_BACKGROUND_H

#include "base/compiler.h"
#include "base/loop.h"

struct background;

struct background_work {
	/* Does the work, on its own thread. */
	void (*run)(void *arg);
	/* Called once after run(), on the loop's thread, in a later iteration. */
	void (*done)(void *arg);
	/* Called instead of done() after background_detach(), on any thread. */
	void (*drop)(void *arg);
	void *arg;
};

/**
 * background_start - Starts the work
 * @loop: of the calling thread
 * @name: of the thread; at most 15 characters
 * @work: copied
 *
 * @out is valid until done() or background_detach(). Returns 0, or a negative errno; after an error
 * no callback is called.
 */
int background_start(struct loop *loop, const char *name, const struct background_work *work,
		     struct background **out) MUST_CHECK;
/**
 * background_detach - Cancels done(); drop() is called instead, now or after run(). Accepts NULL.
 */
void background_detach(struct background *background);

#endif
