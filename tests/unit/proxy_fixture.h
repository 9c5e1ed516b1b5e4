/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture of the tests of a whole proxy: the daemon's modules on loopback, and peers that speak raw
 * RPC.
 */
#ifndef TESTS_UNIT_PROXY_FIXTURE_H
#define TESTS_UNIT_PROXY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/proxy/proxy.h"
#include "tests/lib/test.h"

#define FIXTURE_CALL_BYTES  40u
#define FIXTURE_REPLY_BYTES 24u

extern struct proxy *proxy;   /* the first one that was started */
extern char control_path[64]; /* its own */

/** fixture_setup - a place for files; no proxy yet. */
void fixture_setup(void);
/** fixture_teardown - stop what runs, and clean up. */
void fixture_teardown(void);

/** fixture_port - a port of 127.0.0.1 on which nobody listens. */
uint16_t fixture_port(void);
/** fixture_start - run a proxy, or a second one, whose file's services are @services: "{ … }, { … }". */
void fixture_start(const char *services, ...) PRINTF_LIKE(1, 2);
extern unsigned fixture_workers;    /* that files say */
extern const char *fixture_globals; /* further keys of theirs */

/** fixture_rewrite - have the file of the first one say something else; @globals: further keys. */
void fixture_rewrite(const char *globals, const char *services, ...) PRINTF_LIKE(2, 3);
/** fixture_block_file - put a pipe in the place of the first one's file: who reads it waits, as for a mount that is gone. */
void fixture_block_file(void);
/** fixture_unblock_file - end the wait, with a file that has an error for who waited, and put the file back; or after fixture_stop(). */
void fixture_unblock_file(void);
/** fixture_stop - stop them as SIGTERM does. */
void fixture_stop(void);
/** fixture_connections - how many clients they have. */
unsigned fixture_connections(void);

/** fixture_listen - a server on 127.0.0.1:@port. */
int fixture_listen(uint16_t port);
/** fixture_accept - its next connection, and the port that it comes from. */
int fixture_accept(int listener, uint16_t *from);
/**
 * fixture_accept_call - take the connection on which the Call @xid of send_call() has come, and read that
 *
 * A NULL by which the proxy asks whether the server is well, after one that closed without a Reply, is answered.
 */
int fixture_accept_call(int listener, uint32_t xid, uint16_t *from);
/** fixture_is_quiet - whether no connection or byte waits at @fd for @ms. */
bool fixture_is_quiet(int fd, int ms);
/** fixture_connect - a client of 127.0.0.1:@port. */
int fixture_connect(uint16_t port);
/** fixture_connect_from - the same, which comes from port @from. */
int fixture_connect_from(uint16_t from, uint16_t port);
/** fixture_reset - close @fd with a reset. */
void fixture_reset(int fd);

/** send_call - a Call of @xid with @args_bytes of arguments, to a program that nobody knows. */
void send_call(int fd, uint32_t xid, size_t args_bytes);
/** send_call_to - a Call of @xid to procedure 0 of a program, of version 3, with @args_bytes that it has no use for. */
void send_call_to(int fd, uint32_t xid, uint32_t program, size_t args_bytes);
/** send_reply - an accepted Reply with @result_bytes of results. */
void send_reply(int fd, uint32_t xid, size_t result_bytes);
/** read_message - the next record, a whole Call or Reply of @xid; returns its length. */
size_t read_message(int fd, uint32_t xid);
/** read_stat - the next record, an accepted Reply to @xid; returns its accept_stat. */
uint32_t read_stat(int fd, uint32_t xid);
/** read_any - the next record, whatever its @xid; returns its length. */
size_t read_any(int fd, uint32_t *xid);
/** read_end - the peer's FIN or reset, after whatever else it sent. */
void read_end(int fd);

/** control_send, control_answer - control_ask() in two steps; the second closes what the first opened. */
int control_send(const char *request);
struct json_t *control_answer(int fd);
/** control_try_answer - as control_answer(); NULL if the daemon has ended the connection before. */
struct json_t *control_try_answer(int fd);
/** control_ask - what the control socket answers; to be released by json_decref(). */
struct json_t *control_ask(const char *request);
/** try_read_any - the next message; false if the connection has ended, or ends in the midst of one. */
bool try_read_any(int fd, uint32_t *xid);

#endif
