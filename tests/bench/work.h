/* SPDX-License-Identifier: BSD-3-Clause */
/* The RPCs of the load generator: one Call and its Reply, repeated. */
#ifndef TESTS_BENCH_WORK_H
#define TESTS_BENCH_WORK_H

#include <stdio.h>

#include "tests/e2e/message.h"

#define WORK_LARGE_BYTES (1u << 20)
#define WORK_SMALL_BYTES 4096u

/* Messages without record marks; their XID is 0, to be overwritten in each sent copy. */
struct work {
	struct buf call, reply;
	/* Sent once on a new connection; can be empty. */
	struct buf opening_call, opening_reply;
	uint32_t data_bytes; /* of a READ or WRITE of NFSv3 */
};

/**
 * work_init - build the messages of a work; work_fini() them
 * @name: getattr, read or write of NFSv3; compound-read or compound-getattr of NFSv4.1. Behind read and write there may
 *        be how many bytes: "read:16384"; else they are WORK_LARGE_BYTES
 *
 * Returns false if there is no work of that name, or not of so many bytes; @work is then untouched.
 */
bool work_init(struct work *work, const char *name);
void work_fini(struct work *work);

/** work_names_print - Prints the names of all works, separated by blanks. */
void work_names_print(FILE *to);

#endif
