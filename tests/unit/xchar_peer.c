// SPDX-License-Identifier: BSD-3-Clause
/*
 * Converts numbers to and from the structures of rpcgen's code for the characteristics in
 * rpcrdma_v2.x.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rpcrdma_v2.h"
#include "tests/unit/rpcrdma_v2_peer.h"

/* Any of the four. */
union operation {
	xchar_init init;
	xchar_req req;
	xchar_resp resp;
	xchar_upd upd;
};

static void *zalloc(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

static xdrproc_t xdr_of(uint32_t opttype)
{
	switch (opttype) {
	case XCHAR_INIT:
		return (xdrproc_t)xdr_xchar_init;
	case XCHAR_REQ:
		return (xdrproc_t)xdr_xchar_req;
	case XCHAR_RESP:
		return (xdrproc_t)xdr_xchar_resp;
	case XCHAR_UPD:
		return (xdrproc_t)xdr_xchar_upd;
	}
	return NULL;
}

/* Writes the numbers of a structure; failed: it says what the document forbids. */
struct sink {
	uint64_t *numbers;
	size_t count;
	bool failed;
};

static void put(struct sink *sink, uint64_t number)
{
	if (sink->count == V2_MAX_NUMBERS)
		abort();
	sink->numbers[sink->count++] = number;
}

/* The number that the data is, by the type of that id: all of it, encoding to the same again. */
static bool number_of(const xchar_value *value, xdrproc_t xdr, uint32_t *number)
{
	char again[sizeof(*number)] = {0};
	bool same;
	XDR xdrs;

	if (value->data.data_len != sizeof(*number))
		return false;
	xdrmem_create(&xdrs, value->data.data_val, value->data.data_len, XDR_DECODE);
	same = xdr(&xdrs, number);
	xdr_destroy(&xdrs);
	xdrmem_create(&xdrs, again, sizeof(again), XDR_ENCODE);
	same = same && xdr(&xdrs, number);
	xdr_destroy(&xdrs);
	return same && memcmp(again, value->data.data_val, sizeof(again)) == 0;
}

static void put_value(struct sink *sink, const xchar_value *value)
{
	uint32_t number = 0;
	bool good = true;

	switch (value->which) {
	case XCHAR_RBSIZ:
		good = number_of(value, (xdrproc_t)xdr_xchar_rbsiz, &number);
		break;
	case XCHAR_RQREMINV:
		good = number_of(value, (xdrproc_t)xdr_xchar_rqreminv, &number);
		break;
	case XCHAR_BRS:
		/* rpcgen lets an enum be any number. */
		good = number_of(value, (xdrproc_t)xdr_xchar_brs, &number) &&
		       number <= XCHAR_SUPPORT_GENL;
		break;
	default:
		put(sink, value->which);
		put(sink, 0);
		return;
	}
	put(sink, value->which);
	put(sink, 1);
	put(sink, number);
	sink->failed |= !good;
}

static void put_spec(struct sink *sink, const xchar_spec *spec)
{
	put(sink, spec->xchar_spec_len);
	for (u_int i = 0; i < spec->xchar_spec_len; i++)
		put_value(sink, &spec->xchar_spec_val[i]);
}

static void put_subset(struct sink *sink, const xchar_subset *subset)
{
	put(sink, subset->xchar_subset_len);
	for (u_int i = 0; i < subset->xchar_subset_len; i++)
		put(sink, subset->xchar_subset_val[i]);
}

static void put_operation(struct sink *sink, uint32_t opttype, const union operation *operation)
{
	switch (opttype) {
	case XCHAR_INIT:
		put_spec(sink, &operation->init.start);
		put_subset(sink, &operation->init.nochg);
		break;
	case XCHAR_REQ:
		put_spec(sink, &operation->req.want);
		break;
	case XCHAR_RESP:
		put_subset(sink, &operation->resp.done);
		put_subset(sink, &operation->resp.rej);
		put_subset(sink, &operation->resp.pend);
		break;
	case XCHAR_UPD:
		put_value(sink, &operation->upd.now);
		put(sink, operation->upd.pendclr ? 1 : 0);
		break;
	}
}

/* Libtirpc takes any word but zero for true: what ends an UPD is looked at once more. */
static bool ends_as_said(uint32_t opttype, const uint8_t *info, size_t len,
			 const union operation *operation)
{
	static const uint8_t words[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}};

	return opttype != XCHAR_UPD ||
	       memcmp(info + len - 4, words[operation->upd.pendclr ? 1 : 0], 4) == 0;
}

size_t xchar_peer_decode(uint32_t opttype, const uint8_t *info, size_t len,
			 uint64_t numbers[V2_MAX_NUMBERS])
{
	struct sink sink = {.numbers = numbers};
	uint8_t *copy = zalloc(len + 1);
	union operation operation;
	XDR xdrs;

	memset(&operation, 0, sizeof(operation));
	if (len)
		memcpy(copy, info, len);
	xdrmem_create(&xdrs, (char *)copy, (u_int)len, XDR_DECODE);
	if (xdr_of(opttype)(&xdrs, &operation) && xdr_getpos(&xdrs) == len &&
	    ends_as_said(opttype, copy, len, &operation))
		put_operation(&sink, opttype, &operation);
	xdr_destroy(&xdrs);
	xdr_free(xdr_of(opttype), (char *)&operation);
	free(copy);
	return sink.failed ? 0 : sink.count;
}

static xchar_value get_value(const uint64_t **numbers)
{
	xchar_value value = {.which = (u_int) * (*numbers)++};

	value.data.data_len = (u_int) * (*numbers)++;
	value.data.data_val = zalloc(value.data.data_len + 1);
	for (u_int i = 0; i < value.data.data_len; i++)
		value.data.data_val[i] = (char)*(*numbers)++;
	return value;
}

static xchar_spec get_spec(const uint64_t **numbers)
{
	xchar_spec spec = {.xchar_spec_len = (u_int) * (*numbers)++};

	spec.xchar_spec_val = zalloc((spec.xchar_spec_len + 1) * sizeof(xchar_value));
	for (u_int i = 0; i < spec.xchar_spec_len; i++)
		spec.xchar_spec_val[i] = get_value(numbers);
	return spec;
}

static xchar_subset get_subset(const uint64_t **numbers)
{
	xchar_subset subset = {.xchar_subset_len = (u_int) * (*numbers)++};

	subset.xchar_subset_val = zalloc((subset.xchar_subset_len + 1) * sizeof(u_int));
	for (u_int i = 0; i < subset.xchar_subset_len; i++)
		subset.xchar_subset_val[i] = (u_int) * (*numbers)++;
	return subset;
}

static union operation get_operation(uint32_t opttype, const uint64_t *numbers)
{
	union operation operation;

	memset(&operation, 0, sizeof(operation));
	switch (opttype) {
	case XCHAR_INIT:
		operation.init.start = get_spec(&numbers);
		operation.init.nochg = get_subset(&numbers);
		break;
	case XCHAR_REQ:
		operation.req.want = get_spec(&numbers);
		break;
	case XCHAR_RESP:
		operation.resp.done = get_subset(&numbers);
		operation.resp.rej = get_subset(&numbers);
		operation.resp.pend = get_subset(&numbers);
		break;
	case XCHAR_UPD:
		operation.upd.now = get_value(&numbers);
		operation.upd.pendclr = *numbers ? TRUE : FALSE;
		break;
	}
	return operation;
}

size_t xchar_peer_encode(uint32_t opttype, const uint64_t *numbers, uint8_t *to, size_t room)
{
	union operation operation = get_operation(opttype, numbers);
	size_t len = 0;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)to, (u_int)room, XDR_ENCODE);
	if (xdr_of(opttype)(&xdrs, &operation))
		len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	xdr_free(xdr_of(opttype), (char *)&operation);
	return len;
}
