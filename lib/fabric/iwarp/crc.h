/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C as MPA puts it on the wire: over the length, the ULPDU and the padding of an FPDU. */
#ifndef FABRIC_IWARP_CRC_H
#define FABRIC_IWARP_CRC_H

#include "base/crc32c.h"
#include "fabric/iwarp/proto.h"

/** iwarp_crc_store - the finished sum as it goes on the wire: inverted, least significant byte first. */
void iwarp_crc_store(uint32_t crc, uint8_t wire[MPA_CRC_BYTES]);

#endif
