/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries with fields, for the journal. */
#ifndef DAEMON_BASE_LOG_JOURNAL_H
#define DAEMON_BASE_LOG_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/**
 * log_journal_is_reached - whether standard error is the journal's, and its socket for entries is here
 *
 * A container may have the one without the other.
 */
bool log_journal_is_reached(void) MUST_CHECK;
/** log_journal_is_stderr - whether standard error is a stream of the journal's. */
bool log_journal_is_stderr(void) MUST_CHECK;

/**
 * log_journal_send - send an entry, as long as that takes
 * @entry: of the form LOG_FORM_FIELDS: each field ends in a newline, and the message is the first
 *
 * If the journal does not take it, its message goes to standard error, where the journal's stream may. Returns whether
 * either took it.
 */
bool log_journal_send(const char *entry, size_t len) MUST_CHECK;

#endif
