/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A health check's own connection to one server of a service.
 *
 * It connects like the upstream connection of a client (daemon/upstream/upstream_connect.h), with
 * the service's keys. But it has its own memory, counters, limits and server state. Only source
 * ports are shared with the other connections of the process.
 *
 * One connection and one Call at a time. on_event() reports the result of each check_conn_open()
 * and check_conn_call() once, never from inside such a call.
 *
 * Belongs to the thread of its check_env.
 */
#ifndef DAEMON_HEALTH_CHECK_CONN_H
#define DAEMON_HEALTH_CHECK_CONN_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/budget.h"
#include "base/budget_account.h"
#include "base/compiler.h"
#include "daemon/config/config.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"
#include "leg/exchange.h"
#include "leg/leg.h"

/* A connection that waits for the name of its server. */
struct check_backend {
	LIST_ENTRY(check_backend) entry; /* in check_env.backends */
	struct backend backend;
};
LIST_HEAD(check_backend_list, check_backend);

/*
 * What the connections of all checks share on the one thread of checks. Its memory is separate from
 * that of clients.
 */
struct check_env {
	struct worker_env env;
	struct budget budget;
	struct budget_account account;
	struct check_backend_list backends;
	bool has_budget;
};

enum check_conn_event {
	CHECK_CONN_OPENED,    /* connected to the server */
	CHECK_CONN_UNREACHED, /* cannot connect */
	CHECK_CONN_REPLIED,   /* the Call has a Reply or a fault */
	CHECK_CONN_LATE,      /* the Call timed out: the connection is closed */
	CHECK_CONN_LOST,      /* the connection was lost, before a Reply or without a Call */
};

/* A result; valid during on_event(). */
struct check_conn_result {
	enum check_conn_event event;
	enum leg_close why; /* for CHECK_CONN_UNREACHED and CHECK_CONN_LOST … */
	const char *detail; /* … and a sentence or ""; for CHECK_CONN_LATE the leg's last note */
	const struct exchange *x; /* for CHECK_CONN_REPLIED */
};

struct check_conn_config {
	struct check_env *env;
	struct service_net *net;         /* of the check, with the keys of its service */
	const struct config_uri *server; /* outlives the connection, like the other pointers */
	/* addresses of this daemon, which are excluded; NULL: none */
	const struct self_connect *listen_addrs;
	bool asks_rpcbind; /* @server is rpcbind: connect to the port of MOUNT */
	bool is_other;     /* @server is not one of the service's: send no PROXY header */
	/* what the connection is for: tls_connect applies to NFS and MOUNT, not to rpcbind */
	uint32_t program;
	void (*on_event)(void *arg, const struct check_conn_result *result);
	void *arg;
};

struct check_conn;

/** check_conn_new - Creates an unconnected connection; @config is copied. Returns 0 or -ENOMEM. */
int check_conn_new(const struct check_conn_config *config, struct check_conn **out) MUST_CHECK;
/**
 * check_conn_free - Closes and frees the connection; on_event() is not called any more
 * @on_freed: called with @arg once everything is freed, now or later; NULL: none. The objects that the
 *        config of check_conn_new() points to must exist until then
 *
 * Accepts NULL, and then calls @on_freed immediately.
 */
void check_conn_free(struct check_conn *conn, void (*on_freed)(void *arg), void *arg);

/** check_conn_open - Connects to the server within @timeout_us; there must be no connection. */
void check_conn_open(struct check_conn *conn, uint64_t timeout_us);
/**
 * check_conn_info - Describes the open connection, or the one whose end is about to be reported.
 */
void check_conn_info(const struct check_conn *conn, struct leg_info *info);
/**
 * check_conn_call - Sends a Call over the open connection
 * @call, @len_bytes: a whole RPC message, copied
 *
 * Returns 0, also if the connection is closing, which on_event() will report. Returns -ENOMEM
 * without an event.
 */
int check_conn_call(struct check_conn *conn, const uint8_t *call, uint32_t len_bytes,
		    uint64_t timeout_us) MUST_CHECK;

#endif
