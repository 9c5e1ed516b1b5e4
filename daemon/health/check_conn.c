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
#include "rpc/call_check.h"
#include "stream/proxy_protocol.h"

#define SOUGHT_US 100000u /* interval of checking whether a lookup still runs */

struct check_conn {
	struct check_conn_config config;
	struct servers targets; /* the server */
	struct check_backend waiter;
	struct budget_holder holder;
	struct upstream upstream;
	struct log_ctx log; /* not used: nothing is logged */
	struct leg *leg;    /* the open leg */
	struct exchange *x; /* the unanswered Call */
	struct loop_timer *timer;
	struct check_conn_result due;  /* reported by `telling` … */
	struct check_conn_result end;  /* … and this after it, once the upstream is closed */
	char detail[LEG_DETAIL_BYTES]; /* of the end */
	char noted[LEG_DETAIL_BYTES];  /* notes about the server since the Call */
	struct loop_task telling;      /* reports `due` */
	struct loop_task over;         /* frees or reports, once the upstream is closed */
	bool going;
	void (*on_freed)(void *arg);
	void *freed_arg;
};

static struct check_conn *conn_of(struct upstream *upstream)
{
	return container_of(upstream, struct check_conn, upstream);
}

static struct loop *loop_of(const struct check_conn *conn)
{
	return conn->config.env->env.loop;
}

/* ---- results: reported from a task, since on_event() can call, connect and free ---- */

static void report_result(void *arg)
{
	struct check_conn *conn = arg;

	conn->due.x = conn->x;
	conn->config.on_event(conn->config.arg, &conn->due);
}

/* Sets the result to report once the upstream is closed. */
static void set_end_result(struct check_conn *conn, enum check_conn_event event, enum leg_close why,
			   const char *detail)
{
	snprintf(conn->detail, sizeof(conn->detail), "%s", detail);
	conn->end = (struct check_conn_result){.event = event, .why = why, .detail = conn->detail};
}

/* Even if the leg ends in the same iteration: that end is reported after this. */
static void report(struct check_conn *conn, enum check_conn_event event)
{
	conn->due =
		(struct check_conn_result){.event = event, .why = LEG_CLOSE_LOCAL, .detail = ""};
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
	report(conn, CHECK_CONN_OPENED);
}

static void on_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	set_end_result(conn_of(upstream), CHECK_CONN_UNREACHED, why, detail);
}

static void leg_ends(struct check_conn *conn, enum check_conn_event event, enum leg_close why,
		     const char *detail)
{
	conn->leg = NULL;
	loop_timer_clear(loop_of(conn), conn->timer);
	set_end_result(conn, event, why, detail);
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

static void conn_finish(struct check_conn *conn);

static void on_over(void *arg)
{
	struct check_conn *conn = arg;

	drop_call(conn);
	if (conn->going)
		conn_finish(conn);
	else
		conn->config.on_event(conn->config.arg, &conn->end);
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

	(void)upstream_reply_received(arg, x);
	exchange_put(x);
	if (x != conn->x || !conn->leg)
		return;
	loop_timer_clear(loop_of(conn), conn->timer);
	report(conn, CHECK_CONN_REPLIED);
}

static void ignore_exchange(void *arg, struct exchange *x)
{
}

static void ignore_event(void *arg)
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
	UPSTREAM_LEG_EVENTS,        .call = on_call, .reply = on_reply, .more = ignore_exchange,
	.call_ready = ignore_event, .note = on_note,
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
		upstream_reset(&conn->upstream);
	upstream_start(&conn->upstream, timeout_us);
}

void check_conn_info(const struct check_conn *conn, struct leg_info *info)
{
	leg_info(conn->upstream.leg, info);
}

/*
 * Returns the exchange of a Call, owned by the caller; or NULL without memory, or if @call is not a
 * Call.
 */
static struct exchange *make_call(struct check_conn *conn, const uint8_t *call, uint32_t len_bytes)
{
	const struct service_config *keys = conn->config.net->config;
	const struct reply_memory reply_memory = config_memory_reply_space(keys);
	struct exchange *x = exchange_new(NULL);

	if (!x || rpc_msg_get(conn->config.env->env.pool, len_bytes, &x->call))
		goto out_put;
	memcpy(x->call.data, call, len_bytes);
	if (call_check(call, len_bytes, len_bytes, NULL, 0, &x->call_info.hdr) != CALL_OK)
		goto out_put;
	nfs_call_walk_whole(&x->call_info, keys->message_bytes, NULL, x->call.data, len_bytes);
	x->reply_max_bytes = x->call_info.reply_bound_bytes;
	x->start_us = loop_now_us(loop_of(conn));
	if (budget_claim(&conn->holder, &x->claim,
			 exchange_cost_bytes(rpc_msg_cost_bytes(len_bytes), x->reply_max_bytes,
					     &x->call_info, &reply_memory)))
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
		conn_finish(conn);
	} else if (conn->leg) {
		leg_ends(conn, CHECK_CONN_LATE, LEG_CLOSE_LOCAL, conn->noted);
		upstream_close(&conn->upstream, LEG_CLOSE_LOCAL);
	}
}

/* ---- creation and end ---- */

static void conn_release(struct check_conn *conn)
{
	upstream_fini(&conn->upstream);
	backend_fini(&conn->waiter.backend);
	servers_fini(&conn->targets);
	budget_holder_fini(&conn->holder);
	loop_timer_free(loop_of(conn), conn->timer);
	free(conn);
}

/* A running lookup still accesses the server's name, so wait for it. */
static void conn_finish(struct check_conn *conn)
{
	void (*on_freed)(void *arg) = conn->on_freed;
	void *arg = conn->freed_arg;

	if (servers_are_resolving(&conn->targets)) {
		loop_timer_set(loop_of(conn), conn->timer, SOUGHT_US);
		return;
	}
	LIST_REMOVE(&conn->waiter, entry);
	conn_release(conn);
	if (on_freed)
		on_freed(arg);
}

void check_conn_free(struct check_conn *conn, void (*on_freed)(void *arg), void *arg)
{
	if (!conn) {
		if (on_freed)
			on_freed(arg);
		return;
	}
	conn->going = true;
	conn->on_freed = on_freed;
	conn->freed_arg = arg;
	conn->leg = NULL;
	loop_task_cancel(loop_of(conn), &conn->telling);
	loop_timer_clear(loop_of(conn), conn->timer);
	upstream_close(&conn->upstream, LEG_CLOSE_LOCAL);
	if (upstream_is_closed(&conn->upstream))
		loop_defer(loop_of(conn), &conn->over);
}

static int start_upstream(struct check_conn *conn)
{
	static const struct proxy_header no_client;
	struct service_net *net = conn->config.net;
	const struct service_config *keys = net->config;
	struct leg_config config = {
		.loop = loop_of(conn),
		.pool = net->env->pool,
		.holder = &conn->holder,
		.max_message_bytes = keys->message_bytes,
		.reply_memory = config_memory_reverse_space(keys, false),
		.reverse_max_bytes = config_memory_reverse_max_bytes(keys, false),
		.stall_timeout_us = (uint64_t)keys->stall_timeout_s * 1000000,
	};

	if (!conn->config.is_other)
		leg_factory_set_proxy_header(&config, keys, &no_client);
	if (upstream_init(&conn->upstream, net, &conn->waiter.backend, &config, &conn->log,
			  &upstream_events))
		return -ENOMEM;
	upstream_set_privileged(&conn->upstream);
	upstream_set_program(&conn->upstream, conn->config.program);
	return 0;
}

int check_conn_new(const struct check_conn_config *config, struct check_conn **out)
{
	struct check_conn *conn = calloc(1, sizeof(*conn));
	struct check_env *env = config->env;
	const struct server_uris uris = {.list = {*config->server}, .count = 1};

	if (!conn)
		return -ENOMEM;
	conn->config = *config;
	loop_task_init(&conn->telling, report_result, conn);
	loop_task_init(&conn->over, on_over, conn);
	budget_holder_init(&conn->holder, &env->account, NULL);
	if (servers_init(&conn->targets, &uris, config->net->config, NULL))
		goto out_free;
	servers_exclude(&conn->targets, config->listen_addrs);
	if (backend_init(&conn->waiter.backend, &conn->targets, config->asks_rpcbind, &env->env))
		goto out_backend;
	if (start_upstream(conn))
		goto out_backend;
	conn->timer = loop_timer_new(loop_of(conn), on_timer, conn);
	if (!conn->timer)
		goto out_upstream;
	LIST_INSERT_HEAD(&env->backends, &conn->waiter, entry);
	*out = conn;
	return 0;

out_upstream:
	upstream_fini(&conn->upstream);
out_backend:
	backend_fini(&conn->waiter.backend);
	servers_fini(&conn->targets);
out_free:
	budget_holder_fini(&conn->holder);
	free(conn);
	return -ENOMEM;
}
