// SPDX-License-Identifier: BSD-3-Clause
/* What is set on every TCP socket of the iwarp fabric, and the addresses that it takes. */
#include "fabric/iwarp/socket.h"

#include <netinet/tcp.h>

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
