/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to the ends of pairs, one step at a time, in the order of time; for stream/pair.c. */
#ifndef STREAM_PAIR_STEPS_H
#define STREAM_PAIR_STEPS_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"

struct pair_end;

typedef void pair_step(struct pair_end *end, uint32_t value);

TAILQ_HEAD(pair_event_list, pair_event);

struct pair_steps {
	struct loop *loop;
	struct loop_timer *timer;
	struct pair_event_list events; /* by time, then as they came */
	unsigned count;                /* of the steps that were made */
	uint64_t random;
	void (*before)(void *arg, unsigned step); /* each step, from 1 */
	void *arg;
};

/** pair_steps_init - nothing is to happen; @seed is that of pair_random(). Returns 0 or -ENOMEM. */
int pair_steps_init(struct pair_steps *steps, struct loop *loop, uint64_t seed,
		    void (*before)(void *arg, unsigned step), void *arg) MUST_CHECK;
/** pair_steps_fini - nothing may be left to happen. */
void pair_steps_fini(struct pair_steps *steps);
/** pair_steps_add - at @due_us, after all that is due by then, @run is called. */
void pair_steps_add(struct pair_steps *steps, uint64_t due_us, pair_step *run, struct pair_end *end,
		    uint32_t value);
/** pair_steps_cancel - nothing of what was to happen to @end does. */
void pair_steps_cancel(struct pair_steps *steps, const struct pair_end *end);
/** pair_random - the next number; the same seed gives the same run. */
uint64_t pair_random(struct pair_steps *steps);

#endif
