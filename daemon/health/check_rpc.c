// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/check_rpc.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "nfs/proc_table.h"
#include "rpc/xdr.h"

#define NOBODY 65534u

enum { NFS4_COMPOUND = 1, OP_GETATTR = 9, OP_LOOKUP = 15, OP_PUTROOTFH = 24 };

/* Attributes that every server supports (RFC 7530 sections 5.6 and 5.7). */
static const uint32_t attributes[] = {
	1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 19 | 1u << 20,
	1u << (33 - 32) | 1u << (35 - 32) | 1u << (36 - 32) | 1u << (37 - 32) | 1u << (45 - 32) |
		1u << (47 - 32) | 1u << (52 - 32) | 1u << (53 - 32),
};

size_t check_rpc_null(uint8_t to[CHECK_RPC_CALL_BYTES], uint32_t xid, uint32_t prog, uint32_t vers)
{
	return rpc_encode_null_call(to, xid, prog, vers);
}

/* Writes the header of a Call. Its credential is AUTH_SYS with the user ID of nobody. */
static void check_rpc_put_header(struct xdr_writer *w, uint32_t xid, uint32_t prog, uint32_t vers,
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

/* An empty tag, and minor version 0. */
static void put_compound(struct xdr_writer *w, uint32_t xid, uint32_t nops)
{
	check_rpc_put_header(w, xid, NFS_PROGRAM_NFS, CHECK_RPC_NFS_VERSION, NFS4_COMPOUND);
	xdr_put_u32(w, 0);
	xdr_put_u32(w, 0);
	xdr_put_u32(w, nops);
	xdr_put_u32(w, OP_PUTROOTFH);
}

size_t check_rpc_getattrs(uint8_t to[CHECK_RPC_GETATTRS_BYTES], uint32_t xid, unsigned count)
{
	struct xdr_writer w;

	xdr_writer_init(&w, to, CHECK_RPC_GETATTRS_BYTES);
	put_compound(&w, xid, 1 + count);
	for (unsigned i = 0; i < count; i++) {
		xdr_put_u32(&w, OP_GETATTR);
		xdr_put_u32(&w, ARRAY_SIZE(attributes));
		for (size_t k = 0; k < ARRAY_SIZE(attributes); k++)
			xdr_put_u32(&w, attributes[k]);
	}
	return xdr_written_bytes(&w);
}

static void put_name(struct xdr_writer *w, uint32_t name_bytes)
{
	size_t padded_bytes = xdr_padded_bytes(name_bytes);
	uint8_t *name;

	xdr_put_u32(w, name_bytes);
	name = xdr_reserve(w, padded_bytes);
	if (name) {
		memset(name, 0, padded_bytes);
		memset(name, 'x', name_bytes);
	}
}

size_t check_rpc_lookup(uint8_t *to, uint32_t xid, uint32_t name_bytes)
{
	struct xdr_writer w;

	xdr_writer_init(&w, to, CHECK_RPC_CALL_BYTES + name_bytes);
	put_compound(&w, xid, 2);
	xdr_put_u32(&w, OP_LOOKUP);
	put_name(&w, name_bytes);
	return xdr_written_bytes(&w);
}

/* MSG_DENIED: AUTH_ERROR with its status, or RPC_MISMATCH. */
static void read_denied(const uint8_t *msg, uint32_t len_bytes, struct check_rpc_reply *reply)
{
	if (len_bytes >= 20 && be32_get(msg + 12) == 1)
		reply->auth_stat = be32_get(msg + 16);
}

void check_rpc_reply_parse(const uint8_t *msg, uint32_t len_bytes, bool has_status,
			   struct check_rpc_reply *reply)
{
	struct rpc_reply_hdr hdr;
	struct xdr_reader r;

	*reply = (struct check_rpc_reply){.nfs_status = UINT32_MAX};
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

/* ---- NFSv3 file handles ---- */

#define NFS_VERSION 3u
#define MAX_EXPORTS 100000u
#define MAX_GROUPS  100000u

enum { MOUNT_MNT = 1, MOUNT_UMNT = 3, MOUNT_EXPORT = 5 };
enum { NFS3_GETATTR = 1, NFS3_LOOKUP = 3, NFS3_READDIRPLUS = 17 };

static void begin(struct xdr_writer *w, uint8_t *to, uint32_t xid, uint32_t prog, uint32_t vers,
		  uint32_t proc)
{
	xdr_writer_init(w, to, NFS3_CALL_BYTES);
	check_rpc_put_header(w, xid, prog, vers, proc);
}

size_t nfs3_call_export(uint8_t to[NFS3_CALL_BYTES], uint32_t xid)
{
	struct xdr_writer w;

	begin(&w, to, xid, NFS_PROGRAM_MOUNT, CHECK_RPC_MOUNT_VERSION, MOUNT_EXPORT);
	return xdr_written_bytes(&w);
}

static bool skip_groups(struct xdr_reader *results)
{
	bool follows;

	for (unsigned i = 0; i < MAX_GROUPS; i++) {
		if (!xdr_get_bool(results, &follows))
			return false;
		if (!follows)
			return true;
		if (!xdr_skip_opaque(results, 255))
			return false;
	}
	return false;
}

bool nfs3_reply_export(struct xdr_reader *results, unsigned *count, char first[NFS3_PATH_BYTES + 1])
{
	const uint8_t *path;
	uint32_t len;
	bool follows;

	first[0] = '\0';
	for (*count = 0; *count < MAX_EXPORTS; ++*count) {
		if (!xdr_get_bool(results, &follows))
			return false;
		if (!follows)
			return true;
		if (!xdr_get_opaque(results, NFS3_PATH_BYTES, &path, &len) ||
		    memchr(path, '\0', len) || !skip_groups(results))
			return false;
		if (*count == 0) {
			memcpy(first, path, len);
			first[len] = '\0';
		}
	}
	return false;
}

static size_t path_call(uint8_t *to, uint32_t xid, uint32_t proc, const char *path)
{
	struct xdr_writer w;

	begin(&w, to, xid, NFS_PROGRAM_MOUNT, CHECK_RPC_MOUNT_VERSION, proc);
	xdr_put_opaque(&w, (const uint8_t *)path, (uint32_t)strlen(path));
	return xdr_written_bytes(&w);
}

size_t nfs3_call_mnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path)
{
	return path_call(to, xid, MOUNT_MNT, path);
}

size_t nfs3_call_umnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path)
{
	return path_call(to, xid, MOUNT_UMNT, path);
}

bool nfs3_reply_mnt(struct xdr_reader *results, uint32_t *status, struct nfs3_handle *handle)
{
	const uint8_t *data;

	handle->len_bytes = 0;
	if (!xdr_get_u32(results, status))
		return false;
	if (*status)
		return true;
	if (!xdr_get_opaque(results, NFS3_HANDLE_BYTES, &data, &handle->len_bytes))
		return false;
	memcpy(handle->bytes, data, handle->len_bytes);
	return true;
}

size_t nfs3_call_getattr(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			 const struct nfs3_handle *handle)
{
	struct xdr_writer w;

	begin(&w, to, xid, NFS_PROGRAM_NFS, NFS_VERSION, NFS3_GETATTR);
	xdr_put_opaque(&w, handle->bytes, handle->len_bytes);
	return xdr_written_bytes(&w);
}

size_t nfs3_call_readdirplus(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			     const struct nfs3_handle *handle, uint32_t max_bytes)
{
	struct xdr_writer w;

	begin(&w, to, xid, NFS_PROGRAM_NFS, NFS_VERSION, NFS3_READDIRPLUS);
	xdr_put_opaque(&w, handle->bytes, handle->len_bytes);
	xdr_put_u64(&w, 0); /* cookie */
	xdr_put_u64(&w, 0); /* cookie verifier */
	xdr_put_u32(&w, max_bytes);
	xdr_put_u32(&w, max_bytes);
	return xdr_written_bytes(&w);
}

size_t nfs3_call_lookup(uint8_t *to, uint32_t xid, const struct nfs3_handle *handle,
			uint32_t name_bytes)
{
	struct xdr_writer w;

	xdr_writer_init(&w, to, NFS3_CALL_BYTES + name_bytes);
	check_rpc_put_header(&w, xid, NFS_PROGRAM_NFS, NFS_VERSION, NFS3_LOOKUP);
	xdr_put_opaque(&w, handle->bytes, handle->len_bytes);
	put_name(&w, name_bytes);
	return xdr_written_bytes(&w);
}
