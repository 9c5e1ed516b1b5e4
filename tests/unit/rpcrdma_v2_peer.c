// SPDX-License-Identifier: BSD-3-Clause
/* Converts numbers to and from the structures of rpcgen's code for the header in rpcrdma_v2.x. */
#include "tests/unit/rpcrdma_v2_peer.h"

#include <stdlib.h>
#include <string.h>

#include "rpcrdma_v2.h"

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
	if (sink->count == V2_MAX_NUMBERS)
		abort();
	sink->numbers[sink->count++] = number;
}

static void put_segment(struct sink *sink, const v2_segment *segment)
{
	put(sink, segment->handle);
	put(sink, segment->length);
	put(sink, segment->offset);
}

static void put_chunk(struct sink *sink, const v2_write_chunk *chunk)
{
	put(sink, chunk->target.target_len);
	for (u_int i = 0; i < chunk->target.target_len; i++)
		put_segment(sink, &chunk->target.target_val[i]);
}

static void put_lists(struct sink *sink, const v2_chunk_lists *lists)
{
	uint64_t count = 0;

	for (const v2_read_list *read = lists->reads; read; read = read->next)
		count++;
	put(sink, count);
	for (const v2_read_list *read = lists->reads; read; read = read->next) {
		put(sink, read->entry.position);
		put_segment(sink, &read->entry.target);
	}
	count = 0;
	for (const v2_write_list *write = lists->writes; write; write = write->next)
		count++;
	put(sink, count);
	for (const v2_write_list *write = lists->writes; write; write = write->next)
		put_chunk(sink, &write->entry);
	put(sink, lists->reply ? 1 : 0);
	if (lists->reply)
		put_chunk(sink, lists->reply);
}

static void put_optional(struct sink *sink, const v2_optional *optional)
{
	put(sink, optional->opttype);
	put(sink, optional->optinfo.optinfo_len);
	for (u_int i = 0; i < optional->optinfo.optinfo_len; i++)
		put(sink, (uint8_t)optional->optinfo.optinfo_val[i]);
}

static void put_header(struct sink *sink, const v2_header *header)
{
	const v2_body *body = &header->body;

	put(sink, header->xid);
	put(sink, header->vers);
	put(sink, header->credit);
	put(sink, (uint32_t)body->proc);
	switch (body->proc) {
	case V2_MSG:
		put_lists(sink, &body->v2_body_u.msg);
		break;
	case V2_NOMSG:
		put_lists(sink, &body->v2_body_u.nomsg);
		break;
	case V2_MSGP:
	case V2_DONE:
		break;
	case V2_ERROR:
		put(sink, (uint32_t)body->v2_body_u.error.code);
		if (body->v2_body_u.error.code == V2_ERR_VERS) {
			put(sink, body->v2_body_u.error.v2_error_u.range.low);
			put(sink, body->v2_body_u.error.v2_error_u.range.high);
		}
		break;
	case V2_OPTIONAL:
		put_optional(sink, &body->v2_body_u.optional);
		break;
	}
}

size_t v2_peer_decode(const uint8_t *send, size_t len, uint64_t numbers[V2_MAX_NUMBERS],
		      size_t *header_bytes)
{
	struct sink sink = {.numbers = numbers};
	uint8_t *copy = zalloc(len ? len : 1);
	v2_header header = {0};
	XDR xdrs;

	if (len)
		memcpy(copy, send, len);
	xdrmem_create(&xdrs, (char *)copy, (u_int)len, XDR_DECODE);
	if (xdr_v2_header(&xdrs, &header)) {
		put_header(&sink, &header);
		*header_bytes = xdr_getpos(&xdrs);
	}
	xdr_destroy(&xdrs);
	xdr_free((xdrproc_t)xdr_v2_header, (char *)&header);
	free(copy);
	return sink.count;
}

static v2_segment get_segment(const uint64_t **numbers)
{
	v2_segment segment = {
		.handle = (u_int)(*numbers)[0],
		.length = (u_int)(*numbers)[1],
		.offset = (*numbers)[2],
	};

	*numbers += 3;
	return segment;
}

static v2_write_chunk get_chunk(const uint64_t **numbers)
{
	v2_write_chunk chunk;

	chunk.target.target_len = (u_int) * (*numbers)++;
	chunk.target.target_val = zalloc((chunk.target.target_len + 1) * sizeof(v2_segment));
	for (u_int i = 0; i < chunk.target.target_len; i++)
		chunk.target.target_val[i] = get_segment(numbers);
	return chunk;
}

static v2_chunk_lists get_lists(const uint64_t **numbers)
{
	v2_chunk_lists lists = {0};
	v2_read_list **read = &lists.reads;
	v2_write_list **write = &lists.writes;

	for (uint64_t left = *(*numbers)++; left; left--) {
		*read = zalloc(sizeof(**read));
		(*read)->entry.position = (u_int) * (*numbers)++;
		(*read)->entry.target = get_segment(numbers);
		read = &(*read)->next;
	}
	for (uint64_t left = *(*numbers)++; left; left--) {
		*write = zalloc(sizeof(**write));
		(*write)->entry = get_chunk(numbers);
		write = &(*write)->next;
	}
	if (*(*numbers)++) {
		lists.reply = zalloc(sizeof(*lists.reply));
		*lists.reply = get_chunk(numbers);
	}
	return lists;
}

static v2_optional get_optional(const uint64_t **numbers)
{
	v2_optional optional = {.opttype = (u_int) * (*numbers)++};

	optional.optinfo.optinfo_len = (u_int) * (*numbers)++;
	optional.optinfo.optinfo_val = zalloc(optional.optinfo.optinfo_len + 1);
	for (u_int i = 0; i < optional.optinfo.optinfo_len; i++)
		optional.optinfo.optinfo_val[i] = (char)*(*numbers)++;
	return optional;
}

static v2_header get_header(const uint64_t *numbers)
{
	v2_header header = {0};
	v2_body *body = &header.body;

	header.xid = (u_int)*numbers++;
	header.vers = (u_int)*numbers++;
	header.credit = (u_int)*numbers++;
	body->proc = (v2_proc)*numbers++;
	switch (body->proc) {
	case V2_MSG:
		body->v2_body_u.msg = get_lists(&numbers);
		break;
	case V2_NOMSG:
		body->v2_body_u.nomsg = get_lists(&numbers);
		break;
	case V2_MSGP:
	case V2_DONE:
		break;
	case V2_ERROR:
		body->v2_body_u.error.code = (v2_errcode)*numbers++;
		if (body->v2_body_u.error.code == V2_ERR_VERS) {
			body->v2_body_u.error.v2_error_u.range.low = (u_int)*numbers++;
			body->v2_body_u.error.v2_error_u.range.high = (u_int)*numbers++;
		}
		break;
	case V2_OPTIONAL:
		body->v2_body_u.optional = get_optional(&numbers);
		break;
	}
	return header;
}

size_t v2_peer_encode(const uint64_t *numbers, uint8_t *to, size_t room)
{
	v2_header header = get_header(numbers);
	size_t len = 0;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)to, (u_int)room, XDR_ENCODE);
	if (xdr_v2_header(&xdrs, &header))
		len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	xdr_free((xdrproc_t)xdr_v2_header, (char *)&header);
	return len;
}
