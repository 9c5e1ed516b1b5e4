/* SPDX-License-Identifier: BSD-3-Clause */
/* A service while the daemon runs: what its listener, its connections and the workers share. */
#ifndef DAEMON_SERVICE_SERVICE_H
#define DAEMON_SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/budget.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/service/clients.h"
#include "daemon/service/close_text.h"
#include "daemon/service/door.h"
#include "daemon/service/late_calls.h"
#include "daemon/service/targets.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"
#include "leg/leg.h"

/* The kinds of lines that peers can provoke, with a bucket each: none keeps another out of the log. */
enum service_line {
	LINE_OPEN,
	LINE_NOTE,
	LINE_ATTEMPT,   /* at the server, and one that failed */
	LINE_AVOIDED,   /* verbs is, for a while */
	LINE_SHORTAGE,  /* of memory that a Call waits for */
	LINE_NAME,      /* of the server: an old answer is used, or not all of one */
	LINE_SLOW,      /* Calls that took long */
	LINE_NOT_TAKEN, /* a connection, for want of memory or descriptors */
	LINE_DEBUG,     /* how connections come about and end */
	LINE_CLOSED,    /* and on whose account, and its reason: service_line_closed() */
	LINE_REFUSED = LINE_CLOSED + CLOSE_BY_COUNT * LEG_CLOSE_COUNT, /* and its reason */
	LINE_COUNT = LINE_REFUSED + LEG_CLOSE_COUNT,
};

/** service_line_closed - the kind of the lines of connections that close so. */
static inline unsigned service_line_closed(enum leg_close why, enum close_by by)
{
	return LINE_CLOSED + by * LEG_CLOSE_COUNT + why;
}

#define SERVICE_LINES_BURST     100u      /* as many clients may come back at once and be seen */
#define SERVICE_NAME_REFILL_US  60000000u /* an old answer is used as often as a client comes */
#define SERVICE_DEBUG_BURST     1000u     /* who asks for debug wants to see … */
#define SERVICE_DEBUG_REFILL_US 10000u

struct service {
	const struct service_config *config;
	struct clients *clients;
	struct targets targets;     /* its servers; they have locks */
	struct targets mounts;      /* those of MOUNT, where it has its own; all zero: none */
	struct door door;           /* who counts against which limit; it has a lock */
	struct budget_part *memory; /* of the daemon's budget; set by who owns that */
	atomic_bool draining;    /* connections end between their Calls; the main thread's to say */
	atomic_bool leaving;     /* … and none will come any more */
	atomic_uint connections; /* now; the main thread adds, workers subtract */
	atomic_uint_fast64_t connections_total;
	atomic_uint source_turns;                      /* of its source addresses */
	atomic_uint_fast64_t shortfall_quiet_until_us; /* no word of reserved ports before that */
	atomic_bool unprivileged_told;      /* that a client is not privileged: once is enough */
	struct late_calls late;             /* that wait for the server; it has a lock */
	struct log_limit lines[LINE_COUNT]; /* from any thread: the log guards them */
};

/** service_init - a service without connections. Returns 0 or -ENOMEM. */
int service_init(struct service *service, const struct service_config *config) MUST_CHECK;
/** service_fini - free what service_init() took. */
void service_fini(struct service *service);
/** service_tell_left_out - have the log say which lines about it were left out; due each LOG_TELL_US. */
void service_tell_left_out(struct service *service);
/** service_iwarp_config - what the file says of the iwarp fabric for this service. */
void service_iwarp_config(const struct service_config *config, struct iwarp_config *iwarp);
/** service_verbs_config - how the service's verbs fabric is to be. */
void service_verbs_config(const struct service_config *config, struct verbs_config *verbs);
/** service_verbs_listens - whether its clients can be on the RDMA devices of this host. */
bool service_verbs_listens(const struct service_config *config);
/** service_verbs_connects - whether the end towards the server can be on them. */
bool service_verbs_connects(const struct service_config *config);

#endif
