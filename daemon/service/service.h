/* SPDX-License-Identifier: BSD-3-Clause */
/* A running service: what its listener, connections and workers share. */
#ifndef DAEMON_SERVICE_SERVICE_H
#define DAEMON_SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/budget.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/service/client_affinity.h"
#include "daemon/service/client_events.h"
#include "daemon/service/close_reason_text.h"
#include "daemon/service/conn_limits.h"
#include "daemon/service/late_calls.h"
#include "daemon/service/servers.h"
#include "daemon/service/service_tls.h"
#include "daemon/service/tls_limits.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"
#include "leg/leg.h"

/*
 * Kinds of log lines that peers can provoke. Each has its own bucket, so none suppresses another.
 */
enum service_line {
	LINE_OPEN,
	LINE_NOTE,
	LINE_ATTEMPT,      /* connection attempts to the server, and failed ones */
	LINE_AVOIDED,      /* verbs is avoided for a while */
	LINE_SHORTAGE,     /* a Call waits for memory */
	LINE_NAME,         /* of the server: a stale answer is used, or an address dropped */
	LINE_SLOW,         /* slow Calls */
	LINE_NOT_ACCEPTED, /* a connection was not accepted for lack of memory or descriptors */
	LINE_DEBUG,        /* set-up and end of connections */
	LINE_CLOSED,       /* by side and reason: service_line_closed() */
	LINE_REFUSED = LINE_CLOSED + CLOSE_BY_COUNT * LEG_CLOSE_COUNT, /* by reason */
	LINE_COUNT = LINE_REFUSED + LEG_CLOSE_COUNT,
};

/**
 * service_line_closed - Returns the kind of the line about a connection that @by closed for @why.
 */
static inline unsigned service_line_closed(enum leg_close why, enum close_by by)
{
	return LINE_CLOSED + by * LEG_CLOSE_COUNT + why;
}

/* so many clients can reconnect together, each with its own line */
#define SERVICE_LINES_BURST     100u
#define SERVICE_NAME_REFILL_US  60000000u /* each client uses the stale answer: log it rarely */
#define SERVICE_DEBUG_BURST     1000u     /* debug logging suppresses little */
#define SERVICE_DEBUG_REFILL_US 10000u

struct service {
	const struct service_config *config;
	struct client_affinity *clients;
	struct servers servers; /* its NFS servers; has a lock */
	/* its MOUNT servers, if separate; all zero: none; has a lock */
	struct servers mount_servers;
	struct conn_limits limits; /* connection limits; has a lock */
	struct service_tls *tls;   /* its TLS context; has a lock */
	/* its share of the daemon's budget; set by the owner of the budget */
	struct budget_share *memory;
	/* each connection closes once no Call is in flight; set by the main thread */
	atomic_bool draining;
	atomic_bool removed;     /* … and the service was removed: no new ones are accepted */
	atomic_uint connections; /* now open; the main thread adds, workers subtract */
	atomic_uint_fast64_t connections_total;
	atomic_uint source_rr_index; /* round-robin index of its source addresses */
	/* a lack of reserved ports is not logged before this */
	atomic_uint_fast64_t shortfall_quiet_until_us;
	/* an unprivileged client was logged; only the first one is */
	atomic_bool unprivileged_logged;
	/* a client asked for MOUNT at a server without it, and was logged; only the first one is */
	atomic_bool mount_logged;
	atomic_bool nfs_logged; /* … for NFS, which is a wrong port */
	/* a client came over the other transport, and was logged; only the first one is */
	atomic_bool transport_logged;
	struct tls_limits tls_limits;       /* of clients' handshakes; has a lock */
	struct late_calls late;             /* Calls that wait for the server; has a lock */
	struct client_events events;        /* refused clients and the like; has a lock */
	struct log_limit lines[LINE_COUNT]; /* any thread; the log locks them */
};

/** service_init - Initializes a service without connections. Returns 0 or -ENOMEM. */
int service_init(struct service *service, const struct service_config *config) MUST_CHECK;
/** service_fini - Frees what service_init() allocated. */
void service_fini(struct service *service);
/**
 * service_log_suppressed - Logs how many lines about the service were suppressed; due every
 * LOG_REPORT_US.
 */
void service_log_suppressed(struct service *service);
/** service_iwarp_config - Gets the service's configuration of the iwarp fabric. */
void service_iwarp_config(const struct service_config *config, struct iwarp_config *iwarp);
/** service_verbs_config - Gets the service's configuration of the verbs fabric. */
void service_verbs_config(const struct service_config *config, struct verbs_config *verbs);
/**
 * service_verbs_listens - Returns whether clients can connect through the RDMA devices of this
 * host.
 */
bool service_verbs_listens(const struct service_config *config);
/** service_verbs_connects - Returns whether the server can be connected through them. */
bool service_verbs_connects(const struct service_config *config);

#endif
