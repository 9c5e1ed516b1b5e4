/* SPDX-License-Identifier: BSD-3-Clause */
/* What answers the requester's Calls: Replies, errors, and what should have been either. */
#ifndef RPCRDMA_REQUESTER_REPLY_H
#define RPCRDMA_REQUESTER_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"

/** requester_owns_key - whether the Call in flight with @xid has lent @rkey to the peer. */
bool requester_owns_key(const struct requester *rq, uint32_t xid, uint32_t rkey);
/** requester_reply - a decoded RDMA_MSG or RDMA_NOMSG that is a Reply, with what follows its header. */
void requester_reply(struct requester *rq, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes);
/** requester_error - a decoded RDMA_ERROR. */
void requester_error(struct requester *rq, const struct rpcrdma_header *hdr);
/** requester_error_of_own - an RDMA_ERROR for a message of our own that is no Call: it is counted, and a credit is back. */
void requester_error_of_own(struct requester *rq, const struct rpcrdma_header *hdr);
/** requester_bad_reply - a Reply that does not decode; its XID is all that is known. */
void requester_bad_reply(struct requester *rq, uint32_t xid, const char *what);

#endif
