/* SPDX-License-Identifier: BSD-3-Clause */
/* The iwarp fabric: MPA, DDP and RDMAP over a TCP socket, in user space. */
#ifndef FABRIC_IWARP_IWARP_H
#define FABRIC_IWARP_IWARP_H

#include "fabric/fabric.h"
#include "fabric/iwarp/iwarp_config.h"

extern const struct fabric_ops iwarp_fabric_ops;

/**
 * iwarp_fabric_new - Creates a worker's iwarp fabric.
 * @loop, @pool: the worker's
 * @config:      copied
 *
 * Returns NULL without memory.
 */
struct fabric *iwarp_fabric_new(struct loop *loop, struct buf_pool *pool,
				const struct iwarp_config *config);

/**
 * iwarp_incoming_new - Wraps an accepted TCP connection as if a listener had accepted it.
 * @fd:     consumed, also on failure
 * @config: NULL: the connection will be rejected, and need not be iWARP
 *
 * Returns NULL without memory.
 */
struct fabric_incoming *iwarp_incoming_new(int fd, const struct iwarp_config *config,
					   const struct sockaddr_storage *local,
					   const struct sockaddr_storage *peer);
/** iwarp_incoming_socket - Returns the socket, from which nothing has been read. */
int iwarp_incoming_socket(const struct fabric_incoming *in);

#endif
