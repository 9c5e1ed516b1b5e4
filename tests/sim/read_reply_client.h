/* SPDX-License-Identifier: BSD-3-Clause */
/* A hand-made draft-03 client that RDMA Reads the Replies that a server leg exposes to it. */
#ifndef TESTS_SIM_READ_REPLY_CLIENT_H
#define TESTS_SIM_READ_REPLY_CLIENT_H

#include "tests/sim/client_peer.h"

#define S          1000000ull
#define TIMEOUT_US (30 * S) /* of the leg, for RDMA_DONE */

/* The last Reply exposed by read chunk. */
extern struct rpcrdma_header lent;

/** lent_rig - Creates a server leg of draft-03 without a connection. */
void lent_rig(const struct sim_faults *faults);
/** lent_setup_closed - The same as a fixture's begin. */
void lent_setup_closed(void);
/** lent_setup - … with the client connected. */
void lent_setup(void);
/** lent_reopen - The same with other faults, after lent_setup_closed(). */
void lent_reopen(const struct sim_faults *faults);

/**
 * next_lent - Checks that the next Send is a Reply by read chunk: a chunk at position zero, and
 * nothing else.
 */
void next_lent(uint32_t xid);
/** call_lent - Makes a Call that is answered by such a Reply. */
void call_lent(uint32_t xid, uint32_t reply_bytes);
/** read_lent - Reads all exposed bytes, one segment after the other; the caller frees them. */
uint8_t *read_lent(uint32_t *bytes);
/** expect_lent - Checks that it is the Reply of this many bytes. */
void expect_lent(uint32_t xid, uint32_t reply_bytes);
/** post_done - Posts an RDMA_DONE without waiting for it. */
void post_done(uint32_t xid, uint32_t credit);
/** send_done - Sends an RDMA_DONE; the leg has received it on return. */
void send_done(uint32_t xid);
/**
 * expect_dead - Checks that a peer that Reads it loses its connection; must be the last action of a
 * test.
 */
void expect_dead(const struct rpcrdma_segment *seg);

#endif
