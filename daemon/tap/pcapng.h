/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a capture file in the pcapng format (draft-ietf-opsawg-pcapng): one section, one interface
 * whose packets begin with an IP header, and its statistics at the end.
 *
 * Blocks are written into the caller's memory, and can be sent immediately. A block that does not
 * fit is omitted, with all that follow; then pcapng_written_bytes() returns 0.
 */
#ifndef DAEMON_TAP_PCAPNG_H
#define DAEMON_TAP_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/compiler.h"

#define PCAPNG_TEXT_BYTES 1000u /* longest comment or name; longer ones are cut */
/* The size of a packet without its data and comments; and of each comment. */
#define PCAPNG_PACKET_BYTES  40u
#define PCAPNG_COMMENT_BYTES (4u + PCAPNG_TEXT_BYTES)

struct pcapng_writer {
	uint8_t *start, *pos, *end;
	unsigned packets; /* written so far */
	bool failed;
};

/* Texts are UTF-8. The array of comments ends with NULL; a NULL array means none. */
struct pcapng_packet {
	uint64_t at_us; /* since 1970 */
	const struct iovec *parts;
	unsigned nparts;
	uint32_t original_bytes; /* length before it was cut */
	const char *const *comments;
};

/** pcapng_writer_init - Sets the output to @capacity bytes at @to. */
void pcapng_writer_init(struct pcapng_writer *writer, uint8_t *to, size_t capacity);
/** pcapng_begin - Writes a section by @application with @comment, and its interface @interface. */
void pcapng_begin(struct pcapng_writer *writer, const char *application, const char *comment,
		  const char *interface);
/** pcapng_packet - Writes a packet. */
void pcapng_packet(struct pcapng_writer *writer, const struct pcapng_packet *packet);
/**
 * pcapng_end - Writes the statistics up to @at_us: numbers of packets received and of messages
 * dropped.
 */
void pcapng_end(struct pcapng_writer *writer, uint64_t at_us, uint64_t received, uint64_t dropped,
		const char *comment);
/** pcapng_written_bytes - Returns the bytes written, or 0 if anything did not fit. */
MUST_CHECK size_t pcapng_written_bytes(const struct pcapng_writer *writer);

#endif
