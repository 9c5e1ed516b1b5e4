// SPDX-License-Identifier: BSD-3-Clause
/*
 * One timer serves all deadlines. It is never set to a later time; it fires early instead, and is
 * set again.
 */
#include "rpctcp/tcp_conn.h"

#include <errno.h>

STATE_TABLE(tcp_leg_states, TCP_LEG_STATES);

void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_leg_state to)
{
	state_move(&conn->state, &tcp_leg_states, to, loop_now_us(tcp_loop(conn)));
}

void tcp_conn_half_closed(struct tcp_conn *conn)
{
	const struct leg_events *events = conn->config.leg.events;

	if (events->half_closed && tcp_conn_is_open(conn))
		events->half_closed(conn->config.leg.arg);
}

void tcp_conn_note(struct tcp_conn *conn, unsigned which, const char *text)
{
	if (conn->noted & which)
		return;
	conn->noted |= which;
	if (conn->config.leg.events->note)
		conn->config.leg.events->note(conn->config.leg.arg, text);
}

/* Events of the stream */

static unsigned wanted_input_events(const struct tcp_conn *conn)
{
	if (conn->blocks & TCP_BLOCK_EOF)
		return LOOP_LOST;
	if (conn->blocks)
		return LOOP_LOST | LOOP_END;
	/* Input that was read is consumed first, in the next iteration. */
	return conn->unread_pending ? 0 : LOOP_READ;
}

/* In clear: the answer to the probe, if this end has sent it. A TLS handshake watches itself. */
static unsigned wanted_securing_events(const struct tcp_conn *conn)
{
	if (conn->is_tls)
		return 0;
	return (conn->connector ? LOOP_READ : 0) | (conn->send_full ? LOOP_WRITE : 0);
}

static unsigned wanted_events(const struct tcp_conn *conn)
{
	if (tcp_conn_is_open(conn))
		return wanted_input_events(conn) | (conn->send_full ? LOOP_WRITE : 0);
	switch (conn->state.now) {
	case TCP_SECURING:
		return wanted_securing_events(conn);
	case TCP_QUIET:
	case TCP_LINGERING:
		return LOOP_READ;
	case TCP_REQUESTED:
		return LOOP_LOST;
	case TCP_FLUSHING:
		return conn->send_full ? LOOP_WRITE : 0;
	default:
		return 0;
	}
}

void tcp_conn_update_events(struct tcp_conn *conn)
{
	unsigned events = wanted_events(conn);

	if (events == conn->watched_events || conn->state.now >= TCP_CLOSING)
		return;
	conn->watched_events = events;
	stream_watch(conn->stream, events);
}

/* Deadlines */

void tcp_conn_arm(struct tcp_conn *conn)
{
	uint64_t due_us = 0, now_us;

	if (conn->state.now >= TCP_CLOSING)
		return;
	for (unsigned i = 0; i < TCP_DUE_COUNT; i++)
		if (conn->due_us[i] && (!due_us || conn->due_us[i] < due_us))
			due_us = conn->due_us[i];
	if (!due_us || (conn->timer_due_us && conn->timer_due_us <= due_us))
		return;
	now_us = loop_now_us(tcp_loop(conn));
	conn->timer_due_us = due_us;
	loop_timer_set(tcp_loop(conn), conn->timer, due_us > now_us ? due_us - now_us : 0);
}

void tcp_conn_set_due(struct tcp_conn *conn, enum tcp_due which, uint64_t delay_us)
{
	conn->due_us[which] = loop_now_us(tcp_loop(conn)) + delay_us;
	tcp_conn_arm(conn);
}

uint64_t tcp_conn_acked_bytes(const struct tcp_conn *conn)
{
	uint64_t unacked_bytes = stream_unacked_bytes(conn->stream);

	return conn->bytes_sent > unacked_bytes ? conn->bytes_sent - unacked_bytes : 0;
}

uint64_t tcp_conn_transmitted_bytes(const struct tcp_conn *conn)
{
	uint64_t unsent_bytes = stream_unsent_bytes(conn->stream);

	return conn->bytes_sent > unsent_bytes ? conn->bytes_sent - unsent_bytes : 0;
}

enum tcp_due tcp_conn_pop_due(struct tcp_conn *conn)
{
	uint64_t now_us = loop_now_us(tcp_loop(conn));
	enum tcp_due which = 0;

	conn->timer_due_us = 0;
	while (which < TCP_DUE_COUNT && (!conn->due_us[which] || now_us < conn->due_us[which]))
		which++;
	if (which < TCP_DUE_COUNT)
		conn->due_us[which] = 0;
	return which;
}

/* Reasons not to read */

static void blocks_changed(struct tcp_conn *conn, unsigned before)
{
	if (conn->blocks == before)
		return;
	if (conn->blocks)
		conn->due_us[TCP_DUE_INPUT] = 0;
	if (before && !conn->blocks) {
		conn->unread_pending = true;
		tcp_conn_defer(conn);
	}
	tcp_conn_update_events(conn);
}

void tcp_conn_block(struct tcp_conn *conn, unsigned block, bool blocked)
{
	unsigned before = conn->blocks;

	if (conn->state.now == TCP_DRAINING && block != TCP_BLOCK_EOF)
		return;
	conn->blocks = blocked ? before | block : before & ~block;
	blocks_changed(conn, before);
}

void tcp_conn_drain(struct tcp_conn *conn)
{
	unsigned before = conn->blocks;

	tcp_conn_set_state(conn, TCP_DRAINING);
	conn->blocks &= TCP_BLOCK_EOF;
	blocks_changed(conn, before);
}

/* Initialization */

int tcp_conn_init(struct tcp_conn *conn, const struct tcp_leg_config *config,
		  enum tcp_leg_state first, void (*work)(void *arg), void (*expired)(void *arg),
		  void *arg)
{
	*conn = (struct tcp_conn){
		.config = *config,
		.connector = first == TCP_CONNECTING,
		.state = {first, loop_now_us(config->leg.loop)},
	};
	if (!conn->config.counters)
		conn->config.counters = &config->worker->counters;
	loop_task_init(&conn->task, work, arg);
	conn->timer = loop_timer_new(config->leg.loop, expired, arg);
	return conn->timer ? 0 : -ENOMEM;
}

void tcp_conn_fini(struct tcp_conn *conn)
{
	loop_task_cancel(tcp_loop(conn), &conn->task);
	loop_timer_free(tcp_loop(conn), conn->timer);
	conn->timer = NULL;
}
