// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/lobby.h"

#include <errno.h>
#include <stdlib.h>

struct waiting {
	TAILQ_ENTRY(waiting) link;
	struct guest *guest;
	struct incoming in;
	enum leg_close why;
	uint64_t due_us;
};

static void end(struct lobby *lobby, struct waiting *waiting)
{
	TAILQ_REMOVE(&lobby->list, waiting, link);
	lobby->count--;
	incoming_reject(&waiting->in, waiting->why);
	door_leave(waiting->guest);
	free(waiting);
}

/* Connections that leave early do not reset the timer, so it can fire with nothing due. */
static void on_timer(void *arg)
{
	struct lobby *lobby = arg;
	uint64_t now_us = loop_now_us(lobby->loop);
	struct waiting *first;

	while ((first = TAILQ_FIRST(&lobby->list)) && first->due_us <= now_us)
		end(lobby, first);
	if (first)
		loop_timer_set(lobby->loop, lobby->timer, first->due_us - now_us);
}

int lobby_init(struct lobby *lobby, struct loop *loop, struct door *door, void (*wake)(void *arg),
	       void *arg)
{
	*lobby = (struct lobby){.loop = loop, .door = door};
	TAILQ_INIT(&lobby->list);
	door_side_init(&lobby->side, wake, arg);
	lobby->timer = loop_timer_new(loop, on_timer, lobby);
	return lobby->timer ? 0 : -ENOMEM;
}

void lobby_fini(struct lobby *lobby)
{
	struct waiting *waiting;

	if (!lobby->loop)
		return;
	while ((waiting = TAILQ_FIRST(&lobby->list)))
		end(lobby, waiting);
	loop_timer_free(lobby->loop, lobby->timer);
	lobby->timer = NULL;
}

void lobby_hold(struct lobby *lobby, const struct incoming *in, enum leg_close why)
{
	uint64_t now_us = loop_now_us(lobby->loop);
	struct waiting *waiting = malloc(sizeof(*waiting));
	bool first = TAILQ_EMPTY(&lobby->list);

	if (waiting) {
		*waiting = (struct waiting){.in = *in, .why = why, .due_us = now_us + DOOR_HOLD_US};
		waiting->guest = door_enter_held(lobby->door, &lobby->side, waiting, now_us);
	}
	if (!waiting || !waiting->guest) {
		free(waiting);
		incoming_reject(in, why);
		return;
	}
	TAILQ_INSERT_TAIL(&lobby->list, waiting, link);
	lobby->count++;
	if (first)
		loop_timer_set(lobby->loop, lobby->timer, DOOR_HOLD_US);
	lobby_look(lobby);
}

void lobby_look(struct lobby *lobby)
{
	struct guest *guest;

	while ((guest = door_expelled(lobby->door, &lobby->side)))
		end(lobby, guest->owner);
}
