/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of a chain in one process: TCP connections that carry records, in one poll loop.
 *
 * A test has the clients and the server of the proxies together, so that each step waits for a
 * condition, and nothing sleeps. An event that cannot occur in a passing test ends the program.
 */
#ifndef TESTS_E2E_NET_H
#define TESTS_E2E_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define NET_LOOPBACK  0x7f000001u
#define NET_LOOPBACK2 0x7f000002u

struct buf {
	uint8_t *data;
	size_t len, cap;
};

struct conn {
	TAILQ_ENTRY(conn) entry;
	struct net *net;
	int fd;
	struct buf in, out;
	size_t out_sent;
	bool raw;    /* bytes are delivered as they arrive, not as records */
	bool paused; /* nothing is read */
	bool closed; /* the peer closed or reset it; conn_free() is still needed */
	bool reset;  /* it did so with a RST */
	uint16_t local_port, peer_port;
	uint32_t peer_addr;
	/* Called with a record, without its mark; or with any bytes if @raw. */
	void (*received)(struct conn *conn, const uint8_t *data, size_t len);
	void (*ended)(struct conn *conn);
	void *arg;
};

struct listener {
	TAILQ_ENTRY(listener) entry;
	int fd;
	void (*accepted)(struct conn *conn);
	void *arg;
};

struct net {
	TAILQ_HEAD(, conn) conns;
	TAILQ_HEAD(, listener) listeners;
	unsigned long moved; /* bytes sent and received, and connections accepted: progress */
};

/** fail - Prints why on standard error and ends the program with 1. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

void buf_put(struct buf *buf, const void *data, size_t len);
void buf_u32(struct buf *buf, uint32_t value);
void buf_u64(struct buf *buf, uint64_t value);
/** buf_words - Appends the same word @count times. */
void buf_words(struct buf *buf, unsigned count, uint32_t value);
/** buf_opaque - Appends an XDR opaque: length, bytes, pad. */
void buf_opaque(struct buf *buf, const void *data, size_t len);
void buf_free(struct buf *buf);

void net_init(struct net *net);
void net_free(struct net *net);
/**
 * net_listen - Listens; accepted() gets each connection and sets its received(), ended() and arg.
 */
void net_listen(struct net *net, uint16_t port, void (*accepted)(struct conn *conn), void *arg);
/** net_listen_at - The same at another address of this host. */
void net_listen_at(struct net *net, uint32_t addr, uint16_t port,
		   void (*accepted)(struct conn *conn), void *arg);
/** net_connect - Connects to 127.0.0.1:@port, from @from_addr:@from_port where they are not 0. */
struct conn *net_connect(struct net *net, uint16_t port, uint32_t from_addr, uint16_t from_port);
/**
 * net_try_connect - The same; returns NULL while an old connection between the same two ports still
 * exists.
 */
struct conn *net_try_connect(struct net *net, uint16_t port, uint32_t from_addr,
			     uint16_t from_port);
/** net_turn - Runs one loop iteration, of @ms at most. */
void net_turn(struct net *net, int ms);
/**
 * net_run_until - Runs the loop until @done returns true; returns false after @seconds in which no
 * byte has moved
 *
 * @seconds are those of an idle machine: see tests/lib/time_limit.h.
 */
bool net_run_until(struct net *net, bool (*done)(void *arg), void *arg, unsigned seconds);

/** conn_send - Queues bytes unchanged. */
void conn_send(struct conn *conn, const void *data, size_t len);
/** conn_send_record - Queues one record in one fragment. */
void conn_send_record(struct conn *conn, const void *data, size_t len);
/** conn_shut - Sends a FIN once the queue is empty; the other direction stays open. */
void conn_shut(struct conn *conn);
/** conn_free - Closes, with a RST if @reset; accepts NULL. */
void conn_free(struct conn *conn, bool reset);

#endif
