/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFS upper-layer binding (RFC 8267): how large a Call's Reply can get, and where the payloads that may move
 * by RDMA are. Pure: bytes in, facts out; nothing here allocates.
 *
 *	call_judge(..., &facts.hdr)              it is a Call that may be passed on
 *	nfs_facts_begin(&facts, limit)           stage HEAD
 *	nfs_facts_go_on(&facts, ..., &msg, ...)  each time more of it is here, until stage WHOLE
 *	nfs_reply_payloads(&facts, reply, ...)   what may move of its Reply
 *	nfs_sessions_learn(&sessions, &facts, reply, ...)
 *
 * Each opaque of a whole message, header included, is another walk: nfs/opaques.h.
 *
 * A Call is walked once: the walk stops where bytes are missing and goes on there, at the start of the operation
 * that they belong to. Opaque data are passed by their length, so they may be anywhere, or still to come. The time
 * that all steps together take is linear in the length of the message, however it is cut.
 *
 * No Call holds its worker for long: one with more than FACTS_MAX_OPS operations or FACTS_MAX_ELEMENTS elements of arrays
 * and lists cannot be followed, as if its program were not known. Of a Reply, NFS_REPLY_MAX_ELEMENTS are walked.
 *
 * Messages of RPCSEC_GSS with integrity or privacy have no payloads: nothing of them may be moved.
 */
#ifndef NFS_NFS_H
#define NFS_NFS_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/facts.h"
#include "rpc/pieces.h"

/* Of the arrays and lists of a Reply: more entries than a directory has in 1 MiB of NFSv4. */
#define NFS_REPLY_MAX_ELEMENTS 65536u

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

/* A counted opaque or string among the arguments of a Call. */
struct nfs_opaque {
	uint32_t offset_bytes, len_bytes; /* in the message, of its first byte; without padding */
	uint32_t
		op; /* which operation of the COMPOUND it belongs to, from 0; else 0, or NFS_OPAQUE_TAG */
	unsigned index;  /* how many stand before it in that operation or procedure */
	bool is_payload; /* it may move */
};

#define NFS_OPAQUE_TAG UINT32_MAX /* the COMPOUND's own */

/*
 * Hears of each of them as the walk comes to it, once and in order, also of those before the point where a Call
 * turns out to be one that cannot be followed. The last one may be longer than what is left of the message: then
 * that is the point.
 */
struct nfs_sink {
	void (*opaque)(void *arg, const struct nfs_opaque *opaque);
	void *arg;
};

/**
 * nfs_facts_begin - know a Call by its header
 * @facts:       with its hdr set; all else is set here
 * @limit_bytes: the largest message of the service
 */
void nfs_facts_begin(struct call_facts *facts, uint32_t limit_bytes);
/** nfs_facts_begin_cleared - the same where all but hdr and ops is zero, as in a new exchange. */
void nfs_facts_begin_cleared(struct call_facts *facts, uint32_t limit_bytes);

/**
 * nfs_facts_go_on - find out more of a Call, as far as it is here
 * @sessions: what the connection has shown; NULL: nothing
 * @msg:      of it what is here. Bytes that were here before are the same still; they may lie elsewhere
 * @sink:     NULL: nobody wants to know; else the same each time
 *
 * Ends with FACTS_WHOLE at the latest when there is no byte left to come. Does nothing after that.
 */
void nfs_facts_go_on(struct call_facts *facts, const struct nfs_sessions *sessions,
		     const struct rpc_pieces *msg, const struct nfs_sink *sink);

/** nfs_facts_whole - know a Call that is here from end to end: begin, and go on to FACTS_WHOLE. */
static inline void nfs_facts_whole(struct call_facts *facts, uint32_t limit_bytes,
				   const struct nfs_sessions *sessions, const uint8_t *msg,
				   uint32_t len_bytes)
{
	const struct rpc_piece piece = {msg, len_bytes};
	const struct rpc_pieces pieces = {&piece, 1, len_bytes};

	nfs_facts_begin(facts, limit_bytes);
	nfs_facts_go_on(facts, sessions, &pieces, NULL);
}

/* What RFC 8267 says of the arguments of a Call: whether some of them may come in read chunks of their own. */
enum nfs_binding {
	NFS_BINDING_UNKNOWN, /* it says nothing of the program, or of this procedure */
	NFS_BINDING_NO_ITEMS, /* nothing may: there are no such arguments, or RPCSEC_GSS protects them */
	NFS_BINDING_ITEMS, /* those of which the sink hears as payloads */
};

/** nfs_args_binding - returns what RFC 8267 says of a Call's arguments; @facts: after nfs_facts_begin(). */
enum nfs_binding nfs_args_binding(const struct call_facts *facts);

/**
 * nfs_reply_payloads - the DDP-eligible results of a Reply: READ data, READLINK paths
 * @facts:          of its Call
 * @msg, @len_bytes: the whole Reply
 * @payloads, @max: takes them, in order; one that failed has length zero
 *
 * Returns how many there are, at most @max (none in an error reply), or -EBADMSG if the Reply or its Call cannot
 * be followed, or the Reply is not one to this Call.
 */
int nfs_reply_payloads(const struct call_facts *facts, const uint8_t *msg, uint32_t len_bytes,
		       struct rpc_payload *payloads, unsigned max) MUST_CHECK;

/**
 * nfs_reply_payloads_begun - the same, of a Reply of which the first @have_bytes are here
 *
 * Where a payload is shows in what stands before it, so what is behind the last one alone may be missing, and the payloads
 * themselves. -EBADMSG if more is. What is found is found in the whole Reply, too.
 */
int nfs_reply_payloads_begun(const struct call_facts *facts, const uint8_t *msg,
			     uint32_t have_bytes, uint32_t len_bytes, struct rpc_payload *payloads,
			     unsigned max) MUST_CHECK;

/**
 * nfs_sessions_learn - take note of a session if a Call and its Reply have created one
 * @sessions: starts as {0}
 *
 * To be told of each Call and its Reply; others than CREATE_SESSION are passed over at once.
 */
void nfs_sessions_learn(struct nfs_sessions *sessions, const struct call_facts *facts,
			const uint8_t *reply, uint32_t reply_bytes);

/**
 * nfs_sessions_limit - what a session allows the Replies to its Calls (RFC 8881 section 18.36.3)
 *
 * Returns the session's limit if it is known and lower, else @limit_bytes.
 */
uint32_t nfs_sessions_limit(const struct nfs_sessions *sessions,
			    const uint8_t id[NFS_SESSION_ID_BYTES], uint32_t limit_bytes);

#endif
