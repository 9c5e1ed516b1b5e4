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
#include "daemon/bridge/legs.h"

#define VERBS_AVOID_US 60000000u

STATE_TABLE(upstream_states, UPSTREAM_STATES);

static struct loop *loop_of(const struct upstream *upstream)
{
	return upstream->ws->ground->loop;
}

static void set_state(struct upstream *upstream, enum upstream_state to)
{
	state_move(&upstream->state, &upstream_states, to, loop_now_us(loop_of(upstream)));
}

static const struct config_uri *uri_of(const struct upstream *upstream)
{
	return &upstream->ws->service->config->connect;
}

static struct log_limit *line_limit(const struct upstream *upstream, enum service_line line)
{
	return &upstream->ws->service->lines[line];
}

static uint64_t left_us(const struct upstream *upstream)
{
	uint64_t now_us = loop_now_us(loop_of(upstream));

	return now_us < upstream->deadline_us ? upstream->deadline_us - now_us : 0;
}

static void wait_no_longer(struct upstream *upstream)
{
	if (upstream->waits)
		server_state_leave(&upstream->ws->service->server);
	upstream->waits = false;
}

static void part(struct upstream *upstream)
{
	if (upstream->served)
		server_state_parted(&upstream->ws->service->server);
	upstream->served = false;
}

/* ---- attempts ---- */

static void avoid_verbs(struct upstream *upstream, const char *why)
{
	log_limited(LOG_LEVEL_INFO, line_limit(upstream, LINE_AVOIDED), upstream->log,
		    "server: not on verbs (%s), so on iwarp for %u s", why,
		    VERBS_AVOID_US / 1000000);
	upstream->ws->verbs_avoided_until_us = loop_now_us(loop_of(upstream)) + VERBS_AVOID_US;
}

/*
 * rdma:// takes verbs where a device serves the route. When that failed, iwarp has its try at the same
 * address, and for a minute verbs is not tried again.
 */
static const struct attempt *next_attempt(struct upstream *upstream)
{
	struct worker_service *ws = upstream->ws;
	uint64_t now_us = loop_now_us(loop_of(upstream));
	bool avoided = now_us < ws->verbs_avoided_until_us;

	return attempts_next(&upstream->attempts, avoided ? ws->verbs : NULL, now_us);
}

/* After an attempt that failed: iwarp is next if this was verbs, and if not only verbs will do. */
static void blame(struct upstream *upstream, const char *why)
{
	const struct attempt *attempt = upstream->attempt;

	if (attempt->has_other && attempt->fabric == upstream->ws->verbs)
		avoid_verbs(upstream, why);
}

static void log_attempt(const struct upstream *upstream)
{
	struct log_limit *limit = line_limit(upstream, LINE_ATTEMPT);
	const struct attempt *attempt = upstream->attempt;
	char text[ADDRESS_TEXT_BYTES];

	if (!log_is_on(LOG_LEVEL_DEBUG))
		return;
	address_text((const struct sockaddr *)&attempt->addr, text);
	if (attempt->fabric)
		log_write_limited(LOG_LEVEL_DEBUG, limit, upstream->log,
				  "server: trying %s on %s, version %u", text,
				  attempt->fabric->ops->name, attempt->rpcrdma_version);
	else
		log_write_limited(LOG_LEVEL_DEBUG, limit, upstream->log,
				  "server: trying %s over tcp", text);
}

/*
 * Makes the leg of the next attempt that does not fail at once, as one does at an address of a family
 * that this host has not. Returns the errno of the last one if none is left.
 */
static int connect_next(struct upstream *upstream)
{
	struct worker_service *ws = upstream->ws;
	struct leg_config *config = &upstream->leg_config;
	int rc = -EDESTADDRREQ;

	while ((upstream->attempt = next_attempt(upstream))) {
		log_attempt(upstream);
		config->connect_timeout_us =
			attempts_share_us(&upstream->attempts, left_us(upstream));
		upstream->leg_over = false;
		rc = ws->ground->legs->connect(ws, config, upstream->attempt, &upstream->leg);
		if (!rc)
			return 0;
		upstream->leg = NULL;
		blame(upstream, strerror(-rc));
	}
	return rc;
}

/* Why there is no leg: what is lacking here is not the server's fault. */
static enum leg_close connect_why(int rc)
{
	switch (-rc) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return LEG_CLOSE_RESOURCES;
	default:
		return LEG_CLOSE_UNREACHABLE;
	}
}

static void tell_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	const struct attempt *last = attempts_last(&upstream->attempts);

	upstream->failure_told = server_state_failed(
		&upstream->ws->service->server, last ? (const struct sockaddr *)&last->addr : NULL,
		why, detail, loop_now_us(loop_of(upstream)));
	upstream->events->failed(upstream->arg, why, detail);
}

/* Without a leg that would have to close first. */
static void fail_at_once(struct upstream *upstream, enum leg_close why, const char *detail)
{
	set_state(upstream, UPSTREAM_CLOSED);
	tell_failed(upstream, why, detail);
	upstream->events->closed(upstream->arg);
}

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
	if (!is_tried_however_late(upstream) && !left_us(upstream)) {
		fail_at_once(upstream, upstream->why, upstream->detail);
		return;
	}
	set_state(upstream, UPSTREAM_CONNECTING);
	rc = connect_next(upstream);
	if (rc)
		fail_at_once(upstream, connect_why(rc), strerror(-rc));
}

static bool may_go_on(const struct upstream *upstream, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && attempts_left(&upstream->attempts) &&
	       (is_tried_however_late(upstream) || left_us(upstream) > 0);
}

/*
 * From this port nothing came back: something on the way may have an entry for it that is stuck, and would keep
 * the client out as long as it came from there.
 */
static void forget_port(struct upstream *upstream)
{
	upstream->port = 0;
	attempts_forget_port(&upstream->attempts);
}

static void log_going_on(const struct upstream *upstream, enum log_level level, enum leg_close why,
			 const char *detail, const char *how)
{
	log_limited(level, line_limit(upstream, LINE_ATTEMPT), upstream->log,
		    "server: %s%s%s; trying %s", leg_close_text(why), detail[0] ? ": " : "", detail,
		    how);
}

/* Where the server did not speak the version that was tried, neither fabric nor port is to blame. */
static void attempt_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	bool again = attempts_again(&upstream->attempts, loop_now_us(loop_of(upstream)));

	if (why == LEG_CLOSE_TIMEOUT && !again && !upstream->attempt->has_other)
		forget_port(upstream);
	if (!may_go_on(upstream, why)) {
		set_state(upstream, UPSTREAM_CLOSING);
		tell_failed(upstream, why, detail);
		return;
	}
	if (again)
		log_going_on(upstream, LOG_LEVEL_INFO, why, detail,
			     "the same address in version one");
	else if (!upstream->attempt->has_other)
		log_going_on(upstream, LOG_LEVEL_DEBUG, why, detail, "its next address");
	if (!again)
		blame(upstream, detail[0] ? detail : leg_close_text(why));
	upstream->why = why;
	snprintf(upstream->detail, sizeof(upstream->detail), "%s", detail);
	set_state(upstream, UPSTREAM_BETWEEN);
}

/* ---- what the leg says ---- */

static void leg_peer(const struct upstream *upstream, struct sockaddr_storage *addr)
{
	struct leg_info info;

	leg_info(upstream->leg, &info);
	*addr = info.peer;
}

/* A proxy in front of a server that is down may take connections all the same: only a Reply is an answer. */
static void answered(struct upstream *upstream)
{
	struct sockaddr_storage addr;

	leg_peer(upstream, &addr);
	wait_no_longer(upstream);
	upstream->served = true;
	server_state_reached(&upstream->ws->service->server, (struct sockaddr *)&addr,
			     loop_now_us(loop_of(upstream)));
	upstream->events->answered(upstream->arg);
}

/* What a server's end before its first Reply is told as. */
static const char *early_end(enum leg_close why, const char *detail, char text[LEG_DETAIL_BYTES])
{
	if (!detail[0] && (why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST))
		return "it closes connections before their first Reply";
	if (why != LEG_CLOSE_PEER)
		return detail;
	/* It follows on that: "without an answer to the first Call: is that …" */
	snprintf(text, LEG_DETAIL_BYTES, "it closes connections %s", detail);
	return text;
}

static void closed_without_reply(struct upstream *upstream, enum leg_close why, const char *detail)
{
	struct sockaddr_storage addr;
	char text[LEG_DETAIL_BYTES];

	leg_peer(upstream, &addr);
	upstream->failure_told = server_state_unanswered(
		&upstream->ws->service->server, (struct sockaddr *)&addr, why,
		early_end(why, detail, text), loop_now_us(loop_of(upstream)));
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
	upstream->attempt = NULL;
	attempts_fini(&upstream->attempts);
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
		server_state_heard(&upstream->ws->service->server);
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
		part(upstream);
		if (upstream->waits)
			closed_without_reply(upstream, why, detail);
		upstream->events->leg->closing(upstream->arg, why, detail);
	}
}

static void on_closed(void *arg)
{
	struct upstream *upstream = arg;

	upstream->leg_over = true;
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

static int make_attempts(struct upstream *upstream, const struct name_result *name)
{
	struct worker_service *ws = upstream->ws;
	const struct attempts_config config = {
		.transport = uri_of(upstream)->transport,
		.iwarp = ws->iwarp,
		.verbs = ws->verbs,
		.highest_version = ws->service->config->connect_version,
		.versions = &ws->service->versions,
		.source_port = upstream->port,
		.source_above = upstream->port_is_due,
	};

	return attempts_init(&upstream->attempts, &config, name->addrs, name->naddrs);
}

static void on_resolved(void *arg, const struct name_result *name)
{
	struct upstream *upstream = arg;
	int rc;

	loop_timer_clear(loop_of(upstream), upstream->resolving);
	if (!name->naddrs) {
		fail_at_once(upstream, name->why, name->error);
		return;
	}
	set_state(upstream, UPSTREAM_CONNECTING);
	upstream->events->connecting(upstream->arg);
	rc = make_attempts(upstream, name);
	if (!rc)
		rc = connect_next(upstream);
	if (rc)
		fail_at_once(upstream, connect_why(rc), strerror(-rc));
}

static void on_resolving_too_long(void *arg)
{
	struct upstream *upstream = arg;
	char text[LEG_DETAIL_BYTES];

	name_desk_leave(&upstream->ws->names, &upstream->name);
	fail_at_once(
		upstream, LEG_CLOSE_NO_ADDRESS,
		server_name_unresolved(&upstream->ws->service->name, "no answer in time", text));
}

/* ---- the interface ---- */

int upstream_init(struct upstream *upstream, struct worker_service *ws,
		  const struct leg_config *leg_config, const struct log_ctx *log,
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
	wait_no_longer(upstream);
	part(upstream);
	leg_free(upstream->leg);
	attempts_fini(&upstream->attempts);
	loop_timer_free(loop_of(upstream), upstream->resolving);
}

void upstream_come_from(struct upstream *upstream, const struct client_pin *pin)
{
	upstream->port = pin->port;
	upstream->port_is_due = pin->due;
}

void upstream_start(struct upstream *upstream, uint64_t timeout_us)
{
	upstream->waits = true;
	server_state_seek(&upstream->ws->service->server);
	set_state(upstream, UPSTREAM_RESOLVING);
	name_desk_wait(&upstream->ws->names, &upstream->name, on_resolved, upstream);
	upstream->deadline_us = loop_now_us(loop_of(upstream)) + timeout_us;
	loop_timer_set(loop_of(upstream), upstream->resolving, timeout_us);
}

void upstream_close(struct upstream *upstream, enum leg_close why)
{
	bool has_leg = upstream->leg && !upstream->leg_over;

	if (upstream->state.now >= UPSTREAM_CLOSING)
		return;
	part(upstream);
	name_desk_leave(&upstream->ws->names, &upstream->name);
	loop_timer_clear(loop_of(upstream), upstream->resolving);
	loop_task_cancel(loop_of(upstream), &upstream->retry);
	set_state(upstream, has_leg ? UPSTREAM_CLOSING : UPSTREAM_CLOSED);
	if (has_leg)
		leg_close(upstream->leg, why);
}

bool upstream_is_closed(const struct upstream *upstream)
{
	return upstream->state.now == UPSTREAM_CLOSED;
}

const struct leg *upstream_leg(const struct upstream *upstream)
{
	return upstream->leg_over ? NULL : upstream->leg;
}
