/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture of the tests of the TCP leg: a leg on one end of a socket, the test on the other. */
#ifndef TESTS_UNIT_TCP_LEG_FIXTURE_H
#define TESTS_UNIT_TCP_LEG_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "rpctcp/tcp_leg.h"
#include "stream/tcp_stream.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/lib/test_budget.h"

#define FIXTURE_MAX_MESSAGE (2u * 1024u * 1024u)
#define FIXTURE_BUDGET      (64u * 1024u * 1024u)
#define FIXTURE_MAX_SEEN    2048
#define FIXTURE_STALL_US    60000000u
#define FIXTURE_CONNECT_US  10000000u

/*
 * All events of the leg. Exchanges stay here, with their reference, until the test forwards them.
 */
struct seen {
	unsigned requested, opened, closing, closed, call_ready, half_closed, notes;
	enum leg_close why;
	int close_errno;
	char detail[200];
	struct exchange *calls[FIXTURE_MAX_SEEN];
	unsigned ncalls;
	struct exchange *replies[FIXTURE_MAX_SEEN];
	unsigned nreplies;
};

extern struct seen seen;
extern struct leg *leg;
extern int peer; /* the test's end of the socket; non-blocking */
extern struct tcp_leg_config config;
extern struct tcp_worker worker;
extern struct tcp_stream_net sockets;
extern struct test_budget budget;

/** fixture_setup, fixture_teardown - For each test; teardown asserts that nothing is left over. */
void fixture_setup(void);
void fixture_teardown(void);
/**
 * fixture_accept - Makes a leg on an accepted connection; fixture_open() also opens it, by a first
 * Call.
 */
void fixture_accept(void);
void fixture_open(void);
/** fixture_connect - Makes a leg that has connected to the test. */
void fixture_connect(void);
/** fixture_listen - Returns a listening socket on the loopback; sets @addr. */
int fixture_listen(int backlog, struct sockaddr_storage *addr);

/** turn - Runs one loop iteration, without sleeping; fails the test if the state never comes. */
void turn(void);
#define RUN_UNTIL(cond)                                                                            \
	do {                                                                                       \
		turn();                                                                            \
	} while (!(cond))
/** advance_us - Moves the time, which otherwise stands still, and calls settle(). */
void advance_us(uint64_t us);
/** settle - Runs enough iterations for everything in transit through sockets of this host. */
void settle(void);

/** put_call - Writes a Call of @len_bytes (at least 40) to @to; @seed determines its arguments. */
void put_call(uint8_t *to, uint32_t xid, uint32_t len_bytes, uint8_t seed);
/** put_reply - Writes an accepted Reply of @len_bytes (at least 24). */
void put_reply(uint8_t *to, uint32_t xid, uint32_t len_bytes, uint8_t seed);
void put_word(uint8_t *to, uint32_t word);
uint32_t get_word(const uint8_t *from);

/** peer_write - Writes bytes, running the loop while the socket is full. */
void peer_write(const uint8_t *bytes, size_t len_bytes);
/** peer_send_record - Writes one record in one fragment. */
void peer_send_record(const uint8_t *msg, uint32_t len_bytes);
/**
 * peer_send_fragments - Writes fragments of @step bytes, each after an empty one as long as those
 * are allowed.
 */
void peer_send_fragments(const uint8_t *msg, uint32_t len, uint32_t step);
/** peer_send_call, peer_send_reply - As put_call() and put_reply(), in one record. */
void peer_send_call(uint32_t xid, uint32_t len_bytes, uint8_t seed);
void peer_send_reply(uint32_t xid, uint32_t len_bytes, uint8_t seed);
/** peer_read - Reads exactly @len_bytes, running the loop. */
void peer_read(uint8_t *to, size_t len_bytes);
/**
 * peer_read_record - Reads one record of one fragment; the message is valid until the next call.
 */
const uint8_t *peer_read_record(uint32_t *len_bytes);
/** peer_expect_reply - Reads the Reply to @xid that put_reply() makes. */
void peer_expect_reply(uint32_t xid, uint32_t len_bytes, uint8_t seed);
/** peer_expect_system_err - Reads SYSTEM_ERR for @xid. */
void peer_expect_system_err(uint32_t xid);
/** peer_expect_alive - Checks that the connection is open, and nothing is held. */
void peer_expect_alive(void);
/** peer_at_end - Returns whether the leg has sent its FIN, or reset the connection. */
bool peer_at_end(void);

/** expect_call - Checks that @x is the Call that put_call() makes. */
void expect_call(const struct exchange *x, uint32_t xid, uint32_t len_bytes, uint8_t seed);
/** answer_call - Fills in a Reply and passes it to the leg, with the reference. */
void answer_call(unsigned index, uint32_t len_bytes, uint8_t seed);
/** send_call - Passes an exchange as another leg would make it to leg_call(). */
void send_call(uint32_t xid, uint32_t len_bytes, uint8_t seed, uint32_t reply_max_bytes);
/** pool_in_use - Returns the bytes of the pool in buffers. */
size_t pool_in_use(void);

#endif
