/* SPDX-License-Identifier: BSD-3-Clause */
/* What an HTTP server has of each connection and each request: for http_server.c alone. */
#ifndef DAEMON_HTTP_HTTP_SERVER_IMPL_H
#define DAEMON_HTTP_HTTP_SERVER_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/http/http_server.h"

struct bufferevent;
struct evhttp;
struct evhttp_bound_socket;
struct evhttp_request;

struct conn {
	TAILQ_ENTRY(conn) entry;
	struct http_server *server;
	struct bufferevent *socket;    /* a reference */
	struct http_request *request;  /* while an answer is due */
	uint64_t came_us, deadline_us; /* of the loop */
	bool judged, is_stranger;      /* whether it may ask: it may not */
	bool asked, answered;
};

/* Between its question and its answer. */
struct http_request {
	struct http_server *server;
	struct conn *conn; /* NULL: it has gone */
	struct evhttp_request *evreq;
};

struct http_server {
	LIST_ENTRY(http_server) entry; /* of those that listen */
	struct loop *loop;
	struct loop_timer *timer;
	bool looks_soon; /* it is set to fire at once */
	struct evhttp *evhttp;
	struct evhttp_bound_socket *bound; /* NULL: it does not listen */
	uint64_t rests_until_us;           /* of the loop: it takes nobody before */
	struct http_access access;
	uint64_t *ends;
	http_ask_fn *ask;
	void *arg;
	unsigned nconns, nstrangers;
	TAILQ_HEAD(, conn) conns;
	struct log_limit refused; /* lines about who may not ask, */
	struct log_limit hosts;   /* … about hosts that are not this one */
	struct log_limit rests;   /* … and about connections that cannot be taken */
};

#endif
