/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks every counted opaque and string of a whole RPC message in order: the bodies of credential
 * and verifier, then those of arguments or results (A3.5-7). Pure, linear in the length of the
 * message.
 *
 * The buffer can differ from the original message: the listener returns how many bytes an opaque
 * takes in the buffer. So pad bytes before an opaque, or data in a chunk, can be skipped.
 *
 * The contents of an opaque belong to its program: the parameters of AUTH_SYS, the attributes of
 * NFSv4, and everything that RPCSEC_GSS protects are one opaque each.
 */
#ifndef NFS_OPAQUE_WALK_H
#define NFS_OPAQUE_WALK_H

#include "nfs/xdr_type.h"
#include "rpc/call_info.h"

/**
 * nfs_opaque_walk_call - Reports each opaque of a Call to @listener
 * @msg, @len_bytes: the buffer
 *
 * Returns false if the Call cannot be parsed up to its end; the listener got the opaques before the
 * error.
 */
bool nfs_opaque_walk_call(const uint8_t *msg, uint32_t len_bytes,
			  struct nfs_listener *listener) MUST_CHECK;

/**
 * nfs_opaque_walk_reply - Reports each opaque of a Reply to @listener
 * @call_info: of its Call; NULL: its results have no opaques, so only the header is walked
 *
 * An error Reply is walked up to its verifier. Returns false as above.
 */
bool nfs_opaque_walk_reply(const struct call_info *call_info, const uint8_t *msg,
			   uint32_t len_bytes, struct nfs_listener *listener) MUST_CHECK;

#endif
