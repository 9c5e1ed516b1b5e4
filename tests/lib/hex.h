/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden bytes written in hexadecimal, and copies whose allocation has exactly their length. */
#ifndef TESTS_LIB_HEX_H
#define TESTS_LIB_HEX_H

#include <stddef.h>
#include <stdint.h>

/**
 * hex_bytes - the bytes that hexadecimal digits stand for
 * @hex:  digits in pairs; blanks are skipped
 * @to, @room: where to; the test ends if they do not fit or @hex is no hexadecimal
 *
 * Returns how many.
 */
size_t hex_bytes(const char *hex, uint8_t *to, size_t room);

/**
 * exact_copy - Copies bytes so that a sanitizer detects reads beyond their end
 *
 * The caller frees the copy; never NULL.
 */
uint8_t *exact_copy(const uint8_t *data, size_t len);

#endif
