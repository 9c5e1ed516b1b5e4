/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for ends of connections that came before a client did, and that their owners have not heard of. */
#ifndef DAEMON_SERVICE_CLIENT_LOOKS_H
#define DAEMON_SERVICE_CLIENT_LOOKS_H

#include "daemon/service/client_table.h"

/**
 * client_look_around - have each loop with connections of @client's address look for ends that it has not heard of
 *
 * Looks once for each client; under the lock of its part. Returns whether there are answers to wait for: the owner of
 * @client resumes when client->looks is 0 again. A loop is not asked if there is no memory for its round.
 */
bool client_look_around(struct client *client);

#endif
