// SPDX-License-Identifier: BSD-3-Clause
/* Calls, Replies and credits of one connection. */
#include <stdlib.h>

#include "tests/judge/bytes.h"
#include "tests/judge/judge.h"

#define RPC_CALL        0u
#define RPC_REPLY       1u
#define RPC_VERSION     2u
#define RPC_CALL_BYTES  40u /* the shortest: empty credential and verifier */
#define RPC_REPLY_BYTES 20u /* the shortest: a denial */

void book_init(struct book *book, bool credits)
{
	*book = (struct book){.credits = credits};
	book->page[0].grant = book->page[1].grant = 1;
}

void book_fini(struct book *book)
{
	free(book->page[0].xids);
	free(book->page[1].xids);
}

struct book_moment book_now(const struct book *book, unsigned side)
{
	return (struct book_moment){book->page[side].count, book->page[side].grant};
}

static unsigned find(const struct book_page *page, uint32_t xid)
{
	unsigned i = 0;

	while (i < page->count && page->xids[i] != xid)
		i++;
	return i;
}

void book_call(struct judge *judge, const struct tcp_conn *conn, struct book *book, unsigned side,
	       uint32_t xid, struct book_moment then)
{
	struct book_page *page = &book->page[side];

	judge->calls++;
	judge->backward_calls += side;
	if (find(page, xid) < page->count)
		judge_violation(judge, conn, "Call 0x%08x is made again before its Reply", xid);
	if (page->count == page->room) {
		page->room = page->room ? 2 * page->room : 64;
		page->xids = realloc(page->xids, page->room * sizeof(*page->xids));
		if (!page->xids)
			abort();
	}
	page->xids[page->count++] = xid;
	if (!book->credits)
		return;
	if (then.outstanding + 1 > judge->calls_most)
		judge->calls_most = then.outstanding + 1;
	if (then.outstanding >= then.grant)
		judge_violation(
			judge, conn, "Call 0x%08x of %s overruns its credits: %u wait, %u granted",
			xid, side ? "the acceptor" : "the initiator", then.outstanding, then.grant);
}

void book_reply(struct judge *judge, const struct tcp_conn *conn, struct book *book, unsigned side,
		uint32_t xid, uint32_t grant)
{
	struct book_page *page = &book->page[!side];
	unsigned i = find(page, xid);

	judge->replies++;
	if (i == page->count) {
		judge_violation(judge, conn, "a Reply to 0x%08x, which waits for none", xid);
		return;
	}
	page->xids[i] = page->xids[--page->count];
	if (!grant)
		return;
	page->grant = grant;
	if (grant > judge->grant_most)
		judge->grant_most = grant;
}

void book_message(struct judge *judge, const struct tcp_conn *conn, struct book *book,
		  unsigned side, const uint8_t *msg, size_t len, uint32_t grant,
		  struct book_moment then)
{
	uint32_t xid, type;

	if (len < RPC_REPLY_BYTES) {
		judge_violation(judge, conn, "an RPC message of %zu bytes", len);
		return;
	}
	xid = get_be32(msg);
	type = get_be32(msg + 4);
	if (type == RPC_CALL) {
		if (len < RPC_CALL_BYTES || get_be32(msg + 8) != RPC_VERSION)
			judge_violation(judge, conn, "Call 0x%08x is no Call of RPC version 2",
					xid);
		book_call(judge, conn, book, side, xid, then);
	} else if (type == RPC_REPLY) {
		book_reply(judge, conn, book, side, xid, grant);
	} else {
		judge_violation(judge, conn, "an RPC message of type %u", type);
	}
}
