/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA semantics, whatever carries them.
 *
 *	verbs of the fabric        libibverbs / librdmacm
 *	fabric_listen              rdma_create_id, rdma_bind_addr, rdma_listen
 *	fabric_adopt               RDMA_CM_EVENT_CONNECT_REQUEST, rdma_migrate_id, rdma_create_qp
 *	fabric_ep_accept, _reject  rdma_accept, rdma_reject
 *	fabric_connect             rdma_resolve_addr, rdma_resolve_route, rdma_create_qp, rdma_connect
 *	fabric_recv_post           ibv_post_recv
 *	fabric_post                ibv_post_send: SEND, SEND_WITH_INV, RDMA_WRITE, RDMA_READ
 *	fabric_key_bind, _unbind   IBV_WR_BIND_MW and IBV_WR_LOCAL_INV, or an ibv_reg_mr of a private domain
 *	fabric_ep_probe            a zero-length RDMA Write, or over iWARP a zero-length Read
 *	fabric_ep_close            rdma_disconnect, then the flush of both queues
 *	fabric_ep_abort            rdma_disconnect at once
 *
 * What every fabric promises:
 *
 *  - Sends and Writes leave in the order in which they were posted; a Write is placed at the peer before
 *    a Send that was posted after it is delivered there. A Read is ordered with nothing but other Reads.
 *  - A key is good in a Send that is posted after fabric_key_bind() returned 0.
 *  - One post, one completion: done() is called exactly once for each work request whose post returned
 *    0, in the order of posting among Sends and Writes and in the order of posting among Reads, never
 *    from inside a call into the fabric, and before closed(). Until then the work request and the
 *    buffers that it names belong to the fabric.
 *  - In a completion only the work request and the status can be trusted until the status is FABRIC_OK.
 *  - Never more Reads are outstanding than the peer accepts; further ones wait in order. Where it accepts none
 *    (fabric_ep_info.ord is 0) each fails with FABRIC_ERR_LOCAL, and nothing else does.
 *  - closed() comes exactly once, last of all events, whoever ended the connection, and never from inside
 *    a call into the fabric. After it fabric_ep_free() is due; before it, it is not allowed.
 *
 * What may be called when. Inside requested(), established(), recv(), done(), unbound(), ending() and closed(), as at any
 * other time, each function of an endpoint may be called, of that endpoint and of others; but nothing may be
 * called inside note() or resolved() that changes anything, and no endpoint is freed inside a callback of its own.
 * What comes of it depends on how far the endpoint is, which is dying from fabric_ep_close() or _abort() or the
 * moment at which the fabric found that the connection is over, whether or not its user has heard of that:
 *
 *	                     before established()  up                dying              after closed()
 *	fabric_post          -ENOTCONN             0                 -ENOTCONN          -ENOTCONN
 *	fabric_key_bind      -ENOTCONN             0, -ENOMEM, …     -ENOTCONN          -ENOTCONN
 *	fabric_key_await     -                     true, false       false              false
 *	fabric_key_unbind    -                     true, false       true, false        true
 *	fabric_key_ready     -                     Reads go on       nothing            nothing
 *	fabric_recv_post     behind the initial    posted            nothing            nothing
 *	fabric_recv_resize   all keep theirs       as it says        all keep theirs    all keep theirs
 *	fabric_ep_probe      -ENOTCONN             0, -EOPNOTSUPP    -ENOTCONN          -ENOTCONN
 *	fabric_ep_close      closed() follows      closed() follows  nothing            nothing
 *	fabric_ep_abort      closed() follows      closed() follows  closed() follows   nothing
 *	fabric_ep_hear_end   as it says            as it says        as it says         nothing
 *	fabric_ep_free       -                     -                 -                  frees it
 *
 * While an endpoint dies, done() of Sends and Writes, done() of Reads, and unbound() come in any order among
 * each other, closed() after them; established() comes no more, and recv() at most for what had arrived when the
 * peer ended the connection, as on verbs. In good order what was posted is still sent, so that some of the done()
 * may yet say FABRIC_OK.
 *
 * An endpoint, its fabric and its loop belong to one thread. Only a `struct fabric_incoming` crosses
 * threads: from the listener's to the one that adopts it.
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
#include "base/counter.h"
#include "base/hash_table.h"
#include "base/loop.h"
#include "fabric/coverage.h"
#include "fabric/pool.h"

#define FABRIC_MAX_SGE          4
#define FABRIC_LATE_US          100000u /* see fabric_wr.late */
#define FABRIC_MAX_PRIVATE_DATA 252     /* 256 on Linux iWARP, less the 4 bytes of RFC 6581 */
#define FABRIC_MAX_REJECT_DATA  148     /* in a REJ of InfiniBand, which has the least room */

enum fabric_status {
	FABRIC_OK,
	FABRIC_FLUSHED,    /* the connection ended first; says nothing about what the peer saw */
	FABRIC_ERR_LOCAL,  /* the device or the memory failed here */
	FABRIC_ERR_REMOTE, /* the peer refused the access or broke the protocol */
};

/* Why an endpoint closed; a log line and a counter each. */
enum fabric_close {
	FABRIC_CLOSE_LOCAL,      /* fabric_ep_close() was called */
	FABRIC_CLOSE_PEER,       /* the peer disconnected in good order */
	FABRIC_CLOSE_LOST,       /* the link broke: reset, unreachable */
	FABRIC_CLOSE_SILENT,     /* the peer was asked whether it is there, and did not answer */
	FABRIC_CLOSE_REFUSED,    /* the peer refused or rejected the connection */
	FABRIC_CLOSE_TIMEOUT,    /* set-up took too long */
	FABRIC_CLOSE_PROTOCOL,   /* the peer broke the fabric's protocol and was told so */
	FABRIC_CLOSE_TERMINATED, /* the peer says that we broke it */
	FABRIC_CLOSE_RESOURCES,  /* memory or a device limit here */
	FABRIC_CLOSE_PROXY_HEADER, /* the peer sent a header of the PROXY protocol where none is taken */
	FABRIC_CLOSE_PORT, /* connecting: the port asked for cannot be had, which showed late */
};

enum fabric_wr_op {
	FABRIC_SEND,
	FABRIC_SEND_INV, /* Send with Invalidate of inv_rkey */
	FABRIC_WRITE,
	FABRIC_READ, /* exactly one sge; at least one byte */
};

struct fabric_sge {
	struct buf *buf; /* that `addr` lies in; its reference is the poster's until done() */
	uint8_t *addr;
	uint32_t len_bytes;
};

struct fabric_wr {
	enum fabric_wr_op op;
	unsigned nsge;
	struct fabric_sge sge[FABRIC_MAX_SGE];
	uint32_t rkey;     /* WRITE, READ: the peer's key */
	uint32_t inv_rkey; /* SEND_INV */
	uint64_t raddr;    /* WRITE, READ: where under that key */
	/* SEND: nobody waits for done(), which may be FABRIC_LATE_US later where that spares the device a completion. */
	bool late;
	void (*done)(struct fabric_wr *wr, enum fabric_status status);
	/* The fabric's, while posted. */
	TAILQ_ENTRY(fabric_wr) entry;
	uint64_t priv[2];
};
TAILQ_HEAD(fabric_wr_list, fabric_wr);

#define FABRIC_REMOTE_READ  0x1u
#define FABRIC_REMOTE_WRITE 0x2u

/*
 * A key lent to the peer: it reaches `len_bytes` from `addr` under `rkey`, with these rights only.
 *
 * Where fabric_ep_info.late_reads says so, memory may be lent for Reads before all of it is filled: the
 * peer's Read is then answered as far as ready_bytes, and goes on as fabric_key_ready() raises it. Elsewhere,
 * and without FABRIC_REMOTE_READ, ready_bytes must be len_bytes when the key is bound.
 *
 * Reads are answered in order, so one that waits holds up those behind it. It holds up no Send and no Write;
 * but over iWARP a Response that has begun is finished before a Write begins, and before what was posted
 * behind that Write. There is no time limit: whoever lent the memory fills it or takes it back. A Read that
 * waits when its key is unbound, or when the connection closes, is never completed: the connection ends.
 *
 * Memory that is lent for RDMA Writes alone is the fabric's while the key is bound: what the peer has not written there
 * is undefined, during and after that. No other key and no Read may have it meanwhile.
 *
 * `written` says what of such memory the peer has written, in bytes from its start. Its prefix is right when recv() is
 * called for a Send that the peer posted behind its Writes, and until the next fabric_key_bind(). Where a fabric cannot
 * tell (verbs), the prefix is len_bytes from the start; then the fabric clears the memory when it binds the key, unless
 * it last held data of the same connection.
 */
struct fabric_key {
	uint32_t rkey;
	uint64_t addr; /* the offset to advertise: the fabric's choice */
	uint32_t len_bytes;
	uint32_t ready_bytes; /* filled, from the start */
	unsigned rights;
	struct buf *buf; /* a reference is held while bound */
	uint8_t *mem;
	void (*unbound)(struct fabric_key *key); /* only after an unbind that returned false */
	/* The fabric's, while bound. */
	struct fabric_ep *ep;
	union {
		TAILQ_ENTRY(fabric_key) entry;
		struct hash_node node;
	};
	void *priv;
	struct coverage written;
	TAILQ_ENTRY(fabric_key) awaiting;
};

/* A Send that arrived. The bytes are the fabric's and good only during recv(). */
struct fabric_recv {
	const uint8_t *data;
	uint32_t len_bytes;
	uint32_t size_bytes; /* of the receive that it took: the one that was posted first */
	bool invalidated;    /* a Send with Invalidate: `inv_rkey` is dead already */
	uint32_t inv_rkey;
};

struct fabric_ep_params;

struct fabric_ep_events {
	/* Adopted endpoints: the peer asks; fabric_ep_accept() or _reject() is due, now or later. */
	void (*requested)(void *arg, const uint8_t *private_data, size_t len_bytes);
	/*
	 * Optional, connecting endpoints: the device is known now, so that fabric_ep_info() can tell what
	 * it does, and the request is about to leave: its private data may still be changed.
	 */
	void (*resolved)(void *arg, struct fabric_ep_params *params);
	/* Connection is up; connecting endpoints get what the acceptor sent. */
	void (*established)(void *arg, const uint8_t *private_data, size_t len_bytes);
	void (*recv)(void *arg, const struct fabric_recv *recv);
	/*
	 * Optional, connecting endpoints: the peer rejects, and says this, which InfiniBand pads with zeros. closed() follows
	 * for FABRIC_CLOSE_REFUSED.
	 */
	void (*rejected)(void *arg, const uint8_t *private_data, size_t len_bytes);
	/*
	 * Optional: a connection that was up is over, for a reason that is not this end's; recv() has
	 * delivered all that had arrived. closed() follows with the same reason, however long the fabric takes for what it has to do before.
	 */
	void (*ending)(void *arg, enum fabric_close why, const char *detail);
	void (*closed)(void *arg, enum fabric_close why, const char *detail);
	/* Something worth a log line that is no reason to close. */
	void (*note)(void *arg, const char *text);
	/* Optional: fabric_key_await() has returned true, and a key may be had again. */
	void (*key_free)(void *arg);
};

struct fabric_ep_params {
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned ird;             /* Reads that the peer may have outstanding here */
	unsigned ord;             /* Reads that we want to have outstanding there */
	unsigned recv_count;      /* receives posted before the connection is used … */
	uint32_t recv_size_bytes; /* … each of this size */
	unsigned recv_max;        /* most that will ever be posted at once; 0: not known */
	/*
	 * Connecting, over a stream of bytes: what is sent on it before anything else, good until fabric_connect() returns.
	 * Where there is no such stream it is not looked at.
	 */
	const uint8_t *preface;
	size_t preface_bytes;
	/* Connecting: where to come from, port 0 for any; AF_UNSPEC: the host's choice of both. */
	struct sockaddr_storage source;
	bool source_foreign; /* that address may be another host's (base/foreign.h); iwarp alone can do it */
};

/* How it comes out that a peer which says nothing is gone. */
enum fabric_watch {
	FABRIC_WATCH_ITSELF, /* the fabric finds out, in the time that its configuration says */
	FABRIC_WATCH_PROBE,  /* fabric_ep_probe() asks */
	FABRIC_WATCH_NONE,   /* nothing here tells in a bearable time: what the peer answers does */
};

struct fabric_ep_info {
	const char *fabric;
	struct sockaddr_storage local, peer;
	unsigned ird, ord;     /* as negotiated */
	bool sends_invalidate; /* FABRIC_SEND_INV does invalidate: known with resolved(), requested() */
	bool late_reads;       /* see struct fabric_key */
	enum fabric_watch watch;
	bool per_rpc_keys; /* keys have exact bounds and die alone: remote invalidation may be offered */
	uint32_t max_key_bytes;      /* longest memory under one key */
	unsigned max_sge;            /* longest gather list of a Send or Write; 0: FABRIC_MAX_SGE */
	uint32_t max_transfer_bytes; /* longest Read or Write; 0: no limit */
	/* Connecting: what its silence says by now, for the log; NULL: nothing but that it is silent. */
	const char *silence;
};

#define FABRIC_TEXT_BYTES 160u /* room for fabric_ep_describe() */

struct fabric;
struct fabric_ep;
struct fabric_listener;

/* A connection that a listener accepted and nobody owns yet; the address is for `allow`. */
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
	void (*incoming_drop)(struct fabric_incoming *in, const void *private_data,
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
	unsigned (*recv_resize)(struct fabric_ep *ep, uint32_t size_bytes); /* NULL: all keep it */
	int (*post)(struct fabric_ep *ep, struct fabric_wr *wr);
	int (*key_bind)(struct fabric_ep *ep, struct fabric_key *key);
	void (*key_ready)(struct fabric_key *key);         /* NULL without late_reads */
	bool (*key_starves)(const struct fabric_key *key); /* the same */
	bool (*key_unbind)(struct fabric_key *key);
	bool (*key_await)(struct fabric_ep *ep,
			  unsigned own); /* NULL: key_bind never says -EAGAIN */
	int (*probe)(struct fabric_ep *ep);
	void (*close)(struct fabric_ep *ep);
	void (*abort)(struct fabric_ep *ep);
	void (*hear_end)(struct fabric_ep *ep); /* NULL: ends are heard of as they come */
	void (*ep_free)(struct fabric_ep *ep);
};

/* The head of every fabric's own structures. */
struct fabric {
	const struct fabric_ops *ops;
	struct loop *loop;
	struct pool *pool;
	void *counters;           /* laid out as ops->counters_table says */
	void *connected_counters; /* those of endpoints that connect; NULL: they are among the others */
};

struct fabric_ep {
	const struct fabric_ops *ops;
	struct fabric *fabric;
	const struct fabric_ep_events *events;
	void *arg;
	int close_errno; /* from closed() on: the errno that ended the connection; 0: none is known */
};

struct fabric_listener {
	const struct fabric_ops *ops; /* set by fabric_listen() */
};

/**
 * fabric_listen - listen for connections
 * @ops:      which fabric
 * @config:   that fabric's configuration (iwarp: struct iwarp_config); copied
 * @loop:     loop of the thread that listens
 * @addr:     IPv4 or IPv6 address and port
 * @incoming: called for each connection; it owns it: fabric_adopt() or fabric_incoming_drop()
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

/** fabric_listener_pause - take no further connection until called with false. */
static inline void fabric_listener_pause(struct fabric_listener *listener, bool paused)
{
	listener->ops->listener_pause(listener, paused);
}

/** fabric_listener_addr - the address really bound (port 0 asks the kernel for one). */
static inline void fabric_listener_addr(const struct fabric_listener *listener,
					struct sockaddr_storage *addr)
{
	listener->ops->listener_addr(listener, addr);
}

/** fabric_listener_free - stop listening; connections already handed out live on; accepts NULL. */
static inline void fabric_listener_free(struct fabric_listener *listener)
{
	if (listener)
		listener->ops->listener_free(listener);
}

/** fabric_incoming_drop - close a connection that nobody wants; any thread. */
static inline void fabric_incoming_drop(struct fabric_incoming *in)
{
	in->ops->incoming_drop(in, NULL, 0);
}

/**
 * fabric_incoming_reject - the same, and tell the peer @len_bytes, at most FABRIC_MAX_REJECT_DATA
 *
 * Best effort: over iwarp only a peer whose request is here by now hears it.
 */
static inline void fabric_incoming_reject(struct fabric_incoming *in, const void *private_data,
					  size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	in->ops->incoming_drop(in, private_data, len_bytes);
}

/**
 * fabric_connect - connect to a peer
 * @params: private data, depths, receives; copied
 * @events: what to call, with @arg; stays the caller's until closed()
 * @out:    the endpoint; the outcome comes as established() or closed()
 *
 * Returns 0, -ENOMEM, or the errno of the socket or device call that failed at once: of a port in @params->source that
 * cannot be had -EADDRINUSE, -EADDRNOTAVAIL or -EACCES, unless closed() says so later with FABRIC_CLOSE_PORT.
 */
static inline MUST_CHECK int fabric_connect(struct fabric *fabric, const struct sockaddr *addr,
					    const struct fabric_ep_params *params,
					    const struct fabric_ep_events *events, void *arg,
					    struct fabric_ep **out)
{
	return fabric->ops->connect(fabric, addr, params, events, arg, out);
}

/**
 * fabric_adopt - take over a connection from a listener
 * @in: taken, also on failure
 *
 * requested() follows when the peer's request is in, or closed(). Returns 0 or -ENOMEM.
 */
static inline MUST_CHECK int fabric_adopt(struct fabric *fabric, struct fabric_incoming *in,
					  const struct fabric_ep_events *events, void *arg,
					  struct fabric_ep **out)
{
	return fabric->ops->adopt(fabric, in, events, arg, out);
}

/** fabric_ep_accept - answer requested(); established() follows. Returns 0, or -ENOTCONN if it is gone. */
static inline MUST_CHECK int fabric_ep_accept(struct fabric_ep *ep,
					      const struct fabric_ep_params *params)
{
	return ep->ops->accept(ep, params);
}

/** fabric_ep_reject - refuse after requested(), with at most FABRIC_MAX_REJECT_DATA; closed() follows. */
static inline void fabric_ep_reject(struct fabric_ep *ep, const void *private_data,
				    size_t len_bytes)
{
	assert(len_bytes <= FABRIC_MAX_REJECT_DATA);
	ep->ops->reject(ep, private_data, len_bytes);
}

/** fabric_ep_info - addresses and what was negotiated. */
static inline void fabric_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info)
{
	ep->ops->ep_info(ep, info);
}

/** fabric_ep_describe - what was negotiated below that, or the device, in words for a log; "" if nothing is to be said. */
static inline void fabric_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES])
{
	text[0] = '\0';
	if (ep->ops->ep_describe)
		ep->ops->ep_describe(ep, text);
}

/**
 * fabric_recv_post - post @count more receives of @size_bytes each
 *
 * Receives are used first in, first out, whatever their sizes, the initial ones first; fabric_recv.size_bytes
 * says which one a Send has taken. A Send longer than the receive at the head ends the connection. How many
 * are posted is for the caller to bound; without memory for them the connection ends.
 */
static inline void fabric_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes)
{
	ep->ops->recv_post(ep, count, size_bytes);
}

/** What fabric_recv_resize() returns where none can change. */
#define FABRIC_RECV_KEPT UINT_MAX
/**
 * fabric_recv_resize - let the receives that are posted have another size, where they have no memory yet
 *
 * Those to come are still posted with a size of their own; memory that is kept for them goes back unless it has this
 * one. Returns how many keep theirs: none; or the first, which a Send has begun to fill; or FABRIC_RECV_KEPT: all.
 */
static inline MUST_CHECK unsigned fabric_recv_resize(struct fabric_ep *ep, uint32_t size_bytes)
{
	return ep->ops->recv_resize ? ep->ops->recv_resize(ep, size_bytes) : FABRIC_RECV_KEPT;
}

/**
 * fabric_post - post a work request
 *
 * Returns 0: done() will be called. -ENOTCONN: the connection is not up, or closing; done() will not.
 */
static inline MUST_CHECK int fabric_post(struct fabric_ep *ep, struct fabric_wr *wr)
{
	return ep->ops->post(ep, wr);
}

/**
 * fabric_key_bind - lend memory to the peer
 * @key: its buf, mem, len_bytes, ready_bytes, rights and unbound filled in; the fabric sets rkey and addr and
 *       takes a reference to buf
 *
 * Returns 0, -ENOTCONN, -EAGAIN (the device has no key left: see fabric_key_await()), -ENOMEM, or -EINVAL (not all is ready,
 * and no late_reads).
 */
static inline MUST_CHECK int fabric_key_bind(struct fabric_ep *ep, struct fabric_key *key)
{
	assert(key->ready_bytes <= key->len_bytes);
	assert(key->ready_bytes == key->len_bytes || (key->rights & FABRIC_REMOTE_READ));
	return ep->ops->key_bind(ep, key);
}

/**
 * fabric_key_await - wait for a key, after fabric_key_bind() has returned -EAGAIN
 * @own: keys that the caller has bound for the same purpose, and unbinds now
 *
 * Returns true if key_free() will be called, unless the connection ends before; never from inside this call. That a key is
 * free then is not sure. Returns false if none will be: nothing is lent that could come back, nor has the device had any for
 * others in a minute, or the connection is not up.
 */
static inline MUST_CHECK bool fabric_key_await(struct fabric_ep *ep, unsigned own)
{
	return ep->ops->key_await && ep->events->key_free && ep->ops->key_await(ep, own);
}

/**
 * fabric_key_ready - more of a key's memory is filled: its first @ready_bytes, no fewer than before
 *
 * Only for a key that was bound where fabric_ep_info.late_reads; nothing if it is not bound any more, until
 * fabric_ep_free(). A Read that waited is answered later, never from inside this call.
 */
static inline void fabric_key_ready(struct fabric_key *key, uint32_t ready_bytes)
{
	assert(ready_bytes >= key->ready_bytes && ready_bytes <= key->len_bytes);
	key->ready_bytes = ready_bytes;
	/* A fabric without late_reads has none: there is nothing that could go on. */
	if (key->ep->ops->key_ready)
		key->ep->ops->key_ready(key);
}

/**
 * fabric_key_starves - return true if a Read of the peer waits for bytes of @key that are not filled
 *
 * To unbind such a key ends the connection.
 */
static inline bool fabric_key_starves(const struct fabric_key *key)
{
	return key->ready_bytes < key->len_bytes && key->ep->ops->key_starves &&
	       key->ep->ops->key_starves(key);
}

/**
 * fabric_key_unbind - take it back
 *
 * Returns true if the peer cannot reach the memory from now on; else unbound() will be called when that
 * is so, at the latest before closed(). Every bound key is unbound by its owner before fabric_ep_free(),
 * also when the peer invalidated it or the connection ended.
 */
static inline MUST_CHECK bool fabric_key_unbind(struct fabric_key *key)
{
	return key->ep->ops->key_unbind(key);
}

/**
 * fabric_ep_probe - ask the network whether the peer is still there
 *
 * Nothing is told when it is; when it is not, closed() comes with FABRIC_CLOSE_SILENT in the fabric's own
 * time. One probe at a time: a second one meanwhile does nothing. Returns 0, -ENOTCONN, or -EOPNOTSUPP
 * where nothing that may be sent would tell. What makes TCP ask below a device is sent all the same, if it may
 * be: that ends the connection at last, in the time of the host.
 */
static inline MUST_CHECK int fabric_ep_probe(struct fabric_ep *ep)
{
	return ep->ops->probe(ep);
}

/** fabric_ep_close - disconnect in good order: what was posted is sent first, within a bound. */
static inline void fabric_ep_close(struct fabric_ep *ep)
{
	ep->ops->close(ep);
}

/**
 * fabric_ep_abort - end the connection now: nothing more is sent, and the port that it came from is free
 *
 * The port is free when this returns (iwarp) or at closed() (verbs). The peer hears of a connection that is lost,
 * or on verbs of an end in good order.
 */
static inline void fabric_ep_abort(struct fabric_ep *ep)
{
	ep->ops->abort(ep);
}

/**
 * fabric_ep_hear_end - look whether the peer has ended the connection, and read what is before that in one go
 *
 * If it has, recv() for what is unread and ending() or closed() follow in this turn of the loop or the next. Nothing if it has not.
 */
static inline void fabric_ep_hear_end(struct fabric_ep *ep)
{
	if (ep->ops->hear_end)
		ep->ops->hear_end(ep);
}

/** fabric_ep_free - free a closed endpoint; accepts NULL. */
static inline void fabric_ep_free(struct fabric_ep *ep)
{
	if (ep)
		ep->ops->ep_free(ep);
}

/** fabric_free - free a fabric without endpoints; accepts NULL. */
static inline void fabric_free(struct fabric *fabric)
{
	if (fabric)
		fabric->ops->free(fabric);
}

#endif
