/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a table of clients, and connections from clients. */
#ifndef TESTS_UNIT_CLIENT_AFFINITY_FIXTURE_H
#define TESTS_UNIT_CLIENT_AFFINITY_FIXTURE_H

#include "base/loop.h"
#include "daemon/service/client_affinity.h"

#define PINS_MAX 100u

/* A connected client. */
struct guest {
	struct affinity_client *client;
	uint16_t source; /* of its upstream connection, when it leaves, or as it was found */
	unsigned superseded, resumed;
	unsigned asked;          /* by check_peer_close() */
	struct loop_task *hears; /* called when it is asked to close; NULL: nothing */
};

extern struct loop *loop;
extern struct client_affinity *clients;
extern bool post_fails; /* no message reaches an owner */
/*
 * The largest number of clients notified by check_peer_close() before the next post: a round posts itself
 * for each of its turns.
 */
extern unsigned asked_in_turn, most_asked_in_turn;

/** clients_setup - Creates an empty table for PINS_MAX retained ports, on a fake loop. */
void clients_setup(void);
/** clients_teardown - Frees the table, which must be empty. */
void clients_teardown(void);
/** in4 - Returns an IPv4 address and port. */
struct sockaddr_storage in4(const char *addr, uint16_t port);
/** enter_between - Connects @guest between any ends. */
void enter_between(struct guest *guest, const struct client_endpoints *ends);
/** enter - Connects @guest, over TCP if @fabric is NULL. */
void enter(struct guest *guest, const char *addr, uint16_t port, const void *fabric);
/** seek - Returns what client_affinity_find() returns now; @port is the port that it found. */
enum affinity_result seek(struct guest *guest, const struct call_fingerprint *first,
			  uint16_t *port);
/** seek_on - Returns its result after the ends of other connections have been processed. */
enum affinity_result seek_on(struct guest *guest, const struct call_fingerprint *first,
			     uint16_t *port);
/** leave - Disconnects @guest, whose upstream connection had @port. */
void leave(struct guest *guest, uint16_t port);
/** call - Returns the fingerprint of a Call. */
struct call_fingerprint call(uint32_t xid);
/** pass - Connects and disconnects a client with one Call, answered or not; 0: without one. */
void pass(const char *addr, uint16_t client_port, uint16_t port, uint32_t xid, bool answered);
/**
 * ask - Returns the result for a client that connects, asks, and disconnects without using the
 * port.
 */
enum affinity_result ask(const char *addr, uint16_t client_port, uint32_t xid, uint16_t *port);

#endif
