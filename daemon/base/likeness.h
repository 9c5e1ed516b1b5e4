/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distance of two words, to suggest what a misspelt word means. */
#ifndef DAEMON_BASE_LIKENESS_H
#define DAEMON_BASE_LIKENESS_H

#include "base/compiler.h"

#define LIKENESS_EDITS     3u  /* most edits of a misspelt word */
#define LIKENESS_MAX_BYTES 40u /* of either word; longer ones match nothing */

/**
 * likeness_edits - Returns how many letters of @written to add, remove or replace to get @meant
 *
 * Returns UINT_MAX for more than LIKENESS_EDITS, or more than half of @meant's letters.
 */
unsigned likeness_edits(const char *written, const char *meant) MUST_CHECK;

#endif
