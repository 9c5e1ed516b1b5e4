// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/compounds.h"

#include <stdlib.h>
#include <string.h>

/* Of one operation, so that most Replies fit a TCP segment of the capture. */
#define RESULT_MAX_BYTES 9000u

/* xorshift32: any sequence will do, as long as it is the same everywhere. */
static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

/*
 * tshark 4.0 does not decode most of these to their end, so what follows them is lost to it; handles of
 * BACKCHANNEL_CTL and values of SETXATTR (40 and 73) it shows as it shows the data of READ.
 */
static bool tshark_knows(const struct nfs_row *row)
{
	static const uint32_t partly[] = {40, 42, 46, 47, 50, 54, 56, 61, 68, 70, 73, 10044};

	for (unsigned i = 0; i < sizeof(partly) / sizeof(partly[0]); i++)
		if (row->op == partly[i])
			return false;
	return row->op != 18 || row->minor_version == 0;
}

static bool is_small(const struct nfs_row *row)
{
	struct nfs_msg *msg = nfs_msg_new();
	struct spec_items items = {0};
	bool small;

	spec_put(msg, row->results, &items);
	small = nfs_msg_len(msg) <= RESULT_MAX_BYTES;
	nfs_msg_free(msg);
	return small;
}

static bool fails(const struct nfs_row *row)
{
	return strtoul(row->results, NULL, 0) != 0;
}

static bool has_item(const struct nfs_row *row)
{
	return row->op == 25 || row->op == 27;
}

/* A row of @minor_version or below; one that fails only seldom, one with a payload often. */
static const struct nfs_row *draw_row(uint32_t *state, uint32_t minor_version, bool for_tshark)
{
	static const struct nfs_row *const lists[] = {rows_v40, rows_v41, rows_v42};
	bool want_item = draw(state, 4) == 0, may_fail = draw(state, 12) == 0;

	for (;;) {
		const struct nfs_row *list = lists[draw(state, minor_version + 1)];
		uint32_t count = 0;

		while (list[count].name)
			count++;
		list += draw(state, count);
		if ((want_item && !has_item(list)) || (!may_fail && fails(list)))
			continue;
		if ((!for_tshark || tshark_knows(list)) && is_small(list))
			return list;
	}
}

void compound_build(struct row_built *built, uint32_t seed, bool for_tshark)
{
	uint32_t state = seed * 2654435761u + 1, minor_version = draw(&state, 3);
	uint32_t count = 1 + draw(&state, COMPOUND_MAX_OPS), done = 0, status = 0;
	const struct nfs_row *list[COMPOUND_MAX_OPS];

	for (uint32_t i = 0; i < count; i++) {
		list[i] = draw_row(&state, minor_version, for_tshark);
		if (status)
			continue;
		done++;
		status = (uint32_t)strtoul(list[i]->results, NULL, 0);
	}
	memset(built, 0, sizeof(*built));
	built->call = nfs_msg_call(100003, 4, 1, NULL);
	built->reply = nfs_msg_reply(NULL);
	built->failed = status != 0;
	put_opaque(built->call, seed % 9);
	put_u32(built->call, minor_version);
	put_u32(built->call, count);
	put_u32(built->reply, status);
	put_opaque(built->reply, seed % 9);
	put_u32(built->reply, done);
	for (uint32_t i = 0; i < count; i++) {
		put_u32(built->call, list[i]->op);
		spec_put(built->call, list[i]->args, &built->call_items);
		if (i >= done)
			continue;
		put_u32(built->reply, list[i]->op);
		spec_put(built->reply, list[i]->results, &built->reply_items);
		/* A result that failed counts, with nothing in it. */
		if (fails(list[i]) && has_item(list[i]))
			built->reply_items.list[built->reply_items.count++] =
				(struct rpc_payload){0};
	}
}
