// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"

const char *address_host_text(const struct sockaddr *addr, char text[ADDRESS_HOST_BYTES])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	text[0] = '\0';
	if (addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, text, ADDRESS_HOST_BYTES);
	else if (addr->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], text, ADDRESS_HOST_BYTES);
	else if (addr->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, text, ADDRESS_HOST_BYTES);
	return text;
}

const char *address_text(const struct sockaddr *addr, char text[ADDRESS_TEXT_BYTES])
{
	char host[ADDRESS_HOST_BYTES];
	const char *colon;

	address_host_text(addr, host);
	colon = strchr(host, ':');
	if (host[0])
		snprintf(text, ADDRESS_TEXT_BYTES, "%s%s%s:%u", colon ? "[" : "", host,
			 colon ? "]" : "", sockaddr_port(addr));
	else
		snprintf(text, ADDRESS_TEXT_BYTES, "-");
	return text;
}
