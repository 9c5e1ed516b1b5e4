/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An HTTP server for few who ask for little: libevent's evhttp, with bounds.
 *
 * One question a connection, by GET or HEAD, without a body. HTTP_TIMEOUT_US from its beginning a connection has asked, and
 * as long from its answer on it has taken that, or it ends. A question without an answer for so long is answered by 503.
 * One more than HTTP_MAX_CONNECTIONS waits in the kernel's queue until one of these ends, or has said nothing for a while.
 * Who may not ask has HTTP_MAX_STRANGERS of them, to be told so. What is no HTTP, or too long, evhttp answers by itself.
 * A client may end its sending side behind its question. Nobody can tell it from one that has closed its connection, until
 * it is sent something: it keeps its place until its answer, unless another one needs that.
 * A question for a host that is not this one is answered by 421 (daemon/http/http_host.h).
 *
 * All of it belongs to the thread of its loop.
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

/* By the status of their answer, or without one of ours. */
#define HTTP_ENDS(X)                                                                               \
	X(200, "200")                                                                              \
	X(403, "403")                                                                              \
	X(404, "404")                                                                              \
	X(405, "405")                                                                              \
	X(421, "421")                                                                              \
	X(503, "503")                                                                              \
	X(NONE, "none")

enum http_end {
#define HTTP_END_ENUM(name, text) HTTP_END_##name,
	HTTP_ENDS(HTTP_END_ENUM) HTTP_END_COUNT
#undef HTTP_END_ENUM
};

/** http_end_name - "200" … */
const char *http_end_name(enum http_end end);

#define HTTP_MAX_CONNECTIONS  32u
#define HTTP_KEPT_CONNECTIONS 8u /* of these, for questions that are answered at once */
#define HTTP_MAX_STRANGERS    4u
#define HTTP_TIMEOUT_US       5000000u
#define HTTP_MAX_HEADER_BYTES 8192u

struct http_server;
struct http_request;

/* Who may ask, and for which hosts: both outlive the server, or http_server_allow() is due. */
struct http_access {
	const struct config_cidrs *allow;
	const struct config_hosts *hosts; /* names, beside those of http_host_is_ours() */
};

struct http_answer {
	enum http_end status;
	const char *type;   /* of its content */
	const char *policy; /* what its content may do: Content-Security-Policy */
	const void *body;
	size_t body_bytes;
};

/*
 * Somebody asks, who may: http_request_answer() is due, now or later.
 * @path:   without a query, not decoded
 * @accept: what content is welcome, as the header says it; "" if it does not
 */
typedef void http_ask_fn(void *arg, struct http_request *request, const char *path,
			 const char *accept);

/**
 * http_server_open - listen at @addr
 * @access: copied
 * @ends:   counted there: of HTTP_END_COUNT; outlives the server
 * @ask:    called with @arg for each question
 *
 * Returns 0 or a negative errno.
 */
int http_server_open(struct loop *loop, const struct sockaddr *addr,
		     const struct http_access *access, uint64_t *ends, http_ask_fn *ask, void *arg,
		     struct http_server **out) MUST_CHECK;
/** http_server_allow - from now on others may ask, or for other hosts; @access is copied. */
void http_server_allow(struct http_server *server, const struct http_access *access);
/** http_server_deafen - take no more connections: nothing listens any more; those that are there are served. */
void http_server_deafen(struct http_server *server);
/** http_server_listen - listen again, after http_server_deafen(); at @addr. Returns 0 or a negative errno. */
int http_server_listen(struct http_server *server, const struct sockaddr *addr) MUST_CHECK;
/** http_server_close - end, with its connections; requests that are out are still to be answered. Accepts NULL. */
void http_server_close(struct http_server *server);

/**
 * http_request_is_one_of_many - whether only HTTP_KEPT_CONNECTIONS are left, or fewer: it is not to take long
 *
 * Others that wait for an answer and may have gone are closed first, the oldest of them before the rest.
 */
bool http_request_is_one_of_many(const struct http_request *request);
/** http_request_answer - the request is over; nobody is told if who asked has gone. */
void http_request_answer(struct http_request *request, const struct http_answer *answer);

#endif
