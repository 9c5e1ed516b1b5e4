/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: the server leg with a hand-made client, and functions for the client's actions. */
#ifndef TESTS_SIM_CLIENT_PEER_H
#define TESTS_SIM_CLIENT_PEER_H

#include "tests/lib/fake_nfs.h"
#include "tests/sim/raw.h"

extern struct rig *rig;
extern struct raw *raw;

/* The header being built, or the last one received, with the bytes after it. */
extern struct rpcrdma_header hdr;
extern const uint8_t *body;
extern uint32_t len;

extern const uint8_t pd_4096_inv[8];

/** open_with - Opens the server leg with a client that has that private data. */
void open_with(const uint8_t *pd, size_t n);
/** setup - Opens a client with 4096 bytes each way that supports remote invalidation. */
void setup(void);
/** setup_closed - Connects nothing yet: the test calls open_with(). */
void setup_closed(void);
/** teardown - Ends everything and checks that nothing leaked. */
void teardown(void);
/** begin - Starts a header in `hdr`, without lists. */
void begin(uint32_t xid, enum rpcrdma_proc proc);
/** add_read - Adds an exposed key to its read list. */
void add_read(uint32_t position, const struct fabric_key *key);
/** add_write - Adds an exposed key, or with NULL an empty chunk, to its write list. */
void add_write(const struct fabric_key *key);
/** set_reply_chunk - Makes an exposed key its reply chunk. */
void set_reply_chunk(const struct fabric_key *key);
/** send_call - Sends the header with an inline Call that asks for a Reply of @reply_bytes. */
void send_call(uint32_t call_bytes, uint32_t reply_bytes);
/** next - Decodes the next Send into `hdr`, `body` and `len`. */
void next(void);
/** expect_reply_bytes - Checks @n bytes of a Reply of @total, from @from on. */
void expect_reply_bytes(const uint8_t *got, uint32_t n, uint32_t from, uint32_t total,
			uint32_t xid);
/** expect_inline_reply - Checks that the next Send is a whole Reply inline. */
void expect_inline_reply(uint32_t xid, uint32_t n);
/**
 * expect_reply_beside_chunk - The same with a reply chunk of @nsegments, all of which are returned
 * with zero lengths.
 */
void expect_reply_beside_chunk(uint32_t xid, uint32_t n, unsigned nsegments);
/** expect_silence - Checks that no Send has arrived. */
void expect_silence(void);
/** expect_alive - Checks that the leg still answers: earlier messages have not harmed it. */
void expect_alive(void);
/** expect_closed - Checks that the leg has closed for this reason. */
void expect_closed(enum leg_close why);

#endif
