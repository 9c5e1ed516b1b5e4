// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/listen_error.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/config/config_value.h"

/* The proxy's own iWARP uses a TCP port; so does rdma:// without a device. */
static const char *advice_in_use(enum transport transport)
{
	if (transport == TRANSPORT_VERBS)
		return ": is another NFS server using it over RDMA? See rdma resource show cm_id";
	return ": is another NFS server using it? See ss -ltnp (the kernel's NFS server is listed "
	       "without a process)";
}

static const char *advice_no_device(enum transport transport)
{
	return transport == TRANSPORT_VERBS ? ": that address is not on an RDMA device (see rdma "
					      "link); iwarp:// needs no "
					      "device"
					    : "";
}

/* Returns the advice, with its separator; "" if none is known. */
static const char *advice(enum transport transport, const struct sockaddr *addr, int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return sockaddr_port(addr) < IPPORT_RESERVED
			       ? ": a port below 1024 needs CAP_NET_BIND_SERVICE, which the unit "
				 "grants"
			       : "";
	case EADDRINUSE:
		return advice_in_use(transport);
	case EADDRNOTAVAIL:
		return ": is that address on an interface of this host, and up?";
	case EAFNOSUPPORT:
		return addr->sa_family == AF_INET6 ? ": does this host have IPv6? 0.0.0.0 means "
						     "every IPv4 address"
						   : "";
	case ENODEV:
		return advice_no_device(transport);
	default:
		return "";
	}
}

void listen_error_address(enum transport transport, const struct sockaddr *addr, int err,
			  char *text, size_t text_bytes)
{
	char where[ADDRESS_TEXT_BYTES];

	snprintf(text, text_bytes, "cannot listen on %s://%s: %s%s", transport_name(transport),
		 address_text(addr, where), strerror(-err), advice(transport, addr, -err));
}

void listen_error_name(const struct config_uri *uri, const char *why, char *text, size_t text_bytes)
{
	char where[CONFIG_URI_TEXT_BYTES];

	snprintf(text, text_bytes,
		 "cannot listen on %s: the name %s does not resolve: %s. Check the name in "
		 "/etc/hosts or DNS, or give an address",
		 config_uri_text(uri, where), uri->host, why);
}
