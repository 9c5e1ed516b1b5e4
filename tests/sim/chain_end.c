// SPDX-License-Identifier: BSD-3-Clause
/* The ends of a chain. */
#include "tests/sim/chain_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/rig.h"

#define FIRST_XID   0x5000u
#define LAST_MARK   0x80000000u
#define MARK_BYTES  4u
#define READ_BYTES  65536u
#define RECORD_MAX  (128u << 20)
#define SPEC_LENGTH 200u
#define ATTRS       "1 1 0644 1 0 0 q1000 q4096 1 2 q3 q4 5 6 7 8 9 10" /* of a file */

/* ---- the book ---- */

static uint8_t *copy_with_xid(const struct nfs_msg *msg, uint32_t xid)
{
	uint8_t *copy = malloc(nfs_msg_len(msg));

	RIG_ASSERT(copy);
	memcpy(copy, nfs_msg_bytes(msg), nfs_msg_len(msg));
	xdr_store_u32(copy, xid);
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

/* Fills the opaque of no bytes that a message ends with. No two stretches of the data are the same. */
static void add_data(uint8_t **msg, uint32_t *len_bytes, uint32_t data_bytes)
{
	uint32_t at = *len_bytes, padded = (uint32_t)xdr_padded_bytes(data_bytes);
	uint64_t random = 0x9e3779b97f4a7c15u * (data_bytes + 1ull);

	*msg = realloc(*msg, at + padded);
	RIG_ASSERT(*msg && xdr_load_u32(*msg + at - 4) == 0);
	xdr_store_u32(*msg + at - 4, data_bytes);
	for (uint32_t i = 0; i < padded; i += 4) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		xdr_store_u32(*msg + at + i, (uint32_t)random);
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

/* ---- output ---- */

static uint8_t *make_room(uint8_t **to, size_t *room, size_t have_bytes, size_t more_bytes)
{
	if (have_bytes + more_bytes > *room) {
		*room = 2 * (have_bytes + more_bytes);
		*to = realloc(*to, *room);
		RIG_ASSERT(*to);
	}
	return *to + have_bytes;
}

static void set_watch(struct chain_end *end)
{
	unsigned events = end->out_bytes ? LOOP_WRITE : 0;

	if (!end->got_end)
		events |= LOOP_READ;
	stream_watch(end->stream, events);
}

static void flush(struct chain_end *end)
{
	while (end->out_at < end->out_bytes) {
		const struct iovec iov = {end->out + end->out_at, end->out_bytes - end->out_at};
		ssize_t n = stream_writev(end->stream, &iov, 1);

		if (n == -EAGAIN)
			break;
		if (n < 0) {
			end->got_reset = true;
			chain_end_close(end, true);
			return;
		}
		end->out_at += (size_t)n;
	}
	if (end->out_at == end->out_bytes)
		end->out_at = end->out_bytes = 0;
	set_watch(end);
}

static void send_record(struct chain_end *end, const uint8_t *msg, uint32_t len_bytes)
{
	uint32_t fragment = end->fragment_bytes ? end->fragment_bytes : len_bytes;

	if (end->is_over)
		return;
	for (uint32_t at = 0; at < len_bytes; at += fragment) {
		uint32_t bytes = len_bytes - at < fragment ? len_bytes - at : fragment;
		uint8_t *to =
			make_room(&end->out, &end->out_room, end->out_bytes, MARK_BYTES + bytes);

		xdr_store_u32(to, bytes | (at + bytes == len_bytes ? LAST_MARK : 0));
		memcpy(to + MARK_BYTES, msg + at, bytes);
		end->out_bytes += MARK_BYTES + bytes;
	}
	if (end->stream)
		flush(end);
}

void chain_end_call(struct chain_end *end, unsigned rpc)
{
	const struct chain_rpc *it = &end->book->list[rpc];

	RIG_ASSERT(rpc < end->book->count && it->from == end->number);
	send_record(end, it->call, it->call_bytes);
}

void chain_end_answer(struct chain_end *end)
{
	for (unsigned i = 0; i < end->book->count; i++) {
		struct chain_rpc *rpc = &end->book->list[i];

		if (!rpc->is_held || rpc->from == end->number)
			continue;
		rpc->is_held = false;
		send_record(end, rpc->reply, rpc->reply_bytes);
	}
}

/* ---- input ---- */

static void check_reply(const struct chain_rpc *rpc, const uint8_t *msg, uint32_t len_bytes)
{
	uint8_t refusal[RPC_ERROR_REPLY_BYTES];

	if (rpc->is_refused)
		RIG_ASSERT(len_bytes == rpc_encode_accepted(refusal, xdr_load_u32(rpc->call),
							    RPC_SYSTEM_ERR) &&
			   !memcmp(msg, refusal, len_bytes));
	else
		RIG_ASSERT(len_bytes == rpc->reply_bytes && !memcmp(msg, rpc->reply, len_bytes));
}

static void take_message(struct chain_end *end, const uint8_t *msg, uint32_t len_bytes)
{
	uint32_t i;
	struct chain_rpc *rpc;

	RIG_ASSERT(len_bytes > 8);
	i = xdr_load_u32(msg) - FIRST_XID;
	RIG_ASSERT(i < end->book->count);
	rpc = &end->book->list[i];
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
	if (!end->hold)
		send_record(end, rpc->reply, rpc->reply_bytes);
}

/* Takes what is whole of what has come. The proxy sends each record in one fragment. */
static void take_records(struct chain_end *end)
{
	size_t at = 0;

	while (end->in_bytes - at >= MARK_BYTES) {
		uint32_t mark = xdr_load_u32(end->in + at), len = mark & ~LAST_MARK;

		RIG_ASSERT(mark & LAST_MARK && len <= RECORD_MAX);
		if (end->in_bytes - at - MARK_BYTES < len)
			break;
		take_message(end, end->in + at + MARK_BYTES, len);
		at += MARK_BYTES + len;
	}
	end->in_bytes -= at;
	if (at)
		memmove(end->in, end->in + at, end->in_bytes);
}

static void receive(struct chain_end *end)
{
	ssize_t n;

	for (;;) {
		struct iovec iov = {make_room(&end->in, &end->in_room, end->in_bytes, READ_BYTES),
				    READ_BYTES};

		n = stream_readv(end->stream, &iov, 1);
		if (n <= 0)
			break;
		end->in_bytes += (size_t)n;
		take_records(end);
		if (end->is_over)
			return;
	}
	if (n == -EAGAIN)
		return;
	end->got_end = n == 0;
	end->got_reset = n < 0;
	RIG_ASSERT(n < 0 || end->in_bytes == 0);
	chain_end_close(end, false);
}

static void on_ready(void *arg, unsigned events)
{
	struct chain_end *end = arg;

	if (events & LOOP_READ)
		receive(end);
	if (!end->is_over && events & LOOP_WRITE)
		flush(end);
}

static const struct stream_events end_events = {.ready = on_ready};

void chain_end_start(struct chain_end *end, struct stream *stream)
{
	RIG_ASSERT(!end->stream);
	end->stream = stream;
	stream_bind(stream, &end_events, end);
	flush(end);
}

void chain_end_shutdown(struct chain_end *end)
{
	RIG_ASSERT(end->out_bytes == 0);
	RIG_ASSERT(stream_shutdown(end->stream) == 0);
}

void chain_end_close(struct chain_end *end, bool reset)
{
	if (!end->stream || end->is_over)
		return;
	end->is_over = true;
	stream_close(end->stream, reset);
}

void chain_end_fini(struct chain_end *end)
{
	RIG_ASSERT(!end->stream || end->is_over);
	stream_free(end->stream);
	free(end->in);
	free(end->out);
}
