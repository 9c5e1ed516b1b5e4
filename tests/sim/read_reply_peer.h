/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hand-made server that exposes its Replies by read chunk, and functions for its actions. Its
 * peer is a client leg with the extensions of the draft.
 */
#ifndef TESTS_SIM_READ_REPLY_PEER_H
#define TESTS_SIM_READ_REPLY_PEER_H

#include "tests/sim/server_peer.h"

/**
 * lent_open - Opens the client leg with a server of 4096 bytes each way; @change() changes
 * rig->client.config first.
 */
void lent_open(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config));
/** lent_setup - The same, with nothing else. */
void lent_setup(void);
/** lent_reopen - Restarts. */
void lent_reopen(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config));

/** lent_header - Starts a Reply to `call`, without lists yet, that grants 32. */
void lent_header(struct rpcrdma_header *hdr, enum rpcrdma_proc proc);
/**
 * lent_put - Exposes these bytes in @pieces segments, at @position; slowly: they are not ready yet.
 */
void lent_put(struct rpcrdma_header *hdr, uint32_t position, const uint8_t *data, uint32_t len,
	      unsigned pieces, bool slowly);
/** lent_go_on - Makes the bytes that were exposed slowly ready. */
void lent_go_on(void);
/** lent_reply - Returns the Reply that the rig expects, of @len bytes: caller frees. */
uint8_t *lent_reply(uint32_t len);
/** lent_answer - Answers `call` with a Reply that is exposed whole, in @pieces segments. */
void lent_answer(uint32_t len, unsigned pieces);
/** lent_answer_slowly - The same, but it cannot be Read before lent_go_on(). */
void lent_answer_slowly(uint32_t len);
/** lent_expect_done - Checks that the next Send is a correct RDMA_DONE for @xid. */
void lent_expect_done(uint32_t xid);
/**
 * lent_expect_bad - Checks that the only Call has ended as by a bad Reply, after RDMA_DONE if
 * @done; the leg continues.
 */
void lent_expect_bad(bool done);

#endif
