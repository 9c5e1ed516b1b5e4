/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared code of the fuzz targets of the iwarp engine. */
#ifndef TESTS_FUZZ_IWARP_STREAM_H
#define TESTS_FUZZ_IWARP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * iwarp_stream_fuzz - have an engine receive what a peer could send
 * @initiator: the engine's role
 * @data, @size: see iwarp_stream.c
 */
void iwarp_stream_fuzz(bool initiator, const uint8_t *data, size_t size);

#endif
