// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/listen_error.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/config/config_value.h"

/* Our own iWARP has a TCP port, as rdma:// has where there is no device. */
static const char *taken(enum transport transport)
{
	if (transport == TRANSPORT_VERBS)
		return ": another NFS server over RDMA? rdma resource show cm_id shows who has the "
		       "port";
	return ": another NFS server? ss -ltnp shows who has the port (the kernel's server without "
	       "a process)";
}

static const char *no_device(enum transport transport)
{
	return transport == TRANSPORT_VERBS
		       ? ": no RDMA device is behind that address (rdma link shows them); iwarp:// "
			 "needs none"
		       : "";
}

/* The cure, with what parts it from the cause; "" where none is known. */
static const char *cure(enum transport transport, const struct sockaddr *addr, int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return sockaddr_port(addr) < IPPORT_RESERVED
			       ? ": a port below 1024 takes CAP_NET_BIND_SERVICE, which the unit "
				 "grants"
			       : "";
	case EADDRINUSE:
		return taken(transport);
	case EADDRNOTAVAIL:
		return ": is that address on an interface of this host, and up?";
	case EAFNOSUPPORT:
		return addr->sa_family == AF_INET6 ? ": has this host no IPv6? 0.0.0.0 is every "
						     "address of IPv4"
						   : "";
	case ENODEV:
		return no_device(transport);
	default:
		return "";
	}
}

void listen_error_address(enum transport transport, const struct sockaddr *addr, int err,
			  char *text, size_t text_bytes)
{
	char where[ADDRESS_TEXT_BYTES];

	snprintf(text, text_bytes, "cannot listen on %s://%s: %s%s", transport_name(transport),
		 address_text(addr, where), strerror(-err), cure(transport, addr, -err));
}

void listen_error_name(const struct config_uri *uri, const char *why, char *text, size_t text_bytes)
{
	char where[CONFIG_URI_TEXT_BYTES];

	snprintf(text, text_bytes,
		 "cannot listen on %s: the name %s does not resolve: %s: is it right, and is it in "
		 "/etc/hosts or known to a name server? An address needs neither",
		 config_uri_text(uri, where), uri->host, why);
}
