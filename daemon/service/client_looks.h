/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients.c tells the owners of connections, and asks them: of ends of connections that came before a client did, and
 * that their owners have not heard of. All of this is called under the lock of the client's part.
 */
#ifndef DAEMON_SERVICE_CLIENT_LOOKS_H
#define DAEMON_SERVICE_CLIENT_LOOKS_H

#include "daemon/service/client_table.h"

/** client_put - drop a reference to @client; the last one frees it. */
void client_put(struct client *client);
/** client_tell_superseded - have the owner end the connection now. Returns 0 or -ENOMEM: the owner is not told. */
int client_tell_superseded(struct client *client) MUST_CHECK;
/** client_tell_resumed - have the owner ask clients_seek() again. Returns 0 or -ENOMEM: the owner is not told. */
int client_tell_resumed(struct client *client);

/**
 * client_look_around - have each loop with connections of @client's address look for ends that it has not heard of
 *
 * Looks once for each client. Returns whether there are answers to wait for: the owner of
 * @client resumes when client->looks is 0 again. A loop is not asked if there is no memory for its round.
 */
bool client_look_around(struct client *client);

#endif
