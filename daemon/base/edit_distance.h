/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distance of two words, to suggest what a misspelt word means. */
#ifndef DAEMON_BASE_EDIT_DISTANCE_H
#define DAEMON_BASE_EDIT_DISTANCE_H

#include "base/compiler.h"

#define EDIT_DISTANCE_MAX        3u  /* most edits of a misspelt word */
#define EDIT_DISTANCE_WORD_BYTES 40u /* of either word; longer ones match nothing */

/**
 * edit_distance - Returns how many letters of @written must be added, removed or replaced to get
 * @meant
 *
 * Returns UINT_MAX for more than EDIT_DISTANCE_MAX, or more than half of @meant's letters.
 */
unsigned edit_distance(const char *written, const char *meant) MUST_CHECK;

#endif
