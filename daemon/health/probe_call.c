// SPDX-License-Identifier: BSD-3-Clause
/* The Calls of a check, and what their Replies say. */
#include "daemon/health/probe_call.h"

#include <string.h>

#include "nfs/table.h"

#define NOBODY 65534u

enum { NFS4_COMPOUND = 1, OP_GETATTR = 9, OP_LOOKUP = 15, OP_PUTROOTFH = 24 };

/* Attributes that every server has something to say of (RFC 7530 sections 5.6 and 5.7). */
static const uint32_t attributes[] = {
	1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 19 | 1u << 20,
	1u << (33 - 32) | 1u << (35 - 32) | 1u << (36 - 32) | 1u << (37 - 32) | 1u << (45 - 32) |
		1u << (47 - 32) | 1u << (52 - 32) | 1u << (53 - 32),
};

size_t probe_call_null(uint8_t to[PROBE_CALL_BYTES], uint32_t xid, uint32_t prog, uint32_t vers)
{
	return rpc_encode_null_call(to, xid, prog, vers);
}

void probe_put_header(struct xdr_writer *w, uint32_t xid, uint32_t prog, uint32_t vers,
		      uint32_t proc)
{
	static const char machine[] = "rpcrdma-proxy";

	xdr_put_u32(w, xid);
	xdr_put_u32(w, RPC_CALL);
	xdr_put_u32(w, RPC_VERSION);
	xdr_put_u32(w, prog);
	xdr_put_u32(w, vers);
	xdr_put_u32(w, proc);
	xdr_put_u32(w, RPC_AUTH_SYS);
	xdr_put_u32(w, 4 + 4 + xdr_padded_bytes(strlen(machine)) + 3 * 4);
	xdr_put_u32(w, 0);
	xdr_put_opaque(w, (const uint8_t *)machine, strlen(machine));
	xdr_put_u32(w, NOBODY);
	xdr_put_u32(w, NOBODY);
	xdr_put_u32(w, 0);
	xdr_put_u32(w, RPC_AUTH_NONE);
	xdr_put_u32(w, 0);
}

/* Without a tag, of minor version 0. */
static void put_compound(struct xdr_writer *w, uint32_t xid, uint32_t nops)
{
	probe_put_header(w, xid, NFS_PROGRAM_NFS, PROBE_NFS_VERSION, NFS4_COMPOUND);
	xdr_put_u32(w, 0);
	xdr_put_u32(w, 0);
	xdr_put_u32(w, nops);
	xdr_put_u32(w, OP_PUTROOTFH);
}

size_t probe_call_getattrs(uint8_t to[PROBE_GETATTRS_BYTES], uint32_t xid, unsigned count)
{
	struct xdr_writer w;

	xdr_writer_init(&w, to, PROBE_GETATTRS_BYTES);
	put_compound(&w, xid, 1 + count);
	for (unsigned i = 0; i < count; i++) {
		xdr_put_u32(&w, OP_GETATTR);
		xdr_put_u32(&w, ARRAY_SIZE(attributes));
		for (size_t k = 0; k < ARRAY_SIZE(attributes); k++)
			xdr_put_u32(&w, attributes[k]);
	}
	return xdr_written_bytes(&w);
}

size_t probe_call_lookup(uint8_t *to, uint32_t xid, uint32_t name_bytes)
{
	struct xdr_writer w;
	uint8_t *name;

	xdr_writer_init(&w, to, PROBE_CALL_BYTES + name_bytes);
	put_compound(&w, xid, 2);
	xdr_put_u32(&w, OP_LOOKUP);
	xdr_put_u32(&w, name_bytes);
	name = xdr_reserve(&w, xdr_padded_bytes(name_bytes));
	if (name) {
		memset(name, 0, xdr_padded_bytes(name_bytes));
		memset(name, 'x', name_bytes);
	}
	return xdr_written_bytes(&w);
}

/* MSG_DENIED: AUTH_ERROR with its status, or RPC_MISMATCH. */
static void read_denied(const uint8_t *msg, uint32_t len_bytes, struct probe_reply *reply)
{
	if (len_bytes >= 20 && be32_get(msg + 12) == 1)
		reply->auth_stat = be32_get(msg + 16);
}

void probe_reply_read(const uint8_t *msg, uint32_t len_bytes, bool has_status,
		      struct probe_reply *reply)
{
	struct rpc_reply_hdr hdr;
	struct xdr_reader r;

	*reply = (struct probe_reply){.nfs_status = UINT32_MAX};
	if (rpc_reply_decode(msg, len_bytes, &hdr) != RPC_OK)
		return;
	reply->is_rpc = true;
	if (hdr.stat != RPC_MSG_ACCEPTED) {
		read_denied(msg, len_bytes, reply);
		return;
	}
	reply->accepted = true;
	reply->stat = hdr.accept_stat;
	xdr_reader_init(&r, msg + hdr.results_offset, len_bytes - hdr.results_offset);
	if (hdr.accept_stat == RPC_PROG_MISMATCH)
		reply->is_rpc = xdr_get_u32(&r, &reply->low) && xdr_get_u32(&r, &reply->high);
	else if (hdr.accept_stat == RPC_SUCCESS && has_status)
		reply->is_rpc = xdr_get_u32(&r, &reply->nfs_status);
}
