// SPDX-License-Identifier: BSD-3-Clause
/* Words are little-endian, as the section's magic says. */
#include "daemon/tap/pcapng.h"

#include <endian.h>
#include <string.h>

#define BLOCK_SECTION      0x0a0d0d0au
#define BLOCK_INTERFACE    1u
#define BLOCK_STATISTICS   5u
#define BLOCK_PACKET       6u

#define BYTE_ORDER_MAGIC   0x1a2b3c4du
#define LINKTYPE_RAW       101u

#define OPTION_END         0u
#define OPTION_COMMENT     1u
#define OPTION_IF_NAME     2u
#define OPTION_APPLICATION 4u
#define OPTION_RECEIVED    4u
#define OPTION_DROPPED     5u

/* ---- words ---- */

static uint8_t *reserve(struct pcapng_writer *writer, size_t len)
{
	uint8_t *to = writer->pos;

	if (writer->failed || len > (size_t)(writer->end - writer->pos)) {
		writer->failed = true;
		return NULL;
	}
	writer->pos += len;
	return to;
}

static void put(struct pcapng_writer *writer, const void *data, size_t len)
{
	uint8_t *to = reserve(writer, len);

	if (to && len)
		memcpy(to, data, len);
}

static void put_u16(struct pcapng_writer *writer, uint16_t value)
{
	value = htole16(value);
	put(writer, &value, sizeof(value));
}

static void put_u32(struct pcapng_writer *writer, uint32_t value)
{
	value = htole32(value);
	put(writer, &value, sizeof(value));
}

/* A time has its upper half first, in either byte order. */
static void put_time(struct pcapng_writer *writer, uint64_t at_us)
{
	put_u32(writer, (uint32_t)(at_us >> 32));
	put_u32(writer, (uint32_t)at_us);
}

/* Pads to a multiple of four, which only texts and packets need. */
static void put_pad(struct pcapng_writer *writer, size_t len)
{
	static const uint8_t zeros[3];

	put(writer, zeros, -len & 3);
}

static void put_option(struct pcapng_writer *writer, uint16_t code, const void *data, size_t len)
{
	put_u16(writer, code);
	put_u16(writer, (uint16_t)len);
	put(writer, data, len);
	put_pad(writer, len);
}

static void put_text(struct pcapng_writer *writer, uint16_t code, const char *text)
{
	put_option(writer, code, text, strnlen(text, PCAPNG_TEXT_BYTES));
}

static void put_count(struct pcapng_writer *writer, uint16_t code, uint64_t count)
{
	count = htole64(count);
	put_option(writer, code, &count, sizeof(count));
}

/* ---- blocks: type, length, body, length again ---- */

static uint8_t *begin_block(struct pcapng_writer *writer, uint32_t type)
{
	uint8_t *block = writer->pos;

	put_u32(writer, type);
	put_u32(writer, 0);
	return block;
}

static void end_block(struct pcapng_writer *writer, uint8_t *block)
{
	uint32_t len = (uint32_t)(writer->pos - block) + 4;

	put_u32(writer, len);
	if (writer->failed)
		return;
	len = htole32(len);
	memcpy(block + 4, &len, sizeof(len));
}

void pcapng_writer_init(struct pcapng_writer *writer, uint8_t *to, size_t capacity)
{
	*writer = (struct pcapng_writer){.start = to, .pos = to, .end = to + capacity};
}

void pcapng_begin(struct pcapng_writer *writer, const char *application, const char *comment,
		  const char *interface)
{
	uint8_t *block = begin_block(writer, BLOCK_SECTION);

	put_u32(writer, BYTE_ORDER_MAGIC);
	put_u16(writer, 1); /* version 1.0 */
	put_u16(writer, 0);
	put_u32(writer, UINT32_MAX); /* section length unknown */
	put_u32(writer, UINT32_MAX);
	put_text(writer, OPTION_COMMENT, comment);
	put_text(writer, OPTION_APPLICATION, application);
	put_option(writer, OPTION_END, NULL, 0);
	end_block(writer, block);

	block = begin_block(writer, BLOCK_INTERFACE);
	put_u16(writer, LINKTYPE_RAW);
	put_u16(writer, 0);
	put_u32(writer, 0); /* no snapshot length */
	put_text(writer, OPTION_IF_NAME, interface);
	put_option(writer, OPTION_END, NULL, 0);
	end_block(writer, block);
}

static uint32_t parts_bytes(const struct pcapng_packet *packet)
{
	size_t len = 0;

	for (unsigned i = 0; i < packet->nparts; i++)
		len += packet->parts[i].iov_len;
	return (uint32_t)len;
}

void pcapng_packet(struct pcapng_writer *writer, const struct pcapng_packet *packet)
{
	uint8_t *block = begin_block(writer, BLOCK_PACKET);
	uint32_t len = parts_bytes(packet);

	put_u32(writer, 0); /* interface number */
	put_time(writer, packet->at_us);
	put_u32(writer, len);
	put_u32(writer, packet->original_bytes);
	for (unsigned i = 0; i < packet->nparts; i++)
		put(writer, packet->parts[i].iov_base, packet->parts[i].iov_len);
	put_pad(writer, len);
	if (packet->comments && packet->comments[0]) {
		for (const char *const *comment = packet->comments; *comment; comment++)
			put_text(writer, OPTION_COMMENT, *comment);
		put_option(writer, OPTION_END, NULL, 0);
	}
	end_block(writer, block);
	writer->packets++;
}

void pcapng_end(struct pcapng_writer *writer, uint64_t at_us, uint64_t received, uint64_t dropped,
		const char *comment)
{
	uint8_t *block = begin_block(writer, BLOCK_STATISTICS);

	put_u32(writer, 0);
	put_time(writer, at_us);
	put_text(writer, OPTION_COMMENT, comment);
	put_count(writer, OPTION_RECEIVED, received);
	put_count(writer, OPTION_DROPPED, dropped);
	put_option(writer, OPTION_END, NULL, 0);
	end_block(writer, block);
}

size_t pcapng_written_bytes(const struct pcapng_writer *writer)
{
	return writer->failed ? 0 : (size_t)(writer->pos - writer->start);
}
