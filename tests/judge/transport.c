// SPDX-License-Identifier: BSD-3-Clause
/* The header of RPC-over-RDMA version 1 (RFC 8166 section 4). */
#include "tests/judge/bytes.h"
#include "tests/judge/judge.h"

#define FIXED_BYTES   16u
#define SEGMENT_BYTES 16u
#define MAX_SEGMENTS  4096u

enum { RDMA_MSG, RDMA_NOMSG, RDMA_MSGP, RDMA_DONE, RDMA_ERROR };

struct cursor {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static uint32_t next_word(struct cursor *c)
{
	uint32_t value;

	if (c->left < 4) {
		c->bad = true;
		return 0;
	}
	value = get_be32(c->at);
	c->at += 4;
	c->left -= 4;
	return value;
}

static bool next_bool(struct cursor *c)
{
	uint32_t value = next_word(c);

	if (value > 1)
		c->bad = true;
	return value == 1 && !c->bad;
}

static void skip_segments(struct cursor *c, uint32_t count)
{
	if (count > MAX_SEGMENTS || c->left / SEGMENT_BYTES < count) {
		c->bad = true;
		return;
	}
	c->at += count * SEGMENT_BYTES;
	c->left -= count * SEGMENT_BYTES;
}

/* The three lists; what stays is the RPC message. */
static void skip_lists(struct cursor *c)
{
	while (next_bool(c)) {
		next_word(c); /* the position */
		skip_segments(c, 1);
	}
	while (next_bool(c))
		skip_segments(c, next_word(c));
	if (next_bool(c))
		skip_segments(c, next_word(c));
}

/* ERR_VERS (1) brings two numbers of versions, ERR_CHUNK (2) nothing. */
static bool error_is_whole(struct cursor *c)
{
	uint32_t kind = next_word(c);

	if (kind == 1)
		return next_word(c) <= next_word(c) && !c->bad && !c->left;
	return kind == 2 && !c->left;
}

void transport_send(struct judge *judge, const struct tcp_conn *conn, struct book *book,
		    unsigned side, const uint8_t *msg, size_t len, struct book_moment then)
{
	struct cursor c = {msg, len, false};
	uint32_t xid = next_word(&c), version = next_word(&c);
	uint32_t credit = next_word(&c), proc = next_word(&c);

	if (len < FIXED_BYTES || version != 1 || !credit) {
		judge_violation(judge, conn, "a Send of %zu bytes: version %u, credit %u", len,
				version, credit);
		return;
	}
	switch (proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		skip_lists(&c);
		if (c.bad || (proc == RDMA_NOMSG && c.left)) {
			judge_violation(judge, conn, "the transport header of 0x%08x is malformed",
					xid);
		} else if (proc == RDMA_MSG) {
			if (c.left >= 4 && get_be32(c.at) != xid)
				judge_violation(judge, conn,
						"XIDs 0x%08x and 0x%08x in one message", xid,
						get_be32(c.at));
			book_message(judge, conn, book, side, c.at, c.left, credit, then);
		} else if (side == 0) {
			/* Without chunks nothing is left out, and only who connected calls with them. */
			book_call(judge, conn, book, side, xid, then);
		} else {
			book_reply(judge, conn, book, side, xid, credit);
		}
		break;
	case RDMA_ERROR:
		judge->errors++;
		if (!error_is_whole(&c))
			judge_violation(judge, conn, "the RDMA_ERROR of 0x%08x is malformed", xid);
		book_reply(judge, conn, book, side, xid, 0);
		break;
	default:
		judge_violation(judge, conn, "procedure %u of RPC-over-RDMA", proc);
	}
}
