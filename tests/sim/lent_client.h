/* SPDX-License-Identifier: BSD-3-Clause */
/* A hand-made draft-03 client that RDMA Reads the Replies that a server leg exposes to it. */
#ifndef TESTS_SIM_LENT_CLIENT_H
#define TESTS_SIM_LENT_CLIENT_H

#include "tests/sim/client_peer.h"

#define S          1000000ull
#define TIMEOUT_US (30 * S) /* of the leg, for RDMA_DONE */

/* The Reply that was lent last. */
extern struct rpcrdma_header lent;

/** lent_rig - a server leg of draft-03 that nobody has connected to. */
void lent_rig(const struct sim_faults *faults);
/** lent_setup_closed - the same as a fixture's begin. */
void lent_setup_closed(void);
/** lent_setup - … with the client connected. */
void lent_setup(void);
/** lent_reopen - the same with other faults, after lent_setup_closed(). */
void lent_reopen(const struct sim_faults *faults);

/** next_lent - the next Send is a Reply to be read: of a chunk at position zero, and nothing else. */
void next_lent(uint32_t xid);
/** call_lent - a Call to which such a Reply comes. */
void call_lent(uint32_t xid, uint32_t reply_bytes);
/** read_lent - all that was lent, one behind the other; the caller frees it. */
uint8_t *read_lent(uint32_t *bytes);
/** expect_lent - it is the Reply of so many bytes. */
void expect_lent(uint32_t xid, uint32_t reply_bytes);
/** post_done - an RDMA_DONE, not waited for. */
void post_done(uint32_t xid, uint32_t credit);
/** send_done - an RDMA_DONE, which the leg has taken then. */
void send_done(uint32_t xid);
/** expect_dead - the peer that reads it loses its connection: last of all that a test does. */
void expect_dead(const struct rpcrdma_segment *seg);

#endif
