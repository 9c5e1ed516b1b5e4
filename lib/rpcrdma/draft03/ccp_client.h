/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of the Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6): before its first Call
 * the end that connected tells the server its sizes, and asks for the server's, where it is configured to and version
 * one is spoken.
 *
 * CONF_RDMA is a message of our own, with an XID that no Call in flight has, and holds the one credit that there
 * is before the first Reply: Calls wait (A6.1-1). What the server says holds from then on, and before its private data
 * without a good answer in CCP_CLIENT_WAIT_US these stay in force (A6.1-2). What comes later than that is
 * thrown away; for CCP_CLIENT_LATE_US no Call has that XID.
 */
#ifndef RPCRDMA_DRAFT03_CCP_CLIENT_H
#define RPCRDMA_DRAFT03_CCP_CLIENT_H

#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"

#define CCP_CLIENT_WAIT_US 5000000u
#define CCP_CLIENT_LATE_US 60000000u

/** ccp_client_begin - the connection is open, and its version is known or assumed: ask, if that is to be done. */
void ccp_client_begin(struct requester *rq);
/**
 * ccp_client_answered - a Reply has come to @xid
 * @body, @len_bytes: the RPC message that came inline
 *
 * Returns whether it was to CONF_RDMA, which is over now; the grant and the Calls that wait are the caller's.
 */
bool ccp_client_answered(struct requester *rq, const struct rpcrdma_header *hdr,
			 const uint8_t *body, uint32_t len_bytes) MUST_CHECK;
/** ccp_client_failed - @xid was answered by @what, which is no Reply. Returns the same. */
bool ccp_client_failed(struct requester *rq, uint32_t xid, const char *what) MUST_CHECK;

#endif
