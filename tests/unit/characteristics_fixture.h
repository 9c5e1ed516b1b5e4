/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: the state machine of transport characteristics alone. The test delivers messages to it
 * and checks which are due.
 */
#ifndef TESTS_UNIT_CHARACTERISTICS_FIXTURE_H
#define TESTS_UNIT_CHARACTERISTICS_FIXTURE_H

#include "rpcrdma/v2/characteristics.h"

#define BIG 16384u

extern struct characteristics ch;
extern struct characteristics_snapshot snapshot;
extern struct characteristics_config config;
extern struct characteristics_message message; /* of the last step */
extern struct xchar_operation sent;            /* the same, decoded */
extern uint32_t resize_bytes;                  /* of the last step */
extern uint32_t own_xid;                       /* of the last message that has no other */
extern uint8_t info[300000];

void start(bool connector);
void setup(void);
unsigned take(enum xchar_op op, uint32_t xid, size_t len);
unsigned take_init(uint32_t xid, const struct xchar_value *values, unsigned count, uint32_t nochg);
unsigned take_req(uint32_t xid, const struct xchar_value *values, unsigned count);
unsigned take_req_size(uint32_t xid, uint32_t bytes);
unsigned take_upd(uint32_t id, uint32_t value, bool pendclr);
/* A RESP whose subsets have one word each. */
unsigned take_resp(uint32_t xid, uint8_t done, uint8_t rej, uint8_t pend);
/* Checks that unrelated parts of the snapshot change nothing. */
enum characteristics_step next(void);
void nothing(void);
/* Returns a message, decoded; asks twice, because a step stays due until it is done. */
void sends(enum xchar_op op);
void done(void);
/* Provides Receives of another size, all posted immediately unless a test says otherwise. */
void resizes(uint32_t bytes, bool granted);
/* Makes a RESP to the REQ @xid whose element @n is only in @set. */
void responds(uint32_t xid, uint32_t n, enum xchar_set set);
void tells(uint32_t bytes, bool pendclr);
void asks(uint32_t bytes);
/* Checks that the values of an INIT are the configured ones, except the Receive size. */
void holds_all(const struct xchar_operation *init, uint32_t recv_bytes);
/* Returns an acceptor that has answered an INIT with @recv_bytes; 0: without a value. */
void greeted(uint32_t recv_bytes);
/* Returns the same with Receives raised to @bytes. */
void raised(uint32_t bytes);

#endif
