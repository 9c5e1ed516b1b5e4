/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the headers of NFSv4 COMPOUND and CB_COMPOUND (RFC 8881 sections 16.2 and 20). Each
 * operation after the header is a table row, parsed like a procedure.
 */
#ifndef NFS_COMPOUND_H
#define NFS_COMPOUND_H

#include "nfs/proc_table.h"
#include "rpc/xdr_sg.h"

/* rpc_gss_integ_data (RFC 2203 section 5.3.3.2): a length and a sequence number before the body. */
#define NFS_INTEGRITY_HEAD_BYTES 8u

struct nfs_compound {
	bool callback;
	uint32_t tag_bytes, minor_version;
	uint32_t op_count; /* number of operations that follow */
};

/** nfs_compound_is - Returns whether a Call is a COMPOUND or a CB_COMPOUND. */
bool nfs_compound_is(uint32_t prog, uint32_t vers, uint32_t proc);

/**
 * nfs_compound_call - Reads the header of a Call of @prog. Returns false if it cannot be parsed
 * @listener: gets the tag; NULL: none
 */
bool nfs_compound_call(uint32_t prog, struct xdr_sg_reader *at, struct nfs_listener *listener,
		       struct nfs_compound *compound) MUST_CHECK;

/**
 * nfs_compound_reply - Reads the header of a Reply: status, tag, and number of results. @listener
 * as above.
 */
bool nfs_compound_reply(struct xdr_sg_reader *at, struct nfs_listener *listener,
			uint32_t *op_count) MUST_CHECK;

/**
 * nfs_compound_op - Reads the number of an operation and finds its row
 *
 * Returns NULL at the end of the message, or if the minor version has no such operation.
 */
const struct nfs_proc *nfs_compound_op(struct xdr_sg_reader *at,
				       const struct nfs_compound *compound, uint32_t *op);

#endif
