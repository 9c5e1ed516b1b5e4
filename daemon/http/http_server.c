// SPDX-License-Identifier: BSD-3-Clause
/*
 * An HTTP server on evhttp.
 *
 * evhttp bounds what it reads, but knows no limit of connections and no time for a whole request: a peer that sends a byte
 * now and then would stay for ever. Neither does it tell when a connection comes or goes. So this file makes the bufferevent
 * of each, and keeps a reference to it, so that its descriptor is good as long as the connection is counted. That evhttp has
 * let go of it shows in its callbacks, which are looked at each LOOK_US while there are connections.
 */
#include "daemon/http/http_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/listen_socket.h"
#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"

#define BACKLOG 64
#define LOOK_US 20000u
/* evhttp knows methods as bits, the last of which are those that it has no name for; all come to on_request(). */
#define ALL_METHODS 0xffffu

struct conn {
	TAILQ_ENTRY(conn) entry;
	struct bufferevent *socket; /* a reference */
	uint64_t deadline_us;       /* of the loop; 0: an answer is due */
	bool asked, answered;
};

/* Between its question and its answer. */
struct http_request {
	struct http_server *server;
	struct conn *conn; /* NULL: it has gone */
	struct evhttp_request *evreq;
};

struct http_server {
	struct loop *loop;
	struct loop_timer *timer;
	struct evhttp *evhttp;
	struct evconnlistener *listener;
	const struct config_cidrs *allow;
	uint64_t *ends;
	http_ask_fn *ask;
	void *arg;
	unsigned nconns;
	TAILQ_HEAD(, conn) conns;
	struct log_limit refused; /* lines about who may not ask */
};

static const char *const end_names[] = {
#define HTTP_END_NAME(name, text) text,
	HTTP_ENDS(HTTP_END_NAME)
#undef HTTP_END_NAME
};

const char *http_end_name(enum http_end end)
{
	return end_names[end];
}

/* ---- connections ---- */

static void set_deadline(struct http_server *server, struct conn *conn)
{
	conn->deadline_us = loop_now_us(server->loop) + HTTP_TIMEOUT_US;
}

static void conn_free(struct http_server *server, struct conn *conn)
{
	if (!conn->answered)
		server->ends[HTTP_END_NONE]++;
	bufferevent_decref(conn->socket);
	TAILQ_REMOVE(&server->conns, conn, entry);
	free(conn);
	if (server->nconns-- == HTTP_MAX_CONNECTIONS)
		evconnlistener_enable(server->listener);
}

/* evhttp is the argument of its own callbacks, which it takes away as it frees a bufferevent. */
static bool is_over(struct conn *conn)
{
	void *arg;

	bufferevent_getcb(conn->socket, NULL, NULL, NULL, &arg);
	return !arg;
}

static void on_timer(void *arg)
{
	struct http_server *server = arg;
	uint64_t now_us = loop_now_us(server->loop);
	struct conn *conn, *next;

	for (conn = TAILQ_FIRST(&server->conns); conn; conn = next) {
		next = TAILQ_NEXT(conn, entry);
		if (is_over(conn))
			conn_free(server, conn);
		else if (conn->deadline_us && conn->deadline_us <= now_us)
			/* evhttp meets the end of the stream, or fails to write, and lets go. */
			shutdown(bufferevent_getfd(conn->socket), SHUT_RDWR);
	}
	if (server->nconns)
		loop_timer_set(server->loop, server->timer, LOOK_US);
}

/* A connection has come, whose descriptor evhttp sets later. Without memory it gets one of evhttp's, which is not counted. */
static struct bufferevent *on_conn(struct event_base *base, void *arg)
{
	struct http_server *server = arg;
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->socket = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!conn->socket) {
		free(conn);
		return NULL;
	}
	bufferevent_incref(conn->socket);
	set_deadline(server, conn);
	TAILQ_INSERT_TAIL(&server->conns, conn, entry);
	if (!server->nconns++)
		loop_timer_set(server->loop, server->timer, LOOK_US);
	if (server->nconns == HTTP_MAX_CONNECTIONS)
		evconnlistener_disable(server->listener);
	return conn->socket;
}

/* ---- requests ---- */

static void on_gone(struct evhttp_connection *evcon, void *arg)
{
	((struct http_request *)arg)->conn = NULL;
}

static void send_answer(struct http_server *server, struct conn *conn, struct evhttp_request *evreq,
			const struct http_answer *answer)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(evreq);
	struct evbuffer *body = evhttp_request_get_output_buffer(evreq);
	char length[24];

	snprintf(length, sizeof(length), "%zu", answer->body_bytes);
	evhttp_add_header(headers, "Content-Type", answer->type);
	evhttp_add_header(headers, "Content-Length", length);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "Content-Security-Policy",
			  answer->policy ? answer->policy : "default-src 'none'");
	evhttp_add_header(headers, "Connection", "close");
	if (answer->status == HTTP_END_405)
		evhttp_add_header(headers, "Allow", "GET, HEAD");
	if (evhttp_request_get_command(evreq) != EVHTTP_REQ_HEAD)
		evbuffer_add(body, answer->body, answer->body_bytes);
	conn->answered = true;
	server->ends[answer->status]++;
	set_deadline(server, conn);
	evhttp_send_reply(evreq, atoi(http_end_name(answer->status)), NULL, NULL);
}

static void send_text(struct http_server *server, struct conn *conn, struct evhttp_request *evreq,
		      enum http_end status, const char *text)
{
	send_answer(server, conn, evreq,
		    &(struct http_answer){.status = status,
					  .type = "text/plain; charset=utf-8",
					  .body = text,
					  .body_bytes = strlen(text)});
}

void http_request_answer(struct http_request *request, const struct http_answer *answer)
{
	struct conn *conn = request->conn;

	if (conn) {
		evhttp_connection_set_closecb(evhttp_request_get_connection(request->evreq), NULL,
					      NULL);
		send_answer(request->server, conn, request->evreq, answer);
	}
	free(request);
}

static bool may_ask(struct http_server *server, struct conn *conn)
{
	struct sockaddr_storage peer = {0};
	socklen_t bytes = sizeof(peer);
	char text[ADDRESS_TEXT_BYTES];

	if (getpeername(bufferevent_getfd(conn->socket), (struct sockaddr *)&peer, &bytes))
		return false;
	if (config_cidrs_contain(server->allow, (struct sockaddr *)&peer))
		return true;
	log_write_limited(LOG_LEVEL_WARNING, &server->refused, NULL,
			  "http: %s asked and was refused: http_allow does not have it",
			  address_text((struct sockaddr *)&peer, text));
	return false;
}

static void give_up(struct conn *conn, struct evhttp_request *evreq, struct http_server *server)
{
	struct http_request *request = calloc(1, sizeof(*request));
	const char *accept = evhttp_find_header(evhttp_request_get_input_headers(evreq), "Accept");
	const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(evreq));

	if (!request) {
		send_text(server, conn, evreq, HTTP_END_503, "out of memory\n");
		return;
	}
	*request = (struct http_request){server, conn, evreq};
	evhttp_connection_set_closecb(evhttp_request_get_connection(evreq), on_gone, request);
	server->ask(server->arg, request, path ? path : "", accept ? accept : "");
}

/* NULL: it is none of this file's. */
static struct conn *conn_of(struct http_server *server, struct evhttp_request *evreq)
{
	struct evhttp_connection *evcon = evhttp_request_get_connection(evreq);
	struct bufferevent *socket = evhttp_connection_get_bufferevent(evcon);
	struct conn *conn;

	TAILQ_FOREACH(conn, &server->conns, entry)
		if (conn->socket == socket)
			break;
	return conn;
}

/* evhttp has read all of a request. What a connection asks further is not answered. */
static void on_request(struct evhttp_request *evreq, void *arg)
{
	struct http_server *server = arg;
	enum evhttp_cmd_type method = evhttp_request_get_command(evreq);
	struct conn *conn = conn_of(server, evreq);

	if (!conn || conn->asked) {
		evhttp_send_error(evreq, HTTP_SERVUNAVAIL, NULL);
		return;
	}
	conn->asked = true;
	conn->deadline_us = 0;
	if (!may_ask(server, conn))
		send_text(server, conn, evreq, HTTP_END_403,
			  "http_allow does not have your address\n");
	else if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD)
		send_text(server, conn, evreq, HTTP_END_405, "there is GET and HEAD\n");
	else
		give_up(conn, evreq, server);
}

/* ---- life ---- */

static void server_free(struct http_server *server)
{
	struct conn *conn;

	if (server->evhttp)
		evhttp_free(server->evhttp);
	while ((conn = TAILQ_FIRST(&server->conns))) {
		server->nconns = 0; /* there is no listener any more */
		conn_free(server, conn);
	}
	loop_timer_free(server->loop, server->timer);
	free(server);
}

/* Takes @fd, also on failure. */
static int begin(struct http_server *server, int fd)
{
	struct event_base *base = event_loop_base(server->loop);

	server->listener = evconnlistener_new(base, NULL, NULL,
					      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!server->listener) {
		close(fd);
		return -ENOMEM;
	}
	server->evhttp = evhttp_new(base);
	if (!server->evhttp || !evhttp_bind_listener(server->evhttp, server->listener)) {
		evconnlistener_free(server->listener);
		return -ENOMEM;
	}
	evhttp_set_bevcb(server->evhttp, on_conn, server);
	evhttp_set_gencb(server->evhttp, on_request, server);
	evhttp_set_allowed_methods(server->evhttp, ALL_METHODS);
	evhttp_set_max_headers_size(server->evhttp, HTTP_MAX_HEADER_BYTES);
	evhttp_set_max_body_size(server->evhttp, 0);
	evhttp_set_timeout(server->evhttp, HTTP_TIMEOUT_US / 1000000);
	return 0;
}

static int open_socket(const struct sockaddr *addr)
{
	int fd = listen_socket_new(addr), rc;

	if (fd < 0)
		return fd;
	rc = listen_socket_start(fd, addr, BACKLOG, NULL);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

static int open_server(struct http_server *server, const struct sockaddr *addr)
{
	int fd;

	server->timer = loop_timer_new(server->loop, on_timer, server);
	if (!server->timer)
		return -ENOMEM;
	fd = open_socket(addr);
	return fd < 0 ? fd : begin(server, fd);
}

int http_server_open(struct loop *loop, const struct sockaddr *addr,
		     const struct config_cidrs *allow, uint64_t *ends, http_ask_fn *ask, void *arg,
		     struct http_server **out)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server)
		return -ENOMEM;
	*server = (struct http_server){
		.loop = loop,
		.allow = allow,
		.ends = ends,
		.ask = ask,
		.arg = arg,
		.refused = {.what = "refused", .why = "http_allow does not have them"},
	};
	TAILQ_INIT(&server->conns);
	rc = open_server(server, addr);
	if (rc) {
		server_free(server);
		return rc;
	}
	*out = server;
	return 0;
}

void http_server_allow(struct http_server *server, const struct config_cidrs *allow)
{
	server->allow = allow;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	log_tell_left_out(&server->refused, 1);
	server_free(server);
}
