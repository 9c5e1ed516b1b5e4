// SPDX-License-Identifier: BSD-3-Clause
/*
 * Registered buffers: slices of slabs.
 *
 * Size classes are powers of two and their halves in between (512, 768, 1024, 1536 …), so that a slice
 * wastes less than half of itself. Each class has slabs of its own, mapped when it runs dry; an empty
 * slab beyond a small reserve is unmapped, so that one busy hour is not paid for ever.
 */
#include "fabric/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/queue.h>

#include "fabric/poison.h"

#define MIN_CLASS_BYTES   512u
#define MIN_SLAB_BYTES    (256u * 1024u)
#define MAX_CLASSES       64u
#define SPARE_SLABS       2u                   /* empty slabs kept in each class … */
#define SPARE_CLASS_BYTES (8u * 1024u * 1024u) /* … while they hold no more than this */

struct slab {
	TAILQ_ENTRY(slab) entry; /* in its class: those with free slices first */
	struct pool *pool;
	unsigned class;
	uint8_t *mem;
	size_t len_bytes;
	unsigned nbufs, nfree;
	struct buf *free;
	struct slab_reg *regs;
	struct buf bufs[];
};
TAILQ_HEAD(slab_list, slab);

struct pool {
	unsigned nclasses;
	struct slab_list classes[MAX_CLASSES];
	unsigned empty[MAX_CLASSES]; /* slabs without a buffer in use */
	struct pool_stats stats;
};

static unsigned class_of(size_t size_bytes)
{
	unsigned class = 0;
	size_t size = MIN_CLASS_BYTES;

	while (size < size_bytes) {
		if (size + size / 2 >= size_bytes)
			return class + 1;
		size *= 2;
		class += 2;
	}
	return class;
}

static size_t class_bytes(unsigned class)
{
	size_t size = (size_t)MIN_CLASS_BYTES << (class / 2);

	return class % 2 ? size + size / 2 : size;
}

size_t pool_class_bytes(size_t size_bytes)
{
	return class_bytes(class_of(size_bytes));
}

struct pool *pool_new(size_t max_buf_bytes)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->nclasses = class_of(max_buf_bytes) + 1;
	assert(pool->nclasses <= MAX_CLASSES);
	for (unsigned i = 0; i < pool->nclasses; i++)
		TAILQ_INIT(&pool->classes[i]);
	return pool;
}

static void slab_free(struct slab *slab)
{
	struct pool *pool = slab->pool;

	TAILQ_REMOVE(&pool->classes[slab->class], slab, entry);
	while (slab->regs) {
		struct slab_reg *reg = slab->regs;

		slab->regs = reg->next;
		reg->release(reg);
	}
	pool->stats.slab_bytes -= slab->len_bytes;
	memory_unpoison(slab->mem, slab->len_bytes);
	munmap(slab->mem, slab->len_bytes);
	free(slab);
}

static struct slab *slab_new(struct pool *pool, unsigned class)
{
	size_t size = class_bytes(class);
	unsigned nbufs = size >= MIN_SLAB_BYTES ? 1 : MIN_SLAB_BYTES / size;
	struct slab *slab = calloc(1, sizeof(*slab) + nbufs * sizeof(struct buf));

	if (!slab)
		return NULL;
	slab->len_bytes = (nbufs * size + 4095) & ~(size_t)4095;
	slab->mem = mmap(NULL, slab->len_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (slab->mem == MAP_FAILED) {
		free(slab);
		return NULL;
	}
	slab->pool = pool;
	slab->class = class;
	slab->nbufs = slab->nfree = nbufs;
	for (unsigned i = 0; i < nbufs; i++) {
		struct buf *buf = &slab->bufs[i];

		buf->mem = slab->mem + i * size;
		buf->size_bytes = size;
		buf->slab = slab;
		buf->next_free = slab->free;
		slab->free = buf;
	}
	memory_poison(slab->mem, slab->len_bytes);
	pool->stats.slab_bytes += slab->len_bytes;
	pool->empty[class]++;
	TAILQ_INSERT_HEAD(&pool->classes[class], slab, entry);
	return slab;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	assert(pool->stats.in_use_bytes == 0);
	for (unsigned i = 0; i < pool->nclasses; i++) {
		struct slab *slab;

		while ((slab = TAILQ_FIRST(&pool->classes[i])))
			slab_free(slab);
	}
	free(pool);
}

void pool_stats_get(const struct pool *pool, struct pool_stats *stats)
{
	*stats = pool->stats;
}

struct buf *buf_get(struct pool *pool, size_t size_bytes)
{
	unsigned class = class_of(size_bytes);
	struct slab *slab;
	struct buf *buf;

	if (class >= pool->nclasses)
		return NULL;
	slab = TAILQ_FIRST(&pool->classes[class]);
	if (!slab || !slab->nfree)
		slab = slab_new(pool, class);
	if (!slab)
		return NULL;
	if (slab->nfree == slab->nbufs)
		pool->empty[class]--;
	buf = slab->free;
	slab->free = buf->next_free;
	buf->next_free = NULL;
	buf->refs = 1;
	if (--slab->nfree == 0) {
		TAILQ_REMOVE(&pool->classes[class], slab, entry);
		TAILQ_INSERT_TAIL(&pool->classes[class], slab, entry);
	}
	pool->stats.in_use_bytes += buf->size_bytes;
	memory_unpoison(buf->mem, size_bytes);
	return buf;
}

struct buf *buf_ref(struct buf *buf)
{
	buf->refs++;
	return buf;
}

void buf_put(struct buf *buf)
{
	struct slab *slab;
	struct pool *pool;
	unsigned spare;

	if (!buf)
		return;
	assert(buf->refs > 0);
	if (--buf->refs > 0)
		return;
	slab = buf->slab;
	pool = slab->pool;
	pool->stats.in_use_bytes -= buf->size_bytes;
	memory_poison(buf->mem, buf->size_bytes);
	buf->next_free = slab->free;
	slab->free = buf;
	if (slab->nfree++ == 0) {
		TAILQ_REMOVE(&pool->classes[slab->class], slab, entry);
		TAILQ_INSERT_HEAD(&pool->classes[slab->class], slab, entry);
	}
	if (slab->nfree < slab->nbufs)
		return;
	spare = SPARE_CLASS_BYTES / slab->len_bytes;
	if (spare < SPARE_SLABS)
		spare = SPARE_SLABS;
	if (pool->empty[slab->class] >= spare)
		slab_free(slab);
	else
		pool->empty[slab->class]++;
}

void buf_slab_memory(const struct buf *buf, uint8_t **start, size_t *len_bytes)
{
	*start = buf->slab->mem;
	*len_bytes = buf->slab->len_bytes;
}

struct slab_reg *buf_slab_reg(const struct buf *buf, const void *domain)
{
	struct slab_reg *reg = buf->slab->regs;

	while (reg && reg->domain != domain)
		reg = reg->next;
	return reg;
}

void buf_slab_reg_add(struct buf *buf, struct slab_reg *reg)
{
	reg->next = buf->slab->regs;
	buf->slab->regs = reg;
}

void pool_forget_domain(struct pool *pool, const void *domain)
{
	for (unsigned i = 0; i < pool->nclasses; i++) {
		struct slab *slab;

		TAILQ_FOREACH(slab, &pool->classes[i], entry) {
			struct slab_reg **at = &slab->regs;

			while (*at) {
				struct slab_reg *reg = *at;

				if (reg->domain != domain) {
					at = &reg->next;
					continue;
				}
				*at = reg->next;
				reg->release(reg);
			}
		}
	}
}
