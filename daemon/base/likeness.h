/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether one word may be meant where another was written. */
#ifndef DAEMON_BASE_LIKENESS_H
#define DAEMON_BASE_LIKENESS_H

#include "base/compiler.h"

#define LIKENESS_EDITS     3u  /* of a misspelt word at most */
#define LIKENESS_MAX_BYTES 40u /* of either word; longer ones resemble nothing */

/**
 * likeness_edits - how many letters of @written are to be added, taken away or replaced to have @meant
 *
 * Returns UINT_MAX if the words do not resemble: with more than LIKENESS_EDITS, or more than half of @meant's letters.
 */
unsigned likeness_edits(const char *written, const char *meant) MUST_CHECK;

#endif
