// SPDX-License-Identifier: BSD-3-Clause
/* One question to the rpcbind of some host. */
#include "daemon/rpcbind/port_query.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "daemon/rpcbind/rpcbind_message.h"
#include "rpc/record.h"

struct port_query {
	struct port_query_config config;
	bool v6;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	bool asked;
	uint32_t xid;
	struct record_parser parser;
	size_t len;
	uint8_t message[RPCBIND_MAX_REPLY_BYTES];
};

static void finish(struct port_query *query, uint16_t port, const char *error)
{
	void (*done)(void *arg, uint16_t port, const char *error) = query->config.done;
	void *arg = query->config.arg;

	port_query_free(query);
	done(arg, port, error);
}

static void on_timer(void *arg)
{
	struct port_query *query = arg;

	finish(query, 0, query->asked ? "no answer" : "it cannot be reached in time");
}

/* The socket's buffer is empty, and takes a Call as a whole. */
static void ask(struct port_query *query)
{
	uint8_t call[RPCBIND_MAX_CALL_BYTES];
	socklen_t bytes = sizeof(int);
	int error = 0;
	size_t len;

	if (getsockopt(query->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) < 0)
		error = errno;
	if (error) {
		finish(query, 0, strerror(error));
		return;
	}
	query->asked = true;
	len = rpcbind_call(call, query->xid, RPCBIND_GETADDR, query->config.program,
			   query->config.version, query->v6 ? "tcp6" : "tcp", "");
	if (send(query->fd, call, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		finish(query, 0, strerror(errno));
	else
		loop_io_set(query->config.loop, query->io, LOOP_READ);
}

static void judge(struct port_query *query)
{
	uint16_t port = 0;

	switch (rpcbind_reply_port(query->message, query->len, query->xid, &port)) {
	case RPCBIND_YES:
		finish(query, port, "");
		break;
	case RPCBIND_NO:
		finish(query, 0, "it is not registered there");
		break;
	case RPCBIND_ERROR:
		finish(query, 0, "it refuses the question");
		break;
	default:
		finish(query, 0, "what it says makes no sense");
	}
}

/* Returns whether the query is over. */
static bool take_bytes(struct port_query *query, const uint8_t *in, size_t len)
{
	enum record_status status;
	size_t used, n;

	for (;;) {
		status = record_next(&query->parser, in, len, &used);
		in += used;
		len -= used;
		if (status == RECORD_MORE)
			return false;
		if (status == RECORD_END) {
			judge(query);
			return true;
		}
		if (status != RECORD_BODY) {
			finish(query, 0, "what it says makes no sense");
			return true;
		}
		n = len < query->parser.fragment_left_bytes ? len
							    : query->parser.fragment_left_bytes;
		if (!n)
			return false;
		memcpy(query->message + query->len, in, n); /* no record is longer than that */
		query->len += n;
		record_take(&query->parser, (uint32_t)n);
		in += n;
		len -= n;
	}
}

static void on_socket(void *arg, unsigned events)
{
	struct port_query *query = arg;
	uint8_t in[RPCBIND_MAX_REPLY_BYTES];
	ssize_t n;

	if (events & LOOP_ERROR) {
		finish(query, 0, "its socket cannot be watched");
		return;
	}
	if (!query->asked) {
		ask(query);
		return;
	}
	n = recv(query->fd, in, sizeof(in), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		finish(query, 0, strerror(errno));
	else if (n == 0)
		finish(query, 0, "it closes the connection without an answer");
	else
		(void)take_bytes(query, in, (size_t)n);
}

/* That it is refused is told by the first event. */
static int begin_connecting(struct port_query *query)
{
	const struct sockaddr *addr = query->config.rpcbind;

	query->fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (query->fd < 0)
		return -errno;
	if (connect(query->fd, addr, sockaddr_bytes(addr)) < 0 && errno != EINPROGRESS)
		return -errno;
	query->io = loop_io_new(query->config.loop, query->fd, on_socket, query);
	query->timer = loop_timer_new(query->config.loop, on_timer, query);
	return query->io && query->timer ? 0 : -ENOMEM;
}

int port_query_new(const struct port_query_config *config, struct port_query **out)
{
	struct port_query *query = calloc(1, sizeof(*query));
	struct in6_addr host;
	int rc;

	if (!query)
		return -ENOMEM;
	query->config = *config;
	query->fd = -1;
	query->xid = (uint32_t)loop_now_us(config->loop);
	query->v6 = sockaddr_host(config->rpcbind, &host) && !IN6_IS_ADDR_V4MAPPED(&host);
	record_parser_init(&query->parser, sizeof(query->message));
	rc = begin_connecting(query);
	query->config.rpcbind = NULL;
	if (rc) {
		port_query_free(query);
		return rc;
	}
	loop_io_set(config->loop, query->io, LOOP_WRITE);
	loop_timer_set(config->loop, query->timer, config->timeout_us);
	*out = query;
	return 0;
}

void port_query_free(struct port_query *query)
{
	if (!query)
		return;
	loop_io_free(query->config.loop, query->io);
	loop_timer_free(query->config.loop, query->timer);
	if (query->fd >= 0)
		close(query->fd);
	free(query);
}
