/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats numbers and times for people. */
#ifndef DAEMON_BASE_AMOUNT_H
#define DAEMON_BASE_AMOUNT_H

#include <stdint.h>

#define AMOUNT_TEXT_BYTES 32u

/** amount_count - Writes "12,345". Returns @text. */
const char *amount_count(uint64_t count, char text[AMOUNT_TEXT_BYTES]);
/** amount_bytes - Writes "812 bytes", "3.1 GiB", "20 MiB": at least two digits. Returns @text. */
const char *amount_bytes(uint64_t bytes, char text[AMOUNT_TEXT_BYTES]);
/** amount_time - Writes a duration: "0", "61 us", "1.2 ms", "34 s". Returns @text. */
const char *amount_time(double seconds, char text[AMOUNT_TEXT_BYTES]);
/** amount_age - Writes an age: "3.2 s", "47 s", "35 min", "3 h 5 min", "12 d 3 h". Returns @text. */
const char *amount_age(uint64_t us, char text[AMOUNT_TEXT_BYTES]);

#endif
