/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to one server of a service that no client has: what a check goes over.
 *
 * It is made as a client's would be (daemon/upstream/upstream_connect.h), by the service's keys, but stands apart from
 * all of them: memory, counters, limits and what is known of the server are its own. It takes a source port of the
 * process while it is there.
 *
 * One Call at a time, and one connection at a time: what check_conn_open() and check_conn_call() come to is told by
 * told(), once each, never from inside a call into this.
 *
 * Everything belongs to the thread of its ground.
 */
#ifndef DAEMON_HEALTH_CHECK_CONN_H
#define DAEMON_HEALTH_CHECK_CONN_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/budget.h"
#include "base/compiler.h"
#include "daemon/config/config.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"
#include "leg/exchange.h"
#include "leg/leg.h"

/* Where a connection waits for the name of its server. */
struct check_backend {
	LIST_ENTRY(check_backend) entry; /* of its ground */
	struct backend backend;
};
LIST_HEAD(check_backend_list, check_backend);

/* What the connections of all checks stand on, in the one thread that checks have: memory apart from that of all clients. */
struct check_ground {
	struct worker_ground ground;
	struct budget budget;
	struct budget_account account;
	struct check_backend_list backends;
	bool has_budget;
};

enum check_conn_event {
	CHECK_CONN_OPENED,    /* the server is reached */
	CHECK_CONN_UNREACHED, /* it cannot be */
	CHECK_CONN_ANSWERED,  /* the Call has a Reply, or a fault */
	CHECK_CONN_LATE,      /* it has had none in time: the connection is over */
	CHECK_CONN_LOST,      /* the connection is over, before an answer or without a Call */
};

/* All of it good while it is told. */
struct check_conn_news {
	enum check_conn_event event;
	enum leg_close why; /* of CHECK_CONN_UNREACHED and CHECK_CONN_LOST … */
	const char
		*detail; /* … and a sentence, or ""; of CHECK_CONN_LATE what was noted meanwhile */
	const struct exchange *x; /* of CHECK_CONN_ANSWERED */
};

struct check_conn_config {
	struct check_ground *ground;
	struct service_net *net;         /* of the check: its service's keys */
	const struct config_uri *server; /* outlives the connection, as do the others */
	const struct own_doors *doors;   /* that are no server; NULL: none */
	bool asks_rpcbind;               /* @server is rpcbind: connect to where MOUNT listens */
	bool is_other; /* @server is none of the service's: it gets no PROXY header */
	void (*told)(void *arg, const struct check_conn_news *news);
	void *arg;
};

struct check_conn;

/** check_conn_new - nothing is connected yet; @config is copied. Returns 0 or -ENOMEM. */
int check_conn_new(const struct check_conn_config *config, struct check_conn **out) MUST_CHECK;
/**
 * check_conn_free - close what is open, and go; told() is not called any more
 * @gone: called with @arg once nothing of it is left, and what @config named may go; now or later. NULL: nobody asks
 *
 * Accepts NULL, which is gone at once.
 */
void check_conn_free(struct check_conn *conn, void (*gone)(void *arg), void *arg);

/** check_conn_open - reach the server within @timeout_us; while there is no connection. */
void check_conn_open(struct check_conn *conn, uint64_t timeout_us);
/** check_conn_info - of the connection that is open, or was until its end is told. */
void check_conn_info(const struct check_conn *conn, struct leg_info *info);
/**
 * check_conn_call - send a Call over the connection that is open
 * @call, @len_bytes: a whole RPC message, copied
 *
 * Returns 0, also where the connection is on its way out, as will be told; or -ENOMEM, and nothing is told.
 */
int check_conn_call(struct check_conn *conn, const uint8_t *call, uint32_t len_bytes,
		    uint64_t timeout_us) MUST_CHECK;

#endif
