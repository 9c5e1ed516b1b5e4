/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of streams in memory, on any event loop, for tests.
 *
 * A net of pairs runs its events one per step: bytes, an EOF or a reset that arrives, a connection
 * that is accepted, and a ready event of one end. Faults occur at a step that the test chooses, or
 * as the seed decides, so each failure can be reproduced.
 *
 * The ends behave as TCP does. Bytes sent to a closed end cause a reset, and so does closing an end
 * that has unread bytes. A reset discards the bytes that have arrived and were not read, as on some
 * hosts.
 */
#ifndef TESTS_LIB_STREAM_PAIR_H
#define TESTS_LIB_STREAM_PAIR_H

#include "stream/stream.h"

#define PAIR_BUFFER_BYTES 65536u

/* Faults and limits. All zero: none, and all bytes arrive immediately. */
struct pair_faults {
	uint64_t seed;
	uint32_t buffer_bytes;    /* of each end, for what was sent to it; 0: PAIR_BUFFER_BYTES */
	uint32_t max_delay_us;    /* everything takes a random time up to this to arrive */
	bool short_reads;         /* a read takes from 1 byte to all that it could */
	bool short_writes;        /* a write likewise */
	uint32_t max_read_bytes;  /* largest read; 0: no limit */
	uint32_t max_write_bytes; /* … largest write */
	unsigned cut_at_step;  /* every connection breaks before the n-th step, from 1; 0: never */
	unsigned hook_at_step; /* before the n-th step, from 1, … */
	void (*hook)(void *arg); /* … this is called */
	void *hook_arg;
};

enum pair_answer { PAIR_ACCEPT, PAIR_REFUSE, PAIR_SILENT };

/* A server to which streams can connect. */
struct pair_server {
	/* Decides the outcome of a connection to @target. */
	enum pair_answer (*asked)(void *arg, const struct stream_target *target);
	/* Passes the far end of an accepted connection; the callee owns it. */
	void (*accepted)(void *arg, struct stream *stream);
	void *arg;
};

struct pair_net;

/**
 * pair_net_new - Creates a net of pairs on @loop; @faults is copied, and can be NULL. Returns NULL
 * without memory.
 */
struct pair_net *pair_net_new(struct loop *loop, const struct pair_faults *faults);
/** pair_net_free - Frees a net whose streams have been freed; accepts NULL. */
void pair_net_free(struct pair_net *net);
/**
 * pair_net_serve - From now on @server, copied, answers stream_connect(); until then all
 * connections are refused.
 */
void pair_net_serve(struct pair_net *net, const struct pair_server *server);
/** pair_net_streams - Returns the net as a factory of streams that connect. */
struct stream_net *pair_net_streams(struct pair_net *net);
/** pair_net_steps - Returns the number of steps so far. */
unsigned pair_net_steps(const struct pair_net *net);
/**
 * pair_net_cut - Breaks every connection now, as by a reset from either side, including those in
 * set-up.
 */
void pair_net_cut(struct pair_net *net);
/** pair_net_blind - While @blind, no stream can be watched: stream_watch() ends in LOOP_ERROR. */
void pair_net_blind(struct pair_net *net, bool blind);

/** pair_new - Creates two connected ends. Returns 0 or -ENOMEM. */
int pair_new(struct pair_net *net, struct stream *ends[2]) MUST_CHECK;

#endif
