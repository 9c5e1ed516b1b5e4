/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extracts records from a stream: the first bytes of each in one piece, the others as they are
 * read, without a copy and without waiting for the end of the record.
 */
#ifndef TESTS_BENCH_RECORD_READER_H
#define TESTS_BENCH_RECORD_READER_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_HEAD_MAX 1024u

struct record_ops {
	/* Called when a record of @len bytes has begun; these are its first @head_len. */
	void (*begin)(void *arg, const uint8_t *head, size_t head_len, size_t len);
	/* Called with the bytes after them, in one or many pieces. */
	void (*more)(void *arg, const uint8_t *data, size_t len);
	void (*end)(void *arg);
};

struct record_reader {
	uint32_t head_bytes; /* of a record, or all of a shorter one; can change between two */
	uint32_t len;        /* of the record; 0: its mark is incomplete */
	uint32_t left;       /* of it, after the head */
	uint32_t have;       /* bytes in @aside */
	uint8_t aside[RECORD_HEAD_MAX];
};

/**
 * record_reader_feed - Parses the next bytes
 *
 * Returns 0, or -EBADMSG if the record has several fragments or is too short for a message.
 */
int record_reader_feed(struct record_reader *reader, const struct record_ops *ops, void *arg,
		       const uint8_t *data, size_t len);

#endif
