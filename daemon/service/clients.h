/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients of a service: those that are connected, and for a while those that were.
 *
 * A server knows a retransmission by XID, client address and, over TCP, client port (knfsd's duplicate-request
 * cache compares all three). A client that lost its connection sends its unanswered Calls again on a new one; if
 * the proxy then comes to the server from the port that it used for this client before, the server gives the
 * first answer instead of executing REMOVE a second time. So the port of an upstream connection that has closed
 * stays behind as a *pin*, together with the marks of the Calls by which its client will be known:
 *
 *  - one that has the same address and port is the same client;
 *  - of others of its address, the one whose first Call is one of those that a pin has;
 *  - an RDMA client, which comes back from another port, also if its address has one pin and no connection.
 *
 * A client is taken for new only after the owners of other connections of its address have heard of all ends that had come to
 * this host before it asked.
 * Clients that are privileged on their host and those that are not (daemon/service/incoming.h) are kept apart: neither is
 * ever taken for the other, so that no port of a privileged one comes to somebody who only sends what it has sent.
 *
 * It is never guessed among several, and a pin is used once. A connection that has the four addresses of one that
 * lives proves that one dead; and one whose first Call waits for its Reply on a connection whose client has ended
 * its sending side has taken its place. Then the old one is told to end, and the new one waits for its port.
 *
 * Threads: each function may be called on any thread, but a client belongs to that of its owner. There is a lock
 * for each of many parts of the table, by the client's address, held for a few steps.
 */
#ifndef DAEMON_SERVICE_CLIENTS_H
#define DAEMON_SERVICE_CLIENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/call_mark.h"
#include "daemon/service/client_owner.h"

#define CLIENTS_REMEMBER_US (120u * 1000000u) /* how long a pin is kept */

struct clients;
struct client;

/* Between which addresses, and on what; a port counts in one with the address. */
struct client_ends {
	struct sockaddr_storage peer, local;
	const void *fabric; /* NULL: TCP */
	bool keeps_port; /* its upstream connection comes from its own address and port: it only waits for an old one's end */
	bool privileged; /* it is, on its host: it has nothing to do with those of its address that are not */
	bool asks; /* its first Call may lead elsewhere: only that, or its own port, tells that a pin is for it */
};

enum client_found {
	CLIENT_NEW,  /* nothing is known of it */
	CLIENT_BACK, /* it has a pin, which is used up now */
	CLIENT_WAIT, /* its old connection is being ended, or looked for: resumed() follows */
	CLIENT_ASK,  /* its first Call is to decide */
};

struct client_pin {
	uint16_t port;   /* of the upstream connection, host order */
	uint16_t source; /* which of the service's source addresses it came from */
	bool due;        /* a Call was not answered on it: the port matters */
};

/**
 * clients_new - a table that keeps up to @max pins, and a few at least; NULL without memory
 *
 * Of too many the oldest is forgotten; where one address has more than half of them, the oldest of its own.
 */
struct clients *clients_new(unsigned max);
/** clients_free - free it, when all clients have left; a round of clients.c may go on. Accepts NULL. */
void clients_free(struct clients *clients);

/**
 * clients_enter - somebody has connected; who had the same ends before is told to end at once
 * @owner: copied
 *
 * clients_leave() is due. Returns 0 or -ENOMEM.
 */
int clients_enter(struct clients *clients, const struct client_ends *ends,
		  const struct client_owner *owner, struct client **out) MUST_CHECK;

/**
 * clients_seek - which port its upstream connection is to come from
 * @first:  its first Call; NULL: it has not been read
 * @now_us: monotonic time of its thread's turn; that of other threads may differ a little, either way
 * @pin:    filled in for CLIENT_BACK
 *
 * CLIENT_ASK only without @first.
 */
enum client_found clients_seek(struct client *client, const struct call_mark *first,
			       uint64_t now_us, struct client_pin *pin);
/** clients_find_port - its upstream connection does not come from its own port after all; before clients_seek(). */
void clients_find_port(struct client *client);
/**
 * clients_privilege - it is privileged after all; before clients_seek()
 *
 * Returns 0, or -ENOMEM: it stays among those that are not.
 */
int clients_privilege(struct client *client) MUST_CHECK;
/** clients_wait_no_longer - clients_seek() says CLIENT_WAIT no more. */
void clients_wait_no_longer(struct client *client);

/**
 * clients_half_closed - it has ended its sending side: its next connection may be here any moment
 * @marks: of its Calls that are not answered, the oldest first; @nmarks of them, of which some are kept
 */
void clients_half_closed(struct client *client, const struct call_mark *marks, size_t nmarks);
/** clients_ending - its connection is being ended; @marks as above, and of those that were answered last. */
void clients_ending(struct client *client, const struct call_mark *marks, size_t nmarks);
/**
 * clients_leave - its upstream connection is over, and nothing is called for it any more
 * @pin: the port that it had, and its source address, which stay behind; port 0: none; `due` is not looked at
 */
void clients_leave(struct client *client, const struct client_pin *pin, uint64_t now_us);

#endif
