/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things in the order of a number: finds the one with the least.
 *
 * A pairing heap, with the node inside of the thing: nothing is allocated. To add a thing and to find the first takes a few
 * steps; to remove one takes a number of steps that grows with the logarithm of their count, on average.
 */
#ifndef DAEMON_BASE_MIN_HEAP_H
#define DAEMON_BASE_MIN_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: in no heap. */
struct heap_node {
	struct heap_node *child, *next; /* next: of the same parent */
	struct heap_node *prev; /* before it of the same parent; of the first child: the parent */
	uint64_t key;
	bool listed;
};

/* All zero: empty. */
struct min_heap {
	struct heap_node *root;
};

/** min_heap_add - add @node, which is in no heap, under @key. */
void min_heap_add(struct min_heap *heap, struct heap_node *node, uint64_t key);
/** min_heap_remove - remove @node; nothing if it is in no heap. */
void min_heap_remove(struct min_heap *heap, struct heap_node *node);
/** min_heap_first - returns a node with the least key, or NULL if the heap is empty. */
static inline struct heap_node *min_heap_first(const struct min_heap *heap)
{
	return heap->root;
}

#endif
