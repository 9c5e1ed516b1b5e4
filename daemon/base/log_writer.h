/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hands lines to what may block, a descriptor or the journal, so that whoever has something to say never does.
 *
 * Lines, or the journal's entries of several, wait in a queue of bounded size, which a thread of its own writes in
 * order, one call each. When the queue is full, lines are
 * dropped until half of it is free again, so that what is said of the dropped ones is not said every other line.
 *
 * Concurrency: log_writer_put() from any thread.
 */
#ifndef DAEMON_BASE_LOG_WRITER_H
#define DAEMON_BASE_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define LOG_WRITER_LINE_BYTES 3072u

struct log_writer;

/* Both are called with @arg on the writer's thread. */
struct log_sink {
	/* Writes one line, as long as it takes; returns whether it was taken. */
	bool (*write)(void *arg, const char *line, size_t len);
	/* The queue has run empty, and whether the last line was taken; may put lines. */
	void (*drained)(void *arg, bool taken);
	void *arg;
};

/**
 * log_writer_new - start the thread
 * @sink:        copied
 * @queue_bytes: what may wait, at least twice LOG_WRITER_LINE_BYTES
 *
 * Returns NULL without memory or threads.
 */
struct log_writer *log_writer_new(const struct log_sink *sink, size_t queue_bytes);

/**
 * log_writer_put - queue a line; never blocks for longer than to copy it
 * @len: at most LOG_WRITER_LINE_BYTES
 *
 * Returns false if there is no room for it.
 */
bool log_writer_put(struct log_writer *writer, const char *line, size_t len) MUST_CHECK;

/** log_writer_failed - lines that were queued, but that the sink did not take. */
uint64_t log_writer_failed(struct log_writer *writer);

/**
 * log_writer_write - write a line to a descriptor, as long as it takes
 *
 * Nothing is changed on the descriptor: its other users may share more of it than its number. Returns whether all of
 * the line was taken.
 */
bool log_writer_write(int fd, const char *line, size_t len) MUST_CHECK;

/**
 * log_writer_free - end the thread once everything is written, and free
 * @timeout_ms: how long that may take
 *
 * Nobody puts lines any more. Returns false if the sink still blocks then: the writer and its thread are left
 * as they are, and it may be called again.
 */
bool log_writer_free(struct log_writer *writer, unsigned timeout_ms) MUST_CHECK;

#endif
