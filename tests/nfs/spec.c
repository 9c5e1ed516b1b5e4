// SPDX-License-Identifier: BSD-3-Clause
/* XDR written as text. */
#include "tests/nfs/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"

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

	ck_assert_int_eq(*spec, '(');
	do {
		ck_assert_int_ne(*end, 0);
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

	ck_assert_msg(end != spec, "not a spec: %s", spec);
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
		ck_assert_uint_lt(items->count, SPEC_MAX_ITEMS);
		items->list[items->count].offset_bytes = put_opaque(msg, (uint32_t)value);
		items->list[items->count++].len_bytes = (uint32_t)value;
		break;
	case 'w':
		ck_assert_int_eq(*end, '*');
		put_u32(msg, (uint32_t)value);
		put_words(msg, (unsigned)value, (uint32_t)strtoull(end + 1, &end, 0));
		break;
	case 'n':
	case 'r':
		return put_group(msg, end, items, value, kind == 'n');
	default:
		ck_abort_msg("not a spec: %c%s", kind, spec);
	}
	return end;
}

void spec_put(struct nfs_msg *msg, const char *spec, struct spec_items *items)
{
	ck_assert_int_eq(*put_items(msg, spec, items), 0);
}
