/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two ends may say to each other, and how: a row for each document that describes it, a column for each choice in
 * which documents differ. A connection goes by one row; an RPC by the one that it was planned with.
 *
 * Version one has two: RFC 8166, which every peer speaks, and draft-ietf-nfsv4-rpcrdma-03, from which it was made and
 * which has more in it. Of the differences between these (A-Δ in tests/REQUIREMENTS.md) those have a column that decide
 * what is done, and so have two of which the draft is silent: what becomes of an unused reply chunk (A5.2-4), and of data
 * that came inline instead of in their write chunk (A3.7-1); in the others one way serves both: pads of chunks are taken
 * with and without (A-Δ5), read lists in any order (A-Δ7), a position-zero chunk in an RDMA_MSG by neither (A-Δ8), errors
 * of unknown numbers (A-Δ9), 1024 bytes until more is told (A-Δ10), the same errors (A-Δ11), entries of one position as
 * one chunk (A-Δ12).
 *
 * Code asks columns. Only the codec of the header, this table and what settles the version of a connection
 * (negotiation.h) compare numbers of versions.
 */
#ifndef RPCRDMA_DIALECT_H
#define RPCRDMA_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#define DIALECTS(X)                                                                                \
	X(RFC8166)                                                                                 \
	X(DRAFT03)                                                                                 \
	X(V2)

enum dialect_id {
#define DIALECT_ENUM(name) DIALECT_##name,
	DIALECTS(DIALECT_ENUM) DIALECT_COUNT
#undef DIALECT_ENUM
};

struct dialect {
	/* Which of several documents of its version; NULL: there is one. */
	const char *name;
	/* What stands in each of its messages. */
	uint32_t version;
	/* The longest Send where nothing is told; what is told and is less counts as this (E2.3-1, X-14). */
	uint32_t least_inline_bytes;
	/* Ends send private data (RFC 8797), so that a lack of them shows something of a server (peer_profile.h). */
	bool private_data;
	/* RDMA_DONE, which gets no answer (A4.2-3); else its number is reserved (E4.2-5). */
	bool done;
	/* RDMA_MSGP, whose opaques stand aligned (A3.5-1, A-Δ1). */
	bool padding;
	/* A Reply may be lent as read chunks, until an RDMA_DONE (A3.6-4, A5.1-3, A-Δ2, A-Δ3). */
	bool lent_replies;
	/* A Reply with data inline that a write chunk was offered for is wrong (A3.7-1); else it is taken. */
	bool reduces_results;
	/* A reply chunk that is not used is returned with zero lengths (A5.2-4); else it is left out. */
	bool returns_reply_chunk;
	/* A grant of zero means to wait while Calls are in flight (A3.3-11, A-Δ6); else it is wrong. */
	bool zero_grants;
	/* The sizes of a connection may be asked for by the configuration program (A6.2-1, A-Δ4). */
	bool configuration;
	/* RDMA_OPTIONAL, and with it the characteristics (E3.1-1). */
	bool options;
	/* A requester says by itself whether its keys may be invalidated; else both ends must. */
	bool one_sided_invalidation;
	/* An RDMA_NOMSG with a read list is a Call, without one a Reply; else the end that connected calls. */
	bool read_list_tells_call;
};

/** dialect - the row of a document. */
const struct dialect *dialect(enum dialect_id id);

#endif
