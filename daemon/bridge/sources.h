/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which addresses an upstream comes: this host's, as its routes choose, or those that the service names, in turn;
 * or the client's own, which not every server can answer.
 */
#ifndef DAEMON_BRIDGE_SOURCES_H
#define DAEMON_BRIDGE_SOURCES_H

#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/bridge/upstream_impl.h"
#include "stream/stream.h"

/* Why a server cannot be come to from its client's address, or from any of the service's: it is of another family. */
extern const char SOURCES_OTHER_FAMILY[];

/**
 * sources_usable - those addresses of a server that can be come to
 * @addrs: of the server, @naddrs at least 1
 * @to:    room for as many; IPv4 is never v4-mapped
 *
 * Returns how many; with 0 @upstream->source_lack is why, else NULL.
 */
size_t sources_usable(struct upstream *upstream, const struct sockaddr_storage *addrs,
		      size_t naddrs, struct sockaddr_storage *to) MUST_CHECK;
/** sources_take - where the attempts at servers of a family are to come from; @upstream->source if it has a port there. */
struct stream_sources sources_take(struct upstream *upstream, sa_family_t family);
/** sources_find - which of the service's addresses that is; 0 if it is none. */
uint16_t sources_find(const struct service_config *config, const struct sockaddr *local);

#endif
