// SPDX-License-Identifier: BSD-3-Clause
/* A pcapng block is its type, its length, a body, and the length again. */
#include "daemon/ctl/pcapng_verify.h"

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
static void read_why(struct pcapng_verify *verify, const uint8_t *text, size_t len)
{
	size_t from = 0, kept = 0;

	for (size_t i = 2; i <= len; i++)
		if (text[i - 2] == ';' && text[i - 1] == ' ')
			from = i;
	for (; from && from < len && kept + 1 < sizeof(verify->why); from++)
		verify->why[kept++] = text[from] < ' ' || text[from] > '~' ? '?' : (char)text[from];
	verify->why[kept] = '\0';
}

static void read_statistics(struct pcapng_verify *verify)
{
	size_t end = verify->have_bytes - 4, at = STATISTICS_BYTES;
	uint64_t missed;

	while (at + 4 <= end) {
		uint32_t code = load_u16(verify->block + at),
			 len = load_u16(verify->block + at + 2);

		at += 4;
		if (code == OPTION_DROPPED && len == sizeof(missed) && at + len <= end) {
			memcpy(&missed, verify->block + at, sizeof(missed));
			verify->missed = le64toh(missed);
		}
		if (code == OPTION_COMMENT && at + len <= end)
			read_why(verify, verify->block + at, len);
		at += (len + 3u) & ~3u;
	}
}

static void end_block(struct pcapng_verify *verify)
{
	verify->last = verify->type == TYPE_STATISTICS;
	verify->packets += verify->type == TYPE_PACKET;
	if (verify->last)
		read_statistics(verify);
	verify->have_bytes = 0;
}

static void begin_block(struct pcapng_verify *verify)
{
	uint32_t len = load_u32(verify->block + 4);

	verify->type = load_u32(verify->block);
	verify->broken = len < FRAME_BYTES || len % 4 ||
			 (verify->type == TYPE_STATISTICS && len > sizeof(verify->block));
	verify->left_bytes = len - HEAD_BYTES;
}

/* Stores or skips bytes of the current block. Returns how many bytes of @data it consumed. */
static size_t pcapng_verify_step(struct pcapng_verify *verify, const uint8_t *data, size_t len)
{
	bool in_head = !verify->left_bytes;
	size_t want = in_head ? HEAD_BYTES - verify->have_bytes : verify->left_bytes;
	size_t n = want < len ? want : len;

	if (in_head || verify->type == TYPE_STATISTICS) {
		memcpy(verify->block + verify->have_bytes, data, n);
		verify->have_bytes += (uint32_t)n;
	}
	if (!in_head)
		verify->left_bytes -= (uint32_t)n;
	if (in_head && n == want)
		begin_block(verify);
	else if (!in_head && n == want)
		end_block(verify);
	return n;
}

void pcapng_verify_add(struct pcapng_verify *verify, const uint8_t *data, size_t len)
{
	verify->bytes += len;
	while (len && !verify->broken) {
		size_t n = pcapng_verify_step(verify, data, len);

		data += n;
		len -= n;
	}
}

bool pcapng_verify_is_complete(const struct pcapng_verify *verify)
{
	return !verify->broken && verify->last && !verify->left_bytes && !verify->have_bytes;
}
