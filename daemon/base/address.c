// SPDX-License-Identifier: BSD-3-Clause
/* Socket addresses as text. */
#include "daemon/base/address.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/sockaddr.h"

const char *address_text(const struct sockaddr *addr, char text[ADDRESS_TEXT_BYTES])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	char host[INET6_ADDRSTRLEN];
	bool brackets = false;

	if (addr->sa_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	} else if (addr->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host, sizeof(host));
	} else if (addr->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		brackets = true;
	} else {
		snprintf(text, ADDRESS_TEXT_BYTES, "-");
		return text;
	}
	snprintf(text, ADDRESS_TEXT_BYTES, "%s%s%s:%u", brackets ? "[" : "", host,
		 brackets ? "]" : "", sockaddr_port(addr));
	return text;
}
