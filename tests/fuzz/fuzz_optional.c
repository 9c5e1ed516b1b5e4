// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes Sends, and in particular RDMA_OPTIONAL: its characteristics can be read to their end, and
 * the known ones survive encoding.
 */
#include <string.h>

#include "rpcrdma/header.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/fuzz/fuzz.h"

#define VALUES_MAX 32u /* as many as there are bits to say that they will not change */

/* The first values that are known, and which of them will not change. */
struct known {
	struct xchar_value values[VALUES_MAX];
	unsigned count;
	uint32_t nochg;
	bool all; /* there are no others, and nothing beyond */
};

static struct rpcrdma_header hdr;

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	FUZZ_ASSERT(memory);
	return memory;
}

static void check_value(const struct xchar_value *value)
{
	FUZZ_ASSERT(value->known == (value->id >= 1 && value->id <= XCHAR_ID_MAX));
	FUZZ_ASSERT(value->known || value->value == 0);
	FUZZ_ASSERT(value->id != XCHAR_RQREMINV || value->value <= 1);
	FUZZ_ASSERT(value->id != XCHAR_BRS || value->value <= XCHAR_BRS_GENL);
}

/* What stands behind the list: of an INIT the subset, of an UPD the bool. */
static size_t bytes_behind(const struct xchar_operation *operation)
{
	switch (operation->op) {
	case XCHAR_INIT:
		return 4 + 4 * (size_t)operation->nochg.nwords;
	case XCHAR_UPD:
		return 4;
	case XCHAR_REQ:
	case XCHAR_RESP:
		break;
	}
	return 0;
}

/* Reads all of the list; @end is the operation's. */
static void read_values(const struct xchar_operation *operation, const uint8_t *end,
			struct known *known)
{
	struct xchar_spec spec = operation->spec;
	struct xchar_value value;
	uint32_t n = 0;

	*known = (struct known){.all = true};
	for (; xchar_next(&spec, &value); n++) {
		check_value(&value);
		if (!value.known || known->count == VALUES_MAX) {
			known->all = false;
			continue;
		}
		if (xchar_subset_has(&operation->nochg, n))
			known->nochg |= 1u << known->count;
		known->values[known->count++] = value;
	}
	FUZZ_ASSERT(n == operation->spec.left && spec.left == 0);
	FUZZ_ASSERT(spec.at == end - bytes_behind(operation));
}

static size_t encode(const struct xchar_operation *operation, const struct known *known,
		     uint8_t *to, size_t room)
{
	switch (operation->op) {
	case XCHAR_INIT:
		return xchar_encode_init(to, room, known->values, known->count, known->nochg);
	case XCHAR_REQ:
		return xchar_encode_req(to, room, known->values, known->count);
	case XCHAR_UPD:
		return xchar_encode_upd(to, room, &known->values[0], operation->pendclr);
	case XCHAR_RESP:
		break;
	}
	return 0;
}

/* Of an INIT the subset need not be as short as it could. */
static void check_values(const struct xchar_operation *operation)
{
	struct xchar_operation again;
	struct known before, after;
	uint8_t encoded[512];
	size_t len;

	read_values(operation, hdr.optinfo + hdr.optinfo_bytes, &before);
	if (operation->op == XCHAR_UPD && !before.count)
		return;
	len = encode(operation, &before, encoded, sizeof(encoded));
	FUZZ_ASSERT(len);
	FUZZ_ASSERT(xchar_decode(operation->op, encoded, len, &again) == XCHAR_OK);
	read_values(&again, encoded + len, &after);
	FUZZ_ASSERT(after.all && after.count == before.count && after.nochg == before.nochg);
	for (unsigned n = 0; n < before.count; n++) {
		FUZZ_ASSERT(before.values[n].id == after.values[n].id);
		FUZZ_ASSERT(before.values[n].value == after.values[n].value);
	}
	FUZZ_ASSERT(again.pendclr == operation->pendclr);
	if (before.all && operation->op != XCHAR_INIT)
		FUZZ_ASSERT(len == hdr.optinfo_bytes && !memcmp(encoded, hdr.optinfo, len));
	FUZZ_ASSERT(encode(operation, &before, encoded, len - 1) == 0);
}

/* An element in no subset counts as rejected, one in several as in the first. */
static enum xchar_set set_of(void *arg, uint32_t n)
{
	const struct xchar_operation *operation = arg;

	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		if (xchar_subset_has(&operation->sets[set], n))
			return set;
	}
	return XCHAR_REJ;
}

static void check_sets(struct xchar_operation *operation)
{
	struct xchar_operation again;
	size_t room, len;
	uint32_t elements = 0;
	uint8_t *encoded;

	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		uint32_t bits = operation->sets[set].nwords * 32;

		FUZZ_ASSERT(!xchar_subset_has(&operation->sets[set], bits));
		if (bits > elements)
			elements = bits;
	}
	room = 4 * XCHAR_SETS * (1 + elements / 32);
	encoded = allocate(room);
	len = xchar_encode_resp(encoded, room, elements, set_of, operation);
	FUZZ_ASSERT(len);
	FUZZ_ASSERT(xchar_decode(XCHAR_RESP, encoded, len, &again) == XCHAR_OK);
	for (uint32_t n = 0; n < elements; n++) {
		for (unsigned set = 0; set < XCHAR_SETS; set++)
			FUZZ_ASSERT(xchar_subset_has(&again.sets[set], n) ==
				    (set_of(operation, n) == set));
	}
	FUZZ_ASSERT(xchar_encode_resp(encoded, len - 1, elements, set_of, operation) == 0);
	free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xchar_operation operation;
	enum xchar_verdict verdict;

	if (rpcrdma_header_decode(data, size, &hdr) != RPCRDMA_OK || hdr.proc != RPCRDMA_OPTIONAL)
		return 0;
	FUZZ_ASSERT(hdr.optinfo >= data && hdr.optinfo_bytes <= size);
	FUZZ_ASSERT((size_t)(hdr.optinfo - data) <= size - hdr.optinfo_bytes);
	verdict = xchar_decode(hdr.opttype, hdr.optinfo, hdr.optinfo_bytes, &operation);
	FUZZ_ASSERT((verdict == XCHAR_UNKNOWN_OP) ==
		    (hdr.opttype < XCHAR_INIT || hdr.opttype > XCHAR_UPD));
	if (verdict != XCHAR_OK)
		return 0;
	FUZZ_ASSERT(operation.op == hdr.opttype);
	if (operation.op == XCHAR_RESP)
		check_sets(&operation);
	else
		check_values(&operation);
	return 0;
}
