// SPDX-License-Identifier: BSD-3-Clause
/*
 * An event of a connection that is not adopted yet is acknowledged and ignored: after the adoption
 * the endpoint's set-up fails or times out. If a listener's device or address changes, it reports
 * that and binds again, immediately and then every second until it succeeds.
 */
#include "fabric/verbs/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REBIND_US 1000000u

/* A listener's event channel: kept while an id that was handed out is still on it. */
struct verbs_channel {
	struct rdma_event_channel *channel;
	atomic_uint refs;
};

struct verbs_listener {
	struct fabric_listener listener;
	struct loop *loop;
	struct verbs_config config;
	int backlog;
	void (*incoming)(void *arg, struct fabric_incoming *in);
	void *arg;
	struct sockaddr_storage addr; /* with the actual port */
	struct verbs_channel *channel;
	struct verbs_fd_watch watch;
	struct loop_timer *timer;
	struct rdma_cm_id *id; /* NULL while the bind fails */
};

static struct verbs_channel *channel_new(void)
{
	struct verbs_channel *channel = calloc(1, sizeof(*channel));

	if (!channel) {
		errno = ENOMEM;
		return NULL;
	}
	atomic_init(&channel->refs, 1);
	channel->channel = rdma_create_event_channel();
	if (channel->channel && !fcntl(channel->channel->fd, F_SETFL, O_NONBLOCK))
		return channel;
	if (channel->channel)
		rdma_destroy_event_channel(channel->channel);
	free(channel);
	return NULL;
}

static void channel_put(struct verbs_channel *channel)
{
	if (atomic_fetch_sub(&channel->refs, 1) != 1)
		return;
	rdma_destroy_event_channel(channel->channel);
	free(channel);
}

static void listener_notice(const struct verbs_listener *listener, const char *what)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE] = "?", port[8] = "?", text[VERBS_NOTICE_BYTES];

	if (!listener->config.notice)
		return;
	(void)getnameinfo((const struct sockaddr *)&listener->addr, sizeof(listener->addr), host,
			  sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, sizeof(text), "listener on %s port %s %s", host, port, what);
	listener->config.notice(text);
}

static int bind_and_listen(struct verbs_listener *listener)
{
	int yes = 1, no = 0, err;

	if (rdma_create_id(listener->channel->channel, &listener->id, NULL, RDMA_PS_TCP))
		return -errno;
	/*
	 * The port may still be in use by connections of an earlier listener; the kernel may not
	 * support the option.
	 */
	(void)rdma_set_option(listener->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes,
			      sizeof(yes));
	/* [::] accepts IPv4 clients too, whatever the system's default is. */
	if (listener->addr.ss_family == AF_INET6)
		(void)rdma_set_option(listener->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &no,
				      sizeof(no));
	verbs_set_tos(&listener->config, listener->id);
	if (rdma_bind_addr(listener->id, (struct sockaddr *)&listener->addr) ||
	    rdma_listen(listener->id, listener->backlog)) {
		err = -errno;
		rdma_destroy_id(listener->id);
		listener->id = NULL;
		return err;
	}
	return 0;
}

static void rebind(void *arg)
{
	struct verbs_listener *listener = arg;

	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
	if (bind_and_listen(listener))
		loop_timer_set(listener->loop, listener->timer, REBIND_US);
	else
		listener_notice(listener, "listens again");
}

static struct verbs_incoming *incoming_new(struct verbs_listener *listener,
					   const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct verbs_incoming *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->in.ops = listener->listener.ops;
	in->channel = listener->channel;
	atomic_fetch_add(&in->channel->refs, 1);
	in->id = event->id;
	in->id->context = NULL;
	verbs_copy_addr(&in->in.peer, rdma_get_peer_addr(event->id));
	verbs_copy_addr(&in->in.local, rdma_get_local_addr(event->id));
	in->private_data_bytes = verbs_copy_private_data(in->private_data, conn);
	/* librdmacm has already swapped the peer's values to our side. */
	in->peer_ird = conn->initiator_depth;
	in->peer_ord = conn->responder_resources;
	return in;
}

static void channel_ready(void *arg)
{
	struct verbs_listener *listener = arg;
	struct rdma_cm_event *event;
	struct verbs_incoming *in;
	bool again, removed;

	if (rdma_get_cm_event(listener->channel->channel, &event))
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		in = incoming_new(listener, event);
		if (!in) {
			struct rdma_cm_id *id = event->id;

			rdma_ack_cm_event(event);
			rdma_destroy_id(id);
			return;
		}
		rdma_ack_cm_event(event);
		listener->incoming(listener->arg, &in->in);
		return;
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		removed = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
		again = event->id == listener->id;
		rdma_ack_cm_event(event);
		if (!again)
			return;
		listener_notice(listener,
				removed ? "lost its device" : "lost its address to another device");
		rebind(listener);
		return;
	default:
		rdma_ack_cm_event(event);
	}
}

int verbs_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out)
{
	struct verbs_listener *listener = calloc(1, sizeof(*listener));
	int err;

	if (!listener)
		return -ENOMEM;
	listener->loop = loop;
	listener->config = *(const struct verbs_config *)config;
	listener->backlog = backlog;
	listener->incoming = incoming;
	listener->arg = arg;
	verbs_copy_addr(&listener->addr, addr);
	listener->channel = channel_new();
	if (!listener->channel) {
		err = errno ? -errno : -ENODEV;
		goto out_listener;
	}
	err = -ENOMEM;
	listener->timer = loop_timer_new(loop, rebind, listener);
	if (!listener->timer)
		goto out_loop;
	err = verbs_fd_watch_init(&listener->watch, loop, listener->channel->channel->fd,
				  channel_ready, listener);
	if (err)
		goto out_loop;
	err = bind_and_listen(listener);
	if (err)
		goto out_loop;
	verbs_copy_addr(&listener->addr, rdma_get_local_addr(listener->id));
	verbs_fd_watch_set(&listener->watch, true);
	*out = &listener->listener;
	return 0;

out_loop:
	verbs_fd_watch_fini(&listener->watch);
	loop_timer_free(loop, listener->timer);
	channel_put(listener->channel);
out_listener:
	free(listener);
	return err;
}

void verbs_listener_pause(struct fabric_listener *fl, bool paused)
{
	struct verbs_listener *listener = container_of(fl, struct verbs_listener, listener);

	verbs_fd_watch_set(&listener->watch, !paused);
}

void verbs_listener_addr(const struct fabric_listener *fl, struct sockaddr_storage *addr)
{
	*addr = container_of(fl, const struct verbs_listener, listener)->addr;
}

void verbs_listener_free(struct fabric_listener *fl)
{
	struct verbs_listener *listener = container_of(fl, struct verbs_listener, listener);

	verbs_fd_watch_fini(&listener->watch);
	loop_timer_free(listener->loop, listener->timer);
	if (listener->id)
		rdma_destroy_id(listener->id);
	channel_put(listener->channel);
	free(listener);
}

void verbs_incoming_drop(struct fabric_incoming *fin, const void *private_data, size_t len_bytes)
{
	struct verbs_incoming *in = container_of(fin, struct verbs_incoming, in);

	(void)rdma_reject(in->id, private_data, (uint8_t)len_bytes);
	rdma_destroy_id(in->id);
	verbs_incoming_free(in);
}

void verbs_incoming_free(struct verbs_incoming *in)
{
	channel_put(in->channel);
	free(in);
}
