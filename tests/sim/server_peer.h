/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: the client leg with a hand-made server, and functions for the server's actions. */
#ifndef TESTS_SIM_SERVER_PEER_H
#define TESTS_SIM_SERVER_PEER_H

#include "tests/sim/raw.h"

extern struct rig *rig;
extern struct raw *raw;

/* The last Call that came to the server. */
extern struct rpcrdma_header call;
extern const uint8_t *call_body;
extern uint32_t call_len;

extern const uint8_t pd_4096[8];

/** open_with - the client leg open before a server with that private data. */
void open_with(const struct sim_faults *faults, const uint8_t *pd, size_t n);
/** setup - a server with 4096 bytes each way. */
void setup(void);
/** reopen - start anew, with faults and other private data. */
void reopen(const struct sim_faults *faults, const uint8_t *pd, size_t n);
/** teardown - end it all; nothing may have leaked. */
void teardown(void);
/** make_call - a Call of the client leg; returns its XID. */
uint32_t make_call(uint32_t call_bytes, uint32_t reply_bytes, uint32_t reply_max);
/** next_call - the next Send is a Call and is decoded into `call`. */
void next_call(void);
/** sends_waiting - Sends that came and were not looked at. */
unsigned sends_waiting(void);
/** reply_inline - a Reply inline to @xid. */
void reply_inline(uint32_t xid, uint32_t reply_bytes, uint32_t credit);
/** write_reply - write the Reply into the reply chunk of `call`, segment by segment. */
void write_reply(uint32_t reply_bytes);
/** send_nomsg - send the header of `call` back as an RDMA_NOMSG Reply. */
void send_nomsg(void);
/** expect_answered - so many Calls have been answered, each byte right. */
void expect_answered(unsigned n);
/** expect_fault - one Call has ended with this fault, and the leg is open. */
void expect_fault(enum exchange_fault fault);
/** expect_closed - the leg has closed for this reason. */
void expect_closed(enum leg_close why);

#endif
