/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposes memory to the peer for the duration of one RPC.
 *
 * Contiguous memory is exposed as segments, each with its own key, no longer than the connection
 * allows. All memory of an RPC is invalidated together; the peer can reach none of it once
 * mem_expose_invalidate() has returned true or invalidated() was called. Both roles expose memory:
 * a Call or Reply as read chunks, or the memory for a Reply.
 */
#ifndef RPCRDMA_MEM_EXPOSE_H
#define RPCRDMA_MEM_EXPOSE_H

#include <stdlib.h>

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

#define MEM_EXPOSE_EMBEDDED_KEYS 2u /* keys inside the struct */

struct exposed_key {
	struct fabric_key key;
	struct exposed_mem *exposed_mem;
};

struct exposed_mem {
	struct rdma_conn *conn;
	void (*invalidated)(struct exposed_mem *exposed_mem);
	struct exposed_key *keys; /* `few`, or allocated */
	unsigned nkeys;           /* bound keys */
	unsigned unbinding;       /* keys for which unbound() is still to come */
	bool ending; /* mem_expose_invalidate() waits, because the peer is reading unfilled bytes */
	struct exposed_key few[MEM_EXPOSE_EMBEDDED_KEYS]; /* last, and not initialized */
};

/**
 * mem_expose_cost_bytes - Returns the memory of @nkeys keys. Claim it if a peer determines their
 * number.
 */
static inline size_t mem_expose_cost_bytes(size_t nkeys)
{
	return nkeys > MEM_EXPOSE_EMBEDDED_KEYS ? nkeys * sizeof(struct exposed_key) : 0;
}

/**
 * mem_expose_init - Initializes the object, with nothing exposed.
 * @invalidated: called once if mem_expose_invalidate() has returned false
 */
static inline void mem_expose_init(struct exposed_mem *exposed_mem, struct rdma_conn *conn,
				   void (*invalidated)(struct exposed_mem *exposed_mem))
{
	exposed_mem->conn = conn;
	exposed_mem->invalidated = invalidated;
	exposed_mem->keys = exposed_mem->few;
	exposed_mem->nkeys = exposed_mem->unbinding = 0;
	exposed_mem->ending = false;
}

/** mem_expose_fini - Frees the keys; all must be unbound. */
static inline void mem_expose_fini(struct exposed_mem *exposed_mem)
{
	if (exposed_mem->keys != exposed_mem->few)
		free(exposed_mem->keys);
}

/** mem_expose_reserve - Allocates @nkeys keys, before the first is bound. Returns 0 or -ENOMEM. */
int mem_expose_reserve(struct exposed_mem *exposed_mem, unsigned nkeys) MUST_CHECK;

/**
 * mem_expose_add - Exposes contiguous memory, in as many segments as needed.
 * @mem, @len_bytes: the memory, inside @buf
 * @ready_bytes:     filled bytes; fewer than @len_bytes only for Reads, if the endpoint has
 *                   deferred_reads
 * @rights:          FABRIC_REMOTE_*
 *
 * Returns 0 or the fabric's errno; segments exposed before an error stay exposed.
 */
int mem_expose_add(struct exposed_mem *exposed_mem, struct buf *buf, uint8_t *mem,
		   uint32_t len_bytes, uint32_t ready_bytes, unsigned rights) MUST_CHECK;
/**
 * mem_expose_ready - Sets how many bytes are filled, in the @nkeys segments from @first; also after
 * mem_expose_invalidate().
 */
void mem_expose_ready(struct exposed_mem *exposed_mem, unsigned first, unsigned nkeys,
		      uint32_t ready_bytes);
/** mem_expose_has_key - Returns true if @rkey is one of the keys. */
bool mem_expose_has_key(const struct exposed_mem *exposed_mem, uint32_t rkey);
/** mem_expose_segment - Returns key @i as a segment of a chunk. */
struct rpcrdma_segment mem_expose_segment(const struct exposed_mem *exposed_mem, unsigned i);
/**
 * mem_expose_written_bytes - Returns how many bytes the peer is known to have written from the
 * start of segment @i.
 */
static inline uint32_t mem_expose_written_bytes(const struct exposed_mem *exposed_mem, unsigned i)
{
	return exposed_mem->keys[i].key.written.prefix_bytes;
}
/**
 * mem_expose_invalidate - Invalidates all keys.
 *
 * If the peer is reading unfilled bytes, all memory stays exposed until mem_expose_ready() has
 * filled them, because an earlier invalidation would end the connection. Returns true if the peer
 * can reach nothing from now on. Otherwise invalidated() follows, never from inside
 * mem_expose_ready(). After the connection has closed, the owner calls this again for pending
 * objects, and it returns true.
 */
bool mem_expose_invalidate(struct exposed_mem *exposed_mem) MUST_CHECK;

#endif
