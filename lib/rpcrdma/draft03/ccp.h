/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6): its messages, pure, and both its ends.
 *
 * It is an RPC program of version 1 on the connection that it configures, with NULL and CONF_RDMA. The draft has no
 * number for it, so that is the configuration's (A6.2-1). Three words go each way; the results say nothing of the
 * Replies' size, since the server obeys the client's (A6.2-2).
 *
 * The client: before its first Call the end that connected tells the server its sizes, and asks for the server's, where it
 * is configured to and version one is spoken. CONF_RDMA is a message of our own, with an XID that no Call in flight has
 * and holds the one credit that there is before the first Reply: Calls wait (A6.1-1). What the server says holds
 * from then on, and before its private data; without a good answer in CCP_CLIENT_WAIT_US these stay in force
 * (A6.1-2). What comes later than that is thrown away; for CCP_CLIENT_LATE_US no Call has that XID.
 *
 * The server: Calls to its program are answered here and never passed on (A6.2-8). What the client says of itself holds
 * from then on, and before its private data: the first time, and if no other Call is in flight. Else nothing changes.
 * What this end says is always the same, and in force from the beginning (A6.1-2).
 */
#ifndef RPCRDMA_DRAFT03_CCP_H
#define RPCRDMA_DRAFT03_CCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/msg.h"
#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder_rpc.h"

#define CCP_VERSION     1u
#define CCP_CALL_BYTES  52u /* CONF_RDMA, without credentials */
#define CCP_REPLY_BYTES 36u /* the longest Reply */

/* Of the client. */
struct ccp_args {
	uint32_t maxcall_sendsize;  /* its longest Send with a Call */
	uint32_t maxreply_sendsize; /* the longest with a Reply that it takes */
	uint32_t maxrdmaread;       /* RDMA Reads of its memory at once */
};

/* Of the server. */
struct ccp_results {
	uint32_t maxcall_sendsize; /* the longest Send with a Call that it takes */
	uint32_t align;            /* recommended for what is sent aligned (A6.2-6); 0: none */
	uint32_t maxrdmaread;      /* RDMA Reads of its memory at once */
};

/* What a Call of the program is. */
enum ccp_verdict {
	CCP_NULL,
	CCP_CONF,     /* CONF_RDMA, with its arguments */
	CCP_MISMATCH, /* of another version: PROG_MISMATCH */
	CCP_NO_PROC,  /* another procedure: PROC_UNAVAIL */
	CCP_GARBAGE,  /* arguments that are none: GARBAGE_ARGS */
	CCP_FLAVOR, /* a flavour whose Replies need a verifier that nobody here can make: AUTH_FAILED */
};

/** ccp_encode_call - CONF_RDMA, AUTH_NONE; returns the bytes written to @to: CCP_CALL_BYTES. */
size_t ccp_encode_call(uint8_t to[CCP_CALL_BYTES], uint32_t xid, uint32_t prog,
		       const struct ccp_args *args);
/**
 * ccp_judge - what a Call of the program is
 * @call, @len: the whole of it
 * @hdr:        its header, decoded
 * @args:       set on CCP_CONF
 */
enum ccp_verdict ccp_judge(const uint8_t *call, size_t len, const struct rpc_call_hdr *hdr,
			   struct ccp_args *args) MUST_CHECK;
/** ccp_encode_reply - the Reply to such a Call, with @results on CCP_CONF; returns the bytes written to @to. */
size_t ccp_encode_reply(uint8_t to[CCP_REPLY_BYTES], uint32_t xid, enum ccp_verdict verdict,
			const struct ccp_results *results);
/**
 * ccp_decode_reply - the Reply to the CONF_RDMA with @xid
 * @results: set if it is one that says what the server can
 *
 * Returns whether it is: else it is an error of RPC, or not what the protocol has.
 */
bool ccp_decode_reply(const uint8_t *reply, size_t len, uint32_t xid,
		      struct ccp_results *results) MUST_CHECK;

/* ---- the client ---- */

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

/* ---- the server ---- */

/** ccp_server_serves - whether the program is served to who made this Call; else it is PROG_UNAVAIL (A6.2-10). */
bool ccp_server_serves(const struct responder_rpc *rpc);
/** ccp_server_answer - answer a complete Call to it, whose header is decoded; it is over then. */
void ccp_server_answer(struct responder_rpc *rpc);

#endif
