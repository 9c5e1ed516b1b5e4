/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester's own Calls: NULL Calls, which ask a server whether it is there where nothing below RPC can ask.
 *
 * Such a Call holds a credit while it is out. Its program and version are those of a Call in flight, which this server
 * knows; any answer proves that somebody is there, an error too, and ends here. Its XID is not that of a Call in
 * flight in either direction, and a Call to be sent that has it waits until ours is over.
 */
#ifndef RPCRDMA_REQUESTER_NULL_H
#define RPCRDMA_REQUESTER_NULL_H

#include "rpcrdma/requester.h"

/** requester_null_reserve - from now on a credit is kept back for them, where the server grants several. */
void requester_null_reserve(struct requester *rq);
/** requester_null_like - a Call in flight to take program and version from, or NULL if there is none. */
const struct call_facts *requester_null_like(const struct requester *rq);
/**
 * requester_null_send - send one
 * @xid:  of no Call in flight
 * @like: has its program and version
 *
 * Returns whether it is out: false if no credit is left, or if NULL_CALLS_MAX are out.
 */
bool requester_null_send(struct requester *rq, uint32_t xid,
			 const struct call_facts *like) MUST_CHECK;
/** requester_null_answered - the peer has answered @xid in some way. Returns whether that was one of these, now over. */
bool requester_null_answered(struct requester *rq, uint32_t xid) MUST_CHECK;

#endif
