/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table with a Call and its largest Reply for every procedure and operation, and further pairs
 * where a Reply has more than one form.
 */
#ifndef TESTS_NFS_ROWS_H
#define TESTS_NFS_ROWS_H

#include "tests/nfs/spec.h"

struct nfs_row {
	const char *name;
	uint32_t prog, vers, proc;
	int minor_version; /* of the COMPOUND that op stands in; -1: a procedure */
	uint32_t op;
	const char *args, *results; /* see spec.h; results begin with the status, if there is one */
	/* How far the computed maximum can exceed this Reply; ROW_ANY: it is not the largest. */
	uint32_t slack_bytes;
};

#define ROW_ANY UINT32_MAX
/* The arguments give the size, and servers can exceed it. */
#define ROW_SLACK (16384u + 4096)

/* Lists that end with a row without a name. */
extern const struct nfs_row rows_v2[], rows_v3[], rows_side[], rows_v40[], rows_v41[], rows_v42[],
	rows_cb[];
extern const struct nfs_row *const row_lists[]; /* all of them; ends with NULL */

/* A row as messages. */
struct row_built {
	struct nfs_msg *call, *reply;
	struct spec_items call_items, reply_items;
	bool failed; /* the Reply's status is not zero */
};

/**
 * row_build - Makes a row's messages; free them with row_free(). @auth: as for nfs_msg_call()
 *
 * An operation follows SEQUENCE (from minor version 1 on) and PUTROOTFH, or CB_SEQUENCE.
 */
void row_build(struct row_built *built, const struct nfs_row *row, const struct nfs_msg_auth *auth);
void row_free(struct row_built *built);

#define ROW_TAG_BYTES 5u

#endif
