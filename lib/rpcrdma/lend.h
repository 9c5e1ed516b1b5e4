/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory lent to the peer, for the time of one RPC.
 *
 * A stretch of memory is lent as segments, each under a key of its own, no longer than the connection allows. All
 * that an RPC lends is taken back together; the peer reaches none of it once lend_end() has returned true or ended()
 * was called. Either role lends: a Call or a Reply as read chunks, or where a Reply may land.
 */
#ifndef RPCRDMA_LEND_H
#define RPCRDMA_LEND_H

#include <stdlib.h>

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

#define LEND_FEW 2u /* keys that take no memory of their own */

struct lend_key {
	struct fabric_key key;
	struct lend *lend;
};

struct lend {
	struct rdma_conn *conn;
	void (*ended)(struct lend *lend);
	struct lend_key *keys; /* `few`, or allocated */
	unsigned nkeys;        /* bound */
	unsigned unbinding;    /* keys whose unbound() is due */
	bool ending;           /* lend_end() waits: the peer reads bytes that are not filled */
	struct lend_key few[LEND_FEW]; /* last, and not initialised */
};

/** lend_cost_bytes - what so many keys take: count this in a claim where a peer chooses how many there are. */
static inline size_t lend_cost_bytes(size_t nkeys)
{
	return nkeys > LEND_FEW ? nkeys * sizeof(struct lend_key) : 0;
}

/**
 * lend_init - nothing lent yet
 * @ended: called once if lend_end() has returned false
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

/** lend_fini - free the keys' memory; none may be bound. */
static inline void lend_fini(struct lend *lend)
{
	if (lend->keys != lend->few)
		free(lend->keys);
}

/** lend_reserve - room for @nkeys keys in all, before the first is bound. Returns 0 or -ENOMEM. */
int lend_reserve(struct lend *lend, unsigned nkeys) MUST_CHECK;

/**
 * lend_memory - lend a stretch of memory, in as many segments as it takes
 * @mem, @len_bytes: the memory, inside @buf
 * @ready_bytes:     how much of it is filled; less than all only for Reads where the endpoint has late_reads
 * @rights:          FABRIC_REMOTE_*
 *
 * Returns 0 or the fabric's errno; what was lent until then stays lent.
 */
int lend_memory(struct lend *lend, struct buf *buf, uint8_t *mem, uint32_t len_bytes,
		uint32_t ready_bytes, unsigned rights) MUST_CHECK;
/** lend_ready - of the stretch of @nkeys segments from @first on, so much is filled now; also after lend_end(). */
void lend_ready(struct lend *lend, unsigned first, unsigned nkeys, uint32_t ready_bytes);
/** lend_owns - whether @rkey is one of the keys. */
bool lend_owns(const struct lend *lend, uint32_t rkey);
/** lend_segment - the @i-th key as a segment of a chunk. */
struct rpcrdma_segment lend_segment(const struct lend *lend, unsigned i);
/** lend_written_bytes - what of the @i-th segment the peer has written from its start on, as far as the fabric can tell. */
static inline uint32_t lend_written_bytes(const struct lend *lend, unsigned i)
{
	return lend->keys[i].key.written.prefix_bytes;
}
/**
 * lend_end - take all of it back
 *
 * While the peer reads bytes that are not filled yet all of it stays lent, until lend_ready() has filled them: to take
 * it back before would end the connection. Returns true if the peer reaches nothing from now on; else ended() follows, and
 * not from inside lend_ready(). Once the connection is over this is called again for what still waits, and returns true.
 */
bool lend_end(struct lend *lend) MUST_CHECK;

#endif
