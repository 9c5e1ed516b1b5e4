/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder's look at a Call: its verdict, and its facts, by one walk.
 *
 * Of an RDMA_MSG all is known at once: its read chunks are holes of known length, which the walk passes. Of an
 * RDMA_NOMSG nothing is here before it has been pulled.
 */
#ifndef RPCRDMA_RESPONDER_LOOK_H
#define RPCRDMA_RESPONDER_LOOK_H

#include "rpcrdma/responder_rpc.h"

/**
 * responder_look_early - know a Call by what is here of it, before it has memory
 * @inline_bytes: of its RDMA_MSG; NULL: it is an RDMA_NOMSG
 *
 * Returns whether it may go on; if not, it has been answered, none of its chunks pulled, and is over. It
 * leaves its facts at FACTS_NONE if it does not pass, or does not show its header here, and reply_max_bytes at no
 * more than FACTS_UNBOUNDED_BYTES; else its facts at FACTS_WHOLE, and reply_max_bytes at what the Reply can have.
 */
bool responder_look_early(struct responder_rpc *rpc, const uint8_t *inline_bytes) MUST_CHECK;

/**
 * responder_look - know a Call that is complete
 *
 * Does nothing more if its facts are known. Returns whether it may be passed on; if not, it has been answered, and
 * is over.
 */
bool responder_look(struct responder_rpc *rpc) MUST_CHECK;

#endif
