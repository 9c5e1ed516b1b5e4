// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/rpcbind/rpcb_getaddr.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "daemon/rpcbind/rpcb_xdr.h"

struct rpcb_getaddr {
	struct rpcb_getaddr_config config;
	bool v6;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	bool asked;
	uint32_t xid;
	struct rpcb_input input;
};

static void query_finish(struct rpcb_getaddr *query, uint16_t port, const char *error)
{
	void (*done)(void *arg, uint16_t port, const char *error) = query->config.done;
	void *arg = query->config.arg;

	rpcb_getaddr_free(query);
	done(arg, port, error);
}

static void on_timer(void *arg)
{
	struct rpcb_getaddr *query = arg;

	query_finish(query, 0, query->asked ? "no answer" : "no connection in time");
}

/* The socket's buffer is empty and can hold the whole Call. */
static void send_call(struct rpcb_getaddr *query)
{
	uint8_t call[RPCBIND_MAX_CALL_BYTES];
	socklen_t bytes = sizeof(int);
	int error = 0;
	size_t len;

	if (getsockopt(query->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) < 0)
		error = errno;
	if (error) {
		query_finish(query, 0, strerror(error));
		return;
	}
	query->asked = true;
	len = rpcb_call_encode(call, query->xid, RPCBIND_GETADDR, query->config.program,
			       query->config.version, query->v6 ? "tcp6" : "tcp", "");
	if (send(query->fd, call, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		query_finish(query, 0, strerror(errno));
	else
		loop_io_set(query->config.loop, query->io, LOOP_READ);
}

static void evaluate_reply(struct rpcb_getaddr *query)
{
	uint16_t port = 0;

	switch (rpcb_reply_port(query->input.message, query->input.len, query->xid, &port)) {
	case RPCBIND_YES:
		query_finish(query, port, "");
		break;
	case RPCBIND_NO:
		query_finish(query, 0, "the program is not registered there");
		break;
	case RPCBIND_ERROR:
		query_finish(query, 0, "it rejects the query");
		break;
	default:
		query_finish(query, 0, "what it says makes no sense");
	}
}

static void on_socket(void *arg, unsigned events)
{
	struct rpcb_getaddr *query = arg;
	uint8_t bytes[RPCBIND_MAX_REPLY_BYTES];
	const uint8_t *in = bytes;
	enum record_status status;
	size_t len;
	ssize_t n;

	if (events & LOOP_ERROR) {
		query_finish(query, 0, "cannot watch its socket");
		return;
	}
	if (!query->asked) {
		send_call(query);
		return;
	}
	n = recv(query->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		query_finish(query, 0,
			     n ? strerror(errno) : "it closed the connection without an answer");
		return;
	}
	len = (size_t)n;
	status = rpcb_input_read(&query->input, &in, &len);
	if (status == RECORD_END)
		evaluate_reply(query);
	else if (status != RECORD_MORE)
		query_finish(query, 0, "what it says makes no sense");
}

/* The first event reports a refused connection. */
static int begin_connecting(struct rpcb_getaddr *query)
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

int rpcb_getaddr_new(const struct rpcb_getaddr_config *config, struct rpcb_getaddr **out)
{
	struct rpcb_getaddr *query = calloc(1, sizeof(*query));
	struct in6_addr host;
	int rc;

	if (!query)
		return -ENOMEM;
	query->config = *config;
	query->fd = -1;
	query->xid = (uint32_t)loop_now_us(config->loop);
	query->v6 = sockaddr_host(config->rpcbind, &host) && !IN6_IS_ADDR_V4MAPPED(&host);
	rpcb_input_init(&query->input);
	rc = begin_connecting(query);
	query->config.rpcbind = NULL;
	if (rc) {
		rpcb_getaddr_free(query);
		return rc;
	}
	loop_io_set(config->loop, query->io, LOOP_WRITE);
	loop_timer_set(config->loop, query->timer, config->timeout_us);
	*out = query;
	return 0;
}

void rpcb_getaddr_free(struct rpcb_getaddr *query)
{
	if (!query)
		return;
	loop_io_free(query->config.loop, query->io);
	loop_timer_free(query->config.loop, query->timer);
	if (query->fd >= 0)
		close(query->fd);
	free(query);
}
