// SPDX-License-Identifier: BSD-3-Clause
#include "base/sockaddr.h"

#include <string.h>

socklen_t sockaddr_bytes(const struct sockaddr *addr)
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

uint16_t sockaddr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)addr)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	default:
		return 0;
	}
}

void sockaddr_set_port(struct sockaddr *addr, uint16_t port)
{
	if (addr->sa_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(port);
	else if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
}

bool sockaddr_host(const struct sockaddr *addr, struct in6_addr *host)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	memset(host, 0, sizeof(*host));
	if (addr->sa_family == AF_INET6) {
		*host = ((const struct sockaddr_in6 *)addr)->sin6_addr;
		return true;
	}
	if (addr->sa_family != AF_INET)
		return false;
	host->s6_addr[10] = host->s6_addr[11] = 0xff;
	memcpy(host->s6_addr + 12, &in->sin_addr, sizeof(in->sin_addr));
	return true;
}

bool sockaddr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	struct in6_addr one, other;

	return sockaddr_host(a, &one) && sockaddr_host(b, &other) &&
	       !memcmp(&one, &other, sizeof(one));
}

bool sockaddr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	return sockaddr_same_host(a, b) && sockaddr_port(a) == sockaddr_port(b);
}

void sockaddr_unmap(struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 in6 = *(const struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	if (addr->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	memset(addr, 0, sizeof(*addr));
	in->sin_family = AF_INET;
	in->sin_port = in6.sin6_port;
	memcpy(&in->sin_addr, in6.sin6_addr.s6_addr + 12, sizeof(in->sin_addr));
}

bool sockaddr_is_loopback(const struct sockaddr *addr)
{
	struct in6_addr host;

	if (!sockaddr_host(addr, &host))
		return false;
	return IN6_IS_ADDR_V4MAPPED(&host) ? host.s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&host);
}
