/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Min-heap: finds the object with the smallest key.
 *
 * A pairing heap with the node inside the object, so nothing is allocated. Adding an object and
 * finding the first take a few steps; removing one takes O(log n) on average.
 */
#ifndef DAEMON_BASE_MIN_HEAP_H
#define DAEMON_BASE_MIN_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: not in a heap. */
struct heap_node {
	struct heap_node *child, *next; /* next: next sibling */
	struct heap_node *prev;         /* previous sibling; for the first child: the parent */
	uint64_t key;
	bool listed;
};

/* All zero: empty. */
struct min_heap {
	struct heap_node *root;
};

/** min_heap_add - Adds @node, which is in no heap, with @key. */
void min_heap_add(struct min_heap *heap, struct heap_node *node, uint64_t key);
/** min_heap_remove - Removes @node; no effect if it is in no heap. */
void min_heap_remove(struct min_heap *heap, struct heap_node *node);
/** min_heap_first - Returns a node with the smallest key, or NULL if the heap is empty. */
static inline struct heap_node *min_heap_first(const struct min_heap *heap)
{
	return heap->root;
}

#endif
