// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/check_conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_memory.h"
#include "daemon/upstream/leg_factory.h"
#include "daemon/upstream/upstream_connect.h"
#include "nfs/nfs.h"
#include "rpc/call_verdict.h"
#include "stream/proxy_header.h"

#define SOUGHT_US 100000u /* interval of checking whether a lookup still runs */

struct check_conn {
	struct check_conn_config config;
	struct targets targets; /* the server */
	struct check_backend waiter;
	struct budget_holder holder;
	struct upstream upstream;
	struct log_ctx log; /* not used: nothing is logged */
	struct leg *leg;    /* the open leg */
	struct exchange *x; /* the unanswered Call */
	struct loop_timer *timer;
	struct check_conn_news due;    /* reported by `telling` … */
	struct check_conn_news end;    /* … and this after it, once the upstream is closed */
	char detail[LEG_DETAIL_BYTES]; /* of the end */
	char noted[LEG_DETAIL_BYTES];  /* notes about the server since the Call */
	struct loop_task telling;      /* reports `due` */
	struct loop_task over;         /* frees or reports, once the upstream is closed */
	bool going;
	void (*gone)(void *arg);
	void *gone_arg;
};

static struct check_conn *conn_of(struct upstream *upstream)
{
	return container_of(upstream, struct check_conn, upstream);
}

static struct loop *loop_of(const struct check_conn *conn)
{
	return conn->config.ground->ground.loop;
}

/* ---- results: reported from a task, since on_event() can call, connect and free ---- */

static void tell_due(void *arg)
{
	struct check_conn *conn = arg;

	conn->due.x = conn->x;
	conn->config.told(conn->config.arg, &conn->due);
}

/* Sets the result to report once the upstream is closed. */
static void expect_end(struct check_conn *conn, enum check_conn_event event, enum leg_close why,
		       const char *detail)
{
	snprintf(conn->detail, sizeof(conn->detail), "%s", detail);
	conn->end = (struct check_conn_news){.event = event, .why = why, .detail = conn->detail};
}

/* Even if the leg ends in the same iteration: that end is reported after this. */
static void tell(struct check_conn *conn, enum check_conn_event event)
{
	conn->due = (struct check_conn_news){.event = event, .why = LEG_CLOSE_LOCAL, .detail = ""};
	if (!conn->going)
		loop_defer(loop_of(conn), &conn->telling);
}

/* ---- events of the upstream and its leg ---- */

static void on_connecting(struct upstream *upstream)
{
}

static void on_opened(struct upstream *upstream, struct leg *leg)
{
	struct check_conn *conn = conn_of(upstream);

	conn->leg = leg;
	tell(conn, CHECK_CONN_OPENED);
}

static void on_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	expect_end(conn_of(upstream), CHECK_CONN_UNREACHED, why, detail);
}

static void leg_ends(struct check_conn *conn, enum check_conn_event event, enum leg_close why,
		     const char *detail)
{
	conn->leg = NULL;
	loop_timer_clear(loop_of(conn), conn->timer);
	expect_end(conn, event, why, detail);
}

static void on_closing(struct upstream *upstream, enum leg_close why, const char *detail)
{
	leg_ends(conn_of(upstream), CHECK_CONN_LOST, why, detail);
}

static void drop_call(struct check_conn *conn)
{
	exchange_put(conn->x);
	conn->x = NULL;
}

static void finish(struct check_conn *conn);

static void on_over(void *arg)
{
	struct check_conn *conn = arg;

	drop_call(conn);
	if (conn->going)
		finish(conn);
	else
		conn->config.told(conn->config.arg, &conn->end);
}

static void on_closed(struct upstream *upstream)
{
	struct check_conn *conn = conn_of(upstream);

	loop_defer(loop_of(conn), &conn->over);
}

/* A server can send Calls to its client; this connection serves none. */
static void on_call(void *arg, struct exchange *x)
{
	struct check_conn *conn = conn_of(arg);

	x->fault = EXCHANGE_FAULT_CANT_SEND;
	if (conn->leg)
		leg_reply(conn->leg, x);
	else
		exchange_put(x);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct check_conn *conn = conn_of(arg);

	(void)upstream_heard(arg, x);
	exchange_put(x);
	if (x != conn->x || !conn->leg)
		return;
	loop_timer_clear(loop_of(conn), conn->timer);
	tell(conn, CHECK_CONN_ANSWERED);
}

static void ignore_exchange(void *arg, struct exchange *x)
{
}

static void ignore(void *arg)
{
}

/* The last note can explain why there is no Reply. */
static void on_note(void *arg, const char *text)
{
	struct check_conn *conn = conn_of(arg);

	if (conn->leg)
		snprintf(conn->noted, sizeof(conn->noted), "%s", text);
}

static const struct leg_events leg_events = {
	UPSTREAM_LEG_EVENTS,     .call = on_call,      .reply = on_reply,
	.more = ignore_exchange, .call_ready = ignore, .note = on_note,
};

static const struct upstream_events upstream_events = {
	.connecting = on_connecting,
	.opened = on_opened,
	.failed = on_failed,
	.closing = on_closing,
	.closed = on_closed,
	.leg = &leg_events,
};

/* ---- Calls ---- */

void check_conn_open(struct check_conn *conn, uint64_t timeout_us)
{
	if (upstream_is_closed(&conn->upstream))
		upstream_renew(&conn->upstream);
	upstream_start(&conn->upstream, timeout_us);
}

void check_conn_info(const struct check_conn *conn, struct leg_info *info)
{
	leg_info(conn->upstream.leg, info);
}

/* Returns the exchange of a Call, owned by the caller; or NULL without memory, or if @call is not a Call. */
static struct exchange *make_call(struct check_conn *conn, const uint8_t *call, uint32_t len_bytes)
{
	const struct service_config *keys = conn->config.net->config;
	const struct reply_room room = config_memory_reply_room(keys);
	struct exchange *x = exchange_new(NULL);

	if (!x || rpc_msg_get(conn->config.ground->ground.pool, len_bytes, &x->call))
		goto out_put;
	memcpy(x->call.data, call, len_bytes);
	if (call_judge(call, len_bytes, len_bytes, NULL, 0, &x->facts.hdr) != CALL_PASSES)
		goto out_put;
	nfs_facts_whole(&x->facts, keys->message_bytes, NULL, x->call.data, len_bytes);
	x->reply_max_bytes = x->facts.ceiling_bytes;
	x->start_us = loop_now_us(loop_of(conn));
	if (budget_claim(&conn->holder, &x->claim,
			 exchange_cost_bytes(rpc_msg_cost_bytes(len_bytes), x->reply_max_bytes,
					     &x->facts, &room)))
		return x;
out_put:
	exchange_put(x);
	return NULL;
}

int check_conn_call(struct check_conn *conn, const uint8_t *call, uint32_t len_bytes,
		    uint64_t timeout_us)
{
	drop_call(conn);
	/* The connection is closing, which will be reported. */
	if (!conn->leg)
		return 0;
	conn->x = make_call(conn, call, len_bytes);
	if (!conn->x)
		return -ENOMEM;
	conn->noted[0] = '\0';
	loop_timer_set(loop_of(conn), conn->timer, timeout_us);
	leg_call(conn->leg, exchange_ref(conn->x));
	return 0;
}

static void on_timer(void *arg)
{
	struct check_conn *conn = arg;

	if (conn->going) {
		finish(conn);
	} else if (conn->leg) {
		leg_ends(conn, CHECK_CONN_LATE, LEG_CLOSE_LOCAL, conn->noted);
		upstream_close(&conn->upstream, LEG_CLOSE_LOCAL);
	}
}

/* ---- creation and end ---- */

static void take_apart(struct check_conn *conn)
{
	upstream_fini(&conn->upstream);
	backend_fini(&conn->waiter.backend);
	targets_fini(&conn->targets);
	budget_holder_fini(&conn->holder);
	loop_timer_free(loop_of(conn), conn->timer);
	free(conn);
}

/* A running lookup still accesses the server's name, so wait for it. */
static void finish(struct check_conn *conn)
{
	void (*gone)(void *arg) = conn->gone;
	void *arg = conn->gone_arg;

	if (targets_are_sought(&conn->targets)) {
		loop_timer_set(loop_of(conn), conn->timer, SOUGHT_US);
		return;
	}
	LIST_REMOVE(&conn->waiter, entry);
	take_apart(conn);
	if (gone)
		gone(arg);
}

void check_conn_free(struct check_conn *conn, void (*gone)(void *arg), void *arg)
{
	if (!conn) {
		if (gone)
			gone(arg);
		return;
	}
	conn->going = true;
	conn->gone = gone;
	conn->gone_arg = arg;
	conn->leg = NULL;
	loop_task_cancel(loop_of(conn), &conn->telling);
	loop_timer_clear(loop_of(conn), conn->timer);
	upstream_close(&conn->upstream, LEG_CLOSE_LOCAL);
	if (upstream_is_closed(&conn->upstream))
		loop_defer(loop_of(conn), &conn->over);
}

static int begin_upstream(struct check_conn *conn)
{
	static const struct proxy_header nobody;
	struct service_net *net = conn->config.net;
	const struct service_config *keys = net->config;
	struct leg_config config = {
		.loop = loop_of(conn),
		.pool = net->ground->pool,
		.holder = &conn->holder,
		.max_message_bytes = keys->message_bytes,
		.reply_room = config_memory_reverse_room(keys, false),
		.reverse_max_bytes = config_memory_reverse_max_bytes(keys, false),
		.stall_timeout_us = (uint64_t)keys->stall_timeout_s * 1000000,
	};

	if (!conn->config.is_other)
		legs_introduce(&config, keys, &nobody);
	if (upstream_init(&conn->upstream, net, &conn->waiter.backend, &config, &conn->log,
			  &upstream_events))
		return -ENOMEM;
	upstream_privilege(&conn->upstream);
	return 0;
}

int check_conn_new(const struct check_conn_config *config, struct check_conn **out)
{
	struct check_conn *conn = calloc(1, sizeof(*conn));
	struct check_ground *ground = config->ground;
	const struct server_uris uris = {.list = {*config->server}, .count = 1};

	if (!conn)
		return -ENOMEM;
	conn->config = *config;
	loop_task_init(&conn->telling, tell_due, conn);
	loop_task_init(&conn->over, on_over, conn);
	budget_holder_init(&conn->holder, &ground->account, NULL);
	if (targets_init(&conn->targets, &uris, config->net->config, NULL))
		goto out_free;
	targets_avoid(&conn->targets, config->doors);
	if (backend_init(&conn->waiter.backend, &conn->targets, config->asks_rpcbind,
			 &ground->ground))
		goto out_backend;
	if (begin_upstream(conn))
		goto out_backend;
	conn->timer = loop_timer_new(loop_of(conn), on_timer, conn);
	if (!conn->timer)
		goto out_upstream;
	LIST_INSERT_HEAD(&ground->backends, &conn->waiter, entry);
	*out = conn;
	return 0;

out_upstream:
	upstream_fini(&conn->upstream);
out_backend:
	backend_fini(&conn->waiter.backend);
	targets_fini(&conn->targets);
out_free:
	budget_holder_fini(&conn->holder);
	free(conn);
	return -ENOMEM;
}
