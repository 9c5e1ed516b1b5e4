/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of one RPC-over-RDMA connection. */
#ifndef TESTS_JUDGE_SESSION_H
#define TESTS_JUDGE_SESSION_H

#include "tests/judge/book.h"
#include "tests/judge/config.h"
#include "tests/judge/limits.h"
#include "tests/judge/options.h"
#include "tests/judge/versions.h"

/* The keys that an end is Reading from, once for each RDMA Read. */
struct session_reads {
	uint32_t *keys;
	unsigned count, room;
};

struct session {
	struct hearing *hearing;
	struct book book;
	struct limits limits;
	struct options options;
	struct versions versions;
	struct config config;
	struct session_reads reads[2];
	bool heard[2]; /* a side has received something since its last Send */
};

void session_init(struct session *s, struct hearing *hearing);
void session_fini(struct session *s);
/** session_read_begin - Handles that @side starts to Read from a key of the other. */
void session_read_begin(struct session *s, unsigned side, uint32_t key);
/** session_read_end - Handles that the Read is complete. */
void session_read_end(struct session *s, unsigned side, uint32_t key);
/** session_reads_any - Returns whether @side still Reads from one of these. */
bool session_reads_any(const struct session *s, unsigned side, const uint32_t *keys,
		       unsigned count);
/**
 * session_waits - Returns how many Calls, RDMA_DONEs and RDMA_OPTIONALs wait for a required
 * message.
 */
unsigned session_waits(const struct session *s);

#endif
