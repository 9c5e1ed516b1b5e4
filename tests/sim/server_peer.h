/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: the client leg with a hand-made server, and functions for the server's actions. */
#ifndef TESTS_SIM_SERVER_PEER_H
#define TESTS_SIM_SERVER_PEER_H

#include "tests/sim/raw.h"

extern struct rig *rig;
extern struct raw *raw;

/* The last Call that reached the server. */
extern struct rpcrdma_header call;
extern const uint8_t *call_body;
extern uint32_t call_len;

extern const uint8_t pd_4096[8];

/** open_with - Opens the client leg with a server that has that private data. */
void open_with(const struct sim_faults *faults, const uint8_t *pd, size_t n);
/** setup - Opens a server with 4096 bytes each way. */
void setup(void);
/** reopen - Restarts, with faults and other private data. */
void reopen(const struct sim_faults *faults, const uint8_t *pd, size_t n);
/** teardown - Ends everything and checks that nothing leaked. */
void teardown(void);
/** make_call - Makes a Call of the client leg; returns its XID. */
uint32_t make_call(uint32_t call_bytes, uint32_t reply_bytes, uint32_t reply_max);
/** next_call - Decodes the next Send, a Call, into `call`. */
void next_call(void);
/** sends_waiting - Returns the number of Sends that arrived and were not read. */
unsigned sends_waiting(void);
/** reply_inline - Sends a Reply inline to @xid. */
void reply_inline(uint32_t xid, uint32_t reply_bytes, uint32_t credit);
/** write_reply - Writes the Reply into the reply chunk of `call`, segment by segment. */
void write_reply(uint32_t reply_bytes);
/** send_nomsg - Sends the header of `call` back as an RDMA_NOMSG Reply. */
void send_nomsg(void);
/** expect_answered - Checks that this many Calls have been answered, each byte right. */
void expect_answered(unsigned n);
/** expect_fault - Checks that one Call has ended with this fault, and the leg is open. */
void expect_fault(enum exchange_fault fault);
/** expect_closed - Checks that the leg has closed for this reason. */
void expect_closed(enum leg_close why);

#endif
