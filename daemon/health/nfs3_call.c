// SPDX-License-Identifier: BSD-3-Clause
/* The Calls by which a check finds a file handle of NFSv3, and uses it. */
#include "daemon/health/nfs3_call.h"

#include <string.h>

#include "daemon/health/probe_call.h"
#include "nfs/table.h"

#define MOUNT_VERSION 3u
#define NFS_VERSION   3u
#define MAX_EXPORTS   100000u
#define MAX_GROUPS    100000u

enum { MOUNT_MNT = 1, MOUNT_UMNT = 3, MOUNT_EXPORT = 5 };
enum { NFS3_GETATTR = 1, NFS3_LOOKUP = 3, NFS3_READDIRPLUS = 17 };

static void put_string(struct xdr_writer *w, const char *text)
{
	xdr_put_opaque(w, (const uint8_t *)text, (uint32_t)strlen(text));
}

static void begin(struct xdr_writer *w, uint8_t *to, uint32_t xid, uint32_t prog, uint32_t vers,
		  uint32_t proc)
{
	xdr_writer_init(w, to, NFS3_CALL_BYTES);
	probe_put_header(w, xid, prog, vers, proc);
}

size_t nfs3_call_export(uint8_t to[NFS3_CALL_BYTES], uint32_t xid)
{
	struct xdr_writer w;

	begin(&w, to, xid, NFS_PROGRAM_MOUNT, MOUNT_VERSION, MOUNT_EXPORT);
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

	begin(&w, to, xid, NFS_PROGRAM_MOUNT, MOUNT_VERSION, proc);
	put_string(&w, path);
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
	xdr_put_u64(&w, 0); /* … and its verifier */
	xdr_put_u32(&w, max_bytes);
	xdr_put_u32(&w, max_bytes);
	return xdr_written_bytes(&w);
}

size_t nfs3_call_lookup(uint8_t *to, uint32_t xid, const struct nfs3_handle *handle,
			uint32_t name_bytes)
{
	uint32_t padded_bytes = (uint32_t)xdr_padded_bytes(name_bytes);
	struct xdr_writer w;
	uint8_t *name;

	xdr_writer_init(&w, to, NFS3_CALL_BYTES + name_bytes);
	probe_put_header(&w, xid, NFS_PROGRAM_NFS, NFS_VERSION, NFS3_LOOKUP);
	xdr_put_opaque(&w, handle->bytes, handle->len_bytes);
	xdr_put_u32(&w, name_bytes);
	name = xdr_reserve(&w, padded_bytes);
	if (name) {
		memset(name, 0, padded_bytes);
		memset(name, 'x', name_bytes);
	}
	return xdr_written_bytes(&w);
}
