// SPDX-License-Identifier: BSD-3-Clause
/*
 * Size classes are powers of two and their halves in between (512, 768, 1024, 1536 …). From 32 KiB
 * on, each power of two plus 8 KiB is a class too, because payloads of a power of two come with a
 * header. From 1 MiB on, each power of two plus 72 KiB is one, because message limits leave 64 KiB
 * for the parts around the data.
 *
 * Each class has its own slabs; a slab is mapped when its class has no free slice. Empty slabs of
 * all classes share the reserve. Slabs that became empty first are freed first, so a burst does not
 * hold memory for ever. With a device the pool keeps more: the recent peak use, because there a
 * slab costs registration as well as page faults.
 */
#include "fabric/buf_pool.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

#include "base/minmax.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_BY_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISON_BY_SANITIZER 1
#endif

/* Marks unused slab memory for AddressSanitizer; a no-op without it. */
#ifdef POISON_BY_SANITIZER
#include <sanitizer/asan_interface.h>
#define memory_poison(mem, len_bytes)   __asan_poison_memory_region(mem, len_bytes)
#define memory_unpoison(mem, len_bytes) __asan_unpoison_memory_region(mem, len_bytes)
#else
#define memory_poison(mem, len_bytes)   ((void)(mem), (void)(len_bytes))
#define memory_unpoison(mem, len_bytes) ((void)(mem), (void)(len_bytes))
#endif

#define MIN_CLASS_SHIFT 9u
#define MIN_CLASS_BYTES ((size_t)1 << MIN_CLASS_SHIFT)
#define MIN_SLAB_BYTES  (256u * 1024u)
#define HEADER_SHIFT    15u /* from this power of two on, a class leaves space for a header */
#define HEADER_BYTES    8192u
#define OVERHEAD_SHIFT                                                                             \
	20u /* from this power of two on, a class leaves space for the other parts of a message */
#define OVERHEAD_BYTES (72u * 1024u)
#define MAX_CLASSES    64u
#define HUGE_BYTES     ((size_t)2 << 20)
#define MAX_SLAB_BYTES ((size_t)8 << 20) /* of a slab with several buffers */
#define MAX_SLAB_BUFS  1024u

struct slab {
	TAILQ_ENTRY(slab) entry;       /* in its class; slabs with free slices come first */
	TAILQ_ENTRY(slab) empty_entry; /* in the pool's reserve, while the slab is empty */
	struct buf_pool *pool;
	unsigned class;
	uint8_t *mem;
	size_t len_bytes;
	unsigned nbufs, nfree;
	struct buf *free;
	struct slab_regs regs;  /* in all domains */
	struct slab_reg *found; /* result of the last lookup, in any domain; NULL: none */
	struct buf bufs[];
};
TAILQ_HEAD(slab_list, slab);

struct buf_pool {
	unsigned nclasses;
	struct slab_list classes[MAX_CLASSES];
	/* Slabs without a buffer in use, in the order in which they became empty. */
	struct slab_list empty;
	size_t reserve_bytes;
	unsigned peak_keepers, large_users;
	size_t keep_most_bytes; /* limit of empty slabs kept because of a peak */
	size_t peak_bytes[2]; /* maximum of slabs in use: in this period, and in the previous one */
	uint64_t period_until_us;
	uint64_t owners; /* numbers handed out */
	struct buf_pool_stats stats;
};

#define TRIM_BYTES (4u << 20) /* freed in one call */

struct size_class {
	unsigned index;
	size_t bytes;
};

static struct size_class class_of(size_t size_bytes)
{
	unsigned shift, index;
	size_t power;
	bool has_header, has_overhead;

	if (size_bytes <= MIN_CLASS_BYTES)
		return (struct size_class){0, MIN_CLASS_BYTES};
	/* The largest power of two below the size, and the index of its own class. */
	shift = 8 * sizeof(size_bytes) - 1 - (unsigned)__builtin_clzl(size_bytes - 1);
	power = (size_t)1 << shift;
	has_header = shift >= HEADER_SHIFT;
	has_overhead = shift >= OVERHEAD_SHIFT;
	index = 2 * (shift - MIN_CLASS_SHIFT) + (has_header ? shift - HEADER_SHIFT : 0) +
		(has_overhead ? shift - OVERHEAD_SHIFT : 0);
	if (has_header && size_bytes <= power + HEADER_BYTES)
		return (struct size_class){index + 1, power + HEADER_BYTES};
	if (has_overhead && size_bytes <= power + OVERHEAD_BYTES)
		return (struct size_class){index + 2, power + OVERHEAD_BYTES};
	if (size_bytes <= power + power / 2)
		return (struct size_class){index + 1 + has_header + has_overhead,
					   power + power / 2};
	return (struct size_class){index + 2 + has_header + has_overhead, 2 * power};
}

size_t buf_pool_class_bytes(size_t size_bytes)
{
	return class_of(size_bytes).bytes;
}

struct buf_pool *buf_pool_new(size_t max_buf_bytes, size_t reserve_bytes)
{
	struct buf_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->nclasses = class_of(max_buf_bytes).index + 1;
	assert(pool->nclasses <= MAX_CLASSES);
	pool->reserve_bytes = reserve_bytes;
	pool->keep_most_bytes = SIZE_MAX;
	for (unsigned i = 0; i < pool->nclasses; i++)
		TAILQ_INIT(&pool->classes[i]);
	TAILQ_INIT(&pool->empty);
	return pool;
}

static void reg_release(struct slab *slab, struct slab_reg *reg)
{
	if (slab->found == reg)
		slab->found = NULL;
	LIST_REMOVE(reg, slab_entry);
	hash_table_remove(&reg->domain->table, &reg->node);
	reg->domain = NULL;
	reg->release(reg);
}

static void slab_free(struct slab *slab)
{
	struct buf_pool *pool = slab->pool;

	TAILQ_REMOVE(&pool->classes[slab->class], slab, entry);
	while (!LIST_EMPTY(&slab->regs))
		reg_release(slab, LIST_FIRST(&slab->regs));
	pool->stats.slab_bytes -= slab->len_bytes;
	memory_unpoison(slab->mem, slab->len_bytes);
	munmap(slab->mem, slab->len_bytes);
	free(slab);
}

/* Returns the number of buffers of @size bytes in a new slab. */
static unsigned slab_nbufs(const struct buf_pool *pool, size_t size)
{
	size_t want = pool->reserve_bytes / 8;

	if (!pool->large_users || want < MIN_SLAB_BYTES)
		want = MIN_SLAB_BYTES;
	if (want > MAX_SLAB_BYTES)
		want = MAX_SLAB_BYTES;
	if (size >= want)
		return 1;
	return want / size < MAX_SLAB_BUFS ? (unsigned)(want / size)
					   : max_u32(MAX_SLAB_BUFS, MIN_SLAB_BYTES / size);
}

static uint8_t *slab_map(size_t len_bytes)
{
	uint8_t *mem =
		mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/*
 * Starts at a huge-page boundary. A huge page never contains other memory: the rest that does not
 * fill one uses small pages.
 */
static uint8_t *slab_map_huge(size_t len_bytes)
{
	uint8_t *mem = slab_map(len_bytes + HUGE_BYTES), *start;

	if (!mem)
		return NULL;
	start = mem + (-(uintptr_t)mem & (HUGE_BYTES - 1));
	if (start > mem)
		munmap(mem, (size_t)(start - mem));
	munmap(start + len_bytes, HUGE_BYTES - (size_t)(start - mem));
	(void)madvise(start, len_bytes, MADV_HUGEPAGE);
	return start;
}

static struct slab *slab_new(struct buf_pool *pool, struct size_class class)
{
	size_t size = class.bytes;
	unsigned nbufs = slab_nbufs(pool, size);
	struct slab *slab = calloc(1, sizeof(*slab) + nbufs * sizeof(struct buf));

	if (!slab)
		return NULL;
	slab->len_bytes = (nbufs * size + 4095) & ~(size_t)4095;
	slab->mem = pool->large_users && slab->len_bytes >= HUGE_BYTES
			    ? slab_map_huge(slab->len_bytes)
			    : slab_map(slab->len_bytes);
	if (!slab->mem) {
		free(slab);
		return NULL;
	}
	slab->pool = pool;
	slab->class = class.index;
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
	TAILQ_INSERT_HEAD(&pool->classes[class.index], slab, entry);
	return slab;
}

static void peak_update(struct buf_pool *pool)
{
	size_t used = pool->stats.slab_bytes - pool->stats.empty_bytes;

	if (used > pool->peak_bytes[0])
		pool->peak_bytes[0] = used;
}

/* Returns true if a user keeps the peak, and the mapped total does not exceed it. */
static bool is_within_peak(const struct buf_pool *pool)
{
	size_t mapped = pool->stats.slab_bytes;

	return pool->peak_keepers && pool->stats.empty_bytes <= pool->keep_most_bytes &&
	       (mapped <= pool->peak_bytes[0] || mapped <= pool->peak_bytes[1]);
}

/* Removes a slab from the reserve, to use or to free it. */
static void slab_unreserve(struct slab *slab)
{
	TAILQ_REMOVE(&slab->pool->empty, slab, empty_entry);
	slab->pool->stats.empty_bytes -= slab->len_bytes;
}

static bool is_over_reserve(const struct buf_pool *pool)
{
	return pool->stats.empty_bytes > pool->reserve_bytes && !is_within_peak(pool);
}

/*
 * Frees at least @most_bytes if there is that much to free, and little more: freeing memory takes
 * the kernel longer than an RPC.
 */
static void pool_trim(struct buf_pool *pool, size_t most_bytes)
{
	size_t freed_bytes = 0;

	while (is_over_reserve(pool) && freed_bytes < most_bytes) {
		struct slab *first = TAILQ_FIRST(&pool->empty);

		freed_bytes += first->len_bytes;
		slab_unreserve(first);
		slab_free(first);
	}
}

/* Keeps a slab that became empty if it fits the reserve, and frees older empty slabs for it. */
static void slab_reserve(struct slab *slab)
{
	struct buf_pool *pool = slab->pool;

	if (slab->len_bytes > pool->reserve_bytes && !is_within_peak(pool)) {
		slab_free(slab);
		return;
	}
	TAILQ_INSERT_TAIL(&pool->empty, slab, empty_entry);
	pool->stats.empty_bytes += slab->len_bytes;
	pool_trim(pool, slab->len_bytes + TRIM_BYTES);
}

void buf_pool_keep_peak(struct buf_pool *pool, bool on)
{
	assert(on || pool->peak_keepers);
	pool->peak_keepers += on ? 1 : -1u;
	pool_trim(pool, SIZE_MAX);
}

void buf_pool_keep_max(struct buf_pool *pool, size_t most_bytes)
{
	pool->keep_most_bytes = most_bytes;
	pool_trim(pool, SIZE_MAX);
}

bool buf_pool_age(struct buf_pool *pool, uint64_t now_us)
{
	if (now_us >= pool->period_until_us) {
		pool->period_until_us = now_us + BUF_POOL_PERIOD_US;
		pool->peak_bytes[1] = pool->peak_bytes[0];
		pool->peak_bytes[0] = 0;
		peak_update(pool);
	}
	pool_trim(pool, TRIM_BYTES);
	return is_over_reserve(pool);
}

void buf_pool_large_slabs(struct buf_pool *pool, bool on)
{
	assert(on || pool->large_users);
	pool->large_users += on ? 1 : -1u;
}

void buf_pool_free(struct buf_pool *pool)
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

void buf_pool_stats_get(const struct buf_pool *pool, struct buf_pool_stats *stats)
{
	*stats = pool->stats;
}

/* Returns a slab with a free slice, if the first of its class is empty or (almost) full. */
NOT_INLINE static struct slab *slab_choose(struct buf_pool *pool, struct size_class class)
{
	struct slab *slab = TAILQ_FIRST(&pool->classes[class.index]);
	bool is_new = !slab || !slab->nfree;

	if (is_new)
		slab = slab_new(pool, class);
	else if (slab->nfree == slab->nbufs)
		slab_unreserve(slab);
	peak_update(pool);
	if (is_new)
		pool_trim(pool, (slab ? slab->len_bytes : 0) + TRIM_BYTES);
	if (slab && slab->nfree == 1) {
		TAILQ_REMOVE(&pool->classes[class.index], slab, entry);
		TAILQ_INSERT_TAIL(&pool->classes[class.index], slab, entry);
	}
	return slab;
}

struct buf *buf_get(struct buf_pool *pool, size_t size_bytes)
{
	struct size_class class = class_of(size_bytes);
	struct slab *slab;
	struct buf *buf;

	if (class.index >= pool->nclasses)
		return NULL;
	slab = TAILQ_FIRST(&pool->classes[class.index]);
	if (!slab || slab->nfree < 2 || slab->nfree == slab->nbufs)
		slab = slab_choose(pool, class);
	if (!slab)
		return NULL;
	buf = slab->free;
	slab->free = buf->next_free;
	slab->nfree--;
	buf->next_free = NULL;
	buf->refs = 1;
	buf->owner_before = buf->owner;
	buf->owner = 0;
	pool->stats.in_use_bytes += buf->size_bytes;
	memory_unpoison(buf->mem, size_bytes);
	return buf;
}

/* Moves a slab that has its first free slice again, or that has become empty. */
NOT_INLINE static void slab_freed(struct slab *slab)
{
	struct slab_list *class = &slab->pool->classes[slab->class];

	if (slab->nfree == 1) {
		TAILQ_REMOVE(class, slab, entry);
		TAILQ_INSERT_HEAD(class, slab, entry);
	}
	if (slab->nfree == slab->nbufs)
		slab_reserve(slab);
}

void buf_free(struct buf *buf)
{
	struct slab *slab = buf->slab;

	slab->pool->stats.in_use_bytes -= buf->size_bytes;
	memory_poison(buf->mem, buf->size_bytes);
	buf->next_free = slab->free;
	slab->free = buf;
	slab->nfree++;
	if (slab->nfree == 1 || slab->nfree == slab->nbufs)
		slab_freed(slab);
}

uint64_t buf_pool_owner_new(struct buf_pool *pool)
{
	return ++pool->owners;
}

static uint32_t range_clear(struct buf *buf, uint32_t from, uint32_t to)
{
	memset(buf->mem + from, 0, to - from);
	return to - from;
}

size_t buf_expose(struct buf *buf, uint8_t *mem, size_t len_bytes, uint64_t owner)
{
	uint32_t from = (uint32_t)(mem - buf->mem), to = from + (uint32_t)len_bytes;
	bool same_owner = owner == (buf->owner ? buf->owner : buf->owner_before);
	size_t cleared = 0;

	assert(from + len_bytes <= buf->size_bytes && owner);
	buf->owner = owner;
	/* Only one range is recorded: a disjoint range replaces it. */
	if (!same_owner || from > buf->owned_to || to < buf->owned_from) {
		buf->owned_from = from;
		buf->owned_to = to;
		return range_clear(buf, from, to);
	}
	if (from < buf->owned_from) {
		cleared += range_clear(buf, from, buf->owned_from);
		buf->owned_from = from;
	}
	if (to > buf->owned_to) {
		cleared += range_clear(buf, buf->owned_to, to);
		buf->owned_to = to;
	}
	return cleared;
}

void buf_slab_memory(const struct buf *buf, uint8_t **start, size_t *len_bytes)
{
	*start = buf->slab->mem;
	*len_bytes = buf->slab->len_bytes;
}

static uint64_t hash_of(const struct slab *slab)
{
	return hash_number((uintptr_t)slab);
}

static struct slab_reg *reg_of(struct hash_node *node)
{
	return node ? container_of(node, struct slab_reg, node) : NULL;
}

struct slab_reg *buf_slab_reg(const struct buf *buf, const struct slab_domain *domain)
{
	struct slab *slab = buf->slab;

	if (!slab->found || slab->found->domain != domain)
		slab->found = reg_of(hash_table_first(&domain->table, hash_of(slab)));
	return slab->found;
}

void buf_slab_reg_add(struct buf *buf, struct slab_domain *domain, struct slab_reg *reg)
{
	reg->slab = buf->slab;
	reg->domain = domain;
	hash_table_add(&domain->table, &reg->node, hash_of(buf->slab));
	LIST_INSERT_HEAD(&buf->slab->regs, reg, slab_entry);
}

void slab_domain_fini(struct slab_domain *domain)
{
	struct slab_reg *reg;
	size_t at = 0;

	while ((reg = reg_of(hash_table_any(&domain->table, &at))))
		reg_release(reg->slab, reg);
	hash_table_fini(&domain->table);
	slab_domain_init(domain);
}
