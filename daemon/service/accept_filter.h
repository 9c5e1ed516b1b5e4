/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks `allow` and `require_privileged_port` for each new connection, after its PROXY header if
 * it has one.
 *
 * A connection from accept_proxy_from must begin with a PROXY header. The filter reads the header
 * and no byte after it. Most headers arrive with the connection; for the others the limit is
 * ACCEPT_FILTER_HEADER_US. When too many connections wait for their header, the oldest is rejected.
 * The health check of another proxy (PROXY LOCAL, without a client address) that closes without a
 * Call is not logged as refused.
 *
 * Belongs to a listener, on the main thread.
 */
#ifndef DAEMON_SERVICE_ACCEPT_FILTER_H
#define DAEMON_SERVICE_ACCEPT_FILTER_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/service/accepted_conn.h"

#define ACCEPT_FILTER_MAX 256u /* connections that wait for their header */
/* minimum wait before a connection is rejected for others */
#define ACCEPT_FILTER_GRACE_US  100000u
#define ACCEPT_FILTER_HEADER_US 3000000u /* for the whole header */

struct accept_filter_events {
	/* @in is allowed to connect. The callee owns what it contains. */
	void (*admitted)(void *arg, struct accepted_conn *in);
	/*
	 * @in is rejected for @why; @detail is a sentence or "". The callee owns what @in contains.
	 * LEG_CLOSE_PEER and _LOST: the peer closed the connection before it sent anything.
	 */
	void (*refused)(void *arg, const struct accepted_conn *in, enum leg_close why,
			const char *detail);
};

struct accept_filter;

/**
 * accept_filter_new - Creates a filter for @service, which must outlive it. Returns NULL without
 * memory.
 */
struct accept_filter *accept_filter_new(struct loop *loop, const struct service_config *service,
					const struct accept_filter_events *events, void *arg);
/**
 * accept_filter_free - Closes the connections that wait for their header, and frees the filter.
 * Accepts NULL.
 */
void accept_filter_free(struct accept_filter *filter);
/**
 * accept_filter_can_accept - Returns whether another connection can wait now; else leave it in the
 * kernel's queue.
 */
bool accept_filter_can_accept(const struct accept_filter *filter);
/** accept_filter_count - Returns how many connections wait for their header; 0 for NULL. */
unsigned accept_filter_count(const struct accept_filter *filter);
/**
 * accept_filter_add - Adds a new connection, which the filter owns; @in is copied. One event
 * follows, now or later.
 */
void accept_filter_add(struct accept_filter *filter, const struct accepted_conn *in);

#endif
