// SPDX-License-Identifier: BSD-3-Clause
/* What a Call is known again by. */
#include "daemon/service/call_mark.h"

#include <isa-l.h>

#include "leg/exchange.h"

struct call_mark call_mark_of(const struct exchange *x)
{
	const struct rpc_msg *call = &x->call;
	uint32_t bytes = call->len_bytes < CALL_MARK_BYTES ? call->len_bytes : CALL_MARK_BYTES;

	return (struct call_mark){
		.xid = x->facts.hdr.xid,
		.len_bytes = call->len_bytes,
		.crc = crc32_iscsi(call->data, (int)bytes, 0),
	};
}
