// SPDX-License-Identifier: BSD-3-Clause
/* Addresses as rpcbind has them. */
#include "daemon/rpcbind/universal_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"

const char *universal_address(const struct sockaddr *addr, char text[UNIVERSAL_ADDRESS_BYTES])
{
	char name[INET6_ADDRSTRLEN];
	struct in6_addr host;
	uint16_t port = sockaddr_port(addr);

	text[0] = '\0';
	if (!sockaddr_host(addr, &host))
		return text;
	if (IN6_IS_ADDR_V4MAPPED(&host))
		inet_ntop(AF_INET, &host.s6_addr[12], name, sizeof(name));
	else
		inet_ntop(AF_INET6, &host, name, sizeof(name));
	snprintf(text, UNIVERSAL_ADDRESS_BYTES, "%s.%u.%u", name, port >> 8, port & 0xffu);
	return text;
}
