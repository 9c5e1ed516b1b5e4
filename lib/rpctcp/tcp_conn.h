/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of a TCP leg: its stream, its state, its deadlines, and why it is not read.
 *
 * The lowest module of the leg (doc/internals.md lists them). It calls the leg only from its task
 * and its timer. Events, output and further input wait for the task, because they must not happen
 * inside a call into the leg.
 */
#ifndef RPCTCP_TCP_CONN_H
#define RPCTCP_TCP_CONN_H

#include <stdbool.h>

#include "base/state_machine.h"
#include "rpctcp/tcp_config.h"

#define TCP_LEG_STATES(X)                                                                          \
	X(TCP_CONNECTING, "connecting", "the server's answer",                                     \
	  TO(TCP_SECURING) | TO(TCP_OPEN) | TO(TCP_CLOSING))                                       \
	X(TCP_QUIET, "quiet", "the first byte, which stays unread",                                \
	  TO(TCP_REQUESTED) | TO(TCP_CLOSING))                                                     \
	X(TCP_REQUESTED, "requested", "leg_accept()", TO(TCP_OPEN) | TO(TCP_CLOSING))              \
	X(TCP_SECURING, "securing", "the TLS handshake", TO(TCP_OPEN) | TO(TCP_CLOSING))           \
	X(TCP_OPEN, "open", "a close by either end",                                               \
	  TO(TCP_SECURING) | TO(TCP_DRAINING) | TO(TCP_FLUSHING) | TO(TCP_CLOSING))                \
	X(TCP_DRAINING, "draining", "the end of the last RPC in flight",                           \
	  TO(TCP_FLUSHING) | TO(TCP_CLOSING))                                                      \
	X(TCP_FLUSHING, "flushing", "the peer to read the queued output",                          \
	  TO(TCP_LINGERING) | TO(TCP_CLOSING))                                                     \
	X(TCP_LINGERING, "lingering", "the peer's end of stream", TO(TCP_CLOSING))                 \
	X(TCP_CLOSING, "closing", "the task, which frees everything", TO(TCP_CLOSED))              \
	X(TCP_CLOSED, "closed", "leg_free()", 0)
STATE_ENUM(tcp_leg_state, TCP_LEG_STATES);
extern const struct state_table tcp_leg_states;

/* Reasons why no input is read. */
#define TCP_BLOCK_CALLS         0x01u /* a Call must wait: call_admission.h */
#define TCP_BLOCK_LOCAL_REPLIES 0x02u /* too many unsent locally generated Replies */
#define TCP_BLOCK_UNSENT        0x04u /* accepted leg: the peer does not read its Replies */
#define TCP_BLOCK_EOF           0x08u /* end of the peer's stream */

/* Notes that are logged once per connection. */
#define TCP_NOTE_CALL          0x01u
#define TCP_NOTE_CALL_TOO_BIG  0x02u
#define TCP_NOTE_REVERSE       0x04u
#define TCP_NOTE_UNMATCHED     0x08u
#define TCP_NOTE_REPLY_TOO_BIG 0x10u
#define TCP_NOTE_BAD_REPLY     0x20u
#define TCP_NOTE_LATE          0x40u
#define TCP_NOTE_CLEAR         0x80u

/* The deadlines of a connection, all on one timer. */
enum tcp_due {
	TCP_DUE_STATE,   /* of the state */
	TCP_DUE_INPUT,   /* for a record to progress */
	TCP_DUE_OUTPUT,  /* for the peer to read */
	TCP_DUE_REVERSE, /* for a client to answer a reverse Call: rx_reply.h */
	TCP_DUE_COUNT
};

struct tcp_conn {
	struct tcp_leg_config config;
	bool connector; /* this end connected: its peer is a server */
	struct state state;
	struct stream *stream;
	bool is_tls; /* it is a TLS stream (tls/tls_stream.h), whose handshake may still run */
	unsigned watched_events; /* events watched */
	unsigned blocks;
	bool unread_pending; /* input was read and not consumed: the task continues with it */
	bool send_full;      /* the stream accepts no more output */
	unsigned noted;
	struct loop_task task;
	struct loop_timer *timer;
	uint64_t timer_due_us;          /* 0: not set */
	uint64_t due_us[TCP_DUE_COUNT]; /* 0: none */
	struct sockaddr_storage local, peer;
	uint64_t bytes_received, bytes_sent;
};

static inline struct tcp_leg_counters *tcp_counters(const struct tcp_conn *conn)
{
	return conn->config.counters;
}

static inline struct loop *tcp_loop(const struct tcp_conn *conn)
{
	return conn->config.leg.loop;
}

/** tcp_conn_is_open - Returns whether messages can pass in both directions. */
static inline bool tcp_conn_is_open(const struct tcp_conn *conn)
{
	return conn->state.now == TCP_OPEN || conn->state.now == TCP_DRAINING;
}

/** tcp_conn_may_receive - Returns whether input can be consumed. */
static inline bool tcp_conn_may_receive(const struct tcp_conn *conn)
{
	return tcp_conn_is_open(conn) && !conn->blocks;
}

/** tcp_conn_defer - Runs the task at the end of this iteration. */
static inline void tcp_conn_defer(struct tcp_conn *conn)
{
	loop_defer(tcp_loop(conn), &conn->task);
}

/**
 * tcp_conn_init - Initializes a connection, without a stream yet
 * @config:  copied
 * @first:   its state; TCP_CONNECTING makes it a connector
 * @work:    the task
 * @expired: called when a deadline may have passed; must call tcp_conn_pop_due() and tcp_conn_arm()
 * @arg:     for both
 *
 * Returns 0 or -ENOMEM.
 */
int tcp_conn_init(struct tcp_conn *conn, const struct tcp_leg_config *config,
		  enum tcp_leg_state first, void (*work)(void *arg), void (*expired)(void *arg),
		  void *arg) MUST_CHECK;
/** tcp_conn_fini - Frees the timer and cancels the task. */
void tcp_conn_fini(struct tcp_conn *conn);
/** tcp_conn_set_state - Changes the state to one that can follow; the only setter. */
void tcp_conn_set_state(struct tcp_conn *conn, enum tcp_leg_state to);

/** tcp_conn_update_events - Watches the stream for the events that the state needs. */
void tcp_conn_update_events(struct tcp_conn *conn);
/**
 * tcp_conn_block - Sets or clears one TCP_BLOCK_*; after the last one is cleared the task continues
 * reading
 *
 * A draining connection accepts no Calls, so it is read despite all other reasons.
 */
void tcp_conn_block(struct tcp_conn *conn, unsigned block, bool blocked);
/** tcp_conn_drain - Changes from OPEN to DRAINING. */
void tcp_conn_drain(struct tcp_conn *conn);
/** tcp_conn_set_due - Sets a deadline @delay_us from now. */
void tcp_conn_set_due(struct tcp_conn *conn, enum tcp_due which, uint64_t delay_us);
/**
 * tcp_conn_pop_due - Clears and returns the first deadline that has passed; TCP_DUE_COUNT: none.
 * For the timer.
 */
enum tcp_due tcp_conn_pop_due(struct tcp_conn *conn);
/** tcp_conn_arm - Sets the timer for the earliest deadline. */
void tcp_conn_arm(struct tcp_conn *conn);
/**
 * tcp_conn_acked_bytes - Returns how many sent bytes the peer has acknowledged. Makes a system
 * call.
 */
uint64_t tcp_conn_acked_bytes(const struct tcp_conn *conn);
/**
 * tcp_conn_transmitted_bytes - Returns how many sent bytes have left this host. Makes a system
 * call.
 */
uint64_t tcp_conn_transmitted_bytes(const struct tcp_conn *conn);
/** tcp_conn_half_closed - Calls half_closed() if the leg is open. */
void tcp_conn_half_closed(struct tcp_conn *conn);
/** tcp_conn_note - Reports something for the log, once per connection and TCP_NOTE_*. */
void tcp_conn_note(struct tcp_conn *conn, unsigned which, const char *text);

#endif
