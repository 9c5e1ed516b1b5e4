// SPDX-License-Identifier: BSD-3-Clause
/* What is set on every TCP socket of the iwarp fabric, and the addresses that it takes. */
#include "fabric/iwarp/socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

/* An idle peer is asked after a minute and given up 30 s later; so is one that takes no data. */
#define KEEPALIVE_IDLE_S     60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES     3
#define USER_TIMEOUT_MS      60000u

void iwarp_socket_tune(int fd)
{
	static const struct {
		int level, option, value;
	} settings[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		(void)setsockopt(fd, settings[i].level, settings[i].option, &settings[i].value,
				 sizeof(settings[i].value));
}

socklen_t iwarp_addr_len(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

in_port_t iwarp_addr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	default:
		return 0;
	}
}

/*
 * SO_REUSEADDR lets a port serve again while an earlier connection from it is in TIME_WAIT; connect() then says
 * EADDRNOTAVAIL if the pair of addresses is really taken. Without a port it is connect() that chooses one, so that
 * no port is used up that could serve towards another peer.
 */
static int source_bind(int fd, const struct sockaddr *addr, const struct sockaddr_storage *source)
{
	const struct sockaddr *from = (const struct sockaddr *)source;
	int on = 1;

	if (source->ss_family == AF_UNSPEC)
		return 0;
	if (source->ss_family != addr->sa_family)
		return -EAFNOSUPPORT;
	if (iwarp_addr_port(from))
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, from, iwarp_addr_len(from)) < 0 ? -errno : 0;
}

int iwarp_socket_connect(const struct sockaddr *addr, const struct sockaddr_storage *source)
{
	socklen_t len = iwarp_addr_len(addr);
	int fd, err;

	if (!len)
		return -EAFNOSUPPORT;
	fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = source_bind(fd, addr, source);
	if (!err && connect(fd, addr, len) < 0 && errno != EINPROGRESS && errno != EINTR)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}
