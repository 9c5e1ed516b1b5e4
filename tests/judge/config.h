/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6). */
#ifndef TESTS_JUDGE_CONFIG_H
#define TESTS_JUDGE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/judge/book.h"

struct session;

/* The exchange in progress. */
struct config {
	bool open;
	uint32_t xid;
	uint32_t reply_bytes, reads; /* the initiator's values */
};

/**
 * config_call - Judges a Call of the initiator, which is part of the protocol or made during it.
 */
void config_call(struct session *s, uint32_t xid, const uint8_t *msg, size_t len,
		 struct book_moment then);
/** config_reply - Handles the acceptor's Reply to a Call; without a message if @msg is NULL. */
void config_reply(struct session *s, uint32_t xid, const uint8_t *msg, size_t len);

#endif
