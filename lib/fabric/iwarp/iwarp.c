// SPDX-License-Identifier: BSD-3-Clause
/*
 * An endpoint is a TCP socket on the loop, and the engine that decides what is sent on it.
 *
 * Work posted in a loop iteration is sent at its end, by one sendmsg. A readable socket is read
 * directly to where the engine wants the bytes. An endpoint ends, with closed(), only in a callback
 * of the loop, and always as the last action there.
 *
 * Each loop iteration does a bounded amount of work for one connection, however fast its peer is.
 * The rest follows in the next iteration, after the other connections: the loop reports a readable
 * socket again, and the flush is deferred.
 */
#include "fabric/iwarp/iwarp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "fabric/iwarp/iwarp_socket.h"
#include "fabric/iwarp/listener.h"

#define READS_PER_ITERATION  16u /* while a read fills the whole plan */
#define WRITES_PER_ITERATION 8u

COUNTER_TABLE(iwarp_counters, IWARP_COUNTERS);

struct iwarp_fabric {
	struct fabric fabric;
	struct iwarp_env env;
	struct iwarp_counters counters, connected_counters;
	struct iwarp_config config;
	uint8_t *staging; /* IWARP_RX_STAGING_BYTES; empty between two callbacks */
};

static struct iwarp_fabric *fabric_of(const struct fabric *fabric)
{
	return container_of(fabric, struct iwarp_fabric, fabric);
}

static struct iwarp_ep *ep_of(struct fabric_ep *ep)
{
	return container_of(ep, struct iwarp_ep, ep);
}

static uint64_t ep_now_us(const struct iwarp_ep *ep)
{
	return loop_now_us(ep->ep.fabric->loop);
}

/* ---- between socket and engine: call ep_apply_action() after each of these ---- */

/* The socket failed with @err, an errno. */
static void ep_lost(struct iwarp_ep *ep, int err)
{
	/* An engine that has already ended keeps its reason. */
	if (iwarp_engine_action(ep->engine) != IWARP_DROP)
		ep->ep.close_errno = err;
	iwarp_engine_lost(ep->engine, iwarp_socket_close_reason(ep->connecting, err),
			  strerror(err));
}

/*
 * Reads once. Returns true if data arrived and the connection goes on; sets @filled if the read
 * filled the whole plan.
 */
static bool receive_once(struct iwarp_ep *ep, bool *filled)
{
	struct iovec iov[IWARP_RX_MAX_IOV];
	unsigned niov = iwarp_engine_rx_plan(ep->engine, fabric_of(ep->ep.fabric)->staging, iov);
	size_t space = 0;
	ssize_t len;

	for (unsigned j = 0; j < niov; j++)
		space += iov[j].iov_len;
	do {
		len = readv(ep->fd, iov, (int)niov);
	} while (len < 0 && errno == EINTR);
	*filled = len > 0 && (size_t)len == space;
	if (len < 0 && errno == EAGAIN)
		return false;
	if (len < 0)
		ep_lost(ep, errno);
	else if (len == 0)
		iwarp_engine_rx_eof(ep->engine);
	else
		iwarp_engine_rx_done(ep->engine, (size_t)len, ep_now_us(ep));
	return len > 0 && iwarp_engine_action(ep->engine) != IWARP_DROP;
}

/* Reads as much as one loop iteration may. */
static void ep_receive(struct iwarp_ep *ep)
{
	bool filled = true;

	for (unsigned i = 0; i < READS_PER_ITERATION && filled; i++)
		if (!receive_once(ep, &filled))
			return;
}

/* Reads all data before the peer's end; the socket buffer bounds it. */
static void ep_receive_rest(struct iwarp_ep *ep)
{
	bool filled;

	while (iwarp_engine_action(ep->engine) != IWARP_DROP && receive_once(ep, &filled))
		;
}

/* Passes a changed MSS to the engine. */
static void ep_mss_update(struct iwarp_ep *ep)
{
	if (iwarp_tcp_mss_changed(&ep->tcp_mss, ep->fd))
		iwarp_engine_mss(ep->engine, (unsigned)ep->tcp_mss.mss_bytes);
}

/* Sends as much as one loop iteration may; the rest is deferred, or waits for the socket. */
static void ep_send(struct iwarp_ep *ep)
{
	for (unsigned i = 0; i < WRITES_PER_ITERATION; i++) {
		const struct iovec *iov;
		struct msghdr msg = {0};
		size_t total = 0;
		ssize_t len;

		ep_mss_update(ep);
		msg.msg_iovlen = iwarp_engine_tx_plan(ep->engine, &iov);
		ep->blocked = false;
		if (!msg.msg_iovlen)
			return;
		msg.msg_iov = (struct iovec *)iov;
		for (size_t j = 0; j < msg.msg_iovlen; j++)
			total += iov[j].iov_len;
		do {
			len = sendmsg(ep->fd, &msg, MSG_NOSIGNAL | MSG_EOR);
		} while (len < 0 && errno == EINTR);
		if (len < 0 && errno != EAGAIN) {
			int err = errno;

			/* Data received before the error can contain the reason. */
			ep_receive(ep);
			ep_lost(ep, err);
			return;
		}
		if (len > 0) {
			iwarp_tcp_mss_sent(&ep->tcp_mss, (size_t)len);
			iwarp_engine_tx_done(ep->engine, (size_t)len, ep_now_us(ep));
		}
		if (len < 0 || (size_t)len < total) {
			ep->blocked = true;
			return;
		}
	}
	loop_defer(ep->ep.fabric->loop, &ep->flush);
}

/* ---- the loop's callbacks ---- */

static void ep_finish(struct iwarp_ep *ep)
{
	struct loop *loop = ep->ep.fabric->loop;
	enum fabric_close why;
	const char *detail;

	ep->closed = true;
	loop_task_cancel(loop, &ep->flush);
	loop_io_free(loop, ep->io);
	loop_timer_free(loop, ep->timer);
	ep->io = NULL;
	ep->timer = NULL;
	if (ep->fd >= 0)
		close(ep->fd);
	ep->fd = -1;
	iwarp_engine_flush(ep->engine);
	if (iwarp_engine_peer_speaks_rpc(ep->engine))
		ep->ep.close_errno = EPROTOTYPE;
	why = iwarp_engine_close_reason(ep->engine, &detail);
	ep->ep.events->closed(ep->ep.arg, why, detail);
}

static void ep_io_update(struct iwarp_ep *ep)
{
	unsigned events = ep->connecting ? LOOP_WRITE : LOOP_READ | (ep->blocked ? LOOP_WRITE : 0);

	if (events == ep->watched)
		return;
	ep->watched = events;
	loop_io_set(ep->ep.fabric->loop, ep->io, events);
}

static void ep_timer_set(struct iwarp_ep *ep)
{
	struct loop *loop = ep->ep.fabric->loop;
	uint64_t deadline = iwarp_engine_deadline(ep->engine), now = ep_now_us(ep);

	if (deadline == ep->timer_at)
		return;
	ep->timer_at = deadline;
	if (deadline == UINT64_MAX)
		loop_timer_clear(loop, ep->timer);
	else
		loop_timer_set(loop, ep->timer, deadline > now ? deadline - now : 0);
}

/*
 * Carries out the engine's action on the socket. It must be the last call in each callback: the
 * endpoint may be gone.
 */
static void ep_apply_action(struct iwarp_ep *ep)
{
	switch (iwarp_engine_action(ep->engine)) {
	case IWARP_DROP:
		ep_finish(ep);
		return;
	case IWARP_FIN:
		if (!ep->fin_sent)
			(void)shutdown(ep->fd, SHUT_WR);
		ep->fin_sent = true;
		ep->blocked = false;
		break;
	case IWARP_CONTINUE:
		break;
	}
	ep_io_update(ep);
	ep_timer_set(ep);
}

static void ep_send_later(struct iwarp_ep *ep)
{
	if (!ep->closed && !ep->connecting)
		loop_defer(ep->ep.fabric->loop, &ep->flush);
}

/* Works while TCP is connecting too: the task ends the endpoint. */
static void ep_finish_later(struct iwarp_ep *ep)
{
	if (!ep->closed)
		loop_defer(ep->ep.fabric->loop, &ep->flush);
}

static void on_flush(void *arg)
{
	struct iwarp_ep *ep = arg;

	if (ep->peer_ended)
		ep_receive_rest(ep);
	ep->peer_ended = false;
	ep_send(ep);
	ep_apply_action(ep);
}

/* Passes the number of unacknowledged bytes to the engine. */
static void ep_unacked_update(struct iwarp_ep *ep)
{
	int bytes = 0;

	if (!ep->connecting && ioctl(ep->fd, SIOCOUTQ, &bytes) == 0 && bytes >= 0)
		iwarp_engine_unacked(ep->engine, (size_t)bytes);
}

static void on_timer(void *arg)
{
	struct iwarp_ep *ep = arg;

	ep->timer_at = UINT64_MAX;
	/* Data that has arrived counts, even if this process runs late. */
	if (!ep->connecting)
		ep_receive(ep);
	ep_unacked_update(ep);
	if (iwarp_engine_action(ep->engine) != IWARP_DROP)
		iwarp_engine_expire(ep->engine, ep_now_us(ep));
	ep_send_later(ep);
	ep_apply_action(ep);
}

static void on_connected(struct iwarp_ep *ep)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(ep->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	if (err) {
		ep_lost(ep, err);
		return;
	}
	ep->connecting = false;
	len = sizeof(ep->local);
	(void)getsockname(ep->fd, (struct sockaddr *)&ep->local, &len);
	ep_mss_update(ep);
	ep_send_later(ep);
}

static void on_ready(void *arg, unsigned events)
{
	struct iwarp_ep *ep = arg;

	if (events & LOOP_ERROR) {
		iwarp_engine_abort(ep->engine, FABRIC_CLOSE_RESOURCES, "cannot watch its socket");
	} else if (ep->connecting) {
		on_connected(ep);
	} else {
		if (events & LOOP_READ)
			ep_receive(ep);
		ep_send_later(ep);
	}
	ep_apply_action(ep);
}

/* ---- the operations ---- */

static void ep_free(struct fabric_ep *base)
{
	struct iwarp_ep *ep = ep_of(base);
	struct loop *loop = base->fabric->loop;

	loop_task_cancel(loop, &ep->flush);
	loop_io_free(loop, ep->io);
	loop_timer_free(loop, ep->timer);
	if (ep->fd >= 0)
		close(ep->fd);
	iwarp_engine_free(ep->engine);
	free(ep);
}

/* Consumes @fd, also on failure. */
static struct iwarp_ep *ep_new(struct iwarp_fabric *fabric, int fd,
			       const struct fabric_ep_events *events, void *arg)
{
	struct loop *loop = fabric->fabric.loop;
	struct iwarp_ep *ep = calloc(1, sizeof(*ep));

	if (!ep) {
		close(fd);
		return NULL;
	}
	ep->ep.ops = fabric->fabric.ops;
	ep->ep.fabric = &fabric->fabric;
	ep->ep.events = events;
	ep->ep.arg = arg;
	ep->fd = fd;
	ep->timer_at = UINT64_MAX;
	loop_task_init(&ep->flush, on_flush, ep);
	ep->engine = iwarp_engine_new(&fabric->env, &fabric->config, events, arg);
	ep->io = loop_io_new(loop, fd, on_ready, ep);
	ep->timer = loop_timer_new(loop, on_timer, ep);
	if (!ep->engine || !ep->io || !ep->timer) {
		ep_free(&ep->ep);
		return NULL;
	}
	return ep;
}

static int ep_connect(struct fabric *base, const struct sockaddr *addr,
		      const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		      void *arg, struct fabric_ep **out)
{
	struct iwarp_fabric *fabric = fabric_of(base);
	struct iwarp_ep *ep;
	int fd, err;

	fd = iwarp_socket_connect(addr, params);
	if (fd < 0)
		return fd;
	ep = ep_new(fabric, fd, events, arg);
	if (!ep)
		return -ENOMEM;
	if (fabric->fabric.connected_counters)
		iwarp_engine_counters_set(ep->engine, fabric->fabric.connected_counters);
	iwarp_socket_tune(fd, &fabric->config);
	memcpy(&ep->peer, addr, sockaddr_bytes(addr));
	err = iwarp_engine_connect(ep->engine, params, ep_now_us(ep));
	if (err) {
		iwarp_engine_flush(ep->engine);
		ep_free(&ep->ep);
		return err;
	}
	ep->connecting = true;
	ep_io_update(ep);
	ep_timer_set(ep);
	*out = &ep->ep;
	return 0;
}

static int ep_adopt(struct fabric *base, struct fabric_incoming *in,
		    const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	struct iwarp_fabric *fabric = fabric_of(base);
	struct iwarp_incoming *incoming = container_of(in, struct iwarp_incoming, in);
	struct iwarp_ep *ep = ep_new(fabric, incoming->fd, events, arg);

	if (ep) {
		ep->peer = incoming->in.peer;
		ep->local = incoming->in.local;
		iwarp_socket_spread(incoming->fd, &fabric->config);
		ep_mss_update(ep);
		iwarp_engine_await_request(ep->engine, ep_now_us(ep));
		ep_io_update(ep);
		ep_timer_set(ep);
		*out = &ep->ep;
	}
	free(incoming);
	return ep ? 0 : -ENOMEM;
}

static int ep_accept(struct fabric_ep *base, const struct fabric_ep_params *params)
{
	struct iwarp_ep *ep = ep_of(base);
	int err = iwarp_engine_accept(ep->engine, params, ep_now_us(ep));

	ep_send_later(ep);
	return err;
}

static void ep_reject(struct fabric_ep *base, const void *private_data, size_t len_bytes)
{
	struct iwarp_ep *ep = ep_of(base);

	iwarp_engine_reject(ep->engine, private_data, len_bytes, ep_now_us(ep));
	ep_send_later(ep);
}

static void ep_info(const struct fabric_ep *base, struct fabric_ep_info *info)
{
	const struct iwarp_ep *ep = container_of((struct fabric_ep *)base, struct iwarp_ep, ep);

	memset(info, 0, sizeof(*info));
	info->fabric = base->ops->name;
	info->local = ep->local;
	info->peer = ep->peer;
	iwarp_engine_depths(ep->engine, &info->ird, &info->ord);
	info->sends_invalidate = true;
	info->deferred_reads = true;
	info->watch = FABRIC_KEEPALIVE_BUILTIN;
	info->silence = iwarp_engine_silence(ep->engine);
	info->per_rpc_keys = true;
	info->max_key_bytes = UINT32_MAX;
	info->max_sge = FABRIC_MAX_SGE;
}

static void ep_describe(const struct fabric_ep *base, char text[FABRIC_TEXT_BYTES])
{
	const struct iwarp_ep *ep = container_of((struct fabric_ep *)base, struct iwarp_ep, ep);

	iwarp_engine_describe(ep->engine, text);
}

static void ep_recv_post(struct fabric_ep *base, unsigned count, uint32_t size_bytes)
{
	struct iwarp_ep *ep = ep_of(base);

	iwarp_engine_recv_post(ep->engine, count, size_bytes);
	if (iwarp_engine_action(ep->engine) == IWARP_DROP)
		ep_finish_later(ep);
}

static unsigned ep_recv_resize(struct fabric_ep *base, uint32_t size_bytes)
{
	return iwarp_engine_recv_resize(ep_of(base)->engine, size_bytes);
}

static int ep_post(struct fabric_ep *base, struct fabric_wr *wr)
{
	struct iwarp_ep *ep = ep_of(base);
	int err = iwarp_engine_post(ep->engine, wr);

	if (!err)
		ep_send_later(ep);
	return err;
}

static int ep_key_bind(struct fabric_ep *base, struct fabric_key *key)
{
	key->ep = base;
	return iwarp_engine_key_bind(ep_of(base)->engine, key);
}

static void ep_key_ready(struct fabric_key *key)
{
	struct iwarp_ep *ep = ep_of(key->ep);

	if (iwarp_engine_reads_wait(ep->engine))
		ep_send_later(ep);
}

static bool ep_key_read_waits(const struct fabric_key *key)
{
	return iwarp_engine_key_read_waits(ep_of(key->ep)->engine, key);
}

static bool ep_key_unbind(struct fabric_key *key)
{
	struct iwarp_ep *ep = ep_of(key->ep);
	bool unbound = iwarp_engine_key_unbind(ep->engine, key);

	/* A Read may have waited for the memory. */
	if (!unbound && iwarp_engine_action(ep->engine) == IWARP_DROP)
		ep_finish_later(ep);
	return unbound;
}

static int ep_keepalive(struct fabric_ep *base)
{
	struct iwarp_ep *ep = ep_of(base);
	int err = iwarp_engine_keepalive(ep->engine);

	if (!err)
		ep_send_later(ep);
	return err;
}

static void ep_close(struct fabric_ep *base)
{
	struct iwarp_ep *ep = ep_of(base);

	if (!ep->closed)
		ep_unacked_update(ep);
	iwarp_engine_close(ep->engine, ep_now_us(ep));
	ep_finish_later(ep);
}

static void ep_check_disconnect(struct fabric_ep *base)
{
	struct iwarp_ep *ep = ep_of(base);

	if (ep->closed || ep->connecting || !iwarp_socket_has_ended(ep->fd))
		return;
	ep->peer_ended = true;
	ep_finish_later(ep);
}

/*
 * Sends a reset without a FIN before it: after our FIN the peer's FIN could arrive first, and leave
 * the port in TIME_WAIT.
 */
static void ep_abort(struct fabric_ep *base)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = 0};
	struct iwarp_ep *ep = ep_of(base);

	if (ep->fd < 0)
		return;
	iwarp_engine_abort(ep->engine, FABRIC_CLOSE_LOCAL, "closed");
	loop_io_free(ep->ep.fabric->loop, ep->io);
	ep->io = NULL;
	(void)setsockopt(ep->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(ep->fd);
	ep->fd = -1;
	ep_finish_later(ep);
}

/* ---- the fabric ---- */

struct fabric *iwarp_fabric_new(struct loop *loop, struct buf_pool *pool,
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
	iwarp->fabric.connected_counters =
		config->separate_connected ? &iwarp->connected_counters : NULL;
	return &iwarp->fabric;
}

static void iwarp_fabric_free(struct fabric *fabric)
{
	struct iwarp_fabric *iwarp = fabric_of(fabric);

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
	.accepted_conn_drop = iwarp_incoming_drop,
	.free = iwarp_fabric_free,
	.connect = ep_connect,
	.adopt = ep_adopt,
	.accept = ep_accept,
	.reject = ep_reject,
	.ep_info = ep_info,
	.ep_describe = ep_describe,
	.recv_post = ep_recv_post,
	.recv_resize = ep_recv_resize,
	.post = ep_post,
	.key_bind = ep_key_bind,
	.key_ready = ep_key_ready,
	.key_read_waits = ep_key_read_waits,
	.key_unbind = ep_key_unbind,
	.keepalive = ep_keepalive,
	.close = ep_close,
	.abort = ep_abort,
	.check_disconnect = ep_check_disconnect,
	.ep_free = ep_free,
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

int iwarp_incoming_socket(const struct fabric_incoming *in)
{
	return container_of(in, const struct iwarp_incoming, in)->fd;
}
