// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/header_same.h"

#include <string.h>

static bool segment_same(const struct rpcrdma_segment *a, const struct rpcrdma_segment *b)
{
	return a->handle == b->handle && a->len_bytes == b->len_bytes && a->offset == b->offset;
}

static bool chunk_same(const struct rpcrdma_header *a, const struct rpcrdma_chunk *ca,
		       const struct rpcrdma_header *b, const struct rpcrdma_chunk *cb)
{
	if (ca->count != cb->count || ca->len_bytes != cb->len_bytes)
		return false;
	for (unsigned i = 0; i < ca->count; i++)
		if (!segment_same(&a->segments[ca->first + i], &b->segments[cb->first + i]))
			return false;
	return true;
}

static bool option_same(const struct rpcrdma_header *a, const struct rpcrdma_header *b)
{
	return a->opttype == b->opttype && a->optinfo_bytes == b->optinfo_bytes &&
	       (!a->optinfo_bytes || !memcmp(a->optinfo, b->optinfo, a->optinfo_bytes));
}

const char *header_difference(const struct rpcrdma_header *a, const struct rpcrdma_header *b)
{
	if (a->xid != b->xid || a->vers != b->vers || a->credit != b->credit || a->proc != b->proc)
		return "fixed words";
	if (a->align != b->align || a->thresh != b->thresh)
		return "padding";
	if (a->error != b->error || a->vers_low != b->vers_low || a->vers_high != b->vers_high)
		return "error";
	if (!option_same(a, b))
		return "operation";
	if (a->nreads != b->nreads)
		return "length of the read list";
	for (unsigned i = 0; i < a->nreads; i++)
		if (a->reads[i].position != b->reads[i].position ||
		    !segment_same(&a->reads[i].seg, &b->reads[i].seg))
			return "read list";
	if (a->nwrites != b->nwrites)
		return "length of the write list";
	for (unsigned i = 0; i < a->nwrites; i++)
		if (!chunk_same(a, &a->writes[i], b, &b->writes[i]))
			return "write list";
	if (a->has_reply_chunk != b->has_reply_chunk)
		return "presence of the reply chunk";
	if (a->has_reply_chunk && !chunk_same(a, &a->reply_chunk, b, &b->reply_chunk))
		return "reply chunk";
	return a->nsegments == b->nsegments ? NULL : "number of segments";
}
