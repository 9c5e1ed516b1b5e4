/* SPDX-License-Identifier: BSD-3-Clause */
/* The Calls by which a check finds a file handle of NFSv3, and uses it. Pure. */
#ifndef DAEMON_HEALTH_NFS3_CALL_H
#define DAEMON_HEALTH_NFS3_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr.h"

#define NFS3_HANDLE_BYTES 64u
#define NFS3_PATH_BYTES   1024u
#define NFS3_CALL_BYTES   2048u /* room for each but nfs3_call_lookup() */

struct nfs3_handle {
	uint32_t len_bytes;
	uint8_t bytes[NFS3_HANDLE_BYTES];
};

/** nfs3_call_export - MOUNT: what is exported (RFC 1813 appendix I). Returns the bytes at @to. */
size_t nfs3_call_export(uint8_t to[NFS3_CALL_BYTES], uint32_t xid);
/** nfs3_reply_export - how many there are, and the first. Returns false if that cannot be read. */
bool nfs3_reply_export(struct xdr_reader *results, unsigned *count,
		       char first[NFS3_PATH_BYTES + 1]) MUST_CHECK;

/** nfs3_call_mnt, nfs3_call_umnt - MOUNT: the handle of @path; and that it is not mounted any more. */
size_t nfs3_call_mnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path);
size_t nfs3_call_umnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path);
/** nfs3_reply_mnt - the status, and with status 0 the handle. Returns false if they cannot be read. */
bool nfs3_reply_mnt(struct xdr_reader *results, uint32_t *status,
		    struct nfs3_handle *handle) MUST_CHECK;

/** nfs3_call_getattr - its attributes. Returns the bytes at @to. */
size_t nfs3_call_getattr(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			 const struct nfs3_handle *handle);
/** nfs3_call_readdirplus - what is in it, up to @max_bytes. Returns the bytes at @to. */
size_t nfs3_call_readdirplus(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			     const struct nfs3_handle *handle, uint32_t max_bytes);
/** nfs3_call_lookup - a name of @name_bytes in it. Returns the bytes at @to, of NFS3_CALL_BYTES + name_bytes. */
size_t nfs3_call_lookup(uint8_t *to, uint32_t xid, const struct nfs3_handle *handle,
			uint32_t name_bytes);

#endif
