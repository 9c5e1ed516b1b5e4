/* SPDX-License-Identifier: BSD-3-Clause */
/* What a TCP leg consists of: a connection, and what is done on it. */
#ifndef RPCTCP_TCP_LEG_PRIV_H
#define RPCTCP_TCP_LEG_PRIV_H

#include "leg/leg.h"
#include "rpctcp/messages.h"

struct tcp_leg {
	struct leg leg;
	struct tcp_conn conn;
	struct inflight flight;
	struct record_tx out;
	struct record_rx in;
	struct tcp_messages msgs;
	bool opened_due;            /* accepted, and opened() not said */
	bool drain_due;             /* to be drained once it is up */
	uint64_t close_taken_bytes; /* of what was sent, when the time of a close was last set */
	uint64_t close_end_us;      /* when a close is over in any case; 0: no such time */
};

#endif
