/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the verbs fabric share.
 *
 * Threads. librdmacm keeps one ibv_context per device for the whole process; protection domains,
 * completion channels, queue pairs and event channels are made per worker and used by it alone. Only a
 * verbs_incoming crosses from the listener's thread to a worker's, which takes its id over by
 * rdma_migrate_id(), and what may block is done aside (aside.c). The asynchronous events of a device come on one descriptor that every worker
 * watches; whoever reads one counts it, and what a connection must know reaches its owner as a
 * completion in error or through the connection manager.
 *
 * Memory. What a peer can reach, and through which connection:
 *
 *	device                     domain            slabs       a lent key            a Read's sink
 *	IB, RoCE with windows      of the worker     local use   window on this QP     the slab's lkey
 *	IB, RoCE without windows   of the endpoint   local use   region, exact bounds  the slab's lkey
 *	iWARP                      of the endpoint   local use   window or region      region, exact bounds
 *
 * The kernel's rxe holds accesses through a window to the bounds of the region behind it, not to those of the
 * window (seen on Linux 6.1): there each window stands on a region of its own, of exact bounds.
 *
 * The kernel's siw answers a Read of any region in the domain, whatever its rights (seen on Linux 6.1): there,
 * only not knowing a slab's key keeps a peer from it.
 *
 * A slab is never registered with remote rights. A type 2 window answers to its queue pair only; a region
 * with remote rights lies in the domain of its endpoint, so no other connection reaches it, and lives no
 * longer than the RPC. A region, unlike a window, may not be invalidated by the peer on every device, so
 * remote invalidation is offered with windows only.
 */
#ifndef FABRIC_VERBS_VERBS_PRIV_H
#define FABRIC_VERBS_VERBS_PRIV_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <string.h>

#include "fabric/verbs/verbs.h"

#define VERBS_SQ_DEPTH       256u /* work requests on a send queue; more wait here */
#define VERBS_RQ_SPARE       32u  /* receives beyond recv_count when recv_max is not known */
#define VERBS_CHAIN_MAX      32u  /* work requests in one post */
#define VERBS_SIGNAL_EVERY   16u  /* of a chain; its last is always signalled */
#define VERBS_POLL_BATCH     16u
#define VERBS_POLL_BUDGET    64u  /* completions of one endpoint in one go */
#define VERBS_INLINE_BYTES   128u /* asked for; what the device gives counts */
#define VERBS_MAX_KEY_BYTES  (1u << 30)
#define VERBS_CLOSE_DRAIN_US 2000000u /* to send what was posted, then to disconnect */
#define VERBS_FLUSH_US       200000u  /* from flushed work to the event that tells why */
#define VERBS_ABANDON_US     15000000u /* for the end of an iWARP set-up; Linux gives up after 10 s */
#define VERBS_RESOLVE_MS     2000

/* Work requests of our own, beside those of enum fabric_wr_op. */
#define VERBS_BIND ((enum fabric_wr_op)100)
#define VERBS_INV  ((enum fabric_wr_op)101)

enum verbs_state {
	VERBS_RESOLVING,  /* address, then route */
	VERBS_CONNECTING, /* rdma_connect() is under way */
	VERBS_REQUESTED,  /* a peer asks; fabric_ep_accept() or _reject() is due */
	VERBS_ACCEPTED,   /* answered; the peer has not confirmed yet */
	VERBS_OPEN,
	VERBS_DRAINING,      /* closed here; what was posted is still being sent */
	VERBS_DISCONNECTING, /* rdma_disconnect() was called; its event or the timer ends it */
	VERBS_ABANDONED, /* given up in the middle of an iWARP set-up: destroying would block until its event */
	VERBS_DYING, /* over; the end comes from a task */
	VERBS_CLOSED,
};

/* A protection domain, with the windows that are free in it. */
struct verbs_domain {
	struct verbs_device *device;
	struct ibv_pd *pd;
	struct verbs_key *free_windows;
};

/* A device as one worker uses it. */
struct verbs_device {
	LIST_ENTRY(verbs_device) entry;
	struct verbs_fabric *fabric;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	bool iwarp, windows;
	bool rxe;     /* see Memory above, and invalidated() in poll.c */
	unsigned eps; /* endpoints on it */
	bool removed;
	struct ibv_comp_channel *channel;
	struct loop_io *channel_io, *async_io;
	struct verbs_domain shared; /* pd is NULL if each endpoint has its own */
};
LIST_HEAD(verbs_device_list, verbs_device);

struct verbs_fabric {
	struct fabric fabric;
	struct verbs_config config;
	struct verbs_counters counters;
	struct rdma_event_channel *channel;
	struct loop_io *channel_io;
	struct verbs_device_list devices;
	/* Endpoints that come back from their threads, see aside.c; the lock guards the list alone. */
	pthread_mutex_t back_lock;
	TAILQ_HEAD(, verbs_ep) back;
	int back_fd;
	struct loop_io *back_io;
};

/* A listener's event channel: kept as long as an id that was handed out still stands on it. */
struct verbs_channel {
	struct rdma_event_channel *channel;
	atomic_uint refs;
};

struct verbs_incoming {
	struct fabric_incoming in;
	struct verbs_channel *channel;
	struct rdma_cm_id *id;
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned peer_ird, peer_ord; /* what the peer offers to answer, wants to ask */
};

struct verbs_recv {
	struct buf *buf;
	uint32_t lkey;
	unsigned next_idle;
};

/* A key that is lent: a window, or a region. */
struct verbs_key {
	struct verbs_key *next_free;
	struct fabric_key *key; /* NULL: free, or its owner has let go */
	struct verbs_domain *domain;
	struct ibv_mw *mw;
	struct ibv_mr *mr; /* the region lent, or the one behind a window that needs its own */
	uint32_t window_rkey;
	bool binding;     /* its bind is posted and not completed */
	bool invalidated; /* by the peer */
	bool unbinding;   /* unbound() is due */
	bool released;    /* the device knows nothing of it any more */
	struct fabric_wr bind, inv;
};

struct verbs_ep {
	struct fabric_ep ep;
	enum verbs_state state;
	enum fabric_close why;
	char detail[96];
	struct verbs_device *device; /* NULL until an address is resolved */
	struct verbs_domain own;     /* pd is NULL if the device's shared one serves */
	struct verbs_domain *domain;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	unsigned cq_unacked;
	bool cq_armed;
	bool flushed;     /* the queue pair is in error */
	bool opened;      /* established() was called */
	bool closed_here; /* nothing that arrives is given up any more */
	struct fabric_ep_params params;
	struct sockaddr_storage local, peer;
	uint8_t request[FABRIC_MAX_PRIVATE_DATA];
	size_t request_bytes;
	bool tell_requested;
	struct verbs_incoming *adopted; /* kept if its id could not be taken over */
	unsigned ird, ord;
	unsigned max_sge, max_inline_bytes;
	struct loop_timer *timer;
	struct loop_task step_task, post_task, poll_task;
	uint64_t busy_until_us;
	/* A thread is at work for this endpoint, see aside.c. */
	bool aside, bury_aside;
	int aside_result;
	int (*aside_fn)(struct verbs_ep *ep);
	void (*back_fn)(struct verbs_ep *ep, int result);
	TAILQ_ENTRY(verbs_ep) back_entry;
	struct rdma_conn_param conn_param;
	/* Send queue: waiting here, and posted. Reads apart, since Sends may pass them. */
	struct fabric_wr_list wait_sends, wait_reads, sends, reads;
	uint64_t next_seq;
	unsigned sq_depth, sq_used, reads_out;
	/* Receive queue. */
	struct verbs_recv *recvs;
	unsigned rq_depth, rq_used, recvs_owed, idle_recv;
	TAILQ_HEAD(, fabric_key) keys;
};

static inline struct verbs_ep *verbs_ep_of(const struct fabric_ep *ep)
{
	return container_of(ep, struct verbs_ep, ep);
}

static inline struct verbs_fabric *verbs_fabric_of(const struct fabric *fabric)
{
	return container_of(fabric, struct verbs_fabric, fabric);
}

static inline struct verbs_counters *verbs_ep_counters(const struct verbs_ep *ep)
{
	return &verbs_fabric_of(ep->ep.fabric)->counters;
}

/* Only as much as @from has, which the connection manager sizes by its family. */
static inline void verbs_copy_addr(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from,
	       from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in));
}

/* device.c */
/** verbs_notice - tell @config's user what befell a device or a listener. */
void verbs_notice(const struct verbs_config *config, const char *fmt, ...) PRINTF_LIKE(2, 3);
/** verbs_device_get - this worker's view of the device behind @context, with one endpoint more; or NULL. */
struct verbs_device *verbs_device_get(struct verbs_fabric *fabric, struct ibv_context *context);
/** verbs_device_put - one endpoint less; its id must still stand, since that keeps the context open. */
void verbs_device_put(struct verbs_device *device);
/** verbs_device_removed - the device of an endpoint is gone: do not listen to it any more. */
void verbs_device_removed(struct verbs_device *device);
/** verbs_devices_free - let go of all devices; no endpoint is left. */
void verbs_devices_free(struct verbs_fabric *fabric);
/** verbs_domain_init - a protection domain on @device. Returns 0 or a negative errno. */
int verbs_domain_init(struct verbs_domain *domain, struct verbs_device *device) MUST_CHECK;
/** verbs_domain_fini - release windows, registrations and the domain; accepts one without pd. */
void verbs_domain_fini(struct verbs_domain *domain);
/** verbs_slab_mr - the slab of @buf registered for local use in @domain, or NULL. */
struct ibv_mr *verbs_slab_mr(struct verbs_domain *domain, struct buf *buf);

/* aside.c */
/**
 * verbs_aside - call @fn on a thread of its own
 * @fn:   may use the id and the queue pair of @ep, nothing else that changes; returns 0 or a negative errno
 * @back: called with that on the loop's thread
 *
 * Until then ep->aside is set, and nobody else touches id and queue pair. Without a thread @fn blocks the worker.
 */
void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside_init - what a fabric needs for that. Returns 0 or a negative errno. */
int verbs_aside_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_aside_fini - no endpoint is left. */
void verbs_aside_fini(struct verbs_fabric *fabric);

/* listen.c */
int verbs_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out);
void verbs_listener_pause(struct fabric_listener *listener, bool paused);
void verbs_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr);
void verbs_listener_free(struct fabric_listener *listener);
void verbs_incoming_drop(struct fabric_incoming *in);
/** verbs_incoming_free - free what adopting it left; the id is the caller's. Any thread. */
void verbs_incoming_free(struct verbs_incoming *in);

/* ep.c */
int verbs_connect(struct fabric *fabric, const struct sockaddr *addr,
		  const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		  void *arg, struct fabric_ep **out);
int verbs_adopt(struct fabric *fabric, struct fabric_incoming *in,
		const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
int verbs_accept(struct fabric_ep *ep, const struct fabric_ep_params *params);
void verbs_reject(struct fabric_ep *ep);
void verbs_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info);
void verbs_close(struct fabric_ep *ep);
void verbs_ep_free(struct fabric_ep *ep);
/** verbs_ep_cm_event - what the connection manager says of this endpoint. */
void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event);
/** verbs_ep_die - the connection is over for @why; the end follows from a task. */
void verbs_ep_die(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_established - the peer is there: tell, once. */
void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_flushed - work was flushed: what caused it says more, and is waited for a little. */
void verbs_ep_flushed(struct verbs_ep *ep);
/** verbs_ep_drained - everything posted was sent: go on with closing. */
void verbs_ep_drained(struct verbs_ep *ep);

/* qp.c */
/** verbs_qp_open - completion queue, queue pair and receives, as the parameters say. 0 or negative errno. */
int verbs_qp_open(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_destroy - the queue pair alone; no buffer and no key can be touched by the device any more. */
void verbs_qp_destroy(struct verbs_ep *ep);
/** verbs_qp_close - destroy them; nothing of this endpoint is touched by the device any more. */
void verbs_qp_close(struct verbs_ep *ep);
/** verbs_recv_fill - post the receives that are owed, as far as the queue takes them. */
void verbs_recv_fill(struct verbs_ep *ep);
void verbs_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);

/* queue.c */
int verbs_post(struct fabric_ep *ep, struct fabric_wr *wr);
/** verbs_queue - put a work request, of the user's or our own, in line. */
void verbs_queue(struct verbs_ep *ep, struct fabric_wr *wr);
/** verbs_queue_run - post what waits; the post task. */
void verbs_queue_run(void *ep);
/** verbs_queue_done - the work request @wr_id, and the unsignalled ones before it, completed. */
void verbs_queue_done(struct verbs_ep *ep, uint64_t wr_id, enum fabric_status status);
/** verbs_queue_flush - complete all that is left as flushed. */
void verbs_queue_flush(struct verbs_ep *ep);

/* poll.c */
/** verbs_poll - drain, arm, drain again; the poll task. */
void verbs_poll(void *ep);
/** verbs_poll_last - take what completed before the queue pair goes. */
void verbs_poll_last(struct verbs_ep *ep);
/** verbs_channel_ready - completion events of a device. */
void verbs_channel_ready(void *device, unsigned events);

/* key.c */
int verbs_key_bind(struct fabric_ep *ep, struct fabric_key *key);
bool verbs_key_unbind(struct fabric_key *key);
/** verbs_key_invalidated - the peer invalidated @rkey. */
void verbs_key_invalidated(struct verbs_ep *ep, uint32_t rkey);
/** verbs_keys_release - the connection is over: nothing that is lent can be reached from now on. */
void verbs_keys_release(struct verbs_ep *ep);
/** verbs_keys_bury - after verbs_keys_release(): give the memory back, and call each unbound() that is due. */
void verbs_keys_bury(struct verbs_ep *ep);
/** verbs_window_free - deallocate a free window. */
void verbs_window_free(struct verbs_key *vk);

/* wr_id: the sequence number, and which queue it stands in. */
enum verbs_wr_kind { VERBS_WR_SEND, VERBS_WR_READ, VERBS_WR_RECV };

static inline uint64_t verbs_wr_id(uint64_t number, enum verbs_wr_kind kind)
{
	return number << 2 | kind;
}

#endif
