// SPDX-License-Identifier: BSD-3-Clause
/* How a TCP leg ends: in good order, when its time is up, and when all has been answered. */
#include "rpctcp/tcp_close.h"

#include <errno.h>
#include <string.h>

#include "rpctcp/late.h"
#include "rpctcp/tcp_rx.h"

#define CLOSE_LIMIT_US 2000000u /* to take a little of what is queued, and then to end the stream */

static void set_close_due(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	uint64_t limit_us = conn->config.leg.stall_timeout_us, now_us = loop_now_us(tcp_loop(conn));

	if (limit_us > CLOSE_LIMIT_US)
		limit_us = CLOSE_LIMIT_US;
	if (leg->close_end_us && limit_us > leg->close_end_us - now_us)
		limit_us = leg->close_end_us - now_us;
	tcp_conn_set_due(conn, TCP_DUE_STATE, limit_us);
}

/* A daemon that stops waits for its connections. */
static void set_close_end(struct tcp_leg *leg, enum leg_close why)
{
	if (why == LEG_CLOSE_SHUTDOWN && !leg->close_end_us)
		leg->close_end_us = loop_now_us(tcp_loop(&leg->conn)) + LEG_STOP_US;
}

/* FLUSHING, LINGERING: whether the peer has taken enough since to be given as much time again. */
static bool goes_on_taking(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	uint64_t was_bytes = leg->close_taken_bytes, taken_bytes = tcp_conn_taken_bytes(conn);

	leg->close_taken_bytes = taken_bytes;
	if (taken_bytes <= was_bytes ||
	    (leg->close_end_us && loop_now_us(tcp_loop(conn)) >= leg->close_end_us))
		return false;
	return taken_bytes - was_bytes >= TCP_STALL_PROGRESS_BYTES ||
	       (taken_bytes == conn->bytes_sent && record_tx_is_empty(&leg->out));
}

/*
 * A client is sent what is queued for it and reads to the end, whatever ended its upstream. A connection to a
 * server that ends with its client is reset: nothing that the server still says is wanted, and the source
 * port is free at once for the client's next connection. A record that has left in part and will never be
 * complete makes it a reset in any case.
 */
void tcp_close_for(struct tcp_leg *leg, enum leg_close why)
{
	struct tcp_conn *conn = &leg->conn;
	bool in_order = !conn->connector || tcp_conn_ends_in_order(why);

	set_close_end(leg, why);
	if (conn->state.now >= TCP_FLUSHING)
		return;
	tcp_conn_decide(conn, why, "");
	if (!in_order || !tcp_conn_is_open(conn) || record_tx_is_torn(&leg->out)) {
		tcp_conn_end(conn, !in_order);
		return;
	}
	tcp_conn_set_state(conn, TCP_FLUSHING);
	/* No record is read to its end now. */
	conn->due_us[TCP_DUE_INPUT] = 0;
	leg->close_taken_bytes = tcp_conn_taken_bytes(conn);
	set_close_due(leg);
	record_tx_cut(&leg->out);
	tcp_conn_watch(conn);
}

/* OPEN and DRAINING: whether it is over, now that all has been answered. */
void tcp_close_check_done(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	bool drains = conn->state.now == TCP_DRAINING;

	if (!drains && !(conn->blocks & TCP_BLOCK_EOF))
		return;
	if (!tcp_conn_is_open(conn) || leg->opened_due || !TAILQ_EMPTY(&leg->flight.in_list) ||
	    !record_tx_is_empty(&leg->out))
		return;
	if (drains && inflight_is_idle(&leg->flight))
		tcp_close_for(leg, LEG_CLOSE_SHUTDOWN);
	else if (conn->blocks & TCP_BLOCK_EOF)
		tcp_conn_fail(conn, LEG_CLOSE_PEER, "%s", tcp_rx_end_detail(&leg->in));
}

/*
 * FLUSHING: when all is sent our end of the stream follows. A client may still be sending, and a reset
 * would take Replies from it that it has not read, so the leg waits for its end too.
 */
void tcp_close_check_flushed(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;

	if (conn->state.now != TCP_FLUSHING || !record_tx_is_empty(&leg->out))
		return;
	if (conn->connector || conn->blocks & TCP_BLOCK_EOF || stream_shutdown(conn->stream) < 0) {
		tcp_conn_end(conn, false);
		return;
	}
	tcp_conn_set_state(conn, TCP_LINGERING);
	tcp_conn_watch(conn);
}

/* Says closing() and closed() as they are due, each after what must be let go of by then. */
void tcp_close_say(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	const struct leg_config *config = &conn->config.leg;

	if (conn->state.now < TCP_FLUSHING)
		return;
	leg->leg.close_errno = conn->close_errno;
	tcp_conn_say_closing(conn);
	record_rx_fini(&leg->in);
	tcp_messages_fini(&leg->msgs);
	inflight_release(&leg->flight);
	if (conn->state.now != TCP_CLOSING)
		return;
	record_tx_fini(&leg->out);
	stream_free(conn->stream);
	conn->stream = NULL;
	tcp_conn_set_state(conn, TCP_CLOSED);
	/* The leg may be freed in there. */
	config->events->closed(config->arg);
}

void tcp_close_expired(void *arg, enum tcp_due which)
{
	struct tcp_leg *leg = arg;
	struct tcp_conn *conn = &leg->conn;

	if (which == TCP_DUE_REVERSE) {
		tcp_late_expired(&leg->msgs);
	} else if (which == TCP_DUE_INPUT) {
		tcp_counters(conn)->stalls++;
		tcp_conn_fail(conn, LEG_CLOSE_RECORD_STALLED, "%u bytes of a record had come",
			      leg->in.parser.record_bytes - leg->in.parser.fragment_left_bytes);
	} else if (which == TCP_DUE_OUTPUT) {
		if (!record_tx_has_stalled(&leg->out))
			return;
		tcp_counters(conn)->stalls++;
		tcp_conn_fail(conn,
			      conn->connector ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED,
			      "%zu bytes could not be sent", leg->out.unsent_bytes);
	} else if (conn->state.now == TCP_CONNECTING) {
		tcp_counters(conn)->connect_failures++;
		conn->close_errno = ETIMEDOUT;
		tcp_conn_fail(conn, LEG_CLOSE_TIMEOUT, "%s", strerror(ETIMEDOUT));
	} else if (goes_on_taking(leg)) {
		set_close_due(leg);
	} else {
		tcp_conn_end(conn, false);
	}
}
