/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of the TLS handshakes that clients of a service have begun and not completed.
 *
 * A handshake costs a millisecond of processor time, and a client can begin as many as it has
 * connections. Half-open connections are limited already (daemon/service/conn_limits.h). These
 * limits keep one address, and one worker, from taking all of that.
 *
 * A client with many addresses, as any with IPv6, could fill a worker's limit with silent
 * connections. So at that limit the owner ends the oldest handshake, if it has lasted
 * TLS_LIMITS_GRACE_US, which is longer than a normal one takes.
 *
 * Threads: any; it has its own lock, which is taken twice for each handshake. What is of a worker
 * belongs to its thread.
 */
#ifndef DAEMON_SERVICE_TLS_LIMITS_H
#define DAEMON_SERVICE_TLS_LIMITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/client_limits.h"

#define TLS_LIMITS_PER_CLIENT 16       /* handshakes of one address at a time */
#define TLS_LIMITS_PER_WORKER 256      /* of a service on one worker */
#define TLS_LIMITS_GRACE_US   1000000u /* a handshake is not ended for others before this */

struct tls_limits {
	pthread_mutex_t lock; /* guards what follows */
	struct client_limits clients;
};

/* A handshake that counts; all zero: none. */
struct tls_handshake {
	struct client_limit *client;
	TAILQ_ENTRY(tls_handshake) entry;
	uint64_t start_us;
};

/* The handshakes of a service on one worker. */
struct tls_worker_limits {
	unsigned count;
	TAILQ_HEAD(, tls_handshake) list; /* oldest first */
};

/** tls_limits_init - Initializes the limits, without handshakes. Returns 0 or -ENOMEM. */
int tls_limits_init(struct tls_limits *limits) MUST_CHECK;
/** tls_limits_fini - Frees the limits; no handshake may be left. */
void tls_limits_fini(struct tls_limits *limits);

/** tls_worker_limits_init - Initializes it, without handshakes. */
void tls_worker_limits_init(struct tls_worker_limits *of_worker);
/**
 * tls_worker_limits_evictable - Returns the handshake to end before another one begins; NULL unless
 * the worker is at its limit and its oldest handshake is TLS_LIMITS_GRACE_US old.
 */
struct tls_handshake *tls_worker_limits_evictable(const struct tls_worker_limits *of_worker,
						  uint64_t now_us);

/**
 * tls_limits_begin - Counts a handshake
 * @of_worker: the service's on this worker
 * @client:    the client's address; the port is ignored
 * @handshake: all zero; pass it to tls_limits_end()
 *
 * Returns NULL; or the limit that is reached, as a detail of LEG_CLOSE_TLS_LIMIT: nothing is counted
 * then.
 */
const char *tls_limits_begin(struct tls_limits *limits, struct tls_worker_limits *of_worker,
			     const struct sockaddr *client, uint64_t now_us,
			     struct tls_handshake *handshake) MUST_CHECK;
/** tls_limits_end - Counts one handshake less, and sets @handshake to zero. Accepts all zero. */
void tls_limits_end(struct tls_limits *limits, struct tls_worker_limits *of_worker,
		    struct tls_handshake *handshake);

#endif
