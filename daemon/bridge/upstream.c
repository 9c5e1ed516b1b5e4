// SPDX-License-Identifier: BSD-3-Clause
/*
 * The way to a service's server for one client.
 *
 * One leg at a time: the next attempt is made once the leg of the one before is over and freed, from a task
 * of its own. A leg that is being tried answers to this file alone; once it has opened, what it says
 * passes through to the bridge.
 */
#include "daemon/bridge/upstream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/bridge/attempting.h"
#include "daemon/bridge/legs.h"
#include "daemon/bridge/seat.h"
#include "daemon/bridge/sources.h"
#include "stream/proxy_header.h"

STATE_TABLE(upstream_states, UPSTREAM_STATES);

static struct loop *loop_of(const struct upstream *upstream)
{
	return upstream->ws->ground->loop;
}

static void set_state(struct upstream *upstream, enum upstream_state to)
{
	state_move(&upstream->state, &upstream_states, to, loop_now_us(loop_of(upstream)));
}

static void on_resolved(void *arg, const struct name_result *name);

/* ---- targets ---- */

static void resolve(struct upstream *upstream)
{
	if (upstream->state.now != UPSTREAM_RESOLVING)
		set_state(upstream, UPSTREAM_RESOLVING);
	name_desk_wait(seat_desk(upstream), &upstream->name, on_resolved, upstream);
	loop_timer_set(loop_of(upstream), upstream->resolving, attempting_left_us(upstream));
}

/* Returns whether there is a target that has not been tried. */
static bool begin_target(struct upstream *upstream)
{
	if (!seat_take(upstream))
		return false;
	resolve(upstream);
	return true;
}

static void end_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	set_state(upstream, UPSTREAM_CLOSED);
	seat_leave(upstream);
	upstream->events->failed(upstream->arg, why, detail);
	upstream->events->closed(upstream->arg);
}

/* Without a leg that would have to close first. */
static void fail_at_once(struct upstream *upstream, enum leg_close why, const char *detail)
{
	seat_give_up(upstream, why, detail);
	attempting_keep_cause(upstream, why, detail);
	if (!seat_may_try_another(upstream, why) || !begin_target(upstream))
		end_failed(upstream, upstream->why, upstream->detail);
}

/* No leg could be made. */
static void fail_unmade(struct upstream *upstream, int rc)
{
	const char *detail;
	enum leg_close why = attempting_why(upstream, rc, &detail);

	fail_at_once(upstream, why, detail);
}

/* ---- attempts ---- */

/* What is left at the same address has its try however late it is; another address only in time. */
static bool is_tried_however_late(const struct upstream *upstream)
{
	return upstream->attempts.again || upstream->attempt->has_other;
}

static void retry(void *arg)
{
	struct upstream *upstream = arg;
	int rc;

	leg_free(upstream->leg);
	upstream->leg = NULL;
	if (!upstream->seat.target) {
		end_failed(upstream, LEG_CLOSE_NO_SERVER, "");
		return;
	}
	if (upstream->asks_again) {
		upstream->asks_again = false;
		attempts_fini(&upstream->attempts);
		resolve(upstream);
		return;
	}
	if (upstream->gave_up) {
		if (!begin_target(upstream))
			end_failed(upstream, upstream->why, upstream->detail);
		return;
	}
	if (!is_tried_however_late(upstream) && !attempting_left_us(upstream)) {
		fail_at_once(upstream, upstream->why, upstream->detail);
		return;
	}
	set_state(upstream, UPSTREAM_CONNECTING);
	rc = attempting_next(upstream);
	if (rc)
		fail_unmade(upstream, rc);
}

static bool may_go_on(const struct upstream *upstream, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && attempts_left(&upstream->attempts) &&
	       (is_tried_however_late(upstream) || attempting_left_us(upstream) > 0);
}

/*
 * MOUNT does not listen there, or not any more: of an answer that was kept there is another one to be had at once.
 * Returns whether it is asked for.
 */
static bool ask_again(struct upstream *upstream, enum leg_close why, const char *detail)
{
	struct mount_desk *desk = seat_mount_desk(upstream);

	if (!desk)
		return false;
	mount_desk_forget(desk, &upstream->attempt->addr);
	if (why != LEG_CLOSE_REFUSED || !upstream->place_is_kept || !attempting_left_us(upstream))
		return false;
	attempting_log(upstream, LOG_LEVEL_DEBUG, why, detail, "where rpcbind says now");
	upstream->asks_again = true;
	set_state(upstream, UPSTREAM_BETWEEN);
	return true;
}

/* Where the server did not speak the version that was tried, neither fabric nor port is to blame. */
static void attempt_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	bool again = attempts_again(&upstream->attempts, loop_now_us(loop_of(upstream)));

	if (ask_again(upstream, why, detail))
		return;
	if (why == LEG_CLOSE_TIMEOUT && !again && !upstream->attempt->has_other)
		attempting_forget_port(upstream);
	if (!may_go_on(upstream, why)) {
		seat_give_up(upstream, why, detail);
		if (!seat_may_try_another(upstream, why)) {
			set_state(upstream, UPSTREAM_CLOSING);
			seat_leave(upstream);
			upstream->events->failed(upstream->arg, why, detail);
			return;
		}
	}
	if (upstream->gave_up)
		attempting_log(upstream, LOG_LEVEL_DEBUG, why, detail, "the next server");
	else if (again)
		attempting_log(upstream, LOG_LEVEL_INFO, why, detail,
			       "the same address in version one");
	else if (!upstream->attempt->has_other)
		attempting_log(upstream, LOG_LEVEL_DEBUG, why, detail, "its next address");
	if (!again)
		attempting_blame(upstream, detail[0] ? detail : leg_close_text(why));
	upstream->why = why;
	snprintf(upstream->detail, sizeof(upstream->detail), "%s", detail);
	set_state(upstream, UPSTREAM_BETWEEN);
}

/* ---- what the leg says ---- */

/* A proxy in front of a server that is down may take connections all the same: only a Reply is an answer. */
static void answered(struct upstream *upstream)
{
	seat_answered(upstream);
	upstream->events->answered(upstream->arg);
}

static void on_opened(void *arg)
{
	struct upstream *upstream = arg;
	struct leg_info info;

	if (upstream->state.now != UPSTREAM_CONNECTING)
		return;
	set_state(upstream, UPSTREAM_OPEN);
	leg_info(upstream->leg, &info);
	upstream->port = sockaddr_port((struct sockaddr *)&info.local);
	upstream->source =
		sources_find(upstream->ws->service->config, (struct sockaddr *)&info.local);
	upstream->attempt = NULL;
	attempts_fini(&upstream->attempts);
	targets_opened(&upstream->seat);
	upstream->events->opened(upstream->arg, upstream->leg);
}

static void on_call(void *arg, struct exchange *x)
{
	struct upstream *upstream = arg;

	upstream->events->leg->call(upstream->arg, x);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct upstream *upstream = arg;
	/* Else it is the leg's own word: the server has not seen the Call. */
	bool is_servers = x->fault != EXCHANGE_FAULT_CANT_SEND;

	if (is_servers && upstream->waits)
		answered(upstream);
	else if (is_servers)
		server_state_heard(&upstream->seat.target->server);
	upstream->events->leg->reply(upstream->arg, x);
}

static void on_more(void *arg, struct exchange *x)
{
	struct upstream *upstream = arg;

	upstream->events->leg->more(upstream->arg, x);
}

static void on_call_ready(void *arg)
{
	struct upstream *upstream = arg;

	upstream->events->leg->call_ready(upstream->arg);
}

static void on_note(void *arg, const char *text)
{
	struct upstream *upstream = arg;

	upstream->events->leg->note(upstream->arg, text);
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct upstream *upstream = arg;

	if (upstream->state.now == UPSTREAM_CONNECTING) {
		attempt_failed(upstream, why, detail);
	} else if (upstream->state.now == UPSTREAM_OPEN) {
		set_state(upstream, UPSTREAM_CLOSING);
		seat_part(upstream);
		if (upstream->waits)
			seat_unanswered(upstream, why, detail);
		seat_leave(upstream);
		upstream->events->leg->closing(upstream->arg, why, detail);
	}
}

static void on_closed(void *arg)
{
	struct upstream *upstream = arg;

	upstream->leg_over = true;
	/* Before it is reported: a connection that waits for this port takes it at once. */
	held_port_give(&upstream->held, loop_now_us(loop_of(upstream)));
	if (upstream->state.now == UPSTREAM_BETWEEN) {
		loop_defer(loop_of(upstream), &upstream->retry);
	} else {
		set_state(upstream, UPSTREAM_CLOSED);
		upstream->events->closed(upstream->arg);
	}
}

static const struct leg_events leg_events = {
	.opened = on_opened,
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
	.note = on_note,
};

/* ---- the name ---- */

static void attempt_at(struct upstream *upstream, const struct name_result *name)
{
	int rc;

	set_state(upstream, UPSTREAM_CONNECTING);
	rc = attempting_begin(upstream, name);
	if (!rc)
		rc = attempting_next(upstream);
	if (rc)
		fail_unmade(upstream, rc);
}

static void on_place(void *arg, const struct mount_place *place)
{
	struct upstream *upstream = arg;
	const struct name_result name = {.addrs = place->addrs, .naddrs = place->naddrs};

	upstream->place_is_kept = place->kept;
	if (!place->naddrs)
		fail_at_once(upstream, LEG_CLOSE_NO_MOUNT, place->error);
	else if (mount_place_is_own(place, upstream->seat.target->name.doors))
		fail_at_once(upstream, LEG_CLOSE_OWN_UPSTREAM, "rpcbind names a port of it");
	else
		attempt_at(upstream, &name);
}

static void on_resolved(void *arg, const struct name_result *name)
{
	struct upstream *upstream = arg;
	struct mount_desk *desk = seat_mount_desk(upstream);

	loop_timer_clear(loop_of(upstream), upstream->resolving);
	if (!name->naddrs) {
		fail_at_once(upstream, name->why, name->error);
		return;
	}
	if (!upstream->connecting_told)
		upstream->events->connecting(upstream->arg);
	upstream->connecting_told = true;
	if (!desk) {
		attempt_at(upstream, name);
		return;
	}
	set_state(upstream, UPSTREAM_ASKING);
	mount_desk_wait(desk, &upstream->place, name->addrs, name->naddrs, on_place, upstream);
}

static void leave_desk(struct upstream *upstream)
{
	struct mount_desk *desk = seat_mount_desk(upstream);

	if (upstream->seat.target)
		name_desk_leave(seat_desk(upstream), &upstream->name);
	if (desk)
		mount_desk_leave(desk, &upstream->place);
}

static void on_resolving_too_long(void *arg)
{
	struct upstream *upstream = arg;
	char text[LEG_DETAIL_BYTES];

	leave_desk(upstream);
	fail_at_once(
		upstream, LEG_CLOSE_NO_ADDRESS,
		server_name_unresolved(&upstream->seat.target->name, "no answer in time", text));
}

/* ---- the interface ---- */

int upstream_init(struct upstream *upstream, struct worker_service *ws,
		  const struct leg_config *leg_config, struct log_ctx *log,
		  const struct upstream_events *events, void *arg)
{
	*upstream = (struct upstream){
		.ws = ws,
		.log = log,
		.events = events,
		.arg = arg,
		.leg_config = *leg_config,
		.state = {UPSTREAM_IDLE, loop_now_us(ws->ground->loop)},
	};
	upstream->leg_config.events = &leg_events;
	upstream->leg_config.arg = upstream;
	loop_task_init(&upstream->retry, retry, upstream);
	upstream->resolving = loop_timer_new(ws->ground->loop, on_resolving_too_long, upstream);
	return upstream->resolving ? 0 : -ENOMEM;
}

void upstream_fini(struct upstream *upstream)
{
	seat_wait_no_longer(upstream);
	seat_part(upstream);
	seat_leave(upstream);
	leg_free(upstream->leg);
	attempts_fini(&upstream->attempts);
	loop_timer_free(loop_of(upstream), upstream->resolving);
}

void upstream_reverse(struct upstream *upstream, const struct reply_room *room, uint32_t max_bytes)
{
	upstream->leg_config.reply_room = *room;
	upstream->leg_config.reverse_max_bytes = max_bytes;
}

void upstream_serve(struct upstream *upstream, const struct sockaddr_storage *client,
		    const struct sockaddr_storage *at, bool keeps_port)
{
	const struct proxy_header whose = {.named = true, .source = *client, .destination = *at};

	upstream->keeps_port = keeps_port;
	upstream->client = *client;
	sockaddr_unmap(&upstream->client);
	legs_introduce(&upstream->leg_config, upstream->ws->service->config, &whose);
}

void upstream_lead_to_mount(struct upstream *upstream)
{
	upstream->to_mount = true;
	/* What stands before connect's servers to take a header does not stand before this one. */
	upstream->leg_config.preface_bytes = 0;
}

void upstream_renew(struct upstream *upstream)
{
	const struct upstream old = *upstream;

	seat_wait_no_longer(upstream);
	seat_part(upstream);
	seat_leave(upstream);
	leg_free(upstream->leg);
	attempts_fini(&upstream->attempts);
	*upstream = (struct upstream){
		.ws = old.ws,
		.log = old.log,
		.events = old.events,
		.arg = old.arg,
		.leg_config = old.leg_config,
		.client = old.client,
		.keeps_port = old.keeps_port,
		.privileged = old.privileged,
		.resolving = old.resolving,
		.state = {UPSTREAM_IDLE, loop_now_us(old.ws->ground->loop)},
	};
	loop_task_init(&upstream->retry, retry, upstream);
}

void upstream_come_from(struct upstream *upstream, const struct client_pin *pin)
{
	upstream->port = pin->port;
	upstream->source = pin->source;
	upstream->port_is_due = pin->due;
}

void upstream_start(struct upstream *upstream, uint64_t timeout_us)
{
	set_state(upstream, UPSTREAM_RESOLVING);
	upstream->deadline_us = loop_now_us(loop_of(upstream)) + timeout_us;
	if (!begin_target(upstream))
		loop_defer(loop_of(upstream), &upstream->retry);
}

void upstream_close(struct upstream *upstream, enum leg_close why)
{
	bool has_leg = upstream->leg && !upstream->leg_over;

	if (upstream->state.now >= UPSTREAM_CLOSING)
		return;
	seat_part(upstream);
	leave_desk(upstream);
	seat_leave(upstream);
	loop_timer_clear(loop_of(upstream), upstream->resolving);
	loop_task_cancel(loop_of(upstream), &upstream->retry);
	set_state(upstream, has_leg ? UPSTREAM_CLOSING : UPSTREAM_CLOSED);
	if (has_leg)
		leg_close(upstream->leg, why);
}

bool upstream_was_down(const struct upstream *upstream)
{
	return server_state_is_down(&upstream->seat.target->server);
}

const struct target *upstream_target(const struct upstream *upstream)
{
	return upstream->seat.target;
}

bool upstream_is_closed(const struct upstream *upstream)
{
	return upstream->state.now == UPSTREAM_CLOSED;
}

const struct leg *upstream_leg(const struct upstream *upstream)
{
	return upstream->leg_over ? NULL : upstream->leg;
}
