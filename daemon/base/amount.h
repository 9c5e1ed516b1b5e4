/* SPDX-License-Identifier: BSD-3-Clause */
/* Large numbers and times as people read them. */
#ifndef DAEMON_BASE_AMOUNT_H
#define DAEMON_BASE_AMOUNT_H

#include <stdint.h>

#define AMOUNT_TEXT_BYTES 32u

/** amount_count - "12,345"; returns @text. */
const char *amount_count(uint64_t count, char text[AMOUNT_TEXT_BYTES]);
/** amount_bytes - "812 bytes", "3.1 GiB", "20 MiB": two digits at least; returns @text. */
const char *amount_bytes(uint64_t bytes, char text[AMOUNT_TEXT_BYTES]);
/** amount_time - "0", "61 us", "1.2 ms", "34 s": how long something took; returns @text. */
const char *amount_time(double seconds, char text[AMOUNT_TEXT_BYTES]);
/** amount_age - "3.2 s", "47 s", "35 min", "3 h 5 min", "12 d 3 h"; returns @text. */
const char *amount_age(uint64_t us, char text[AMOUNT_TEXT_BYTES]);

#endif
