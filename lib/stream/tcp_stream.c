// SPDX-License-Identifier: BSD-3-Clause
#include "stream/tcp_stream.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/tcp_keepalive.h"
#include "stream/tcp_connect.h"

struct tcp_stream {
	struct stream stream;
	struct loop *loop;
	int fd; /* -1: closed, or never opened */
	struct loop_io *io;
	struct tcp_connect_result start; /* with the port that it holds */
	bool connecting;
	int connect_error;       /* negative errno of a connection that failed immediately */
	struct loop_task failed; /* reports it */
};

static struct tcp_stream *tcp_stream_of(struct stream *stream)
{
	return container_of(stream, struct tcp_stream, stream);
}

static const struct tcp_stream *tcp_stream_of_const(const struct stream *stream)
{
	return container_of(stream, const struct tcp_stream, stream);
}

static unsigned user_timeout_ms(uint64_t stall_timeout_us)
{
	uint64_t ms = stall_timeout_us / 1000 + TCP_STREAM_USER_TIMEOUT_MARGIN_MS;

	return ms < INT_MAX ? (unsigned)ms : (unsigned)INT_MAX;
}

void tcp_stream_tune_listener(int fd, uint64_t stall_timeout_us, unsigned keepalive_s)
{
	tcp_keepalive_set(fd, keepalive_s, user_timeout_ms(stall_timeout_us));
}

/* The operations */

static ssize_t op_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	ssize_t n;

	do
		n = readv(tcp_stream_of(stream)->fd, iov, niov);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t op_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)niov};
	ssize_t n;

	do
		n = sendmsg(tcp_stream_of(stream)->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t peek(struct stream *stream, uint8_t *bytes, size_t len_bytes)
{
	ssize_t n;

	do
		n = recv(tcp_stream_of(stream)->fd, bytes, len_bytes, MSG_PEEK | MSG_DONTWAIT);
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
	return shutdown(tcp_stream_of(stream)->fd, SHUT_WR) < 0 ? -errno : 0;
}

static void op_watch(struct stream *stream, unsigned events)
{
	struct tcp_stream *sock = tcp_stream_of(stream);

	if (sock->io && !sock->connecting)
		loop_io_set(sock->loop, sock->io, events);
}

static unsigned op_ended(const struct stream *stream)
{
	struct pollfd pfd = {.fd = tcp_stream_of_const(stream)->fd, .events = POLLRDHUP};
	unsigned ended = 0;

	if (poll(&pfd, 1, 0) <= 0)
		return 0;
	if (pfd.revents & (POLLERR | POLLHUP))
		ended |= LOOP_LOST;
	if (pfd.revents & POLLRDHUP)
		ended |= LOOP_END;
	return ended;
}

static uint64_t ioctl_bytes(const struct stream *stream, unsigned long what)
{
	int bytes = 0;

	if (ioctl(tcp_stream_of_const(stream)->fd, what, &bytes) < 0 || bytes < 0)
		return 0;
	return (uint64_t)bytes;
}

static uint64_t op_unacked_bytes(const struct stream *stream)
{
	return ioctl_bytes(stream, SIOCOUTQ);
}

static uint64_t op_unsent_bytes(const struct stream *stream)
{
	return ioctl_bytes(stream, SIOCOUTQNSD);
}

static void op_addrs(const struct stream *stream, struct sockaddr_storage *local,
		     struct sockaddr_storage *peer)
{
	int fd = tcp_stream_of_const(stream)->fd;
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
	struct tcp_stream *sock = tcp_stream_of(stream);

	loop_task_cancel(sock->loop, &sock->failed);
	loop_io_free(sock->loop, sock->io);
	sock->io = NULL;
	if (sock->fd < 0)
		return;
	if (reset)
		setsockopt(sock->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(sock->fd);
	sock->fd = -1;
	tcp_connect_release(&sock->start, loop_now_us(sock->loop));
}

static void op_free(struct stream *stream)
{
	free(tcp_stream_of(stream));
}

static const struct stream_ops tcp_stream_ops = {
	.readv = op_readv,
	.writev = op_writev,
	.peek = op_peek,
	.shutdown = op_shutdown,
	.watch = op_watch,
	.ended = op_ended,
	.unacked_bytes = op_unacked_bytes,
	.unsent_bytes = op_unsent_bytes,
	.addrs = op_addrs,
	.close = op_close,
	.free = op_free,
};

/* Events */

static void report_failed(void *arg)
{
	struct tcp_stream *sock = arg;

	sock->stream.events->connected(sock->stream.arg, sock->connect_error);
}

static void on_socket_event(void *arg, unsigned events)
{
	struct tcp_stream *sock = arg;
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

static struct tcp_stream *tcp_stream_new(struct tcp_stream_net *net)
{
	struct tcp_stream *sock = calloc(1, sizeof(*sock));

	if (!sock)
		return NULL;
	sock->stream.ops = &tcp_stream_ops;
	sock->loop = net->loop;
	sock->fd = -1;
	loop_task_init(&sock->failed, report_failed, sock);
	return sock;
}

int tcp_stream_adopt(struct tcp_stream_net *net, int fd, struct stream **out)
{
	struct tcp_stream *sock = tcp_stream_new(net);

	if (!sock)
		goto out_fd;
	sock->io = loop_io_new(net->loop, fd, on_socket_event, sock);
	if (!sock->io)
		goto out_free;
	sock->fd = fd;
	tcp_keepalive_set_jitter(fd, net->keepalive_s);
	*out = &sock->stream;
	return 0;
out_free:
	free(sock);
out_fd:
	close(fd);
	return -ENOMEM;
}

void tcp_stream_set_lowat(int fd, unsigned bytes)
{
	const int lowat = (int)bytes;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
}

ssize_t tcp_stream_peek(struct stream *stream, uint8_t *bytes, size_t len_bytes)
{
	tcp_stream_set_lowat(tcp_stream_of(stream)->fd, 1);
	return peek(stream, bytes, len_bytes);
}

int tcp_stream_detach(struct stream *stream)
{
	struct tcp_stream *sock = tcp_stream_of(stream);
	int fd = sock->fd;

	loop_io_free(sock->loop, sock->io);
	free(sock);
	return fd;
}

static int tcp_stream_connect(struct stream_net *base, const struct stream_target *target,
			      struct stream **out)
{
	struct tcp_stream_net *net = container_of(base, struct tcp_stream_net, net);
	struct tcp_stream *sock = tcp_stream_new(net);
	int fd;

	if (!sock)
		return -ENOMEM;
	*out = &sock->stream;
	sock->start = tcp_connect_start(net->reserved_ports, net->reserved_ports_rr_start, target,
					loop_now_us(net->loop));
	sock->stream.port_retries = sock->start.retries;
	sock->stream.port_shortfall = sock->start.shortfall;
	fd = sock->start.fd;
	if (fd < 0) {
		sock->connect_error = fd;
		loop_defer(net->loop, &sock->failed);
		return 0;
	}
	sock->io = loop_io_new(net->loop, fd, on_socket_event, sock);
	if (!sock->io) {
		close(fd);
		tcp_connect_release(&sock->start, loop_now_us(net->loop));
		free(sock);
		return -ENOMEM;
	}
	tcp_keepalive_set(fd, net->keepalive_s, net->user_timeout_ms);
	sock->fd = fd;
	sock->connecting = true;
	loop_io_set(net->loop, sock->io, LOOP_WRITE);
	return 0;
}

void tcp_stream_net_init(struct tcp_stream_net *net, struct loop *loop,
			 struct reserved_ports *reserved_ports, uint64_t stall_timeout_us,
			 unsigned keepalive_s)
{
	*net = (struct tcp_stream_net){
		.net.connect = tcp_stream_connect,
		.loop = loop,
		.user_timeout_ms = user_timeout_ms(stall_timeout_us),
		.keepalive_s = keepalive_s,
		.reserved_ports = reserved_ports,
		.reserved_ports_rr_start = reserved_ports_rr_start(reserved_ports),
	};
}
