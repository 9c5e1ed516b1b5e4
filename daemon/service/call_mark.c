// SPDX-License-Identifier: BSD-3-Clause
/* What a Call is known again by. */
#include "daemon/service/call_mark.h"

#include "base/crc32c.h"
#include "leg/exchange.h"
#include "rpc/call_identity.h"

bool call_mark_may(const struct exchange *x)
{
	const struct rpc_msg *call = &x->call;

	return call->data &&
	       call->have_bytes >= call_identity_bytes(&x->facts.hdr, call->len_bytes);
}

static uint32_t add(uint32_t crc, const struct call_identity_part *part)
{
	return crc32c_add(crc, part->data, part->len_bytes);
}

NOT_INLINE static uint32_t add_gss(uint32_t crc, const struct exchange *x)
{
	struct call_identity identity;

	call_identity_find(&identity, &x->facts.hdr, x->call.data, x->call.have_bytes);
	for (unsigned i = 0; i < identity.nparts; i++)
		crc = add(crc, &identity.parts[i]);
	return ~crc;
}

/* Two Calls that differ in the words of the header alone begin with another value. */
static uint32_t crc_of(const struct exchange *x)
{
	const struct rpc_call_hdr *hdr = &x->facts.hdr;
	uint32_t crc = 256 * hdr->prog + 16 * hdr->vers + hdr->proc;
	struct call_identity_part args;

	if (hdr->cred_flavor == RPC_AUTH_GSS)
		return add_gss(crc, x);
	args = call_identity_args(hdr, x->call.data, x->call.have_bytes);
	return add(crc, &args);
}

struct call_mark call_mark_of(const struct exchange *x)
{
	const struct rpc_call_hdr *hdr = &x->facts.hdr;

	return (struct call_mark){
		.xid = hdr->xid,
		.len_bytes = call_identity_args_bytes(hdr, x->call.len_bytes),
		.crc = crc_of(x),
	};
}
