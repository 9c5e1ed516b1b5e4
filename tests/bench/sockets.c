// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/net.h"

#define BACKLOG  4096
#define RESERVED 300u /* ports below 1024 that connections come from, of one address */

static unsigned from_host, from_count; /* 0: connections come from anywhere */

static uint16_t port_parse(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (end == text || *end || port > UINT16_MAX)
		fail("%s is no port", text);
	return htons((uint16_t)port);
}

struct address address_parse(const char *host, const char *port)
{
	struct address address = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&address.storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address.storage;

	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = port_parse(port);
		address.len = sizeof(*in);
	} else if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = port_parse(port);
		address.len = sizeof(*in6);
	} else {
		fail("%s is no address", host);
	}
	return address;
}

uint16_t address_port(const struct address *address)
{
	if (address->storage.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)&address->storage)->sin6_port);
	return ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
}

static void send_at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int socket_listen(const struct address *address)
{
	int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&address->storage, address->len) ||
	    listen(fd, BACKLOG))
		fail("listen on port %u: %s", address_port(address), strerror(errno));
	return fd;
}

void sockets_come_from(unsigned host)
{
	from_host = host;
	from_count = 0;
}

/* Returns 0 or -errno. */
static int bind_reserved(int fd)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from_host + from_count / RESERVED),
		.sin_port = htons((uint16_t)(IPPORT_RESERVED - 1 - from_count % RESERVED)),
	};
	int one = 1;

	from_count++;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, (struct sockaddr *)&in, sizeof(in)) ? -errno : 0;
}

int socket_connect(const struct address *address)
{
	int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	send_at_once(fd);
	err = from_host ? bind_reserved(fd) : 0;
	if (!err && (!connect(fd, (const struct sockaddr *)&address->storage, address->len) ||
		     errno == EINPROGRESS))
		return fd;
	if (!err)
		err = -errno;
	close(fd);
	return err;
}

int socket_accept(int listener, struct address *peer)
{
	struct address from = {.len = sizeof(from.storage)};
	int fd = accept4(listener, (struct sockaddr *)&from.storage, &from.len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED)
			fail("accept: %s", strerror(errno));
		return -EAGAIN;
	}
	send_at_once(fd);
	if (peer)
		*peer = from;
	return fd;
}

int poll_new(void)
{
	int poll = epoll_create1(EPOLL_CLOEXEC);

	if (poll < 0)
		fail("epoll_create1: %s", strerror(errno));
	return poll;
}

static void poll_control(int poll, int operation, int fd, uint32_t events, void *arg)
{
	struct epoll_event event = {.events = events, .data.ptr = arg};

	if (epoll_ctl(poll, operation, fd, &event))
		fail("epoll_ctl: %s", strerror(errno));
}

void poll_watch(int poll, int fd, uint32_t events, void *arg)
{
	poll_control(poll, EPOLL_CTL_ADD, fd, events, arg);
}

void poll_change(int poll, int fd, uint32_t events, void *arg)
{
	poll_control(poll, EPOLL_CTL_MOD, fd, events, arg);
}

void files_unlimited(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
