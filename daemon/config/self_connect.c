// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/self_connect.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sockaddr.h"

/* One lock for all sets: lookups are rare, and sets change only at a reload. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct self_connect_addr {
	enum transport transport;
	struct sockaddr_storage addr;
};

/*
 * Returns whether a listener could accept a connection of that transport. iwarp listens on a TCP
 * port, which any TCP connection can reach, and rdma can fall back to iwarp at either end. verbs
 * listens on a TCP port only with software iWARP devices, which accept only their own connections.
 */
static bool meets(enum transport connect, enum transport listen)
{
	return !(connect == TRANSPORT_TCP && listen == TRANSPORT_VERBS) &&
	       !(connect == TRANSPORT_VERBS && listen == TRANSPORT_TCP);
}

/* A link-local address identifies a host only on its link. */
static uint32_t scope_of(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)
		       ? in6->sin6_scope_id
		       : 0;
}

static bool same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	struct in6_addr one, other;

	return sockaddr_host(a, &one) && sockaddr_host(b, &other) &&
	       IN6_ARE_ADDR_EQUAL(&one, &other) && scope_of(a) == scope_of(b);
}

/* Uses getifaddrs(): with net.ipv4.ip_nonlocal_bind, bind() would succeed for any address. */
bool self_connect_is_local(const struct sockaddr *addr)
{
	struct ifaddrs *list;
	bool found = false;

	if (sockaddr_is_loopback(addr))
		return true;
	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = at->ifa_addr && same_host(at->ifa_addr, addr);
	freeifaddrs(list);
	return found;
}

static bool is_any(const struct in6_addr *host)
{
	return IN6_IS_ADDR_UNSPECIFIED(host) ||
	       (IN6_IS_ADDR_V4MAPPED(host) && !memcmp(host->s6_addr + 12, "\0\0\0\0", 4));
}

/* Returns whether a listener at @at accepts a connection to @to with the same port. */
static bool addr_matches(const struct sockaddr *at, const struct sockaddr *to)
{
	struct in6_addr addr_entry, host;
	bool to_any;

	if (!sockaddr_host(at, &addr_entry) || !sockaddr_host(to, &host))
		return false;
	to_any = is_any(&host);
	/* The kernel connects to loopback instead: ::1 or 127.0.0.1. */
	if (to_any) {
		host.s6_addr[15] = 1;
		host.s6_addr[12] = IN6_IS_ADDR_V4MAPPED(&host) ? 127 : 0;
	}
	if (!is_any(&addr_entry))
		return IN6_ARE_ADDR_EQUAL(&addr_entry, &host) && scope_of(at) == scope_of(to);
	return (!IN6_IS_ADDR_V4MAPPED(&addr_entry) || IN6_IS_ADDR_V4MAPPED(&host)) &&
	       (to_any || self_connect_is_local(to));
}

bool self_connect_matches(const struct self_connect *listeners, enum transport transport,
			  const struct sockaddr *to)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; listeners && i < listeners->count && !taken; i++) {
		const struct self_connect_addr *addr_entry = &listeners->listeners[i];
		const struct sockaddr *at = (const struct sockaddr *)&addr_entry->addr;

		taken = meets(transport, addr_entry->transport) &&
			sockaddr_port(at) == sockaddr_port(to) && addr_matches(at, to);
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

void self_connect_replace(struct self_connect *listeners, struct self_connect *by)
{
	struct self_connect old;

	pthread_mutex_lock(&lock);
	old = *listeners;
	*listeners = *by;
	pthread_mutex_unlock(&lock);
	self_connect_fini(&old);
	*by = (struct self_connect){0};
}

int self_connect_add(struct self_connect *listeners, enum transport transport,
		     const struct sockaddr *addr)
{
	struct self_connect_addr *more = reallocarray(listeners->listeners, listeners->count + 1,
						      sizeof(*listeners->listeners));

	if (!more)
		return -ENOMEM;
	listeners->listeners = more;
	more[listeners->count] = (struct self_connect_addr){.transport = transport};
	memcpy(&more[listeners->count++].addr, addr, sockaddr_bytes(addr));
	return 0;
}

void self_connect_fini(struct self_connect *listeners)
{
	free(listeners->listeners);
	*listeners = (struct self_connect){0};
}

/* Compares by the file alone: names match only if they are equal. */
static bool reaches(const struct config_uri *connect, const struct config_uri *listen)
{
	struct sockaddr_storage to[CONFIG_URI_ADDRS], at[CONFIG_URI_ADDRS];
	size_t nto, nat;

	if (strcmp(connect->port, listen->port) || !meets(connect->transport, listen->transport))
		return false;
	if (!strcasecmp(connect->host, listen->host))
		return true;
	nto = config_uri_addrs(connect, to);
	nat = config_uri_addrs(listen, at);
	for (size_t i = 0; i < nto * nat; i++)
		if (addr_matches((struct sockaddr *)&at[i / nto], (struct sockaddr *)&to[i % nto]))
			return true;
	return false;
}

const struct service_config *self_connect_find(const struct config *config,
					       const struct config_uri *connect)
{
	for (size_t i = 0; i < config->nservices; i++) {
		const struct service_config *service = &config->services[i];

		for (unsigned k = 0; service->listen.host && k < config_nlisteners(service); k++)
			if (reaches(connect, config_listener(service, k)))
				return service;
	}
	return NULL;
}
