/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian numbers and CRC32c for the judge, which shares no code with the program that it
 * judges.
 */
#ifndef TESTS_JUDGE_BYTES_H
#define TESTS_JUDGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t get_be64(const uint8_t *p)
{
	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void put_be16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static inline void put_be32(uint8_t *p, uint32_t value)
{
	put_be16(p, value >> 16);
	put_be16(p + 2, value & 0xffff);
}

/**
 * crc32c_of - Returns the CRC of RFC 3385, as MPA sends it (RFC 5044 section 4.4), of @len bytes.
 */
uint32_t crc32c_of(const uint8_t *data, size_t len);

#endif
