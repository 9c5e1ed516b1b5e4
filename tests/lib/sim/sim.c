// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sim/sim_priv.h"

static int sim_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		      void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		      struct fabric_listener **out)
{
	struct sim_net *net = config;
	struct sim_listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return -ENOMEM;
	listener->net = net;
	listener->incoming = incoming;
	listener->arg = arg;
	memcpy(&listener->addr, addr, sizeof(*addr));
	TAILQ_INSERT_TAIL(&net->listeners, listener, entry);
	*out = &listener->listener;
	return 0;
}

static void sim_listener_pause(struct fabric_listener *listener, bool paused)
{
	container_of(listener, struct sim_listener, listener)->paused = paused;
}

static void sim_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr)
{
	*addr = container_of(listener, const struct sim_listener, listener)->addr;
}

static void sim_listener_free(struct fabric_listener *fl)
{
	struct sim_listener *listener = container_of(fl, struct sim_listener, listener);

	TAILQ_REMOVE(&listener->net->listeners, listener, entry);
	free(listener);
}

static void sim_free(struct fabric *fabric)
{
	free(container_of(fabric, struct sim_fabric, fabric));
}

struct fabric *sim_fabric_new(struct sim_net *net, struct buf_pool *pool)
{
	struct sim_fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return NULL;
	fabric->fabric.ops = &sim_fabric_ops;
	fabric->fabric.loop = net->loop;
	fabric->fabric.pool = pool;
	fabric->net = net;
	return &fabric->fabric;
}

static const struct counter_desc no_counters[] = {{NULL, NULL}};

const struct fabric_ops sim_fabric_ops = {
	.name = "sim",
	.counters_table = no_counters,
	.listen = sim_listen,
	.listener_pause = sim_listener_pause,
	.listener_addr = sim_listener_addr,
	.listener_free = sim_listener_free,
	.accepted_conn_drop = sim_incoming_drop,
	.free = sim_free,
	.connect = sim_connect,
	.adopt = sim_adopt,
	.accept = sim_accept,
	.reject = sim_reject,
	.ep_info = sim_ep_info,
	.recv_post = sim_recv_post,
	.recv_resize = sim_recv_resize,
	.post = sim_post,
	.key_bind = sim_key_bind,
	.key_ready = sim_key_ready,
	.key_read_waits = sim_key_starves,
	.key_unbind = sim_key_unbind,
	.key_await = sim_key_await,
	.keepalive = sim_probe,
	.close = sim_close,
	.abort = sim_abort,
	.ep_free = sim_ep_free,
};
