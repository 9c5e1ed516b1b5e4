/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes log lines to a descriptor or the journal on a thread of its own, so that logging never
 * blocks.
 *
 * Lines or journal entries wait in a bounded queue. The thread writes them in order, with one
 * system call each. When the queue is full, lines are dropped until half of it is free. So the
 * message about lost lines does not alternate with the lines.
 *
 * Threads: log_writer_put() from any thread.
 */
#ifndef DAEMON_BASE_LOG_WRITER_H
#define DAEMON_BASE_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define LOG_WRITER_LINE_BYTES 3072u

struct log_writer;

/**
 * log_writer_new - Starts the thread
 * @has_fields:  the lines are journal entries (LOG_FORM_FIELDS). An entry that the journal rejects
 *               is written to standard error as a line with its level. False: lines for standard
 *               error
 * @queue_bytes: queue size, at least twice LOG_WRITER_LINE_BYTES
 * @drained:     called on the thread when the queue is empty; it can queue lines. @accepted: whether
 *               the last line was written
 *
 * Does not change the flags of standard error, which other processes can share. Returns NULL
 * without memory or threads.
 */
struct log_writer *log_writer_new(bool has_fields, size_t queue_bytes,
				  void (*drained)(bool accepted));

/**
 * log_writer_put - Queues a line; blocks only to copy it
 * @len: at most LOG_WRITER_LINE_BYTES
 *
 * Returns false if the queue is full.
 */
bool log_writer_put(struct log_writer *writer, const char *line, size_t len) MUST_CHECK;

/** log_writer_failed - Returns how many queued lines could not be written. */
uint64_t log_writer_failed(struct log_writer *writer);

/**
 * log_writer_free - Writes the queued lines, ends the thread and frees the writer
 * @timeout_ms: time limit
 *
 * No other thread may still queue lines. Returns false after @timeout_ms if the thread is blocked:
 * nothing is freed, and the function can be called again.
 */
bool log_writer_free(struct log_writer *writer, unsigned timeout_ms) MUST_CHECK;

/**
 * log_journal_is_reached - Returns whether standard error is a stream of the journal and the
 * journal's socket for entries is available
 *
 * A container can have the first without the second.
 */
bool log_journal_is_reached(void) MUST_CHECK;
/** log_journal_is_stderr - Returns whether standard error is a stream of the journal. */
bool log_journal_is_stderr(void) MUST_CHECK;

#endif
