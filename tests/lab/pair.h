/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of fabric_pair, and their common parts: two ends of a connection, waiting, work
 * requests and keys.
 */
#ifndef TESTS_LAB_PAIR_H
#define TESTS_LAB_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

#define RECV_BYTES 4096u
#define RECVS      64u
#define MANY       600u
#define BULK_BYTES (1u << 20)
#define WAIT_US    20000000u
#define WAIT_S     (WAIT_US / 1e6)
#define DEPTH      4u

/* One end of a connection, and its events. */
struct side {
	struct fabric_ep *ep;
	bool requested, established, closed, refuse;
	enum fabric_close why;
	char detail[128];
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned recvs;
	uint64_t recv_bytes;
	uint32_t next_number; /* Sends carry numbers, checked for order */
	bool out_of_order;
	struct fabric_recv last;
	void (*on_recv)(const struct fabric_recv *recv);
	unsigned refill; /* Receives to post again for each used one */
	unsigned unbound;
};

extern struct loop *loop;
extern struct buf_pool *pool;
extern struct fabric *fabric;        /* the server's, and mostly the client's */
extern struct fabric *client_fabric; /* the client's */
extern struct sockaddr_storage listen_addr;
extern const char *fabric_name;
extern unsigned cases, failures;
extern struct loop_timer *wait_timer;
extern struct side client, server;
extern struct side *incoming_side; /* the owner of the next incoming connection */
extern struct fabric_ep_params params_base;
extern const struct fabric_ep_events events;

/* Accepts the next incoming connections, if not incoming_side. */
extern void (*incoming_taken)(struct fabric_incoming *in);

/**
 * another_fabric - Returns another fabric of the tested kind, which retries a Send @rnr_retry
 * times; NULL if not available.
 */
struct fabric *another_fabric(struct loop *loop, struct buf_pool *pool, unsigned rnr_retry);
extern bool windows; /* the device has memory windows */
/**
 * refuses_sends - Returns whether the device refuses a Send that finds no Receive, so that it can
 * be retried.
 */
bool refuses_sends(void);

/* Why an endpoint closed: "refused", "lost" …. */
const char *close_name(enum fabric_close why);

/** result - Prints a line of TAP; if it is not ok, with the state of both ends. */
void result(bool ok, const char *name);

/** wait_check - The callback of wait_timer. */
void wait_check(void *arg);
/**
 * wait_until - Runs the loop until @condition holds; returns false if it does not within WAIT_S
 * (time_limit.h).
 */
bool wait_until(bool (*condition)(void));
/* Conditions. */
bool both_established(void);
bool both_closed(void);
bool all_done(void);
bool server_recv_all(void);
bool client_recv_all(void);
bool server_got_one(void);
extern unsigned recvs_want;
bool server_got_those(void);

/** on_incoming - The listener's callback. */
void on_incoming(void *arg, struct fabric_incoming *in);
/** connect_pair - Connects client and server; returns false on failure. */
bool connect_pair(void);
/** close_pair - Closes both and frees them. */
void close_pair(void);

/* Work requests since jobs_begin(). */
extern unsigned done_ok, done_failed, done_want;
extern bool done_disorder;
extern enum fabric_status done_last;
void jobs_begin(void);
/** job_post - Posts one; ordered ones must be posted in one call. Returns as fabric_post(). */
int job_post(struct side *side, enum fabric_wr_op op, struct buf *buf, uint32_t at,
	     uint32_t len_bytes, uint32_t rkey, uint64_t raddr);

/** pattern_buf - Returns a buffer whose contents @seed determines. */
struct buf *pattern_buf(size_t len_bytes, unsigned seed);
/** lend_from - Exposes a part of @buf to @side's peer. Returns as fabric_key_bind(). */
int lend_from(struct side *side, struct fabric_key *key, struct buf *buf, uint32_t at,
	      uint32_t len_bytes, unsigned rights);
/** lend - Exposes the server's memory. */
int lend(struct fabric_key *key, struct buf *buf, uint32_t at, uint32_t len_bytes, unsigned rights);
/** take_back - Unbinds it, and waits until that is done. */
bool take_back(struct fabric_key *key);
/** client_speaks - Sends the client's first message: over iWARP the acceptor waits for one. */
bool client_speaks(void);

/**
 * server_tells - Sends the server's message after it has posted its Receives; the client sends
 * first.
 */
bool server_tells(void);

/* The cases. */
void pair_connections(void);
void pair_sends(void);
void pair_keys(void);
void pair_probes(void);
void pair_workers(void);
void pair_sizes(unsigned times);

#endif
