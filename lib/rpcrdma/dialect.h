/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocol differences: a row for each document that describes a version, a column for each
 * difference. A connection uses one row; an RPC keeps the row with which it was planned.
 *
 * Version one has two rows: RFC 8166, which every peer supports, and its predecessor
 * draft-ietf-nfsv4-rpcrdma-03, which has more features. The columns cover the differences between
 * them (A-Δ in tests/REQUIREMENTS.md) that matter. They also cover two questions that the draft
 * leaves open: the handling of an unused reply chunk (A5.2-4), and of data that arrive inline
 * instead of in their write chunk (A3.7-1).
 *
 * For the other differences one behavior satisfies both documents. Chunk pads are accepted with and
 * without (A-Δ5), read lists in any order (A-Δ7), errors with unknown numbers (A-Δ9), entries of
 * one position as one chunk (A-Δ12). A position-zero chunk in an RDMA_MSG is rejected (A-Δ8). Sends
 * are limited to 1024 bytes until more is advertised (A-Δ10). The errors are the same (A-Δ11).
 *
 * Other code tests columns. Only the header codec, this table and version negotiation
 * (negotiation.h) compare version numbers.
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
	/* Name of the document, if its version has several; otherwise NULL. */
	const char *name;
	/* Version number in each message. */
	uint32_t version;
	/*
	 * The longest Send if nothing is advertised; smaller advertised sizes count as this
	 * (E2.3-1, X-14).
	 */
	uint32_t least_inline_bytes;
	/*
	 * Ends send private data (RFC 8797), so their absence identifies some servers
	 * (peer_profile.h).
	 */
	bool private_data;
	/*
	 * Has RDMA_DONE, which is not answered (A4.2-3); otherwise its number is reserved (E4.2-5).
	 */
	bool done;
	/* Has RDMA_MSGP, with aligned opaques (A3.5-1, A-Δ1). */
	bool padding;
	/* A Reply can be exposed as read chunks, until RDMA_DONE (A3.6-4, A5.1-3, A-Δ2, A-Δ3). */
	bool read_chunk_replies;
	/*
	 * A Reply with data inline for which a write chunk was offered is wrong (A3.7-1); otherwise
	 * it is accepted.
	 */
	bool reduces_results;
	/* An unused reply chunk is returned with zero lengths (A5.2-4); otherwise it is omitted. */
	bool returns_reply_chunk;
	/*
	 * A grant of zero means to wait while Calls are in flight (A3.3-11, A-Δ6); otherwise it is
	 * wrong.
	 */
	bool zero_grants;
	/* Has the Connection Configuration Protocol (A6.2-1, A-Δ4). */
	bool configuration;
	/* Has RDMA_OPTIONAL, and with it characteristics (E3.1-1). */
	bool options;
	/*
	 * The requester alone permits invalidation of its keys; otherwise both ends must (X-6,
	 *
	 */
	bool one_sided_invalidation;
	/*
	 * Set: an RDMA_NOMSG with a read list is a Call, without one a Reply. Clear: only the end
	 * that connected sends RDMA_NOMSG Calls.
	 */
	bool read_list_marks_call;
};

/** dialect - Returns the row of a document. */
const struct dialect *dialect(enum dialect_id id);

#endif
