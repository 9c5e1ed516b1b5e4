// SPDX-License-Identifier: BSD-3-Clause
/* Where this daemon listens, to tell whether it would be its own upstream. */
#include "daemon/config/own_doors.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sockaddr.h"
#include "daemon/base/resolver.h"

#define LOCALHOST_ADDRS 2

/* One for all: names are looked up seldom, and doors change when a file is read again. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct own_door {
	enum transport transport;
	struct sockaddr_storage addr;
};

/*
 * Which listener could take which connection. iwarp is a TCP port, whoever connects there, and rdma may come down to
 * iwarp, at either end. What is on verbs has a TCP port only on devices of iWARP in software, which take no other
 * connection than theirs.
 */
static const bool meets[][4] = {
	[TRANSPORT_TCP] =
		{[TRANSPORT_TCP] = true, [TRANSPORT_IWARP] = true, [TRANSPORT_RDMA] = true},
	[TRANSPORT_IWARP] = {[TRANSPORT_TCP] = true,
			     [TRANSPORT_IWARP] = true,
			     [TRANSPORT_RDMA] = true,
			     [TRANSPORT_VERBS] = true},
	[TRANSPORT_RDMA] = {[TRANSPORT_TCP] = true,
			    [TRANSPORT_IWARP] = true,
			    [TRANSPORT_RDMA] = true,
			    [TRANSPORT_VERBS] = true},
	[TRANSPORT_VERBS] =
		{[TRANSPORT_IWARP] = true, [TRANSPORT_RDMA] = true, [TRANSPORT_VERBS] = true},
};

struct host {
	struct in6_addr addr;
	uint32_t scope; /* of a link-local address, which each link has for another host */
};

static bool host_of(const struct sockaddr *addr, struct host *host)
{
	host->scope = 0;
	if (!sockaddr_host(addr, &host->addr))
		return false;
	if (IN6_IS_ADDR_LINKLOCAL(&host->addr))
		host->scope = ((const struct sockaddr_in6 *)addr)->sin6_scope_id;
	return true;
}

static bool is_v4(const struct in6_addr *host)
{
	return IN6_IS_ADDR_V4MAPPED(host);
}

static bool is_any(const struct in6_addr *host)
{
	static const uint8_t none[4];

	return is_v4(host) ? !memcmp(host->s6_addr + 12, none, 4) : IN6_IS_ADDR_UNSPECIFIED(host);
}

static bool is_loopback(const struct in6_addr *host)
{
	return is_v4(host) ? host->s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(host);
}

static bool same(const struct host *a, const struct host *b)
{
	return a->scope == b->scope && !memcmp(&a->addr, &b->addr, sizeof(a->addr));
}

/* Whether this host has the address now. */
static bool is_ours(const struct host *host)
{
	struct ifaddrs *list;
	struct host one;
	bool found = false;

	if (is_loopback(&host->addr))
		return true;
	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = at->ifa_addr && host_of(at->ifa_addr, &one) && same(&one, host);
	freeifaddrs(list);
	return found;
}

bool own_doors_is_ours(const struct sockaddr *addr)
{
	struct host host;

	return host_of(addr, &host) && is_ours(&host);
}

static bool takes(const struct own_door *door, const struct sockaddr *to)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;
	struct host at, host;

	if (sockaddr_port((const struct sockaddr *)&door->addr) != sockaddr_port(to) ||
	    !host_of((const struct sockaddr *)&door->addr, &at) || !host_of(to, &host))
		return false;
	/* The kernel connects to the loopback instead. */
	if (is_any(&host.addr) && is_v4(&host.addr))
		memcpy(host.addr.s6_addr + 12, (const uint8_t[]){127, 0, 0, 1}, 4);
	else if (is_any(&host.addr))
		host.addr = loopback;
	if (!is_any(&at.addr))
		return same(&at, &host);
	return (!is_v4(&at.addr) || is_v4(&host.addr)) && is_ours(&host);
}

bool own_doors_take(const struct own_doors *doors, enum transport transport,
		    const struct sockaddr *to)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; doors && i < doors->count && !taken; i++)
		taken = meets[transport][doors->doors[i].transport] && takes(&doors->doors[i], to);
	pthread_mutex_unlock(&lock);
	return taken;
}

void own_doors_replace(struct own_doors *doors, struct own_doors *by)
{
	struct own_doors old;

	pthread_mutex_lock(&lock);
	old = *doors;
	*doors = *by;
	pthread_mutex_unlock(&lock);
	own_doors_fini(&old);
	*by = (struct own_doors){0};
}

int own_doors_add(struct own_doors *doors, enum transport transport, const struct sockaddr *addr)
{
	struct own_door *more = reallocarray(doors->doors, doors->count + 1, sizeof(*doors->doors));

	if (!more)
		return -ENOMEM;
	doors->doors = more;
	more[doors->count] = (struct own_door){.transport = transport};
	memcpy(&more[doors->count++].addr, addr, sockaddr_bytes(addr));
	return 0;
}

void own_doors_fini(struct own_doors *doors)
{
	free(doors->doors);
	*doors = (struct own_doors){0};
}

/* ---- in the file ---- */

/* What the file alone says of an address: none of a name, but of localhost. Returns how many. */
static size_t addrs_of(const struct config_uri *uri, struct sockaddr_storage addrs[LOCALHOST_ADDRS])
{
	static const char *const localhost[LOCALHOST_ADDRS] = {"127.0.0.1", "::1"};
	static const char *const anywhere[] = {"::"};
	const char *const *hosts = (const char *const *)&uri->host;
	struct resolver_answer answer;
	size_t nhosts = 1, n = 0;

	if (!uri->host)
		return 0;
	if (!uri->host[0])
		hosts = anywhere;
	if (!strcasecmp(uri->host, "localhost")) {
		hosts = localhost;
		nhosts = LOCALHOST_ADDRS;
	}
	for (size_t i = 0; i < nhosts; i++)
		if (resolver_literal(hosts[i], uri->port, &answer))
			addrs[n++] = answer.addrs[0];
	return n;
}

static bool reaches(const struct config_uri *connect, const struct config_uri *listen)
{
	struct sockaddr_storage to[LOCALHOST_ADDRS], at[LOCALHOST_ADDRS];
	size_t nto = addrs_of(connect, to), nat = addrs_of(listen, at);
	struct own_door door = {.transport = listen->transport};
	const struct own_doors doors = {1, &door};

	/* A name, in both places. */
	if (connect->host[0] && !strcasecmp(connect->host, listen->host))
		return meets[connect->transport][listen->transport];
	for (size_t i = 0; i < nat; i++) {
		door.addr = at[i];
		for (size_t k = 0; k < nto; k++)
			if (own_doors_take(&doors, connect->transport,
					   (const struct sockaddr *)&to[k]))
				return true;
	}
	return false;
}

static bool comes_to(const struct config_uri *connect, const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		const struct config_uri *listen = config_listener(service, i);

		if (!strcmp(listen->port, connect->port) && reaches(connect, listen))
			return true;
	}
	return false;
}

static const struct service_config *who_takes(const struct config *config,
					      const struct config_uri *connect)
{
	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].listen.host && comes_to(connect, &config->services[i]))
			return &config->services[i];
	return NULL;
}

const struct service_config *own_doors_of(const struct config *config,
					  const struct service_config *service)
{
	const struct service_config *found = NULL;

	for (unsigned k = 0; k < config_nservers(service) && !found; k++)
		found = who_takes(config, config_server(service, k));
	return found;
}

const struct service_config *own_doors_of_mount(const struct config *config,
						const struct service_config *service)
{
	return service->mount.way == MOUNT_AT ? who_takes(config, &service->mount.at) : NULL;
}
