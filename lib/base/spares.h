/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-thread free lists for the small objects of an RPC.
 *
 * A worker has one `struct freelists`, which its legs share; it belongs to the worker's thread. Each size class keeps a
 * bounded number of objects, so an idle worker holds little memory. Under AddressSanitizer nothing is kept, so that a use
 * after free is detected.
 */
#ifndef BASE_SPARES_H
#define BASE_SPARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compiler.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPARES_ARE_KEPT false
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SPARES_ARE_KEPT false
#endif
#ifndef SPARES_ARE_KEPT
#define SPARES_ARE_KEPT true
#endif

#define SPARES_STEP_BYTES 64u
#define SPARES_CLASSES    16u /* larger objects are not kept */
#define SPARES_KEEP       64u /* maximum kept of each class */

struct freelist_item {
	struct freelist_item *next;
};

/* Free objects of one size. An all-zero list is empty. */
struct spare_list {
	struct freelist_item *first;
	unsigned count;
};

struct spares {
	struct spare_list classes[SPARES_CLASSES];
};

/** spare_list_get - Returns an uninitialized object of @size_bytes, always the same size; NULL without memory. */
static inline void *spare_list_get(struct spare_list *list, size_t size_bytes)
{
	struct freelist_item *item = list->first;

	if (!item)
		return malloc(size_bytes);
	list->first = item->next;
	list->count--;
	return item;
}

/** spare_list_put - Gives an object back to a list that keeps up to @keep. Accepts NULL. */
static inline void spare_list_put(struct spare_list *list, void *object, unsigned keep)
{
	struct freelist_item *item = object;

	if (!SPARES_ARE_KEPT || !object || list->count >= keep) {
		free(object);
		return;
	}
	item->next = list->first;
	list->first = item;
	list->count++;
}

/** spare_list_fini - Frees the kept objects. */
void spare_list_fini(struct spare_list *list);

/** spares_init - Initializes empty lists. */
void spares_init(struct spares *spares);
/** spares_fini - Frees all kept objects. */
void spares_fini(struct spares *spares);

static inline size_t spares_class(size_t size_bytes)
{
	return (size_bytes - 1) / SPARES_STEP_BYTES;
}

/**
 * spares_get - Allocates an uninitialized object of @size_bytes, at least one
 * @freelists: NULL: allocate from the heap
 *
 * Free it by spares_put() with the same size. Returns NULL without memory.
 */
static inline void *spares_get(struct spares *spares, size_t size_bytes)
{
	size_t class = spares_class(size_bytes);

	if (!spares || class >= SPARES_CLASSES)
		return malloc(size_bytes);
	return spare_list_get(&spares->classes[class], (class + 1) * SPARES_STEP_BYTES);
}

/** spares_put - Frees an object. Accepts NULL. */
static inline void spares_put(struct spares *spares, void *object, size_t size_bytes)
{
	size_t class = spares_class(size_bytes);

	if (!spares || class >= SPARES_CLASSES)
		free(object);
	else
		spare_list_put(&spares->classes[class], object, SPARES_KEEP);
}

#endif
