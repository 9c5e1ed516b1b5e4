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

/* What is scarce or goes wrong. All zero: nothing, and whatever is sent arrives at once. */
struct pair_faults {
	uint64_t seed;
	uint32_t buffer_bytes;    /* of each end, for what was sent to it; 0: PAIR_BUFFER_BYTES */
	uint32_t max_delay_us;    /* everything takes a random time up to this to arrive */
	bool short_reads;         /* a read takes from 1 byte to all that it could */
	bool short_writes;        /* a write likewise */
	uint32_t max_read_bytes;  /* that one read takes at most; 0: no limit */
	uint32_t max_write_bytes; /* … that one write takes */
	unsigned cut_at_step;  /* every connection breaks before the n-th step, from 1; 0: never */
	unsigned hook_at_step; /* before the n-th step, from 1, … */
	void (*hook)(void *arg); /* … this is called */
	void *hook_arg;
};

enum pair_answer { PAIR_ACCEPT, PAIR_REFUSE, PAIR_SILENT };

/* Who is there to be connected to. */
struct pair_server {
	/* What becomes of a connection to @target. */
	enum pair_answer (*asked)(void *arg, const struct stream_target *target);
	/* The far end of one that was accepted; the callee's. */
	void (*accepted)(void *arg, struct stream *stream);
	void *arg;
};

struct pair_net;

/** pair_net_new - a net of pairs on @loop; @faults, copied, may be NULL. Returns NULL without memory. */
struct pair_net *pair_net_new(struct loop *loop, const struct pair_faults *faults);
/** pair_net_free - free a net whose streams have been freed; accepts NULL. */
void pair_net_free(struct pair_net *net);
/** pair_net_serve - from now on @server, copied, answers stream_connect(); until then all is refused. */
void pair_net_serve(struct pair_net *net, const struct pair_server *server);
/** pair_net_streams - the net as what makes streams that connect. */
struct stream_net *pair_net_streams(struct pair_net *net);
/** pair_net_steps - how many steps it has made. */
unsigned pair_net_steps(const struct pair_net *net);
/** pair_net_cut - break every connection now, as by a reset from either side; also what is being set up. */
void pair_net_cut(struct pair_net *net);
/** pair_net_blind - from now on, while @blind, nothing can be watched: stream_watch() ends in LOOP_ERROR. */
void pair_net_blind(struct pair_net *net, bool blind);

/** pair_new - two ends that are connected. Returns 0 or -ENOMEM. */
int pair_new(struct pair_net *net, struct stream *ends[2]) MUST_CHECK;

#endif
