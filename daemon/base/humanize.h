/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats numbers and times for people. */
#ifndef DAEMON_BASE_HUMANIZE_H
#define DAEMON_BASE_HUMANIZE_H

#include <stdint.h>

#define HUMANIZE_TEXT_BYTES 32u

/** humanize_count - Writes "12,345". Returns @text. */
const char *humanize_count(uint64_t count, char text[HUMANIZE_TEXT_BYTES]);
/** humanize_bytes - Writes "812 bytes", "3.1 GiB", "20 MiB": at least two digits. Returns @text. */
const char *humanize_bytes(uint64_t bytes, char text[HUMANIZE_TEXT_BYTES]);
/** humanize_time - Writes a duration: "0", "61 us", "1.2 ms", "34 s". Returns @text. */
const char *humanize_time(double seconds, char text[HUMANIZE_TEXT_BYTES]);
/**
 * humanize_age - Writes an age: "3.2 s", "47 s", "35 min", "3 h 5 min", "12 d 3 h". Returns @text.
 */
const char *humanize_age(uint64_t us, char text[HUMANIZE_TEXT_BYTES]);

/** humanize_plural - Returns "s" after any number but one, else "". */
static inline const char *humanize_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
