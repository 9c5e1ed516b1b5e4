// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/xdr_sg.h"

#include <assert.h>

uint32_t xdr_sg_have_bytes(const struct xdr_sg *msg)
{
	uint64_t have = 0;

	for (unsigned i = 0; i < msg->count; i++)
		have += msg->list[i].len_bytes;
	return have < msg->len_bytes ? (uint32_t)have : msg->len_bytes;
}

/* Clears the current entry; the reader is at @offset. */
static void reader_clear(struct xdr_sg_reader *reader, uint32_t offset)
{
	reader->pos = reader->end = reader->joined;
	reader->end_offset = offset;
}

/* Enters the next entry, which contains @offset of the message. */
static void reader_enter_entry(struct xdr_sg_reader *reader, uint32_t offset)
{
	const struct xdr_sg_entry *piece = reader->next++;
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
static void reader_seek(struct xdr_sg_reader *reader, uint32_t offset)
{
	reader_clear(reader, offset);
	while (reader->next < reader->last &&
	       reader->next_offset + reader->next->len_bytes <= offset)
		reader->next_offset += reader->next++->len_bytes;
	if (reader->next < reader->last && reader->next_offset <= offset)
		reader_enter_entry(reader, offset);
}

void xdr_sg_reader_init(struct xdr_sg_reader *reader, const struct xdr_sg *msg, uint32_t offset)
{
	assert(offset <= msg->len_bytes);
	reader->len_bytes = msg->len_bytes;
	reader->want_bytes = 0;
	reader->stop = XDR_SG_OK;
	reader->next = msg->list;
	reader->last = msg->list + msg->count;
	reader->next_offset = 0;
	reader_seek(reader, offset);
}

void xdr_sg_reader_init_flat(struct xdr_sg_reader *reader, const uint8_t *data, uint32_t len_bytes)
{
	reader_clear(reader, len_bytes);
	if (len_bytes) {
		reader->pos = data;
		reader->end = data + len_bytes;
	}
	reader->len_bytes = len_bytes;
	reader->want_bytes = 0;
	reader->stop = XDR_SG_OK;
	reader->next = reader->last = NULL;
	reader->next_offset = len_bytes;
}

/* Fails a read at @offset that needs @want_bytes of the message. */
static const uint8_t *reader_fail(struct xdr_sg_reader *reader, uint32_t offset,
				  uint32_t want_bytes)
{
	/* If the last entry entered reaches beyond the offset, it is a hole. */
	reader->stop = offset < reader->next_offset ? XDR_SG_HOLE : XDR_SG_MISSING;
	reader->want_bytes = want_bytes;
	return NULL;
}

const uint8_t *xdr_sg_get_slow(struct xdr_sg_reader *reader, uint32_t len_bytes)
{
	uint32_t at = xdr_sg_offset(reader), got = 0;

	assert(len_bytes <= XDR_SG_MAX_READ_BYTES);
	if (len_bytes > reader->len_bytes - at) {
		reader->stop = XDR_SG_END;
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
		reader_seek(reader, at + got);
		if (reader->pos == reader->end)
			return reader_fail(reader, at + got, at + len_bytes);
	}
}

bool xdr_sg_skip_slow(struct xdr_sg_reader *reader, uint64_t len_bytes)
{
	uint32_t at = xdr_sg_offset(reader);

	if (len_bytes > reader->len_bytes - at) {
		reader->stop = XDR_SG_END;
		return false;
	}
	reader_seek(reader, at + (uint32_t)len_bytes);
	return true;
}
