/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of client_replay: it makes a Call, loses its connection before it has read the Reply,
 * and reconnects with the same Call.
 */
#ifndef TESTS_E2E_REPLAY_CLIENT_H
#define TESTS_E2E_REPLAY_CLIENT_H

#include "tests/e2e/mpa.h"

struct replay_client {
	struct net *net;
	bool rdma;       /* over RPC-over-RDMA on iwarp, not over TCP */
	uint32_t addr;   /* its source address; 0: any */
	uint16_t port;   /* its source port; 0: any */
	struct mpa mpa;  /* of the connection, if @rdma */
	struct mpa left; /* of the previous one, if it was ended by FIN and still exists */
	unsigned replies;
	struct buf reply; /* the last one */
	struct buf call;  /* the Call that is made twice */
	uint32_t xid;     /* of that Call */
};

/**
 * replay_client_connect - Connects to 127.0.0.1:@port; returns false while the kernel still has its
 * old connection.
 */
bool replay_client_connect(struct replay_client *client, uint16_t port);
/**
 * replay_client_is_up - Returns whether Calls can be made: an RDMA client's connection has been
 * accepted.
 */
bool replay_client_is_up(const struct replay_client *client);
/** replay_client_send - Sends a Call. */
void replay_client_send(struct replay_client *client, const struct buf *call);
/** replay_client_deafen - Stops reading. */
void replay_client_deafen(struct replay_client *client);
/** replay_client_has_unread - Returns whether unread data have arrived. */
bool replay_client_has_unread(const struct replay_client *client);
/** replay_client_is_lost - Returns whether the proxy has ended the connection. */
bool replay_client_is_lost(const struct replay_client *client);
/**
 * replay_client_leave - Ends the connection by a RST, or, if @fin, by a FIN
 *
 * After a FIN the connection can still receive Replies, until the client is freed or needs the
 * port.
 */
void replay_client_leave(struct replay_client *client, bool fin);
/** replay_client_free - Frees its resources. */
void replay_client_free(struct replay_client *client);

#endif
