// SPDX-License-Identifier: BSD-3-Clause
#include "stream/socket.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/keepalive.h"
#include "stream/start.h"

struct socket_stream {
	struct stream stream;
	struct loop *loop;
	int fd; /* -1: closed, or never opened */
	struct loop_io *io;
	struct tcp_connect_result start; /* with the port that it holds */
	bool connecting;
	int connect_error;       /* negative errno of a connection that failed immediately */
	struct loop_task failed; /* reports it */
};

static struct socket_stream *socket_of(struct stream *stream)
{
	return container_of(stream, struct socket_stream, stream);
}

static const struct socket_stream *socket_of_const(const struct stream *stream)
{
	return container_of(stream, const struct socket_stream, stream);
}

static unsigned user_timeout_ms(uint64_t stall_timeout_us)
{
	uint64_t ms = stall_timeout_us / 1000 + SOCKET_USER_TIMEOUT_MARGIN_MS;

	return ms < INT_MAX ? (unsigned)ms : (unsigned)INT_MAX;
}

void socket_tune_listener(int fd, uint64_t stall_timeout_us, unsigned keepalive_s)
{
	keepalive_tune(fd, keepalive_s, user_timeout_ms(stall_timeout_us));
}

/* The operations */

static ssize_t op_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	ssize_t n;

	do
		n = readv(socket_of(stream)->fd, iov, niov);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t op_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)niov};
	ssize_t n;

	do
		n = sendmsg(socket_of(stream)->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t peek(struct stream *stream, uint8_t *bytes, size_t len_bytes)
{
	ssize_t n;

	do
		n = recv(socket_of(stream)->fd, bytes, len_bytes, MSG_PEEK | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int op_peek(struct stream *stream)
{
	uint8_t byte;

	return (int)peek(stream, &byte, 1);
}

static int op_shutdown(struct stream *stream)
{
	return shutdown(socket_of(stream)->fd, SHUT_WR) < 0 ? -errno : 0;
}

static void op_watch(struct stream *stream, unsigned events)
{
	struct socket_stream *sock = socket_of(stream);

	if (sock->io && !sock->connecting)
		loop_io_set(sock->loop, sock->io, events);
}

static unsigned op_ended(const struct stream *stream)
{
	struct pollfd ask = {.fd = socket_of_const(stream)->fd, .events = POLLRDHUP};
	unsigned ended = 0;

	if (poll(&ask, 1, 0) <= 0)
		return 0;
	if (ask.revents & (POLLERR | POLLHUP))
		ended |= LOOP_LOST;
	if (ask.revents & POLLRDHUP)
		ended |= LOOP_END;
	return ended;
}

static uint64_t ask_bytes(const struct stream *stream, unsigned long what)
{
	int bytes = 0;

	if (ioctl(socket_of_const(stream)->fd, what, &bytes) < 0 || bytes < 0)
		return 0;
	return (uint64_t)bytes;
}

static uint64_t op_untaken_bytes(const struct stream *stream)
{
	return ask_bytes(stream, SIOCOUTQ);
}

static uint64_t op_unsent_bytes(const struct stream *stream)
{
	return ask_bytes(stream, SIOCOUTQNSD);
}

static void op_addrs(const struct stream *stream, struct sockaddr_storage *local,
		     struct sockaddr_storage *peer)
{
	int fd = socket_of_const(stream)->fd;
	socklen_t len = sizeof(*local);

	getsockname(fd, (struct sockaddr *)local, &len);
	if (!peer)
		return;
	len = sizeof(*peer);
	getpeername(fd, (struct sockaddr *)peer, &len);
}

static void op_close(struct stream *stream, bool reset)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = 0};
	struct socket_stream *sock = socket_of(stream);

	loop_task_cancel(sock->loop, &sock->failed);
	loop_io_free(sock->loop, sock->io);
	sock->io = NULL;
	if (sock->fd < 0)
		return;
	if (reset)
		setsockopt(sock->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(sock->fd);
	sock->fd = -1;
	start_end(&sock->start, loop_now_us(sock->loop));
}

static void op_free(struct stream *stream)
{
	free(socket_of(stream));
}

static const struct stream_ops socket_ops = {
	.readv = op_readv,
	.writev = op_writev,
	.peek = op_peek,
	.shutdown = op_shutdown,
	.watch = op_watch,
	.ended = op_ended,
	.untaken_bytes = op_untaken_bytes,
	.unsent_bytes = op_unsent_bytes,
	.addrs = op_addrs,
	.close = op_close,
	.free = op_free,
};

/* Events */

static void say_failed(void *arg)
{
	struct socket_stream *sock = arg;

	sock->stream.events->connected(sock->stream.arg, sock->connect_error);
}

static void on_io(void *arg, unsigned events)
{
	struct socket_stream *sock = arg;
	int error = 0;
	socklen_t len = sizeof(error);

	if (!sock->connecting) {
		sock->stream.events->ready(sock->stream.arg, events);
		return;
	}
	sock->connecting = false;
	loop_io_set(sock->loop, sock->io, 0);
	if (events & LOOP_ERROR)
		error = ENOMEM;
	else if (getsockopt(sock->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	sock->stream.events->connected(sock->stream.arg, -error);
}

static struct socket_stream *socket_new(struct socket_net *net)
{
	struct socket_stream *sock = calloc(1, sizeof(*sock));

	if (!sock)
		return NULL;
	sock->stream.ops = &socket_ops;
	sock->loop = net->loop;
	sock->fd = -1;
	loop_task_init(&sock->failed, say_failed, sock);
	return sock;
}

int socket_adopt(struct socket_net *net, int fd, struct stream **out)
{
	struct socket_stream *sock = socket_new(net);

	if (!sock)
		goto out_fd;
	sock->io = loop_io_new(net->loop, fd, on_io, sock);
	if (!sock->io)
		goto out_free;
	sock->fd = fd;
	keepalive_spread(fd, net->keepalive_s);
	*out = &sock->stream;
	return 0;
out_free:
	free(sock);
out_fd:
	close(fd);
	return -ENOMEM;
}

void socket_await(int fd, unsigned bytes)
{
	const int least = (int)bytes;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
}

ssize_t socket_first_bytes(struct stream *stream, uint8_t *bytes, size_t len_bytes)
{
	socket_await(socket_of(stream)->fd, 1);
	return peek(stream, bytes, len_bytes);
}

int socket_part(struct stream *stream)
{
	struct socket_stream *sock = socket_of(stream);
	int fd = sock->fd;

	loop_io_free(sock->loop, sock->io);
	free(sock);
	return fd;
}

static int socket_connect(struct stream_net *base, const struct stream_target *target,
			  struct stream **out)
{
	struct socket_net *net = container_of(base, struct socket_net, net);
	struct socket_stream *sock = socket_new(net);
	int fd;

	if (!sock)
		return -ENOMEM;
	*out = &sock->stream;
	sock->start = start_connection(net->ports, net->ports_turn, target, loop_now_us(net->loop));
	sock->stream.port_retries = sock->start.retries;
	sock->stream.port_shortfall = sock->start.shortfall;
	fd = sock->start.fd;
	if (fd < 0) {
		sock->connect_error = fd;
		loop_defer(net->loop, &sock->failed);
		return 0;
	}
	sock->io = loop_io_new(net->loop, fd, on_io, sock);
	if (!sock->io) {
		close(fd);
		start_end(&sock->start, loop_now_us(net->loop));
		free(sock);
		return -ENOMEM;
	}
	keepalive_tune(fd, net->keepalive_s, net->user_timeout_ms);
	sock->fd = fd;
	sock->connecting = true;
	loop_io_set(net->loop, sock->io, LOOP_WRITE);
	return 0;
}

void socket_net_init(struct socket_net *net, struct loop *loop, struct ports *ports,
		     uint64_t stall_timeout_us, unsigned keepalive_s)
{
	*net = (struct socket_net){
		.net.connect = socket_connect,
		.loop = loop,
		.user_timeout_ms = user_timeout_ms(stall_timeout_us),
		.keepalive_s = keepalive_s,
		.ports = ports,
		.ports_turn = ports_turn(ports),
	};
}
