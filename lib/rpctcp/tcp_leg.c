// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's life: states, timers, closing, the operations of leg.h. */
#include "rpctcp/tcp_leg.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpctcp/tcp_leg_impl.h"

COUNTER_TABLE(tcp_leg_counters, TCP_LEG_COUNTERS);

static const char *const state_names[] = {
	[TCP_CONNECTING] = "connecting", [TCP_QUIET] = "quiet",
	[TCP_REQUESTED] = "requested",   [TCP_OPEN] = "open",
	[TCP_FLUSHING] = "flushing",     [TCP_LINGERING] = "lingering",
	[TCP_CLOSED] = "closed",
};
_Static_assert(ARRAY_SIZE(state_names) == TCP_STATE_COUNT, "a name for each state");

int tcp_worker_init(struct tcp_worker *worker)
{
	*worker = (struct tcp_worker){.next_reserved_port = TCP_RESERVED_PORT_FIRST};
	worker->staging = malloc(TCP_STAGING_BYTES);
	return worker->staging ? 0 : -ENOMEM;
}

void tcp_worker_fini(struct tcp_worker *worker)
{
	free(worker->staging);
	worker->staging = NULL;
}

static struct tcp_leg *tcp_leg_of(struct leg *leg)
{
	return container_of(leg, struct tcp_leg, leg);
}

static struct loop *loop_of(const struct tcp_leg *leg)
{
	return leg->config.leg.loop;
}

void tcp_leg_note(struct tcp_leg *leg, unsigned which, const char *text)
{
	if (leg->noted & which)
		return;
	leg->noted |= which;
	if (leg->config.leg.events->note)
		leg->config.leg.events->note(leg->config.leg.arg, text);
}

void tcp_leg_socket_setup(const struct tcp_leg *leg, int fd)
{
	uint64_t user_timeout_ms =
		leg->config.leg.stall_timeout_us / 1000 + TCP_USER_TIMEOUT_MARGIN_MS;
	const struct {
		int level, name, value;
	} options[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, TCP_KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, TCP_KEEPALIVE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, TCP_KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT,
		 user_timeout_ms < INT_MAX ? (int)user_timeout_ms : INT_MAX},
	};

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
}

void tcp_leg_watch(struct tcp_leg *leg)
{
	unsigned events = 0;

	if (!leg->io)
		return;
	switch (leg->state) {
	case TCP_CONNECTING:
		events = LOOP_WRITE;
		break;
	case TCP_QUIET:
		events = LOOP_READ;
		break;
	case TCP_OPEN:
		if (!leg->blocks && !leg->in.stash && !leg->opened_due)
			events |= LOOP_READ;
		/* fallthrough */
	case TCP_FLUSHING:
		if (leg->out.waiting)
			events |= LOOP_WRITE;
		break;
	case TCP_LINGERING:
		events = LOOP_READ;
		break;
	default:
		break;
	}
	loop_io_set(loop_of(leg), leg->io, events);
}

/* Who is not read is not heard to die: while that lasts the socket is asked now and then. */
static void watch_health(struct tcp_leg *leg)
{
	uint64_t interval_us = leg->config.leg.stall_timeout_us;

	leg->health_due_us = 0;
	if (!leg->blocks || leg->state != TCP_OPEN)
		return;
	if (interval_us > TCP_HEALTH_INTERVAL_US)
		interval_us = TCP_HEALTH_INTERVAL_US;
	leg->health_due_us = loop_now_us(loop_of(leg)) + interval_us;
	tcp_leg_arm(leg);
}

static void check_health(struct tcp_leg *leg)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	if (leg->state == TCP_OPEN && leg->blocks &&
	    getsockopt(leg->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	    info.tcpi_state == TCP_CLOSE)
		tcp_leg_fail(leg, LEG_CLOSE_LOST, "while it was not read");
	else
		watch_health(leg);
}

void tcp_leg_block(struct tcp_leg *leg, unsigned block, bool blocked)
{
	unsigned before = leg->blocks;

	leg->blocks = blocked ? before | block : before & ~block;
	if (leg->blocks == before)
		return;
	if (leg->blocks)
		leg->in.deadline_us = 0;
	watch_health(leg);
	if (before && !leg->blocks)
		loop_defer(loop_of(leg), &leg->task);
	if (!before || !leg->blocks)
		tcp_leg_watch(leg);
}

/* Timers: one for all deadlines of a leg. It is never moved back, only found to be early. */

static void sooner(uint64_t *due_us, uint64_t deadline_us)
{
	if (deadline_us && (!*due_us || deadline_us < *due_us))
		*due_us = deadline_us;
}

void tcp_leg_arm(struct tcp_leg *leg)
{
	uint64_t due_us = leg->state_deadline_us, now_us;

	if (leg->state == TCP_CLOSED)
		return;
	sooner(&due_us, leg->in.deadline_us);
	sooner(&due_us, leg->out.deadline_us);
	sooner(&due_us, leg->health_due_us);
	if (!due_us || (leg->timer_due_us && leg->timer_due_us <= due_us))
		return;
	now_us = loop_now_us(loop_of(leg));
	leg->timer_due_us = due_us;
	loop_timer_set(loop_of(leg), leg->timer, due_us > now_us ? due_us - now_us : 0);
}

static void on_timer(void *arg)
{
	struct tcp_leg *leg = arg;
	uint64_t now_us = loop_now_us(loop_of(leg));

	leg->timer_due_us = 0;
	if (leg->state_deadline_us && now_us >= leg->state_deadline_us) {
		leg->state_deadline_us = 0;
		if (leg->state == TCP_CONNECTING)
			tcp_connect_expired(leg);
		else
			tcp_leg_fail(leg, leg->close_why, "%s", leg->close_detail);
	} else if (leg->in.deadline_us && now_us >= leg->in.deadline_us) {
		tcp_counters(leg)->stalls++;
		tcp_leg_fail(leg, LEG_CLOSE_RECORD_STALLED, "%u bytes of a record had come",
			     leg->in.parser.record_bytes - leg->in.parser.fragment_left_bytes);
	} else if (leg->out.deadline_us && now_us >= leg->out.deadline_us) {
		tcp_counters(leg)->stalls++;
		tcp_leg_fail(leg, LEG_CLOSE_REPLY_STALLED, "%zu bytes could not be sent",
			     leg->out.unsent_bytes);
	} else if (leg->health_due_us && now_us >= leg->health_due_us) {
		check_health(leg);
	}
	tcp_leg_arm(leg);
}

/* Closing */

/* Lets go of every exchange; the legs on the other side hold references of their own. */
static void release_exchanges(struct tcp_leg *leg)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&leg->calls_in_list)))
		tcp_output_origin_done(leg, x);
	while ((x = TAILQ_FIRST(&leg->calls_out_list))) {
		TAILQ_REMOVE(&leg->calls_out_list, x, target_entry);
		xid_table_remove(&leg->calls_out, x);
		x->target = NULL;
		exchange_put(x);
	}
	while ((x = TAILQ_FIRST(&leg->faulted))) {
		TAILQ_REMOVE(&leg->faulted, x, target_entry);
		x->target = NULL;
		exchange_put(x);
	}
}

static void close_socket(struct tcp_leg *leg)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (leg->fd < 0)
		return;
	if (leg->reset)
		setsockopt(leg->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(leg->fd);
	leg->fd = -1;
}

/* The reasons for which a server, too, is taken leave of with a FIN. */
static bool ends_in_order(enum leg_close why)
{
	return why == LEG_CLOSE_LOCAL || why == LEG_CLOSE_SHUTDOWN;
}

void tcp_leg_fail(struct tcp_leg *leg, enum leg_close why, const char *fmt, ...)
{
	char detail[TCP_DETAIL_BYTES];
	va_list args;

	if (leg->state == TCP_CLOSED)
		return;
	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	memcpy(leg->close_detail, detail, sizeof(detail));
	leg->close_why = why;
	/* A server's port is to be free at once, whoever ends it; see op_close(). */
	if (leg->connecting && why != LEG_CLOSE_PEER && !ends_in_order(why))
		leg->reset = true;
	leg->state = TCP_CLOSED;
	tcp_leg_socket_drop(leg);
	loop_timer_free(loop_of(leg), leg->timer);
	leg->timer = NULL;
	tcp_output_fini(leg);
	tcp_input_fini(leg);
	tcp_connect_fini(leg);
	release_exchanges(leg);
	loop_defer(loop_of(leg), &leg->task);
}

void tcp_leg_check_done(struct tcp_leg *leg)
{
	if (leg->state == TCP_OPEN && leg->blocks & TCP_BLOCK_EOF &&
	    TAILQ_EMPTY(&leg->calls_in_list) && STAILQ_EMPTY(&leg->out.queue))
		tcp_leg_fail(leg, LEG_CLOSE_PEER, "%s", "");
}

/* FLUSHING: the queue is empty, so our FIN goes out; a client may still be sending, and a reset
 * would take Replies from it that it has not read. */
static void finish_flushing(struct tcp_leg *leg)
{
	if (leg->state != TCP_FLUSHING || !STAILQ_EMPTY(&leg->out.queue))
		return;
	if (leg->connecting || leg->blocks & TCP_BLOCK_EOF || shutdown(leg->fd, SHUT_WR) < 0) {
		tcp_leg_fail(leg, leg->close_why, "%s", leg->close_detail);
		return;
	}
	leg->state = TCP_LINGERING;
	tcp_leg_watch(leg);
}

/*
 * A client is sent what is queued for it and reads to the end, whatever ended its upstream. A connection to a
 * server that ends with its client is reset: nothing that the server still says is wanted, and the source
 * port is free at once for the client's next connection.
 */
static void op_close(struct leg *base, enum leg_close why)
{
	struct tcp_leg *leg = tcp_leg_of(base);
	bool in_order = !leg->connecting || ends_in_order(why);
	uint64_t limit_us = leg->config.leg.stall_timeout_us;

	if (leg->state > TCP_OPEN)
		return;
	if (!in_order || leg->state != TCP_OPEN) {
		leg->reset = !in_order;
		tcp_leg_fail(leg, why, "%s", "");
		return;
	}
	leg->close_why = why;
	leg->state = TCP_FLUSHING;
	if (limit_us > TCP_CLOSE_LIMIT_US)
		limit_us = TCP_CLOSE_LIMIT_US;
	leg->state_deadline_us = loop_now_us(loop_of(leg)) + limit_us;
	tcp_input_fini(leg);
	release_exchanges(leg);
	tcp_leg_watch(leg);
	tcp_leg_arm(leg);
	loop_defer(loop_of(leg), &leg->task);
}

/* The task: everything that must not happen inside a call into the leg. Each step may close the
 * leg. */

static void say_faults(struct tcp_leg *leg)
{
	struct exchange *x;

	while (leg->state <= TCP_OPEN && (x = TAILQ_FIRST(&leg->faulted))) {
		TAILQ_REMOVE(&leg->faulted, x, target_entry);
		x->target = NULL;
		leg->config.leg.events->reply(leg->config.leg.arg, x);
	}
}

static void tcp_leg_work(void *arg)
{
	struct tcp_leg *leg = arg;

	if (leg->state == TCP_OPEN && leg->opened_due) {
		leg->opened_due = false;
		tcp_leg_watch(leg);
		leg->config.leg.events->opened(leg->config.leg.arg);
	}
	if (leg->state == TCP_OPEN && !leg->blocks)
		tcp_input_resume(leg);
	say_faults(leg);
	if (leg->state == TCP_OPEN || leg->state == TCP_FLUSHING)
		tcp_output_flush(leg);
	tcp_leg_check_done(leg);
	finish_flushing(leg);
	if (leg->state == TCP_CLOSED && !leg->closed_said) {
		leg->closed_said = true;
		/* The leg may be freed in there. */
		leg->config.leg.events->closing(leg->config.leg.arg, leg->close_why,
						leg->close_detail);
		leg->config.leg.events->closed(leg->config.leg.arg);
	}
}

/* QUIET: the byte stays in the socket; it only shows that this is no idle connection. */
static void first_byte(struct tcp_leg *leg)
{
	char byte;
	ssize_t n = recv(leg->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n == 0) {
		tcp_leg_fail(leg, LEG_CLOSE_PEER, "before the first byte");
	} else if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			tcp_leg_fail(leg, LEG_CLOSE_LOST, "%s", strerror(errno));
	} else {
		leg->state = TCP_REQUESTED;
		tcp_leg_watch(leg);
		leg->config.leg.events->requested(leg->config.leg.arg);
	}
}

static void on_io(void *arg, unsigned events)
{
	struct tcp_leg *leg = arg;

	switch (leg->state) {
	case TCP_CONNECTING:
		tcp_connect_ready(leg);
		break;
	case TCP_QUIET:
		first_byte(leg);
		break;
	case TCP_OPEN:
		if (events & LOOP_READ)
			tcp_input_readable(leg);
		/* fallthrough */
	case TCP_FLUSHING:
		if (events & LOOP_WRITE && (leg->state == TCP_OPEN || leg->state == TCP_FLUSHING)) {
			tcp_output_flush(leg);
			tcp_leg_check_done(leg);
			finish_flushing(leg);
		}
		break;
	case TCP_LINGERING:
		if (tcp_input_discard(leg))
			tcp_leg_fail(leg, leg->close_why, "%s", leg->close_detail);
		break;
	default:
		break;
	}
}

/* The operations */

static void op_accept(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (leg->state != TCP_REQUESTED)
		return;
	leg->state = TCP_OPEN;
	leg->opened_due = true;
	loop_defer(loop_of(leg), &leg->task);
}

static bool op_can_call(const struct leg *base)
{
	return !container_of(base, const struct tcp_leg, leg)->out.full;
}

static void op_call(struct leg *base, struct exchange *x)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (leg->state > TCP_OPEN) {
		exchange_put(x);
		return;
	}
	x->target = base;
	if (xid_table_add(&leg->calls_out, x)) {
		x->fault = EXCHANGE_FAULT_CANT_SEND;
		TAILQ_INSERT_TAIL(&leg->faulted, x, target_entry);
		loop_defer(loop_of(leg), &leg->task);
		return;
	}
	TAILQ_INSERT_TAIL(&leg->calls_out_list, x, target_entry);
	if (tcp_output_call(leg, x))
		tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory to send a Call");
}

/* Our own reference keeps @x until its Reply is sent. What the Reply turns out not to need goes
 * back now. */
static void op_reply(struct leg *base, struct exchange *x)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (x->origin == base) {
		budget_shrink(&x->claim, x->call.buf->size_bytes +
						 (x->reply.buf ? x->reply.buf->size_bytes : 0));
		if (tcp_output_reply(leg, x))
			tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory to send a Reply");
	}
	exchange_put(x);
}

static void op_pause(struct leg *base, bool paused)
{
	tcp_leg_block(tcp_leg_of(base), TCP_BLOCK_PAUSED, paused);
}

static void op_info(const struct leg *base, struct leg_info *info)
{
	const struct tcp_leg *leg = container_of(base, const struct tcp_leg, leg);

	*info = (struct leg_info){
		.kind = "tcp",
		.state = state_names[leg->state],
		.local = leg->local,
		.peer = leg->peer,
		.calls_in_flight_in = (unsigned)leg->calls_in.count,
		.calls_in_flight_out = (unsigned)leg->calls_out.count,
		.bytes_received = leg->bytes_received,
		.bytes_sent = leg->bytes_sent,
	};
}

static void op_free(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	assert(leg->closed_said);
	loop_task_cancel(loop_of(leg), &leg->task);
	xid_table_fini(&leg->calls_in);
	xid_table_fini(&leg->calls_out);
	free(leg);
}

static const struct leg_ops tcp_leg_ops = {
	.accept = op_accept,
	.can_call = op_can_call,
	.call = op_call,
	.reply = op_reply,
	.pause = op_pause,
	.close = op_close,
	.info = op_info,
	.free = op_free,
};

struct tcp_leg *tcp_leg_new(const struct tcp_leg_config *config)
{
	struct tcp_leg *leg = calloc(1, sizeof(*leg));

	if (!leg)
		return NULL;
	leg->config = *config;
	leg->leg.ops = &tcp_leg_ops;
	leg->leg.config = &leg->config.leg;
	leg->fd = -1;
	leg->timer = loop_timer_new(config->leg.loop, on_timer, leg);
	if (!leg->timer) {
		free(leg);
		return NULL;
	}
	loop_task_init(&leg->task, tcp_leg_work, leg);
	xid_table_init(&leg->calls_in, EXCHANGE_ORIGIN);
	TAILQ_INIT(&leg->calls_in_list);
	xid_table_init(&leg->calls_out, EXCHANGE_TARGET);
	TAILQ_INIT(&leg->calls_out_list);
	TAILQ_INIT(&leg->faulted);
	STAILQ_INIT(&leg->out.queue);
	tcp_input_init(leg);
	return leg;
}

void tcp_leg_discard(struct tcp_leg *leg)
{
	loop_timer_free(loop_of(leg), leg->timer);
	free(leg);
}

int tcp_leg_socket_take(struct tcp_leg *leg, int fd)
{
	socklen_t len = sizeof(leg->peer);

	leg->io = loop_io_new(loop_of(leg), fd, on_io, leg);
	if (!leg->io)
		return -ENOMEM;
	leg->fd = fd;
	getpeername(fd, (struct sockaddr *)&leg->peer, &len);
	len = sizeof(leg->local);
	getsockname(fd, (struct sockaddr *)&leg->local, &len);
	return 0;
}

void tcp_leg_socket_drop(struct tcp_leg *leg)
{
	loop_io_free(loop_of(leg), leg->io);
	leg->io = NULL;
	close_socket(leg);
}

int tcp_leg_accept(const struct tcp_leg_config *config, int fd, struct leg **out)
{
	struct tcp_leg *leg = tcp_leg_new(config);

	if (!leg)
		goto out_fd;
	leg->state = TCP_QUIET;
	if (tcp_leg_socket_take(leg, fd) < 0)
		goto out_leg;
	tcp_leg_socket_setup(leg, fd);
	tcp_counters(leg)->connections_accepted++;
	tcp_leg_watch(leg);
	*out = &leg->leg;
	return 0;
out_leg:
	tcp_leg_discard(leg);
out_fd:
	close(fd);
	return -ENOMEM;
}
