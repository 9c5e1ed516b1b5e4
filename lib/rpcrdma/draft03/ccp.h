/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6.2): its messages. Pure.
 *
 * It is an RPC program of version 1 on the connection that it configures, with NULL and CONF_RDMA. The draft has no
 * number for it, so that is the configuration's (A6.2-1). Three words go each way; the results say nothing of the
 * Replies' size, since the server obeys the client's (A6.2-2).
 */
#ifndef RPCRDMA_DRAFT03_CCP_H
#define RPCRDMA_DRAFT03_CCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/msg.h"

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

#endif
