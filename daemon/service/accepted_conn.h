/* SPDX-License-Identifier: BSD-3-Clause */
/* An accepted connection that a listener hands to a worker. */
#ifndef DAEMON_SERVICE_ACCEPTED_CONN_H
#define DAEMON_SERVICE_ACCEPTED_CONN_H

#include <sys/socket.h>

#include "fabric/fabric.h"
#include "leg/leg.h"
#include "stream/proxy_protocol.h"

struct conn_slot;
struct service_config;

/* A socket, or a connection request of a fabric. */
struct accepted_conn {
	int fd; /* -1: see `fabric` */
	struct fabric_incoming *fabric;
	/* `fd` speaks TCP or iWARP; the first bytes show which (leg_factory_ops.detect_protocol) */
	bool protocol_unknown;
	struct sockaddr_storage local; /* set once it is allowed to connect */
	struct sockaddr_storage peer;
	/*
	 * The proxy whose PROXY header named `local` and `peer`; AF_UNSPEC: they are the
	 * connection's own addresses.
	 */
	struct sockaddr_storage proxy;
	struct conn_slot *slot; /* in the service's connection limits; NULL: none yet */
};

/*
 * A TCP or iwarp client is privileged on its host if it connects from a port below 1024. (Any
 * program can open an iwarp connection, as a TCP connection.) The proxy then also connects to the
 * server from such a port (source_port). On RDMA devices ports prove nothing: every client that
 * `allow` admits counts as privileged, as in NFS servers.
 */
/**
 * accepted_conn_is_privileged - Returns whether the client is privileged; for `protocol_unknown`
 * the rule of TCP applies.
 */
bool accepted_conn_is_privileged(const struct accepted_conn *in);
/**
 * accepted_conn_is_trusted - Returns whether trusted_proxies contains the peer, or the sender of
 * its PROXY header
 *
 * Over iwarp such a client is privileged from any port.
 */
bool accepted_conn_is_trusted(const struct accepted_conn *in, const struct service_config *service);

/** accepted_conn_drop - Closes the connection. */
void accepted_conn_drop(const struct accepted_conn *in);
/**
 * accepted_conn_reject - Closes the connection, and sends an RDMA client the reason if possible.
 */
void accepted_conn_reject(const struct accepted_conn *in, enum leg_close why);
/**
 * accepted_conn_apply_header - Replaces the addresses by those in the PROXY header @header; the old
 * peer becomes `proxy`.
 */
void accepted_conn_apply_header(struct accepted_conn *in, const struct proxy_header *header);

#endif
