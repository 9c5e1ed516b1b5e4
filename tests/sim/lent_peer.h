/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hand-made server that exposes its Replies by read chunk, and functions for its actions. Its
 * peer is a client leg with the extensions of the draft.
 */
#ifndef TESTS_SIM_LENT_PEER_H
#define TESTS_SIM_LENT_PEER_H

#include "tests/sim/server_peer.h"

/** lent_open - the client leg open before a server with 4096 bytes each way; rig->client.config is @change()d first. */
void lent_open(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config));
/** lent_setup - the same, with nothing else. */
void lent_setup(void);
/** lent_reopen - start anew. */
void lent_reopen(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config));

/** lent_header - a Reply to `call`, without lists yet, that grants 32. */
void lent_header(struct rpcrdma_header *hdr, enum rpcrdma_proc proc);
/** lent_put - lend these bytes in @pieces segments, at @position; slowly: they are not to be had yet. */
void lent_put(struct rpcrdma_header *hdr, uint32_t position, const uint8_t *data, uint32_t len,
	      unsigned pieces, bool slowly);
/** lent_go_on - what was lent slowly is there now. */
void lent_go_on(void);
/** lent_reply - the Reply that the rig wants, of @len bytes: caller frees. */
uint8_t *lent_reply(uint32_t len);
/** lent_answer - answer `call` with a Reply that is lent whole, in @pieces segments. */
void lent_answer(uint32_t len, unsigned pieces);
/** lent_answer_slowly - the same, but it cannot be read before lent_go_on(). */
void lent_answer_slowly(uint32_t len);
/** lent_expect_done - the next Send is the RDMA_DONE for @xid, as it must be. */
void lent_expect_done(uint32_t xid);
/** lent_expect_bad - the one Call has ended as by a bad Reply, after RDMA_DONE if @done; the leg goes on. */
void lent_expect_bad(bool done);

#endif
