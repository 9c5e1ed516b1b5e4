/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structures of the verbs fabric, its devices and endpoints, and the state machine of an
 * endpoint.
 *
 * The files of this directory, from the highest layer to the lowest. Each file calls files of lower
 * layers only; calls upwards are tasks, timers or callbacks, set when an endpoint or a command is
 * created:
 *
 *	verbs                    a worker's fabric, and the table of operations
 *	ep_connect               connection manager events, connecting, accepting and closing
 *	ep_destroy               destroying an endpoint
 *	device                   devices and their descriptors
 *	cq, ep_keepalive         shared completion queues; keepalive
 *	qp, key                  the queue pair; exposed memory, and endpoints that wait for it
 *	send_queue, async_event  work requests; asynchronous events
 *	recv_queue               receives
 *	pd                       protection domains and registrations
 *	verbs_ep, listener       this file; listeners
 *	command, mw_detect       device commands; detection of memory windows
 *	fd_watch, event_lock     descriptors; the lock of asynchronous events
 *
 * Threads. librdmacm keeps one ibv_context per device for the whole process. Each worker has its
 * own protection domains, completion channels, queue pairs and event channels. Only a
 * verbs_incoming crosses threads, from the listener to a worker, which takes over its id by
 * rdma_migrate_id(). The asynchronous events of a device come on one descriptor, which one worker
 * reads for all (async_event.c).
 *
 * A hung adapter must not block a worker. So each device of a worker has a thread that creates and
 * destroys queues, slab registrations, windows, domains and ids, in the order of the requests
 * (command.h). The loop posts, polls, and processes the results of that thread. While the thread
 * works for an endpoint, the endpoint's state shows that, and its work waits in its queue.
 * Registrations for a single RPC still run on the worker's thread: regions on devices without
 * windows, sinks over iWARP, and the regions below rxe's windows.
 */
#ifndef FABRIC_VERBS_VERBS_EP_H
#define FABRIC_VERBS_VERBS_EP_H

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "base/sockaddr.h"
#include "base/state_machine.h"
#include "fabric/fabric.h"
#include "fabric/posted_recvs.h"
#include "fabric/verbs/command.h"
#include "fabric/verbs/verbs_config.h"

#define VERBS_CHAIN_MAX  32u /* maximum of work requests in one post */
#define VERBS_NO_INLINE  3u
#define VERBS_RXE_VENDOR 0xffffffu /* vendor ID of the kernel's software RoCE */
#define VERBS_SIW_VENDOR 0x626d74u /* and of its software iWARP */
#define VERBS_PD_BUCKETS 64u

LIST_HEAD(verbs_cq_list, verbs_cq);
LIST_HEAD(verbs_pd_list, verbs_pd);

/* An asynchronous event of an endpoint or a completion queue, for its owner: see async_event.c. */
struct verbs_async_event {
	struct verbs_fabric *fabric;
	void (*deliver)(struct verbs_async_event *async, unsigned what);
	unsigned what; /* 0: no event. The lock of async_notifier guards it and the entry. */
	TAILQ_ENTRY(verbs_async_event) entry;
};

/* A device as one worker uses it. */
struct verbs_device {
	LIST_ENTRY(verbs_device) entry;
	struct verbs_fabric *fabric;
	struct ibv_context *context;
	/* Set by the device's thread; other threads read it only after `opened` is set. */
	struct verbs_commands commands;
	bool usable, opened;
	struct ibv_device_attr attr;
	bool iwarp, windows;
	bool sends_inv; /* supports IBV_WR_SEND_WITH_INV */
	/* See open_qp() in qp.c; VERBS_NO_INLINE: no inline data. */
	unsigned inline_step;
	bool ordered;              /* does not support IBV_ACCESS_RELAXED_ORDERING */
	bool rxe;                  /* see pd.h, and invalidated() in cq.c */
	LIST_HEAD(, verbs_ep) eps; /* endpoints of the device */
	unsigned keys_exposed;     /* windows and regions through which peers have access */
	/*
	 * Of these, keys that are being unbound unused: their RPC did not get all keys that it
	 * needs.
	 */
	unsigned keys_returning;
	bool out_of_keys;              /* no key was available, although none was in use … */
	uint64_t out_of_keys_since_us; /* … since this time */
	bool removed;
	bool signals_all;   /* siw: see chain_fill() in send_queue.c */
	bool shares_cqs;    /* among endpoints: see cq.h */
	struct ibv_cq *gap; /* siw only: see fill_gap() in device.c */
	struct ibv_comp_channel *channel;
	struct verbs_cq_list cqs;
	struct verbs_fd_watch channel_watch;
	/* Held while an event is read, and while a completion queue is destroyed. */
	pthread_mutex_t cq_lock;
	/* Asynchronous events, see async_event.c. */
	LIST_ENTRY(verbs_device) async_entry;
	struct verbs_event_lock *event_lock; /* shared by all workers */
	struct verbs_fd_watch async_watch;
	bool reads;  /* this worker reads the asynchronous events for all workers */
	bool failed; /* reported, but not processed yet; guarded by the lock of async_event.c */
	/* Windows that workers hand to each other, see async_event.c, whose lock guards these. */
	bool window_wanted;    /* a connection of this worker waits for a window */
	bool window_requested; /* another worker waits for a window */
	bool window_arrived;   /* another worker has freed some */
	/*
	 * Another worker requested a window, and this worker has no idle one: it frees the next
	 * window that an RPC returns. Only the thread of this worker uses this member and the
	 * following ones.
	 */
	bool window_owed;
	bool yielding, yield_again; /* windows are being freed for others; more were freed since */
	/* Until then it allocates none, so that it does not take the freed windows back. */
	uint64_t yield_until_us;
	struct verbs_command yield_command; /* queued after the commands that free them */
	bool shares;                        /* all endpoints share one domain: */
	struct verbs_pd *shared;
	struct verbs_pd_list domains[VERBS_PD_BUCKETS]; /* one per peer */
};
LIST_HEAD(verbs_device_list, verbs_device);

/* Endpoints that wait for a key: see key.c. */
struct verbs_await {
	TAILQ_HEAD(verbs_ep_waiters, verbs_ep) eps;
	struct loop_task task; /* wakes them; also after another worker has freed windows */
	struct loop_timer *timer;
};

/* Endpoints whose last Sends were not signalled: see send_queue.c. */
struct verbs_lazy {
	TAILQ_HEAD(, verbs_ep) eps;
	struct loop_timer *timer;
	bool timer_set;
};

struct verbs_fabric {
	struct fabric fabric;
	struct verbs_config config;
	struct verbs_counters counters;
	struct rdma_event_channel *channel;
	struct verbs_fd_watch channel_watch;
	struct loop_task channel_task; /* reads all pending events */
	struct verbs_device_list devices;
	struct loop_timer *age_timer; /* ages the pool and the windows */
	uint64_t windows_period_us;   /* start of the period after which unused windows are freed */
	struct verbs_done_queue back;
	/* The offload thread that finished last: see verbs_ep_offload(). Guarded by the lock. */
	pthread_mutex_t offload_lock;
	bool offload_has_ended;
	pthread_t offload_ended;
	struct verbs_notifier async_notifier; /* its lock guards the list */
	TAILQ_HEAD(, verbs_async_event) async;
	struct verbs_await await;
	struct verbs_lazy lazy;
};

/*
 * The states of an endpoint.
 *
 *	connecting   RESOLVING -> OPENING -> CONNECTING -> OPEN
 *	accepting    ADOPTED -> REQUESTED -> ACCEPTING -> ACCEPTED -> OPEN
 *	closing      OPEN -> DRAINING -> DISCONNECTING -> DESTROY_PENDING -> DESTROYING -> CLOSED
 *	failing      any -> DESTROY_PENDING -> DESTROYING -> CLOSED
 *
 * Two states can delay VERBS_DESTROY_PENDING. VERBS_CM_ABORT: the kernel's iWARP manager does not
 * allow disconnecting or destroying a connection during its set-up. VERBS_THREAD_WAIT: a thread
 * still uses the endpoint's id or queues.
 */
#define VERBS_EP_STATES(X)                                                                         \
	X(VERBS_RESOLVING, "resolving", "the address, its device, then the route",                 \
	  TO(VERBS_OPENING) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                   \
	X(VERBS_OPENING, "opening", "queues to be created, and receives to be posted",             \
	  TO(VERBS_CONNECTING) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                \
	X(VERBS_CONNECTING, "connecting", "the peer's answer",                                     \
	  TO(VERBS_OPEN) | TO(VERBS_CM_ABORT) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING)) \
	X(VERBS_ADOPTED, "adopted", "its device to be opened, to report the peer's request",       \
	  TO(VERBS_REQUESTED) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                 \
	X(VERBS_REQUESTED, "requested", "the owner to accept or reject",                           \
	  TO(VERBS_ACCEPTING) | TO(VERBS_DESTROY_PENDING))                                         \
	X(VERBS_ACCEPTING, "accepting",                                                            \
	  "queues to be created, receives to be posted and the accept to be sent",                 \
	  TO(VERBS_ACCEPTED) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                  \
	X(VERBS_ACCEPTED, "accepted", "the peer's confirmation",                                   \
	  TO(VERBS_OPEN) | TO(VERBS_CM_ABORT) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING)) \
	X(VERBS_OPEN, "open", "either end to close, or a failure",                                 \
	  TO(VERBS_FLUSHED) | TO(VERBS_DRAINING) | TO(VERBS_THREAD_WAIT) |                         \
		  TO(VERBS_DESTROY_PENDING))                                                       \
	X(VERBS_FLUSHED, "flushed", "the event with the cause of the flush, or a timeout",         \
	  TO(VERBS_DRAINING) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                  \
	X(VERBS_DRAINING, "draining", "posted work to be sent, or a timeout",                      \
	  TO(VERBS_DISCONNECTING) | TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))             \
	X(VERBS_DISCONNECTING, "disconnecting", "the disconnect event, or a timeout",              \
	  TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                                       \
	X(VERBS_CM_ABORT, "cm abort", "its iWARP set-up to end in the kernel, or a timeout",       \
	  TO(VERBS_THREAD_WAIT) | TO(VERBS_DESTROY_PENDING))                                       \
	X(VERBS_THREAD_WAIT, "thread wait", "a thread to finish with its id and queues",           \
	  TO(VERBS_DESTROY_PENDING))                                                               \
	X(VERBS_DESTROY_PENDING, "destroy pending", "the task that destroys it",                   \
	  TO(VERBS_DESTROYING))                                                                    \
	X(VERBS_DESTROYING, "destroying", "its queue pair and its id to be destroyed",             \
	  TO(VERBS_CLOSED))                                                                        \
	X(VERBS_CLOSED, "closed", "the owner to free it", 0)
STATE_ENUM(verbs_ep_state, VERBS_EP_STATES);
extern const struct state_table verbs_ep_states;

/* What an ending endpoint must do at the connection manager. */
enum verbs_cm_end {
	VERBS_CM_END_SILENT,     /* nothing is pending */
	VERBS_CM_END_REJECT,     /* reject: the peer's request is unanswered */
	VERBS_CM_END_DISCONNECT, /* disconnect: a connection exists, or can exist */
	VERBS_CM_END_WAIT,       /* wait until the set-up ends */
};

/** verbs_cm_end - Returns how to end an endpoint whose set-up can still be pending. */
enum verbs_cm_end verbs_cm_end(enum verbs_ep_state state, bool iwarp);

/** verbs_state_up - Returns true if work may be posted and memory exposed. */
static inline bool verbs_state_up(enum verbs_ep_state state)
{
	return state == VERBS_OPEN || state == VERBS_FLUSHED;
}

/** verbs_state_sends - Returns true if posted work is still sent. */
static inline bool verbs_state_sends(enum verbs_ep_state state)
{
	return verbs_state_up(state) || state == VERBS_DRAINING;
}

/** verbs_state_polls - Returns true if completions are processed. */
static inline bool verbs_state_polls(enum verbs_ep_state state)
{
	return verbs_state_sends(state) || state == VERBS_DISCONNECTING;
}

/** verbs_state_over - Returns true if the close reason is final. */
static inline bool verbs_state_over(enum verbs_ep_state state)
{
	return state >= VERBS_CM_ABORT;
}

/* The keepalive of an endpoint, one at a time: see ep_keepalive.c. */
struct verbs_keepalive {
	struct fabric_wr wr;
	bool recv_ever; /* the peer has sent something, ever */
	bool pending;
	bool posted;    /* its work request is posted */
	bool recv_seen; /* the peer has sent something since the keepalive or the last timeout */
	struct loop_timer *timer;
	uint8_t sink; /* a zero-length Read needs an address too */
};

struct verbs_ep {
	struct fabric_ep ep;
	enum verbs_ep_state state; /* set by verbs_ep_set() */
	enum fabric_close why;
	char detail[96];
	bool connector;
	enum verbs_cm_end cm_end; /* to do before it is destroyed */
	bool opened;             /* established() was called: deliver Receives even while failing */
	bool closed_here;        /* closed by the owner: deliver no more Receives */
	bool destroy_offloaded;  /* destroying it can block the device's thread */
	bool is_ending;          /* ending() must still be called */
	uint64_t setup_until_us; /* end of the set-up time; 0: no limit */
	struct loop_timer *timer; /* timeout of the state, or of the set-up */
	struct loop_task step_task, post_task, early_task, ending_task;
	/* The connection manager's side. */
	struct rdma_cm_id *id;
	struct rdma_conn_param conn_param;
	struct rdma_conn_param answer; /* the acceptor's answer … */
	bool answered;                 /* … has arrived */
	struct fabric_ep_params params;
	struct sockaddr_storage local, peer;
	uint8_t request[FABRIC_MAX_PRIVATE_DATA];
	size_t request_bytes;
	uint8_t rejection[FABRIC_MAX_REJECT_DATA]; /* private data of our reject */
	size_t rejection_bytes;
	struct verbs_incoming *adopted; /* kept if its id could not be migrated */
	unsigned ird, ord;
	/* A thread works for this endpoint, see verbs_ep_command(). */
	bool offloaded;
	struct verbs_command command;
	int offload_result;
	int (*offload_fn)(struct verbs_ep *ep);
	void (*offload_done_fn)(struct verbs_ep *ep, int result);
	/* Created by the device's thread; the loop takes it over when the command has completed. */
	struct ibv_port_attr port; /* all zero: not known */
	struct ibv_cq *made_cq;
	unsigned made_cqes;
	struct ibv_qp *made_qp;
	struct ibv_qp_cap made_cap;
	bool recv_seen, confirmed; /* acceptor: events that arrived before the accept returned */
	bool last;                 /* last endpoint of its device: the device closes with it */
	struct verbs_async_event async;
	/* The device's side. */
	struct verbs_device *device; /* NULL until an address is resolved */
	LIST_ENTRY(verbs_ep) device_entry;
	struct verbs_pd *domain;
	struct ibv_qp *qp; /* over iWARP id->qp is the same, else NULL: see qp.c */
	struct verbs_cq *cq;
	unsigned slot;      /* slot on the completion queue */
	uint64_t wr_base;   /* common bits of every wr_id */
	unsigned cqes;      /* entries reserved on the queue, up to and including this endpoint's */
	bool cq_short;      /* it has fewer; set by the device's thread */
	uint64_t cq_polled; /* while failing, see verbs_poll_last(); 0: not set */
	unsigned max_sge, max_inline_bytes;
	unsigned ack_timeout;        /* 0: the connection manager's value */
	struct ibv_ece ece;          /* enhanced connection establishment, see qp.c */
	uint32_t max_transfer_bytes; /* limit of the port; 0: not known */
	/* Send queue: waiting here, and posted. Reads are separate, because Sends may pass them. */
	struct fabric_wr_list wait_sends, wait_reads, sends, reads;
	uint64_t next_seq;
	unsigned sq_depth, sq_used, reads_out;
	/* Unsignalled work requests posted last, see send_queue.c. */
	unsigned unsignalled, signal_every;
	/* In verbs_lazy.eps; was there when the timer last ran, with the same Sends. */
	bool is_lazy, was_lazy;
	bool flushing;
	struct fabric_wr flush;
	TAILQ_ENTRY(verbs_ep) lazy_entry;
	/* Receive queue: its places, and receives that wait for a place. */
	struct verbs_recv *recvs;
	unsigned rq_depth, idle_recv;
	unsigned first_early, last_early; /* VERBS_NO_RECV: none */
	uint32_t recv_size_bytes;         /* size requested last */
	struct posted_recvs recvs_due;
	TAILQ_HEAD(, fabric_key) keys;
	/* Waits for a key. The next own_keys keys that this endpoint returns do not wake it. */
	bool awaits_key;
	unsigned own_keys;
	TAILQ_ENTRY(verbs_ep) await_entry;
	/* Its work needs this slab, which is being registered; the error, or 0. */
	const void *awaited_slab;
	int slab_error;
	TAILQ_ENTRY(verbs_ep) slab_entry;
	/* Owner of memory that its peer can write to, by buf_pool_owner_new(); 0: none yet. */
	uint64_t owner;
	struct verbs_keepalive keepalive;
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

/*
 * Returns 0 or a negative errno for the result @rc of a libibverbs call. Most return an errno; but
 * c4iw's post calls (rdma-core 65) return negative ones, and siw's return -1 with errno set if the
 * kernel refuses the post.
 */
static inline int verbs_errno(int rc)
{
	if (rc == -1 && errno)
		return -errno;
	return rc > 0 ? -rc : rc;
}

/*
 * Sets the DSCP of the connection's packets, or over iWARP of the connections that a listener
 * accepts; ignores devices that do not support it.
 */
static inline void verbs_set_tos(const struct verbs_config *config, struct rdma_cm_id *id)
{
	uint8_t tos = (uint8_t)config->tos;

	if (tos)
		(void)rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
}

/* Copies the bytes of @from: their number depends on its address family. */
static inline void verbs_copy_addr(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sockaddr_bytes(from));
}

/* Copies the peer's private data, at most FABRIC_MAX_PRIVATE_DATA; returns its length. */
static inline size_t verbs_copy_private_data(uint8_t to[FABRIC_MAX_PRIVATE_DATA],
					     const struct rdma_conn_param *from)
{
	size_t bytes = from->private_data ? from->private_data_len : 0;

	if (bytes > FABRIC_MAX_PRIVATE_DATA)
		bytes = FABRIC_MAX_PRIVATE_DATA;
	if (bytes)
		memcpy(to, from->private_data, bytes);
	return bytes;
}

/* ---- the state machine of an endpoint ---- */

/** verbs_ep_set - Sets the state; only this function does. The transition must be in the table. */
void verbs_ep_set(struct verbs_ep *ep, enum verbs_ep_state state);
/** verbs_ep_fail - Ends the connection for @why; a task destroys the endpoint. */
void verbs_ep_fail(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_device_lost - Counts the lost device, and ends the connection with detail @what. */
void verbs_ep_device_lost(struct verbs_ep *ep, const char *what);
/** verbs_ep_cm_gone - Like verbs_ep_fail(), for CM events after which no set-up is pending. */
void verbs_ep_cm_gone(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_cm_done - Ends the wait of an endpoint in VERBS_CM_ABORT. */
void verbs_ep_cm_done(struct verbs_ep *ep);
/**
 * verbs_ep_thread_done - Continues an endpoint in VERBS_THREAD_WAIT after a thread has finished.
 * Returns false in any other state.
 */
bool verbs_ep_thread_done(struct verbs_ep *ep);
/**
 * verbs_ep_disconnect - Puts the queue pair into the error state, and disconnects; on the device's
 * thread. Returns 0 or a negative errno.
 */
int verbs_ep_disconnect(struct verbs_ep *ep);
/**
 * verbs_ep_cm_finish - Rejects or disconnects a failing endpoint, by its enum verbs_cm_end; on a
 * thread that owns the id.
 */
void verbs_ep_cm_finish(struct verbs_ep *ep);
/** verbs_ep_timer - Handles the timeout of a state; @ep is a struct verbs_ep. */
void verbs_ep_timer(void *ep);

/**
 * verbs_ep_received - Records that an acceptor's peer has sent something.
 *
 * The peer's confirmation can be late or lost. So this notifies the connection manager, which then
 * reports the connection as established without it.
 */
void verbs_ep_received(struct verbs_ep *ep);
/** verbs_ep_established - Calls established(), once. */
void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_flushed - Waits briefly for the event with the cause of a flush. */
void verbs_ep_flushed(struct verbs_ep *ep);
/**
 * verbs_check_disconnect - Implements fabric_ep_check_disconnect(): reads the manager's events, and
 * does not wait for the cause of a flush.
 */
void verbs_check_disconnect(struct fabric_ep *ep);
/** verbs_ep_drain - Starts an orderly close: posted work is still sent. */
void verbs_ep_drain(struct verbs_ep *ep);
/** verbs_ep_drained - Disconnects a draining endpoint once all posted work has been sent. */
void verbs_ep_drained(struct verbs_ep *ep);

/*
 * Blocking calls of an endpoint. The device's thread executes calls for which the device can take
 * long, in order with its other commands (command.h). A call for which one connection can take long
 * has its own thread, so that the device's other connections do not wait.
 */

/**
 * verbs_ep_command - Calls @fn on the thread of the endpoint's device.
 * @fn:   may use the id and the queues of @ep, and no other changing member; returns 0 or a
 *        negative errno
 * @back: called with that result on the loop's thread
 *
 * Until then no other thread may use the id and the queues.
 */
void verbs_ep_command(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result));
/**
 * verbs_ep_offload - Like verbs_ep_command(), on a new thread; without one it blocks the worker.
 */
void verbs_ep_offload(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result));
/** verbs_offload_fini - Waits for the last such thread; all endpoints must be gone. */
void verbs_offload_fini(struct verbs_fabric *fabric);

#endif
