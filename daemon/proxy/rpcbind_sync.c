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

#define NFS_PROGRAM   100003u
#define NFS_LOWEST    3u
#define NFS_HIGHEST   4u
#define MOUNT_PROGRAM 100005u
#define MOUNT_VERSION 3u
#define NETIDS        4u
#define TCP_NETIDS    2u
#define MAPPINGS      (NETIDS * (NFS_HIGHEST - NFS_LOWEST + 1) + TCP_NETIDS)

struct wanted_mappings {
	struct rpcb_mapping mappings[MAPPINGS];
	size_t count;
};

static const char *netid_of(const struct in6_addr *host, bool rdma)
{
	if (IN6_IS_ADDR_V4MAPPED(host))
		return rdma ? "rdma" : "tcp";
	return rdma ? "rdma6" : "tcp6";
}

static const struct rpcb_mapping *find_netid(const struct wanted_mappings *wanted,
					     const char *netid)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (!strcmp(wanted->mappings[i].netid, netid))
			return &wanted->mappings[i];
	return NULL;
}

static struct rpcb_mapping *add_mapping(struct wanted_mappings *wanted, uint32_t program,
					uint32_t version, const char *netid, const char *address)
{
	struct rpcb_mapping *mapping = &wanted->mappings[wanted->count++];

	*mapping = (struct rpcb_mapping){.program = program, .program_version = version};
	snprintf(mapping->netid, sizeof(mapping->netid), "%s", netid);
	snprintf(mapping->address, sizeof(mapping->address), "%s", address);
	return mapping;
}

/*
 * MOUNT never without NFSv3 of the same listener: a client would give the file handle of one server
 * to another. Clients ask for MOUNT over TCP, also those that mount over RDMA.
 */
static void add_mount(struct wanted_mappings *wanted, const char *netid, const char *address)
{
	struct rpcb_mapping *mapping =
		add_mapping(wanted, MOUNT_PROGRAM, MOUNT_VERSION, netid, address);

	mapping->needs_program = NFS_PROGRAM;
	mapping->needs_version = NFS_LOWEST;
}

static void add_netid(struct wanted_mappings *wanted, const struct service_config *service,
		      const struct sockaddr *addr, bool rdma)
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
		log_info(LOG_ABOUT(.service = service->name),
			 "rpcbind allows one %s listener and has %s: not registering %s", netid,
			 existing->address, text);
	if (existing)
		return;
	for (uint32_t version = NFS_LOWEST; version <= NFS_HIGHEST; version++)
		add_mapping(wanted, NFS_PROGRAM, version, netid, text);
	if (!rdma && service->registered == REGISTER_MOUNT && service->mount.way != MOUNT_OFF)
		add_mount(wanted, netid, text);
}

static void add_address(struct wanted_mappings *wanted, const struct service_config *service,
			const struct sockaddr *addr, bool tcp, bool rdma)
{
	if (tcp)
		add_netid(wanted, service, addr, false);
	if (rdma)
		add_netid(wanted, service, addr, true);
}

/* A listener on [::] also listens on every IPv4 address. */
static void add_listener(struct wanted_mappings *wanted, const struct proxy_service *ps)
{
	const struct service_config *config = ps->service.config;
	const struct sockaddr *addr;
	struct sockaddr_in any;
	struct in6_addr host;
	bool tcp, rdma;

	for (size_t i = 0; (addr = listener_address(ps->listener, i, &tcp, &rdma)); i++) {
		add_address(wanted, config, addr, tcp, rdma);
		if (!sockaddr_host(addr, &host) || !IN6_IS_ADDR_UNSPECIFIED(&host))
			continue;
		any = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_port = htons(sockaddr_port(addr))};
		add_address(wanted, config, (const struct sockaddr *)&any, tcp, rdma);
	}
}

void rpcbind_sync_update(struct proxy *proxy)
{
	struct wanted_mappings wanted = {.count = 0};
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
