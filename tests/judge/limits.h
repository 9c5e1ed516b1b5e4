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

/* What one end has said. */
struct limits_end {
	/* Its receives: by private data (RFC 8797), else version one's default; by the others, or zero. */
	uint32_t private_bytes;
	uint32_t config_bytes; /* the Connection Configuration Protocol */
	uint32_t rbsiz;        /* its characteristics */
	uint32_t asked; /* what it asked the peer's to become, if that still binds it; or zero */
	uint32_t asked_xid; /* where it did */
	bool speaks_two;    /* it has said so, or shown it */
	bool invalidates;   /* its private data invite Sends with Invalidate */
	bool has_ird, has_config_reads;
	uint32_t ird, config_reads; /* RDMA Reads that it answers at once */
};

struct limits {
	struct limits_end end[2];
};

void limits_init(struct limits *limits);
/** limits_send - how many bytes a Send of @side in @version may have. */
uint32_t limits_send(const struct limits *limits, unsigned side, uint32_t version);
/** limits_reads - how many RDMA Reads @side may have under way. */
uint32_t limits_reads(const struct limits *limits, unsigned side);
/** limits_announce - @side's receives are now of @bytes, it says. False: that is less, and nobody asked. */
bool limits_announce(struct limits *limits, unsigned side, uint32_t bytes);
/** limits_ask - @side asks for receives of @bytes, and keeps to that if they are fewer. */
void limits_ask(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid);
/** limits_granted - @side does what it was asked for by a message of @xid. */
void limits_granted(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid);
/** limits_refused - @side does not do what it was asked for by a message of @xid. */
void limits_refused(struct limits *limits, unsigned side, uint32_t xid);
/** limits_settled - what @side was asked for is no longer pending. */
void limits_settled(struct limits *limits, unsigned side);
/** limits_config - the ends have exchanged a configuration; @bytes and @reads by the end that said them. */
void limits_config(struct limits *limits, const uint32_t bytes[2], const uint32_t reads[2]);

#endif
