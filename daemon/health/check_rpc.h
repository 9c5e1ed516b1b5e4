/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes the Calls of a check and decodes their Replies. Pure. */
#ifndef DAEMON_HEALTH_CHECK_RPC_H
#define DAEMON_HEALTH_CHECK_RPC_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"

#define CHECK_RPC_NFS_VERSION   4u
#define CHECK_RPC_MOUNT_VERSION 3u
#define CHECK_RPC_CALL_BYTES    512u /* enough for each Call except check_rpc_lookup() */
#define CHECK_RPC_MAX_GETATTRS  48u  /* Linux accepts 50 operations in a COMPOUND */
#define CHECK_RPC_FRAME_BYTES   44u  /* of a Reply before the first GETATTR */

#define CHECK_RPC_NFS_OK        0u /* in any version of NFS */
/* Statuses of NFSv4 only (RFC 7530 section 13). */
#define CHECK_RPC_NFS4_WRONGSEC       10016u
#define CHECK_RPC_NFS4_MINOR_MISMATCH 10021u

/** check_rpc_null - Encodes a Call of procedure 0. Returns the bytes written to @to. */
size_t check_rpc_null(uint8_t to[CHECK_RPC_CALL_BYTES], uint32_t xid, uint32_t prog, uint32_t vers);
/**
 * check_rpc_getattrs - Encodes a COMPOUND of NFSv4.0: PUTROOTFH, and @count GETATTRs of the root
 * @count: up to CHECK_RPC_MAX_GETATTRS
 *
 * The credential is AUTH_SYS with the user ID of nobody. Returns the number of bytes written to
 * @to, at most CHECK_RPC_GETATTRS_BYTES.
 */
#define CHECK_RPC_GETATTRS_BYTES (CHECK_RPC_CALL_BYTES + CHECK_RPC_MAX_GETATTRS * 20u)
size_t check_rpc_getattrs(uint8_t to[CHECK_RPC_GETATTRS_BYTES], uint32_t xid, unsigned count);
/**
 * check_rpc_lookup - Encodes a COMPOUND of NFSv4.0: PUTROOTFH, LOOKUP of a name longer than any
 * file's
 * @name_bytes: its length
 *
 * Returns the bytes written to @to, of CHECK_RPC_CALL_BYTES + name_bytes.
 */
size_t check_rpc_lookup(uint8_t *to, uint32_t xid, uint32_t name_bytes);

/* A decoded Reply. */
struct check_rpc_reply {
	bool is_rpc;   /* it is a well-formed Reply */
	bool accepted; /* else the server rejects the credential: see `auth_stat`, if set */
	uint32_t auth_stat;
	enum rpc_accept_stat stat;
	uint32_t low, high;  /* for RPC_PROG_MISMATCH */
	uint32_t nfs_status; /* UINT32_MAX: none */
};

/**
 * check_rpc_reply_parse - Decodes a Reply; @has_status: its results begin with an NFS status, as
 * for all but NULL.
 */
void check_rpc_reply_parse(const uint8_t *msg, uint32_t len_bytes, bool has_status,
			   struct check_rpc_reply *reply);

/* ---- Calls that obtain and use an NFSv3 file handle ---- */

#define NFS3_HANDLE_BYTES 64u
#define NFS3_PATH_BYTES   1024u
#define NFS3_CALL_BYTES   2048u /* enough for each Call except nfs3_call_lookup() */

struct nfs3_handle {
	uint32_t len_bytes;
	uint8_t bytes[NFS3_HANDLE_BYTES];
};

/**
 * nfs3_call_export - Encodes a Call of MOUNT for the list of exports (RFC 1813 appendix I). Returns
 * the bytes at @to.
 */
size_t nfs3_call_export(uint8_t to[NFS3_CALL_BYTES], uint32_t xid);
/** nfs3_reply_export - Decodes the number of exports and the first. Returns false if malformed. */
bool nfs3_reply_export(struct xdr_reader *results, unsigned *count,
		       char first[NFS3_PATH_BYTES + 1]) MUST_CHECK;

/**
 * nfs3_call_mnt, nfs3_call_umnt - Encode Calls of MOUNT: mount and unmount @path. Return the bytes
 * at @to.
 */
size_t nfs3_call_mnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path);
size_t nfs3_call_umnt(uint8_t to[NFS3_CALL_BYTES], uint32_t xid, const char *path);
/** nfs3_reply_mnt - Decodes the status, and for status 0 the handle. Returns false if malformed. */
bool nfs3_reply_mnt(struct xdr_reader *results, uint32_t *status,
		    struct nfs3_handle *handle) MUST_CHECK;

/** nfs3_call_getattr - Encodes GETATTR. Returns the bytes at @to. */
size_t nfs3_call_getattr(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			 const struct nfs3_handle *handle);
/** nfs3_call_readdirplus - Encodes READDIRPLUS for up to @max_bytes. Returns the bytes at @to. */
size_t nfs3_call_readdirplus(uint8_t to[NFS3_CALL_BYTES], uint32_t xid,
			     const struct nfs3_handle *handle, uint32_t max_bytes);
/**
 * nfs3_call_lookup - Encodes LOOKUP of @name_bytes. Returns the bytes at @to, of NFS3_CALL_BYTES +
 * name_bytes.
 */
size_t nfs3_call_lookup(uint8_t *to, uint32_t xid, const struct nfs3_handle *handle,
			uint32_t name_bytes);

#endif
