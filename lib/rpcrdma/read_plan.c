// SPDX-License-Identifier: BSD-3-Clause
/* One pass over the read list in the order of positions. */
#include "rpcrdma/read_plan.h"

#include "rpc/xdr.h"

struct planner {
	const struct rpcrdma_header *hdr;
	struct read_plan *plan;
	uint32_t limit_bytes;
	/* indices of hdr->reads, sorted by position, stable */
	unsigned *order;
	/* The inline stream. */
	bool pulled;                /* it is the position-zero chunk */
	uint64_t inline_bytes, in;  /* its length, and how much is placed */
	unsigned zero_at, zero_end; /* next entry of that chunk, and the entry after its last */
	uint32_t zero_used;         /* placed bytes of the next entry */
	/* Length of the message so far. */
	uint64_t at;
};

/* Insertion sort: lists are short and mostly sorted. */
static void sort_reads(struct planner *p)
{
	for (unsigned i = 0; i < p->hdr->nreads; i++) {
		unsigned at = i;

		while (at > 0 &&
		       p->hdr->reads[p->order[at - 1]].position > p->hdr->reads[i].position) {
			p->order[at] = p->order[at - 1];
			at--;
		}
		p->order[at] = i;
	}
}

static const struct rpcrdma_read_segment *read_at(const struct planner *p, unsigned i)
{
	return &p->hdr->reads[p->order[i]];
}

static void add_plan_read(struct planner *p, uint64_t to, uint32_t len, uint32_t handle,
			  uint64_t offset)
{
	if (len)
		p->plan->plan_reads[p->plan->nplan_reads++] =
			(struct plan_read){(uint32_t)to, len, handle, offset};
}

static void add_copy(struct planner *p, uint64_t to, uint64_t from, uint64_t len)
{
	if (len)
		p->plan->copies[p->plan->ncopies++] =
			(struct plan_copy){(uint32_t)to, (uint32_t)from, (uint32_t)len};
}

/* Appends the next @len bytes of the inline stream, which must have that many. */
static void place_inline(struct planner *p, uint64_t len)
{
	uint64_t end = p->at + len;

	if (!p->pulled) {
		add_copy(p, p->at, p->in, len);
		p->at = end;
	}
	while (p->at < end) {
		const struct rpcrdma_segment *seg = &read_at(p, p->zero_at)->seg;
		uint32_t n = seg->len_bytes - p->zero_used;

		if (n > end - p->at)
			n = (uint32_t)(end - p->at);
		add_plan_read(p, p->at, n, seg->handle, seg->offset + p->zero_used);
		p->at += n;
		p->zero_used += n;
		if (p->zero_used == seg->len_bytes) {
			p->zero_at++;
			p->zero_used = 0;
		}
	}
	p->in += len;
}

static void place_pad(struct planner *p)
{
	uint64_t padded = xdr_padded_bytes(p->at);

	add_copy(p, p->at, PLAN_ZEROS, padded - p->at);
	p->at = padded;
}

/* Appends the chunk that starts at entry *@i of the sorted list, and advances *@i past it. */
static enum read_plan_verdict place_chunk(struct planner *p, unsigned *i)
{
	uint32_t position = read_at(p, *i)->position;

	if (position < p->at || position - p->at > p->inline_bytes - p->in)
		return READ_PLAN_BAD;
	if (position > p->limit_bytes)
		return READ_PLAN_TOO_BIG;
	place_inline(p, position - p->at);
	for (; *i < p->hdr->nreads && read_at(p, *i)->position == position; (*i)++) {
		const struct rpcrdma_segment *seg = &read_at(p, *i)->seg;

		if (seg->len_bytes > p->limit_bytes - p->at)
			return READ_PLAN_TOO_BIG;
		add_plan_read(p, p->at, seg->len_bytes, seg->handle, seg->offset);
		p->at += seg->len_bytes;
	}
	p->plan->chunks[p->plan->nchunks++] =
		(struct plan_chunk){position, (uint32_t)p->at - position};
	place_pad(p);
	return p->at > p->limit_bytes ? READ_PLAN_TOO_BIG : READ_PLAN_OK;
}

/*
 * Finds the position-zero chunk: an RDMA_NOMSG must have one, as its inline stream; an RDMA_MSG
 * must not.
 */
static enum read_plan_verdict find_inline(struct planner *p, uint32_t inline_bytes)
{
	p->inline_bytes = inline_bytes;
	if (p->pulled)
		p->inline_bytes = 0;
	for (; p->zero_end < p->hdr->nreads && read_at(p, p->zero_end)->position == 0;
	     p->zero_end++)
		if (p->pulled)
			p->inline_bytes += read_at(p, p->zero_end)->seg.len_bytes;
	if (p->pulled != (p->zero_end > 0))
		return READ_PLAN_BAD;
	return p->inline_bytes > p->limit_bytes ? READ_PLAN_TOO_BIG : READ_PLAN_OK;
}

/* Plans an RDMA_MSG without read chunks, the usual case: the message is complete. */
static enum read_plan_verdict plan_inline(uint32_t inline_bytes, uint32_t limit_bytes,
					  struct read_plan *plan)
{
	if (inline_bytes > limit_bytes)
		return READ_PLAN_TOO_BIG;
	plan->total_bytes = inline_bytes;
	plan->nplan_reads = plan->nchunks = 0;
	plan->ncopies = inline_bytes > 0;
	plan->copies[0] = (struct plan_copy){0, 0, inline_bytes};
	return READ_PLAN_OK;
}

/* Plans a message with read chunks. */
static enum read_plan_verdict plan_chunks(const struct rpcrdma_header *hdr, uint32_t inline_bytes,
					  uint32_t limit_bytes, struct read_plan *plan)
{
	/* Not initialized: clearing it would cost more than all the rest. */
	unsigned order[RPCRDMA_MAX_SEGMENTS];
	struct planner p = {.hdr = hdr, .plan = plan, .limit_bytes = limit_bytes, .order = order};
	enum read_plan_verdict verdict;
	unsigned i;

	plan->ncopies = plan->nplan_reads = plan->nchunks = 0;
	p.pulled = hdr->proc == RPCRDMA_NOMSG;
	sort_reads(&p);
	verdict = find_inline(&p, inline_bytes);
	i = p.zero_end;
	while (verdict == READ_PLAN_OK && i < hdr->nreads)
		verdict = place_chunk(&p, &i);
	if (verdict != READ_PLAN_OK)
		return verdict;
	if (p.inline_bytes - p.in > limit_bytes - p.at)
		return READ_PLAN_TOO_BIG;
	place_inline(&p, p.inline_bytes - p.in);
	if (p.pulled)
		place_pad(&p);
	if (p.at > limit_bytes)
		return READ_PLAN_TOO_BIG;
	plan->total_bytes = (uint32_t)p.at;
	return READ_PLAN_OK;
}

enum read_plan_verdict read_plan_make(const struct rpcrdma_header *hdr, uint32_t inline_bytes,
				      uint32_t limit_bytes, struct read_plan *plan)
{
	if (hdr->proc == RPCRDMA_MSG && !hdr->nreads)
		return plan_inline(inline_bytes, limit_bytes, plan);
	return plan_chunks(hdr, inline_bytes, limit_bytes, plan);
}
