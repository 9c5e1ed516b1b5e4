// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/call_fingerprint.h"

#include "base/crc32c.h"
#include "leg/exchange.h"
#include "rpc/call_identity.h"

/* An AUTH_SYS credential: stamp, length of the machine name, machine name, user, group. */
#define SYS_MACHINE_OFFSET 8u
#define SYS_USER_BYTES     8u

_Static_assert(sizeof(struct call_fingerprint) == 16, "many are kept");

bool call_fingerprint_possible(const struct exchange *x)
{
	const struct rpc_msg *call = &x->call;

	return call->data &&
	       call->have_bytes >= call_identity_bytes(&x->call_info.hdr, call->len_bytes);
}

static uint32_t add(uint32_t crc, const struct call_identity_part *part)
{
	return crc32c_add(crc, part->data, part->len_bytes);
}

NOT_INLINE static uint32_t add_gss(uint32_t crc, const struct exchange *x)
{
	struct call_identity identity;

	call_identity_find(&identity, &x->call_info.hdr, x->call.data, x->call.have_bytes);
	for (unsigned i = 0; i < identity.nparts; i++)
		crc = add(crc, &identity.parts[i]);
	return ~crc;
}

/* Calls that differ only in program, version or procedure begin with different values. */
static uint32_t crc_of(const struct exchange *x)
{
	const struct rpc_call_hdr *hdr = &x->call_info.hdr;
	uint32_t crc = 256 * hdr->prog + 16 * hdr->vers + hdr->proc;
	struct call_identity_part args;

	if (hdr->cred_flavor == RPC_AUTH_GSS)
		return add_gss(crc, x);
	args = call_identity_args(hdr, x->call.data, x->call.have_bytes);
	return add(crc, &args);
}

/* The user and the group (RFC 5531 appendix A), or the whole credential if it is too short. */
static struct call_identity_part user_of(const uint8_t *cred, uint32_t len_bytes)
{
	struct call_identity_part all = {cred, len_bytes};
	uint64_t offset;

	if (len_bytes < SYS_MACHINE_OFFSET)
		return all;
	offset = SYS_MACHINE_OFFSET +
		 xdr_padded_bytes(be32_get(cred + SYS_MACHINE_OFFSET - XDR_UNIT_BYTES));
	if (offset + SYS_USER_BYTES > len_bytes)
		return all;
	return (struct call_identity_part){cred + offset, SYS_USER_BYTES};
}

static uint32_t sender_of(const struct exchange *x)
{
	const struct rpc_call_hdr *hdr = &x->call_info.hdr;
	struct call_identity_part who = {x->call.data + RPC_CALL_CRED_OFFSET, hdr->cred_bytes};

	if (hdr->cred_flavor == RPC_AUTH_GSS)
		who.len_bytes = 0;
	else if (hdr->cred_flavor == RPC_AUTH_SYS)
		who = user_of(who.data, who.len_bytes);
	return add(hdr->cred_flavor, &who) & INT32_MAX;
}

struct call_fingerprint call_fingerprint_of_answered(const struct exchange *x)
{
	const struct rpc_call_hdr *hdr = &x->call_info.hdr;

	return (struct call_fingerprint){
		.xid = hdr->xid,
		.len_bytes = call_identity_args_bytes(hdr, x->call.len_bytes),
		.crc = crc_of(x),
		.answered = true,
	};
}

struct call_fingerprint call_fingerprint_of(const struct exchange *x)
{
	struct call_fingerprint mark = call_fingerprint_of_answered(x);

	mark.answered = false;
	mark.sender = sender_of(x);
	return mark;
}
