/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks RDMA_OPTIONAL, and the characteristics that it carries
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00).
 */
#ifndef TESTS_JUDGE_OPTIONS_H
#define TESTS_JUDGE_OPTIONS_H

#include "tests/judge/book.h"
#include "tests/judge/characteristics.h"
#include "tests/judge/header.h"

struct session;

enum option { OPTION_INIT = 1, OPTION_REQUEST, OPTION_RESPOND, OPTION_UPDATE };

/* A message that may still be answered, by a response or by an error. */
struct option_message {
	struct option_message *next;
	uint32_t xid;
	uint32_t option;
	bool broken; /* it does not decode */
	bool waits;  /* an answer must come */
	bool holds; /* a credit, until the answer, or where none must come until the peer's next message */
	struct characteristics want; /* of a request */
};

/* What one end has said. */
struct options_end {
	struct option_message *messages, **messages_end;
	uint32_t value[CHARACTERISTICS_KNOWN];
	bool constant[CHARACTERISTICS_KNOWN];
	bool invalidates;  /* it has ever invited Sends with Invalidate */
	uint32_t backward; /* the most of BACKWARD_* that it has ever said */
	bool requests;     /* it has sent a request, and so must know responses and updates */
	bool silent;       /* it has sent a message of its own accord, and heard nothing since */
};

struct options {
	struct options_end end[2];
};

void options_init(struct options *options);
void options_fini(struct options *options);
/** options_waiting - how many messages lack the answer that they must have. */
unsigned options_waiting(const struct options *options);
/** options_has - whether @side has sent an RDMA_OPTIONAL that an answer with @xid may be for. */
bool options_has(const struct options *options, unsigned side, uint32_t xid);
/** options_message - judge an RDMA_OPTIONAL of @side; @then is what it knew when it began. */
void options_message(struct session *s, unsigned side, const struct header *h,
		     struct book_moment then);
/** options_error - @side answers an RDMA_OPTIONAL of the other with an RDMA_ERROR; false: there is none. */
bool options_error(struct session *s, unsigned side, const struct header *h);
/** options_heard - @side hears a message of the other's, whatever it is: credits come back. */
void options_heard(struct session *s, unsigned side);
/** options_give_up - @side calls in version one: what it sent of version two holds no credit any longer. */
void options_give_up(struct session *s, unsigned side);

#endif
