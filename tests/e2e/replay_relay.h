/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of the last proxy in client_replay: a relay to a real server, or a server of its own.
 *
 * The relay connects to the server from a second loopback address, or from another host's address
 * if the proxy has one, and from the proxy's source port, so that the server sees the same as
 * without a relay. The server of its own has a duplicate request cache, by XID, client address and
 * port, which is all that matters here.
 */
#ifndef TESTS_E2E_REPLAY_RELAY_H
#define TESTS_E2E_REPLAY_RELAY_H

#include <sys/queue.h>

#include "tests/e2e/net.h"

struct place {
	uint32_t addr;
	uint16_t port;
};

static inline bool is_same_place(struct place a, struct place b)
{
	return a.addr == b.addr && a.port == b.port;
}

/* A received Call with arguments: its first answer, and its source. */
struct relayed {
	TAILQ_ENTRY(relayed) entry;
	uint32_t xid;
	struct place first,
		last; /* the proxy's address and port, with the first copy and with the last */
	unsigned copies;
	struct buf reply;
};

struct link;

struct relay {
	struct net *net;
	uint16_t upstream;       /* the real server's; 0: none */
	bool holds;              /* Replies to Calls with arguments are not forwarded */
	unsigned long looked_up; /* LOOKUPs received: none is ever answered */
	TAILQ_HEAD(, relayed) calls;
	TAILQ_HEAD(, link) links;
};

/** relay_init - Listens at @port. */
void relay_init(struct relay *relay, struct net *net, uint16_t port, uint16_t upstream);
/** relay_find - Returns the Call with @xid that the server has answered; NULL if there is none. */
struct relayed *relay_find(struct relay *relay, uint32_t xid);
/** relay_links - Returns the connections of the proxy. */
unsigned relay_links(const struct relay *relay);
/** relay_forget - Forgets the Calls; later ones are new. */
void relay_forget(struct relay *relay);
/** relay_fini - Frees it; the net owns the connections. */
void relay_fini(struct relay *relay);

#endif
