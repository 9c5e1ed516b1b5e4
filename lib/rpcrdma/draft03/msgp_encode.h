/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way out whose long opaques are to stand aligned (A3.5-2). */
#ifndef RPCRDMA_DRAFT03_MSGP_ENCODE_H
#define RPCRDMA_DRAFT03_MSGP_ENCODE_H

#include "rpcrdma/message.h"

/** message_alignment - what the long opaques of forward messages to the peer are aligned to; below 2: to nothing. */
uint32_t message_alignment(const struct rdma_conn *conn);

/**
 * message_pad - make an RDMA_MSG an RDMA_MSGP, if something in it is to be aligned and there is room
 * @m:     planned, with its lists and its pieces: of a dialect that has RDMA_MSGP
 * @msg:   where the pieces lie, whole
 * @facts: of the Call that it answers; NULL: it is a Call
 * @room:  how long its pieces may be, as RDMA_MSG
 *
 * Its form stays what it is: pads make no message too long, nor one of reverse direction, nor do they cost a copy of
 * more than WORK_COPY_MAX_BYTES at a time.
 */
void message_pad(struct message *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		 const struct call_facts *facts, uint64_t room);

#endif
