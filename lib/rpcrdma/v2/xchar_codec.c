// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats:
 *
 *	INIT    values, subset that will not change
 *	REQ     values
 *	RESP    subsets of the REQ's values: done, rejected, pending
 *	UPD     value, bool
 *	values  count, each: id, opaque data
 *	subset  count of words, each: 32 elements, the first in the lowest bit (B2.1-6)
 */
#include "rpcrdma/v2/xchar_codec.h"

#include "rpc/xdr.h"

#define WORD_BYTES      4u
#define WORD_BITS       32u
#define VALUE_MIN_BYTES 8u /* id and length */

/* Largest value of each known id, whose data are one word. */
static const uint32_t largest[XCHAR_ID_MAX + 1] = {
	[XCHAR_RBSIZ] = UINT32_MAX,
	[XCHAR_RQREMINV] = true,
	[XCHAR_BRS] = XCHAR_BRS_GENL,
};

static bool is_known(uint32_t id)
{
	return id >= XCHAR_RBSIZ && id <= XCHAR_ID_MAX;
}

static bool check_value(struct xdr_reader *reader)
{
	const uint8_t *data;
	uint32_t id, len;

	if (!xdr_get_u32(reader, &id) || !xdr_get_opaque(reader, UINT32_MAX, &data, &len))
		return false;
	return !is_known(id) || (len == WORD_BYTES && be32_get(data) <= largest[id]);
}

static bool get_values(struct xdr_reader *reader, uint32_t count, struct xchar_spec *spec)
{
	*spec = (struct xchar_spec){.at = reader->pos, .left = count};
	for (uint32_t n = 0; n < count; n++) {
		if (!check_value(reader))
			return false;
	}
	return true;
}

static bool get_spec(struct xdr_reader *reader, struct xchar_spec *spec)
{
	uint32_t count;

	return xdr_get_count(reader, UINT32_MAX, VALUE_MIN_BYTES, &count) &&
	       get_values(reader, count, spec);
}

static bool get_subset(struct xdr_reader *reader, struct xchar_subset *subset)
{
	if (!xdr_get_count(reader, UINT32_MAX, WORD_BYTES, &subset->nwords))
		return false;
	subset->words = reader->pos;
	return xdr_skip(reader, (uint64_t)subset->nwords * WORD_BYTES);
}

static bool get_init(struct xdr_reader *reader, struct xchar_operation *operation)
{
	return get_spec(reader, &operation->spec) && get_subset(reader, &operation->nochg);
}

static bool get_req(struct xdr_reader *reader, struct xchar_operation *operation)
{
	return get_spec(reader, &operation->spec);
}

static bool get_resp(struct xdr_reader *reader, struct xchar_operation *operation)
{
	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		if (!get_subset(reader, &operation->sets[set]))
			return false;
	}
	return true;
}

static bool get_upd(struct xdr_reader *reader, struct xchar_operation *operation)
{
	return get_values(reader, 1, &operation->spec) && xdr_get_bool(reader, &operation->pendclr);
}

enum xchar_verdict xchar_decode(uint32_t opttype, const uint8_t *info, size_t len,
				struct xchar_operation *operation)
{
	static bool (*const get[])(struct xdr_reader *, struct xchar_operation *) = {
		[XCHAR_INIT] = get_init,
		[XCHAR_REQ] = get_req,
		[XCHAR_RESP] = get_resp,
		[XCHAR_UPD] = get_upd,
	};
	struct xchar_operation found = {.op = opttype};
	struct xdr_reader reader;

	if (opttype >= ARRAY_SIZE(get) || !get[opttype])
		return XCHAR_UNKNOWN_OP;
	xdr_reader_init(&reader, info, len);
	if (!get[opttype](&reader, &found) || xdr_remaining_bytes(&reader))
		return XCHAR_BAD;
	*operation = found;
	return XCHAR_OK;
}

bool xchar_next(struct xchar_spec *spec, struct xchar_value *value)
{
	if (!spec->left)
		return false;
	value->id = be32_get(spec->at);
	value->known = is_known(value->id);
	value->value = value->known ? be32_get(spec->at + VALUE_MIN_BYTES) : 0;
	spec->at += VALUE_MIN_BYTES + xdr_padded_bytes(be32_get(spec->at + WORD_BYTES));
	spec->left--;
	return true;
}

bool xchar_subset_has(const struct xchar_subset *subset, uint32_t n)
{
	size_t word = n / WORD_BITS;

	return word < subset->nwords &&
	       be32_get(subset->words + word * WORD_BYTES) >> n % WORD_BITS & 1;
}

static void put_value(struct xdr_writer *writer, const struct xchar_value *value)
{
	xdr_put_u32(writer, value->id);
	xdr_put_u32(writer, WORD_BYTES);
	xdr_put_u32(writer, value->value);
}

static void put_spec(struct xdr_writer *writer, const struct xchar_value *values, unsigned count)
{
	xdr_put_u32(writer, count);
	for (unsigned n = 0; n < count; n++)
		put_value(writer, &values[n]);
}

size_t xchar_encode_init(uint8_t *to, size_t capacity, const struct xchar_value *values,
			 unsigned count, uint32_t nochg)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	put_spec(&writer, values, count);
	xdr_put_u32(&writer, nochg ? 1 : 0);
	if (nochg)
		xdr_put_u32(&writer, nochg);
	return xdr_written_bytes(&writer);
}

size_t xchar_encode_req(uint8_t *to, size_t capacity, const struct xchar_value *values,
			unsigned count)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	put_spec(&writer, values, count);
	return xdr_written_bytes(&writer);
}

size_t xchar_encode_upd(uint8_t *to, size_t capacity, const struct xchar_value *value, bool pendclr)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	put_value(&writer, value);
	xdr_put_bool(&writer, pendclr);
	return xdr_written_bytes(&writer);
}

size_t xchar_encode_resp(uint8_t *to, size_t capacity, uint32_t count,
			 enum xchar_set (*set_of)(void *arg, uint32_t n), void *arg)
{
	uint32_t nwords[XCHAR_SETS] = {0};
	uint8_t *words[XCHAR_SETS];
	struct xdr_writer writer;

	/* The subset with the last element has all words. */
	if (XCHAR_SETS * WORD_BYTES + ((uint64_t)count + WORD_BITS - 1) / WORD_BITS * WORD_BYTES >
	    capacity)
		return 0;
	for (uint32_t n = 0; n < count; n++)
		nwords[set_of(arg, n)] = n / WORD_BITS + 1;
	xdr_writer_init(&writer, to, capacity);
	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		uint64_t bytes = (uint64_t)nwords[set] * WORD_BYTES;

		xdr_put_u32(&writer, nwords[set]);
		words[set] = xdr_reserve(&writer, bytes);
		if (!words[set])
			return 0;
		memset(words[set], 0, bytes);
	}
	for (uint32_t n = 0; n < count; n++) {
		uint8_t *word = words[set_of(arg, n)] + (size_t)(n / WORD_BITS) * WORD_BYTES;

		be32_put(word, be32_get(word) | 1u << n % WORD_BITS);
	}
	return xdr_written_bytes(&writer);
}
