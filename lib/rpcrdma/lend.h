/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposes memory to the peer for the time of one RPC.
 *
 * Contiguous memory is exposed as segments, each with its own key, no longer than the connection allows. All memory of
 * an RPC is invalidated together; the peer can reach none of it once lend_end() has returned true or invalidated() was
 * called. Both roles expose memory: a Call or Reply as read chunks, or the memory for a Reply.
 */
#ifndef RPCRDMA_LEND_H
#define RPCRDMA_LEND_H

#include <stdlib.h>

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

#define LEND_FEW 2u /* keys inside the struct */

struct lend_key {
	struct fabric_key key;
	struct lend *lend;
};

struct lend {
	struct rdma_conn *conn;
	void (*ended)(struct lend *lend);
	struct lend_key *keys; /* `few`, or allocated */
	unsigned nkeys;        /* bound keys */
	unsigned unbinding;    /* keys for which unbound() is still to come */
	bool ending;           /* lend_end() waits, because the peer is reading unfilled bytes */
	struct lend_key few[LEND_FEW]; /* last, and not initialized */
};

/** lend_cost_bytes - Returns the memory of @nkeys keys, for a claim where a peer determines their number. */
static inline size_t lend_cost_bytes(size_t nkeys)
{
	return nkeys > LEND_FEW ? nkeys * sizeof(struct lend_key) : 0;
}

/**
 * lend_init - Initializes the object, with nothing exposed.
 * @invalidated: called once if lend_end() has returned false
 */
static inline void lend_init(struct lend *lend, struct rdma_conn *conn,
			     void (*ended)(struct lend *lend))
{
	lend->conn = conn;
	lend->ended = ended;
	lend->keys = lend->few;
	lend->nkeys = lend->unbinding = 0;
	lend->ending = false;
}

/** lend_fini - Frees the keys; all must be unbound. */
static inline void lend_fini(struct lend *lend)
{
	if (lend->keys != lend->few)
		free(lend->keys);
}

/** lend_reserve - Allocates @nkeys keys, before the first is bound. Returns 0 or -ENOMEM. */
int lend_reserve(struct lend *lend, unsigned nkeys) MUST_CHECK;

/**
 * lend_memory - Exposes contiguous memory, in as many segments as needed.
 * @mem, @len_bytes: the memory, inside @buf
 * @ready_bytes:     filled bytes; fewer than @len_bytes only for Reads, if the endpoint has late_reads
 * @rights:          FABRIC_REMOTE_*
 *
 * Returns 0 or the fabric's errno; segments exposed before an error stay exposed.
 */
int lend_memory(struct lend *lend, struct buf *buf, uint8_t *mem, uint32_t len_bytes,
		uint32_t ready_bytes, unsigned rights) MUST_CHECK;
/** lend_ready - Sets how many bytes are filled, in the @nkeys segments from @first; also after lend_end(). */
void lend_ready(struct lend *lend, unsigned first, unsigned nkeys, uint32_t ready_bytes);
/** lend_owns - Returns true if @rkey is one of the keys. */
bool lend_owns(const struct lend *lend, uint32_t rkey);
/** lend_segment - Returns key @i as a segment of a chunk. */
struct rpcrdma_segment lend_segment(const struct lend *lend, unsigned i);
/** lend_written_bytes - Returns how many bytes the peer is known to have written from the start of segment @i. */
static inline uint32_t lend_written_bytes(const struct lend *lend, unsigned i)
{
	return lend->keys[i].key.written.prefix_bytes;
}
/**
 * lend_end - Invalidates all keys.
 *
 * If the peer is reading unfilled bytes, all memory stays exposed until lend_ready() has filled them, because an
 * earlier invalidation would end the connection. Returns true if the peer can reach nothing from now on. Otherwise
 * invalidated() follows, never from inside lend_ready(). After the connection has closed, the owner calls this again for
 * pending objects, and it returns true.
 */
bool lend_end(struct lend *lend) MUST_CHECK;

#endif
