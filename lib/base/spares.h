/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small objects for reuse: what each RPC needs anew, and gives back soon.
 *
 * A worker has one `struct spares`, which its legs share; it belongs to the worker's thread. It keeps a bounded
 * number of objects of each size, so an idle worker holds little. Under AddressSanitizer nothing is kept, so
 * that what is used after its end is found.
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
#define SPARES_KEEP       64u /* of each class */

struct spare {
	struct spare *next;
};

struct spares {
	struct {
		struct spare *first;
		unsigned count;
	} classes[SPARES_CLASSES];
};

/** spares_init - nothing is kept yet. */
void spares_init(struct spares *spares);
/** spares_fini - free what is kept. */
void spares_fini(struct spares *spares);

static inline size_t spares_class(size_t size_bytes)
{
	return (size_bytes - 1) / SPARES_STEP_BYTES;
}

/**
 * spares_get - memory for an object of @size_bytes, at least one; not cleared
 * @spares: NULL: none are kept
 *
 * To be given back by spares_put() with the same size. Returns NULL without memory.
 */
static inline void *spares_get(struct spares *spares, size_t size_bytes)
{
	size_t class = spares_class(size_bytes);
	struct spare *spare;

	if (!spares || class >= SPARES_CLASSES)
		return malloc(size_bytes);
	spare = spares->classes[class].first;
	if (!spare)
		return malloc((class + 1) * SPARES_STEP_BYTES);
	spares->classes[class].first = spare->next;
	spares->classes[class].count--;
	return spare;
}

/** spares_put - give an object back; accepts NULL. */
static inline void spares_put(struct spares *spares, void *object, size_t size_bytes)
{
	size_t class = spares_class(size_bytes);
	struct spare *spare = object;

	if (!SPARES_ARE_KEPT || !object || !spares || class >= SPARES_CLASSES ||
	    spares->classes[class].count == SPARES_KEEP) {
		free(object);
		return;
	}
	spare->next = spares->classes[class].first;
	spares->classes[class].first = spare;
	spares->classes[class].count++;
}

#endif
