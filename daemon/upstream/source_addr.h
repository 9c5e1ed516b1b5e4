/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which address and port an upstream connects: an address of this host, as its routes choose, or one of those that
 * the service names, in turn; or the client's own, which not every server can answer.
 */
#ifndef DAEMON_UPSTREAM_SOURCE_ADDR_H
#define DAEMON_UPSTREAM_SOURCE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/clients.h"
#include "daemon/service/service_net.h"
#include "stream/stream.h"

/* Why a server cannot be connected to from its client's address, or from any of the service's: it is of another family. */
extern const char SOURCE_ADDR_OTHER_FAMILY[];

struct source_addr {
	struct sockaddr_storage client; /* of no family: none. IPv4 never as v4-mapped */
	bool keeps_port;                /* the server is to see the port of that, too */
	bool privileged;                /* it is, on its host: so is the port to connect from */
	struct client_pin
		pin; /* until it is open what was asked for, then what it has; port 0: none */
	const char
		*lack; /* why no address of the present target can be connected to; NULL: one can */
};

/**
 * source_addr_usable - those addresses of a server that can be connected to
 * @addrs: of the server, @naddrs at least 1
 * @to:    room for as many; IPv4 is never v4-mapped
 *
 * Returns how many; with 0 @from->lack is why, else NULL.
 */
size_t source_addr_usable(struct source_addr *from, const struct service_config *config,
			  const struct sockaddr_storage *addrs, size_t naddrs,
			  struct sockaddr_storage *to) MUST_CHECK;
/** source_addr_choose - where attempts at servers of a family connect from; @from->pin.source if it has a port there. */
struct stream_sources source_addr_choose(struct source_addr *from, const struct service_net *net,
					 sa_family_t family);
/** source_addr_find - which of the service's addresses that is; 0 if it is none. */
uint16_t source_addr_find(const struct service_config *config, const struct sockaddr *local);

#endif
