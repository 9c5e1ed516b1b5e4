// SPDX-License-Identifier: BSD-3-Clause
/* A REQ of the peer's, by the ids in it, and the RESP to it, by its elements. */
#include "rpcrdma/v2/characteristics_request.h"

static uint64_t words(uint32_t elements)
{
	return ((uint64_t)elements + 31) / 32;
}

/* A RESP with @count elements, those behind the first @mixed rejected and these in whichever subset: no longer. */
static bool resp_fits(uint32_t count, uint32_t mixed)
{
	return 4 * (XCHAR_SETS + words(count) + 2 * words(mixed)) <= CHARACTERISTICS_RESP_BYTES;
}

bool characteristics_request_take(struct characteristics_request *request, uint32_t xid,
				  struct xchar_spec *spec)
{
	uint32_t count = spec->left, mixed = 0;
	bool fits = true;
	struct xchar_value value;

	*request = (struct characteristics_request){.xid = xid, .count = count};
	if (!resp_fits(count, 0))
		return false;
	for (uint32_t n = 0; xchar_next(spec, &value); n++) {
		if (!value.known)
			continue;
		request->wanted[value.id] = true;
		request->value[value.id] = value.value;
		mixed = n + 1;
		fits &= request->known < CHARACTERISTICS_KNOWN_MAX;
		if (fits) {
			request->elements[request->known].element = n;
			request->elements[request->known++].id = value.id;
		}
	}
	for (uint32_t id = 0; id <= XCHAR_ID_MAX; id++)
		request->verdict[id] = XCHAR_REJ;
	if (!fits || !resp_fits(count, mixed))
		request->known = 0;
	return true;
}

static enum xchar_set set_of(void *arg, uint32_t n)
{
	const struct characteristics_request *request = arg;
	unsigned low = 0, high = request->known;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (request->elements[middle].element < n)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < request->known && request->elements[low].element == n)
		return request->verdict[request->elements[low].id];
	return XCHAR_REJ;
}

size_t characteristics_request_resp(struct characteristics_request *request, uint8_t *to,
				    size_t room)
{
	return xchar_encode_resp(to, room, request->count, set_of, request);
}
