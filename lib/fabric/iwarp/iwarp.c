// SPDX-License-Identifier: BSD-3-Clause
/* The iwarp fabric: a worker's share of it, and its table of operations. */
#include "fabric/iwarp/iwarp.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "fabric/iwarp/socket.h"

COUNTER_TABLE(iwarp_counters, IWARP_COUNTERS);

/* An idle peer is asked after a minute and given up 30 s later; so is one that takes no data. */
#define KEEPALIVE_IDLE_S     60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES     3
#define USER_TIMEOUT_MS      60000u

void iwarp_socket_tune(int fd)
{
	static const struct {
		int level, option, value;
	} settings[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		(void)setsockopt(fd, settings[i].level, settings[i].option, &settings[i].value,
				 sizeof(settings[i].value));
}

socklen_t iwarp_addr_len(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

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
	.recv_post = iwarp_ep_recv_post,
	.post = iwarp_ep_post,
	.key_bind = iwarp_ep_key_bind,
	.key_unbind = iwarp_ep_key_unbind,
	.close = iwarp_ep_close,
	.ep_free = iwarp_ep_free,
};
