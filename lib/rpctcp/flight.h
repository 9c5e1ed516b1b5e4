/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges that a TCP leg takes part in: Calls of its peer, and Calls to it. */
#ifndef RPCTCP_FLIGHT_H
#define RPCTCP_FLIGHT_H

#include "leg/exchange.h"

struct tcp_flight {
	struct leg *leg;
	/* Calls of the peer: complete or given up as they come, and not yet wholly answered. */
	struct xid_table in;
	struct exchange_list in_list;
	/* Calls to the peer, and those that failed before they were sent. */
	struct xid_table out;
	struct exchange_list out_list, faulted;
};

/** tcp_flight_init - nothing is in flight on @leg. */
void tcp_flight_init(struct tcp_flight *flight, struct leg *leg);
/** tcp_flight_fini - free the tables, after tcp_flight_release(). */
void tcp_flight_fini(struct tcp_flight *flight);
/** tcp_flight_release - let go of every exchange; whoever else holds one keeps it. */
void tcp_flight_release(struct tcp_flight *flight);
/** tcp_flight_is_idle - whether no RPC is in flight, either way. */
bool tcp_flight_is_idle(const struct tcp_flight *flight);

/** tcp_flight_in_add - a Call of the peer; the reference is kept. Returns as xid_table_add(). */
int tcp_flight_in_add(struct tcp_flight *flight, struct exchange *x) MUST_CHECK;
/** tcp_flight_in_end - it is answered or given up: out of here, the reference put. */
void tcp_flight_in_end(struct tcp_flight *flight, struct exchange *x);

/** tcp_flight_out_add - a Call to the peer; the reference is kept. Returns as xid_table_add(). */
int tcp_flight_out_add(struct tcp_flight *flight, struct exchange *x) MUST_CHECK;
/** tcp_flight_out_take - out of here, with the reference that was kept. */
void tcp_flight_out_take(struct tcp_flight *flight, struct exchange *x);
/** tcp_flight_out_fault - one that could not be added; the reference is kept until it is taken. */
void tcp_flight_out_fault(struct tcp_flight *flight, struct exchange *x);
/** tcp_flight_fault_take - the first of those, with its reference; NULL if there is none. */
struct exchange *tcp_flight_fault_take(struct tcp_flight *flight);

#endif
