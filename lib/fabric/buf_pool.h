/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered buffers: slices of slabs.
 *
 * A device registers a slab once; a buffer is a slice of a slab. TCP receives directly into
 * buffers, RDMA reads and writes them, TCP sends from them. Buffers have a reference count, so that
 * a buffer in an output queue outlives its RPC.
 *
 * The pool only allocates. The caller must first reserve the memory in the budget (base/budget.h).
 * A pool belongs to one thread.
 */
#ifndef FABRIC_BUF_POOL_H
#define FABRIC_BUF_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/hash_table.h"

struct buf_pool;
struct slab;
struct slab_domain;

struct buf {
	uint8_t *mem;      /* start of the slice */
	size_t size_bytes; /* its size class: at least the requested size */
	unsigned refs;
	struct slab *slab;
	struct buf *next_free; /* used by the pool */
	/*
	 * The connection whose peer could write here: in this use of the buffer, and in the
	 * previous use; 0: none.
	 */
	uint64_t owner, owner_before;
	uint32_t owned_from, owned_to; /* range that holds only data of that owner */
};

struct buf_pool_stats {
	size_t slab_bytes;   /* mapped now */
	size_t empty_bytes;  /* part of it in slabs without a buffer in use: the reserve */
	size_t in_use_bytes; /* in buffers in use */
};

/**
 * buf_pool_new - Creates a pool.
 * @max_buf_bytes: largest buffer that buf_get() will return
 * @reserve_bytes: total of empty slabs that stay mapped and registered. Slabs that became empty
 *                 first are freed first; a slab larger than the reserve is freed immediately.
 *
 * Returns NULL without memory.
 */
struct buf_pool *buf_pool_new(size_t max_buf_bytes, size_t reserve_bytes);
/**
 * buf_pool_keep_peak - Keeps as much memory mapped as was recently in use, even beyond the reserve.
 * @on: true for a user of the pool for which mapping and registering memory is expensive; false
 *      when that user has ended
 *
 * While such a user exists, the pool frees no slab unless the mapped total exceeds the peak use of
 * this period and the previous one (buf_pool_age()).
 */
void buf_pool_keep_peak(struct buf_pool *pool, bool on);
/**
 * buf_pool_keep_max - Limits what buf_pool_keep_peak() keeps to @most_bytes in empty slabs;
 * initially unlimited.
 *
 * Several pools can have their peaks at different times, and each peak can reach the limit of the
 * process.
 */
void buf_pool_keep_max(struct buf_pool *pool, size_t most_bytes);
/**
 * buf_pool_age - Passes the current time to the pool, and frees slabs that were last in use before
 * the previous period.
 *
 * A period lasts BUF_POOL_PERIOD_US. Each call frees only some slabs, and never the reserve.
 * Returns true if more remain: call it again after BUF_POOL_PAUSE_US.
 */
bool buf_pool_age(struct buf_pool *pool, uint64_t now_us) MUST_CHECK;
#define BUF_POOL_PERIOD_US 300000000u
#define BUF_POOL_PAUSE_US  20000u
/**
 * buf_pool_large_slabs - Maps new slabs large and aligned to huge pages, and requests huge pages.
 * @on: true for a device that registers each slab once for all connections; false when it has gone
 *
 * A slab is at most an eighth of the reserve. A host without huge pages uses small ones.
 */
void buf_pool_large_slabs(struct buf_pool *pool, bool on);
/** buf_pool_free - Frees a pool whose buffers have all been put; accepts NULL. */
void buf_pool_free(struct buf_pool *pool);
/** buf_pool_stats_get - Stores how much memory the pool has mapped and in use. */
void buf_pool_stats_get(const struct buf_pool *pool, struct buf_pool_stats *stats);

/**
 * buf_get - Allocates a buffer of at least @size_bytes, with one reference.
 *
 * Its content is undefined. Returns NULL without memory, or above the pool's largest size.
 */
struct buf *buf_get(struct buf_pool *pool, size_t size_bytes) MUST_CHECK;
/** buf_free - Frees a buffer without references; only for buf_put(). */
void buf_free(struct buf *buf);
/** buf_ref - Adds a reference; returns @buf. */
static inline struct buf *buf_ref(struct buf *buf)
{
	buf->refs++;
	return buf;
}
/** buf_put - Drops a reference, and frees the buffer with the last one; accepts NULL. */
static inline void buf_put(struct buf *buf)
{
	if (!buf)
		return;
	assert(buf->refs > 0);
	if (--buf->refs == 0)
		buf_free(buf);
}

/** buf_pool_owner_new - Returns a number for a connection, unique in this pool, never 0. */
uint64_t buf_pool_owner_new(struct buf_pool *pool);
/**
 * buf_expose - Clears data of other connections in memory that a connection's peer can write to
 * from now on.
 * @mem, @len_bytes: the memory, inside @buf
 * @owner:           the connection, by buf_pool_owner_new()
 *
 * The range that the same connection exposed in the buffer's previous use stays as it is. Returns
 * the number of bytes cleared.
 */
size_t buf_expose(struct buf *buf, uint8_t *mem, size_t len_bytes, uint64_t owner);

/**
 * buf_pool_class_bytes - Returns the size that buf_get() allocates for @size_bytes: the size to
 * count in a budget.
 */
size_t buf_pool_class_bytes(size_t size_bytes);

/* A fabric's registration of a slab in a protection domain. */
struct slab_reg {
	void (*release)(struct slab_reg *reg); /* deregisters and frees; called by the pool */
	/* Used by the pool. */
	struct slab_domain *domain;
	struct slab *slab;
	LIST_ENTRY(slab_reg) slab_entry; /* in the slab's list, of all domains */
	struct hash_node node;           /* in its domain */
};
LIST_HEAD(slab_regs, slab_reg);

/*
 * The registrations of slabs in one protection domain, indexed by slab.
 *
 * Many domains can register the same slab: one for each peer, if the device has no memory windows.
 * A lookup touches only registrations of its own domain, so its cost does not grow with the number
 * of connections.
 */
struct slab_domain {
	struct hash_table table; /* of reg->node */
};

/** slab_domain_init - Initializes a domain, which must not be moved; see slab_domain_fini(). */
static inline void slab_domain_init(struct slab_domain *domain)
{
	hash_table_init(&domain->table);
}

/** buf_slab_memory - Stores the address and length of @buf's slab, for registering it. */
void buf_slab_memory(const struct buf *buf, uint8_t **start, size_t *len_bytes);
/**
 * buf_slab_reg - Returns the registration of @buf's slab in @domain, or NULL.
 *
 * The cost does not depend on the number of domains and slabs.
 */
struct slab_reg *buf_slab_reg(const struct buf *buf, const struct slab_domain *domain);
/**
 * buf_slab_reg_add - Adds a registration of @buf's slab to @domain, which must not have one yet.
 *
 * The pool calls its release() before it unmaps the slab.
 */
void buf_slab_reg_add(struct buf *buf, struct slab_domain *domain, struct slab_reg *reg);
/** slab_domain_fini - Releases all registrations in @domain, and its memory. */
void slab_domain_fini(struct slab_domain *domain);

#endif
