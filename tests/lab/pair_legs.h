/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two RDMA legs on the fabric of fabric_pair, for its cases: NFSv3 Calls from the client, Calls of
 * an unknown program from the server, and code that replaces the two bridges and answers the Calls.
 * The XID determines a message: the receiver generates the message again and compares each byte.
 */
#ifndef TESTS_LAB_PAIR_LEGS_H
#define TESTS_LAB_PAIR_LEGS_H

#include "rpcrdma/rdma_leg.h"
#include "rpcrdma/rdma_memory.h"
#include "tests/lib/test_budget.h"

#define LEGS_CREDITS   16u
#define LEGS_DATA_MAX  65536u /* of a READ or WRITE */
#define LEGS_FIRST     4096u  /* the inline threshold */
#define LEGS_RAISED    65536u /* what receives may be raised to */
#define LEGS_REVERSING 4u     /* Calls in flight that come the other way */

/* One leg, and what became of the RPCs that were made on it. */
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
	unsigned faults; /* RPCs that came to no Reply */
	unsigned wrong;  /* messages that differ, taken here */
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

/** legs_open - both legs, of version two; @ddp is the client's. Returns whether they are open. */
bool legs_open(bool ddp);
/** legs_set_load - the client keeps @load Calls in flight from now on. */
void legs_set_load(unsigned load);
/** legs_quiet - wait until no Call is in flight; false if that takes too long. */
bool legs_quiet(void);
/** legs_lost - whether a connection has ended that nobody closed. */
bool legs_lost(void);
/** legs_close - close and free both; returns whether nothing of them is left: no buffer, and nothing of the budgets. */
bool legs_close(void);

#endif
