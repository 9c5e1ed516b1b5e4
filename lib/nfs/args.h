/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the arguments of a Call are, as far as its security flavour lets them be seen. */
#ifndef NFS_ARGS_H
#define NFS_ARGS_H

#include "rpc/msg.h"
#include "rpc/xdr.h"

/* rpc_gss_integ_data (RFC 2203 section 5.3.3.2): a length and a sequence number before the body. */
#define NFS_INTEGRITY_HEAD_BYTES 8u

enum nfs_args {
	NFS_ARGS_PLAIN,     /* to be read, and payloads may move */
	NFS_ARGS_INTEGRITY, /* to be read, but nothing may move (RFC 2203 section 5.3.3.2) */
	NFS_ARGS_CONTROL,   /* a context is made or destroyed: a token, whatever the program */
	NFS_ARGS_HIDDEN,    /* encrypted, unknown or cut short */
};

/** nfs_args_open - point @args at the arguments of a Call; it is set in the first two cases. */
enum nfs_args nfs_args_open(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			    struct xdr_reader *args);

#endif
