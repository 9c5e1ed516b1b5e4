// SPDX-License-Identifier: BSD-3-Clause
/*
 * evhttp limits the bytes that it reads, but neither the number of connections nor the time of a
 * request: a peer that sends a byte now and then would stay for ever. It also does not report when
 * a connection opens or closes. So this file creates the bufferevent of each connection and holds a
 * reference, which keeps the descriptor valid while the connection counts. evhttp clears its
 * callbacks when it releases a bufferevent; this file checks them every CONN_TICK_US and for each
 * new connection.
 */
#include "daemon/http/http_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/listen_socket.h"
#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"
#include "daemon/http/http_host.h"

#define BACKLOG 64
/* Bytes of a Host shown in the log. */
#define SHOWN_BYTES 100

/* Listens at @addr. Returns a descriptor, which the caller owns, or a negative errno. */
static int peer_listen(const struct sockaddr *addr)
{
	int fd = listen_socket_new(addr);
	int rc = fd < 0 ? fd : listen_socket_start(fd, addr, BACKLOG, NULL);

	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Returns false if the peer has disconnected. */
static bool get_peer(int fd, struct sockaddr_storage *peer)
{
	socklen_t bytes = sizeof(*peer);

	*peer = (struct sockaddr_storage){0};
	return !getpeername(fd, (struct sockaddr *)peer, &bytes);
}

/* Copies a Host for a log line in quotes; quotes within it are percent-encoded. */
static const char *escape_host(const char *host, char text[SHOWN_BYTES + 1])
{
	size_t len = 0;

	for (; *host && len + 3 <= SHOWN_BYTES; host++)
		if (*host == '"')
			len += (size_t)sprintf(text + len, "%%22");
		else
			text[len++] = *host;
	text[len] = '\0';
	return text;
}

/*
 * Returns whether to close a connection that waits for its answer: nothing can be sent to it, or
 * @needed, another client needs its slot, and the peer sends nothing more. In that case it has
 * closed the connection or only its sending side, which cannot be distinguished.
 */
static bool evict_gone_peer(int fd, bool needed)
{
	/* poll() returns POLLERR and POLLHUP even if not requested. */
	struct pollfd pollfd = {.fd = fd, .events = needed ? POLLRDHUP : 0};

	return poll(&pollfd, 1, 0) > 0;
}

#define CONN_TICK_US 20000u
/* When all slots are in use, a connection that has been silent for this long is closed. */
#define SILENCE_US 200000u
#define PAUSE_US   1000000u /* pause of the listener when descriptors ran out */
/* evhttp rescans a line from its beginning whenever more of it arrives. */
#define MOST_UNREAD_BYTES (2 * HTTP_MAX_HEADER_BYTES)
/*
 * evhttp has a bit per method; the last ones mean unknown methods. All bits set: on_request() gets
 * every request.
 */
#define ALL_METHODS  0xffffu
#define NOT_OUR_HOST "this is not a name of the daemon's host: add further names to http_hosts\n"

struct http_conn {
	TAILQ_ENTRY(http_conn) entry;
	struct http_server *server;
	struct bufferevent *socket;      /* holds a reference */
	struct http_request *request;    /* until it is answered */
	uint64_t opened_us, deadline_us; /* times of the loop */
	bool access_checked, is_denied;  /* the address has been checked: it is denied */
	bool has_request, answered;
};

/* A request that is not answered yet. */
struct http_request {
	struct http_server *server;
	struct http_conn *conn; /* NULL: the client has disconnected */
	struct evhttp_request *evreq;
};

struct http_server {
	LIST_ENTRY(http_server) entry; /* in `listening` */
	struct loop *loop;
	struct loop_timer *timer;
	bool tick_pending; /* the timer fires in the next iteration */
	struct evhttp *evhttp;
	struct evhttp_bound_socket *bound; /* NULL: not listening */
	uint64_t paused_until_us;          /* loop time until which nothing is accepted */
	struct http_access access;
	uint64_t *status_counts;
	http_request_fn *ask;
	void *arg;
	unsigned nconns, ndenied;
	TAILQ_HEAD(, http_conn) conns;
	struct log_limit refused; /* lines about denied clients, */
	struct log_limit hosts;   /* … about other hosts */
	struct log_limit paused;  /* … and about failures to accept */
};

/* evhttp sets the argument of a listener's callbacks, so the server is looked up in this list. */
static LIST_HEAD(, http_server) listening = LIST_HEAD_INITIALIZER(listening);

/* ---- connections ---- */

static struct evconnlistener *listener_of(const struct http_server *server)
{
	return evhttp_bound_socket_get_listener(server->bound);
}

static void set_deadline(struct http_server *server, struct http_conn *conn)
{
	conn->deadline_us = loop_now_us(server->loop) + HTTP_TIMEOUT_US;
}

/*
 * Runs on_timer() in the next iteration. The flag keeps repeated calls from postponing it for ever.
 */
static void schedule_tick(struct http_server *server)
{
	if (!server->tick_pending)
		loop_timer_set(server->loop, server->timer, 0);
	server->tick_pending = true;
}

/*
 * evhttp limits only the header, not chunks or data after a request. A full bufferevent spins, so
 * stop reading.
 */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conn *conn = arg;

	if (evbuffer_get_length(input) <= MOST_UNREAD_BYTES)
		return;
	bufferevent_disable(conn->socket, EV_READ);
	if (!conn->has_request)
		conn->deadline_us = 0;
	schedule_tick(conn->server);
}

static void conn_free(struct http_server *server, struct http_conn *conn)
{
	if (!conn->answered)
		server->status_counts[HTTP_STATUS_NONE]++;
	if (conn->is_denied)
		server->ndenied--;
	server->nconns--;
	evbuffer_remove_cb(bufferevent_get_input(conn->socket), on_input, conn);
	bufferevent_decref(conn->socket);
	TAILQ_REMOVE(&server->conns, conn, entry);
	free(conn);
}

/*
 * Returns evhttp's connection, the argument of its callbacks; NULL once evhttp has released the
 * bufferevent.
 */
static struct evhttp_connection *evcon_of(const struct http_conn *conn)
{
	void *evcon;

	bufferevent_getcb(conn->socket, NULL, NULL, NULL, &evcon);
	return evcon;
}

static void conn_drop(struct http_server *server, struct http_conn *conn)
{
	evhttp_connection_free(evcon_of(conn));
	conn_free(server, conn);
}

static int fd_of(const struct http_conn *conn)
{
	return bufferevent_getfd(conn->socket);
}

/* Returns whether the peer's address is allowed; false if the peer has disconnected. */
static bool is_allowed(struct http_server *server, const struct http_conn *conn)
{
	char text[ADDRESS_TEXT_BYTES];
	struct sockaddr_storage peer;

	if (!get_peer(fd_of(conn), &peer))
		return false;
	if (config_cidrs_contain(server->access.allow, (struct sockaddr *)&peer))
		return true;
	log_write_limited(LOG_LEVEL_WARNING, &server->refused, NULL,
			  "http: refused %s: not in http_allow",
			  address_text((struct sockaddr *)&peer, text));
	return false;
}

static void conn_check_access(struct http_server *server, struct http_conn *conn)
{
	if (conn->access_checked)
		return;
	conn->access_checked = true;
	conn->is_denied = !is_allowed(server, conn);
	if (conn->is_denied)
		server->ndenied++;
}

static void answer_late(struct http_conn *conn);

static void conn_tick(struct http_server *server, struct http_conn *conn, bool is_full)
{
	uint64_t now_us = loop_now_us(server->loop);

	conn_check_access(server, conn);
	if ((conn->is_denied && server->ndenied > HTTP_MAX_DENIED) ||
	    (conn->request && evict_gone_peer(fd_of(conn), is_full)) ||
	    (is_full && !conn->has_request && now_us - conn->opened_us >= SILENCE_US))
		conn_drop(server, conn);
	else if (conn->deadline_us <= now_us && conn->request)
		answer_late(conn);
	else if (conn->deadline_us <= now_us)
		conn_drop(server, conn);
}

static void on_timer(void *arg)
{
	struct http_server *server = arg;
	bool is_full = server->nconns == HTTP_MAX_CONNECTIONS,
	     paused = loop_now_us(server->loop) < server->paused_until_us;
	struct http_conn *conn, *next;

	server->tick_pending = false;
	for (conn = TAILQ_FIRST(&server->conns); conn; conn = next) {
		next = TAILQ_NEXT(conn, entry);
		if (evcon_of(conn))
			conn_tick(server, conn, is_full);
		else
			conn_free(server, conn);
	}
	if (server->bound && server->nconns < HTTP_MAX_CONNECTIONS && !paused)
		evconnlistener_enable(listener_of(server));
	if (server->nconns || paused)
		loop_timer_set(server->loop, server->timer, CONN_TICK_US);
}

/*
 * A new connection; evhttp sets its descriptor later. On failure evhttp makes a bufferevent that is
 * not counted.
 */
static struct bufferevent *on_conn(struct event_base *base, void *arg)
{
	struct http_server *server = arg;
	struct http_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->socket = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!conn->socket) {
		free(conn);
		return NULL;
	}
	evbuffer_add_cb(bufferevent_get_input(conn->socket), on_input, conn);
	conn->server = server;
	bufferevent_incref(conn->socket);
	conn->opened_us = loop_now_us(server->loop);
	set_deadline(server, conn);
	TAILQ_INSERT_TAIL(&server->conns, conn, entry);
	schedule_tick(server);
	if (++server->nconns == HTTP_MAX_CONNECTIONS)
		evconnlistener_disable(listener_of(server));
	return conn->socket;
}

static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct http_server *server;
	int err = errno;

	LIST_FOREACH(server, &listening, entry)
		if (listener_of(server) == listener)
			break;
	if (!server)
		return;
	log_write_limited(LOG_LEVEL_WARNING, &server->paused, NULL,
			  "http: cannot accept connections: %s", strerror(err));
	evconnlistener_disable(listener);
	server->paused_until_us = loop_now_us(server->loop) + PAUSE_US;
	loop_timer_set(server->loop, server->timer, CONN_TICK_US);
}

/* ---- requests ---- */

static void on_gone(struct evhttp_connection *evcon, void *arg)
{
	struct http_request *request = arg;

	request->conn->request = NULL;
	request->conn = NULL;
}

/* Unlinks the request from its connection before its answer is sent. */
static void detach(struct http_request *request)
{
	evhttp_connection_set_closecb(evhttp_request_get_connection(request->evreq), NULL, NULL);
	request->conn->request = NULL;
	request->conn = NULL;
}

static bufferevent_event_cb evhttp_on_event; /* the same function for all connections */

static void on_event(struct bufferevent *socket, short what, void *arg)
{
	if (what == (BEV_EVENT_READING | BEV_EVENT_EOF))
		bufferevent_disable(socket, EV_READ);
	else
		evhttp_on_event(socket, what, arg);
}

/* When a client ends its sending side, evhttp would close the connection and lose unsent data. */
static void keep_sending(struct http_conn *conn)
{
	bufferevent_data_cb on_read, on_write;
	void *arg;

	bufferevent_getcb(conn->socket, &on_read, &on_write, &evhttp_on_event, &arg);
	bufferevent_setcb(conn->socket, on_read, on_write, on_event, arg);
}

static void send_answer(struct http_server *server, struct http_conn *conn,
			struct evhttp_request *evreq, const struct http_response *answer)
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
	if (answer->status == HTTP_STATUS_405)
		evhttp_add_header(headers, "Allow", "GET, HEAD");
	if (evhttp_request_get_command(evreq) != EVHTTP_REQ_HEAD)
		evbuffer_add(body, answer->body, answer->body_bytes);
	conn->answered = true;
	server->status_counts[answer->status]++;
	set_deadline(server, conn);
	evhttp_send_reply(evreq, atoi(http_status_name(answer->status)),
			  answer->status == HTTP_STATUS_421 ? "Misdirected Request" : NULL, NULL);
	keep_sending(conn);
}

static void send_text(struct http_server *server, struct http_conn *conn,
		      struct evhttp_request *evreq, enum http_status status, const char *text)
{
	send_answer(server, conn, evreq,
		    &(struct http_response){.status = status,
					    .type = "text/plain; charset=utf-8",
					    .body = text,
					    .body_bytes = strlen(text)});
}

static unsigned count_requests(const struct http_server *server)
{
	const struct http_conn *conn;
	unsigned n = 0;

	TAILQ_FOREACH(conn, &server->conns, entry)
		n += conn->has_request && evcon_of(conn);
	return n;
}

/*
 * Closes the oldest waiting connection, except @but, whose client may have disconnected. Returns
 * false without one.
 */
static bool evict_one(struct http_server *server, const struct http_conn *but)
{
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &server->conns, entry) {
		if (conn == but || !conn->request || !evict_gone_peer(fd_of(conn), true))
			continue;
		conn_drop(server, conn);
		return true;
	}
	return false;
}

bool http_request_needs_reserve(const struct http_request *request)
{
	while (count_requests(request->server) > HTTP_MAX_CONNECTIONS - HTTP_RESERVED_CONNECTIONS)
		if (!evict_one(request->server, request->conn))
			return true;
	return false;
}

void http_request_respond(struct http_request *request, const struct http_response *answer)
{
	struct http_conn *conn = request->conn;

	if (conn) {
		detach(request);
		send_answer(request->server, conn, request->evreq, answer);
	}
	free(request);
}

static void answer_late(struct http_conn *conn)
{
	struct http_request *request = conn->request;

	detach(request);
	send_text(request->server, conn, request->evreq, HTTP_STATUS_503, "no answer in time\n");
}

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

static void deliver_request(struct http_conn *conn, struct evhttp_request *evreq,
			    struct http_server *server)
{
	struct http_request *request = calloc(1, sizeof(*request));
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(evreq);
	const struct http_query query = {
		text_or_none(evhttp_uri_get_path(uri)),
		text_or_none(evhttp_uri_get_query(uri)),
		text_or_none(evhttp_find_header(evhttp_request_get_input_headers(evreq), "Accept")),
	};

	if (!request) {
		send_text(server, conn, evreq, HTTP_STATUS_503, "out of memory\n");
		return;
	}
	*request = (struct http_request){server, conn, evreq};
	conn->request = request;
	evhttp_connection_set_closecb(evhttp_request_get_connection(evreq), on_gone, request);
	server->ask(server->arg, request, &query);
}

/* Returns NULL if this file did not make the connection. */
static struct http_conn *conn_of(struct http_server *server, struct evhttp_request *evreq)
{
	struct evhttp_connection *evcon = evhttp_request_get_connection(evreq);
	struct bufferevent *socket = evhttp_connection_get_bufferevent(evcon);
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &server->conns, entry)
		if (conn->socket == socket)
			break;
	return conn;
}

/* Returns whether requests for @host are served; logs it if not. */
static bool is_allowed_host(struct http_server *server, const struct http_conn *conn,
			    const char *host)
{
	char text[ADDRESS_TEXT_BYTES], shown[SHOWN_BYTES + 1];
	struct sockaddr_storage from;
	struct utsname own = {0};

	(void)uname(&own);
	if (http_host_is_ours(host, own.nodename, server->access.hosts))
		return true;
	if (get_peer(fd_of(conn), &from))
		log_write_limited(LOG_LEVEL_WARNING, &server->hosts, NULL,
				  "http: refused %s: requested host \"%s\" is not this host; if it "
				  "is, add it to http_hosts",
				  address_text((struct sockaddr *)&from, text),
				  escape_host(host, shown));
	return false;
}

/* Checks each Host header and the host of an absolute URI; evhttp checks the first one only. */
static bool is_for_us(struct http_server *server, const struct http_conn *conn,
		      struct evhttp_request *evreq)
{
	const char *target = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(evreq));
	const struct evkeyval *header;

	if (target && !is_allowed_host(server, conn, target))
		return false;
	TAILQ_FOREACH(header, evhttp_request_get_input_headers(evreq), next)
		if (!strcasecmp(header->key, "Host") &&
		    !is_allowed_host(server, conn, header->value))
			return false;
	return true;
}

/* evhttp has read a whole request. Further requests of a connection are not answered. */
static void on_request(struct evhttp_request *evreq, void *arg)
{
	struct http_server *server = arg;
	enum evhttp_cmd_type method = evhttp_request_get_command(evreq);
	struct http_conn *conn = conn_of(server, evreq);

	if (!conn || conn->has_request) {
		evhttp_send_error(evreq, HTTP_SERVUNAVAIL, NULL);
		return;
	}
	conn->has_request = true;
	set_deadline(server, conn);
	conn_check_access(server, conn);
	if (conn->is_denied)
		send_text(server, conn, evreq, HTTP_STATUS_403,
			  "your address is not in http_allow\n");
	else if (!is_for_us(server, conn, evreq))
		send_text(server, conn, evreq, HTTP_STATUS_421, NOT_OUR_HOST);
	else if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD)
		send_text(server, conn, evreq, HTTP_STATUS_405,
			  "only GET and HEAD are supported\n");
	else
		deliver_request(conn, evreq, server);
}

/* ---- life ---- */

static void server_free(struct http_server *server)
{
	struct http_conn *conn;

	http_server_stop_listening(server);
	if (server->evhttp)
		evhttp_free(server->evhttp);
	while ((conn = TAILQ_FIRST(&server->conns)))
		conn_free(server, conn);
	loop_timer_free(server->loop, server->timer);
	free(server);
}

int http_server_listen(struct http_server *server, const struct sockaddr *addr)
{
	int fd = peer_listen(addr);
	struct evconnlistener *listener;

	if (fd < 0)
		return fd;
	listener = evconnlistener_new(event_loop_base(server->loop), NULL, NULL,
				      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!listener) {
		close(fd);
		return -ENOMEM;
	}
	server->bound = evhttp_bind_listener(server->evhttp, listener);
	if (!server->bound) {
		evconnlistener_free(listener);
		return -ENOMEM;
	}
	evconnlistener_set_error_cb(listener, on_accept_error);
	LIST_INSERT_HEAD(&listening, server, entry);
	if (server->nconns == HTTP_MAX_CONNECTIONS)
		evconnlistener_disable(listener);
	return 0;
}

void http_server_stop_listening(struct http_server *server)
{
	if (!server->bound)
		return;
	LIST_REMOVE(server, entry);
	evhttp_del_accept_socket(server->evhttp, server->bound);
	server->bound = NULL;
}

static int open_server(struct http_server *server, const struct sockaddr *addr)
{
	server->timer = loop_timer_new(server->loop, on_timer, server);
	server->evhttp = evhttp_new(event_loop_base(server->loop));
	if (!server->timer || !server->evhttp)
		return -ENOMEM;
	evhttp_set_bevcb(server->evhttp, on_conn, server);
	evhttp_set_gencb(server->evhttp, on_request, server);
	evhttp_set_allowed_methods(server->evhttp, ALL_METHODS);
	evhttp_set_max_headers_size(server->evhttp, HTTP_MAX_HEADER_BYTES);
	evhttp_set_max_body_size(server->evhttp, 0);
	evhttp_set_timeout(server->evhttp, HTTP_TIMEOUT_US / 1000000);
	return http_server_listen(server, addr);
}

int http_server_open(struct loop *loop, const struct sockaddr *addr,
		     const struct http_access *access, uint64_t *status_counts,
		     http_request_fn *ask, void *arg, struct http_server **out)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server)
		return -ENOMEM;
	*server = (struct http_server){
		.loop = loop,
		.access = *access,
		.status_counts = status_counts,
		.ask = ask,
		.arg = arg,
		.refused = {.what = "refused", .why = "not in http_allow"},
		.hosts = {.what = "refused", .why = "their Host is not in http_hosts"},
		.paused = {.repeats = true},
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

void http_server_allow(struct http_server *server, const struct http_access *access)
{
	server->access = *access;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	log_report_suppressed(&server->refused, 1);
	log_report_suppressed(&server->hosts, 1);
	server_free(server);
}

static const char *const end_names[] = {
#define HTTP_STATUS_NAME(name, text) text,
	HTTP_STATUSES(HTTP_STATUS_NAME)
#undef HTTP_STATUS_NAME
};

const char *http_status_name(enum http_status end)
{
	return end_names[end];
}
