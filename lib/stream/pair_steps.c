// SPDX-License-Identifier: BSD-3-Clause
/* The steps of a net of pairs: one event each, in the order of time, on the loop's timer. */
#include "stream/pair_steps.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct pair_event {
	TAILQ_ENTRY(pair_event) entry;
	uint64_t due_us;
	pair_step *run;
	struct pair_end *end;
	uint32_t value;
};

/* xorshift64* */
uint64_t pair_random(struct pair_steps *steps)
{
	steps->random ^= steps->random >> 12;
	steps->random ^= steps->random << 25;
	steps->random ^= steps->random >> 27;
	return steps->random * 2685821657736338717u;
}

static void arm(struct pair_steps *steps)
{
	struct pair_event *first = TAILQ_FIRST(&steps->events);
	uint64_t now_us = loop_now_us(steps->loop);

	if (!first)
		loop_timer_clear(steps->loop, steps->timer);
	else
		loop_timer_set(steps->loop, steps->timer,
			       first->due_us > now_us ? first->due_us - now_us : 0);
}

static void on_timer(void *arg)
{
	struct pair_steps *steps = arg;
	struct pair_event *event;

	steps->before(steps->arg, ++steps->count);
	/* What was due may have been cancelled in there. */
	event = TAILQ_FIRST(&steps->events);
	if (event && event->due_us <= loop_now_us(steps->loop)) {
		TAILQ_REMOVE(&steps->events, event, entry);
		event->run(event->end, event->value);
		free(event);
	}
	arm(steps);
}

int pair_steps_init(struct pair_steps *steps, struct loop *loop, uint64_t seed,
		    void (*before)(void *arg, unsigned step), void *arg)
{
	*steps = (struct pair_steps){
		.loop = loop,
		.random = seed * 2862933555777941757u + 3037000493u,
		.before = before,
		.arg = arg,
	};
	TAILQ_INIT(&steps->events);
	steps->timer = loop_timer_new(loop, on_timer, steps);
	return steps->timer ? 0 : -ENOMEM;
}

void pair_steps_fini(struct pair_steps *steps)
{
	assert(TAILQ_EMPTY(&steps->events));
	loop_timer_free(steps->loop, steps->timer);
}

void pair_steps_add(struct pair_steps *steps, uint64_t due_us, pair_step *run, struct pair_end *end,
		    uint32_t value)
{
	struct pair_event *event = malloc(sizeof(*event)), *at;

	assert(event);
	*event = (struct pair_event){.due_us = due_us, .run = run, .end = end, .value = value};
	at = TAILQ_LAST(&steps->events, pair_event_list);
	while (at && at->due_us > due_us)
		at = TAILQ_PREV(at, pair_event_list, entry);
	if (at)
		TAILQ_INSERT_AFTER(&steps->events, at, event, entry);
	else
		TAILQ_INSERT_HEAD(&steps->events, event, entry);
	arm(steps);
}

void pair_steps_cancel(struct pair_steps *steps, const struct pair_end *end)
{
	struct pair_event *event, *next;

	for (event = TAILQ_FIRST(&steps->events); event; event = next) {
		next = TAILQ_NEXT(event, entry);
		if (event->end != end)
			continue;
		TAILQ_REMOVE(&steps->events, event, entry);
		free(event);
	}
	arm(steps);
}
