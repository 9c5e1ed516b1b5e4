/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes CRC32C incrementally. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_START 0xffffffffu

/**
 * crc32c_add - Returns @crc continued over @len_bytes more. Start with CRC32C_START; invert the
 * last result.
 */
uint32_t crc32c_add(uint32_t crc, const void *bytes, size_t len_bytes);

#endif
