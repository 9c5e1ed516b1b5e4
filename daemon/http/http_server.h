/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small HTTP server on libevent's evhttp, with limits.
 *
 * It answers one request per connection: GET or HEAD, without a body. A client has HTTP_TIMEOUT_US
 * to send its request, and the same time to read the answer. A request that is not answered within
 * that time gets 503.
 *
 * A connection beyond HTTP_MAX_CONNECTIONS waits in the kernel's queue until another one ends or
 * has been silent for a while. At most HTTP_MAX_DENIED connections of denied clients are kept, to
 * answer 403. evhttp itself answers malformed and oversized requests.
 *
 * A client that closes its sending side after the request looks like a closed connection until data
 * is sent to it. Its connection stays until the answer, unless another client needs the slot. A
 * request for another host gets 421 (daemon/http/http_host.h).
 *
 * Everything belongs to the thread of its loop.
 */
#ifndef DAEMON_HTTP_HTTP_SERVER_H
#define DAEMON_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"

/* Connections by the status of their answer; NONE: this server sent no answer. */
#define HTTP_STATUSES(X)                                                                           \
	X(200, "200")                                                                              \
	X(403, "403")                                                                              \
	X(404, "404")                                                                              \
	X(405, "405")                                                                              \
	X(421, "421")                                                                              \
	X(503, "503")                                                                              \
	X(NONE, "none")

enum http_status {
#define HTTP_STATUS_ENUM(name, text) HTTP_STATUS_##name,
	HTTP_STATUSES(HTTP_STATUS_ENUM) HTTP_STATUS_COUNT
#undef HTTP_STATUS_ENUM
};

/** http_status_name - Returns "200" … */
const char *http_status_name(enum http_status end);

#define HTTP_MAX_CONNECTIONS      32u
#define HTTP_RESERVED_CONNECTIONS 8u /* of these, reserved for requests that need no worker */
#define HTTP_MAX_DENIED           4u
#define HTTP_TIMEOUT_US           5000000u
#define HTTP_MAX_HEADER_BYTES     8192u

struct http_server;
struct http_request;

/*
 * The allowed clients and host names. The lists must outlive the server, or be replaced by
 * http_server_allow().
 */
struct http_access {
	const struct config_cidrs *allow;
	const struct config_hosts *hosts; /* names in addition to those of http_host_is_ours() */
};

struct http_response {
	enum http_status status;
	const char *type;   /* media type of the body */
	const char *policy; /* Content-Security-Policy; NULL: the strictest */
	const void *body;
	size_t body_bytes;
};

/* What a client requests; valid during http_request_fn(). "": none. */
struct http_query {
	const char *path, *query; /* not decoded; the query without its '?' */
	const char *accept;       /* the Accept header */
};

/* An allowed client sent a request: call http_request_respond(), now or later. */
typedef void http_request_fn(void *arg, struct http_request *request,
			     const struct http_query *query);

/**
 * http_server_open - Listens at @addr.
 * @access: copied
 * @ends:   counters of HTTP_STATUS_COUNT entries; outlive the server
 * @ask:    called with @arg for each request
 *
 * Returns 0 or a negative errno.
 */
int http_server_open(struct loop *loop, const struct sockaddr *addr,
		     const struct http_access *access, uint64_t *ends, http_request_fn *ask,
		     void *arg, struct http_server **out) MUST_CHECK;
/** http_server_allow - Replaces the access rules; @access is copied. */
void http_server_allow(struct http_server *server, const struct http_access *access);
/** http_server_stop_listening - Stops listening; existing connections are still served. */
void http_server_stop_listening(struct http_server *server);
/**
 * http_server_listen - Listens again at @addr after http_server_stop_listening(). Returns 0 or a
 * negative errno.
 */
int http_server_listen(struct http_server *server, const struct sockaddr *addr) MUST_CHECK;
/**
 * http_server_close - Closes the server and its connections; accepts NULL. Open requests must still
 * be answered.
 */
void http_server_close(struct http_server *server);

/**
 * http_request_needs_reserve - Returns whether at most HTTP_RESERVED_CONNECTIONS are left: then
 * answer without asking workers.
 *
 * Before that it closes waiting connections whose clients may have disconnected, the oldest first.
 */
bool http_request_needs_reserve(const struct http_request *request);
/**
 * http_request_respond - Answers and frees the request; sends nothing if the client has
 * disconnected.
 */
void http_request_respond(struct http_request *request, const struct http_response *answer);

#endif
