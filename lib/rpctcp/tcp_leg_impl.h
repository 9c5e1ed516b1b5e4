/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the TCP leg share, and nobody else includes.
 *
 *	tcp_leg.c      life: states, timers, closing, the operations of leg.h
 *	tcp_connect.c  addresses and source ports
 *	tcp_input.c    bytes: reads, staging, stash, where a record goes
 *	tcp_call.c     messages: what each record is and what memory it may have
 *	tcp_output.c   the queue of messages to send
 *
 * Operation. Input is taken by tcp_input_run(), from staging or from the stash, until it is used up
 *or the leg is blocked; what is left over goes to the stash. Whatever must not happen inside a call
 *into the leg (events, sending, reading on) waits for the leg's task, tcp_leg_work().
 *tcp_leg_fail() can be called at any depth: it takes everything apart but the leg itself, so that
 *after anything that can fail or call out, leg->state is looked at before going on.
 */
#ifndef RPCTCP_TCP_LEG_IMPL_H
#define RPCTCP_TCP_LEG_IMPL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "rpc/msg.h"
#include "rpc/record.h"
#include "rpctcp/tcp_leg.h"

#define TCP_BULK_BYTES           (16u * 1024u) /* records beyond it are received in place */
#define TCP_SCARCE_READ_BYTES    (4u * 1024u)  /* per read while the budget has waiters */
#define TCP_RETRANSMIT_BYTES     256u          /* of a Call that are compared, X-8 */
#define TCP_UNSENT_MAX_BYTES     (8u * 1024u * 1024u)
#define TCP_ANSWERS_MAX          64u /* answers of our own that are not sent yet */
#define TCP_REVERSE_CALLS_MAX    64u
#define TCP_REVERSE_MAX_BYTES    (16u * 1024u) /* of a reverse Call, and of its Reply */
#define TCP_STALL_PROGRESS_BYTES (16u * 1024u) /* less than that is no progress */
#define TCP_CLOSE_LIMIT_US       2000000u      /* for queued output and the peer's FIN */
#define TCP_HEALTH_INTERVAL_US   5000000u      /* of looking after a socket that is not read */
#define TCP_RESERVED_PORT_FIRST  1023u
#define TCP_RESERVED_PORT_LAST   665u /* those below are left to the services of the host */
#define TCP_HEAD_BYTES           8u   /* XID and type: what tells what a record is */
#define TCP_DETAIL_BYTES         160u
#define TCP_KEEPALIVE_IDLE_S     60
#define TCP_KEEPALIVE_INTERVAL_S 10
#define TCP_KEEPALIVE_PROBES     6
#define TCP_USER_TIMEOUT_MARGIN_MS                                                                 \
	5000u /* past the stall timeout, which names the reason better  \
					  */

enum tcp_state {
	TCP_CONNECTING, /* an address is being tried; ends with opened() or the last failure */
	TCP_QUIET,      /* accepted, nothing read; the first byte is awaited */
	TCP_REQUESTED,  /* requested() was said; leg_accept() or leg_close() is awaited */
	TCP_OPEN,       /* messages pass */
	TCP_FLUSHING,   /* leg_close() was called; queued output is being sent */
	TCP_LINGERING,  /* our FIN is out; what comes is thrown away until the peer's FIN */
	TCP_CLOSED,     /* no socket any more; closed() is due or was said */
	TCP_STATE_COUNT
};

/* Why nothing is read just now. */
#define TCP_BLOCK_PAUSED  0x01u /* leg_pause() */
#define TCP_BLOCK_BUDGET  0x02u /* the claim for the next Call waits */
#define TCP_BLOCK_ANSWERS 0x04u /* TCP_ANSWERS_MAX */
#define TCP_BLOCK_UNSENT  0x08u /* accepted: the peer does not take its Replies */
#define TCP_BLOCK_EOF     0x10u /* the peer has sent its FIN */

enum tcp_input_mode {
	TCP_INPUT_HEAD,  /* what the record is is not known yet, or its memory not granted */
	TCP_INPUT_BODY,  /* received into msg */
	TCP_INPUT_DRAIN, /* counted, perhaps compared, and thrown away */
};

struct tcp_input {
	struct record_parser parser;
	enum tcp_input_mode mode;
	uint8_t head[TCP_HEAD_BYTES];
	unsigned head_bytes;
	enum rpc_msg_type type;
	struct budget_claim claim; /* for a Call and its Reply, until the exchange gets it */
	struct rpc_msg msg;        /* BODY */
	uint32_t cap_bytes;        /* how much of msg may be filled */
	uint32_t have_bytes;       /* how much is */
	bool decoded;              /* hdr and ceiling are known before the message is taken in */
	struct rpc_call_hdr hdr;
	uint32_t ceiling_bytes;
	struct exchange *x;      /* BODY: whose Reply it is; DRAIN: the Call that it repeats */
	uint32_t compared_bytes; /* DRAIN with x */
	size_t window_bytes;     /* how much staging a read may fill; adapts to the traffic */
	uint8_t *stash;          /* read, but not taken yet */
	size_t stash_bytes, stash_at;
	uint64_t deadline_us;  /* for progress; 0: nothing is awaited */
	size_t progress_bytes; /* since the deadline was set */
};

enum tcp_out_kind { TCP_OUT_CALL, TCP_OUT_REPLY, TCP_OUT_ANSWER };

/* A record in the output queue. */
struct tcp_out {
	STAILQ_ENTRY(tcp_out) entry;
	enum tcp_out_kind kind;
	const uint8_t *data; /* record mark and message, contiguous */
	uint32_t len_bytes;
	struct exchange *x; /* CALL, REPLY: a reference; keeps the message */
	uint8_t small[RECORD_MARK_BYTES + RPC_ERROR_REPLY_BYTES];
};
STAILQ_HEAD(tcp_out_list, tcp_out);

struct tcp_output {
	struct tcp_out_list queue;
	size_t sent_bytes;   /* of the first */
	size_t unsent_bytes; /* of all */
	unsigned answers;
	bool full;    /* past TCP_UNSENT_MAX_BYTES and not yet below half of it */
	bool waiting; /* the socket takes no more for now */
	uint64_t deadline_us;
	size_t progress_bytes;
};

/* An attempt to connect. */
struct tcp_connect {
	struct sockaddr_storage *addrs;
	unsigned count, next; /* next: after the one that is being tried */
	uint16_t preferred_port;
	enum source_port source_port;
	uint64_t deadline_us; /* for all */
	int error;            /* errno of the last failure */
};

struct tcp_leg {
	struct leg leg;
	struct tcp_leg_config config; /* leg.config points into it */
	bool connecting;              /* this end connected: its peer is a server */
	enum tcp_state state;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	uint64_t timer_due_us; /* 0: not set */
	struct loop_task task;
	bool opened_due;
	unsigned blocks;
	unsigned noted; /* TCP_NOTE_*: said once a connection */
	struct tcp_input in;
	struct tcp_output out;
	struct tcp_connect connect;
	uint64_t health_due_us;     /* while it is not read; else 0 */
	uint64_t state_deadline_us; /* CONNECTING: this address; FLUSHING, LINGERING: the end */
	/* Calls of the peer: complete, and not yet wholly answered. */
	struct xid_table calls_in;
	struct exchange_list calls_in_list;
	/* Calls to the peer, and those among them that failed before they were sent. */
	struct xid_table calls_out;
	struct exchange_list calls_out_list, faulted;
	struct sockaddr_storage local, peer;
	uint64_t bytes_received, bytes_sent;
	enum leg_close close_why;
	char close_detail[TCP_DETAIL_BYTES];
	bool reset; /* the connection ends with a reset, not a FIN */
	bool closed_said;
};

#define TCP_NOTE_AUTH_TLS  0x1u
#define TCP_NOTE_UNMATCHED 0x2u
#define TCP_NOTE_REVERSE   0x4u
#define TCP_NOTE_TOO_BIG   0x8u
#define TCP_NOTE_BAD_REPLY 0x10u

static inline struct tcp_leg_counters *tcp_counters(struct tcp_leg *leg)
{
	return &leg->config.worker->counters;
}

/* tcp_leg.c */

/** tcp_leg_new - a leg without a socket; NULL without memory. */
struct tcp_leg *tcp_leg_new(const struct tcp_leg_config *config);
/** tcp_leg_discard - free a leg that was not given to anybody and has no socket. */
void tcp_leg_discard(struct tcp_leg *leg);
/** tcp_leg_socket_take - own @fd and watch it through the state's events. Returns 0 or -ENOMEM. */
int tcp_leg_socket_take(struct tcp_leg *leg, int fd) MUST_CHECK;
/** tcp_leg_socket_drop - close the socket, if there is one. */
void tcp_leg_socket_drop(struct tcp_leg *leg);
/** tcp_leg_fail - close now, for @why; closed() follows from the task. At any depth; once is
 * enough. */
void tcp_leg_fail(struct tcp_leg *leg, enum leg_close why, const char *fmt, ...) PRINTF_LIKE(3, 4);
/** tcp_leg_watch - watch the socket for what the state asks for. */
void tcp_leg_watch(struct tcp_leg *leg);
/** tcp_leg_block - set or clear one TCP_BLOCK_*; clearing the last one reads on in the task. */
void tcp_leg_block(struct tcp_leg *leg, unsigned block, bool blocked);
/** tcp_leg_arm - see to it that the timer fires at the earliest deadline. */
void tcp_leg_arm(struct tcp_leg *leg);
/** tcp_leg_note - log, once a connection for each @which. */
void tcp_leg_note(struct tcp_leg *leg, unsigned which, const char *text);
/** tcp_leg_check_done - after the peer's FIN: close once every Call has been answered. */
void tcp_leg_check_done(struct tcp_leg *leg);
/** tcp_leg_socket_setup - non-blocking, no delay, keepalive; what the family lacks is left out. */
void tcp_leg_socket_setup(const struct tcp_leg *leg, int fd);

/* tcp_connect.c */

/** tcp_connect_next - try the next address, or fail after the last one. */
void tcp_connect_next(struct tcp_leg *leg);
/** tcp_connect_ready - the socket has become writable: it is connected, or this address failed. */
void tcp_connect_ready(struct tcp_leg *leg);
/** tcp_connect_expired - this address has had its time. */
void tcp_connect_expired(struct tcp_leg *leg);
/** tcp_connect_fini - free the addresses. */
void tcp_connect_fini(struct tcp_leg *leg);

/* tcp_input.c */

void tcp_input_init(struct tcp_leg *leg);
/** tcp_input_fini - let go of everything that input holds. */
void tcp_input_fini(struct tcp_leg *leg);
/** tcp_input_readable - read once and take what has come. */
void tcp_input_readable(struct tcp_leg *leg);
/** tcp_input_resume - take what is in the stash. */
void tcp_input_resume(struct tcp_leg *leg);
/** tcp_input_discard - read once and throw away; true at the peer's FIN or the connection's end. */
bool tcp_input_discard(struct tcp_leg *leg);
/** tcp_input_drain - throw away what is left of this record, and what was held for it. */
void tcp_input_drain(struct tcp_leg *leg);
/** tcp_input_compare - drain a record that should repeat the Call of @x, comparing. */
void tcp_input_compare(struct tcp_leg *leg, struct exchange *x);

/* tcp_call.c: each puts leg->in in BODY or DRAIN mode, blocks or fails the leg. */

/** tcp_record_begin_whole - a record that is in the input from end to end. */
void tcp_record_begin_whole(struct tcp_leg *leg, const uint8_t *msg, uint32_t len_bytes);
/** tcp_record_begin - a record of which leg->in.head is known, and perhaps its length. */
void tcp_record_begin(struct tcp_leg *leg);
/** tcp_record_overflow - a record of unknown length has filled cap_bytes and goes on. */
void tcp_record_overflow(struct tcp_leg *leg);
/** tcp_record_end - the message is complete in leg->in.msg. */
void tcp_record_end(struct tcp_leg *leg);

/* tcp_output.c */

/** tcp_output_call - queue x->call; takes a reference of its own. Returns 0 or -ENOMEM. */
int tcp_output_call(struct tcp_leg *leg, struct exchange *x) MUST_CHECK;
/** tcp_output_reply - queue x->reply, or SYSTEM_ERR for a fault; x stays in calls_in until it is
 * sent. Returns 0 or -ENOMEM. */
int tcp_output_reply(struct tcp_leg *leg, struct exchange *x) MUST_CHECK;
/** tcp_output_answer - queue a Reply of our own. Returns 0 or -ENOMEM. */
int tcp_output_answer(struct tcp_leg *leg, const uint8_t *reply, uint32_t len_bytes) MUST_CHECK;
/** tcp_output_flush - send what the socket takes. */
void tcp_output_flush(struct tcp_leg *leg);
/** tcp_output_fini - drop the queue. */
void tcp_output_fini(struct tcp_leg *leg);
/** tcp_output_origin_done - @x is answered or given up: out of calls_in, our reference put. */
void tcp_output_origin_done(struct tcp_leg *leg, struct exchange *x);

#endif
