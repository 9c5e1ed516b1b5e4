// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes a program of reads over XDR data: each read either advances by the bytes that it read or
 * not at all, and writing the values back gives the same bytes except for padding. The first byte
 * is the length of the program.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "tests/fuzz/fuzz.h"

static void read_one(struct xdr_reader *reader, struct xdr_writer *writer, uint8_t op)
{
	const uint8_t *from = reader->pos, *data;
	size_t before = xdr_remaining_bytes(reader), wrote = xdr_written_bytes(writer);
	uint32_t word, arg = op >> 3;
	uint64_t wide;
	bool flag, ok;

	switch (op & 7) {
	case 0:
		ok = xdr_get_u32(reader, &word);
		if (ok)
			xdr_put_u32(writer, word);
		break;
	case 1:
		ok = xdr_get_u64(reader, &wide);
		if (ok)
			xdr_put_u64(writer, wide);
		break;
	case 2:
		ok = xdr_get_bool(reader, &flag);
		if (ok)
			xdr_put_bool(writer, flag);
		break;
	case 3:
		ok = xdr_get_fixed(reader, arg, &data);
		if (ok)
			xdr_put_fixed(writer, data, arg);
		break;
	case 4:
		ok = xdr_get_opaque(reader, arg * 64, &data, &word);
		if (ok) {
			FUZZ_ASSERT(word <= arg * 64);
			xdr_put_opaque(writer, data, word);
		}
		break;
	case 5:
		ok = xdr_get_opaque(reader, UINT32_MAX, &data, &word);
		if (ok)
			xdr_put_opaque(writer, data, word);
		break;
	case 6:
		ok = xdr_get_count(reader, 1000, arg, &word);
		if (ok) {
			FUZZ_ASSERT(word <= 1000 && (uint64_t)word * arg <= before);
			xdr_put_u32(writer, word);
		}
		break;
	default:
		ok = xdr_skip(reader, arg);
		if (ok)
			xdr_put_fixed(writer, from, arg);
		break;
	}
	FUZZ_ASSERT(xdr_remaining_bytes(reader) <= before);
	FUZZ_ASSERT(ok || reader->pos == from);
	if (ok && (op & 7) != 7)
		FUZZ_ASSERT(xdr_written_bytes(writer) - wrote == (size_t)(reader->pos - from));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xdr_reader reader;
	struct xdr_writer writer;
	uint8_t *copy;
	size_t nops;

	if (!size || size - 1 < data[0])
		return 0;
	nops = data[0];
	/* Skipped bytes come back padded, three more for each. */
	copy = malloc(size + 4 * nops + 1);
	FUZZ_ASSERT(copy);
	xdr_reader_init(&reader, data + 1 + nops, size - 1 - nops);
	xdr_writer_init(&writer, copy, size + 4 * nops);
	for (size_t i = 0; i < nops; i++)
		read_one(&reader, &writer, data[1 + i]);
	FUZZ_ASSERT(!writer.failed);
	free(copy);
	return 0;
}
