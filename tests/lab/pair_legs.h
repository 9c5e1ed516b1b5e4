/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two RDMA legs on the fabric of fabric_pair, for its cases: NFSv3 Calls from the client, Calls of
 * an unknown program from the server, and code that replaces the two bridges and answers the Calls.
 * The XID determines a message: the receiver generates the message again and compares each byte.
 */
#ifndef TESTS_LAB_PAIR_LEGS_H
#define TESTS_LAB_PAIR_LEGS_H

#include "rpcrdma/memory_bound.h"
#include "rpcrdma/rdma_leg.h"
#include "tests/lib/test_budget.h"

#define LEGS_CREDITS   16u
#define LEGS_DATA_MAX  65536u /* of a READ or WRITE */
#define LEGS_FIRST     4096u  /* the inline threshold */
#define LEGS_RAISED    65536u /* the largest Receive size */
#define LEGS_REVERSING 4u     /* Calls in flight in the other direction */

/* One leg, and the outcome of its RPCs. */
struct leg_end {
	struct leg *leg;
	struct rdma_leg_config config;
	struct rdma_leg_counters counters;
	struct test_budget budget;
	bool opened, closed;
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	struct exchange_list waiting;
	unsigned in_flight, answered;
	unsigned faults; /* RPCs without a Reply */
	unsigned wrong;  /* differing messages received here */
	uint32_t next_xid;
};

struct legs {
	struct leg_end client, server;
	unsigned load;       /* Calls that the client keeps in flight */
	bool small;          /* … without data */
	bool both_ways;      /* the server makes a Call each millisecond */
	uint64_t data_bytes; /* of READs and WRITEs that were answered */
	uint64_t since_us;
	struct loop_timer *timer;
};
extern struct legs legs;

/**
 * legs_open - Opens both legs, of version two; @ddp is the client's. Returns whether they are open.
 */
bool legs_open(bool ddp);
/** legs_set_load - Makes the client keep @load Calls in flight from now on. */
void legs_set_load(unsigned load);
/** legs_quiet - Waits until no Call is in flight; returns false if that takes too long. */
bool legs_quiet(void);
/** legs_lost - Returns whether a connection has ended that neither side closed. */
bool legs_lost(void);
/**
 * legs_close - Closes and frees both; returns whether nothing is left: no buffer, no claim on the
 * budgets.
 */
bool legs_close(void);

#endif
