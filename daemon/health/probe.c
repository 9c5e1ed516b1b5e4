// SPDX-License-Identifier: BSD-3-Clause
/* A connection to one server of a service that no client has. */
#include "daemon/health/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "daemon/bridge/attempts.h"
#include "daemon/bridge/legs.h"
#include "daemon/config/config_memory.h"
#include "nfs/nfs.h"
#include "rpc/call_verdict.h"
#include "stream/proxy_header.h"

#define BUDGET_BYTES ((size_t)64 << 20) /* nothing is set aside for it */
#define SOUGHT_US    100000u            /* until it is looked again whether a look-up is out */

STATE_TABLE(probe_states, PROBE_STATES);

struct probe {
	struct probe_config config;
	struct service_config keys; /* the service's, with one server */
	struct service service;
	struct worker_ground ground;
	struct worker_service ws;
	struct pool *pool;
	struct budget budget;
	struct budget_account account;
	struct budget_holder holder;
	bool has_service, has_budget, going;

	unsigned state;
	uint64_t deadline_us; /* for the connection to open */
	struct name_wait name;
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

static void on_resolved(void *arg, const struct name_result *name)
{
	struct probe *probe = arg;
	const struct attempts_config config = {
		.target = &probe->service.targets.list[0],
		.iwarp = probe->ws.iwarp,
		.verbs = probe->ws.verbs,
		.highest_version = probe->keys.connect_version,
		.sources = {.list = probe->keys.sources, .count = (unsigned)probe->keys.nsources},
		.privileged = true,
		.held = &probe->held,
	};
	int rc;

	loop_timer_clear(probe->config.loop, probe->timer);
	if (!name->naddrs) {
		unreached(probe, name->why, name->error);
		return;
	}
	set_state(probe, PROBE_CONNECTING);
	rc = attempts_init(&probe->attempts, &config, name->addrs, name->naddrs);
	if (rc)
		unreached(probe, attempts_why(rc), strerror(-rc));
	else
		next_attempt(probe);
}

void probe_connect(struct probe *probe, uint64_t timeout_us)
{
	set_state(probe, PROBE_RESOLVING);
	probe->deadline_us = now_us(probe) + timeout_us;
	loop_timer_set(probe->config.loop, probe->timer, timeout_us);
	name_desk_wait(&probe->ws.names[0], &probe->name, on_resolved, probe);
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
		.pool = probe->pool,
		.holder = &probe->holder,
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

static struct exchange *exchange_of(struct probe *probe, const uint8_t *call, uint32_t len_bytes)
{
	const struct reply_room room = config_memory_reply_room(&probe->keys);
	uint32_t limit_bytes = probe->keys.message_bytes;
	struct exchange *x = exchange_new(NULL);

	if (!x || rpc_msg_get(probe->pool, len_bytes, &x->call))
		goto out_put;
	memcpy(x->call.data, call, len_bytes);
	if (call_judge(call, len_bytes, len_bytes, NULL, 0, &x->facts.hdr) != CALL_PASSES)
		goto out_put;
	nfs_facts_whole(&x->facts, limit_bytes, NULL, x->call.data, len_bytes);
	x->reply_max_bytes = x->facts.ceiling_bytes;
	x->start_us = now_us(probe);
	if (budget_claim(&probe->holder, &x->claim,
			 exchange_cost_bytes(rpc_msg_cost_bytes(len_bytes), x->reply_max_bytes,
					     &x->facts, &room)))
		return x;
out_put:
	exchange_put(x);
	return NULL;
}

int probe_call(struct probe *probe, const uint8_t *call, uint32_t len_bytes, uint64_t timeout_us)
{
	drop_call(probe);
	/* It is on its way out, which is told. */
	if (probe->state != PROBE_OPEN)
		return 0;
	probe->x = exchange_of(probe, call, len_bytes);
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
		name_desk_leave(&probe->ws.names[0], &probe->name);
		unreached(probe, LEG_CLOSE_NO_ADDRESS,
			  server_name_unresolved(&probe->service.targets.list[0].name,
						 "no answer in time", text));
	}
}

/* ---- life ---- */

static void on_woken(void *arg)
{
	struct probe *probe = arg;

	if (!probe->has_service)
		return;
	budget_account_woken(&probe->account);
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
	budget_holder_fini(&probe->holder);
	budget_account_fini(&probe->account);
	if (probe->has_service)
		service_fini(&probe->service);
	probe->has_service = false;
	if (probe->has_budget)
		budget_fini(&probe->budget);
	pool_free(probe->pool);
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
	if (targets_are_sought(&probe->service.targets)) {
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
	name_desk_leave(&probe->ws.names[0], &probe->name);
	if (!probe->leg)
		loop_defer(probe->config.loop, &probe->over);
	else if (probe->state != PROBE_CLOSING)
		leg_close(probe->leg, LEG_CLOSE_LOCAL);
}

static int prepare_memory(struct probe *probe)
{
	int rc = budget_init(&probe->budget, BUDGET_BYTES, 0, 1, 1);

	if (rc)
		return rc;
	probe->has_budget = true;
	rc = budget_account_init(&probe->account, budget_part(&probe->budget, 0),
				 probe->config.loop, wake, probe);
	budget_holder_init(&probe->holder, &probe->account, NULL);
	probe->pool = pool_new(config_memory_buffer_max_bytes(), 0);
	return rc || !probe->pool ? -ENOMEM : 0;
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
	/* Where it leads is said already; and what else is on that host is no proxy. */
	probe->keys.mount = (struct config_mount){.way = MOUNT_CONNECT};
	probe->keys.send_proxy &= !config->instead;
	probe->ground = (struct worker_ground){
		.loop = config->loop,
		.pool = probe->pool,
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
	targets_avoid(&probe->service.targets, config->doors);
	return worker_service_init(&probe->ws, &probe->ground, &probe->service, &probe->account);
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
	if (!probe->timer || prepare_memory(probe) || prepare_service(probe)) {
		take_apart(probe);
		free(probe);
		return -ENOMEM;
	}
	*out = probe;
	return 0;
}
