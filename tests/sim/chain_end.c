// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/chain_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/rig.h"

#define FIRST_XID   0x5000u
#define SPEC_LENGTH 200u
#define ATTRS       "1 1 0644 1 0 0 q1000 q4096 1 2 q3 q4 5 6 7 8 9 10" /* of a file */

/* ---- the book ---- */

static uint8_t *copy_with_xid(const struct nfs_msg *msg, uint32_t xid)
{
	uint8_t *copy = malloc(nfs_msg_len(msg));

	RIG_ASSERT(copy);
	memcpy(copy, nfs_msg_bytes(msg), nfs_msg_len(msg));
	be32_put(copy, xid);
	return copy;
}

unsigned chain_book_add(struct chain_book *book, unsigned from, const struct row_built *built)
{
	unsigned i = book->count++;

	RIG_ASSERT(i < CHAIN_RPCS_MAX);
	book->list[i] = (struct chain_rpc){
		.call = copy_with_xid(built->call, FIRST_XID + i),
		.reply = copy_with_xid(built->reply, FIRST_XID + i),
		.call_bytes = nfs_msg_len(built->call),
		.reply_bytes = nfs_msg_len(built->reply),
		.from = from,
	};
	return i;
}

static unsigned add_row(struct chain_book *book, unsigned from, const struct nfs_row *row)
{
	struct row_built built;
	unsigned i;

	row_build(&built, row, NULL);
	i = chain_book_add(book, from, &built);
	row_free(&built);
	return i;
}

unsigned chain_book_add_row(struct chain_book *book, unsigned from, const char *name)
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			if (!strcmp(row->name, name))
				return add_row(book, from, row);
	RIG_ASSERT(!"there is no row of that name");
	return 0;
}

/*
 * Fills the opaque of no bytes that a message ends with. No two stretches of the data are the same.
 */
static void add_data(uint8_t **msg, uint32_t *len_bytes, uint32_t data_bytes)
{
	uint32_t at = *len_bytes, padded = (uint32_t)xdr_padded_bytes(data_bytes);
	uint64_t random = 0x9e3779b97f4a7c15u * (data_bytes + 1ull);

	*msg = realloc(*msg, at + padded);
	RIG_ASSERT(*msg && be32_get(*msg + at - 4) == 0);
	be32_put(*msg + at - 4, data_bytes);
	for (uint32_t i = 0; i < padded; i += 4) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		be32_put(*msg + at + i, (uint32_t)random);
	}
	memset(*msg + at + data_bytes, 0, padded - data_bytes);
	*len_bytes = at + padded;
}

unsigned chain_book_add_sized(struct chain_book *book, unsigned from, uint32_t call_bytes,
			      uint32_t reply_bytes)
{
	char args[SPEC_LENGTH], results[SPEC_LENGTH];
	const struct nfs_row row = {"of a size", 100003, 3, 7, -1, 0, args, results, 0};
	unsigned i;

	if (!call_bytes)
		return chain_book_add_read(book, from, reply_bytes, reply_bytes);
	snprintf(args, sizeof(args), "o:64 q0 %u 0 d:0", call_bytes);
	snprintf(results, sizeof(results), "0 1 q1 2 3 4 5 " ATTRS " %u 2 q7", call_bytes);
	i = add_row(book, from, &row);
	add_data(&book->list[i].call, &book->list[i].call_bytes, call_bytes);
	return i;
}

unsigned chain_book_add_read(struct chain_book *book, unsigned from, uint32_t asked_bytes,
			     uint32_t given_bytes)
{
	char args[SPEC_LENGTH], results[SPEC_LENGTH];
	const struct nfs_row row = {"of a size", 100003, 3, 6, -1, 0, args, results, 0};
	unsigned i;

	snprintf(args, sizeof(args), "o:64 q0 %u", asked_bytes);
	snprintf(results, sizeof(results), "0 " ATTRS " %u 1 d:0", given_bytes);
	i = add_row(book, from, &row);
	add_data(&book->list[i].reply, &book->list[i].reply_bytes, given_bytes);
	return i;
}

void chain_book_fini(struct chain_book *book)
{
	for (unsigned i = 0; i < book->count; i++) {
		free(book->list[i].call);
		free(book->list[i].reply);
	}
	book->count = 0;
}

/* ---- messages ---- */

/*
 * SYSTEM_ERR, or a denial where the Call was refused before its flavour was known: it was in a read
 * chunk.
 */
static bool is_refusal(uint32_t xid, const uint8_t *msg, uint32_t len_bytes)
{
	uint8_t failed[RPC_ERROR_REPLY_BYTES], denied[RPC_ERROR_REPLY_BYTES];

	return (len_bytes == rpc_encode_accepted(failed, xid, RPC_SYSTEM_ERR) &&
		!memcmp(msg, failed, len_bytes)) ||
	       (len_bytes == rpc_encode_auth_error(denied, xid, RPC_AUTH_FAILED) &&
		!memcmp(msg, denied, len_bytes));
}

static void check_reply(const struct chain_rpc *rpc, const uint8_t *msg, uint32_t len_bytes)
{
	if (rpc->is_refused)
		RIG_ASSERT(is_refusal(be32_get(rpc->call), msg, len_bytes));
	else
		RIG_ASSERT(len_bytes == rpc->reply_bytes && !memcmp(msg, rpc->reply, len_bytes));
}

static struct chain_rpc *find(const struct chain_end *end, const uint8_t *msg)
{
	uint32_t i = be32_get(msg) - FIRST_XID;

	RIG_ASSERT(i < end->book->count);
	return &end->book->list[i];
}

static void take_message(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	struct chain_end *end = arg;
	struct chain_rpc *rpc;

	RIG_ASSERT(len_bytes > 8);
	rpc = find(end, msg);
	if (rpc->from == end->number) {
		check_reply(rpc, msg, len_bytes);
		RIG_ASSERT(rpc->answered == 0);
		rpc->answered++;
		end->replies++;
		return;
	}
	RIG_ASSERT(len_bytes == rpc->call_bytes && !memcmp(msg, rpc->call, len_bytes));
	RIG_ASSERT(rpc->arrived == 0);
	rpc->arrived++;
	end->calls++;
	rpc->is_held = end->hold;
	if (!end->hold && !rpc->is_early)
		record_end_send(&end->wire, rpc->reply, rpc->reply_bytes);
}

static void collect_part(void *arg, const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes)
{
	struct chain_end *end = arg;
	struct chain_rpc *rpc;

	if (!end->early || have_bytes <= 8)
		return;
	rpc = find(end, msg);
	if (rpc->from == end->number || rpc->is_early)
		return;
	rpc->is_early = true;
	record_end_send(&end->wire, rpc->reply, rpc->reply_bytes);
}

static const struct record_end_events wire_events = {
	.received = take_message,
	.grown = collect_part,
};

void chain_end_init(struct chain_end *end, struct chain_book *book, unsigned number)
{
	*end = (struct chain_end){
		.book = book,
		.number = number,
		.wire = {.events = &wire_events, .arg = end},
	};
}

void chain_end_call(struct chain_end *end, unsigned rpc)
{
	const struct chain_rpc *it = &end->book->list[rpc];

	RIG_ASSERT(rpc < end->book->count && it->from == end->number);
	record_end_send(&end->wire, it->call, it->call_bytes);
}

void chain_end_answer(struct chain_end *end)
{
	for (unsigned i = 0; i < end->book->count; i++) {
		struct chain_rpc *rpc = &end->book->list[i];

		if (!rpc->is_held || rpc->from == end->number)
			continue;
		rpc->is_held = false;
		record_end_send(&end->wire, rpc->reply, rpc->reply_bytes);
	}
}
