/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C, in pieces. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_START 0xffffffffu

/** crc32c_add - the sum continued over @len_bytes more; start with CRC32C_START, and invert what comes out at last. */
uint32_t crc32c_add(uint32_t crc, const void *bytes, size_t len_bytes);

#endif
