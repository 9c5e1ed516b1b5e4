// SPDX-License-Identifier: BSD-3-Clause
/* Streams on TCP sockets, and the choice of the port that a connection comes from. */
#include "stream/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define KEEPALIVE_IDLE_S     60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES     6
#define RESERVED_PORTS       (SOCKET_RESERVED_PORT_FIRST - SOCKET_RESERVED_PORT_LAST + 1)

struct socket_stream {
	struct stream stream;
	struct loop *loop;
	int fd; /* -1: closed, or there never was one */
	struct loop_io *io;
	bool connecting;
	int connect_error;       /* negative errno of a connection that failed at once */
	struct loop_task failed; /* says so */
};

static struct socket_stream *socket_of(struct stream *stream)
{
	return container_of(stream, struct socket_stream, stream);
}

static const struct socket_stream *socket_of_const(const struct stream *stream)
{
	return container_of(stream, const struct socket_stream, stream);
}

/* Non-blocking, no delay, keepalive; what the family lacks is left out. */
static void set_options(const struct socket_net *net, int fd)
{
	const struct {
		int level, name, value;
	} options[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, (int)net->user_timeout_ms},
	};

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
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

static int op_peek(struct stream *stream)
{
	char byte;
	ssize_t n;

	do
		n = recv(socket_of(stream)->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int)n;
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

static uint64_t op_untaken_bytes(const struct stream *stream)
{
	int bytes = 0;

	if (ioctl(socket_of_const(stream)->fd, SIOCOUTQ, &bytes) < 0 || bytes < 0)
		return 0;
	return (uint64_t)bytes;
}

static void op_addrs(const struct stream *stream, struct sockaddr_storage *local,
		     struct sockaddr_storage *peer)
{
	int fd = socket_of_const(stream)->fd;
	socklen_t len = sizeof(*local);

	getsockname(fd, (struct sockaddr *)local, &len);
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
	.untaken_bytes = op_untaken_bytes,
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
	set_options(net, fd);
	*out = &sock->stream;
	return 0;
out_free:
	free(sock);
out_fd:
	close(fd);
	return -ENOMEM;
}

/* The source ports to try, in order. */
struct port_choice {
	enum { CHOOSE_PREFERRED, CHOOSE_RESERVED, CHOOSE_ANY, CHOOSE_NONE } next;
	unsigned reserved_tried;
};

static uint16_t next_reserved(struct socket_net *net)
{
	unsigned port = net->next_reserved_port;

	net->next_reserved_port =
		port > SOCKET_RESERVED_PORT_LAST ? port - 1 : SOCKET_RESERVED_PORT_FIRST;
	return (uint16_t)port;
}

static bool preferred_is_allowed(const struct stream_target *target)
{
	return target->preferred_port && (target->source_port != SOURCE_PORT_RESERVED ||
					  target->preferred_port < IPPORT_RESERVED);
}

/* The next port to bind, 0 to leave it to the kernel, -1 if there is no other choice. */
static int choose_port(struct socket_net *net, const struct stream_target *target,
		       struct port_choice *choice)
{
	if (choice->next == CHOOSE_PREFERRED) {
		choice->next = CHOOSE_RESERVED;
		if (preferred_is_allowed(target))
			return target->preferred_port;
	}
	if (choice->next == CHOOSE_RESERVED) {
		if (target->source_port != SOURCE_PORT_ANY &&
		    choice->reserved_tried++ < RESERVED_PORTS)
			return next_reserved(net);
		choice->next = CHOOSE_ANY;
	}
	if (choice->next == CHOOSE_ANY) {
		choice->next = CHOOSE_NONE;
		if (target->source_port != SOURCE_PORT_RESERVED)
			return 0;
	}
	return -1;
}

static socklen_t sockaddr_bytes(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in);
}

/*
 * Binds the source address, if there is one, and @port. SO_REUSEADDR lets one port serve connections to
 * several servers, and again while an earlier connection from it still is in TIME_WAIT; connect() then
 * says EADDRNOTAVAIL if the pair of addresses is really taken. A port left to the kernel is chosen by
 * connect(), which alone knows the pair.
 */
static int bind_source(int fd, const struct stream_target *target, uint16_t port)
{
	struct sockaddr_storage addr = target->source;
	int on = 1;

	if (addr.ss_family == AF_UNSPEC && port == 0)
		return 0;
	if (addr.ss_family == AF_UNSPEC)
		addr.ss_family = target->addr.ss_family;
	if (addr.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&addr)->sin_port = htons(port);
	if (port == 0)
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&addr, sockaddr_bytes(&addr)) < 0)
		return -errno;
	return 0;
}

/* From one port; returns the descriptor, on its way, or a negative errno. */
static int start(const struct socket_net *net, const struct stream_target *target, uint16_t port)
{
	int fd = socket(target->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	set_options(net, fd);
	rc = bind_source(fd, target, port);
	if (rc < 0)
		goto out_fd;
	if (connect(fd, (const struct sockaddr *)&target->addr, sockaddr_bytes(&target->addr)) <
		    0 &&
	    errno != EINPROGRESS) {
		rc = -errno;
		goto out_fd;
	}
	return fd;
out_fd:
	close(fd);
	return rc;
}

/* From the first port that can be had; returns the descriptor or a negative errno. */
static int start_from_any_port(struct socket_net *net, const struct stream_target *target,
			       unsigned *retries)
{
	struct port_choice choice = {.next = CHOOSE_PREFERRED};
	int port, rc = -EADDRINUSE;

	while ((port = choose_port(net, target, &choice)) >= 0) {
		rc = start(net, target, (uint16_t)port);
		if (rc >= 0 || port == 0)
			return rc;
		if (rc == -EACCES) {
			/* No port below 1024 is for us. */
			choice.reserved_tried = RESERVED_PORTS;
		} else if (rc != -EADDRINUSE && rc != -EADDRNOTAVAIL) {
			return rc;
		}
		++*retries;
	}
	return rc;
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
	fd = start_from_any_port(net, target, &sock->stream.port_retries);
	if (fd < 0) {
		sock->connect_error = fd;
		loop_defer(net->loop, &sock->failed);
		return 0;
	}
	sock->io = loop_io_new(net->loop, fd, on_io, sock);
	if (!sock->io) {
		close(fd);
		free(sock);
		return -ENOMEM;
	}
	sock->fd = fd;
	sock->connecting = true;
	loop_io_set(net->loop, sock->io, LOOP_WRITE);
	return 0;
}

void socket_net_init(struct socket_net *net, struct loop *loop, uint64_t stall_timeout_us)
{
	uint64_t user_timeout_ms = stall_timeout_us / 1000 + SOCKET_USER_TIMEOUT_MARGIN_MS;

	*net = (struct socket_net){
		.net.connect = socket_connect,
		.loop = loop,
		.user_timeout_ms =
			user_timeout_ms < INT_MAX ? (unsigned)user_timeout_ms : (unsigned)INT_MAX,
		.next_reserved_port = SOCKET_RESERVED_PORT_FIRST,
	};
}
