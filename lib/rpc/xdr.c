// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/xdr.h"

bool xdr_get_count(struct xdr_reader *reader, uint32_t max, size_t min_each, uint32_t *count)
{
	struct xdr_reader ahead = *reader;
	uint32_t n;

	if (!xdr_get_u32(&ahead, &n) || n > max)
		return false;
	if (min_each && n > xdr_remaining_bytes(&ahead) / min_each)
		return false;
	*count = n;
	*reader = ahead;
	return true;
}

bool xdr_get_fixed(struct xdr_reader *reader, uint32_t len_bytes, const uint8_t **data)
{
	const uint8_t *at = reader->pos;

	if (!xdr_skip(reader, xdr_padded_bytes(len_bytes)))
		return false;
	*data = at;
	return true;
}

bool xdr_get_opaque(struct xdr_reader *reader, uint32_t max_bytes, const uint8_t **data,
		    uint32_t *len_bytes)
{
	struct xdr_reader ahead = *reader;
	uint32_t n;

	if (!xdr_get_u32(&ahead, &n) || n > max_bytes || !xdr_get_fixed(&ahead, n, data))
		return false;
	*len_bytes = n;
	*reader = ahead;
	return true;
}

bool xdr_skip_opaque(struct xdr_reader *reader, uint32_t max_bytes)
{
	const uint8_t *data;
	uint32_t len_bytes;

	return xdr_get_opaque(reader, max_bytes, &data, &len_bytes);
}

static void fill_padded(uint8_t *to, const uint8_t *data, uint32_t len_bytes)
{
	if (len_bytes)
		memcpy(to, data, len_bytes);
	memset(to + len_bytes, 0, xdr_padded_bytes(len_bytes) - len_bytes);
}

void xdr_put_fixed(struct xdr_writer *writer, const uint8_t *data, uint32_t len_bytes)
{
	uint8_t *to = xdr_reserve(writer, xdr_padded_bytes(len_bytes));

	if (to)
		fill_padded(to, data, len_bytes);
}

void xdr_put_opaque(struct xdr_writer *writer, const uint8_t *data, uint32_t len_bytes)
{
	uint8_t *to = xdr_reserve(writer, sizeof(len_bytes) + xdr_padded_bytes(len_bytes));

	if (!to)
		return;
	be32_put(to, len_bytes);
	fill_padded(to + sizeof(len_bytes), data, len_bytes);
}
