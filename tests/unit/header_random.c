// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/header_random.h"

#include "rpc/xdr.h"
#include "tests/lib/random.h"

#define OPTINFO_BYTES 1024u

/* Mostly few, sometimes as many as there may be. */
static uint32_t random_count(uint32_t limit)
{
	return random_below(8) ? random_below(4) : random_below(limit + 1);
}

/* Legal together with the others of its header: handles are counted up. */
static struct rpcrdma_segment random_segment(uint32_t *handle)
{
	struct rpcrdma_segment segment = {
		.handle = (*handle)++,
		.len_bytes = random_u32() >> random_below(32),
		.offset = (random_u64() >> random_below(64)) & ~(UINT64_C(1) << 63),
	};

	return segment;
}

static void random_chunk(struct rpcrdma_header *hdr, struct rpcrdma_chunk *chunk, uint32_t *handle)
{
	*chunk = (struct rpcrdma_chunk){.first = hdr->nsegments};
	chunk->count = random_count(RPCRDMA_MAX_SEGMENTS - hdr->nsegments);
	if (chunk->count > RPCRDMA_MAX_SEGMENTS - hdr->nsegments)
		chunk->count = RPCRDMA_MAX_SEGMENTS - hdr->nsegments;
	for (unsigned i = 0; i < chunk->count; i++) {
		hdr->segments[hdr->nsegments] = random_segment(handle);
		chunk->len_bytes += hdr->segments[hdr->nsegments++].len_bytes;
	}
}

static void random_lists(struct rpcrdma_header *hdr)
{
	uint32_t handle = random_u32();

	hdr->nreads = random_count(RPCRDMA_MAX_SEGMENTS);
	for (unsigned i = 0; i < hdr->nreads; i++) {
		hdr->reads[i].position = random_u32() & ~3u;
		hdr->reads[i].seg = random_segment(&handle);
	}
	hdr->nwrites = random_count(RPCRDMA_MAX_CHUNKS);
	for (unsigned i = 0; i < hdr->nwrites; i++)
		random_chunk(hdr, &hdr->writes[i], &handle);
	hdr->has_reply_chunk = random_below(2);
	if (hdr->has_reply_chunk)
		random_chunk(hdr, &hdr->reply_chunk, &handle);
}

/* The codes of version two are those that it knows: its XDR has no others. */
static void random_error(struct rpcrdma_header *hdr)
{
	if (hdr->vers == RPCRDMA_VERSION_TWO)
		hdr->error = 1 + random_below(3);
	else
		hdr->error = random_below(4) ? 1 + random_below(2) : random_u32();
	if (hdr->error != RPCRDMA_ERR_VERS)
		return;
	hdr->vers = random_u32();
	hdr->vers_low = random_u32();
	hdr->vers_high = random_u32();
}

static void random_operation(struct rpcrdma_header *hdr)
{
	static uint8_t info[OPTINFO_BYTES];

	hdr->opttype = random_below(2) ? random_below(6) : random_u32();
	hdr->optinfo_bytes = random_count(OPTINFO_BYTES);
	for (uint32_t at = 0; at < hdr->optinfo_bytes; at++)
		info[at] = (uint8_t)random_u32();
	hdr->optinfo = info;
}

void header_random(struct rpcrdma_header *hdr, uint32_t vers)
{
	static const enum rpcrdma_proc procs_v1[] = {RPCRDMA_MSG, RPCRDMA_NOMSG, RPCRDMA_MSGP,
						     RPCRDMA_DONE, RPCRDMA_ERROR};
	static const enum rpcrdma_proc procs_v2[] = {RPCRDMA_MSG, RPCRDMA_NOMSG, RPCRDMA_ERROR,
						     RPCRDMA_OPTIONAL};

	rpcrdma_header_init(hdr, random_u32(), vers, random_u32(),
			    vers == RPCRDMA_VERSION_ONE
				    ? procs_v1[random_below(ARRAY_SIZE(procs_v1))]
				    : procs_v2[random_below(ARRAY_SIZE(procs_v2))]);
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		hdr->align = random_u32();
		hdr->thresh = random_u32();
		random_lists(hdr);
		break;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		random_lists(hdr);
		break;
	case RPCRDMA_DONE:
		break;
	case RPCRDMA_ERROR:
		random_error(hdr);
		break;
	case RPCRDMA_OPTIONAL:
		random_operation(hdr);
		break;
	}
}

static size_t put_segment(uint64_t *numbers, const struct rpcrdma_segment *segment)
{
	numbers[0] = segment->handle;
	numbers[1] = segment->len_bytes;
	numbers[2] = segment->offset;
	return 3;
}

static size_t put_chunk(const struct rpcrdma_header *hdr, uint64_t *numbers,
			const struct rpcrdma_chunk *chunk)
{
	size_t n = 0;

	numbers[n++] = chunk->count;
	for (unsigned i = 0; i < chunk->count; i++)
		n += put_segment(numbers + n, &hdr->segments[chunk->first + i]);
	return n;
}

static size_t put_lists(const struct rpcrdma_header *hdr, uint64_t *numbers)
{
	size_t n = 0;

	numbers[n++] = hdr->nreads;
	for (unsigned i = 0; i < hdr->nreads; i++) {
		numbers[n++] = hdr->reads[i].position;
		n += put_segment(numbers + n, &hdr->reads[i].seg);
	}
	numbers[n++] = hdr->nwrites;
	for (unsigned i = 0; i < hdr->nwrites; i++)
		n += put_chunk(hdr, numbers + n, &hdr->writes[i]);
	numbers[n++] = hdr->has_reply_chunk;
	if (hdr->has_reply_chunk)
		n += put_chunk(hdr, numbers + n, &hdr->reply_chunk);
	return n;
}

static size_t put_error(const struct rpcrdma_header *hdr, uint64_t *numbers)
{
	size_t n = 0;

	numbers[n++] = hdr->error;
	if (hdr->error == RPCRDMA_ERR_VERS) {
		numbers[n++] = hdr->vers_low;
		numbers[n++] = hdr->vers_high;
	}
	return n;
}

static size_t put_operation(const struct rpcrdma_header *hdr, uint64_t *numbers)
{
	size_t n = 0;

	numbers[n++] = hdr->opttype;
	numbers[n++] = hdr->optinfo_bytes;
	for (uint32_t at = 0; at < hdr->optinfo_bytes; at++)
		numbers[n++] = hdr->optinfo[at];
	return n;
}

size_t header_numbers(const struct rpcrdma_header *hdr, uint64_t *numbers)
{
	size_t n = 0;

	numbers[n++] = hdr->xid;
	numbers[n++] = hdr->vers;
	numbers[n++] = hdr->credit;
	numbers[n++] = hdr->proc;
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		numbers[n++] = hdr->align;
		numbers[n++] = hdr->thresh;
		return n + put_lists(hdr, numbers + n);
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return n + put_lists(hdr, numbers + n);
	case RPCRDMA_DONE:
		return n;
	case RPCRDMA_ERROR:
		return n + put_error(hdr, numbers + n);
	case RPCRDMA_OPTIONAL:
		return n + put_operation(hdr, numbers + n);
	}
	return 0;
}
