/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of the length of a Send and of the number of RDMA Reads in progress, as advertised by the
 * receiving end. A value applies from the time from which a document binds the peer to it, or lets
 * it rely on it: earlier messages are no violation.
 */
#ifndef TESTS_JUDGE_LIMITS_H
#define TESTS_JUDGE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* The values of one end. */
struct limits_end {
	/*
	 * Its Receives: by private data (RFC 8797), else version one's default; by later messages,
	 * or zero.
	 */
	uint32_t private_bytes;
	uint32_t config_bytes; /* the Connection Configuration Protocol */
	uint32_t rbsiz;        /* its characteristics */
	uint32_t asked;        /* the size requested of the peer, if that still binds it; or zero */
	uint32_t asked_xid;    /* the XID of that request */
	bool speaks_two;       /* it has said so, or shown it */
	bool invalidates;      /* its private data invite Sends with Invalidate */
	bool has_ird, has_config_reads;
	uint32_t ird, config_reads; /* RDMA Reads that it answers concurrently */
};

struct limits {
	struct limits_end end[2];
};

void limits_init(struct limits *limits);
/** limits_send - Returns how many bytes a Send of @side in @version can have. */
uint32_t limits_send(const struct limits *limits, unsigned side, uint32_t version);
/** limits_reads - Returns how many RDMA Reads @side can have in progress. */
uint32_t limits_reads(const struct limits *limits, unsigned side);
/**
 * limits_announce - Handles that @side advertises Receives of @bytes. Returns false if that is
 * less, without a request.
 */
bool limits_announce(struct limits *limits, unsigned side, uint32_t bytes);
/**
 * limits_ask - Handles that @side requests Receives of @bytes, and keeps to that if they are
 * smaller.
 */
void limits_ask(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid);
/** limits_granted - Handles that @side accepts the request in a message of @xid. */
void limits_granted(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid);
/** limits_refused - Handles that @side refuses the request in a message of @xid. */
void limits_refused(struct limits *limits, unsigned side, uint32_t xid);
/** limits_settled - Handles that the request to @side is no longer pending. */
void limits_settled(struct limits *limits, unsigned side);
/**
 * limits_config - Handles a configuration exchange; @bytes and @reads by the end that sent them.
 */
void limits_config(struct limits *limits, const uint32_t bytes[2], const uint32_t reads[2]);

#endif
