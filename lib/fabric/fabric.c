// SPDX-License-Identifier: BSD-3-Clause
/* Dispatch from the fabric's interface to the fabric at hand. */
#include "fabric/fabric.h"

#include <assert.h>

int fabric_listen(const struct fabric_ops *ops, void *config, struct loop *loop,
		  const struct sockaddr *addr, int backlog,
		  void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		  struct fabric_listener **out)
{
	int err = ops->listen(config, loop, addr, backlog, incoming, arg, out);

	if (!err)
		(*out)->ops = ops;
	return err;
}

void fabric_listener_pause(struct fabric_listener *listener, bool paused)
{
	listener->ops->listener_pause(listener, paused);
}

void fabric_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr)
{
	listener->ops->listener_addr(listener, addr);
}

void fabric_listener_free(struct fabric_listener *listener)
{
	if (listener)
		listener->ops->listener_free(listener);
}

void fabric_incoming_drop(struct fabric_incoming *in)
{
	in->ops->incoming_drop(in, NULL, 0);
}

void fabric_incoming_reject(struct fabric_incoming *in, const void *private_data, size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	in->ops->incoming_drop(in, private_data, len_bytes);
}

int fabric_connect(struct fabric *fabric, const struct sockaddr *addr,
		   const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		   void *arg, struct fabric_ep **out)
{
	return fabric->ops->connect(fabric, addr, params, events, arg, out);
}

int fabric_adopt(struct fabric *fabric, struct fabric_incoming *in,
		 const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	return fabric->ops->adopt(fabric, in, events, arg, out);
}

int fabric_ep_accept(struct fabric_ep *ep, const struct fabric_ep_params *params)
{
	return ep->ops->accept(ep, params);
}

void fabric_ep_reject(struct fabric_ep *ep, const void *private_data, size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	ep->ops->reject(ep, private_data, len_bytes);
}

void fabric_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info)
{
	ep->ops->ep_info(ep, info);
}

void fabric_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES])
{
	text[0] = '\0';
	if (ep->ops->ep_describe)
		ep->ops->ep_describe(ep, text);
}

void fabric_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes)
{
	ep->ops->recv_post(ep, count, size_bytes);
}

unsigned fabric_recv_resize(struct fabric_ep *ep, uint32_t size_bytes)
{
	return ep->ops->recv_resize ? ep->ops->recv_resize(ep, size_bytes) : FABRIC_RECV_KEPT;
}

int fabric_post(struct fabric_ep *ep, struct fabric_wr *wr)
{
	return ep->ops->post(ep, wr);
}

int fabric_key_bind(struct fabric_ep *ep, struct fabric_key *key)
{
	assert(key->ready_bytes <= key->len_bytes);
	assert(key->ready_bytes == key->len_bytes || (key->rights & FABRIC_REMOTE_READ));
	return ep->ops->key_bind(ep, key);
}

void fabric_key_ready(struct fabric_key *key, uint32_t ready_bytes)
{
	assert(ready_bytes >= key->ready_bytes && ready_bytes <= key->len_bytes);
	key->ready_bytes = ready_bytes;
	/* A fabric without late_reads has none: there is nothing that could go on. */
	if (key->ep->ops->key_ready)
		key->ep->ops->key_ready(key);
}

bool fabric_key_starves(const struct fabric_key *key)
{
	return key->ready_bytes < key->len_bytes && key->ep->ops->key_starves &&
	       key->ep->ops->key_starves(key);
}

bool fabric_key_unbind(struct fabric_key *key)
{
	return key->ep->ops->key_unbind(key);
}

bool fabric_key_await(struct fabric_ep *ep, unsigned own)
{
	return ep->ops->key_await && ep->events->key_free && ep->ops->key_await(ep, own);
}

int fabric_ep_probe(struct fabric_ep *ep)
{
	return ep->ops->probe(ep);
}

void fabric_ep_close(struct fabric_ep *ep)
{
	ep->ops->close(ep);
}

void fabric_ep_abort(struct fabric_ep *ep)
{
	ep->ops->abort(ep);
}

void fabric_ep_hear_end(struct fabric_ep *ep)
{
	if (ep->ops->hear_end)
		ep->ops->hear_end(ep);
}

void fabric_ep_free(struct fabric_ep *ep)
{
	if (ep)
		ep->ops->ep_free(ep);
}

void fabric_free(struct fabric *fabric)
{
	if (fabric)
		fabric->ops->free(fabric);
}

const char *fabric_close_name(enum fabric_close why)
{
	static const char *const names[] = {
		[FABRIC_CLOSE_LOCAL] = "local",
		[FABRIC_CLOSE_PEER] = "peer closed",
		[FABRIC_CLOSE_LOST] = "lost",
		[FABRIC_CLOSE_SILENT] = "silent",
		[FABRIC_CLOSE_REFUSED] = "refused",
		[FABRIC_CLOSE_TIMEOUT] = "timeout",
		[FABRIC_CLOSE_PROTOCOL] = "protocol error",
		[FABRIC_CLOSE_TERMINATED] = "terminated",
		[FABRIC_CLOSE_RESOURCES] = "resources",
		[FABRIC_CLOSE_PROXY_HEADER] = "proxy header",
		[FABRIC_CLOSE_PORT] = "port taken",
	};
	return names[why];
}
