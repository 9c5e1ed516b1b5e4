/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies that are lent: what of a Reply fits neither inline nor into what its Call offered is read by the client, which
 * then says RDMA_DONE (draft-ietf-nfsv4-rpcrdma-03 sections 3.8, 5.1 and 5.2).
 *
 * Until then the RPC goes on: its memory stays claimed, its XID in use, and a leg that drains waits for it (A3.8-5).
 * Its Call is answered, though, and takes no credit and no receive. Instead of that each Reply that is lent has a
 * receive of its own, since the client may send RDMA_DONE and its next Call together, whatever it is granted (A3.8-4).
 *
 * Each has done_timeout_us from when it was lent. Then the connection closes, or the memory is taken back and the
 * connection stays, as done_policy says (A3.8-3). One timer serves all, and is made with the first.
 *
 * Keys go before memory: where they take their time to be unbound, memory and claim wait for that, but the RPC is over
 * and its XID free.
 */
#ifndef RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H
#define RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H

#include "rpcrdma/lend.h"
#include "rpcrdma/message.h"
#include "rpcrdma/responder_rpc.h"

/* One of them. */
struct read_reply_responder {
	TAILQ_ENTRY(read_reply_responder) entry; /* in the order in which they were lent */
	struct responder_rpc *rpc;               /* until it is over */
	struct exchange *x;                      /* a reference, until the keys are unbound */
	uint64_t since_us;
	uint32_t len_bytes;
	struct lend lend;
};
TAILQ_HEAD(read_reply_responder_list, read_reply_responder);

/* Those of a connection. */
struct responder_lents {
	struct rdma_conn *conn;
	struct read_reply_responder_list list; /* without those that are over */
	struct loop_timer *timer;
	bool timer_set;
};

/**
 * responder_lend - lend the pieces of a Reply, in their order, as a chunk at position zero
 * @m: an RDMA_NOMSG without read list and reply chunk, which is to be sent next; its read list is made
 *
 * What was claimed beyond what it takes is given back. Returns 0; -EMSGSIZE if that may not be lent or its header would be
 * too long; -EBUSY if no more may be lent at once; -EAGAIN if the device has no key left and key_free() is due, or other
 * Replies wait for that; or -ENOMEM or -ENOTCONN. After a failure nothing is lent.
 */
int responder_lend(struct responder_rpc *rpc, struct message *m) MUST_CHECK;
/** read_reply_responder_sent - its Reply is posted: its time begins. */
void read_reply_responder_sent(struct responder_rpc *rpc);
/** responder_done - an RDMA_DONE; one for what is not lent is ignored (A3.8-2). */
void responder_done(struct responder *rs, const struct rpcrdma_header *hdr);

/** responder_lents_end - the connection has ended: take back all. */
void responder_lents_end(struct responder *rs);
/** responder_lents_fini - free what is left after that, or when nothing was ever lent. */
void responder_lents_fini(struct responder *rs);

#endif
