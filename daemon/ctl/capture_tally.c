// SPDX-License-Identifier: BSD-3-Clause
/* A pcapng block is its type, its length, a body, and the length again. */
#include "daemon/ctl/capture_tally.h"

#include <endian.h>
#include <string.h>

#define HEAD_BYTES       8u
#define FRAME_BYTES      12u /* of a block without a body */
#define TYPE_STATISTICS  5u
#define TYPE_PACKET      6u
#define STATISTICS_BYTES 20u /* with the head; options follow: code, length, data, pad */
#define OPTION_COMMENT   1u
#define OPTION_DROPPED   5u

static uint32_t load_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint16_t load_u16(const uint8_t *from)
{
	return (uint16_t)(load_u32(from) & 0xffff);
}

/* Copies the text after the last "; ". It is shown on a terminal. */
static void read_why(struct capture_tally *tally, const uint8_t *text, size_t len)
{
	size_t from = 0, kept = 0;

	for (size_t i = 2; i <= len; i++)
		if (text[i - 2] == ';' && text[i - 1] == ' ')
			from = i;
	for (; from && from < len && kept + 1 < sizeof(tally->why); from++)
		tally->why[kept++] = text[from] < ' ' || text[from] > '~' ? '?' : (char)text[from];
	tally->why[kept] = '\0';
}

static void read_statistics(struct capture_tally *tally)
{
	size_t end = tally->have_bytes - 4, at = STATISTICS_BYTES;
	uint64_t missed;

	while (at + 4 <= end) {
		uint32_t code = load_u16(tally->block + at), len = load_u16(tally->block + at + 2);

		at += 4;
		if (code == OPTION_DROPPED && len == sizeof(missed) && at + len <= end) {
			memcpy(&missed, tally->block + at, sizeof(missed));
			tally->missed = le64toh(missed);
		}
		if (code == OPTION_COMMENT && at + len <= end)
			read_why(tally, tally->block + at, len);
		at += (len + 3u) & ~3u;
	}
}

static void end_block(struct capture_tally *tally)
{
	tally->last = tally->type == TYPE_STATISTICS;
	tally->packets += tally->type == TYPE_PACKET;
	if (tally->last)
		read_statistics(tally);
	tally->have_bytes = 0;
}

static void begin_block(struct capture_tally *tally)
{
	uint32_t len = load_u32(tally->block + 4);

	tally->type = load_u32(tally->block);
	tally->broken = len < FRAME_BYTES || len % 4 ||
			(tally->type == TYPE_STATISTICS && len > sizeof(tally->block));
	tally->left_bytes = len - HEAD_BYTES;
}

/* Stores or skips bytes of the current block. Returns how many bytes of @data it consumed. */
static size_t take(struct capture_tally *tally, const uint8_t *data, size_t len)
{
	bool in_head = !tally->left_bytes;
	size_t want = in_head ? HEAD_BYTES - tally->have_bytes : tally->left_bytes;
	size_t n = want < len ? want : len;

	if (in_head || tally->type == TYPE_STATISTICS) {
		memcpy(tally->block + tally->have_bytes, data, n);
		tally->have_bytes += (uint32_t)n;
	}
	if (!in_head)
		tally->left_bytes -= (uint32_t)n;
	if (in_head && n == want)
		begin_block(tally);
	else if (!in_head && n == want)
		end_block(tally);
	return n;
}

void capture_tally_add(struct capture_tally *tally, const uint8_t *data, size_t len)
{
	tally->bytes += len;
	while (len && !tally->broken) {
		size_t n = take(tally, data, len);

		data += n;
		len -= n;
	}
}

bool capture_tally_is_complete(const struct capture_tally *tally)
{
	return !tally->broken && tally->last && !tally->left_bytes && !tally->have_bytes;
}
