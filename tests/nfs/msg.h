/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds RPC messages of NFS and its side programs for tests. Shares no code with the walkers. */
#ifndef TESTS_NFS_MSG_H
#define TESTS_NFS_MSG_H

#include "rpc/call_info.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"

#define NFS_MSG_ROOM (4u << 20)

/* A message under construction. */
struct nfs_msg {
	struct xdr_writer out;
	/*
	 * Its counted opaques and strings in order: the offset of the first byte and the length of
	 * each.
	 */
	struct rpc_payload *opaques;
	unsigned nopaques;
};

/* The authentication of a Call. */
struct nfs_msg_auth {
	uint32_t flavor;
	uint32_t gss_proc, gss_service; /* with RPC_AUTH_GSS */
	uint32_t verf_bytes;            /* of the Reply's verifier */
};

/** nfs_msg_new - Returns an empty message; free it with nfs_msg_free(). */
struct nfs_msg *nfs_msg_new(void);
void nfs_msg_free(struct nfs_msg *msg);

/** nfs_msg_call - Begins a Call: a header with AUTH_SYS, or with @auth. */
struct nfs_msg *nfs_msg_call(uint32_t prog, uint32_t vers, uint32_t proc,
			     const struct nfs_msg_auth *auth);
/** nfs_msg_reply - Begins a successful Reply: its header; @auth as with the Call. */
struct nfs_msg *nfs_msg_reply(const struct nfs_msg_auth *auth);

/** nfs_msg_bytes, nfs_msg_len - Return the message so far. */
const uint8_t *nfs_msg_bytes(const struct nfs_msg *msg);
uint32_t nfs_msg_len(const struct nfs_msg *msg);

/** put_* - Append the primitive types. */
void put_u32(struct nfs_msg *msg, uint32_t value);
void put_u64(struct nfs_msg *msg, uint64_t value);
/** put_words - Appends @count words of @value. */
void put_words(struct nfs_msg *msg, unsigned count, uint32_t value);
/** put_fixed - Appends @len filler bytes and their padding. */
void put_fixed(struct nfs_msg *msg, uint32_t len);
/** put_opaque - Appends a length and @len filler bytes; returns the offset of the first. */
uint32_t put_opaque(struct nfs_msg *msg, uint32_t len);

#endif
