/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a client connection, with the callbacks that client_affinity.h calls. */
#ifndef DAEMON_SERVICE_CLIENT_OWNER_H
#define DAEMON_SERVICE_CLIENT_OWNER_H

#include "base/loop.h"

struct client_owner {
	struct loop *loop; /* the loop of the owner's thread */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	void (*superseded)(void *arg); /* the client has reconnected: close this connection now */
	/* the wait of AFFINITY_WAIT is over: call client_affinity_find() again */
	void (*resumed)(void *arg);
	void *arg;
	/*
	 * Checks now whether the connection has ended, even if unread bytes precede the end. Called
	 * on the owner's thread. It must not call client_affinity.h directly: a task of the loop
	 * calls client_affinity_half_closed() or client_affinity_closing().
	 */
	void (*check_peer_close)(void *arg);
};

#endif
