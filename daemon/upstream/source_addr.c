// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/upstream/source_addr.h"

#include <errno.h>
#include <netinet/in.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "stream/return_route.h"

const char SOURCE_ADDR_OTHER_FAMILY[] = "none of the server's family, IPv4 or IPv6";

static bool is_link_local(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/*
 * Returns why the client's own address is unusable, or NULL; NULL also if the kernel query fails.
 */
static const char *client_unusable_reason(const struct sockaddr_storage *client,
					  const struct sockaddr_storage *server)
{
	if (client->ss_family != server->ss_family)
		return SOURCE_ADDR_OTHER_FAMILY;
	if (is_link_local(client))
		return "the client's address is link-local";
	if (!ip_transparent_is_permitted())
		return "CAP_NET_RAW is missing, so the client's address cannot be used";
	if (return_route_check((const struct sockaddr *)server, (const struct sockaddr *)client) !=
	    -EHOSTUNREACH)
		return NULL;
	return sockaddr_is_loopback((const struct sockaddr *)client)
		       ? "the client's address is a loopback address, which no other host can "
			 "answer"
		       : "no return route from the server to the client through this host: add the "
			 "routes that rpcrdma-proxy -t prints";
}

static unsigned count_family(const struct service_config *config, sa_family_t family)
{
	unsigned n = 0;

	for (size_t i = 0; i < config->nsources; i++)
		n += config->sources[i].ss_family == family;
	return n;
}

/* A health check has no client, and connects from any address. */
static const char *unusable_reason(const struct source_addr *from,
				   const struct service_config *config,
				   const struct sockaddr_storage *server)
{
	if (config->source == SOURCE_CLIENT)
		return from->client.ss_family ? client_unusable_reason(&from->client, server)
					      : NULL;
	if (!config->nsources || count_family(config, server->ss_family))
		return NULL;
	return SOURCE_ADDR_OTHER_FAMILY;
}

size_t source_addr_usable(struct source_addr *from, const struct service_config *config,
			  const struct sockaddr_storage *addrs, size_t naddrs,
			  struct sockaddr_storage *to)
{
	const char *why, *cached = NULL;
	size_t n = 0;

	for (size_t i = 0; i < naddrs; i++) {
		to[n] = addrs[i];
		sockaddr_unmap(&to[n]);
		why = unusable_reason(from, config, &to[n]);
		n += !why;
		/* Prefer the reason of an address of the right family. */
		if (!cached || (why && why != SOURCE_ADDR_OTHER_FAMILY))
			cached = why;
	}
	from->unusable_reason = n ? NULL : cached;
	return n;
}

/* Returns the next source address of a family, round-robin over clients. */
static uint16_t next_round_robin(struct service *service, sa_family_t family)
{
	const struct service_config *config = service->config;
	unsigned count = count_family(config, family), before;
	uint16_t i = 0;

	if (!count)
		return 0;
	before = atomic_fetch_add(&service->source_rr_index, 1) % count;
	for (; i < config->nsources; i++)
		if (config->sources[i].ss_family == family && !before--)
			break;
	return i;
}

struct stream_sources source_addr_choose(struct source_addr *from, const struct service_net *net,
					 sa_family_t family)
{
	const struct service_config *config = net->config;

	if (config->source == SOURCE_CLIENT && from->client.ss_family)
		return (struct stream_sources){
			.list = &from->client, .count = 1, .transparent = true};
	if (!config->nsources)
		return (struct stream_sources){0};
	if (!from->affinity.port && net->service)
		from->affinity.source = next_round_robin(net->service, family);
	return (struct stream_sources){.list = config->sources,
				       .count = (unsigned)config->nsources,
				       .first = from->affinity.source};
}

uint16_t source_addr_find(const struct service_config *config, const struct sockaddr *local)
{
	struct in6_addr host, one;

	(void)sockaddr_host(local, &host);
	for (uint16_t i = 0; i < config->nsources; i++) {
		(void)sockaddr_host((const struct sockaddr *)&config->sources[i], &one);
		if (IN6_ARE_ADDR_EQUAL(&host, &one))
			return i;
	}
	return 0;
}
