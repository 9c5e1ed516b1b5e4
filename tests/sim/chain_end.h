/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of a chain: an NFS client and an NFS server that speak record-marked RPC on a stream in
 * memory.
 *
 * Both have all RPCs of the scenario, by XID, in one book. An end compares each Call and Reply that
 * it receives with the book, byte for byte. It answers a Call by the Reply in the book.
 */
#ifndef TESTS_SIM_CHAIN_END_H
#define TESTS_SIM_CHAIN_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/nfs/rows.h"
#include "tests/sim/record_end.h"

#define CHAIN_CLIENT   0u
#define CHAIN_SERVER   1u

#define CHAIN_RPCS_MAX 512u

/* One RPC: its messages, and the outcome. */
struct chain_rpc {
	uint8_t *call, *reply;
	uint32_t call_bytes, reply_bytes;
	unsigned from;              /* the end that calls */
	bool is_refused;            /* the Call must be answered SYSTEM_ERR instead of the Reply */
	unsigned arrived, answered; /* how often the Call and the Reply arrived, whole */
	bool is_held;               /* the Call waits for chain_end_answer() */
	bool is_early;              /* its Reply went before all of the Call had come */
};

struct chain_book {
	struct chain_rpc list[CHAIN_RPCS_MAX];
	unsigned count;
};

/**
 * chain_book_add - Adds an RPC with that Call and that Reply, and an XID of its own; returns its
 * number.
 */
unsigned chain_book_add(struct chain_book *book, unsigned from, const struct row_built *built);
/** chain_book_add_row - The same for a row, named "NFSv3 6" as in tests/nfs. */
unsigned chain_book_add_row(struct chain_book *book, unsigned from, const char *name);
/**
 * chain_book_add_sized - Adds an NFSv3 WRITE of @call_bytes of data, or if that is 0 a READ of
 * @reply_bytes.
 */
unsigned chain_book_add_sized(struct chain_book *book, unsigned from, uint32_t call_bytes,
			      uint32_t reply_bytes);
/** chain_book_add_read - Adds an NFSv3 READ of @asked_bytes that is answered with @given_bytes. */
unsigned chain_book_add_read(struct chain_book *book, unsigned from, uint32_t asked_bytes,
			     uint32_t given_bytes);
/** chain_book_fini - Frees the messages. */
void chain_book_fini(struct chain_book *book);

struct chain_end {
	struct chain_book *book;
	unsigned number;         /* CHAIN_CLIENT or CHAIN_SERVER */
	bool hold;               /* Calls are not answered at once */
	bool early;              /* Calls are answered as soon as their first bytes have arrived */
	unsigned calls, replies; /* that arrived whole */
	struct record_end wire;
};

/** chain_end_init - Initializes an end that is not connected; it must not move. */
void chain_end_init(struct chain_end *end, struct chain_book *book, unsigned number);
/** chain_end_call - Sends the Call of an RPC of the book. */
void chain_end_call(struct chain_end *end, unsigned rpc);
/** chain_end_answer - Answers all Calls that `hold` has kept. */
void chain_end_answer(struct chain_end *end);

#endif
