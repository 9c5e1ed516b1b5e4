/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection on its way from a listener to a worker. */
#ifndef DAEMON_SERVICE_INCOMING_H
#define DAEMON_SERVICE_INCOMING_H

#include <sys/socket.h>

#include "fabric/fabric.h"
#include "leg/leg.h"
#include "stream/proxy_header.h"

struct guest;
struct service_config;

/* A socket, or a fabric's. */
struct incoming {
	int fd; /* -1: `fabric` instead */
	struct fabric_incoming *fabric;
	bool either; /* `fd` is TCP or iWARP: its first bytes tell (leg_maker.settle) */
	struct sockaddr_storage local; /* of one that may connect */
	struct sockaddr_storage peer;
	/* The proxy that has brought it, and named these two; AF_UNSPEC: they are the connection's own. */
	struct sockaddr_storage proxy;
	struct guest *guest; /* of the service's door; NULL before it has one */
};

/*
 * Whether a client is privileged on its host: towards a server it is told by its source port, so the connection there
 * has one of the client's kind (source_port). Over TCP and iwarp the client's port below 1024 tells. iwarp is a TCP
 * connection, which any program may make. On devices no port proves anything, and who may connect (allow) is taken for
 * privileged, as servers do themselves.
 */
/** incoming_is_privileged - whether its client is, by how it comes and by its port; one that is `either` as over TCP. */
bool incoming_is_privileged(const struct incoming *in);
/** incoming_is_trusted - whether over iwarp its client is privileged from any port: trusted_proxies has its peer. */
bool incoming_is_trusted(const struct incoming *in, const struct service_config *service);

/** incoming_drop - close one that nobody wants. */
void incoming_drop(const struct incoming *in);
/** incoming_reject - the same, and tell an RDMA client why, if it can be told. */
void incoming_reject(const struct incoming *in, enum leg_close why);
/** incoming_rename - its peer is a proxy, and says by @header whose it is: from now on it is that client's. */
void incoming_rename(struct incoming *in, const struct proxy_header *header);

#endif
