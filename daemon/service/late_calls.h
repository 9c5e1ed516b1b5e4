/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of a service that wait long for its server, on all workers together.
 *
 * The first that has waited LATE_CALL_TOLD_US is a warning, with how many wait by then; what comes of it is said
 * when none waits any more, a warning too. In between nothing is said but that more than twice as many clients have come to wait as
 * long: there are Calls that no server answers, and one of those must not hide that it hangs for all. Calls count
 * from LATE_CALL_US on, so that all workers have counted theirs when the first is told.
 *
 * Threads: a lock, touched by each worker once in LATE_CALLS_LOOK_US at most, and while it has late Calls.
 */
#ifndef DAEMON_SERVICE_LATE_CALLS_H
#define DAEMON_SERVICE_LATE_CALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define LATE_CALLS_LOOK_US 5000000u  /* how often bridges are looked at */
#define LATE_CALL_US       10000000u /* from when on a Call counts … */
#define LATE_CALL_TOLD_US  30000000u /* … and is told */

/* What one worker has found. */
struct late_found {
	unsigned calls, clients;        /* that wait now */
	unsigned long_clients;          /* of these, those that have for LATE_CALL_TOLD_US */
	uint64_t oldest_us;             /* how long one of them has waited … */
	struct sockaddr_storage server; /* … and for whom */
	uint64_t longest_us; /* how long any that is over had waited, since it was last reported */
	bool answered;       /* one of those by the server */
};

struct late_calls {
	pthread_mutex_t lock;
	const char *service;
	unsigned calls, clients, long_clients;
	unsigned
		told_clients; /* how many it was when it was told, or have been since; 0: it was not */
	uint64_t longest_us; /* since none waited */
	bool answered;
};

/* What a worker has reported last. */
struct late_side {
	unsigned calls, clients, long_clients;
};

/** late_calls_init - no Call waits; @service: its name, which outlives this. */
void late_calls_init(struct late_calls *late, const char *service);
/** late_calls_fini - undo that. */
void late_calls_fini(struct late_calls *late);
/** late_calls_count - how many wait now, for LATE_CALL_US at least. */
unsigned late_calls_count(struct late_calls *late);
/** late_calls_report - what a worker has found takes the place of what it reported before; the log may be told. */
void late_calls_report(struct late_calls *late, struct late_side *side,
		       const struct late_found *found);

#endif
