/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read-chunk Replies: the client reads the parts of a Reply that fit neither inline nor into the chunks of its Call,
 * and then sends RDMA_DONE (draft-ietf-nfsv4-rpcrdma-03 sections 3.8, 5.1 and 5.2).
 *
 * Until then the RPC continues: its memory stays claimed and its XID in use, and a draining leg waits for it (A3.8-5).
 * Its Call counts as answered and uses no credit or Receive. Instead each exposed Reply has its own Receive, because
 * the client can send RDMA_DONE and its next Call together, whatever its grant (A3.8-4).
 *
 * Each exposed Reply times out after done_timeout_us. Then, according to done_policy, the connection closes, or the
 * memory is invalidated and the connection continues (A3.8-3). One timer, created with the first exposed Reply, serves
 * all.
 *
 * Keys are invalidated before memory is freed. While they are being unbound, memory and claim are kept, but the RPC has
 * ended and its XID is free.
 */
#ifndef RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H
#define RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H

#include "rpcrdma/lend.h"
#include "rpcrdma/message.h"
#include "rpcrdma/responder_rpc.h"

/* An exposed Reply. */
struct read_reply_responder {
	TAILQ_ENTRY(read_reply_responder) entry; /* in the order of exposure */
	struct responder_rpc *rpc;               /* valid until the RPC ends */
	struct exchange *x;                      /* a reference, until the keys are unbound */
	uint64_t since_us;
	uint32_t len_bytes;
	struct lend lend;
};
TAILQ_HEAD(read_reply_responder_list, read_reply_responder);

/* The exposed Replies of a connection. */
struct responder_lents {
	struct rdma_conn *conn;
	struct read_reply_responder_list list; /* without ended RPCs */
	struct loop_timer *timer;
	bool timer_set;
};

/**
 * responder_lend - Exposes the pieces of a Reply, in order, as a chunk at position zero.
 * @m: an RDMA_NOMSG without read list and reply chunk, to be sent next; gets its read list
 *
 * Releases the part of the claim that the Reply does not need. Returns 0; -EMSGSIZE if the Reply cannot be exposed or
 * its header would be too long; -EBUSY if no more Replies can be exposed now; -EAGAIN if the device has no key left, or
 * other Replies wait for one: key_free() follows; -ENOMEM or -ENOTCONN. After an error nothing is exposed.
 */
int responder_lend(struct responder_rpc *rpc, struct message *m) MUST_CHECK;
/** read_reply_responder_sent - Starts the timeout of a Reply that has been posted. */
void read_reply_responder_sent(struct responder_rpc *rpc);
/** responder_done - Handles an RDMA_DONE; ignores it if it matches no exposed Reply (A3.8-2). */
void responder_done(struct responder *rs, const struct rpcrdma_header *hdr);

/** responder_lents_end - Invalidates all exposed Replies, because the connection has closed. */
void responder_lents_end(struct responder *rs);
/** responder_lents_fini - Frees the rest, after responder_lents_end() or if nothing was ever exposed. */
void responder_lents_fini(struct responder *rs);

#endif
