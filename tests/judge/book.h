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
	bool misversioned; /* in another version than the connection's: it must be rejected */
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
	unsigned held;  /* credits that RDMA_OPTIONALs hold */
};

/* The Calls of one connection, by the side that makes them. */
struct book {
	bool credits; /* they are Calls of RPC-over-RDMA */
	struct book_page page[2];
};

/* The state of a side when it began to send a message. */
struct book_moment {
	unsigned outstanding;
	unsigned held; /* of these, by RDMA_OPTIONALs */
	uint32_t grant;
};

/* A Reply, or an error in its place. */
struct book_answer {
	uint32_t xid;
	uint32_t version;  /* in which it must answer; zero: in any */
	uint32_t grant;    /* zero: it grants nothing */
	bool reads;        /* an RDMA_DONE must follow */
	uint32_t *handles; /* of its chunks, if so, which become the book's */
	unsigned handle_count;
};

enum book_kind { BOOK_CALL, BOOK_REPLY, BOOK_NEITHER };

void book_init(struct book *book, bool credits);
void book_fini(struct book *book);
/** book_now - Returns how many credits of @side are in use, and what it was granted. */
struct book_moment book_now(const struct book *book, unsigned side);
/** book_open_calls - Returns how many Calls wait. */
unsigned book_open_calls(const struct book *book);
/** book_undone - Returns how many Replies with read chunks wait for their RDMA_DONE. */
unsigned book_undone(const struct book *book);
/** book_kind - Returns the kind of an RPC message, once its first words have been judged. */
enum book_kind book_kind(struct hearing *hearing, const uint8_t *msg, size_t len);
/** book_is_config - Returns whether a Call is one of the Connection Configuration Protocol. */
bool book_is_config(const struct judge *judge, const uint8_t *msg, size_t len);
/** book_find - Returns the waiting Call of @side with @xid, or NULL. */
struct book_call *book_find(struct book *book, unsigned side, uint32_t xid);
/**
 * book_find_undone - Returns the Reply with @xid for which @side has not sent RDMA_DONE yet, or
 * NULL.
 */
struct book_call *book_find_undone(struct book *book, unsigned side, uint32_t xid);
/**
 * book_call - Records a Call of @side, whose handles become the book's; @then is its state when it
 * began.
 */
void book_call(struct hearing *hearing, struct book *book, unsigned side, struct book_call call,
	       struct book_moment then);
/** book_credit - Judges that @side uses one more credit; @what and @xid name the message. */
void book_credit(struct hearing *hearing, const struct book *book, unsigned side, const char *what,
		 uint32_t xid, struct book_moment then);
/** book_grant - Sets what @side can have outstanding from now on. */
void book_grant(struct hearing *hearing, struct book *book, unsigned side, uint32_t grant);
/** book_reply - Records @side's answer to a Call of the other side. */
void book_reply(struct hearing *hearing, struct book *book, unsigned side,
		struct book_answer answer);
/** book_done - Records that @side has Read the chunks of a Reply. */
void book_done(struct hearing *hearing, struct book *book, unsigned side, uint32_t xid);
/** book_message - Records a record of ONC RPC: a Call or a Reply of @side, by its type. */
void book_message(struct hearing *hearing, struct book *book, unsigned side, const uint8_t *msg,
		  size_t len);

#endif
