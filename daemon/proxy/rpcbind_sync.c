// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/rpcbind_sync.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/log.h"
#include "daemon/rpcbind/rpcb_client.h"
#include "daemon/service/listener.h"

#define NFS_PROGRAM 100003u
#define NFS_LOWEST  3u
#define NFS_HIGHEST 4u
#define NETIDS      4u
#define MAPPINGS    (NETIDS * (NFS_HIGHEST - NFS_LOWEST + 1))

struct nfs_mappings {
	struct rpcb_mapping mappings[MAPPINGS];
	size_t count;
};

static const char *netid_of(const struct in6_addr *host, bool rdma)
{
	if (IN6_IS_ADDR_V4MAPPED(host))
		return rdma ? "rdma" : "tcp";
	return rdma ? "rdma6" : "tcp6";
}

static const struct rpcb_mapping *find_netid(const struct nfs_mappings *wanted, const char *netid)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (!strcmp(wanted->mappings[i].netid, netid))
			return &wanted->mappings[i];
	return NULL;
}

static void add_netid(struct nfs_mappings *wanted, const char *service, const struct sockaddr *addr,
		      bool rdma)
{
	char text[UADDR_TEXT_BYTES];
	const struct rpcb_mapping *existing;
	struct in6_addr host;
	const char *netid;

	if (!sockaddr_host(addr, &host))
		return;
	netid = netid_of(&host, rdma);
	uaddr_encode(addr, text);
	existing = find_netid(wanted, netid);
	/* Each fabric can have a listener at the same address. */
	if (existing && strcmp(existing->address, text))
		log_info(LOG_ABOUT(.service = service),
			 "rpcbind allows one %s listener and has %s: not registering %s", netid,
			 existing->address, text);
	if (existing)
		return;
	for (uint32_t version = NFS_LOWEST; version <= NFS_HIGHEST; version++) {
		struct rpcb_mapping *mapping = &wanted->mappings[wanted->count++];

		*mapping =
			(struct rpcb_mapping){.program = NFS_PROGRAM, .program_version = version};
		snprintf(mapping->netid, sizeof(mapping->netid), "%s", netid);
		strcpy(mapping->address, text);
	}
}

static void add_address(struct nfs_mappings *wanted, const char *service,
			const struct sockaddr *addr, bool tcp, bool rdma)
{
	if (tcp)
		add_netid(wanted, service, addr, false);
	if (rdma)
		add_netid(wanted, service, addr, true);
}

/* A listener on [::] also listens on every IPv4 address. */
static void add_listener(struct nfs_mappings *wanted, const struct proxy_service *ps)
{
	const char *name = ps->service.config->name;
	const struct sockaddr *addr;
	struct sockaddr_in any;
	struct in6_addr host;
	bool tcp, rdma;

	for (size_t i = 0; (addr = listener_address(ps->listener, i, &tcp, &rdma)); i++) {
		add_address(wanted, name, addr, tcp, rdma);
		if (!sockaddr_host(addr, &host) || !IN6_IS_ADDR_UNSPECIFIED(&host))
			continue;
		any = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_port = htons(sockaddr_port(addr))};
		add_address(wanted, name, (const struct sockaddr *)&any, tcp, rdma);
	}
}

void rpcbind_sync_update(struct proxy *proxy)
{
	struct nfs_mappings wanted = {.count = 0};
	const struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry)
		if (ps->listener && ps->service.config->registered)
			add_listener(&wanted, ps);
	if (!proxy->rpcb && wanted.count)
		proxy->rpcb = rpcb_client_new(proxy->loop, RPCB_CLIENT_SOCKET);
	if (!proxy->rpcb && !wanted.count)
		return;
	if (!proxy->rpcb || rpcb_client_set(proxy->rpcb, wanted.mappings, wanted.count))
		log_error(NULL, "cannot register listeners with rpcbind: %s", strerror(ENOMEM));
}

void rpcbind_sync_end(struct proxy *proxy)
{
	rpcb_client_free(proxy->rpcb);
	proxy->rpcb = NULL;
}
