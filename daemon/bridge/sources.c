// SPDX-License-Identifier: BSD-3-Clause
/* From which addresses an upstream comes. */
#include "daemon/bridge/sources.h"

#include <errno.h>
#include <netinet/in.h>

#include "base/foreign.h"
#include "base/sockaddr.h"
#include "stream/way_back.h"

const char SOURCES_OTHER_FAMILY[] = "there is none of its family, IPv4 or IPv6";

static const struct service_config *config_of(const struct upstream *upstream)
{
	return upstream->ws->service->config;
}

static bool is_link_local(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/* Of the client's own. Where the kernel cannot be asked, the connection will tell. */
static const char *client_lack(const struct sockaddr_storage *client,
			       const struct sockaddr_storage *server)
{
	if (client->ss_family != server->ss_family)
		return SOURCES_OTHER_FAMILY;
	if (is_link_local(client))
		return "the client's is link-local";
	if (!foreign_may())
		return "CAP_NET_RAW is missing, by which it would be the client's";
	if (way_back_find((const struct sockaddr *)server, (const struct sockaddr *)client) !=
	    -EHOSTUNREACH)
		return NULL;
	return sockaddr_is_loopback((const struct sockaddr *)client)
		       ? "the client's is a loopback address, which no other host can answer"
		       : "there is no way back from it to the client that leads here, as the routes "
			 "do that rpcrdma-proxy -t prints";
}

static unsigned count_family(const struct service_config *config, sa_family_t family)
{
	unsigned n = 0;

	for (size_t i = 0; i < config->nsources; i++)
		n += config->sources[i].ss_family == family;
	return n;
}

static const char *lack(const struct upstream *upstream, const struct sockaddr_storage *server)
{
	const struct service_config *config = config_of(upstream);

	if (config->source == SOURCE_CLIENT)
		return client_lack(&upstream->client, server);
	if (!config->nsources || count_family(config, server->ss_family))
		return NULL;
	return SOURCES_OTHER_FAMILY;
}

size_t sources_usable(struct upstream *upstream, const struct sockaddr_storage *addrs,
		      size_t naddrs, struct sockaddr_storage *to)
{
	const char *why, *kept = NULL;
	size_t n = 0;

	for (size_t i = 0; i < naddrs; i++) {
		to[n] = addrs[i];
		sockaddr_unmap(&to[n]);
		why = lack(upstream, &to[n]);
		n += !why;
		/* There is more to say of those of its family. */
		if (!kept || (why && why != SOURCES_OTHER_FAMILY))
			kept = why;
	}
	upstream->source_lack = n ? NULL : kept;
	return n;
}

/* Clients have those of a family in turn. */
static uint16_t next_in_turn(struct service *service, sa_family_t family)
{
	const struct service_config *config = service->config;
	unsigned count = count_family(config, family), before;
	uint16_t i = 0;

	if (!count)
		return 0;
	before = atomic_fetch_add(&service->source_turns, 1) % count;
	for (; i < config->nsources; i++)
		if (config->sources[i].ss_family == family && !before--)
			break;
	return i;
}

struct stream_sources sources_take(struct upstream *upstream, sa_family_t family)
{
	const struct service_config *config = config_of(upstream);

	if (config->source == SOURCE_CLIENT)
		return (struct stream_sources){
			.list = &upstream->client, .count = 1, .foreign = true};
	if (!config->nsources)
		return (struct stream_sources){0};
	if (!upstream->port)
		upstream->source = next_in_turn(upstream->ws->service, family);
	return (struct stream_sources){.list = config->sources,
				       .count = (unsigned)config->nsources,
				       .first = upstream->source};
}

uint16_t sources_find(const struct service_config *config, const struct sockaddr *local)
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
