// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/rows.h"

#include <stdlib.h>
#include <string.h>

const struct nfs_row *const row_lists[] = {rows_v2,  rows_v3,  rows_side, rows_v40,
					   rows_v41, rows_v42, rows_cb,   NULL};

/* What stands before the operation. */
struct lead {
	uint32_t op;
	const char *args, *results;
};

static const struct lead sequence = {53, "x:16 1 0 0 1", "0 x:16 1 0 0 0 0"};
static const struct lead cb_sequence = {11, "x:16 1 0 0 0 n:0()", "0 x:16 1 0 0 0"};
static const struct lead putrootfh = {24, "", "0"};

static unsigned leads_of(const struct nfs_row *row, const struct lead *leads[2])
{
	unsigned count = 0;
	bool callback = row->prog != 100003;

	if (row->minor_version > 0)
		leads[count++] = callback ? &cb_sequence : &sequence;
	if (!callback)
		leads[count++] = &putrootfh;
	return count;
}

static void build_compound(struct row_built *built, const struct nfs_row *row)
{
	struct nfs_msg *call = built->call, *reply = built->reply;
	const struct lead *leads[2];
	unsigned count = leads_of(row, leads);
	struct spec_items none = {0};

	put_opaque(call, ROW_TAG_BYTES);
	put_u32(call, (uint32_t)row->minor_version);
	if (row->prog != 100003)
		put_u32(call, 1); /* callback_ident */
	put_u32(call, count + 1);
	put_u32(reply, (uint32_t)strtoul(row->results, NULL, 0));
	put_opaque(reply, ROW_TAG_BYTES);
	put_u32(reply, count + 1);
	for (unsigned i = 0; i < count; i++) {
		put_u32(call, leads[i]->op);
		spec_put(call, leads[i]->args, &none);
		put_u32(reply, leads[i]->op);
		spec_put(reply, leads[i]->results, &none);
	}
	put_u32(call, row->op);
	put_u32(reply, row->op);
}

void row_build(struct row_built *built, const struct nfs_row *row, const struct nfs_msg_auth *auth)
{
	memset(built, 0, sizeof(*built));
	built->call = nfs_msg_call(row->prog, row->vers, row->proc, auth);
	built->reply = nfs_msg_reply(auth);
	built->failed = strtoul(row->results, NULL, 0) != 0;
	if (row->minor_version >= 0)
		build_compound(built, row);
	spec_put(built->call, row->args, &built->call_items);
	spec_put(built->reply, row->results, &built->reply_items);
}

void row_free(struct row_built *built)
{
	nfs_msg_free(built->call);
	nfs_msg_free(built->reply);
}
