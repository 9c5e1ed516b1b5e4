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

/** fixture_setup - Creates a directory for files; no proxy yet. */
void fixture_setup(void);
/** fixture_teardown - Stops the running proxies, and cleans up. */
void fixture_teardown(void);

/** fixture_port - Returns an unused port of 127.0.0.1. */
uint16_t fixture_port(void);
/**
 * fixture_start - Starts a proxy, or a second one, whose file's services are @services: "{ … }, { …
 * }".
 */
void fixture_start(const char *services, ...) PRINTF_LIKE(1, 2);
extern unsigned fixture_workers;    /* that files say */
extern const char *fixture_globals; /* further keys of theirs */

/** fixture_rewrite - Changes the file of the first one; @globals: further keys. */
void fixture_rewrite(const char *globals, const char *services, ...) PRINTF_LIKE(2, 3);
/**
 * fixture_block_file - Replaces the first one's file by a pipe: a reader blocks, as for a hanging
 * mount.
 */
void fixture_block_file(void);
/** fixture_await_reader - Waits until a thread reads the file, and is blocked. */
void fixture_await_reader(void);
/**
 * fixture_unblock_file - Ends the wait with a file that has an error for the blocked reader, and
 * restores the file; or after fixture_stop().
 */
void fixture_unblock_file(void);
/** fixture_stop - Stops them as SIGTERM does. */
void fixture_stop(void);
/** fixture_connections - Returns how many clients they have. */
unsigned fixture_connections(void);

/** fixture_listen - Starts a server on 127.0.0.1:@port. */
int fixture_listen(uint16_t port);
/** fixture_accept - Accepts its next connection; @from is the source port. */
int fixture_accept(int listener, uint16_t *from);
/**
 * fixture_accept_call - Accepts the connection with the Call @xid of send_call(), and reads that
 *
 * Also answers a NULL with which the proxy checks the server, after a connection that closed
 * without a Reply.
 */
int fixture_accept_call(int listener, uint32_t xid, uint16_t *from);
/** fixture_is_quiet - Returns whether no connection or byte arrives at @fd for @ms. */
bool fixture_is_quiet(int fd, int ms);
/** fixture_connect - Connects a client to 127.0.0.1:@port. */
int fixture_connect(uint16_t port);
/** fixture_connect_from - The same, from source port @from. */
int fixture_connect_from(uint16_t from, uint16_t port);
/** fixture_reset - Closes @fd with a reset. */
void fixture_reset(int fd);

/** send_call - Sends a Call of @xid with @args_bytes of arguments, to an unknown program. */
void send_call(int fd, uint32_t xid, size_t args_bytes);
/**
 * send_call_to - Sends a Call of @xid to procedure 0 of a program, version 3, with @args_bytes that
 * it ignores.
 */
void send_call_to(int fd, uint32_t xid, uint32_t program, size_t args_bytes);
/** send_reply - Sends an accepted Reply with @result_bytes of results. */
void send_reply(int fd, uint32_t xid, size_t result_bytes);
/** read_message - Reads the next record, a whole Call or Reply of @xid; returns its length. */
size_t read_message(int fd, uint32_t xid);
/** read_stat - Reads the next record, an accepted Reply to @xid; returns its accept_stat. */
uint32_t read_stat(int fd, uint32_t xid);
/** read_any - Reads the next record, whatever its @xid; returns its length. */
size_t read_any(int fd, uint32_t *xid);
/** read_end - Reads up to the peer's FIN or reset. */
void read_end(int fd);

/**
 * control_send, control_answer - control_ask() in two steps; the second closes what the first
 * opened.
 */
int control_send(const char *request);
struct json_t *control_answer(int fd);
/**
 * control_try_answer - As control_answer(); returns NULL if the daemon has closed the connection
 * before.
 */
struct json_t *control_try_answer(int fd);
/** control_ask - Returns the control socket's answer; the caller releases it with json_decref(). */
struct json_t *control_ask(const char *request);
/**
 * try_read_any - Reads the next message; returns false if the connection has ended, or ends inside
 * a message.
 */
bool try_read_any(int fd, uint32_t *xid);

#endif
