// SPDX-License-Identifier: BSD-3-Clause
#include "base/listen_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/sockaddr.h"

int listen_socket_new(const struct sockaddr *addr)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* [::] accepts IPv4 clients too, whatever the system's default. */
	if (addr->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return fd;
}

static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       a6->sin6_scope_id == b6->sin6_scope_id &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

static bool listens_at(int fd, const struct sockaddr *addr)
{
	struct sockaddr_storage at = {0};
	socklen_t len = sizeof(at);

	return !getsockname(fd, (struct sockaddr *)&at, &len) &&
	       is_same((const struct sockaddr *)&at, addr);
}

int listen_socket_find(const struct listen_sockets *have, const struct sockaddr *addr)
{
	int fd;

	for (size_t i = 0; have && i < have->count; i++) {
		if (!listens_at(have->fds[i], addr))
			continue;
		fd = fcntl(have->fds[i], F_DUPFD_CLOEXEC, 0);
		if (fd >= 0)
			(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return fd < 0 ? -errno : fd;
	}
	return -ENOENT;
}

static bool is_any(const struct sockaddr *addr)
{
	const struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
	struct in6_addr host;

	return sockaddr_host(addr, &host) &&
	       (IN6_IS_ADDR_UNSPECIFIED(&host) || !memcmp(&host, &mapped, sizeof(host)));
}

/* An absent address can be added later; an absent address family cannot. */
static int bind_absent(int fd, const struct sockaddr *addr)
{
	int on = 1;

	if (is_any(addr) || setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)))
		return -EADDRNOTAVAIL;
	return bind(fd, addr, sockaddr_bytes(addr)) ? -errno : 0;
}

int listen_socket_start(int fd, const struct sockaddr *addr, int backlog, bool *absent)
{
	int err = bind(fd, addr, sockaddr_bytes(addr)) ? -errno : 0;

	if (err == -EADDRNOTAVAIL && absent) {
		err = bind_absent(fd, addr);
		*absent = !err;
	}
	if (!err && listen(fd, backlog))
		err = -errno;
	return err;
}

bool listen_socket_has_host(const struct sockaddr *addr)
{
	struct sockaddr_storage any_port = {0};
	int fd = listen_socket_new(addr);
	bool absent;

	if (fd < 0)
		return true;
	memcpy(&any_port, addr, sockaddr_bytes(addr));
	sockaddr_set_port((struct sockaddr *)&any_port, 0);
	absent = bind(fd, (struct sockaddr *)&any_port, sockaddr_bytes(addr)) &&
		 errno == EADDRNOTAVAIL;
	close(fd);
	return !absent;
}
