// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

#define POLL_MAX      2048
#define READ_BYTES    65536
#define LAST_FRAGMENT 0x80000000u

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void buf_put(struct buf *buf, const void *data, size_t len)
{
	if (buf->len + len > buf->cap) {
		buf->cap = (buf->len + len) * 2;
		buf->data = realloc(buf->data, buf->cap);
		if (!buf->data)
			fail("out of memory");
	}
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

void buf_u32(struct buf *buf, uint32_t value)
{
	uint32_t be = htonl(value);

	buf_put(buf, &be, sizeof(be));
}

void buf_u64(struct buf *buf, uint64_t value)
{
	buf_u32(buf, (uint32_t)(value >> 32));
	buf_u32(buf, (uint32_t)value);
}

void buf_words(struct buf *buf, unsigned count, uint32_t value)
{
	while (count-- > 0)
		buf_u32(buf, value);
}

void buf_opaque(struct buf *buf, const void *data, size_t len)
{
	static const uint8_t zero[3];

	buf_u32(buf, (uint32_t)len);
	buf_put(buf, data, len);
	buf_put(buf, zero, -len & 3);
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

/* Forget the first @n bytes. */
static void buf_drop(struct buf *buf, size_t n)
{
	memmove(buf->data, buf->data + n, buf->len - n);
	buf->len -= n;
}

void net_init(struct net *net)
{
	TAILQ_INIT(&net->conns);
	TAILQ_INIT(&net->listeners);
	net->moved = 0;
}

void net_free(struct net *net)
{
	struct listener *listener;
	struct conn *conn;

	while ((conn = TAILQ_FIRST(&net->conns)))
		conn_free(conn, true);
	while ((listener = TAILQ_FIRST(&net->listeners))) {
		TAILQ_REMOVE(&net->listeners, listener, entry);
		close(listener->fd);
		free(listener);
	}
}

static struct sockaddr_in address(uint32_t addr, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(addr)};
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		fail("socket: %s", strerror(errno));
	return fd;
}

static struct conn *conn_new(struct net *net, int fd)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	int one = 1;

	if (!conn)
		fail("out of memory");
	conn->net = net;
	conn->fd = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!getsockname(fd, (struct sockaddr *)&sin, &len))
		conn->local_port = ntohs(sin.sin_port);
	len = sizeof(sin);
	if (!getpeername(fd, (struct sockaddr *)&sin, &len)) {
		conn->peer_port = ntohs(sin.sin_port);
		conn->peer_addr = ntohl(sin.sin_addr.s_addr);
	}
	TAILQ_INSERT_TAIL(&net->conns, conn, entry);
	return conn;
}

void net_listen(struct net *net, uint16_t port, void (*accepted)(struct conn *conn), void *arg)
{
	net_listen_at(net, NET_LOOPBACK, port, accepted, arg);
}

void net_listen_at(struct net *net, uint32_t addr, uint16_t port,
		   void (*accepted)(struct conn *conn), void *arg)
{
	struct sockaddr_in sin = address(addr, port);
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		fail("out of memory");
	listener->fd = tcp_socket();
	listener->accepted = accepted;
	listener->arg = arg;
	if (bind(listener->fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(listener->fd, 1024))
		fail("listen on %u: %s", port, strerror(errno));
	TAILQ_INSERT_TAIL(&net->listeners, listener, entry);
}

struct conn *net_try_connect(struct net *net, uint16_t port, uint32_t from_addr, uint16_t from_port)
{
	struct sockaddr_in from = address(from_addr ? from_addr : NET_LOOPBACK, from_port);
	struct sockaddr_in to = address(NET_LOOPBACK, port);
	int fd = tcp_socket();

	if ((from_addr || from_port) && bind(fd, (struct sockaddr *)&from, sizeof(from)))
		fail("bind to %u: %s", from_port, strerror(errno));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		if (errno != EADDRNOTAVAIL || !from_port)
			fail("connect to %u: %s", port, strerror(errno));
		close(fd);
		return NULL;
	}
	return conn_new(net, fd);
}

struct conn *net_connect(struct net *net, uint16_t port, uint32_t from_addr, uint16_t from_port)
{
	struct conn *conn = net_try_connect(net, port, from_addr, from_port);

	if (!conn)
		fail("connect from %u to %u: the old connection is not over", from_port, port);
	return conn;
}

void conn_send(struct conn *conn, const void *data, size_t len)
{
	buf_put(&conn->out, data, len);
}

void conn_send_record(struct conn *conn, const void *data, size_t len)
{
	buf_u32(&conn->out, LAST_FRAGMENT | (uint32_t)len);
	buf_put(&conn->out, data, len);
}

static void conn_write(struct conn *conn)
{
	while (conn->out_sent < conn->out.len) {
		ssize_t n = send(conn->fd, conn->out.data + conn->out_sent,
				 conn->out.len - conn->out_sent, MSG_NOSIGNAL);

		if (n < 0) {
			if (errno != EAGAIN)
				conn->out_sent = conn->out.len; /* the reading side tells */
			break;
		}
		conn->out_sent += (size_t)n;
		conn->net->moved += (size_t)n;
	}
	if (conn->out_sent == conn->out.len)
		conn->out_sent = conn->out.len = 0;
}

void conn_shut(struct conn *conn)
{
	while (conn->out.len)
		net_turn(conn->net, 100);
	shutdown(conn->fd, SHUT_WR);
}

void conn_free(struct conn *conn, bool reset)
{
	struct linger linger = {.l_onoff = 1};

	if (!conn)
		return;
	if (reset)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(conn->fd);
	TAILQ_REMOVE(&conn->net->conns, conn, entry);
	buf_free(&conn->in);
	buf_free(&conn->out);
	free(conn);
}

static void conn_end(struct conn *conn, bool reset)
{
	conn->closed = true;
	conn->reset = reset;
	if (conn->ended)
		conn->ended(conn);
}

/* Delivers whole records; all tests' peers send records in one fragment each. */
static void conn_deliver(struct conn *conn)
{
	size_t pos = 0;

	while (conn->in.len - pos >= 4) {
		uint32_t mark, len;

		memcpy(&mark, conn->in.data + pos, 4);
		mark = ntohl(mark);
		len = mark & ~LAST_FRAGMENT;
		if (!(mark & LAST_FRAGMENT))
			fail("a record came in fragments");
		if (conn->in.len - pos - 4 < len)
			break;
		if (conn->received)
			conn->received(conn, conn->in.data + pos + 4, len);
		pos += 4 + len;
	}
	buf_drop(&conn->in, pos);
}

static void conn_read(struct conn *conn)
{
	uint8_t data[READ_BYTES];
	ssize_t n = recv(conn->fd, data, sizeof(data), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0)
		conn->net->moved += (size_t)n;
	if (n <= 0) {
		conn_end(conn, n < 0);
	} else if (conn->raw) {
		conn->received(conn, data, (size_t)n);
	} else {
		buf_put(&conn->in, data, (size_t)n);
		conn_deliver(conn);
	}
}

static void listener_accept(struct net *net, struct listener *listener)
{
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	struct conn *conn;

	if (fd < 0)
		return;
	net->moved++;
	conn = conn_new(net, fd);
	conn->arg = listener->arg;
	listener->accepted(conn);
}

/* Whether @conn is still there: a callback may have freed it. */
static bool net_has(struct net *net, const struct conn *conn)
{
	struct conn *c;

	TAILQ_FOREACH(c, &net->conns, entry)
		if (c == conn)
			return true;
	return false;
}

static void conn_serve(struct net *net, struct conn *conn, short revents)
{
	if (!net_has(net, conn))
		return;
	if (revents & POLLOUT)
		conn_write(conn);
	if (!conn->closed && (revents & (POLLIN | POLLHUP | POLLERR)) && !conn->paused)
		conn_read(conn);
}

void net_turn(struct net *net, int ms)
{
	struct pollfd fds[POLL_MAX];
	struct conn *conns[POLL_MAX], *conn;
	struct listener *listener;
	nfds_t n = 0, nconns;

	TAILQ_FOREACH(conn, &net->conns, entry) {
		short events = (short)((conn->paused ? 0 : POLLIN) | (conn->out.len ? POLLOUT : 0));

		if (conn->closed || !events)
			continue;
		if (n == POLL_MAX)
			fail("too many connections");
		conns[n] = conn;
		fds[n++] = (struct pollfd){.fd = conn->fd, .events = events};
	}
	nconns = n;
	TAILQ_FOREACH(listener, &net->listeners, entry)
		fds[n++] = (struct pollfd){.fd = listener->fd, .events = POLLIN};
	if (poll(fds, n, ms) < 0) {
		if (errno == EINTR)
			return;
		fail("poll: %s", strerror(errno));
	}
	for (nfds_t i = 0; i < nconns; i++)
		if (fds[i].revents)
			conn_serve(net, conns[i], fds[i].revents);
	n = nconns;
	TAILQ_FOREACH(listener, &net->listeners, entry)
		if (fds[n++].revents)
			listener_accept(net, listener);
}

bool net_run_until(struct net *net, bool (*done)(void *arg), void *arg, unsigned seconds)
{
	unsigned long moved = net->moved;
	struct time_limit limit;

	time_limit_begin(&limit, seconds);
	while (!done(arg)) {
		if (net->moved != moved) {
			moved = net->moved;
			time_limit_begin(&limit, seconds);
		} else if (time_limit_passed(&limit)) {
			return false;
		}
		net_turn(net, 50);
	}
	return true;
}
