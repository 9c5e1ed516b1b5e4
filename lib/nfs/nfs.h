/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFS upper-layer binding (RFC 8267): how large a Call's Reply can get, and where the payloads
 * that may move by RDMA are. Pure: bytes in, numbers out; nothing here allocates.
 *
 * Messages of RPCSEC_GSS with integrity or privacy have no payloads: nothing of them may be moved.
 */
#ifndef NFS_NFS_H
#define NFS_NFS_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/msg.h"

/**
 * nfs_reply_ceiling - the largest Reply that a Call can get
 * @hdr:         the Call's header
 * @msg, @len_bytes: the whole Call
 * @limit_bytes: the service's ceiling, for programs that are not known, results that have no bound
 * and Calls that cannot be followed; see also nfs_sessions_limit()
 *
 * Never more than @limit_bytes; the whole RPC message counts, its verifier included.
 */
uint32_t nfs_reply_ceiling(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			   uint32_t limit_bytes);

/* A DDP-eligible data item of a message. */
struct nfs_payload {
	uint32_t offset_bytes; /* from the start of the RPC message, of the first data byte */
	uint32_t len_bytes;    /* without XDR padding */
};

/**
 * nfs_call_payloads - the DDP-eligible arguments of a Call: WRITE data, targets of new links
 * @payloads, @max: takes them, in order
 *
 * Returns how many there are, at most @max, or -EBADMSG if the Call cannot be followed.
 */
int nfs_call_payloads(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
		      struct nfs_payload *payloads, unsigned max) MUST_CHECK;

/**
 * nfs_call_writes - whether the first of them is written to a file, and is no path
 */
bool nfs_call_writes(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes);

/**
 * nfs_result_bounds - the DDP-eligible results that a Reply may have: READ data, READLINK paths
 * @hdr, @msg, @len_bytes: its Call
 * @bounds_bytes, @max: takes the largest length of each; the n-th is for the n-th write chunk
 *
 * Returns how many there are, at most @max, or -EBADMSG if the Call cannot be followed. What such a
 * Reply takes beside them is nfs_reply_ceiling() less each bound rounded up to a multiple of four.
 */
int nfs_result_bounds(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
		      uint32_t *bounds_bytes, unsigned max) MUST_CHECK;

/* More operations than any server takes in one COMPOUND (Linux 50, Ganesha 100). */
#define NFS_NOTE_MAX_OPS 128u

/*
 * What must be kept of a Call to find the payloads in its Reply. There is none of a Call whose
 * security flavour protects or hides its body.
 */
struct nfs_note {
	uint32_t prog, vers, proc;
	uint32_t minor_version; /* of an NFSv4 COMPOUND */
	bool followed;          /* false: the Call could not be, so the Reply cannot be */
	uint8_t op_count;       /* NFSv4: as far as the last READ or READLINK */
	uint8_t ops[NFS_NOTE_MAX_OPS];
};

/**
 * nfs_note_call - keep what reading the Reply takes
 * @note: set when true is returned
 *
 * Returns whether the Reply may have payloads at all, or cannot be told to have none.
 */
bool nfs_note_call(struct nfs_note *note, const struct rpc_call_hdr *hdr, const uint8_t *msg,
		   uint32_t len_bytes);

/**
 * nfs_reply_payloads - the DDP-eligible results of a Reply: READ data, READLINK paths
 * @note:           of its Call
 * @msg, @len_bytes: the whole Reply
 * @payloads, @max: takes them, in order; one that failed has length zero
 *
 * Returns how many there are, at most @max (none in an error reply), or -EBADMSG if the Reply or
 * its Call cannot be followed, or the Reply is not one to this Call.
 */
int nfs_reply_payloads(const struct nfs_note *note, const uint8_t *msg, uint32_t len_bytes,
		       struct nfs_payload *payloads, unsigned max) MUST_CHECK;

/* Clients use one session on a connection, or two while they recover. */
#define NFS_MAX_SESSIONS     8u
#define NFS_SESSION_ID_BYTES 16u

/* The NFSv4.1 sessions that were created on one connection; the latest of them. */
struct nfs_sessions {
	unsigned count, next;
	struct nfs_session {
		uint8_t id[NFS_SESSION_ID_BYTES];
		uint32_t max_response_bytes; /* ca_maxresponsesize of the fore channel */
	} list[NFS_MAX_SESSIONS];
};

/**
 * nfs_sessions_learn - take note of a session if this Call and Reply have created one
 * @sessions: starts as {0}
 *
 * To be told of each Call and its Reply; others than CREATE_SESSION are passed over at once.
 */
void nfs_sessions_learn(struct nfs_sessions *sessions, const struct rpc_call_hdr *hdr,
			const uint8_t *call, uint32_t call_bytes, const uint8_t *reply,
			uint32_t reply_bytes);

/**
 * nfs_sessions_limit - what the session of a Call allows its Reply (RFC 8881 section 18.36.3)
 * @limit_bytes: the service's ceiling
 *
 * Returns the limit for nfs_reply_ceiling(): the session's where it is known and lower, else
 * @limit_bytes.
 */
uint32_t nfs_sessions_limit(const struct nfs_sessions *sessions, const struct rpc_call_hdr *hdr,
			    const uint8_t *msg, uint32_t len_bytes, uint32_t limit_bytes);

#endif
