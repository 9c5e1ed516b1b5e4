/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a service cannot listen, in words that say what to do. */
#ifndef DAEMON_SERVICE_LISTEN_ERROR_H
#define DAEMON_SERVICE_LISTEN_ERROR_H

#include <stddef.h>
#include <sys/socket.h>

#include "daemon/config/config.h"

#define LISTEN_ERROR_BYTES 720u /* room for the longest, with a host's name in it */

/**
 * listen_error_address - "cannot listen on tcp://127.0.0.1:2049: " and the cause, and a cure if there is one
 * @transport: of the file
 * @addr:      where it is to listen
 * @err:       a negative errno
 */
void listen_error_address(enum transport transport, const struct sockaddr *addr, int err,
			  char *text, size_t text_bytes);
/**
 * listen_error_name - likewise, for a host's name that has no address
 * @uri: of the file
 * @why: what came of the look-up
 */
void listen_error_name(const struct config_uri *uri, const char *why, char *text,
		       size_t text_bytes);

#endif
