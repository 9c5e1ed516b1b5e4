/* SPDX-License-Identifier: BSD-3-Clause */
/* A load: connections to one server, the Calls that they make, and the results. */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

#include <stdbool.h>

#include "tests/bench/arrivals.h"
#include "tests/bench/latency.h"
#include "tests/bench/sockets.h"
#include "tests/e2e/net.h"

struct flow;

/* The purpose of the connections. */
enum load_kind {
	LOAD_CALLS,   /* each opens once, and makes Calls for a time */
	LOAD_IDLE,    /* each opens once, and stays until the end */
	LOAD_CROWD,   /* all open together, and the load ends */
	LOAD_CONNECT, /* each opens again and again */
};

struct load_options {
	struct address server;
	enum load_kind kind;
	uint32_t procedure, bytes;
	uint32_t inflight, connections;
	double seconds, discard_s, stall_s;
	double per_s; /* 0: as soon as there is a Reply */
	uint64_t seed;
	uint32_t spoil_every; /* in one of this many WRITEs a byte is wrong; 0: in none */
	bool waits;           /* for the measuring script: before the work, and after it */
};

/* The printed results. The window is the time that counts. */
struct load_results {
	uint64_t ops, bytes; /* in the window */
	uint64_t all_ops;    /* also before and after it, except the NULL that opens a connection */
	uint64_t mismatches; /* Replies whose bytes differ from the file */
	uint64_t errors;     /* anything else */
	uint64_t opened;     /* connections that have had a Reply */
	double opening_s;    /* until the last of those that are opened once */
	double cpu_s;        /* of this process, in the window */
	uint32_t queued_max; /* Calls that were due and waited here */
	struct latency latency; /* in the window */
};

struct load {
	struct load_options options;
	struct load_results results;
	int poll;
	struct buf null_call, null_reply, call, reply; /* without the data */
	struct flow *flows;
	uint32_t flow_count;
	uint32_t started;     /* connections */
	uint32_t outstanding; /* Calls, and connections that open */
	bool measuring, over;
	uint64_t begin_ns, window_ns, end_ns, heard_ns;
	double slowness; /* of this machine: see tests/lib/time_limit.h */
	double cpu_before_s;
	uint64_t writes;
	struct random random;
	struct arrivals arrivals;
	/* With arrivals: slots without a Call, those that have been free for longest first. */
	uint32_t *places, places_first, places_count;
};

/** load_run - Runs the load; free its results with load_free(). */
void load_run(struct load *load, const struct load_options *options);
void load_free(struct load *load);

/** load_wait - Waits for a line of standard input, or its end. */
void load_wait(void);

/** load_fail - Reports an error and ends the load. */
void load_fail(struct load *load, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Called by flows. */

/** load_opened - Handles a first Reply, @ns after the connection attempt began. */
void load_opened(struct load *load, struct flow *flow, uint64_t ns);
/** load_replied - Handles a Reply in @place to the Call that was due at @due_ns. */
void load_replied(struct load *load, struct flow *flow, uint32_t place, uint64_t due_ns,
		  uint64_t now_ns);

#endif
