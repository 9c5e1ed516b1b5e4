/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFS upper-layer binding (RFC 8267): how large a Call's Reply can get, and which payloads can
 * move by RDMA. Pure: bytes in, information out, no allocation.
 *
 *	call_check()              the message is a Call that can be forwarded
 *	nfs_call_walk_begin()     its header: stage CALL_INFO_HEAD
 *	nfs_call_walk_continue()  each time more has arrived, until stage CALL_INFO_COMPLETE
 *	nfs_reply_ddp_items()     finds the movable payloads of its Reply
 *	nfs_sessions_learn()      records a session that the Call and its Reply have created
 *
 * nfs/opaque_walk.h walks every opaque of a whole message, including its header.
 *
 * A Call is walked once. The walk stops where bytes are missing, and continues at the start of that
 * operation. Opaque data are skipped by their length, so they can be in a chunk or still to arrive.
 * The total time is linear in the length of the message, however many parts it arrives in.
 *
 * To keep the worker free, a Call with more than CALL_MAX_OPS operations, or CALL_MAX_ELEMENTS
 * elements of arrays and lists, counts as not parsable, as if its program were unknown. Of a Reply
 * at most NFS_REPLY_MAX_ELEMENTS are walked.
 *
 * RPCSEC_GSS messages with integrity or privacy have no payloads, since nothing of them may be
 * moved.
 */
#ifndef NFS_NFS_H
#define NFS_NFS_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/call_info.h"
#include "rpc/xdr_sg.h"

/* Elements of arrays and lists of a Reply: more than 1 MiB of NFSv4 directory entries. */
#define NFS_REPLY_MAX_ELEMENTS 65536u

/* A client uses one session per connection, or two during recovery. */
#define NFS_MAX_SESSIONS     8u
#define NFS_SESSION_ID_BYTES 16u

/* The last NFSv4.1 sessions that were created on one connection. */
struct nfs_sessions {
	unsigned count, next;
	struct nfs_session {
		uint8_t id[NFS_SESSION_ID_BYTES];
		uint32_t max_response_bytes; /* ca_maxresponsesize of the fore channel */
	} list[NFS_MAX_SESSIONS];
};

/* A counted opaque or string in the arguments of a Call. */
struct nfs_opaque {
	uint32_t offset_bytes, len_bytes; /* of its first byte in the message; without padding */
	/*
	 * Index of its operation in the COMPOUND, from 0; 0 for procedures, NFS_OPAQUE_TAG for the
	 * tag.
	 */
	uint32_t op;
	unsigned index;  /* its index in that operation or procedure */
	bool is_payload; /* it is DDP-eligible */
};

#define NFS_OPAQUE_TAG UINT32_MAX /* the tag of the COMPOUND */

/*
 * Gets each opaque once and in order, even if a later part of the Call cannot be parsed. If that
 * fails because an opaque is longer than the rest of the message, that opaque is the last one.
 */
struct nfs_sink {
	void (*opaque)(void *arg, const struct nfs_opaque *opaque);
	void *arg;
};

/**
 * nfs_call_walk_begin - Initializes the information about a Call from its header
 * @call_info:   with its hdr set; all other members are initialized
 * @limit_bytes: the largest message of the service
 */
void nfs_call_walk_begin(struct call_info *call_info, uint32_t limit_bytes);
/**
 * nfs_call_walk_begin_cleared - The same if all members but hdr and ops are zero, as in a new
 * exchange.
 */
void nfs_call_walk_begin_cleared(struct call_info *call_info, uint32_t limit_bytes);

/**
 * nfs_call_walk_continue - Walks more of a Call, as far as it has arrived
 * @sessions: those of the connection; NULL: none known
 * @msg:      what has arrived. Earlier bytes are unchanged, but can be at another place in memory
 * @sink:     gets the opaques, the same each time; NULL: none
 *
 * Reaches CALL_INFO_COMPLETE at the latest when all bytes have arrived. Does nothing after that.
 */
void nfs_call_walk_continue(struct call_info *call_info, const struct nfs_sessions *sessions,
			    const struct xdr_sg *msg, const struct nfs_sink *sink);

/** nfs_call_walk_whole - Walks a complete Call: begins, and continues to CALL_INFO_COMPLETE. */
static inline void nfs_call_walk_whole(struct call_info *call_info, uint32_t limit_bytes,
				       const struct nfs_sessions *sessions, const uint8_t *msg,
				       uint32_t len_bytes)
{
	const struct xdr_sg_entry piece = {msg, len_bytes};
	const struct xdr_sg pieces = {&piece, 1, len_bytes};

	nfs_call_walk_begin(call_info, limit_bytes);
	nfs_call_walk_continue(call_info, sessions, &pieces, NULL);
}

/*
 * What RFC 8267 says about the arguments of a Call: whether some of them can be in Read chunks of
 * their own.
 */
enum nfs_binding {
	NFS_BINDING_UNKNOWN,  /* nothing about the program or this procedure */
	NFS_BINDING_NO_ITEMS, /* none can: it has no such arguments, or RPCSEC_GSS protects them */
	NFS_BINDING_ITEMS,    /* those that the sink gets with is_payload */
};

/**
 * nfs_args_binding - Returns what RFC 8267 says about a Call's arguments. @call_info: after
 * nfs_call_walk_begin().
 */
enum nfs_binding nfs_args_binding(const struct call_info *call_info);

/**
 * nfs_reply_ddp_items - Finds the DDP-eligible results of a Reply: READ data, READLINK paths
 * @call_info:       of its Call
 * @msg, @len_bytes: the whole Reply
 * @payloads, @max:  receives them in order; that of a failed operation has length zero
 *
 * Returns their number, at most @max; 0 for an error Reply. Returns -EBADMSG if the Reply or its
 * Call cannot be parsed, or the Reply does not match the Call.
 */
int nfs_reply_ddp_items(const struct call_info *call_info, const uint8_t *msg, uint32_t len_bytes,
			struct rpc_payload *payloads, unsigned max) MUST_CHECK;

/**
 * nfs_reply_ddp_items_partial - The same for a Reply of which the first @have_bytes have arrived
 *
 * A payload is located by the bytes before it. So the payloads themselves and everything after the
 * last one can be missing; if more is missing, it returns -EBADMSG. The payloads found are those of
 * the whole Reply.
 */
int nfs_reply_ddp_items_partial(const struct call_info *call_info, const uint8_t *msg,
				uint32_t have_bytes, uint32_t len_bytes,
				struct rpc_payload *payloads, unsigned max) MUST_CHECK;

/**
 * nfs_sessions_learn - Records a session if a Call and its Reply have created one
 * @sessions: initially {0}
 *
 * Call it for every Call and its Reply; all but CREATE_SESSION return immediately.
 */
void nfs_sessions_learn(struct nfs_sessions *sessions, const struct call_info *call_info,
			const uint8_t *reply, uint32_t reply_bytes);

/**
 * nfs_sessions_limit - Returns the largest Reply that a session allows (RFC 8881 section 18.36.3)
 *
 * Returns the session's limit if it is known and lower, else @limit_bytes.
 */
uint32_t nfs_sessions_limit(const struct nfs_sessions *sessions,
			    const uint8_t id[NFS_SESSION_ID_BYTES], uint32_t limit_bytes);

#endif
