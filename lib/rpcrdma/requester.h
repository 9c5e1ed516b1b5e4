/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester: sends Calls to the peer and matches its Replies.
 *
 * A Call goes inline when it fits the peer's receive, else as the position-zero read chunk of an
 *RDMA_NOMSG. When its Reply is not known to fit inline, a reply chunk is lent that lies where
 *x->reply will be, so no result is ever looked into. Every key is taken back before a byte of the
 *Reply is read.
 *
 *	held ──credit──▶ sent ──Reply, RDMA_ERROR──▶ ending ──keys unbound──▶ reply() given up
 *	  └──────────────┴── cannot be sent ──▶ failed ──deferred──▶ reply() with a fault
 *
 * A reverse requester (the end that accepted) sends inline only, without chunks (RFC 8167, D2.5-1).
 */
#ifndef RPCRDMA_REQUESTER_H
#define RPCRDMA_REQUESTER_H

#include "fabric/fabric.h"
#include "leg/exchange.h"
#include "rpcrdma/credits.h"
#include "rpcrdma/header.h"

struct rdma_leg;

#define REQUESTER_HELD_MAX         256u /* Calls that wait for a credit before can_call() says no */
#define REQUESTER_HELD_MAX_REVERSE 64u  /* reverse Calls; further ones fail */
#define REQUESTER_REVERSE_CREDITS  16u  /* asked for in reverse Calls */

struct requester {
	bool reverse;
	bool answered;   /* by anything but an RDMA_ERROR: the version is settled (E5-1) */
	bool long_taken; /* the server has answered an RDMA_NOMSG Call: it takes them */
	bool full;       /* call_ready() is due once the queue is shorter */
	struct credit_window window;
	unsigned nheld;
	struct exchange_list held, sent, ending, failed; /* by target_entry */
	struct xid_table table;                          /* those in `sent` */
	struct loop_task fail_task;
};

/** requester_init - no Calls yet; asks for @credits. */
void requester_init(struct rdma_leg *leg, bool reverse, uint32_t credits);
/** requester_end - the connection is over and all work is done: let go of everything. */
void requester_end(struct rdma_leg *leg);
/** requester_fini - free what is left of it after requester_end(), or when it never began. */
void requester_fini(struct rdma_leg *leg);

/** requester_can_call - whether further Calls are welcome. */
bool requester_can_call(const struct rdma_leg *leg);
/** requester_call - leg_call(): send, hold or fail it. */
void requester_call(struct rdma_leg *leg, struct exchange *x);
/** requester_pump - send what is held, as far as the credits go. */
void requester_pump(struct rdma_leg *leg);

/** requester_owns_key - whether the Call with @xid has lent @rkey to the peer. */
bool requester_owns_key(struct rdma_leg *leg, uint32_t xid, uint32_t rkey);
/** requester_reply - a decoded RDMA_MSG or RDMA_NOMSG that is a Reply, with what follows its
 * header. */
void requester_reply(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes);
/** requester_error - a decoded RDMA_ERROR. */
void requester_error(struct rdma_leg *leg, const struct rpcrdma_header *hdr);
/** requester_bad_reply - a Reply that does not decode; its XID is all that is known. */
void requester_bad_reply(struct rdma_leg *leg, uint32_t xid, const char *what);

#endif
