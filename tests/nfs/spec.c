// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/spec.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *put_item(struct nfs_msg *msg, const char *spec, struct spec_items *items);

/* Everything up to the end, or to the parenthesis that closes this group. */
static const char *put_items(struct nfs_msg *msg, const char *spec, struct spec_items *items)
{
	for (;;) {
		while (isspace((unsigned char)*spec))
			spec++;
		if (*spec == 0 || *spec == ')')
			return spec;
		spec = put_item(msg, spec, items);
	}
}

static const char *put_group(struct nfs_msg *msg, const char *spec, struct spec_items *items,
			     unsigned long times, bool counted)
{
	const char *end = spec;
	int depth = 0;

	assert(*spec == '(');
	do {
		assert(*end != 0);
		depth += (*end == '(') - (*end == ')');
		end++;
	} while (depth > 0);
	if (counted)
		put_u32(msg, (uint32_t)times);
	while (times-- > 0)
		put_items(msg, spec + 1, items);
	return end;
}

static const char *put_item(struct nfs_msg *msg, const char *spec, struct spec_items *items)
{
	char kind = isalpha((unsigned char)*spec) ? *spec++ : 'u';
	char *end;
	unsigned long long value = strtoull(*spec == ':' ? spec + 1 : spec, &end, 0);

	assert(end != spec);
	switch (kind) {
	case 'u':
		put_u32(msg, (uint32_t)value);
		break;
	case 'q':
		put_u64(msg, value);
		break;
	case 'x':
		put_fixed(msg, (uint32_t)value);
		break;
	case 'o':
		put_opaque(msg, (uint32_t)value);
		break;
	case 'd':
		assert(items->count < SPEC_MAX_ITEMS);
		items->list[items->count].offset_bytes = put_opaque(msg, (uint32_t)value);
		items->list[items->count++].len_bytes = (uint32_t)value;
		break;
	case 'w':
		assert(*end == '*');
		put_u32(msg, (uint32_t)value);
		put_words(msg, (unsigned)value, (uint32_t)strtoull(end + 1, &end, 0));
		break;
	case 'n':
	case 'r':
		return put_group(msg, end, items, value, kind == 'n');
	default:
		assert(!"a kind");
	}
	return end;
}

void spec_put(struct nfs_msg *msg, const char *spec, struct spec_items *items)
{
	const char *end = put_items(msg, spec, items);

	assert(*end == 0);
}
