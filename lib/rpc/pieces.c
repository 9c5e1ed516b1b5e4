// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/pieces.h"

#include <assert.h>

uint32_t rpc_pieces_have_bytes(const struct rpc_pieces *msg)
{
	uint64_t have = 0;

	for (unsigned i = 0; i < msg->count; i++)
		have += msg->list[i].len_bytes;
	return have < msg->len_bytes ? (uint32_t)have : msg->len_bytes;
}

/* Clears the current entry; the reader is at @offset. */
static void let_go(struct pieces_reader *reader, uint32_t offset)
{
	reader->pos = reader->end = reader->joined;
	reader->end_offset = offset;
}

/* Enters the next entry, which contains @offset of the message. */
static void take_piece(struct pieces_reader *reader, uint32_t offset)
{
	const struct rpc_piece *piece = reader->next++;
	uint64_t start = reader->next_offset, end = start + piece->len_bytes;

	reader->next_offset = end;
	if (!piece->data)
		return;
	/* Bytes after the message's length are never read, even if entries are longer. */
	if (end > reader->len_bytes)
		end = reader->len_bytes;
	reader->pos = piece->data + (offset - start);
	reader->end = piece->data + (end - start);
	reader->end_offset = (uint32_t)end;
}

/* Seeks forward to @offset, at most the message's length. */
static void go_to(struct pieces_reader *reader, uint32_t offset)
{
	let_go(reader, offset);
	while (reader->next < reader->last &&
	       reader->next_offset + reader->next->len_bytes <= offset)
		reader->next_offset += reader->next++->len_bytes;
	if (reader->next < reader->last && reader->next_offset <= offset)
		take_piece(reader, offset);
}

void pieces_reader_init(struct pieces_reader *reader, const struct rpc_pieces *msg, uint32_t offset)
{
	assert(offset <= msg->len_bytes);
	reader->len_bytes = msg->len_bytes;
	reader->want_bytes = 0;
	reader->stop = PIECES_GO;
	reader->next = msg->list;
	reader->last = msg->list + msg->count;
	reader->next_offset = 0;
	go_to(reader, offset);
}

void pieces_reader_init_whole(struct pieces_reader *reader, const uint8_t *data, uint32_t len_bytes)
{
	let_go(reader, len_bytes);
	if (len_bytes) {
		reader->pos = data;
		reader->end = data + len_bytes;
	}
	reader->len_bytes = len_bytes;
	reader->want_bytes = 0;
	reader->stop = PIECES_GO;
	reader->next = reader->last = NULL;
	reader->next_offset = len_bytes;
}

/* Fails a read at @offset that needs @want_bytes of the message. */
static const uint8_t *stopped(struct pieces_reader *reader, uint32_t offset, uint32_t want_bytes)
{
	/* If the last entry entered reaches beyond the offset, it is a hole. */
	reader->stop = offset < reader->next_offset ? PIECES_HOLE : PIECES_LATER;
	reader->want_bytes = want_bytes;
	return NULL;
}

const uint8_t *pieces_get_far(struct pieces_reader *reader, uint32_t len_bytes)
{
	uint32_t at = pieces_offset(reader), got = 0;

	assert(len_bytes <= PIECES_MAX_READ_BYTES);
	if (len_bytes > reader->len_bytes - at) {
		reader->stop = PIECES_END;
		return NULL;
	}
	for (;;) {
		uint32_t there = (uint32_t)(reader->end - reader->pos), now = len_bytes - got;
		const uint8_t *from = reader->pos;

		if (now > there)
			now = there;
		reader->pos += now;
		if (now == len_bytes)
			return from;
		memcpy(reader->joined + got, from, now);
		got += now;
		if (got == len_bytes)
			return reader->joined;
		go_to(reader, at + got);
		if (reader->pos == reader->end)
			return stopped(reader, at + got, at + len_bytes);
	}
}

bool pieces_skip_far(struct pieces_reader *reader, uint64_t len_bytes)
{
	uint32_t at = pieces_offset(reader);

	if (len_bytes > reader->len_bytes - at) {
		reader->stop = PIECES_END;
		return false;
	}
	go_to(reader, at + (uint32_t)len_bytes);
	return true;
}
