// SPDX-License-Identifier: BSD-3-Clause
/* A connection to one server of a service that no client has. */
#include "daemon/health/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bridge/attempts.h"
#include "daemon/bridge/legs.h"
#include "daemon/config/config_memory.h"
#include "daemon/health/probe_memory.h"
#include "stream/proxy_header.h"

#define SOUGHT_US 100000u /* until it is looked again whether a look-up is out */

STATE_TABLE(probe_states, PROBE_STATES);

struct probe {
	struct probe_config config;
	struct service_config keys; /* the service's, with one server */
	struct service service;
	struct worker_ground ground;
	struct worker_service ws;
	struct probe_memory memory;
	bool has_service, going;

	unsigned state;
	uint64_t deadline_us; /* for the connection to open */
	struct name_wait name;
	struct mount_wait place; /* where rpcbind says that MOUNT is */
	struct attempts attempts;
	const struct attempt *attempt;
	struct held_port held; /* of the leg */
	struct leg *leg;
	struct exchange *x; /* the Call that has no answer yet */
	struct loop_timer *timer;
	struct loop_task telling; /* of what is `due` */
	struct probe_news due;
	char due_detail[LEG_DETAIL_BYTES];
	struct loop_task over; /* the leg is, or the probe itself */
	bool late;
	char noted[LEG_DETAIL_BYTES]; /* of the server, since the Call */
	enum leg_close why;           /* the leg closes … */
	char detail[LEG_DETAIL_BYTES];

	void (*gone)(void *arg);
	void *gone_arg;
};

static uint64_t now_us(const struct probe *probe)
{
	return loop_now_us(probe->config.loop);
}

static void set_state(struct probe *probe, enum probe_state to)
{
	probe->state = state_next(&probe_states, probe->state, to);
}

/* ---- telling ---- */

static void tell_due(void *arg)
{
	struct probe *probe = arg;

	probe->config.told(probe->config.arg, &probe->due);
}

/* From a task: who is told may call, connect and free. */
static void tell(struct probe *probe, enum probe_event event, enum leg_close why,
		 const char *detail)
{
	snprintf(probe->due_detail, sizeof(probe->due_detail), "%s", detail);
	probe->due = (struct probe_news){
		.event = event, .why = why, .detail = probe->due_detail, .x = probe->x};
	if (!probe->going)
		loop_defer(probe->config.loop, &probe->telling);
}

/* ---- connecting ---- */

static void unreached(struct probe *probe, enum leg_close why, const char *detail)
{
	attempts_fini(&probe->attempts);
	loop_timer_clear(probe->config.loop, probe->timer);
	set_state(probe, PROBE_IDLE);
	tell(probe, PROBE_UNREACHED, why, detail);
}

static void fill_leg_config(struct probe *probe, struct leg_config *config);

static uint64_t left_us(const struct probe *probe)
{
	uint64_t now = now_us(probe);

	return probe->deadline_us > now ? probe->deadline_us - now : 1;
}

static void next_attempt(struct probe *probe)
{
	struct leg_config config;
	int rc = -EDESTADDRREQ;

	fill_leg_config(probe, &config);
	while ((probe->attempt = attempts_next(&probe->attempts, NULL, now_us(probe)))) {
		config.connect_timeout_us = attempts_share_us(&probe->attempts, left_us(probe));
		rc = probe->ground.legs->connect(&probe->ws, &config, probe->attempt, &probe->leg);
		if (!rc)
			return;
		probe->leg = NULL;
	}
	unreached(probe, attempts_why(rc), strerror(-rc));
}

static struct targets *targets_of(struct probe *probe)
{
	return probe->config.to_mount ? &probe->service.mounts.targets : &probe->service.targets;
}

static struct name_desk *name_desk_of(struct probe *probe)
{
	return probe->config.to_mount ? probe->ws.mount_names : probe->ws.names;
}

static void attempt_at(struct probe *probe, const struct sockaddr_storage *addrs, size_t naddrs)
{
	const struct attempts_config config = {
		.target = &targets_of(probe)->list[0],
		.iwarp = probe->ws.iwarp,
		.verbs = probe->ws.verbs,
		.highest_version = probe->keys.connect_version,
		.sources = {.list = probe->keys.sources, .count = (unsigned)probe->keys.nsources},
		.privileged = true,
		.held = &probe->held,
	};
	int rc;

	set_state(probe, PROBE_CONNECTING);
	rc = attempts_init(&probe->attempts, &config, addrs, naddrs);
	if (rc)
		unreached(probe, attempts_why(rc), strerror(-rc));
	else
		next_attempt(probe);
}

static void on_place(void *arg, const struct mount_place *place)
{
	struct probe *probe = arg;

	if (!place->naddrs)
		unreached(probe, LEG_CLOSE_NO_MOUNT, place->error);
	else if (mount_place_is_own(place, probe->config.doors))
		unreached(probe, LEG_CLOSE_OWN_UPSTREAM, "rpcbind names a port of it");
	else
		attempt_at(probe, place->addrs, place->naddrs);
}

static void on_resolved(void *arg, const struct name_result *name)
{
	struct probe *probe = arg;

	loop_timer_clear(probe->config.loop, probe->timer);
	if (!name->naddrs) {
		unreached(probe, name->why, name->error);
	} else if (probe->ws.mount_desks) {
		set_state(probe, PROBE_ASKING);
		mount_desk_wait(probe->ws.mount_desks, &probe->place, name->addrs, name->naddrs,
				on_place, probe);
	} else {
		attempt_at(probe, name->addrs, name->naddrs);
	}
}

void probe_connect(struct probe *probe, uint64_t timeout_us)
{
	set_state(probe, PROBE_RESOLVING);
	probe->deadline_us = now_us(probe) + timeout_us;
	loop_timer_set(probe->config.loop, probe->timer, timeout_us);
	name_desk_wait(name_desk_of(probe), &probe->name, on_resolved, probe);
}

/* ---- what the leg says ---- */

static void on_opened(void *arg)
{
	struct probe *probe = arg;

	if (probe->state != PROBE_CONNECTING)
		return;
	attempts_fini(&probe->attempts);
	set_state(probe, PROBE_OPEN);
	tell(probe, PROBE_OPENED, LEG_CLOSE_LOCAL, "");
}

/* A server may call its client, whom it does not know here. */
static void on_call(void *arg, struct exchange *x)
{
	struct probe *probe = arg;

	x->fault = EXCHANGE_FAULT_CANT_SEND;
	if (probe->state == PROBE_OPEN)
		leg_reply(probe->leg, x);
	else
		exchange_put(x);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct probe *probe = arg;

	exchange_put(x);
	if (x != probe->x || probe->state != PROBE_OPEN)
		return;
	loop_timer_clear(probe->config.loop, probe->timer);
	tell(probe, PROBE_ANSWERED, LEG_CLOSE_LOCAL, "");
}

static void ignore_exchange(void *arg, struct exchange *x)
{
}

static void ignore(void *arg)
{
}

/* The last one may be why there is no answer. */
static void on_note(void *arg, const char *text)
{
	struct probe *probe = arg;

	if (probe->state == PROBE_OPEN)
		snprintf(probe->noted, sizeof(probe->noted), "%s", text);
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct probe *probe = arg;

	probe->why = why;
	snprintf(probe->detail, sizeof(probe->detail), "%s", detail);
	if (probe->state != PROBE_OPEN)
		return;
	loop_timer_clear(probe->config.loop, probe->timer);
	set_state(probe, PROBE_CLOSING);
}

static void drop_call(struct probe *probe)
{
	exchange_put(probe->x);
	probe->x = NULL;
}

static void leg_over(struct probe *probe)
{
	drop_call(probe);
	if (probe->state == PROBE_CLOSING) {
		set_state(probe, PROBE_IDLE);
		if (probe->late)
			tell(probe, PROBE_LATE, probe->why, probe->noted);
		else
			tell(probe, PROBE_LOST, probe->why, probe->detail);
	} else if (attempts_again(&probe->attempts, now_us(probe)) ||
		   (attempts_left(&probe->attempts) && left_us(probe) > 1)) {
		next_attempt(probe);
	} else {
		unreached(probe, probe->why, probe->detail);
	}
}

static void finish(struct probe *probe);

static void on_over(void *arg)
{
	struct probe *probe = arg;

	leg_free(probe->leg);
	probe->leg = NULL;
	if (probe->going)
		finish(probe);
	else
		leg_over(probe);
}

static void on_closed(void *arg)
{
	struct probe *probe = arg;

	held_port_give(&probe->held, now_us(probe));
	loop_defer(probe->config.loop, &probe->over);
}

static const struct leg_events leg_events = {
	.opened = on_opened,
	.call = on_call,
	.reply = on_reply,
	.more = ignore_exchange,
	.call_ready = ignore,
	.closing = on_closing,
	.closed = on_closed,
	.note = on_note,
};

static void fill_leg_config(struct probe *probe, struct leg_config *config)
{
	static const struct proxy_header nobody;

	*config = (struct leg_config){
		.loop = probe->config.loop,
		.pool = probe->memory.pool,
		.holder = &probe->memory.holder,
		.max_message_bytes = probe->keys.message_bytes,
		.reply_room = config_memory_reverse_room(&probe->keys, false),
		.reverse_max_bytes = config_memory_reverse_max_bytes(&probe->keys, false),
		.stall_timeout_us = (uint64_t)probe->keys.stall_timeout_s * 1000000,
		.events = &leg_events,
		.arg = probe,
	};
	legs_introduce(config, &probe->keys, &nobody);
}

/* ---- calls ---- */

void probe_info(const struct probe *probe, struct leg_info *info)
{
	leg_info(probe->leg, info);
}

int probe_call(struct probe *probe, const uint8_t *call, uint32_t len_bytes, uint64_t timeout_us)
{
	drop_call(probe);
	/* It is on its way out, which is told. */
	if (probe->state != PROBE_OPEN)
		return 0;
	probe->x = probe_memory_call(&probe->memory, &probe->keys, call, len_bytes, now_us(probe));
	if (!probe->x)
		return -ENOMEM;
	probe->late = false;
	probe->noted[0] = '\0';
	loop_timer_set(probe->config.loop, probe->timer, timeout_us);
	leg_call(probe->leg, exchange_ref(probe->x));
	return 0;
}

static void on_timer(void *arg)
{
	struct probe *probe = arg;
	char text[LEG_DETAIL_BYTES];

	if (probe->going) {
		finish(probe);
	} else if (probe->state == PROBE_OPEN) {
		probe->late = true;
		leg_close(probe->leg, LEG_CLOSE_LOCAL);
	} else if (probe->state == PROBE_RESOLVING) {
		name_desk_leave(name_desk_of(probe), &probe->name);
		unreached(probe, LEG_CLOSE_NO_ADDRESS,
			  server_name_unresolved(&targets_of(probe)->list[0].name,
						 "no answer in time", text));
	}
}

/* ---- life ---- */

static void on_woken(void *arg)
{
	struct probe *probe = arg;

	if (!probe->has_service)
		return;
	budget_account_woken(&probe->memory.account);
	worker_service_names_woken(&probe->ws);
}

/* From any thread. Without memory the time limit ends what waits. */
static void wake(void *arg)
{
	struct probe *probe = arg;

	(void)!probe->config.post(probe->config.loop, on_woken, probe);
}

static void take_apart(struct probe *probe)
{
	drop_call(probe);
	attempts_fini(&probe->attempts);
	loop_timer_free(probe->config.loop, probe->timer);
	worker_service_fini(&probe->ws);
	if (probe->has_service)
		service_fini(&probe->service);
	probe->has_service = false;
	probe_memory_fini(&probe->memory);
}

/* Behind every on_woken() that was posted. */
static void bury(void *arg)
{
	struct probe *probe = arg;

	if (probe->gone)
		probe->gone(probe->gone_arg);
	free(probe);
}

/* A look-up that is out comes back to its name. */
static void finish(struct probe *probe)
{
	if (targets_are_sought(targets_of(probe))) {
		loop_timer_set(probe->config.loop, probe->timer, SOUGHT_US);
		return;
	}
	loop_task_cancel(probe->config.loop, &probe->telling);
	take_apart(probe);
	while (probe->config.post(probe->config.loop, bury, probe))
		;
}

void probe_free(struct probe *probe, void (*gone)(void *arg), void *arg)
{
	if (!probe) {
		if (gone)
			gone(arg);
		return;
	}
	probe->going = true;
	probe->gone = gone;
	probe->gone_arg = arg;
	loop_task_cancel(probe->config.loop, &probe->telling);
	loop_timer_clear(probe->config.loop, probe->timer);
	name_desk_leave(name_desk_of(probe), &probe->name);
	if (probe->ws.mount_desks)
		mount_desk_leave(probe->ws.mount_desks, &probe->place);
	if (!probe->leg)
		loop_defer(probe->config.loop, &probe->over);
	else if (probe->state != PROBE_CLOSING)
		leg_close(probe->leg, LEG_CLOSE_LOCAL);
}

static int prepare_service(struct probe *probe)
{
	const struct probe_config *config = &probe->config;

	probe->keys = *config->service;
	probe->keys.connect = config->instead ? *config->instead
					      : *config_server(config->service, config->server);
	probe->keys.more = NULL;
	probe->keys.nmore = 0;
	probe->keys.max_connections = 1;
	/* Where it leads is said already; and what else is on that host, or has MOUNT, is no proxy. */
	if (!config->to_mount)
		probe->keys.mount = (struct config_mount){.way = MOUNT_CONNECT};
	probe->keys.send_proxy &= !config->instead && !config->to_mount;
	probe->ground = (struct worker_ground){
		.loop = config->loop,
		.pool = probe->memory.pool,
		.resolver = config->resolver,
		.legs = config->legs,
		.post = config->post,
		.ports = config->ports,
		.wake = wake,
		.arg = probe,
	};
	if (service_init(&probe->service, &probe->keys))
		return -ENOMEM;
	probe->has_service = true;
	service_silence(&probe->service);
	targets_avoid(targets_of(probe), config->doors);
	return worker_service_init(&probe->ws, &probe->ground, &probe->service,
				   &probe->memory.account);
}

int probe_new(const struct probe_config *config, struct probe **out)
{
	struct probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return -ENOMEM;
	probe->config = *config;
	loop_task_init(&probe->telling, tell_due, probe);
	loop_task_init(&probe->over, on_over, probe);
	probe->timer = loop_timer_new(config->loop, on_timer, probe);
	if (!probe->timer || probe_memory_init(&probe->memory, config->loop, wake, probe) ||
	    prepare_service(probe)) {
		take_apart(probe);
		free(probe);
		return -ENOMEM;
	}
	*out = probe;
	return 0;
}
