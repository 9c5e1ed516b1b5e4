/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection on its way from a listener to a worker. */
#ifndef DAEMON_SERVICE_INCOMING_H
#define DAEMON_SERVICE_INCOMING_H

#include <sys/socket.h>

#include "fabric/fabric.h"
#include "leg/leg.h"
#include "stream/proxy_header.h"

struct guest;

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

/** incoming_drop - close one that nobody wants. */
void incoming_drop(const struct incoming *in);
/** incoming_reject - the same, and tell an RDMA client why, if it can be told. */
void incoming_reject(const struct incoming *in, enum leg_close why);
/** incoming_rename - its peer is a proxy, and says by @header whose it is: from now on it is that client's. */
void incoming_rename(struct incoming *in, const struct proxy_header *header);

#endif
