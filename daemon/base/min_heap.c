// SPDX-License-Identifier: BSD-3-Clause
/* Each node lists its children. When it is removed, they are merged in pairs, then all pairs. */
#include "daemon/base/min_heap.h"

#include <stddef.h>

static void put_under(struct heap_node *parent, struct heap_node *node)
{
	node->prev = parent;
	node->next = parent->child;
	if (node->next)
		node->next->prev = node;
	parent->child = node;
}

/* Joins two roots, either of which can be NULL. Returns the root of both. */
static struct heap_node *join(struct heap_node *a, struct heap_node *b)
{
	if (!a || !b)
		return a ? a : b;
	if (b->key < a->key) {
		put_under(b, a);
		return b;
	}
	put_under(a, b);
	return a;
}

static struct heap_node *take_first(struct heap_node **list)
{
	struct heap_node *node = *list;

	if (node) {
		*list = node->next;
		node->next = node->prev = NULL;
	}
	return node;
}

/* Joins the nodes of a list. Returns the root of all. */
static struct heap_node *join_list(struct heap_node *list)
{
	struct heap_node *pairs = NULL, *root = NULL, *node;

	while ((node = take_first(&list))) {
		node = join(node, take_first(&list));
		node->next = pairs;
		pairs = node;
	}
	while ((node = take_first(&pairs)))
		root = join(root, node);
	return root;
}

void min_heap_add(struct min_heap *heap, struct heap_node *node, uint64_t key)
{
	*node = (struct heap_node){.key = key, .listed = true};
	heap->root = join(heap->root, node);
}

/* Removes it from the list of its parent. */
static void take_out(struct heap_node *node)
{
	if (node->prev->child == node)
		node->prev->child = node->next;
	else
		node->prev->next = node->next;
	if (node->next)
		node->next->prev = node->prev;
}

void min_heap_remove(struct min_heap *heap, struct heap_node *node)
{
	struct heap_node *rest;

	if (!node->listed)
		return;
	rest = join_list(node->child);
	if (node == heap->root) {
		heap->root = rest;
	} else {
		take_out(node);
		heap->root = join(heap->root, rest);
	}
	*node = (struct heap_node){0};
}
