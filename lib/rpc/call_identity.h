/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognizes a retransmitted Call: compares at least what servers compare, and nothing that can
 * differ between two copies of one Call.
 *
 * Servers compare the XID and what follows the credential and the verifier. Linux knfsd
 * (fs/nfsd/nfscache.c) compares XID, version, procedure, the length of the arguments and a checksum
 * of their first 256 bytes. NFS-Ganesha (DupReq) compares the XID and a hash of the first 256
 * bytes. Neither compares credentials: the stamp, the groups and the machine name of AUTH_SYS can
 * differ. This module compares the program too.
 *
 * An RPCSEC_GSS client raises its sequence number each time that it sends a Call (RFC 2203 section
 * 5.3.3.1). So the verifier and all signed or encrypted bytes differ as well. These parts are
 * compared:
 *
 *	credential            version, procedure, service and handle, not the sequence number
 *	arguments, none       all of them; the same where a context is made or destroyed
 *	arguments, integrity  the length, and what follows the sequence number, not the checksum
 *	arguments, privacy    only their length
 *
 * Pure.
 */
#ifndef RPC_CALL_IDENTITY_H
#define RPC_CALL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/minmax.h"
#include "rpc/rpc_header.h"

#define CALL_IDENTITY_BYTES     256u /* arguments compared at most */
#define CALL_IDENTITY_MAX_PARTS 4u
/* Before signed arguments: their length and the sequence number (RFC 2203 section 5.3.2.2). */
#define CALL_IDENTITY_SIGNED_BYTES 8u

/* A part of the message in which the identity was found. */
struct call_identity_part {
	const uint8_t *data;
	uint32_t len_bytes;
};

struct call_identity {
	uint32_t xid, prog, vers, proc;
	bool is_gss;
	unsigned nparts;
	struct call_identity_part parts[CALL_IDENTITY_MAX_PARTS];
};

/**
 * call_identity_bytes - Returns how many bytes call_identity_find() needs of a Call
 * @hdr:       its header, decoded
 * @len_bytes: of the whole message
 */
MUST_CHECK static inline uint32_t call_identity_bytes(const struct rpc_call_hdr *hdr,
						      uint32_t len_bytes)
{
	return min_u32(len_bytes,
		       hdr->args_offset + CALL_IDENTITY_SIGNED_BYTES + CALL_IDENTITY_BYTES);
}

/**
 * call_identity_find - Finds the bytes that identify a Call
 * @identity:         filled in; its parts point into @msg
 * @hdr:              the Call's header, decoded from @msg
 * @msg, @have_bytes: the Call, or at least call_identity_bytes() of it
 *
 * The length of the arguments is not included, since it can be unknown yet; compare
 * call_identity_args_bytes() too.
 */
void call_identity_find(struct call_identity *identity, const struct rpc_call_hdr *hdr,
			const uint8_t *msg, uint32_t have_bytes);
/**
 * call_identity_args - Returns the compared arguments of a Call without RPCSEC_GSS: the only part
 * of its identity.
 */
static inline struct call_identity_part call_identity_args(const struct rpc_call_hdr *hdr,
							   const uint8_t *msg, uint32_t have_bytes)
{
	return (struct call_identity_part){
		msg + hdr->args_offset,
		min_u32(have_bytes - hdr->args_offset, CALL_IDENTITY_BYTES)};
}
/**
 * call_identity_equals - Returns whether two Calls are the same, if their arguments have the same
 * length.
 */
bool call_identity_equals(const struct call_identity *a, const struct call_identity *b) MUST_CHECK;

/**
 * call_identity_args_bytes - Returns the length of the arguments of a Call of @len_bytes, which
 * must be equal too.
 */
static inline uint32_t call_identity_args_bytes(const struct rpc_call_hdr *hdr, uint32_t len_bytes)
{
	return len_bytes - hdr->args_offset;
}

#endif
