/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that can block, on a thread of its own, for a loop that must not.
 *
 * A thread that blocks in a system call cannot be ended. So the loop need not wait for it: after background_detach() the
 * thread itself frees its work, whenever the call returns.
 */
#ifndef DAEMON_BASE_BACKGROUND_H
#define DAEMON_BASE_BACKGROUND_H

#include "base/compiler.h"
#include "base/loop.h"

struct background;

struct background_work {
	/* The work, on its thread. */
	void (*run)(void *arg);
	/* It is over: once, on the loop's thread, in a later turn. */
	void (*done)(void *arg);
	/* In the place of done(), after background_detach(): on any thread. */
	void (*drop)(void *arg);
	void *arg;
};

/**
 * background_start - begin
 * @loop: of the calling thread
 * @name: of the thread; 15 characters at most
 * @work: copied
 *
 * Either done() follows, before which @out is freed, or background_detach() is due. Returns 0 or a negative errno: then
 * nothing is called.
 */
int background_start(struct loop *loop, const char *name, const struct background_work *work,
		     struct background **out) MUST_CHECK;
/** background_detach - wait for it no longer: drop() follows, now or when run() has returned. Accepts NULL. */
void background_detach(struct background *background);

#endif
