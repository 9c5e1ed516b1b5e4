// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/call_identity.h"

#include <string.h>

#include "base/minmax.h"
#include "rpc/xdr.h"

/*
 * RPCSEC_GSS credential: version and procedure, sequence number, service, length of the handle (RFC
 * 2203 5.3.1).
 */
#define GSS_SEQ_OFFSET     8u
#define GSS_SERVICE_OFFSET 12u
#define GSS_HANDLE_OFFSET  20u
/* At the start of the signed bytes. */
#define INTEG_SEQ_BYTES 4u

static void add_part(struct call_identity *identity, const uint8_t *data, uint32_t len_bytes)
{
	identity->parts[identity->nparts++] = (struct call_identity_part){data, len_bytes};
}

static void add_args(struct call_identity *identity, const uint8_t *args, uint32_t have_bytes)
{
	add_part(identity, args, min_u32(have_bytes, CALL_IDENTITY_BYTES));
}

/*
 * Adds the signed arguments without their sequence number. Arguments too short for it are not
 * compared.
 */
static void add_signed(struct call_identity *identity, const uint8_t *args, uint32_t have_bytes)
{
	uint32_t len_bytes;

	if (have_bytes < CALL_IDENTITY_SIGNED_BYTES)
		return;
	len_bytes = be32_get(args);
	add_part(identity, args, XDR_UNIT_BYTES);
	if (len_bytes > INTEG_SEQ_BYTES)
		add_args(identity, args + CALL_IDENTITY_SIGNED_BYTES,
			 min_u32(len_bytes - INTEG_SEQ_BYTES,
				 have_bytes - CALL_IDENTITY_SIGNED_BYTES));
}

static bool is_gss_cred(const uint8_t *cred, uint32_t len_bytes)
{
	uint32_t handle_bytes;

	if (len_bytes < GSS_HANDLE_OFFSET)
		return false;
	handle_bytes = be32_get(cred + GSS_HANDLE_OFFSET - XDR_UNIT_BYTES);
	return GSS_HANDLE_OFFSET + xdr_padded_bytes(handle_bytes) == len_bytes;
}

/* RPCSEC_GSS versions two and three have the same credential (RFC 5403, RFC 7861). */
static void find_gss(struct call_identity *identity, const struct rpc_call_hdr *hdr,
		     const uint8_t *msg, uint32_t have_bytes)
{
	const uint8_t *cred = msg + RPC_CALL_CRED_OFFSET, *args = msg + hdr->args_offset;
	uint32_t args_bytes = have_bytes - hdr->args_offset, proc, service;

	if (!is_gss_cred(cred, hdr->cred_bytes)) {
		add_part(identity, cred, hdr->cred_bytes);
		add_args(identity, args, args_bytes);
		return;
	}
	add_part(identity, cred, GSS_SEQ_OFFSET);
	add_part(identity, cred + GSS_SERVICE_OFFSET, hdr->cred_bytes - GSS_SERVICE_OFFSET);
	proc = be32_get(cred + XDR_UNIT_BYTES);
	service = be32_get(cred + GSS_SERVICE_OFFSET);
	if (proc == RPC_GSS_DATA ? service == RPC_GSS_NONE : proc <= RPC_GSS_DESTROY)
		add_args(identity, args, args_bytes);
	else if (proc == RPC_GSS_DATA && service == RPC_GSS_INTEGRITY)
		add_signed(identity, args, args_bytes);
}

void call_identity_find(struct call_identity *identity, const struct rpc_call_hdr *hdr,
			const uint8_t *msg, uint32_t have_bytes)
{
	identity->xid = hdr->xid;
	identity->prog = hdr->prog;
	identity->vers = hdr->vers;
	identity->proc = hdr->proc;
	identity->is_gss = hdr->cred_flavor == RPC_AUTH_GSS;
	identity->nparts = 0;
	if (identity->is_gss)
		find_gss(identity, hdr, msg, have_bytes);
	else
		identity->parts[identity->nparts++] = call_identity_args(hdr, msg, have_bytes);
}

bool call_identity_equals(const struct call_identity *a, const struct call_identity *b)
{
	if (a->xid != b->xid || a->prog != b->prog || a->vers != b->vers || a->proc != b->proc ||
	    a->is_gss != b->is_gss || a->nparts != b->nparts)
		return false;
	for (unsigned i = 0; i < a->nparts; i++)
		if (a->parts[i].len_bytes != b->parts[i].len_bytes ||
		    memcmp(a->parts[i].data, b->parts[i].data, a->parts[i].len_bytes))
			return false;
	return true;
}
