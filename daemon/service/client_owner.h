/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is connected, for the clients of a service: what tells the owner of a connection. */
#ifndef DAEMON_SERVICE_CLIENT_OWNER_H
#define DAEMON_SERVICE_CLIENT_OWNER_H

#include "base/loop.h"

struct client_owner {
	struct loop *loop; /* of the owner's thread */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	void (*superseded)(void *arg); /* the client is connected anew: end this connection now */
	void (*resumed)(void *arg);    /* what clients_seek() said to wait for is over: ask again */
	void *arg;
	/*
	 * If the connection has ended, hear of it now, even behind what is unread. Called on the owner's thread; nothing of
	 * clients.h is called in there: clients_half_closed() or clients_ending() follow from a task of the loop.
	 */
	void (*hear_end)(void *arg);
};

#endif
