// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/characteristics.h"

#include <stdlib.h>

#define MIN_BYTES 8u /* of a value: id and length */

struct characteristic characteristic_take(struct cursor *c)
{
	static const uint32_t largest[CHARACTERISTICS_KNOWN] = {
		[RECEIVE_BYTES] = UINT32_MAX, [INVALIDATION] = 1, [BACKWARD] = BACKWARD_GENERAL};
	struct characteristic one = {.which = cursor_word(c)};
	struct cursor data;

	cursor_opaque(c, &data);
	if (!one.which || one.which >= CHARACTERISTICS_KNOWN)
		return one;
	one.value = cursor_word(&data);
	if (data.bad || data.left || one.value > largest[one.which])
		c->bad = true;
	return one;
}

void characteristics_receive(struct cursor *c, struct characteristics *list)
{
	uint32_t count = cursor_word(c);

	*list = (struct characteristics){0};
	if (count > c->left / MIN_BYTES) {
		c->bad = true;
		return;
	}
	list->list = calloc(count + 1, sizeof(*list->list));
	if (!list->list)
		abort();
	while (list->count < count)
		list->list[list->count++] = characteristic_take(c);
}

void characteristics_fini(struct characteristics *list)
{
	free(list->list);
}

struct subset subset_take(struct cursor *c)
{
	struct subset subset = {.count = cursor_word(c)};

	if (subset.count > c->left / 4) {
		c->bad = true;
		return (struct subset){0};
	}
	subset.words = cursor_skip(c, (size_t)subset.count * 4);
	return subset;
}

bool subset_has(struct subset subset, unsigned n)
{
	return n / 32 < subset.count && get_be32(subset.words + n / 32 * 4) >> n % 32 & 1;
}
