/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembles TCP connections of a capture: orders each side's bytes by sequence number, and passes
 * them on when the last missing byte has been captured.
 */
#ifndef TESTS_JUDGE_TCP_H
#define TESTS_JUDGE_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tcp_early; /* a segment that arrived out of order */

/* The bytes of one end. Positions count from the byte after its SYN. */
struct tcp_side {
	uint32_t addr;
	uint16_t port;
	bool synced; /* its SYN was seen: first is known */
	uint32_t first;
	uint64_t next;  /* how many bytes are in order */
	uint64_t acked; /* the highest acknowledgement of the other end */
	bool fin;
	struct tcp_early *early;
	uint8_t *data; /* in order, and not consumed yet */
	size_t len, room;
};

struct tcp_conn {
	struct tcp_conn *next;   /* the one that began before it */
	struct tcp_side side[2]; /* 0: the end that connected */
	bool begun;              /* its first SYN was captured */
	bool reset;
	unsigned again;       /* how many earlier connections had the same ends */
	uint64_t stray_bytes; /* payload of a connection that began before the capture */
	void *user;           /* the consumer's */
};

/**
 * tcp_data_fn - Handles ordered bytes of a side
 *
 * @side->data holds the bytes not consumed yet; returns how many of them are consumed now.
 */
typedef size_t tcp_data_fn(void *ctx, struct tcp_conn *conn, unsigned side, uint64_t at_us);

struct tcp {
	struct tcp_conn *conns; /* the newest first */
	tcp_data_fn *data;
	void *ctx;
};

/** tcp_packet - Processes an IPv4 packet; ignores everything but TCP. */
void tcp_packet(struct tcp *tcp, const uint8_t *ip, size_t len, uint64_t at_us);
/**
 * tcp_missing - Returns whether the other end has acknowledged bytes of this side that are not in
 * the capture.
 */
bool tcp_missing(const struct tcp_side *side);
/** tcp_free - Frees all connections, but not what their user members point to. */
void tcp_free(struct tcp *tcp);

#endif
