/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of the only file of the in-memory server. Each byte is a function of its offset, so
 * client and server both know it, and nothing is stored or generated for an RPC.
 *
 * The period is a prime: no segment, FPDU, page or buffer is a multiple of it, so misplaced bytes
 * are detected.
 */
#ifndef TESTS_BENCH_FILE_DATA_H
#define TESTS_BENCH_FILE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_DATA_PERIOD 65521u
#define FILE_DATA_CHUNK  (256u * 1024)

/** file_data_init - Fills the memory that the other functions use. */
void file_data_init(void);
/** file_data_at - Returns the FILE_DATA_CHUNK bytes from @offset on. */
const uint8_t *file_data_at(uint64_t offset);
/** file_data_is - Returns whether these @len bytes are those at @offset. */
bool file_data_is(uint64_t offset, const uint8_t *data, size_t len);

#endif
