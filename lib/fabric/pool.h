/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered buffers: slices of slabs.
 *
 * A slab is memory that a device registers once; a buffer is a slice of one. TCP receives straight
 * into buffers, RDMA reads and writes them, TCP sends from them. A buffer is counted by reference, so
 * that one that is still in an output queue outlives the RPC that made it.
 *
 * The pool hands out memory; whether an RPC may have it is the budget's question (base/budget.h), asked
 * first. A pool belongs to one thread.
 */
#ifndef FABRIC_POOL_H
#define FABRIC_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/hash_table.h"

struct pool;
struct slab;
struct slab_domain;

struct buf {
	uint8_t *mem;      /* start of the slice */
	size_t size_bytes; /* its size class: at least what was asked for */
	unsigned refs;
	struct slab *slab;
	struct buf *next_free; /* the pool's */
	/* Whose peer was the last that could write here, in this use of it and in the one before; 0: nobody's. */
	uint64_t owner, owner_before;
	uint32_t owned_from, owned_to; /* what holds nothing but data of that owner */
};

struct pool_stats {
	size_t slab_bytes;   /* mapped now */
	size_t empty_bytes;  /* of these, in slabs that hold no buffer in use: the reserve */
	size_t in_use_bytes; /* in buffers that somebody holds */
};

/**
 * pool_new - make a pool
 * @max_buf_bytes: largest buffer that will be asked for
 * @reserve_bytes: slabs without a buffer in use are kept, mapped and registered, up to so much in all; those that
 *                 emptied first go first, and one that is larger than that goes at once
 *
 * Returns NULL without memory.
 */
struct pool *pool_new(size_t max_buf_bytes, size_t reserve_bytes);
/**
 * pool_keep_peak - keep as much mapped as was in use of late, also beyond the reserve
 * @on: for a user of the pool to whom mapping and registering memory anew is expensive; false once that user has gone
 *
 * With such users no slab is freed while all that are mapped are no more than were in use at one time in this period or in
 * the one before, see pool_age().
 */
void pool_keep_peak(struct pool *pool, bool on);
/**
 * pool_keep_most - keep no more by that than @most_bytes in slabs without a buffer in use; at first there is no such limit
 *
 * The peaks of several pools are not at the same time, and all may be as high as what the process may have.
 */
void pool_keep_most(struct pool *pool, size_t most_bytes);
/**
 * pool_age - tell the pool what time it is
 *
 * A period begins anew every POOL_PERIOD_US; slabs that were in use only before the last one are freed then, but for the reserve:
 * some of them. Returns whether there are more, so that this is to be called again after POOL_PAUSE_US.
 */
bool pool_age(struct pool *pool, uint64_t now_us) MUST_CHECK;
#define POOL_PERIOD_US 300000000u
#define POOL_PAUSE_US  20000u
/**
 * pool_large_slabs - map new slabs large and at the bounds of huge pages, and ask for huge pages
 * @on: for a device that registers each slab once for all connections; false once it has gone
 *
 * A slab takes at most an eighth of the reserve. Where the host has no huge pages it is of small ones.
 */
void pool_large_slabs(struct pool *pool, bool on);
/** pool_free - free a pool, all of whose buffers have been put; accepts NULL. */
void pool_free(struct pool *pool);
/** pool_stats_get - how much memory the pool has mapped and lent out. */
void pool_stats_get(const struct pool *pool, struct pool_stats *stats);

/**
 * buf_get - take a buffer of at least @size_bytes, with one reference
 *
 * Its content is undefined. Returns NULL without memory or beyond the pool's largest size.
 */
struct buf *buf_get(struct pool *pool, size_t size_bytes) MUST_CHECK;
/** buf_free - nobody refers to it any more: for buf_put() alone. */
void buf_free(struct buf *buf);
/** buf_ref - one more reference; returns @buf. */
static inline struct buf *buf_ref(struct buf *buf)
{
	buf->refs++;
	return buf;
}
/** buf_put - one reference less; the last one gives the slice back; accepts NULL. */
static inline void buf_put(struct buf *buf)
{
	if (!buf)
		return;
	assert(buf->refs > 0);
	if (--buf->refs == 0)
		buf_free(buf);
}

/** pool_owner_new - a number for a connection that no other connection of this pool has or will have; never 0. */
uint64_t pool_owner_new(struct pool *pool);
/**
 * buf_expose - clear what data of others may be in memory that the peer of a connection may write to from now on
 * @mem, @len_bytes: the memory, inside @buf
 * @owner:           the connection, by pool_owner_new()
 *
 * What the same connection exposed of this buffer in its last use stays as it is. Returns how many bytes were cleared.
 */
size_t buf_expose(struct buf *buf, uint8_t *mem, size_t len_bytes, uint64_t owner);

/** pool_class_bytes - the size that buf_get() really takes for @size_bytes: what a budget must count. */
size_t pool_class_bytes(size_t size_bytes);

/* What a fabric keeps of a slab that it registered in a protection domain. */
struct slab_reg {
	void (*release)(struct slab_reg *reg); /* deregisters and frees; the pool calls it */
	/* The pool's. */
	struct slab_domain *domain;
	struct slab *slab;
	LIST_ENTRY(slab_reg) slab_entry; /* of all domains, in its slab */
	struct hash_node node;           /* in its domain */
};
LIST_HEAD(slab_regs, slab_reg);

/*
 * The registrations of slabs in one protection domain, by slab.
 *
 * Many domains may register the same slab: one for each peer, where a device has no memory windows. A lookup touches
 * registrations of its own domain alone, so that its cost does not grow with the number of connections.
 */
struct slab_domain {
	struct hash_table table; /* of reg->node */
};

/** slab_domain_init - set up a domain without registrations; it must not be moved. pool_forget_domain() ends it. */
static inline void slab_domain_init(struct slab_domain *domain)
{
	hash_table_init(&domain->table);
}

/** buf_slab_memory - the whole slab behind a buffer, for a fabric that registers it. */
void buf_slab_memory(const struct buf *buf, uint8_t **start, size_t *len_bytes);
/**
 * buf_slab_reg - find the registration of @buf's slab in @domain, or return NULL
 *
 * The time that this takes does not depend on how many domains and slabs there are.
 */
struct slab_reg *buf_slab_reg(const struct buf *buf, const struct slab_domain *domain);
/**
 * buf_slab_reg_add - remember a registration of @buf's slab in @domain, which has none yet
 *
 * The pool calls its release() before it unmaps the slab.
 */
void buf_slab_reg_add(struct buf *buf, struct slab_domain *domain, struct slab_reg *reg);
/** pool_forget_domain - release every slab's registration in @domain, and its memory: the domain is about to go. */
void pool_forget_domain(struct slab_domain *domain);

#endif
