// SPDX-License-Identifier: BSD-3-Clause
/* Prints headers that rpcgen's code for rpcrdma_v2.x decoded. */
#include "tests/unit/rpcgen_filter.h"

#include "rpcrdma_v2.h"

static void say_segment(const v2_segment *segment)
{
	say_number(segment->handle);
	say_number(segment->length);
	say_number(segment->offset);
}

static void say_chunk(const v2_write_chunk *chunk)
{
	say_number(chunk->target.target_len);
	for (u_int i = 0; i < chunk->target.target_len; i++)
		say_segment(&chunk->target.target_val[i]);
}

static void say_lists(const v2_chunk_lists *lists)
{
	for (const v2_read_list *read = lists->reads; read; read = read->next) {
		say_number(1);
		say_number(read->entry.position);
		say_segment(&read->entry.target);
	}
	say_number(0);
	for (const v2_write_list *write = lists->writes; write; write = write->next) {
		say_number(1);
		say_chunk(&write->entry);
	}
	say_number(0);
	say_number(lists->reply ? 1 : 0);
	if (lists->reply)
		say_chunk(lists->reply);
}

static void say_error(const v2_error *error)
{
	say_number((u_int)error->code);
	if (error->code == V2_ERR_VERS) {
		say_number(error->v2_error_u.range.low);
		say_number(error->v2_error_u.range.high);
	}
}

static void say_optional(const v2_optional *optional)
{
	say_number(optional->opttype);
	say_bytes(optional->optinfo.optinfo_val, optional->optinfo.optinfo_len);
}

static bool show_header(const void *value)
{
	const v2_header *header = value;
	const v2_body *body = &header->body;

	say_number(header->xid);
	say_number(header->vers);
	say_number(header->credit);
	say_number((u_int)body->proc);
	switch (body->proc) {
	case V2_MSG:
		say_lists(&body->v2_body_u.msg);
		break;
	case V2_NOMSG:
		say_lists(&body->v2_body_u.nomsg);
		break;
	case V2_MSGP:
	case V2_DONE:
		break;
	case V2_ERROR:
		say_error(&body->v2_body_u.error);
		break;
	case V2_OPTIONAL:
		say_optional(&body->v2_body_u.optional);
		break;
	}
	return true;
}

const struct rpcgen_type rpcgen_v2_types[] = {
	{"v2", (xdrproc_t)xdr_v2_header, sizeof(v2_header), show_header},
	{NULL, NULL, 0, NULL},
};
