/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of a fabric: RDMA operations, independent of the transport below.
 *
 *	verbs of the fabric        libibverbs / librdmacm
 *	fabric_listen              rdma_create_id, rdma_bind_addr, rdma_listen
 *	fabric_adopt               RDMA_CM_EVENT_CONNECT_REQUEST, rdma_migrate_id, rdma_create_qp
 *	fabric_ep_accept, _reject  rdma_accept, rdma_reject
 *	fabric_connect             rdma_resolve_addr, _route, rdma_create_qp, rdma_connect
 *	fabric_recv_post           ibv_post_recv
 *	fabric_post                ibv_post_send: SEND, SEND_WITH_INV, RDMA_WRITE, RDMA_READ
 *	fabric_key_bind, _unbind   IBV_WR_BIND_MW, IBV_WR_LOCAL_INV, or ibv_reg_mr in a private PD
 *	fabric_ep_keepalive        a zero-length RDMA Write, or over iWARP a zero-length Read
 *	fabric_ep_close            rdma_disconnect, then the flush of both queues
 *	fabric_ep_abort            rdma_disconnect immediately
 *
 * Every fabric guarantees:
 *
 *  - Sends and Writes leave in the order of posting. A Write is placed at the peer before a later
 *    Send is delivered there. A Read is ordered only with other Reads.
 *  - A Send that is posted after fabric_key_bind() returned 0 can carry the key.
 *  - One post, one completion: done() is called exactly once for each work request whose post
 *    returned 0. Sends and Writes complete in the order of posting, and so do Reads. done() is
 *    never called from inside a call into the fabric, and always before closed(). Until then the
 *    fabric owns the work request and the buffers that it names.
 *  - If a work request fails, only its completion status is valid.
 *  - At most as many Reads are outstanding as the peer accepts; further Reads wait in order. If the
 *    peer accepts none (fabric_ep_info.ord is 0), each Read fails with FABRIC_ERR_LOCAL, and the
 *    connection goes on.
 *  - closed() is called exactly once, as the last event, whichever end closed the connection, and
 *    never from inside a call into the fabric. The owner must call fabric_ep_free() after it, and
 *    not before.
 *
 * Callbacks may call each function of any endpoint, with two exceptions. No endpoint may be freed
 * inside a callback of its own. Inside note() and resolved() no function that changes an endpoint
 * may be called; resolved() may change its @params.
 *
 * The effect of a function depends on the phase of the endpoint. An endpoint is dying from
 * fabric_ep_close() or fabric_ep_abort() on, or once the fabric has found that the connection has
 * ended, even before its owner is notified:
 *
 *	                     not established   up                dying             after closed()
 *	fabric_post          -ENOTCONN         0                 -ENOTCONN         -ENOTCONN
 *	fabric_key_bind      -ENOTCONN         0, -ENOMEM, …     -ENOTCONN         -ENOTCONN
 *	fabric_key_await     -                 true, false       false             false
 *	fabric_key_unbind    -                 true, false       true, false       true
 *	fabric_key_ready     -                 Reads continue    no effect         no effect
 *	fabric_recv_post     posted            posted            no effect         no effect
 *	fabric_recv_resize   sizes stay        see there         sizes stay        sizes stay
 *	fabric_ep_keepalive  -ENOTCONN         0, -EOPNOTSUPP    -ENOTCONN         -ENOTCONN
 *	fabric_ep_close      closed() follows  closed() follows  no effect         no effect
 *	fabric_ep_abort      closed() follows  closed() follows  closed() follows  no effect
 *	fabric_ep_check_disconnect see there   see there         see there         no effect
 *	fabric_ep_free       -                 -                 -                 frees it
 *
 * While an endpoint is dying, done() of Sends and Writes, done() of Reads, and unbound() come in
 * any order, all before closed(). established() is no longer called. recv() is called only for
 * Sends that had arrived when the peer ended the connection, as with verbs. After fabric_ep_close()
 * posted work is still sent, so done() can still report FABRIC_OK.
 *
 * An endpoint, its fabric and its loop belong to one thread. Only a struct fabric_incoming crosses
 * threads, from the listener's thread to the thread that adopts it.
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/counters.h"
#include "base/hash_table.h"
#include "base/loop.h"
#include "fabric/buf_pool.h"
#include "fabric/coverage.h"

#define FABRIC_MAX_SGE          4
#define FABRIC_LAZY_US          100000u /* see fabric_wr.lazy */
#define FABRIC_MAX_PRIVATE_DATA 252     /* 256 on Linux iWARP, less the 4 bytes of RFC 6581 */
#define FABRIC_MAX_REJECT_DATA  148     /* in a REJ of InfiniBand, the smallest */

enum fabric_status {
	FABRIC_OK,
	FABRIC_FLUSHED, /* the connection ended first; the peer may have received the data or not */
	FABRIC_ERR_LOCAL,  /* the device or the memory failed here */
	FABRIC_ERR_REMOTE, /* the peer refused the access, or broke the protocol */
};

/* Why an endpoint closed. Each reason has its own log line and counter. */
enum fabric_close {
	FABRIC_CLOSE_LOCAL,        /* fabric_ep_close() was called */
	FABRIC_CLOSE_PEER,         /* orderly disconnect by the peer */
	FABRIC_CLOSE_LOST,         /* the connection broke: reset, unreachable */
	FABRIC_CLOSE_SILENT,       /* no answer to a keepalive */
	FABRIC_CLOSE_REFUSED,      /* the peer refused or rejected the connection */
	FABRIC_CLOSE_TIMEOUT,      /* set-up took too long */
	FABRIC_CLOSE_PROTOCOL,     /* the peer broke the fabric's protocol; we sent it the reason */
	FABRIC_CLOSE_TERMINATED,   /* the peer reported a protocol error of ours */
	FABRIC_CLOSE_RESOURCES,    /* out of memory, or a device limit here */
	FABRIC_CLOSE_PROXY_HEADER, /* unexpected PROXY protocol header from the peer */
	/* Connecting: the source port is not available; found after fabric_connect() returned. */
	FABRIC_CLOSE_PORT,
};

enum fabric_wr_op {
	FABRIC_SEND,
	FABRIC_SEND_INV, /* Send with Invalidate of inv_rkey */
	FABRIC_WRITE,
	FABRIC_READ, /* exactly one sge; at least one byte */
};

struct fabric_sge {
	struct buf *buf; /* contains `addr`; the poster holds its reference until done() */
	uint8_t *addr;
	uint32_t len_bytes;
};

struct fabric_wr {
	enum fabric_wr_op op;
	unsigned nsge;
	struct fabric_sge sge[FABRIC_MAX_SGE];
	uint32_t rkey;     /* WRITE, READ: the peer's key */
	uint32_t inv_rkey; /* SEND_INV */
	uint64_t raddr;    /* WRITE, READ: the address under that key */
	/* SEND: done() may come up to FABRIC_LAZY_US late, if that saves a completion. */
	bool lazy;
	void (*done)(struct fabric_wr *wr, enum fabric_status status);
	/* Used by the fabric while posted. */
	TAILQ_ENTRY(fabric_wr) entry;
	uint64_t priv[2];
};
TAILQ_HEAD(fabric_wr_list, fabric_wr);

#define FABRIC_REMOTE_READ  0x1u
#define FABRIC_REMOTE_WRITE 0x2u

/*
 * A key that exposes memory to the peer: `len_bytes` from `addr` under `rkey`, with these rights
 * only.
 *
 * If fabric_ep_info.deferred_reads is set, memory can be exposed for Reads before all of it is
 * filled. The fabric then answers the peer's Read up to ready_bytes, and continues as
 * fabric_key_ready() raises it. If deferred_reads is not set, or the key has no FABRIC_REMOTE_READ,
 * ready_bytes must be len_bytes when the key is bound.
 *
 * Reads are answered in order, so a Read that waits for data delays the Reads after it. It delays
 * no Send and no Write, with one exception: over iWARP a Read Response that has begun is finished
 * before a later Write, and before the work posted after that Write. A waiting Read has no time
 * limit: the owner must fill the memory or unbind the key. Unbinding the key of a waiting Read ends
 * the connection.
 *
 * Memory that is exposed only for RDMA Writes belongs to the fabric while the key is bound: no
 * other key and no Read may use it. Bytes that the peer has not written are undefined, then and
 * afterwards.
 *
 * `written` records which bytes of such memory the peer has written. Its prefix_bytes counts the
 * bytes written from the start without a gap. It is valid once recv() has delivered a Send that the
 * peer posted after its Writes, and stays valid until the next fabric_key_bind(). A fabric that
 * cannot record this (verbs) sets prefix_bytes to len_bytes. It clears the memory when it binds the
 * key, unless the memory last held data of the same connection.
 */
struct fabric_key {
	uint32_t rkey;
	uint64_t addr; /* the offset to advertise; the fabric chooses it */
	uint32_t len_bytes;
	uint32_t ready_bytes; /* filled so far, from the start */
	unsigned rights;
	struct buf *buf; /* a reference is held while bound */
	uint8_t *mem;
	void (*unbound)(struct fabric_key *key); /* only after an unbind that returned false */
	/* Used by the fabric while bound. */
	struct fabric_ep *ep;
	union {
		TAILQ_ENTRY(fabric_key) entry;
		struct hash_node node;
	};
	void *priv;
	struct coverage written;
	TAILQ_ENTRY(fabric_key) awaiting_write;
};

/* A received Send. The bytes belong to the fabric and are valid only during recv(). */
struct fabric_recv {
	const uint8_t *data;
	uint32_t len_bytes;
	uint32_t size_bytes; /* size of the receive that it consumed: the oldest posted one */
	bool invalidated;    /* a Send with Invalidate: `inv_rkey` is already invalid */
	uint32_t inv_rkey;
};

struct fabric_ep_params;

struct fabric_ep_events {
	/*
	 * Adopted endpoints: the peer's request has arrived. The owner must call fabric_ep_accept()
	 * or _reject(), now or later.
	 */
	void (*requested)(void *arg, const uint8_t *private_data, size_t len_bytes);
	/*
	 * Optional, connecting endpoints: the device is known, so fabric_ep_info() reports its
	 * features. The request has not been sent yet: its private data may still be changed.
	 */
	void (*resolved)(void *arg, struct fabric_ep_params *params);
	/* The connection is up. Connecting endpoints get the acceptor's private data. */
	void (*established)(void *arg, const uint8_t *private_data, size_t len_bytes);
	void (*recv)(void *arg, const struct fabric_recv *recv);
	/*
	 * Optional, connecting endpoints: the peer rejected the request with this private data,
	 * which InfiniBand pads with zeros. closed() follows with FABRIC_CLOSE_REFUSED.
	 */
	void (*rejected)(void *arg, const uint8_t *private_data, size_t len_bytes);
	/*
	 * Optional: the peer or the network has ended a connection that was up. recv() has
	 * delivered all Sends that had arrived. closed() follows with the same reason once the
	 * fabric has released its resources, which can take long.
	 */
	void (*ending)(void *arg, enum fabric_close why, const char *detail);
	void (*closed)(void *arg, enum fabric_close why, const char *detail);
	/* An event for the log that does not close the connection. */
	void (*note)(void *arg, const char *text);
	/* Optional: after fabric_key_await() returned true, a key can be available again. */
	void (*key_free)(void *arg);
};

struct fabric_ep_params {
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned ird;             /* most Reads that the peer may have outstanding here */
	unsigned ord;             /* most Reads that we want to have outstanding at the peer */
	unsigned recv_count;      /* receives to post before the connection is used … */
	uint32_t recv_size_bytes; /* … each of this size */
	unsigned recv_max;        /* most receives posted at any time; 0: not known */
	/*
	 * Connecting over a byte stream: sent first on the stream. Must stay valid until
	 * fabric_connect() returns. Fabrics without a byte stream ignore it.
	 */
	const uint8_t *preface;
	size_t preface_bytes;
	/* Connecting: source address, port 0 for any port; AF_UNSPEC: the host chooses both. */
	struct sockaddr_storage source;
	/* The source can be another host's address (base/ip_transparent.h); iwarp only. */
	bool source_transparent;
};

/* How a dead peer that sends nothing is detected. */
enum fabric_keepalive {
	FABRIC_KEEPALIVE_BUILTIN, /* the fabric detects it, within its configured time */
	FABRIC_KEEPALIVE_PROBE,   /* fabric_ep_keepalive() detects it */
	/* The fabric does not detect it in useful time; only answers of the peer do. */
	FABRIC_KEEPALIVE_NONE,
};

struct fabric_ep_info {
	const char *fabric;
	struct sockaddr_storage local, peer;
	unsigned ird, ord; /* as negotiated */
	/* FABRIC_SEND_INV invalidates; known from resolved() or requested() on. */
	bool sends_invalidate;
	bool deferred_reads; /* see struct fabric_key */
	enum fabric_keepalive watch;
	/* Each key has exact bounds and can be invalidated: remote invalidation can be offered. */
	bool per_rpc_keys;
	uint32_t max_key_bytes;
	unsigned max_sge;            /* longest gather list of a Send or Write; 0: FABRIC_MAX_SGE */
	uint32_t max_transfer_bytes; /* longest Read or Write; 0: no limit */
	/* Connecting: a probable reason for the peer's silence, for the log; NULL: none. */
	const char *silence;
};

#define FABRIC_TEXT_BYTES 160u /* size of the text of fabric_ep_describe() */

struct fabric;
struct fabric_ep;
struct fabric_listener;

/*
 * An accepted connection that is not adopted yet. The listener's owner checks `peer` against the
 * configuration key `allow`.
 */
struct fabric_incoming {
	const struct fabric_ops *ops;
	struct sockaddr_storage peer, local;
};

struct fabric_ops {
	const char *name; /* "iwarp", "verbs", "sim" */
	const struct counter_desc *counters_table;
	int (*listen)(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		      void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		      struct fabric_listener **out);
	void (*listener_pause)(struct fabric_listener *listener, bool paused);
	void (*listener_addr)(const struct fabric_listener *listener,
			      struct sockaddr_storage *addr);
	void (*listener_free)(struct fabric_listener *listener);
	void (*accepted_conn_drop)(struct fabric_incoming *in, const void *private_data,
				   size_t len_bytes);
	void (*free)(struct fabric *fabric);
	int (*connect)(struct fabric *fabric, const struct sockaddr *addr,
		       const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		       void *arg, struct fabric_ep **out);
	int (*adopt)(struct fabric *fabric, struct fabric_incoming *in,
		     const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
	int (*accept)(struct fabric_ep *ep, const struct fabric_ep_params *params);
	void (*reject)(struct fabric_ep *ep, const void *private_data, size_t len_bytes);
	void (*ep_info)(const struct fabric_ep *ep, struct fabric_ep_info *info);
	void (*ep_describe)(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES]);
	void (*recv_post)(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);
	unsigned (*recv_resize)(struct fabric_ep *ep, uint32_t size_bytes); /* NULL: sizes stay */
	int (*post)(struct fabric_ep *ep, struct fabric_wr *wr);
	int (*key_bind)(struct fabric_ep *ep, struct fabric_key *key);
	void (*key_ready)(struct fabric_key *key);            /* NULL without deferred_reads */
	bool (*key_read_waits)(const struct fabric_key *key); /* the same */
	bool (*key_unbind)(struct fabric_key *key);
	bool (*key_await)(struct fabric_ep *ep,
			  unsigned own); /* NULL: key_bind never returns -EAGAIN */
	int (*keepalive)(struct fabric_ep *ep);
	void (*close)(struct fabric_ep *ep);
	void (*abort)(struct fabric_ep *ep);
	void (*check_disconnect)(
		struct fabric_ep *ep); /* NULL: the fabric notices ends without it */
	void (*ep_free)(struct fabric_ep *ep);
};

/* The common head of every fabric's structures. */
struct fabric {
	const struct fabric_ops *ops;
	struct loop *loop;
	struct buf_pool *pool;
	void *counters;           /* layout: ops->counters_table */
	void *connected_counters; /* of connecting endpoints; NULL: `counters` has them */
};

struct fabric_ep {
	const struct fabric_ops *ops;
	struct fabric *fabric;
	const struct fabric_ep_events *events;
	void *arg;
	/*
	 * Valid from closed() on; 0: no errno is known; EPROTOTYPE: the peer of an accepted
	 * endpoint speaks RPC over TCP
	 */
	int close_errno;
};

struct fabric_listener {
	const struct fabric_ops *ops; /* set by fabric_listen() */
};

/**
 * fabric_listen - Listens for connections.
 * @ops:      which fabric
 * @config:   that fabric's configuration (iwarp: struct iwarp_config); copied
 * @loop:     loop of the thread that listens
 * @addr:     IPv4 or IPv6 address and port
 * @incoming: called for each connection and owns it: fabric_adopt() or fabric_incoming_drop()
 *
 * Returns 0 or the negative errno of the bind or listen that failed.
 */
static inline MUST_CHECK int fabric_listen(const struct fabric_ops *ops, void *config,
					   struct loop *loop, const struct sockaddr *addr,
					   int backlog,
					   void (*incoming)(void *arg, struct fabric_incoming *in),
					   void *arg, struct fabric_listener **out)
{
	int err = ops->listen(config, loop, addr, backlog, incoming, arg, out);

	if (!err)
		(*out)->ops = ops;
	return err;
}

/** fabric_listener_pause - Stops accepting connections until it is called with false. */
static inline void fabric_listener_pause(struct fabric_listener *listener, bool paused)
{
	listener->ops->listener_pause(listener, paused);
}

/** fabric_listener_addr - Stores the bound address, with the actual port. */
static inline void fabric_listener_addr(const struct fabric_listener *listener,
					struct sockaddr_storage *addr)
{
	listener->ops->listener_addr(listener, addr);
}

/** fabric_listener_free - Stops listening; connections already handed out stay; accepts NULL. */
static inline void fabric_listener_free(struct fabric_listener *listener)
{
	if (listener)
		listener->ops->listener_free(listener);
}

/** fabric_incoming_drop - Closes a connection that was not adopted; any thread. */
static inline void fabric_incoming_drop(struct fabric_incoming *in)
{
	in->ops->accepted_conn_drop(in, NULL, 0);
}

/**
 * fabric_incoming_reject - Like fabric_incoming_drop(), and sends the peer @private_data.
 * @len_bytes: at most FABRIC_MAX_REJECT_DATA
 *
 * Best effort: over iwarp the peer receives it only if its request has already arrived.
 */
static inline void fabric_incoming_reject(struct fabric_incoming *in, const void *private_data,
					  size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	in->ops->accepted_conn_drop(in, private_data, len_bytes);
}

/**
 * fabric_connect - Connects to a peer.
 * @params: private data, depths, receives; copied
 * @events: callbacks, called with @arg; must stay valid until closed()
 * @out:    the endpoint; established() or closed() reports the outcome
 *
 * Returns 0, -ENOMEM, or the errno of the socket or device call that failed immediately. An
 * unavailable port in @params->source is reported as -EADDRINUSE, -EADDRNOTAVAIL or -EACCES, or
 * later by closed() with FABRIC_CLOSE_PORT.
 */
static inline MUST_CHECK int fabric_connect(struct fabric *fabric, const struct sockaddr *addr,
					    const struct fabric_ep_params *params,
					    const struct fabric_ep_events *events, void *arg,
					    struct fabric_ep **out)
{
	return fabric->ops->connect(fabric, addr, params, events, arg, out);
}

/**
 * fabric_adopt - Takes over a connection from a listener.
 * @in: consumed, also on failure
 *
 * requested() follows when the peer's request has arrived, or closed(). Returns 0 or -ENOMEM.
 */
static inline MUST_CHECK int fabric_adopt(struct fabric *fabric, struct fabric_incoming *in,
					  const struct fabric_ep_events *events, void *arg,
					  struct fabric_ep **out)
{
	return fabric->ops->adopt(fabric, in, events, arg, out);
}

/**
 * fabric_ep_accept - Accepts after requested(); established() follows. Returns 0, or -ENOTCONN if
 * the connection has ended.
 */
static inline MUST_CHECK int fabric_ep_accept(struct fabric_ep *ep,
					      const struct fabric_ep_params *params)
{
	return ep->ops->accept(ep, params);
}

/** fabric_ep_reject - Rejects with up to FABRIC_MAX_REJECT_DATA bytes; closed() follows. */
static inline void fabric_ep_reject(struct fabric_ep *ep, const void *private_data,
				    size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	ep->ops->reject(ep, private_data, len_bytes);
}

/** fabric_ep_info - Stores the addresses, features and negotiated limits of an endpoint. */
static inline void fabric_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info)
{
	ep->ops->ep_info(ep, info);
}

/**
 * fabric_ep_describe - Writes the lower layer's negotiated settings or the device as text for a
 * log; "" if none.
 */
static inline void fabric_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES])
{
	text[0] = '\0';
	if (ep->ops->ep_describe)
		ep->ops->ep_describe(ep, text);
}

/**
 * fabric_recv_post - Posts @count more receives of @size_bytes each.
 *
 * Sends consume receives first in, first out, whatever their sizes, the initial ones first;
 * fabric_recv.size_bytes is the size of the receive that a Send consumed. A Send longer than the
 * oldest receive ends the connection. The caller must bound the number of posted receives; without
 * memory for them the connection ends.
 */
static inline void fabric_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes)
{
	ep->ops->recv_post(ep, count, size_bytes);
}

/** The result of fabric_recv_resize() if no receive can change its size. */
#define FABRIC_RECV_KEPT UINT_MAX
/**
 * fabric_recv_resize - Changes the size of posted receives that have no memory yet.
 *
 * Does not affect later calls of fabric_recv_post(). Frees idle buffers of another size. Returns
 * how many posted receives keep their size: 0; 1, if a Send has begun to fill the oldest; or
 * FABRIC_RECV_KEPT, all.
 */
static inline MUST_CHECK unsigned fabric_recv_resize(struct fabric_ep *ep, uint32_t size_bytes)
{
	return ep->ops->recv_resize ? ep->ops->recv_resize(ep, size_bytes) : FABRIC_RECV_KEPT;
}

/**
 * fabric_post - Posts a work request.
 *
 * Returns 0: done() will be called. Returns -ENOTCONN: the connection is not up, or is closing;
 * done() will not be called.
 */
static inline MUST_CHECK int fabric_post(struct fabric_ep *ep, struct fabric_wr *wr)
{
	return ep->ops->post(ep, wr);
}

/**
 * fabric_key_bind - Exposes memory to the peer.
 * @key: buf, mem, len_bytes, ready_bytes, rights and unbound are set by the caller; the fabric sets
 *       rkey and addr and takes a reference to buf
 *
 * Returns 0, -ENOTCONN, -EAGAIN (the device has no key left: see fabric_key_await()), -ENOMEM, or
 * -EINVAL (not all memory is ready, and no deferred_reads).
 */
static inline MUST_CHECK int fabric_key_bind(struct fabric_ep *ep, struct fabric_key *key)
{
	assert(key->ready_bytes <= key->len_bytes);
	assert(key->ready_bytes == key->len_bytes || (key->rights & FABRIC_REMOTE_READ));
	return ep->ops->key_bind(ep, key);
}

/**
 * fabric_key_await - Waits for a key, after fabric_key_bind() has returned -EAGAIN.
 * @own: number of keys that the caller has bound for the same RPC and unbinds now; they do not wake
 *       it
 *
 * Returns true if key_free() will be called, unless the connection ends first. key_free() is never
 * called from inside this call, and fabric_key_bind() can fail again after it. Returns false if the
 * connection is not up, or if waiting is useless: this worker uses no other key that could become
 * free, and other workers and processes cannot free any, or have freed none for a minute.
 */
static inline MUST_CHECK bool fabric_key_await(struct fabric_ep *ep, unsigned own)
{
	return ep->ops->key_await && ep->events->key_free && ep->ops->key_await(ep, own);
}

/**
 * fabric_key_ready - Marks the first @ready_bytes of a key's memory as filled; @ready_bytes must
 * not decrease.
 *
 * Only for a key bound with fabric_ep_info.deferred_reads. May be called until fabric_ep_free();
 * has no effect once the key is unbound. A waiting Read is answered later, never from inside this
 * call.
 */
static inline void fabric_key_ready(struct fabric_key *key, uint32_t ready_bytes)
{
	assert(ready_bytes >= key->ready_bytes && ready_bytes <= key->len_bytes);
	key->ready_bytes = ready_bytes;
	/* A fabric without deferred_reads has no such operation: no Read waits. */
	if (key->ep->ops->key_ready)
		key->ep->ops->key_ready(key);
}

/**
 * fabric_key_read_waits - Returns true if a Read of the peer waits for bytes of @key that are not
 * filled.
 *
 * Unbinding such a key ends the connection.
 */
static inline bool fabric_key_read_waits(const struct fabric_key *key)
{
	return key->ready_bytes < key->len_bytes && key->ep->ops->key_read_waits &&
	       key->ep->ops->key_read_waits(key);
}

/**
 * fabric_key_unbind - Ends the peer's access to the memory of @key.
 *
 * Returns true if the peer can no longer reach the memory. Otherwise unbound() will be called when
 * that is so, before closed() at the latest. The owner must unbind every bound key before
 * fabric_ep_free(), even if the peer invalidated it or the connection ended.
 */
static inline MUST_CHECK bool fabric_key_unbind(struct fabric_key *key)
{
	return key->ep->ops->key_unbind(key);
}

/**
 * fabric_ep_keepalive - Checks whether the peer is still reachable.
 *
 * If it is not, closed() is called with FABRIC_CLOSE_SILENT after the fabric's own timeout; a
 * reachable peer causes no event. While a keepalive is pending, a further call has no effect.
 * Returns 0, -ENOTCONN, or -EOPNOTSUPP if the fabric cannot send anything that would detect a dead
 * peer. In that case it still sends data, if it can: TCP below the device retransmits them, and its
 * own timeout ends the connection.
 */
static inline MUST_CHECK int fabric_ep_keepalive(struct fabric_ep *ep)
{
	return ep->ops->keepalive(ep);
}

/** fabric_ep_close - Disconnects in order: posted work is sent first, within a time limit. */
static inline void fabric_ep_close(struct fabric_ep *ep)
{
	ep->ops->close(ep);
}

/**
 * fabric_ep_abort - Ends the connection immediately without sending more, and frees its source
 * port.
 *
 * The port is free when this returns (iwarp) or at closed() (verbs). The peer sees a lost
 * connection (iwarp) or an orderly disconnect (verbs).
 */
static inline void fabric_ep_abort(struct fabric_ep *ep)
{
	ep->ops->abort(ep);
}

/**
 * fabric_ep_check_disconnect - Checks whether the peer has ended the connection, and if so reads
 * all data before the end.
 *
 * recv() for the unread data and ending() or closed() follow in this loop iteration or the next. No
 * effect if the peer has not ended the connection.
 */
static inline void fabric_ep_check_disconnect(struct fabric_ep *ep)
{
	if (ep->ops->check_disconnect)
		ep->ops->check_disconnect(ep);
}

/** fabric_ep_free - Frees a closed endpoint; accepts NULL. */
static inline void fabric_ep_free(struct fabric_ep *ep)
{
	if (ep)
		ep->ops->ep_free(ep);
}

/** fabric_free - Frees a fabric that has no endpoints; accepts NULL. */
static inline void fabric_free(struct fabric *fabric)
{
	if (fabric)
		fabric->ops->free(fabric);
}

#endif
