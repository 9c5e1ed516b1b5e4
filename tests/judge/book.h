/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the Calls, Replies and credits of one connection. */
#ifndef TESTS_JUDGE_BOOK_H
#define TESTS_JUDGE_BOOK_H

#include "tests/judge/judge.h"

/* A Call that waits for a Reply; or a Reply with read chunks that waits for its RDMA_DONE. */
struct book_call {
	uint32_t xid;
	uint32_t version;  /* of RPC-over-RDMA; zero on TCP */
	bool config;       /* of the Connection Configuration Protocol */
	bool reply_chunk;  /* it offers one */
	bool misversioned; /* in another version than the connection's: it can be refused only */
	uint32_t *handles; /* of its chunks */
	unsigned handle_count;
};

struct book_list {
	struct book_call *calls;
	unsigned count, room;
};

/* The Calls that one end has made. */
struct book_page {
	struct book_list waiting, undone;
	uint32_t grant; /* one, until the first Reply grants more: RFC 8166 section 3.3.3 */
	unsigned held;  /* credits that RDMA_OPTIONALs have taken */
};

/* One connection's Calls, by the side that makes them. */
struct book {
	bool credits; /* they are RPC-over-RDMA's */
	struct book_page page[2];
};

/* What a side knew when it began to send a message. */
struct book_moment {
	unsigned outstanding;
	unsigned held; /* of these, by RDMA_OPTIONALs */
	uint32_t grant;
};

/* A Reply, or what takes its place. */
struct book_answer {
	uint32_t xid;
	uint32_t version;  /* in which it must answer; zero: in any */
	uint32_t grant;    /* zero: it grants nothing */
	bool reads;        /* it is to be followed by an RDMA_DONE */
	uint32_t *handles; /* of its chunks, if so, which become the book's */
	unsigned handle_count;
};

enum book_kind { BOOK_CALL, BOOK_REPLY, BOOK_NEITHER };

void book_init(struct book *book, bool credits);
void book_fini(struct book *book);
/** book_now - how many credits of @side are taken, and what it was granted. */
struct book_moment book_now(const struct book *book, unsigned side);
/** book_open_calls - how many Calls wait. */
unsigned book_open_calls(const struct book *book);
/** book_undone - how many Replies with read chunks wait for their RDMA_DONE. */
unsigned book_undone(const struct book *book);
/** book_kind - what an RPC message is, once its first words have been judged. */
enum book_kind book_kind(struct hearing *hearing, const uint8_t *msg, size_t len);
/** book_is_config - whether a Call is one of the Connection Configuration Protocol. */
bool book_is_config(const struct judge *judge, const uint8_t *msg, size_t len);
/** book_find - the Call of @side that waits with @xid, or NULL. */
struct book_call *book_find(struct book *book, unsigned side, uint32_t xid);
/** book_find_undone - the Reply with @xid of which @side still has to say that it has read it, or NULL. */
struct book_call *book_find_undone(struct book *book, unsigned side, uint32_t xid);
/** book_call - @side makes a Call, whose handles become the book's; @then is what it knew when it began. */
void book_call(struct hearing *hearing, struct book *book, unsigned side, struct book_call call,
	       struct book_moment then);
/** book_credit - judge that @side takes one more credit; @what and @xid name for what. */
void book_credit(struct hearing *hearing, const struct book *book, unsigned side, const char *what,
		 uint32_t xid, struct book_moment then);
/** book_grant - what @side may have outstanding from now on. */
void book_grant(struct hearing *hearing, struct book *book, unsigned side, uint32_t grant);
/** book_reply - @side answers a Call of the other's. */
void book_reply(struct hearing *hearing, struct book *book, unsigned side,
		struct book_answer answer);
/** book_done - @side has read the chunks of a Reply. */
void book_done(struct hearing *hearing, struct book *book, unsigned side, uint32_t xid);
/** book_message - a record of ONC RPC: a Call or a Reply of @side, as its type says. */
void book_message(struct hearing *hearing, struct book *book, unsigned side, const uint8_t *msg,
		  size_t len);

#endif
