// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/session.h"

#include <stdlib.h>

void session_init(struct session *s, struct hearing *hearing)
{
	*s = (struct session){.hearing = hearing};
	book_init(&s->book, true);
	limits_init(&s->limits);
	options_init(&s->options);
}

void session_fini(struct session *s)
{
	book_fini(&s->book);
	options_fini(&s->options);
	free(s->reads[0].keys);
	free(s->reads[1].keys);
}

void session_read_begin(struct session *s, unsigned side, uint32_t key)
{
	struct session_reads *reads = &s->reads[side];

	if (reads->count == reads->room) {
		reads->room = reads->room ? 2 * reads->room : 16;
		reads->keys = realloc(reads->keys, reads->room * sizeof(*reads->keys));
		if (!reads->keys)
			abort();
	}
	reads->keys[reads->count++] = key;
}

void session_read_end(struct session *s, unsigned side, uint32_t key)
{
	struct session_reads *reads = &s->reads[side];
	unsigned i = 0;

	while (i < reads->count && reads->keys[i] != key)
		i++;
	if (i < reads->count)
		reads->keys[i] = reads->keys[--reads->count];
}

bool session_reads_any(const struct session *s, unsigned side, const uint32_t *keys, unsigned count)
{
	const struct session_reads *reads = &s->reads[side];

	for (unsigned i = 0; i < reads->count; i++) {
		for (unsigned k = 0; k < count; k++) {
			if (reads->keys[i] == keys[k])
				return true;
		}
	}
	return false;
}

unsigned session_waits(const struct session *s)
{
	return book_open_calls(&s->book) + book_undone(&s->book) + options_waiting(&s->options);
}
