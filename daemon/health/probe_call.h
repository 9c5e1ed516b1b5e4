/* SPDX-License-Identifier: BSD-3-Clause */
/* The Calls of a check, and what their Replies say. Pure. */
#ifndef DAEMON_HEALTH_PROBE_CALL_H
#define DAEMON_HEALTH_PROBE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/msg.h"

#define PROBE_NFS_VERSION   4u
#define PROBE_MOUNT_VERSION 3u
#define PROBE_CALL_BYTES    512u /* room for each but probe_call_lookup() */
#define PROBE_MAX_GETATTRS  48u  /* Linux takes 50 operations in a COMPOUND */
#define PROBE_FRAME_BYTES   44u  /* of a Reply, before the first GETATTR */

#define PROBE_NFS_OK        0u /* in any version of NFS */
/* Statuses of NFSv4 alone (RFC 7530 section 13). */
#define PROBE_NFS4_WRONGSEC       10016u
#define PROBE_NFS4_MINOR_MISMATCH 10021u

/** probe_put_header - the header of a Call as nobody (AUTH_SYS). */
void probe_put_header(struct xdr_writer *w, uint32_t xid, uint32_t prog, uint32_t vers,
		      uint32_t proc);
/** probe_call_null - a Call of procedure 0. Returns the bytes written to @to. */
size_t probe_call_null(uint8_t to[PROBE_CALL_BYTES], uint32_t xid, uint32_t prog, uint32_t vers);
/**
 * probe_call_getattrs - a COMPOUND of NFSv4.0: PUTROOTFH, and so many GETATTRs of the root
 * @count: up to PROBE_MAX_GETATTRS
 *
 * As nobody (AUTH_SYS). Returns the bytes written to @to, of PROBE_GETATTRS_BYTES.
 */
#define PROBE_GETATTRS_BYTES (PROBE_CALL_BYTES + PROBE_MAX_GETATTRS * 20u)
size_t probe_call_getattrs(uint8_t to[PROBE_GETATTRS_BYTES], uint32_t xid, unsigned count);
/**
 * probe_call_lookup - a COMPOUND of NFSv4.0: PUTROOTFH, LOOKUP of a name that is longer than any
 * @name_bytes: its length
 *
 * Returns the bytes written to @to, of PROBE_CALL_BYTES + name_bytes.
 */
size_t probe_call_lookup(uint8_t *to, uint32_t xid, uint32_t name_bytes);

/* What a Reply says. */
struct probe_reply {
	bool is_rpc;   /* it is a Reply that can be read */
	bool accepted; /* else the server refuses who asks: `auth_stat` if it says so */
	uint32_t auth_stat;
	enum rpc_accept_stat stat;
	uint32_t low, high;  /* of RPC_PROG_MISMATCH */
	uint32_t nfs_status; /* where there is one; else UINT32_MAX */
};

/** probe_reply_read - @has_status: its results begin with a status of NFS, as those of all procedures but NULL do. */
void probe_reply_read(const uint8_t *msg, uint32_t len_bytes, bool has_status,
		      struct probe_reply *reply);

#endif
