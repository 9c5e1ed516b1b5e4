/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a connection, and the callbacks by which the clients of a service notify it. */
#ifndef DAEMON_SERVICE_CLIENT_OWNER_H
#define DAEMON_SERVICE_CLIENT_OWNER_H

#include "base/loop.h"

struct client_owner {
	struct loop *loop; /* the loop of the owner's thread */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	void (*superseded)(void *arg); /* the client has reconnected: close this connection now */
	void (*resumed)(
		void *arg); /* the wait of AFFINITY_WAIT is over: call client_affinity_find() again */
	void *arg;
	/*
	 * Detects the end of the connection now, even if unread bytes precede it. Called on the
	 * owner's thread. It must not call client_affinity.h; client_affinity_half_closed() or
	 * client_affinity_closing() follow from a task of the loop.
	 */
	void (*check_peer_close)(void *arg);
};

#endif
