/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-thread free lists for the small objects of an RPC.
 *
 * A worker has one `struct freelists`, which its legs share; it belongs to the worker's thread.
 * Each size class keeps a bounded number of objects, so an idle worker holds little memory. Under
 * AddressSanitizer nothing is kept, so that a use after free is detected.
 */
#ifndef BASE_FREELIST_H
#define BASE_FREELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compiler.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FREELISTS_ENABLED false
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define FREELISTS_ENABLED false
#endif
#ifndef FREELISTS_ENABLED
#define FREELISTS_ENABLED true
#endif

#define FREELISTS_STEP_BYTES 64u
#define FREELISTS_CLASSES    16u /* larger objects are not kept */
#define FREELISTS_KEEP       64u /* maximum kept of each class */

struct freelist_item {
	struct freelist_item *next;
};

/* Free objects of one size. An all-zero list is empty. */
struct freelist {
	struct freelist_item *first;
	unsigned count;
};

struct freelists {
	struct freelist classes[FREELISTS_CLASSES];
};

/**
 * freelist_get - Returns an uninitialized object; NULL without memory. @size_bytes: the same in
 * every call for @list.
 */
static inline void *freelist_get(struct freelist *list, size_t size_bytes)
{
	struct freelist_item *item = list->first;

	if (!item)
		return malloc(size_bytes);
	list->first = item->next;
	list->count--;
	return item;
}

/**
 * freelist_put - Returns an object to a list that keeps up to @keep objects, or frees it. Accepts
 * NULL.
 */
static inline void freelist_put(struct freelist *list, void *object, unsigned keep)
{
	struct freelist_item *item = object;

	if (!FREELISTS_ENABLED || !object || list->count >= keep) {
		free(object);
		return;
	}
	item->next = list->first;
	list->first = item;
	list->count++;
}

/** freelist_fini - Frees the kept objects. */
void freelist_fini(struct freelist *list);

/** freelists_init - Initializes empty lists. */
void freelists_init(struct freelists *freelists);
/** freelists_fini - Frees all kept objects. */
void freelists_fini(struct freelists *freelists);

static inline size_t freelists_class(size_t size_bytes)
{
	return (size_bytes - 1) / FREELISTS_STEP_BYTES;
}

/**
 * freelists_get - Allocates an uninitialized object of @size_bytes, at least one
 * @freelists: NULL: allocate from the heap
 *
 * Free it by freelists_put() with the same size. Returns NULL without memory.
 */
static inline void *freelists_get(struct freelists *freelists, size_t size_bytes)
{
	size_t class = freelists_class(size_bytes);

	if (!freelists || class >= FREELISTS_CLASSES)
		return malloc(size_bytes);
	return freelist_get(&freelists->classes[class], (class + 1) * FREELISTS_STEP_BYTES);
}

/** freelists_put - Frees an object. Accepts NULL. */
static inline void freelists_put(struct freelists *freelists, void *object, size_t size_bytes)
{
	size_t class = freelists_class(size_bytes);

	if (!freelists || class >= FREELISTS_CLASSES)
		free(object);
	else
		freelist_put(&freelists->classes[class], object, FREELISTS_KEEP);
}

#endif
