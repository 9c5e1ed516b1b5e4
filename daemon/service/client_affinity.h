/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Client affinity: gives a reconnecting client the source port of its previous upstream connection.
 *
 * A server recognizes a retransmission by XID, client address and, over TCP, client port (the
 * duplicate request cache of knfsd compares all three). A client that lost its connection
 * retransmits its unanswered Calls on a new one. If the proxy then connects to the server from the
 * same port as before, the server repeats the first Reply instead of executing REMOVE twice. So
 * when an upstream connection has closed, its client is *retained* with the port and the
 * fingerprints of its Calls. A new connection is matched to a retained client in this order:
 *
 *  - same address and port;
 *  - same address, and the first Call is among the fingerprints;
 *  - same address, for RDMA clients, since they reconnect from another port; only if the address
 *    has exactly one retained client and no connection.
 *
 * Before a client counts as new, the other connections of its address are checked for a FIN or RST
 * that this host has received but not handled. A client that is privileged on its host never
 * matches one that is not (daemon/service/accepted_conn.h). Otherwise an unprivileged client could
 * send the same Call to obtain a privileged client's port.
 *
 * An ambiguous match counts as no match. A retained client is matched at most once.
 *
 * A new connection supersedes an old one that still exists in two cases:
 *
 *  - both have the same addresses and ports, which proves that the old one is dead;
 *  - the old one is half-closed, and the first Call of the new one is unanswered on it.
 *
 * The old connection is then closed, and the new one waits for its port.
 *
 * Threads: any thread can call each function, but a client belongs to its owner's thread. The table
 * has 16 partitions by client address, each with a lock that is held for a few steps.
 */
#ifndef DAEMON_SERVICE_CLIENT_AFFINITY_H
#define DAEMON_SERVICE_CLIENT_AFFINITY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/call_fingerprint.h"
#include "daemon/service/client_owner.h"

#define CLIENT_AFFINITY_RETAIN_US (120u * 1000000u) /* how long a client is retained */

struct client_affinity;
struct affinity_client;

/* The endpoints of a connection; the port is part of an address. */
struct client_endpoints {
	struct sockaddr_storage peer, local;
	const void *fabric; /* NULL: TCP */
	/* uses its own address and port upstream: it only waits for an old connection to close */
	bool keeps_port;
	bool privileged; /* privileged on its host */
	/* its first Call can select another server: its address alone is no match */
	bool needs_first_call;
};

enum affinity_result {
	AFFINITY_NEW,       /* no match */
	AFFINITY_RETURNING, /* matched a retained client, which is no longer retained */
	/*
	 * its old connection is closing, or other connections are being checked: resumed() follows
	 */
	AFFINITY_WAIT,
	AFFINITY_NEEDS_CALL, /* its first Call must decide */
};

struct source_affinity {
	uint16_t port;   /* of the upstream connection, host byte order */
	uint16_t source; /* index of the service's source address */
	bool due;        /* a Call was unanswered: the server must see the same port */
};

/**
 * client_affinity_new - Creates a table that retains up to @max clients, but at least 64. Returns
 * NULL without memory.
 *
 * At the limit it drops the oldest client. If one address has more than half of the clients, it
 * drops the oldest of that address.
 */
struct client_affinity *client_affinity_new(unsigned max);
/**
 * client_affinity_free - Frees the table after all clients were released; checks of other
 * connections can still run. Accepts NULL.
 */
void client_affinity_free(struct client_affinity *clients);

/**
 * client_affinity_add - Adds a connected client; a connection with the same endpoints is superseded
 * @owner: copied
 *
 * Call client_affinity_release() later. Returns 0 or -ENOMEM.
 */
int client_affinity_add(struct client_affinity *clients, const struct client_endpoints *ends,
			const struct client_owner *owner, struct affinity_client **out) MUST_CHECK;

/**
 * client_affinity_find - Finds the source port for the client's upstream connection
 * @first:    its first Call; NULL: not read yet
 * @now_us:   monotonic time of the calling loop; other threads' times can differ slightly
 * @affinity: set for AFFINITY_RETURNING
 *
 * Returns AFFINITY_NEEDS_CALL only without @first.
 */
enum affinity_result client_affinity_find(struct affinity_client *client,
					  const struct call_fingerprint *first, uint64_t now_us,
					  struct source_affinity *affinity);
/**
 * client_affinity_need_port - Records that the upstream connection does not use the client's own
 * port after all. Call it before client_affinity_find().
 */
void client_affinity_need_port(struct affinity_client *client);
/**
 * client_affinity_set_privileged - Marks the client as privileged; before client_affinity_find()
 *
 * Returns 0; or -ENOMEM, and it stays unprivileged.
 */
int client_affinity_set_privileged(struct affinity_client *client) MUST_CHECK;
/**
 * client_affinity_stop_waiting - Stops waiting: client_affinity_find() does not return
 * AFFINITY_WAIT any more.
 */
void client_affinity_stop_waiting(struct affinity_client *client);

/**
 * client_affinity_half_closed - Records that the client has closed its sending side and can
 * reconnect at any moment
 * @calls: of its @ncalls unanswered Calls, oldest first; if too many, some are dropped
 */
void client_affinity_half_closed(struct affinity_client *client,
				 const struct call_fingerprint *calls, size_t ncalls);
/**
 * client_affinity_closing - Records that the connection is closing
 * @calls: of its unanswered Calls as above, then of the Calls answered last
 */
void client_affinity_closing(struct affinity_client *client, const struct call_fingerprint *calls,
			     size_t ncalls);
/**
 * client_affinity_release - Retains the client after its upstream connection has closed
 * @affinity: port and source address of the upstream connection; port 0: none; `due` is ignored
 *
 * No callback of the owner follows.
 */
void client_affinity_release(struct affinity_client *client, const struct source_affinity *affinity,
			     uint64_t now_us);

#endif
