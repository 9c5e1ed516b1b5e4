/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private structure of a TCP leg: first what depends only on the connection, then the state of
 * the modules that work on the whole leg, each named after its file.
 */
#ifndef RPCTCP_TCP_LEG_PRIV_H
#define RPCTCP_TCP_LEG_PRIV_H

#include "leg/leg.h"
#include "rpctcp/inflight.h"
#include "rpctcp/record_rx.h"
#include "rpctcp/record_tx.h"
#include "rpctcp/rx_sniff.h"
#include "rpctcp/tcp_conn.h"

struct tcp_tls;

/* State of tcp_close.c. */
struct tcp_close {
	bool notify_due; /* closing() is due */
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	uint64_t acked_bytes; /* acknowledged bytes when the time limit was last set */
	uint64_t limit_us;    /* final time limit of the close; 0: none */
};

/* State of call_admission.c. */
struct call_admission {
	struct budget_claim claim; /* of the first undelivered Call */
	bool claim_is_exact;       /* covers exactly what is needed */
	bool paused;               /* leg_pause() */
	bool full;                 /* TCP_CALLS_MAX are in flight */
	bool reverse;              /* a reverse Call is outstanding */
	bool stuck;                /* the Call being received can be neither delivered nor parked */
	struct exchange *parked;   /* the first; all after it in inflight.in_list are parked too */
	unsigned nparked;
	size_t parked_bytes; /* of their buffers */
};

/* State of rx_call.c: the Call that is being received. */
struct rx_call {
	uint32_t limit_bytes;       /* of a Call, and of a Reply to one */
	struct exchange *x;         /* once it was checked; has a message once it is delivered */
	uint32_t reply_bound_bytes; /* bound of its Reply, as claimed */
	/*
	 * a reference to the Call in flight that the record repeats, and the offset of the
	 * record's arguments.
	 */
	struct exchange *repeated;
	uint32_t repeated_args_offset;
	bool needs_tls; /* Calls are denied: the service requires TLS, and this is clear text */
};

/* State of tcp_rx.c. */
struct tcp_rx {
	uint32_t iteration_left_bytes; /* left to read in this iteration */
	unsigned iteration_records;    /* records of this iteration */
	size_t window_bytes;           /* of staging, for one read; adapts to the traffic */
	uint8_t *leftover;             /* read but not consumed yet */
	size_t leftover_bytes, leftover_at;
	size_t progress_bytes; /* since the deadline was set */
	uint64_t end_due_us;   /* when a long Call must be complete; 0: no limit */
};

struct tcp_leg {
	struct leg leg;
	struct tcp_conn conn;
	struct inflight inflight;
	struct record_tx tx;
	struct record_rx record;
	struct rx_sniff sniff;
	struct tcp_close close;
	struct call_admission admission;
	struct rx_call call;
	/* rx_reply.c: a reference to the exchange whose Reply is being received, or NULL. */
	struct exchange *answered;
	struct tcp_rx rx;
	struct tcp_tls *tls; /* of tcp_tls.c; NULL: TLS is off */
	/* tcp_leg.c: events that the task must report. */
	bool opened_due;      /* accepted, and opened() not called yet */
	bool drain_due;       /* drain once connected */
	bool half_closed_due; /* leg_check_peer_close() has found the peer's end of stream, … */
	bool half_closed_notified; /* … and half_closed() was called for it */
};

/**
 * tcp_leg_call_is_delivered - Returns whether the Call that is being received was delivered
 * already, and grows.
 */
static inline bool tcp_leg_call_is_delivered(const struct tcp_leg *leg)
{
	return leg->call.x && leg->call.x->call.buf;
}

#endif
