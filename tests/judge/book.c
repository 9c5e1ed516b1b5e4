// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/book.h"

#include <stdlib.h>

#include "tests/judge/bytes.h"

#define RPC_CALL        0u
#define RPC_REPLY       1u
#define RPC_VERSION     2u
#define RPC_CALL_BYTES  40u /* the shortest: empty credential and verifier */
#define RPC_REPLY_BYTES 20u /* the shortest: a denial */

/* ---------------------------------------------------------------- lists */

static unsigned find(const struct book_list *list, uint32_t xid)
{
	unsigned i = 0;

	while (i < list->count && list->calls[i].xid != xid)
		i++;
	return i;
}

static void add(struct book_list *list, struct book_call call)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->calls = realloc(list->calls, list->room * sizeof(*list->calls));
		if (!list->calls)
			abort();
	}
	list->calls[list->count++] = call;
}

static void drop(struct book_list *list, unsigned i)
{
	free(list->calls[i].handles);
	list->calls[i] = list->calls[--list->count];
}

static void list_fini(struct book_list *list)
{
	while (list->count)
		drop(list, 0);
	free(list->calls);
}

/* ---------------------------------------------------------------- the book */

void book_init(struct book *book, bool credits)
{
	*book = (struct book){.credits = credits};
	book->page[0].grant = book->page[1].grant = 1;
}

void book_fini(struct book *book)
{
	for (unsigned i = 0; i < 2; i++) {
		list_fini(&book->page[i].waiting);
		list_fini(&book->page[i].undone);
	}
}

/* An RDMA_DONE that is owed has its credit: draft-ietf-nfsv4-rpcrdma-03 section 3.8. */
struct book_moment book_now(const struct book *book, unsigned side)
{
	const struct book_page *page = &book->page[side];

	return (struct book_moment){page->waiting.count + page->undone.count + page->held,
				    page->held, page->grant};
}

unsigned book_open_calls(const struct book *book)
{
	return book->page[0].waiting.count + book->page[1].waiting.count;
}

unsigned book_undone(const struct book *book)
{
	return book->page[0].undone.count + book->page[1].undone.count;
}

static struct book_call *find_in(const struct book_list *list, uint32_t xid)
{
	unsigned i = find(list, xid);

	return i < list->count ? &list->calls[i] : NULL;
}

struct book_call *book_find(struct book *book, unsigned side, uint32_t xid)
{
	return find_in(&book->page[side].waiting, xid);
}

struct book_call *book_find_undone(struct book *book, unsigned side, uint32_t xid)
{
	return find_in(&book->page[side].undone, xid);
}

void book_credit(struct hearing *hearing, const struct book *book, unsigned side, const char *what,
		 uint32_t xid, struct book_moment then)
{
	if (!book->credits)
		return;
	if (then.outstanding + 1 > hearing->judge->calls_most)
		hearing->judge->calls_most = then.outstanding + 1;
	if (then.outstanding >= then.grant)
		judge_violation(hearing,
				"%s 0x%08x of %s overruns its credits: %u wait, %u granted", what,
				xid, judge_side(side), then.outstanding, then.grant);
}

void book_call(struct hearing *hearing, struct book *book, unsigned side, struct book_call call,
	       struct book_moment then)
{
	struct book_page *page = &book->page[side];

	hearing->tally.calls++;
	hearing->tally.configs += call.config;
	hearing->judge->backward_calls += side;
	if (find(&page->waiting, call.xid) < page->waiting.count)
		judge_violation(hearing, "Call 0x%08x is made again before its Reply", call.xid);
	if (find(&page->undone, call.xid) < page->undone.count)
		judge_violation(hearing, "Call 0x%08x is made again before its RDMA_DONE",
				call.xid);
	add(&page->waiting, call);
	book_credit(hearing, book, side, "Call", call.xid, then);
}

void book_grant(struct hearing *hearing, struct book *book, unsigned side, uint32_t grant)
{
	book->page[side].grant = grant;
	if (grant > hearing->judge->grant_most)
		hearing->judge->grant_most = grant;
}

void book_reply(struct hearing *hearing, struct book *book, unsigned side,
		struct book_answer answer)
{
	struct book_page *page = &book->page[!side];
	unsigned i = find(&page->waiting, answer.xid);
	const struct book_call *call;

	hearing->tally.replies++;
	if (i == page->waiting.count) {
		judge_violation(hearing, "a Reply to 0x%08x, which waits for none", answer.xid);
		free(answer.handles);
		return;
	}
	call = &page->waiting.calls[i];
	hearing->tally.configs += call->config;
	if (answer.version && answer.version != call->version)
		judge_violation(hearing, "Call 0x%08x is of version %u, its Reply of version %u",
				answer.xid, call->version, answer.version);
	drop(&page->waiting, i);
	if (answer.reads)
		add(&page->undone, (struct book_call){.xid = answer.xid,
						      .handles = answer.handles,
						      .handle_count = answer.handle_count});
	if (answer.grant)
		book_grant(hearing, book, !side, answer.grant);
}

void book_done(struct hearing *hearing, struct book *book, unsigned side, uint32_t xid)
{
	struct book_list *undone = &book->page[side].undone;
	unsigned i = find(undone, xid);

	if (i == undone->count)
		judge_violation(hearing, "an RDMA_DONE for 0x%08x, which waits for none", xid);
	else
		drop(undone, i);
}

/* ---------------------------------------------------------------- RPC messages */

enum book_kind book_kind(struct hearing *hearing, const uint8_t *msg, size_t len)
{
	uint32_t xid, type;

	if (len < RPC_REPLY_BYTES) {
		judge_violation(hearing, "an RPC message of %zu bytes", len);
		return BOOK_NEITHER;
	}
	xid = get_be32(msg);
	type = get_be32(msg + 4);
	if (type > RPC_REPLY) {
		judge_violation(hearing, "an RPC message of type %u", type);
		return BOOK_NEITHER;
	}
	if (type == RPC_CALL && (len < RPC_CALL_BYTES || get_be32(msg + 8) != RPC_VERSION))
		judge_violation(hearing, "Call 0x%08x is no Call of RPC version 2", xid);
	return type == RPC_CALL ? BOOK_CALL : BOOK_REPLY;
}

bool book_is_config(const struct judge *judge, const uint8_t *msg, size_t len)
{
	return len >= RPC_CALL_BYTES && get_be32(msg + 12) == judge->config_program;
}

void book_message(struct hearing *hearing, struct book *book, unsigned side, const uint8_t *msg,
		  size_t len)
{
	switch (book_kind(hearing, msg, len)) {
	case BOOK_CALL:
		book_call(hearing, book, side,
			  (struct book_call){.xid = get_be32(msg),
					     .config = book_is_config(hearing->judge, msg, len)},
			  book_now(book, side));
		break;
	case BOOK_REPLY:
		book_reply(hearing, book, side, (struct book_answer){.xid = get_be32(msg)});
		break;
	case BOOK_NEITHER:
		break;
	}
}
