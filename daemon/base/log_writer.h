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

/**
 * log_writer_new - start the thread
 * @has_fields:  what it gets are entries for the journal, of the form LOG_FORM_FIELDS: one that the journal does not take is
 *		 written to standard error as a line with its level, where the journal's stream may take it; else lines for
 *		 standard error
 * @queue_bytes: what may wait, at least twice LOG_WRITER_LINE_BYTES
 * @drained:     called on the thread when the queue has run empty, with whether the last line was taken; may put lines
 *
 * Nothing is changed on standard error: its other users may share more of it than its number. Returns NULL without memory
 * or threads.
 */
struct log_writer *log_writer_new(bool has_fields, size_t queue_bytes, void (*drained)(bool taken));

/**
 * log_writer_put - queue a line; never blocks for longer than to copy it
 * @len: at most LOG_WRITER_LINE_BYTES
 *
 * Returns false if there is no room for it.
 */
bool log_writer_put(struct log_writer *writer, const char *line, size_t len) MUST_CHECK;

/** log_writer_failed - lines that were queued, but could not be written. */
uint64_t log_writer_failed(struct log_writer *writer);

/**
 * log_writer_free - end the thread once everything is written, and free
 * @timeout_ms: how long that may take
 *
 * Nobody puts lines any more. Returns false if it is still blocked then: the writer and its thread are left
 * as they are, and it may be called again.
 */
bool log_writer_free(struct log_writer *writer, unsigned timeout_ms) MUST_CHECK;

/**
 * log_journal_is_reached - whether standard error is the journal's, and its socket for entries is here
 *
 * A container may have the one without the other.
 */
bool log_journal_is_reached(void) MUST_CHECK;
/** log_journal_is_stderr - whether standard error is a stream of the journal's. */
bool log_journal_is_stderr(void) MUST_CHECK;

#endif
