/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of the verbs fabric, and their connections that are not adopted yet. */
#ifndef FABRIC_VERBS_LISTENER_H
#define FABRIC_VERBS_LISTENER_H

#include "fabric/verbs/verbs_ep.h"

/* A connection that is not adopted yet; its id is on the listener's event channel. */
struct verbs_incoming {
	struct fabric_incoming in;
	struct verbs_channel *channel;
	struct rdma_cm_id *id;
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned peer_ird, peer_ord; /* Reads that the peer accepts; Reads that it wants to send */
};

/** verbs_listen - Implements fabric_listen(); @config is a struct verbs_config. */
int verbs_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out);
/** verbs_listener_pause - Implements fabric_listener_pause(). */
void verbs_listener_pause(struct fabric_listener *listener, bool paused);
/** verbs_listener_addr - Implements fabric_listener_addr(). */
void verbs_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr);
/** verbs_listener_free - Implements fabric_listener_free(). */
void verbs_listener_free(struct fabric_listener *listener);
/** verbs_incoming_drop - Implements fabric_incoming_drop() and fabric_incoming_reject(). */
void verbs_incoming_drop(struct fabric_incoming *in, const void *private_data, size_t len_bytes);
/** verbs_incoming_free - Frees the structure, not the id, after the adoption; any thread. */
void verbs_incoming_free(struct verbs_incoming *in);

#endif
