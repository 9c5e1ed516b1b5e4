/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6): its messages
 * (pure), its client and its server.
 *
 * It is an RPC program of version 1, with NULL and CONF_RDMA, on the connection that it configures.
 * The draft does not assign a program number, so the configuration has it (A6.2-1). Arguments and
 * results have three words each. The results do not include the size of Replies, because the server
 * obeys the client's value (A6.2-2).
 *
 * The client: before its first Call, the end that connected advertises its sizes and asks for the
 * server's, if configured and if version one is used. CONF_RDMA is a message originated by the
 * proxy, with an XID of no Call in flight. It uses the single credit available before the
 * first Reply, so Calls wait (A6.1-1). The server's values then apply and take precedence over its
 * private data. Without a valid answer within CCP_CLIENT_WAIT_US the private data stay in
 * force (A6.1-2). A later answer is discarded; for CCP_CLIENT_LATE_US no Call uses that XID.
 *
 * The server: Calls to its program are answered here and never forwarded (A6.2-8). The client's
 * values then apply and take precedence over its private data, but only the first time, and
 * only if no other Call is in flight. This end always advertises the same values, which are in
 * force from the start (A6.1-2).
 */
#ifndef RPCRDMA_DRAFT03_CCP_H
#define RPCRDMA_DRAFT03_CCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/rpc_header.h"
#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder_rpc.h"

#define CCP_VERSION     1u
#define CCP_CALL_BYTES  52u /* CONF_RDMA with AUTH_NONE */
#define CCP_REPLY_BYTES 36u /* the longest Reply */

/* Values of the client. */
struct ccp_args {
	uint32_t maxcall_sendsize;  /* longest Send with a Call that it sends */
	uint32_t maxreply_sendsize; /* longest Send with a Reply that it accepts */
	uint32_t maxrdmaread;       /* most RDMA Reads of its memory outstanding */
};

/* Values of the server. */
struct ccp_results {
	uint32_t maxcall_sendsize; /* longest Send with a Call that it accepts */
	uint32_t align;            /* recommended alignment for RDMA_MSGP (A6.2-6); 0: none */
	uint32_t maxrdmaread;      /* most RDMA Reads of its memory outstanding */
};

/* Verdict on a Call to the program. */
enum ccp_verdict {
	CCP_NULL,
	CCP_CONF,     /* CONF_RDMA, with its arguments */
	CCP_MISMATCH, /* another version: PROG_MISMATCH */
	CCP_NO_PROC,  /* another procedure: PROC_UNAVAIL */
	CCP_GARBAGE,  /* invalid arguments: GARBAGE_ARGS */
	/* flavor whose Replies need a verifier, which the proxy cannot make: AUTH_FAILED */
	CCP_FLAVOR,
};

/** ccp_encode_call - Encodes CONF_RDMA with AUTH_NONE; returns CCP_CALL_BYTES. */
size_t ccp_encode_call(uint8_t to[CCP_CALL_BYTES], uint32_t xid, uint32_t prog,
		       const struct ccp_args *args);
/**
 * ccp_check_call - Classifies a Call to the program.
 * @call, @len: the whole Call
 * @hdr:        its decoded header
 * @args:       set on CCP_CONF
 */
enum ccp_verdict ccp_check_call(const uint8_t *call, size_t len, const struct rpc_call_hdr *hdr,
				struct ccp_args *args) MUST_CHECK;
/**
 * ccp_encode_reply - Encodes the Reply to such a Call, with @results on CCP_CONF; returns the bytes
 * written to @to.
 */
size_t ccp_encode_reply(uint8_t to[CCP_REPLY_BYTES], uint32_t xid, enum ccp_verdict verdict,
			const struct ccp_results *results);
/**
 * ccp_decode_reply - Decodes the Reply to the CONF_RDMA with @xid.
 * @results: set on success
 *
 * Returns false for an RPC error or an invalid Reply.
 */
bool ccp_decode_reply(const uint8_t *reply, size_t len, uint32_t xid,
		      struct ccp_results *results) MUST_CHECK;

/* ---- the client ---- */

#define CCP_CLIENT_WAIT_US 5000000u
#define CCP_CLIENT_LATE_US 60000000u

/**
 * ccp_client_begin - Sends CONF_RDMA if configured; the connection is open, and its version known
 * or assumed.
 */
void ccp_client_begin(struct requester *rq);
/**
 * ccp_client_answered - Handles a Reply to @hdr->xid.
 * @body, @len_bytes: the inline RPC message
 *
 * Returns true if it answered CONF_RDMA, which is now finished; the caller obeys the grant and
 * sends waiting Calls.
 */
bool ccp_client_answered(struct requester *rq, const struct rpcrdma_header *hdr,
			 const uint8_t *body, uint32_t len_bytes) MUST_CHECK;
/**
 * ccp_client_failed - Handles @what, an invalid answer to @xid. Returns true if @xid was that of
 * CONF_RDMA.
 */
bool ccp_client_failed(struct requester *rq, uint32_t xid, const char *what) MUST_CHECK;

/* ---- the server ---- */

/**
 * ccp_server_serves - Returns true if this client can use the program; otherwise answer
 * PROG_UNAVAIL (A6.2-10).
 */
bool ccp_server_serves(const struct responder_rpc *rpc);
/**
 * ccp_server_answer - Answers a complete Call to the program, whose header is decoded; the RPC then
 * ends.
 */
void ccp_server_answer(struct responder_rpc *rpc);

#endif
