// SPDX-License-Identifier: BSD-3-Clause
/* The iwarp fabric: a worker's share of it, and its table of operations. */
#include "fabric/iwarp/iwarp.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "fabric/iwarp/socket.h"

COUNTER_TABLE(iwarp_counters, IWARP_COUNTERS);

struct fabric *iwarp_fabric_new(struct loop *loop, struct pool *pool,
				const struct iwarp_config *config)
{
	struct iwarp_fabric *iwarp = calloc(1, sizeof(*iwarp));
	uint64_t seed[4];

	if (!iwarp)
		return NULL;
	iwarp->staging = malloc(IWARP_RX_STAGING_BYTES);
	if (!iwarp->staging || getrandom(seed, sizeof(seed), 0) != sizeof(seed)) {
		free(iwarp->staging);
		free(iwarp);
		return NULL;
	}
	iwarp_random_seed(&iwarp->env.random, seed);
	iwarp->env.pool = pool;
	iwarp->env.counters = &iwarp->counters;
	iwarp->config = *config;
	iwarp->fabric.ops = &iwarp_fabric_ops;
	iwarp->fabric.loop = loop;
	iwarp->fabric.pool = pool;
	iwarp->fabric.counters = &iwarp->counters;
	iwarp->fabric.connected_counters = config->apart ? &iwarp->connected_counters : NULL;
	return &iwarp->fabric;
}

static void iwarp_fabric_free(struct fabric *fabric)
{
	struct iwarp_fabric *iwarp = container_of(fabric, struct iwarp_fabric, fabric);

	iwarp_env_fini(&iwarp->env);
	free(iwarp->staging);
	free(iwarp);
}

const struct fabric_ops iwarp_fabric_ops = {
	.name = "iwarp",
	.counters_table = iwarp_counters_table,
	.listen = iwarp_listen,
	.listener_pause = iwarp_listener_pause,
	.listener_addr = iwarp_listener_addr,
	.listener_free = iwarp_listener_free,
	.incoming_drop = iwarp_incoming_drop,
	.free = iwarp_fabric_free,
	.connect = iwarp_ep_connect,
	.adopt = iwarp_ep_adopt,
	.accept = iwarp_ep_accept,
	.reject = iwarp_ep_reject,
	.ep_info = iwarp_ep_info,
	.ep_describe = iwarp_ep_describe,
	.recv_post = iwarp_ep_recv_post,
	.recv_resize = iwarp_ep_recv_resize,
	.post = iwarp_ep_post,
	.key_bind = iwarp_ep_key_bind,
	.key_ready = iwarp_ep_key_ready,
	.key_starves = iwarp_ep_key_starves,
	.key_unbind = iwarp_ep_key_unbind,
	.probe = iwarp_ep_probe,
	.close = iwarp_ep_close,
	.abort = iwarp_ep_abort,
	.hear_end = iwarp_ep_hear_end,
	.ep_free = iwarp_ep_free,
};

struct fabric_incoming *iwarp_incoming_new(int fd, const struct iwarp_config *config,
					   const struct sockaddr_storage *local,
					   const struct sockaddr_storage *peer)
{
	struct iwarp_incoming *incoming = calloc(1, sizeof(*incoming));

	if (!incoming) {
		close(fd);
		return NULL;
	}
	if (config)
		iwarp_socket_tune(fd, config);
	incoming->in =
		(struct fabric_incoming){.ops = &iwarp_fabric_ops, .local = *local, .peer = *peer};
	incoming->fd = fd;
	return &incoming->in;
}
