/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts clients of a service that were refused, and connections that were closed because of their
 * client, with the last client of each kind. `status` and `services` show them.
 *
 * Threads: any; it has its own lock, which is taken once for each such client.
 */
#ifndef DAEMON_SERVICE_CLIENT_EVENTS_H
#define DAEMON_SERVICE_CLIENT_EVENTS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

#include "leg/leg.h"

/* Refusals are counted by reason, enum leg_close. The other kinds follow. */
#define CLIENT_EVENT_XID_REUSED LEG_CLOSE_COUNT /* closed: it reused an XID in flight */
#define CLIENT_EVENT_COUNT      (LEG_CLOSE_COUNT + 1u)

/* All zero: none so far. */
struct client_event {
	uint64_t count, last_us;        /* number, and time of the last */
	struct sockaddr_storage client; /* of the last */
	char detail[LEG_DETAIL_BYTES];  /* what the last one did, or "" */
};

struct client_events {
	pthread_mutex_t lock;
	struct client_event list[CLIENT_EVENT_COUNT];
};

/** client_events_init - Initializes the counts to zero. */
void client_events_init(struct client_events *events);
/** client_events_fini - Frees the lock. */
void client_events_fini(struct client_events *events);
/**
 * client_events_add - Counts one event.
 * @kind:   the reason of a refusal, or CLIENT_EVENT_XID_REUSED
 * @client: the client's address
 * @detail: a part of a sentence, or ""
 */
void client_events_add(struct client_events *events, unsigned kind, const struct sockaddr *client,
		       const char *detail, uint64_t now_us);
/** client_events_get - Returns a copy of the events of one kind. */
struct client_event client_events_get(struct client_events *events, unsigned kind);

#endif
