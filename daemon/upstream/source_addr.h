/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the source address and port of an upstream. The address is one of these:
 *
 *  - the one that the routes of this host select;
 *  - the next of the service's source addresses, round-robin;
 *  - the client's own address, which works only for servers of the same address family.
 */
#ifndef DAEMON_UPSTREAM_SOURCE_ADDR_H
#define DAEMON_UPSTREAM_SOURCE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/client_affinity.h"
#include "daemon/service/service_net.h"
#include "stream/stream.h"

/*
 * The reason if the server's address family differs from that of the client or of all source
 * addresses.
 */
extern const char SOURCE_ADDR_OTHER_FAMILY[];

struct source_addr {
	struct sockaddr_storage client; /* AF_UNSPEC: none; IPv4 is never v4-mapped */
	bool keeps_port;                /* the server also sees the client's port */
	bool privileged;                /* the client is privileged: use a port below 1024 */
	/* port 0: none. Until the upstream opens: the preferred source; then the actual one */
	struct source_affinity affinity;
	/* why no address of the current server is usable; NULL: one is */
	const char *unusable_reason;
};

/**
 * source_addr_usable - Copies the server addresses that can be reached from the source address.
 * @addrs: addresses of the server; @naddrs is at least 1
 * @to:    array of @naddrs elements; IPv4 is never v4-mapped
 *
 * Returns the number of copied addresses. Sets @from->unusable_reason to the reason if it is 0,
 * else to NULL.
 */
size_t source_addr_usable(struct source_addr *from, const struct service_config *config,
			  const struct sockaddr_storage *addrs, size_t naddrs,
			  struct sockaddr_storage *to) MUST_CHECK;
/**
 * source_addr_choose - Returns the source addresses for servers of a family.
 *
 * The first is @from->affinity.source if @from->affinity has a port, else the next one round-robin.
 */
struct stream_sources source_addr_choose(struct source_addr *from, const struct service_net *net,
					 sa_family_t family);
/**
 * source_addr_find - Returns the index of @local in the source addresses of the service; 0 if it is
 * not one.
 */
uint16_t source_addr_find(const struct service_config *config, const struct sockaddr *local);

#endif
