/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The read chunks of a message, fetched to where they belong: a plan (msg_plan.h) that may wait for the memory that the
 * message is to be in, and then is carried out by a few RDMA Reads at a time.
 *
 * So what it takes has a bound of its own, however many segments there are: pull_cost_bytes().
 */
#ifndef RPCRDMA_PULL_H
#define RPCRDMA_PULL_H

#include "base/compiler.h"
#include "leg/exchange.h"
#include "rpcrdma/msg_plan.h"
#include "rpcrdma/rdma_conn.h"

/* Reads of one message that are out at once. */
#define PULL_READS_MAX 4u

struct pull;

/**
 * pull_new - keep @plan, and of the @len_bytes that came inline a copy, so that their Send may go
 *
 * Returns NULL without memory.
 */
struct pull *pull_new(struct rdma_conn *conn, const struct msg_plan *plan, const uint8_t *body,
		      uint32_t len_bytes) MUST_CHECK;
/**
 * pull_start - make the message
 * @to:   has room for the plan's total_bytes at its data; stays until done() or the connection's end
 * @x:    pinned by each Read
 * @done: called once with @arg when all is there, unless the connection ends before
 *
 * Returns true if all is there by now: then done() is not called.
 */
bool pull_start(struct pull *pull, const struct rpc_msg *to, struct exchange *x,
		void (*done)(void *arg), void *arg) MUST_CHECK;
/** pull_total_bytes - how long the message is. */
uint32_t pull_total_bytes(const struct pull *pull);
/** pull_free - no Read of it may be out; accepts NULL. */
void pull_free(struct pull *pull);
/** pull_cost_bytes - what one takes at most, its Reads counted, whose message came in a Send of @recv_bytes. */
size_t pull_cost_bytes(uint32_t recv_bytes);

#endif
