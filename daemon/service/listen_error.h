/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages for a service that cannot listen, with advice. */
#ifndef DAEMON_SERVICE_LISTEN_ERROR_H
#define DAEMON_SERVICE_LISTEN_ERROR_H

#include <stddef.h>
#include <sys/socket.h>

#include "daemon/config/config.h"

#define LISTEN_ERROR_BYTES 720u /* enough for the longest message and host name */

/**
 * listen_error_address - Writes "cannot listen on tcp://127.0.0.1:2049: ", the cause, and advice if
 * known
 * @transport: from the file
 * @addr:      the address to listen on
 * @err:       a negative errno
 */
void listen_error_address(enum transport transport, const struct sockaddr *addr, int err,
			  char *text, size_t text_bytes);
/**
 * listen_error_name - Writes the message for a host name that has no address
 * @uri: from the file
 * @why: the error of the lookup
 */
void listen_error_name(const struct config_uri *uri, const char *why, char *text,
		       size_t text_bytes);

#endif
