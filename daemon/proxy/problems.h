/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the problems of the daemon and its services, with cause and cure.
 *
 * This is the only place that decides what a problem is. `status` and `services`, the status page
 * and the metrics show the list. A problem that no other module logs is logged here, once, when it
 * appears.
 *
 * To add one: a row in PROBLEMS, and where it is found in problems.c.
 *
 * Threads: the main thread only.
 */
#ifndef DAEMON_PROXY_PROBLEMS_H
#define DAEMON_PROXY_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/proxy/proxy_priv.h"
#include "leg/leg.h"

enum problem_severity {
	PROBLEM_CRITICAL, /* clients of a service are not served */
	PROBLEM_WARNING,  /* needs attention */
	PROBLEM_NOTICE,   /* for information */
	PROBLEM_SEVERITIES
};

#define RELOAD_IT "then 'rpcrdma-proxyctl reload'"
#define MORE_PORTS                                                                                 \
	"add an address to source_address of {service} in {file}, or export with \"insecure\" "    \
	"and set source_port = \"any\" there, " RELOAD_IT                                          \
	"; if CAP_NET_BIND_SERVICE is missing, start the daemon by its unit"
#define NEW_CERTIFICATE                                                                                 \
	"write a new certificate to tls_cert_file of {service} and its key to tls_key_file, " RELOAD_IT \
	"; see {file}"
#define LIST_CLIENTS "; 'rpcrdma-proxyctl connections' lists their clients"

/*
 * Each with its id, which never changes, its severity, whether it is logged here, and its cure, in
 * which {service}, {server}, {client} and {file} are replaced. Worst first.
 */
#define PROBLEMS(X)                                                                                \
	X(STOPPING, "stopping", CRITICAL, false,                                                   \
	  "'rpcrdma-proxyctl stop --now' ends it without waiting")                                 \
	X(NOT_LISTENING, "not_listening", CRITICAL, false,                                         \
	  "free the address of listen, or change it in {file}, " RELOAD_IT)                        \
	X(SERVER_DOWN, "server_down", CRITICAL, false,                                             \
	  "'rpcrdma-proxyctl check {service}' shows which step fails")                             \
	X(SERVER_DISABLED, "server_disabled", CRITICAL, true,                                      \
	  "'rpcrdma-proxyctl target {service} {server} up'")                                       \
	X(SERVICE_DRAINED, "service_drained", CRITICAL, false,                                     \
	  "'rpcrdma-proxyctl resume {service}'")                                                   \
	X(CERTIFICATE_EXPIRED, "certificate_expired", CRITICAL, true, NEW_CERTIFICATE)             \
	X(SERVER_SILENT, "server_silent", CRITICAL, false,                                         \
	  "look at the server: its load, its disks, its log; 'rpcrdma-proxyctl check {service}' "  \
	  "shows whether it answers a new connection")                                             \
	X(CALLS_LATE, "calls_late", WARNING, false,                                                \
	  "'rpcrdma-proxyctl connections' shows client and operation; look at the server's log")   \
	X(ONE_SERVER_DOWN, "one_server_down", WARNING, false,                                      \
	  "'rpcrdma-proxyctl check {service}' shows which step fails")                             \
	X(ONE_SERVER_DISABLED, "one_server_disabled", WARNING, false,                              \
	  "'rpcrdma-proxyctl target {service} {server} up'")                                       \
	X(MOUNT_DOWN, "mount_down", WARNING, false,                                                \
	  "'rpcrdma-proxyctl check {service} --mount' shows which step fails")                     \
	X(CERTIFICATE_EXPIRES, "certificate_expires", WARNING, true, NEW_CERTIFICATE)              \
	X(RELOAD_REJECTED, "reload_rejected", WARNING, false,                                      \
	  "a restart would load that file: correct what the error names ('rpcrdma-proxy -t -c "    \
	  "{file}' checks the file), " RELOAD_IT)                                                  \
	X(NO_SERVICES, "no_services", WARNING, true,                                               \
	  "activate an example of {file} or write a service there, " RELOAD_IT)                    \
	X(DESCRIPTORS_SHORT, "descriptors_short", WARNING, false,                                  \
	  "raise LimitNOFILE= of the unit (ulimit -n in a shell) and restart")                     \
	X(MEMORY_SHORT, "memory_short", WARNING, false,                                            \
	  "raise memory_limit_mib in {file} and restart")                                          \
	X(MAX_CONNECTIONS_REACHED, "max_connections_reached", WARNING, true,                       \
	  "raise max_connections of {service} in {file}, " RELOAD_IT LIST_CLIENTS)                 \
	X(CLIENT_LIMIT_REACHED, "client_limit_reached", WARNING, false,                            \
	  "raise max_connections_per_client of {service} in {file}, " RELOAD_IT                    \
	  ", or mount with a smaller nconnect")                                                    \
	X(RESOURCES_SHORT, "resources_short", WARNING, false,                                      \
	  "the log says what is missing; see LimitNOFILE= of the unit and the memory of the host") \
	X(SOURCE_PORTS_SHORT, "source_ports_short", WARNING, true, MORE_PORTS)                     \
	X(SOURCE_PORTS_UNPRIVILEGED, "source_ports_unprivileged", WARNING, false, MORE_PORTS)      \
	X(SOURCE_ADDRESS_MISSING, "source_address_missing", WARNING, false,                        \
	  "the log says why; 'rpcrdma-proxy -t -c {file}' prints the routes that "                 \
	  "source = \"client\" needs")                                                             \
	X(LEADS_BACK, "leads_back", WARNING, false,                                                \
	  "connect or mount of {service} in {file} leads back to this daemon: correct it, or the " \
	  "address of the name in it, " RELOAD_IT)                                                 \
	X(XID_REUSED, "xid_reused", WARNING, true,                                                 \
	  "the NFS client there is faulty: update it; "                                            \
	  "'rpcrdma-proxyctl --client {client} capture FILE' shows its Calls")                     \
	X(LOG_DROPPED, "log_dropped", WARNING, false,                                              \
	  "check the load of this host and the disk of the journal")                               \
	X(ADDRESS_ABSENT, "address_absent", NOTICE, false,                                         \
	  "add it to an interface ('ip address' shows them), or correct listen of {service} in "   \
	  "{file}, " RELOAD_IT)                                                                    \
	X(SERVICES_LEAVING, "services_leaving", NOTICE, false,                                     \
	  "'rpcrdma-proxyctl connections' shows their connections, 'disconnect ID' closes one")    \
	X(CLIENTS_REFUSED, "clients_refused", NOTICE, false, "")

enum problem_id {
#define PROBLEM_ENUM(name, id, severity, logs, cure) PROBLEM_##name,
	PROBLEMS(PROBLEM_ENUM) PROBLEM_COUNT
#undef PROBLEM_ENUM
};

/* An event that is older makes its problem a notice. */
#define PROBLEM_RECENT_US 900000000u
/* RPCs that wait for memory for a shorter time are no problem. */
#define PROBLEM_MEMORY_US  1000000u
#define PROBLEM_TEXT_BYTES 512u
#define PROBLEM_CURE_BYTES 512u

struct problem {
	enum problem_id id;
	enum problem_severity severity;
	const struct proxy_service *ps; /* NULL: the daemon */
	const char *server;             /* URI of the server that is meant; NULL: none */
	enum leg_close why;             /* of refused clients; LEG_CLOSE_COUNT: none */
	bool has_age;
	uint64_t age_us;  /* how long it has lasted */
	uint64_t count;   /* events so far; 0: the problem is a state */
	uint64_t last_us; /* … and how long ago the last one was */
	char text[PROBLEM_TEXT_BYTES], cure[PROBLEM_CURE_BYTES];
	size_t order; /* of its addition */
};

/* Starts zeroed. */
struct problem_list {
	struct problem *list;
	size_t count, capacity;
	bool nomem; /* the list is incomplete */
};

/**
 * problems_collect - Adds all problems except MEMORY_SHORT, which only workers know.
 * @now_us: by the main loop
 */
void problems_collect(struct proxy *proxy, uint64_t now_us, struct problem_list *problems);
/** problems_collect_service - Adds those of one service. */
void problems_collect_service(struct proxy_service *ps, uint64_t now_us,
			      struct problem_list *problems);
/**
 * problems_add_memory - Adds MEMORY_SHORT, if RPCs of the service wait for long
 * @waiting, @oldest_us: their number, and how long the first has waited
 */
void problems_add_memory(struct problem_list *problems, const struct proxy_service *ps,
			 size_t waiting, uint64_t oldest_us);
/**
 * problems_add_certificate - Adds CERTIFICATE_EXPIRED or CERTIFICATE_EXPIRES, if the certificate of
 * the service has expired or expires soon
 * @expiry_s: its end; 0: the service has none
 * @now_s:    Unix time, like @expiry_s
 */
void problems_add_certificate(struct problem_list *problems, const struct proxy_service *ps,
			      int64_t expiry_s, int64_t now_s);
/** problems_sort - Sorts the list: worst first, then in the order of the file. */
void problems_sort(struct problem_list *problems);
/** problems_fini - Frees the list. */
void problems_fini(struct problem_list *problems);
/**
 * problems_log - Warns of the problems that have appeared since the last call.
 * @now_us: as above
 */
void problems_log(struct proxy *proxy, uint64_t now_us);

/** problem_name - Returns the id, such as "server_down". */
const char *problem_name(enum problem_id id);
/** problem_severity - Returns the severity in the table; that of old events is lower. */
enum problem_severity problem_severity(enum problem_id id);
/** problem_severity_name - Returns "critical", "warning" or "notice". */
const char *problem_severity_name(enum problem_severity severity);

#endif
