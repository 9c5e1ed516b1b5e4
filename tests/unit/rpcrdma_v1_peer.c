// SPDX-License-Identifier: BSD-3-Clause
/* Converts numbers to and from the structures of rpcgen's code for rpcrdma_v1.x. */
#include "tests/unit/rpcrdma_v1_peer.h"

#include <stdlib.h>
#include <string.h>

#include "rpcrdma_v1.h"

static void *zalloc(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

/* Writes the numbers of a structure. */
struct sink {
	uint64_t *numbers;
	size_t count;
};

static void put(struct sink *sink, uint64_t number)
{
	if (sink->count == V1_MAX_NUMBERS)
		abort();
	sink->numbers[sink->count++] = number;
}

static void put_segment(struct sink *sink, const v1_segment *segment)
{
	put(sink, segment->handle);
	put(sink, segment->length);
	put(sink, segment->offset);
}

static void put_chunk(struct sink *sink, const v1_chunk *chunk)
{
	put(sink, chunk->targets.targets_len);
	for (u_int i = 0; i < chunk->targets.targets_len; i++)
		put_segment(sink, &chunk->targets.targets_val[i]);
}

static void put_lists(struct sink *sink, const v1_lists *lists)
{
	uint64_t count = 0;

	for (const v1_read *read = lists->reads; read; read = read->next)
		count++;
	put(sink, count);
	for (const v1_read *read = lists->reads; read; read = read->next) {
		put(sink, read->position);
		put_segment(sink, &read->target);
	}
	count = 0;
	for (const v1_write *write = lists->writes; write; write = write->next)
		count++;
	put(sink, count);
	for (const v1_write *write = lists->writes; write; write = write->next)
		put_chunk(sink, &write->chunk);
	put(sink, lists->reply ? 1 : 0);
	if (lists->reply)
		put_chunk(sink, lists->reply);
}

static void put_header(struct sink *sink, const v1_header *header)
{
	const v1_body *body = &header->body;

	put(sink, header->xid);
	put(sink, header->vers);
	put(sink, header->credit);
	put(sink, (uint32_t)body->proc);
	switch (body->proc) {
	case V1_MSG:
		put_lists(sink, &body->v1_body_u.msg);
		break;
	case V1_NOMSG:
		put_lists(sink, &body->v1_body_u.nomsg);
		break;
	case V1_MSGP:
		put(sink, body->v1_body_u.msgp.align);
		put(sink, body->v1_body_u.msgp.thresh);
		put_lists(sink, &body->v1_body_u.msgp.lists);
		break;
	case V1_DONE:
		break;
	case V1_ERROR:
		put(sink, (uint32_t)body->v1_body_u.error.code);
		if (body->v1_body_u.error.code == V1_ERR_VERS) {
			put(sink, body->v1_body_u.error.v1_error_u.range.low);
			put(sink, body->v1_body_u.error.v1_error_u.range.high);
		}
		break;
	}
}

size_t v1_peer_decode(const uint8_t *send, size_t len, uint64_t numbers[V1_MAX_NUMBERS],
		      size_t *header_bytes)
{
	struct sink sink = {.numbers = numbers};
	uint8_t *copy = zalloc(len ? len : 1);
	v1_header header = {0};
	XDR xdrs;

	if (len)
		memcpy(copy, send, len);
	xdrmem_create(&xdrs, (char *)copy, (u_int)len, XDR_DECODE);
	if (xdr_v1_header(&xdrs, &header)) {
		put_header(&sink, &header);
		*header_bytes = xdr_getpos(&xdrs);
	}
	xdr_destroy(&xdrs);
	xdr_free((xdrproc_t)xdr_v1_header, (char *)&header);
	free(copy);
	return sink.count;
}

static v1_segment get_segment(const uint64_t **numbers)
{
	v1_segment segment = {
		.handle = (u_int)(*numbers)[0],
		.length = (u_int)(*numbers)[1],
		.offset = (*numbers)[2],
	};

	*numbers += 3;
	return segment;
}

static v1_chunk get_chunk(const uint64_t **numbers)
{
	v1_chunk chunk;

	chunk.targets.targets_len = (u_int) * (*numbers)++;
	chunk.targets.targets_val = zalloc((chunk.targets.targets_len + 1) * sizeof(v1_segment));
	for (u_int i = 0; i < chunk.targets.targets_len; i++)
		chunk.targets.targets_val[i] = get_segment(numbers);
	return chunk;
}

static v1_lists get_lists(const uint64_t **numbers)
{
	v1_lists lists = {0};
	v1_read **read = &lists.reads;
	v1_write **write = &lists.writes;

	for (uint64_t left = *(*numbers)++; left; left--) {
		*read = zalloc(sizeof(**read));
		(*read)->position = (u_int) * (*numbers)++;
		(*read)->target = get_segment(numbers);
		read = &(*read)->next;
	}
	for (uint64_t left = *(*numbers)++; left; left--) {
		*write = zalloc(sizeof(**write));
		(*write)->chunk = get_chunk(numbers);
		write = &(*write)->next;
	}
	if (*(*numbers)++) {
		lists.reply = zalloc(sizeof(*lists.reply));
		*lists.reply = get_chunk(numbers);
	}
	return lists;
}

static v1_header get_header(const uint64_t *numbers)
{
	v1_header header = {0};
	v1_body *body = &header.body;

	header.xid = (u_int)*numbers++;
	header.vers = (u_int)*numbers++;
	header.credit = (u_int)*numbers++;
	body->proc = (v1_proc)*numbers++;
	switch (body->proc) {
	case V1_MSG:
		body->v1_body_u.msg = get_lists(&numbers);
		break;
	case V1_NOMSG:
		body->v1_body_u.nomsg = get_lists(&numbers);
		break;
	case V1_MSGP:
		body->v1_body_u.msgp.align = (u_int)*numbers++;
		body->v1_body_u.msgp.thresh = (u_int)*numbers++;
		body->v1_body_u.msgp.lists = get_lists(&numbers);
		break;
	case V1_DONE:
		break;
	case V1_ERROR:
		body->v1_body_u.error.code = (v1_errcode)*numbers++;
		if (body->v1_body_u.error.code == V1_ERR_VERS) {
			body->v1_body_u.error.v1_error_u.range.low = (u_int)*numbers++;
			body->v1_body_u.error.v1_error_u.range.high = (u_int)*numbers++;
		}
		break;
	}
	return header;
}

size_t v1_peer_encode(const uint64_t *numbers, uint8_t *to, size_t room)
{
	v1_header header = get_header(numbers);
	size_t len = 0;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)to, (u_int)room, XDR_ENCODE);
	if (xdr_v1_header(&xdrs, &header))
		len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	xdr_free((xdrproc_t)xdr_v1_header, (char *)&header);
	return len;
}
