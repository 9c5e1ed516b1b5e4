// SPDX-License-Identifier: BSD-3-Clause
/* What a Call is known again by. */
#include "daemon/service/call_mark.h"

#include <isa-l.h>

#include "leg/exchange.h"

static uint32_t marked_bytes(const struct rpc_msg *call)
{
	return call->len_bytes < CALL_MARK_BYTES ? call->len_bytes : CALL_MARK_BYTES;
}

bool call_mark_may(const struct exchange *x)
{
	return x->call.data && x->call.have_bytes >= marked_bytes(&x->call);
}

struct call_mark call_mark_of(const struct exchange *x)
{
	const struct rpc_msg *call = &x->call;

	return (struct call_mark){
		.xid = x->facts.hdr.xid,
		.len_bytes = call->len_bytes,
		.crc = crc32_iscsi(call->data, (int)marked_bytes(call), 0),
	};
}
