/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: two endpoints of the iwarp fabric and a listener over TCP on loopback, on one loop. */
#ifndef TESTS_UNIT_IWARP_ENDS_H
#define TESTS_UNIT_IWARP_ENDS_H

#include <netinet/in.h>

#include "daemon/base/loop.h"
#include "fabric/iwarp/iwarp.h"

struct end {
	struct fabric_ep *ep;
	struct fabric_ep_params params;
	unsigned requested, established, rejected, closed, recvs;
	enum fabric_close why;
	char detail[200], note[200];
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	uint8_t recv[4096];
	struct fabric_recv last;
	void (*step)(struct end *end); /* when established, and at each Send */
	bool reject;
};

struct ends {
	struct loop *loop;
	struct buf_pool *pool;
	struct fabric *fabric;
	struct fabric_listener *listener;
	struct sockaddr_storage address; /* that it listens on */
	struct loop_timer *watchdog;
	const struct fabric_ep_events
		*incoming_events; /* of the server: ends_events, or a test's own */
	struct end client, server;
	unsigned done;
	bool failed;
};

extern struct ends ends;
/*
 * Default actions of both ends: accept or reject, post a Receive for each used one, stop when both
 * have closed.
 */
extern const struct fabric_ep_events ends_events;
void ends_on_closed(void *arg, enum fabric_close why, const char *detail);
void ends_on_incoming(void *arg, struct fabric_incoming *in);

/**
 * ends_start - Creates a loop, a fabric with this configuration, and a listener; no connection yet.
 */
void ends_start(bool crc, enum iwarp_fpdu fpdu, const char *host, int family);
/**
 * ends_init - Resets an end to its state after ends_start(); frees what is left of its last
 * connection.
 */
void ends_init(struct end *end);
/** ends_connect - Connects the client; event_loop_run() then runs until both have closed. */
void ends_connect(void);
/** ends_stop - Frees everything; the watchdog must not have fired. */
void ends_stop(void);

#endif
