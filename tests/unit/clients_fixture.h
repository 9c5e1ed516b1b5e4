/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a table of clients, and connections from clients. */
#ifndef TESTS_UNIT_CLIENTS_FIXTURE_H
#define TESTS_UNIT_CLIENTS_FIXTURE_H

#include "base/loop.h"
#include "daemon/service/clients.h"

#define PINS_MAX 100u

/* Somebody who has connected. */
struct guest {
	struct client *client;
	uint16_t source; /* of its upstream connection, when it leaves, or as it was found */
	unsigned superseded, resumed;
	unsigned asked;          /* by hear_end() */
	struct loop_task *hears; /* what it does when it is asked for an end; NULL: nothing */
};

extern struct loop *loop;
extern struct clients *clients;
extern bool post_fails; /* no message reaches an owner */
/* How many were asked by hear_end() before the next post, at most: a round posts itself for each of its turns. */
extern unsigned asked_in_turn, most_asked_in_turn;

/** clients_setup - an empty table for PINS_MAX pins, on a fake loop. */
void clients_setup(void);
/** clients_teardown - nobody is in it. */
void clients_teardown(void);
/** in4 - an IPv4 address and port. */
struct sockaddr_storage in4(const char *addr, uint16_t port);
/** enter_between - @guest connects between any ends. */
void enter_between(struct guest *guest, const struct client_ends *ends);
/** enter - @guest connects, over TCP if @fabric is NULL. */
void enter(struct guest *guest, const char *addr, uint16_t port, const void *fabric);
/** seek - what clients_seek() says now; @port is what it found. */
enum client_found seek(struct guest *guest, const struct call_mark *first, uint16_t *port);
/** seek_on - what it says when the ends of others have been heard. */
enum client_found seek_on(struct guest *guest, const struct call_mark *first, uint16_t *port);
/** leave - @guest goes, and its upstream connection had @port. */
void leave(struct guest *guest, uint16_t port);
/** call - the mark of a Call. */
struct call_mark call(uint32_t xid);
/** pass - a connection that came and went, with one Call, answered or not; 0: without one. */
void pass(const char *addr, uint16_t client_port, uint16_t port, uint32_t xid, bool answered);
/** ask - what a connection gets that comes, asks, and goes without having used it. */
enum client_found ask(const char *addr, uint16_t client_port, uint32_t xid, uint16_t *port);

#endif
