// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/header.h"

#include <stdlib.h>

#include "tests/judge/cursor.h"

#define SEGMENT_BYTES 16u
#define MAX_SEGMENTS  4096u

/* Returns how many bytes they have together. */
static uint64_t take_segments(struct header *h, struct cursor *c, uint32_t count)
{
	const uint8_t *segment = NULL;
	uint64_t bytes = 0;

	if (count <= MAX_SEGMENTS)
		segment = cursor_skip(c, (size_t)count * SEGMENT_BYTES);
	if (!segment) {
		c->bad = true;
		return 0;
	}
	if (h->handle_room - h->handle_count < count) {
		h->handle_room = 2 * (h->handle_count + count);
		h->handles = realloc(h->handles, h->handle_room * sizeof(*h->handles));
		if (!h->handles)
			abort();
	}
	for (; count; count--, segment += SEGMENT_BYTES) {
		h->handles[h->handle_count++] = get_be32(segment);
		bytes += get_be32(segment + 4);
	}
	return bytes;
}

static void take_lists(struct header *h, struct cursor *c)
{
	while (cursor_bool(c) && !c->bad) {
		h->reads = true;
		if (!cursor_word(c))
			h->position_zero = true;
		(void)take_segments(h, c, 1);
	}
	while (cursor_bool(c) && !c->bad) {
		h->writes = true;
		(void)take_segments(h, c, cursor_word(c));
	}
	if (cursor_bool(c)) {
		h->reply_chunk = true;
		h->reply_chunk_bytes = take_segments(h, c, cursor_word(c));
	}
}

static void take_error(struct header *h, struct cursor *c)
{
	h->error = cursor_word(c);
	if (h->error == ERR_VERS) {
		h->low = cursor_word(c);
		h->high = cursor_word(c);
	}
	if (h->low > h->high || !h->error || h->error > (h->version == 1 ? ERR_HEADER : ERR_OPTION))
		c->bad = true;
}

static void take_optional(struct header *h, struct cursor *c)
{
	struct cursor info;

	h->option = cursor_word(c);
	cursor_opaque(c, &info);
	h->info = info.at;
	h->info_len = info.left;
}

bool header_decode(struct header *h, const uint8_t *msg, size_t len)
{
	struct cursor c = {msg, len, false};

	*h = (struct header){.xid = cursor_word(&c)};
	h->version = cursor_word(&c);
	h->credit = cursor_word(&c);
	h->proc = cursor_word(&c);
	if (c.bad)
		return false;
	/* Alignment and threshold: pads come behind the first words of a message, which are all that is read of it. */
	if (h->proc == RDMA_MSGP && h->version == 1)
		cursor_skip(&c, 8);
	if (h->proc <= RDMA_MSGP)
		take_lists(h, &c);
	else if (h->proc == RDMA_ERROR)
		take_error(h, &c);
	else if (h->proc == RDMA_OPTIONAL)
		take_optional(h, &c);
	h->body = c.at;
	h->body_len = c.left;
	if (h->proc == RDMA_NOMSG || h->proc == RDMA_DONE || h->proc == RDMA_ERROR)
		c.bad |= c.left > 0;
	h->malformed = c.bad;
	return true;
}

void header_fini(struct header *h)
{
	free(h->handles);
}

bool header_has_chunks(const struct header *h)
{
	return h->reads || h->writes || h->reply_chunk;
}
