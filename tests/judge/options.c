// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/options.h"

#include <stdlib.h>

#include "tests/judge/session.h"

void options_init(struct options *options)
{
	*options = (struct options){0};
	for (unsigned i = 0; i < 2; i++)
		options->end[i].messages_end = &options->end[i].messages;
}

/* ---------------------------------------------------------------- messages that wait */

static struct option_message **find(struct options_end *end, uint32_t xid, uint32_t option)
{
	struct option_message **link = &end->messages;

	while (*link && ((*link)->xid != xid || (option && (*link)->option != option)))
		link = &(*link)->next;
	return link;
}

static void release(struct option_message *m, struct book_page *page)
{
	page->held -= m->holds;
	m->holds = false;
}

static void drop(struct options_end *end, struct option_message **link)
{
	struct option_message *m = *link;

	*link = m->next;
	if (!m->next)
		end->messages_end = link;
	characteristics_fini(&m->want);
	free(m);
}

void options_fini(struct options *options)
{
	for (unsigned i = 0; i < 2; i++) {
		while (options->end[i].messages)
			drop(&options->end[i], &options->end[i].messages);
	}
}

unsigned options_waiting(const struct options *options)
{
	unsigned count = 0;

	for (unsigned i = 0; i < 2; i++) {
		for (const struct option_message *m = options->end[i].messages; m; m = m->next)
			count += m->waits;
	}
	return count;
}

bool options_has(const struct options *options, unsigned side, uint32_t xid)
{
	const struct option_message *m = options->end[side].messages;

	while (m && m->xid != xid)
		m = m->next;
	return m;
}

void options_heard(struct session *s, unsigned side)
{
	s->options.end[side].silent = false;
	for (struct option_message *m = s->options.end[side].messages; m; m = m->next) {
		if (!m->waits)
			release(m, &s->book.page[side]);
	}
}

void options_give_up(struct session *s, unsigned side)
{
	for (struct option_message *m = s->options.end[side].messages; m; m = m->next)
		release(m, &s->book.page[side]);
}

/* ---------------------------------------------------------------- characteristics */

static void learn(struct session *s, unsigned side, struct characteristic now)
{
	struct options_end *end = &s->options.end[side];

	if (!now.which || now.which >= CHARACTERISTICS_KNOWN)
		return;
	if (end->constant[now.which] && now.value != end->value[now.which])
		judge_violation(
			s->hearing,
			"%s changes characteristic %u from %u to %u, and said it never would",
			judge_side(side), now.which, end->value[now.which], now.value);
	end->value[now.which] = now.value;
	if (now.which == INVALIDATION && now.value)
		end->invalidates = true;
	if (now.which == BACKWARD && now.value > end->backward)
		end->backward = now.value;
}

/*
 * draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.1: receives become shorter only where that was
 * asked for.
 */
static void announce(struct session *s, unsigned side, struct characteristic now)
{
	learn(s, side, now);
	if (now.which == RECEIVE_BYTES && !limits_announce(&s->limits, side, now.value))
		judge_violation(s->hearing, "%s lowers its receives to %u, which nobody asked for",
				judge_side(side), now.value);
}

static void take_init(struct session *s, unsigned side, struct cursor *c)
{
	struct options_end *end = &s->options.end[side];
	struct characteristics start;
	struct subset constant;

	characteristics_receive(c, &start);
	constant = subset_take(c);
	for (unsigned i = 0; !c->bad && !c->left && i < start.count; i++) {
		uint32_t which = start.list[i].which;

		announce(s, side, start.list[i]);
		if (which && which < CHARACTERISTICS_KNOWN && subset_has(constant, i))
			end->constant[which] = true;
	}
	characteristics_fini(&start);
}

static void take_update(struct session *s, unsigned side, struct cursor *c)
{
	struct characteristic now = characteristic_take(c);
	bool clear = cursor_bool(c);

	if (c->bad || c->left)
		return;
	announce(s, side, now);
	if (clear && now.which == RECEIVE_BYTES)
		limits_settled(&s->limits, side);
}

static void take_request(struct session *s, unsigned side, uint32_t xid, struct cursor *c,
			 struct characteristics *want)
{
	characteristics_receive(c, want);
	if (c->bad || c->left)
		return;
	s->options.end[side].requests = true;
	for (unsigned i = 0; i < want->count; i++) {
		if (want->list[i].which == RECEIVE_BYTES)
			limits_ask(&s->limits, side, want->list[i].value, xid);
	}
}

/* What becomes of one thing that was wanted: it must be in one of three subsets. */
static void fate(struct session *s, unsigned side, const struct option_message *request, unsigned i,
		 const struct subset subsets[3])
{
	struct characteristic want = request->want.list[i];
	bool done = subset_has(subsets[0], i), rejected = subset_has(subsets[1], i);
	unsigned in = done + rejected + subset_has(subsets[2], i);

	if (in != 1)
		judge_violation(s->hearing,
				"the response to 0x%08x has element %u in %u of its subsets",
				request->xid, i, in);
	else if (done)
		learn(s, side, want);
	if (want.which != RECEIVE_BYTES)
		return;
	if (in == 1 && done)
		limits_granted(&s->limits, side, want.value, request->xid);
	else if (in != 1 || rejected)
		limits_refused(&s->limits, side, request->xid);
}

static void take_response(struct session *s, unsigned side, uint32_t xid, struct cursor *c)
{
	struct options_end *asker = &s->options.end[!side];
	struct option_message **link = find(asker, xid, OPTION_REQUEST);
	struct subset subsets[3];

	for (unsigned i = 0; i < 3; i++)
		subsets[i] = subset_take(c);
	if (c->bad || c->left)
		return;
	if (!*link) {
		judge_violation(s->hearing, "a response to 0x%08x, which is no request", xid);
		return;
	}
	for (unsigned i = 0; i < (*link)->want.count; i++)
		fate(s, side, *link, i, subsets);
	release(*link, &s->book.page[!side]);
	drop(asker, link);
}

/* ---------------------------------------------------------------- RDMA_OPTIONAL */

/* Takes the message apart; what an operation that is not known carries is its own affair. */
static void take(struct session *s, unsigned side, const struct header *h, struct option_message *m)
{
	struct cursor c = {h->info, h->info_len, false};

	switch (h->option) {
	case OPTION_INIT:
		take_init(s, side, &c);
		break;
	case OPTION_REQUEST:
		m->waits = true;
		take_request(s, side, h->xid, &c, &m->want);
		break;
	case OPTION_RESPOND:
		take_response(s, side, h->xid, &c);
		break;
	case OPTION_UPDATE:
		take_update(s, side, &c);
		break;
	default:
		m->waits = true;
		return;
	}
	m->broken = c.bad || c.left;
	if (m->broken)
		judge_violation(s->hearing, "operation %u of RDMA_OPTIONAL 0x%08x is malformed",
				h->option, h->xid);
	else if (h->body_len)
		judge_violation(s->hearing, "%zu bytes behind operation %u of RDMA_OPTIONAL 0x%08x",
				h->body_len, h->option, h->xid);
}

/*
 * Credits: the initiator takes one, which comes back with the answer, or where none must come with
 * the next message of the acceptor; the acceptor has none to take, and sends no second message
 * before it has heard from the initiator.
 */
void options_message(struct session *s, unsigned side, const struct header *h,
		     struct book_moment then)
{
	struct options_end *end = &s->options.end[side];
	struct option_message *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	s->hearing->judge->optionals++;
	m->xid = h->xid;
	m->option = h->option;
	m->broken = h->malformed;
	m->waits = h->malformed;
	if (!h->malformed)
		take(s, side, h, m);
	*end->messages_end = m;
	end->messages_end = &m->next;
	if (side == 0) {
		book_credit(s->hearing, &s->book, 0, "RDMA_OPTIONAL", h->xid, then);
		m->holds = m->waits || !s->heard[side];
		s->book.page[0].held += m->holds;
		return;
	}
	book_grant(s->hearing, &s->book, 0, h->credit);
	if (h->option == OPTION_RESPOND)
		return;
	if (end->silent)
		judge_violation(s->hearing,
				"RDMA_OPTIONAL 0x%08x, and nothing was heard since the last one",
				h->xid);
	end->silent = !s->heard[side];
}

bool options_error(struct session *s, unsigned side, const struct header *h)
{
	struct options_end *asker = &s->options.end[!side];
	struct option_message **link = find(asker, h->xid, 0), *m = *link;

	if (!m)
		return false;
	if (h->error == ERR_OPTION && s->options.end[side].requests &&
	    (m->option == OPTION_RESPOND || m->option == OPTION_UPDATE || m->option == OPTION_INIT))
		judge_violation(s->hearing, "%s knows requests, and not operation %u",
				judge_side(side), m->option);
	if (h->error == ERR_HEADER && !m->broken &&
	    (m->option < OPTION_INIT || m->option > OPTION_UPDATE))
		judge_violation(s->hearing, "operation %u of 0x%08x is called a bad header",
				m->option, m->xid);
	if (m->option == OPTION_REQUEST)
		limits_refused(&s->limits, side, m->xid);
	release(m, &s->book.page[!side]);
	drop(asker, link);
	return true;
}
