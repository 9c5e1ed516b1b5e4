/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and stores big-endian numbers at any alignment. */
#ifndef BASE_BE_BYTES_H
#define BASE_BE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_get(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t be32_get(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return be32toh(v);
}

static inline uint64_t be64_get(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return be64toh(v);
}

static inline void be16_put(uint8_t *at, uint16_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static inline void be32_put(uint8_t *at, uint32_t v)
{
	v = htobe32(v);
	memcpy(at, &v, sizeof(v));
}

static inline void be64_put(uint8_t *at, uint64_t v)
{
	v = htobe64(v);
	memcpy(at, &v, sizeof(v));
}

#endif
