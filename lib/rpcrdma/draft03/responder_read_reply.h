/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read-chunk Replies: the client reads the parts of a Reply that fit neither inline nor into the
 * chunks of its Call, and then sends RDMA_DONE (draft-ietf-nfsv4-rpcrdma-03 sections 3.8, 5.1 and
 * 5.2).
 *
 * Until then the RPC continues: its memory stays claimed and its XID in use, and a draining leg
 * waits for it (A3.8-5). Its Call counts as answered and uses no credit or Receive. Instead each
 * exposed Reply has its own Receive, because the client can send RDMA_DONE and its next Call
 * together, whatever its grant (A3.8-4).
 *
 * Each exposed Reply times out after done_timeout_us. Then, according to done_policy, the
 * connection closes, or the memory is invalidated and the connection continues (A3.8-3). One timer,
 * created with the first exposed Reply, serves all.
 *
 * Keys are invalidated before memory is freed. Memory and claim stay until the keys are unbound;
 * the RPC has then already ended, and its XID is free.
 */
#ifndef RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H
#define RPCRDMA_DRAFT03_RESPONDER_READ_REPLY_H

#include "rpcrdma/mem_expose.h"
#include "rpcrdma/responder_rpc.h"
#include "rpcrdma/send_msg.h"

/* An exposed Reply. */
struct responder_read_reply {
	TAILQ_ENTRY(responder_read_reply) entry; /* in the order of exposure */
	struct responder_rpc *rpc;               /* valid until the RPC ends */
	struct exchange *x;                      /* a reference, until the keys are unbound */
	uint64_t since_us;
	uint32_t len_bytes;
	struct exposed_mem exposed_mem;
};
TAILQ_HEAD(responder_read_reply_list, responder_read_reply);

/* The exposed Replies of a connection. */
struct responder_read_replies {
	struct rdma_conn *conn;
	struct responder_read_reply_list list; /* without ended RPCs */
	struct loop_timer *timer;
	bool timer_set;
};

/**
 * responder_read_reply_expose - Exposes the pieces of a Reply, in order, as a chunk at position
 * zero.
 * @m: an RDMA_NOMSG without read list and reply chunk, to be sent next; gets its read list
 *
 * Releases the part of the claim that the Reply does not need. Returns 0; -EMSGSIZE if the Reply
 * cannot be exposed or its header would be too long; -EBUSY if no more Replies can be exposed now;
 * -EAGAIN if the device has no key left, or other Replies wait for one: key_free() follows; -ENOMEM
 * or -ENOTCONN. After an error nothing is exposed.
 */
int responder_read_reply_expose(struct responder_rpc *rpc, struct send_msg *m) MUST_CHECK;
/** responder_read_reply_sent - Starts the timeout of a Reply that has been posted. */
void responder_read_reply_sent(struct responder_rpc *rpc);
/**
 * responder_read_reply_done - Handles an RDMA_DONE; ignores it if it matches no exposed Reply
 * (A3.8-2).
 */
void responder_read_reply_done(struct responder *rs, const struct rpcrdma_header *hdr);

/**
 * responder_read_reply_end - Invalidates all exposed Replies, because the connection has closed.
 */
void responder_read_reply_end(struct responder *rs);
/**
 * responder_read_reply_fini - Frees the rest, after responder_read_reply_end() or if nothing was
 * ever exposed.
 */
void responder_read_reply_fini(struct responder *rs);

#endif
