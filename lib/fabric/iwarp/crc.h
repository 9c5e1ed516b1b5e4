/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C as MPA uses it, in pieces: over the length, the ULPDU and the padding of an FPDU. */
#ifndef FABRIC_IWARP_CRC_H
#define FABRIC_IWARP_CRC_H

#include <stddef.h>
#include <stdint.h>

#include "fabric/iwarp/proto.h"

#define IWARP_CRC_START 0xffffffffu

/** iwarp_crc_add - the sum continued over @len_bytes more; start with IWARP_CRC_START. */
uint32_t iwarp_crc_add(uint32_t crc, const void *bytes, size_t len_bytes);
/** iwarp_crc_store - the finished sum as it goes on the wire: inverted, least significant byte first. */
void iwarp_crc_store(uint32_t crc, uint8_t wire[MPA_CRC_BYTES]);

#endif
