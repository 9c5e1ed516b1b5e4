// SPDX-License-Identifier: BSD-3-Clause
/* Prints values that rpcgen's code for rpcrdma_v1.x decoded. */
#include "tests/unit/rpcgen_filter.h"

#include "rpcrdma_v1.h"

static void say_segment(const v1_segment *segment)
{
	say_number(segment->handle);
	say_number(segment->length);
	say_number(segment->offset);
}

static void say_chunk(const v1_chunk *chunk)
{
	say_number(chunk->targets.targets_len);
	for (u_int i = 0; i < chunk->targets.targets_len; i++)
		say_segment(&chunk->targets.targets_val[i]);
}

static void say_lists(const v1_lists *lists)
{
	for (const v1_read *read = lists->reads; read; read = read->next) {
		say_number(1);
		say_number(read->position);
		say_segment(&read->target);
	}
	say_number(0);
	for (const v1_write *write = lists->writes; write; write = write->next) {
		say_number(1);
		say_chunk(&write->chunk);
	}
	say_number(0);
	say_number(lists->reply ? 1 : 0);
	if (lists->reply)
		say_chunk(lists->reply);
}

static void say_error(const v1_error *error)
{
	say_number((u_int)error->code);
	if (error->code == V1_ERR_VERS) {
		say_number(error->v1_error_u.range.low);
		say_number(error->v1_error_u.range.high);
	} else if (error->code != V1_ERR_CHUNK) {
		for (int i = 0; i < 8; i++)
			say_number(error->v1_error_u.extra[i]);
	}
}

static bool show_header(const void *value)
{
	const v1_header *header = value;
	const v1_body *body = &header->body;

	say_number(header->xid);
	say_number(header->vers);
	say_number(header->credit);
	say_number((u_int)body->proc);
	switch (body->proc) {
	case V1_MSG:
		say_lists(&body->v1_body_u.msg);
		break;
	case V1_NOMSG:
		say_lists(&body->v1_body_u.nomsg);
		break;
	case V1_MSGP:
		say_number(body->v1_body_u.msgp.align);
		say_number(body->v1_body_u.msgp.thresh);
		say_lists(&body->v1_body_u.msgp.lists);
		break;
	case V1_DONE:
		break;
	case V1_ERROR:
		say_error(&body->v1_body_u.error);
		break;
	}
	return true;
}

static void say_procedure(void)
{
	say_number(V1_CONF_PROGRAM);
	say_number(V1_CONF_VERSION);
	say_number(V1_CONF_RDMA);
}

static bool show_conf_args(const void *value)
{
	const v1_conf_args *args = value;

	say_procedure();
	say_number(args->maxcall_sendsize);
	say_number(args->maxreply_sendsize);
	say_number(args->maxrdmaread);
	return true;
}

static bool show_conf_results(const void *value)
{
	const v1_conf_results *results = value;

	say_procedure();
	say_number(results->maxcall_sendsize);
	say_number(results->align);
	say_number(results->maxrdmaread);
	return true;
}

const struct rpcgen_type rpcgen_v1_types[] = {
	{"v1", (xdrproc_t)xdr_v1_header, sizeof(v1_header), show_header},
	{"conf_args", (xdrproc_t)xdr_v1_conf_args, sizeof(v1_conf_args), show_conf_args},
	{"conf_results", (xdrproc_t)xdr_v1_conf_results, sizeof(v1_conf_results),
	 show_conf_results},
	{NULL, NULL, 0, NULL},
};
