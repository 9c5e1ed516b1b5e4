/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file in the pcapng format (draft-ietf-opsawg-pcapng), as far as one is written here: one section, one
 * interface, whose packets begin with an IP header, and its statistics at the end.
 *
 * Blocks go into the caller's memory, one behind the other, so that they can be sent as they come. One that does not
 * fit is left out and makes all that follow be left out too; pcapng_written_bytes() tells once at the end.
 */
#ifndef DAEMON_TAP_PCAPNG_H
#define DAEMON_TAP_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/compiler.h"

#define PCAPNG_TEXT_BYTES 1000u /* of a comment or a name: what is longer is cut */
/* What a packet takes, its own bytes and the texts of its comments not counted; and each of those comments. */
#define PCAPNG_PACKET_BYTES  40u
#define PCAPNG_COMMENT_BYTES (4u + PCAPNG_TEXT_BYTES)

struct pcapng_writer {
	uint8_t *start, *pos, *end;
	unsigned packets; /* so far */
	bool failed;
};

/* Texts are UTF-8; comments end with a NULL, and no array of them is none. */
struct pcapng_packet {
	uint64_t at_us; /* since 1970 */
	const struct iovec *parts;
	unsigned nparts;
	uint32_t original_bytes; /* how long it was before it was cut */
	const char *const *comments;
};

/** pcapng_writer_init - write into @room bytes at @to. */
void pcapng_writer_init(struct pcapng_writer *writer, uint8_t *to, size_t room);
/** pcapng_begin - a section by @application about @comment, and its one interface, named @interface. */
void pcapng_begin(struct pcapng_writer *writer, const char *application, const char *comment,
		  const char *interface);
/** pcapng_packet - one packet. */
void pcapng_packet(struct pcapng_writer *writer, const struct pcapng_packet *packet);
/** pcapng_end - the statistics: up to @at_us so many packets were written, and so many messages were not. */
void pcapng_end(struct pcapng_writer *writer, uint64_t at_us, uint64_t received, uint64_t dropped,
		const char *comment);
/** pcapng_written_bytes - how long it all is, or 0 if anything did not fit. */
MUST_CHECK size_t pcapng_written_bytes(const struct pcapng_writer *writer);

#endif
