/* SPDX-License-Identifier: BSD-3-Clause */
/* Which Calls a client goes by: as many of those that it has, and of those that it came back with, as are kept. */
#ifndef DAEMON_SERVICE_CLIENT_MARKS_H
#define DAEMON_SERVICE_CLIENT_MARKS_H

#include "daemon/service/client_table.h"

/**
 * client_marks_add - @client goes by these Calls now, and where there is room by those that it went by before
 * @marks: @nmarks of them, the most important first: past CLIENTS_UNANSWERED_MAX without a Reply, or
 *         CLIENTS_ANSWERED_MAX with one, they are left out
 *
 * With CLIENTS_ANSWERED_MAX answered ones it goes by none of those before.
 * Under the lock of its part. Without memory it stays as it is.
 */
void client_marks_add(struct client *client, const struct call_mark *marks, size_t nmarks);

#endif
