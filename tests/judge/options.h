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

/* A message that can still be answered, by a response or by an error. */
struct option_message {
	struct option_message *next;
	uint32_t xid;
	uint32_t option;
	bool broken; /* it does not decode */
	bool waits;  /* an answer is required */
	bool holds; /* a credit, until the answer, or without a required answer until the peer's next message */
	struct characteristics want; /* of a request */
};

/* The state of one end. */
struct options_end {
	struct option_message *messages, **messages_end;
	uint32_t value[CHARACTERISTICS_KNOWN];
	bool constant[CHARACTERISTICS_KNOWN];
	bool invalidates;  /* it has ever invited Sends with Invalidate */
	uint32_t backward; /* the largest BACKWARD_* that it has sent */
	bool requests;     /* it has sent a request, so it must support responses and updates */
	bool silent;       /* it has sent a message unasked, and received nothing since */
};

struct options {
	struct options_end end[2];
};

void options_init(struct options *options);
void options_fini(struct options *options);
/** options_waiting - Returns how many messages lack their required answer. */
unsigned options_waiting(const struct options *options);
/** options_has - Returns whether an answer with @xid can belong to an RDMA_OPTIONAL of @side. */
bool options_has(const struct options *options, unsigned side, uint32_t xid);
/** options_message - Judges an RDMA_OPTIONAL of @side; @then is its state when it began. */
void options_message(struct session *s, unsigned side, const struct header *h,
		     struct book_moment then);
/**
 * options_error - Handles an RDMA_ERROR of @side for an RDMA_OPTIONAL of the other; returns false
 * if there is none.
 */
bool options_error(struct session *s, unsigned side, const struct header *h);
/** options_heard - Handles that @side receives any message of the other: releases credits. */
void options_heard(struct session *s, unsigned side);
/**
 * options_give_up - Handles that @side calls in version one: its version-two messages hold no
 * credit any longer.
 */
void options_give_up(struct session *s, unsigned side);

#endif
