// SPDX-License-Identifier: BSD-3-Clause
/*
 * The network of the sim fabric: the loop's timer runs one event per step, in order of time. Also
 * the end of a connection.
 */
#include <assert.h>
#include <stdlib.h>

#include "tests/lib/sim/sim_priv.h"

STATE_TABLE(sim_ep_states, SIM_STATES);

static void on_timer(void *arg);

struct sim_net *sim_net_new(struct loop *loop, const struct sim_faults *faults)
{
	struct sim_net *net = calloc(1, sizeof(*net));

	if (!net)
		return NULL;
	net->loop = loop;
	net->timer = loop_timer_new(loop, on_timer, net);
	if (!net->timer) {
		free(net);
		return NULL;
	}
	if (faults)
		net->faults = *faults;
	net->random = net->faults.seed * 2862933555777941757u + 3037000493u;
	net->next_rkey = 0x1001;
	TAILQ_INIT(&net->events);
	TAILQ_INIT(&net->eps);
	TAILQ_INIT(&net->listeners);
	return net;
}

void sim_net_free(struct sim_net *net)
{
	if (!net)
		return;
	assert(TAILQ_EMPTY(&net->eps) && TAILQ_EMPTY(&net->listeners) && TAILQ_EMPTY(&net->events));
	loop_timer_free(net->loop, net->timer);
	free(net);
}

void sim_net_alter(struct sim_net *net, void (*alter)(void *arg, uint8_t *send, uint32_t len_bytes),
		   void *arg)
{
	net->alter = alter;
	net->alter_arg = arg;
}

const struct sim_stats *sim_net_stats(const struct sim_net *net)
{
	return &net->stats;
}

/* xorshift64*: the same seed gives the same run. */
uint64_t sim_random(struct sim_net *net)
{
	net->random ^= net->random >> 12;
	net->random ^= net->random << 25;
	net->random ^= net->random >> 27;
	return net->random * 2685821657736338717u;
}

static void arm(struct sim_net *net)
{
	struct sim_event *first = TAILQ_FIRST(&net->events);
	uint64_t now_us = loop_now_us(net->loop);

	if (!first)
		loop_timer_clear(net->loop, net->timer);
	else
		loop_timer_set(net->loop, net->timer,
			       first->due_us > now_us ? first->due_us - now_us : 0);
}

/*
 * Something happens for @ep, after all that was scheduled before in that channel of @channel_of (a
 * Send is its sender's event in its receiver's inbound channel).
 */
void sim_schedule_after(struct sim_ep *ep, struct sim_ep *channel_of, enum sim_channel channel,
			uint64_t delay_us, void (*run)(struct sim_ep *ep, void *arg), void *arg)
{
	struct sim_net *net = ep->net;
	struct sim_event *event, *at;
	uint64_t *last = &channel_of->last_due_us[channel];

	/* Of one that is dying, only the end. */
	if (sim_ep_gone(ep) && run != ep->die)
		return;
	event = calloc(1, sizeof(*event));
	assert(event);
	event->ep = ep;
	event->run = run;
	event->arg = arg;
	event->due_us = loop_now_us(net->loop) + delay_us;
	if (event->due_us < *last)
		event->due_us = *last;
	*last = event->due_us;
	TAILQ_FOREACH_REVERSE(at, &net->events, sim_event_list, entry)
	if (at->due_us <= event->due_us)
		break;
	if (at)
		TAILQ_INSERT_AFTER(&net->events, at, event, entry);
	else
		TAILQ_INSERT_HEAD(&net->events, event, entry);
	arm(net);
}

void sim_schedule(struct sim_ep *ep, struct sim_ep *channel_of, enum sim_channel channel,
		  void (*run)(struct sim_ep *ep, void *arg), void *arg)
{
	uint32_t max_us = ep->net->faults.max_delay_us;

	sim_schedule_after(ep, channel_of, channel, max_us ? sim_random(ep->net) % (max_us + 1) : 0,
			   run, arg);
}

/* Nothing more happens for @ep. */
static void cancel(struct sim_ep *ep)
{
	struct sim_event *event, *next;

	for (event = TAILQ_FIRST(&ep->net->events); event; event = next) {
		next = TAILQ_NEXT(event, entry);
		if (event->ep != ep)
			continue;
		TAILQ_REMOVE(&ep->net->events, event, entry);
		free(event);
	}
	arm(ep->net);
}

void sim_state_set(struct sim_ep *ep, enum sim_state state)
{
	ep->state = (enum sim_state)state_next(&sim_ep_states, ep->state, state);
}

bool sim_ep_gone(const struct sim_ep *ep)
{
	return ep->state == SIM_DYING || ep->state == SIM_CLOSED;
}

bool sim_ep_reaches(const struct sim_ep *ep)
{
	return !ep->net->silent && !ep->vanished && ep->peer && !ep->peer->vanished &&
	       !ep->peer->takes_nothing;
}

void sim_kill(struct sim_ep *ep, enum fabric_close why)
{
	if (sim_ep_gone(ep))
		return;
	sim_state_set(ep, SIM_DYING);
	ep->why = why;
	if (ep->incoming)
		ep->incoming->from = NULL;
	ep->incoming = NULL;
	cancel(ep);
	sim_schedule(ep, ep, SIM_INBOUND, ep->die, NULL);
}

void sim_break(struct sim_ep *ep, enum fabric_close why, enum fabric_close peer_why)
{
	sim_kill(ep, why);
	if (ep->peer && !ep->vanished && !ep->peer->vanished)
		sim_kill(ep->peer, peer_why);
}

void sim_net_cut(struct sim_net *net)
{
	struct sim_ep *ep;

	TAILQ_FOREACH(ep, &net->eps, entry)
		sim_break(ep, FABRIC_CLOSE_LOST, FABRIC_CLOSE_LOST);
}

static void on_timer(void *arg)
{
	struct sim_net *net = arg;
	struct sim_event *event = TAILQ_FIRST(&net->events);
	bool lost;

	if (!event)
		return;
	TAILQ_REMOVE(&net->events, event, entry);
	net->stats.steps++;
	if (net->stats.steps == net->faults.cut_at_step)
		sim_net_cut(net);
	if (net->stats.steps == net->faults.hook_at_step)
		net->faults.hook(net->faults.hook_arg);
	lost = event->run != event->ep->die && event->ep->state == SIM_DYING;
	if (!lost)
		event->run(event->ep, event->arg);
	free(event);
	arm(net);
}

void sim_net_part(struct sim_net *net)
{
	struct sim_ep *ep;

	TAILQ_FOREACH(ep, &net->eps, entry)
		ep->vanished = true;
}

void sim_net_silence(struct sim_net *net)
{
	net->silent = true;
}
