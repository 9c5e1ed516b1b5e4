/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients.c and client_looks.c tell the owners of connections, and how long a client is kept for that. */
#ifndef DAEMON_SERVICE_CLIENT_MESSAGES_H
#define DAEMON_SERVICE_CLIENT_MESSAGES_H

#include "daemon/service/client_table.h"

/* All of these are called under the lock of the client's part. */

/** client_put - drop a reference to @client; the last one frees it. */
void client_put(struct client *client);
/** client_tell_superseded - have the owner end the connection now. Returns 0 or -ENOMEM: the owner is not told. */
int client_tell_superseded(struct client *client) MUST_CHECK;
/** client_tell_resumed - have the owner ask clients_seek() again. Returns 0 or -ENOMEM: the owner is not told. */
int client_tell_resumed(struct client *client);

#endif
