/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a TCP leg consists of: first what stands on the connection alone, then the state of the modules that work on the
 * whole leg, each named after its file.
 */
#ifndef RPCTCP_TCP_LEG_PRIV_H
#define RPCTCP_TCP_LEG_PRIV_H

#include "leg/leg.h"
#include "rpctcp/inflight.h"
#include "rpctcp/record_rx.h"
#include "rpctcp/record_tx.h"
#include "rpctcp/rx_sniff.h"
#include "rpctcp/tcp_conn.h"

/* How the connection ends. */
struct tcp_close {
	bool tell; /* the end is decided, and closing() not called */
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	uint64_t taken_bytes; /* of what was sent, when the time of a close was last set */
	uint64_t limit_us;    /* when a close is over in any case; 0: no such time */
};

/* When Calls are delivered. */
struct call_admission {
	struct budget_claim claim; /* of the first Call that has not been delivered */
	bool claim_is_exact;       /* for no more than is known to be needed */
	bool paused;               /* leg_pause() */
	bool full;                 /* TCP_CALLS_MAX are in flight */
	bool reverse;              /* a Call to the peer is out, on an accepted leg */
	bool stuck;                /* the Call that comes can neither be passed on nor parked */
	struct exchange *parked;   /* the first; all behind it in inflight.in_list are parked too */
	unsigned nparked;
	size_t parked_bytes; /* of their buffers */
};

/* The Call that is being received. */
struct rx_call {
	uint32_t limit_bytes;   /* of a Call, and of a Reply to one */
	struct exchange *x;     /* once it has been looked at; has a message once it is delivered */
	uint32_t ceiling_bytes; /* of its Reply: what is claimed for */
	/* a reference to the Call in flight that the record repeats, and where the record's arguments begin. */
	struct exchange *repeated;
	uint32_t repeated_args_offset;
};

/* What is read of the socket. */
struct tcp_rx {
	uint32_t turn_left_bytes; /* that this turn may still read, */
	unsigned turn_records;    /* and how many records it has had */
	size_t window_bytes;      /* how much staging a read may fill; adapts to the traffic */
	uint8_t *stash;           /* read, but not taken yet */
	size_t stash_bytes, stash_at;
	size_t progress_bytes; /* since the deadline was set */
	uint64_t end_due_us;   /* when a long Call must be complete; 0: no such time */
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
	/* rx_reply.c: a reference to the exchange whose Reply is being received; NULL: no Reply is. */
	struct exchange *answered;
	struct tcp_rx rx;
	/* tcp_leg.c: what the task has to say. */
	bool opened_due;       /* accepted, and opened() not called */
	bool drain_due;        /* to be drained once it is up */
	bool half_closed_due;  /* leg_hear_end() has found the peer's end … */
	bool half_closed_said; /* … and half_closed() has been called for that */
};

/** tcp_leg_call_is_delivered - whether the Call that is being received has been delivered already, and goes on to grow. */
static inline bool tcp_leg_call_is_delivered(const struct tcp_leg *leg)
{
	return leg->call.x && leg->call.x->call.buf;
}

#endif
