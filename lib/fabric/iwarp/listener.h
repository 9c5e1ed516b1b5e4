/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens for iWARP connections. */
#ifndef FABRIC_IWARP_LISTENER_H
#define FABRIC_IWARP_LISTENER_H

#include "fabric/fabric.h"

/** iwarp_listen - Implements fabric_listen(); @config is a struct iwarp_config. */
int iwarp_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out);
/** iwarp_listener_pause - Implements fabric_listener_pause(). */
void iwarp_listener_pause(struct fabric_listener *listener, bool paused);
/** iwarp_listener_addr - Implements fabric_listener_addr(). */
void iwarp_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr);
/** iwarp_listener_free - Implements fabric_listener_free(). */
void iwarp_listener_free(struct fabric_listener *listener);
/** iwarp_incoming_drop - Implements fabric_incoming_drop() and fabric_incoming_reject(). */
void iwarp_incoming_drop(struct fabric_incoming *in, const void *private_data, size_t len_bytes);

#endif
