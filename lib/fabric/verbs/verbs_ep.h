/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker has of the verbs fabric, of devices and of endpoints, and an endpoint's states and end: what the files of this
 * folder stand on. What stands under the name of a file is written by that file alone. Each calls those on floors below
 * its own; what goes up is a task, a timer or a callback, given when an endpoint or a thread's work is made.
 *
 *	verbs                        a worker's fabric, and the table of operations
 *	setup                        the connection manager's events, connecting, accepting and closing
 *	bury                         the end
 *	device                       devices and their descriptors
 *	cq, probe                    completions, and the queues that endpoints share; whether the peer is there
 *	qp, key                      the queue pair; what is lent, and endpoints that wait for a key
 *	queue, async                 work requests; asynchronous events
 *	recv                         receives
 *	domain                       what is registered
 *	verbs_ep, listen             this; listeners
 *	command, trial, watch, hold  commands of devices; whether one has windows; descriptors; the lock of events
 *
 * Threads. librdmacm keeps one ibv_context per device for the whole process; protection domains,
 * completion channels, queue pairs and event channels are made per worker and used by it alone. Only a
 * verbs_incoming crosses from the listener's thread to a worker's, which takes its id over by
 * rdma_migrate_id(). The asynchronous events of a device come on one descriptor, which one worker reads for all (async.c).
 *
 * An adapter that hangs must not hang a worker. So queues, registrations of slabs, windows, domains and ids are created and
 * destroyed on a thread that each device of a worker has, in the order in which that is asked for (command.h); the loop posts,
 * polls, and takes notice of what that thread has done. The endpoint waits in a state of its own, and what it has to
 * post waits in its queue. What is registered for one RPC is still registered on the worker's thread: regions where a device has
 * no windows, sinks over iWARP, and what stands behind rxe's windows.
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
#include "base/state.h"
#include "fabric/fabric.h"
#include "fabric/recv_runs.h"
#include "fabric/verbs/command.h"
#include "fabric/verbs/verbs_config.h"

#define VERBS_CHAIN_MAX      32u /* work requests in one post */
#define VERBS_NO_INLINE      3u
#define VERBS_RXE_VENDOR     0xffffffu /* what the kernel's software RoCE says of itself */
#define VERBS_SIW_VENDOR     0x626d74u /* and its software iWARP */
#define VERBS_DOMAIN_BUCKETS 64u

LIST_HEAD(verbs_cq_list, verbs_cq);
LIST_HEAD(verbs_domain_list, verbs_domain);

/* What a device says by itself of an endpoint or of a completion queue, for the thread of that: see async.c. */
struct verbs_news {
	struct verbs_fabric *fabric;
	void (*tell)(struct verbs_news *news, unsigned what);
	unsigned what; /* 0: nothing. The lock of the fabric's box guards it and the entry. */
	TAILQ_ENTRY(verbs_news) entry;
};

/* A device as one worker uses it. */
struct verbs_device {
	LIST_ENTRY(verbs_device) entry;
	struct verbs_fabric *fabric;
	struct ibv_context *context;
	/* The device's thread sets what stands here before anybody else looks at it, which `opened` tells. */
	struct verbs_commands commands;
	bool usable, opened;
	struct ibv_device_attr attr;
	bool iwarp, windows;
	bool sends_inv; /* takes IBV_WR_SEND_WITH_INV */
	unsigned
		inline_step; /* see open_qp() in qp.c; VERBS_NO_INLINE: nothing is carried inline */
	bool ordered;        /* refuses IBV_ACCESS_RELAXED_ORDERING */
	bool rxe;            /* see Memory in domain.h, and invalidated() in cq.c */
	LIST_HEAD(, verbs_ep) eps; /* endpoints on it */
	unsigned keys_out;         /* windows and regions that peers may reach */
	unsigned keys_unused;      /* of these, those on their way back since there were too few */
	bool keyless;              /* none could be had, though no other is out … */
	uint64_t keyless_since_us; /* … since then */
	bool removed;
	bool signals_all;   /* on siw: see chain_fill() in queue.c */
	bool shares_cqs;    /* among endpoints: see cq.h */
	struct ibv_cq *gap; /* NULL, unless on siw: see fill_gap() in device.c */
	struct ibv_comp_channel *channel;
	struct verbs_cq_list cqs;
	struct verbs_watch channel_watch;
	pthread_mutex_t
		cq_lock; /* held while an event is read, and while a completion queue is destroyed */
	/* Asynchronous events, see async.c. */
	LIST_ENTRY(verbs_device) async_entry;
	struct verbs_hold *hold; /* all workers' */
	struct verbs_watch async_watch;
	bool reads;
	bool failed; /* it said so, and its worker has not acted on that yet; the lock of async.c guards it */
	/* Windows that workers give each other, see async.c; its lock guards these. */
	bool wants_window;     /* a connection here waits for one */
	bool window_asked_for; /* another worker does */
	bool window_came;      /* another worker has given some */
	/* It had none idle to give: the next one that it has back goes. Its own thread's, like the next ones. */
	bool owes_window;
	bool gives, gives_again;   /* windows are being freed for others, and more since */
	uint64_t yields_until_us;  /* it allocates none meanwhile, lest it takes what it gave */
	struct verbs_command gift; /* behind the commands that free them */
	bool shares;               /* one domain for all endpoints: */
	struct verbs_domain *shared;
	struct verbs_domain_list domains[VERBS_DOMAIN_BUCKETS]; /* of peers */
};
LIST_HEAD(verbs_device_list, verbs_device);

/* Endpoints that wait for a key: see key.c. */
struct verbs_await {
	TAILQ_HEAD(verbs_ep_waiters, verbs_ep) eps;
	struct loop_task task; /* wakes them; also when another worker has given windows */
	struct loop_timer *timer;
};

/* Endpoints whose last Sends were not signalled: see queue.c. */
struct verbs_late {
	TAILQ_HEAD(, verbs_ep) eps;
	struct loop_timer *timer;
	bool timer_set;
};

struct verbs_fabric {
	struct fabric fabric;
	struct verbs_config config;
	struct verbs_counters counters;
	struct rdma_event_channel *channel;
	struct verbs_watch channel_watch;
	struct loop_task channel_task; /* reads all that has come */
	struct verbs_device_list devices;
	struct loop_timer *age_timer; /* tells the pool the time, and when windows are due: */
	uint64_t windows_period_us;   /* when their period began */
	struct verbs_returns back;
	/* The thread of an endpoint that was done last: see verbs_aside(). The lock guards it. */
	pthread_mutex_t aside_lock;
	bool aside_has_ended;
	pthread_t aside_ended;
	struct verbs_box news_box; /* its lock guards the list */
	TAILQ_HEAD(, verbs_news) news;
	struct verbs_await await;
	struct verbs_late late;
};

/*
 * The states of an endpoint, and what each of them allows.
 *
 *	connecting   RESOLVING -> OPENING -> CONNECTING -> OPEN
 *	accepting    ADOPTED -> REQUESTED -> ACCEPTING -> ACCEPTED -> OPEN
 *	closing      OPEN -> DRAINING -> DISCONNECTING -> DYING -> BURYING -> CLOSED
 *	failing      any -> DYING -> BURYING -> CLOSED
 *
 * On the way to DYING an endpoint may have to wait: in ABANDONED, because the kernel's iWARP manager lets
 * nobody disconnect or destroy what it is setting up; in RETURNING, because a thread still uses its id or its queues.
 */
#define VERBS_EP_STATES(X)                                                                         \
	X(VERBS_RESOLVING, "resolving", "an address, its device, then a route",                    \
	  TO(VERBS_OPENING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                               \
	X(VERBS_OPENING, "opening", "its queues to be created, and receives to be posted",         \
	  TO(VERBS_CONNECTING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                            \
	X(VERBS_CONNECTING, "connecting", "the peer's answer",                                     \
	  TO(VERBS_OPEN) | TO(VERBS_ABANDONED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))            \
	X(VERBS_ADOPTED, "adopted", "its device, to tell of the peer's request",                   \
	  TO(VERBS_REQUESTED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                             \
	X(VERBS_REQUESTED, "requested", "to be accepted or rejected",                              \
	  TO(VERBS_ACCEPTING) | TO(VERBS_DYING))                                                   \
	X(VERBS_ACCEPTING, "accepting",                                                            \
	  "its queues to be created, receives to be posted and the accept to be sent",             \
	  TO(VERBS_ACCEPTED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                              \
	X(VERBS_ACCEPTED, "accepted", "the peer to confirm",                                       \
	  TO(VERBS_OPEN) | TO(VERBS_ABANDONED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))            \
	X(VERBS_OPEN, "open", "its end",                                                           \
	  TO(VERBS_FLUSHED) | TO(VERBS_DRAINING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))          \
	X(VERBS_FLUSHED, "flushed", "the event that tells why work was flushed, for a while",      \
	  TO(VERBS_DRAINING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                              \
	X(VERBS_DRAINING, "draining", "what was posted to be sent, for a while",                   \
	  TO(VERBS_DISCONNECTING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                         \
	X(VERBS_DISCONNECTING, "disconnecting", "the end of the connection, for a while",          \
	  TO(VERBS_RETURNING) | TO(VERBS_DYING))                                                   \
	X(VERBS_ABANDONED, "abandoned", "the end of its iWARP set-up, for a while",                \
	  TO(VERBS_RETURNING) | TO(VERBS_DYING))                                                   \
	X(VERBS_RETURNING, "returning", "a thread to come back", TO(VERBS_DYING))                  \
	X(VERBS_DYING, "dying", "a task, to bury it", TO(VERBS_BURYING))                           \
	X(VERBS_BURYING, "burying", "its queue pair and its id to be destroyed", TO(VERBS_CLOSED)) \
	X(VERBS_CLOSED, "closed", "to be freed", 0)
STATE_ENUM(verbs_ep_state, VERBS_EP_STATES);
extern const struct state_table verbs_ep_states;

/* What the connection manager is owed by an endpoint that ends. */
enum verbs_parting {
	VERBS_PART_SILENTLY,   /* nothing is under way */
	VERBS_PART_REJECT,     /* the peer's request is unanswered */
	VERBS_PART_DISCONNECT, /* there is, or may be, a connection */
	VERBS_PART_ABANDON,    /* it must be waited for */
};

/** verbs_parting - how an endpoint ends that did not hear from the manager that its set-up is over. */
enum verbs_parting verbs_parting(enum verbs_ep_state state, bool iwarp);

/** verbs_state_up - work may be posted and keys lent. */
static inline bool verbs_state_up(enum verbs_ep_state state)
{
	return state == VERBS_OPEN || state == VERBS_FLUSHED;
}

/** verbs_state_sends - what was posted leaves. */
static inline bool verbs_state_sends(enum verbs_ep_state state)
{
	return verbs_state_up(state) || state == VERBS_DRAINING;
}

/** verbs_state_polls - completions are taken. */
static inline bool verbs_state_polls(enum verbs_ep_state state)
{
	return verbs_state_sends(state) || state == VERBS_DISCONNECTING;
}

/** verbs_state_over - its end is decided; nothing changes the reason any more. */
static inline bool verbs_state_over(enum verbs_ep_state state)
{
	return state >= VERBS_ABANDONED;
}

/* Whether the peer is there: one question at a time, see probe.c. */
struct verbs_probe {
	struct fabric_wr wr;
	bool spoken; /* the peer, ever */
	bool asking;
	bool posted; /* a work request of ours asks */
	bool heard;  /* the peer, since the question or since the timer last looked */
	struct loop_timer *timer;
	uint8_t sink; /* a Read of no bytes wants a place all the same */
};

struct verbs_ep {
	struct fabric_ep ep;
	enum verbs_ep_state state; /* set by verbs_ep_set() */
	enum fabric_close why;
	char detail[96];
	bool connector;
	enum verbs_parting parting; /* what is still to be done before it is buried */
	bool opened; /* established() was called: what arrived is given up even while it dies */
	bool closed_here;         /* nothing that arrives is given up any more */
	bool bury_aside;          /* destroying it may block */
	bool is_ending;           /* ending() is still to be called */
	uint64_t setup_until_us;  /* the end of the time to connect; 0: none */
	struct loop_timer *timer; /* to the end of the state's "for a while", or of the set-up */
	struct loop_task step_task, post_task, early_task, ending_task;
	/* The connection manager's side. */
	struct rdma_cm_id *id;
	struct rdma_conn_param conn_param;
	struct rdma_conn_param answer; /* the acceptor's … */
	bool answered;                 /* … has come */
	struct fabric_ep_params params;
	struct sockaddr_storage local, peer;
	uint8_t request[FABRIC_MAX_PRIVATE_DATA];
	size_t request_bytes;
	uint8_t rejection[FABRIC_MAX_REJECT_DATA]; /* for the peer, if we reject its request */
	size_t rejection_bytes;
	struct verbs_incoming *adopted; /* kept if its id could not be taken over */
	unsigned ird, ord;
	/* A thread is at work for this endpoint, see verbs_ep_command(). */
	bool aside;
	struct verbs_command command;
	int aside_result;
	int (*aside_fn)(struct verbs_ep *ep);
	void (*back_fn)(struct verbs_ep *ep, int result);
	/* What the device's thread has made of it: the loop takes it over when that has come back. */
	struct ibv_port_attr port; /* all zero: not known */
	struct ibv_cq *made_cq;
	unsigned made_cqes; /* of that */
	struct ibv_qp *made_qp;
	struct ibv_qp_cap made_cap;
	bool heard, confirmed; /* of an acceptor's peer, before the accept came back */
	bool last;             /* of its device, which is closed with it */
	struct verbs_news news;
	/* The device's side. */
	struct verbs_device *device; /* NULL until an address is resolved */
	LIST_ENTRY(verbs_ep) device_entry;
	struct verbs_domain *domain;
	struct ibv_qp *qp; /* its id knows of it over iWARP only, see qp.c */
	struct verbs_cq *cq;
	unsigned slot;    /* on it */
	uint64_t wr_base; /* of every wr_id */
	unsigned cqes;    /* of it that were reserved, this endpoint's the last of them */
	bool cq_short;    /* it has less: set by the device's thread */
	uint64_t cq_gone; /* of a dying one, see verbs_poll_last(); 0: not set */
	unsigned max_sge, max_inline_bytes;
	unsigned ack_timeout;        /* 0: the connection manager's */
	struct ibv_ece ece;          /* what both ends do beyond the standard, see qp.c */
	uint32_t max_transfer_bytes; /* of the port; 0: not known */
	/* Send queue: waiting here, and posted. Reads apart, since Sends may pass them. */
	struct fabric_wr_list wait_sends, wait_reads, sends, reads;
	uint64_t next_seq;
	unsigned sq_depth, sq_used, reads_out;
	/* What was posted last and is not signalled, see queue.c. */
	unsigned unsignalled, signal_every;
	bool is_late,
		was_late; /* in verbs_late.eps; when its timer was due last, with the same Sends */
	bool flushing;
	struct fabric_wr flush;
	TAILQ_ENTRY(verbs_ep) late_entry;
	/* Receive queue: its places, and what waits for one. */
	struct verbs_recv *recvs;
	unsigned rq_depth, idle_recv;
	unsigned first_early, last_early; /* VERBS_NO_RECV: none */
	uint32_t recv_size_bytes;         /* that was asked for last */
	struct recv_runs recvs_due;
	TAILQ_HEAD(, fabric_key) keys;
	/* It waits for a key; as many of its own that come back are none for it. */
	bool awaits_key;
	unsigned own_keys;
	TAILQ_ENTRY(verbs_ep) await_entry;
	/* Its work needs this slab, which is being registered; 0, or why it could not be. */
	const void *awaited_slab;
	int slab_error;
	TAILQ_ENTRY(verbs_ep) slab_entry;
	uint64_t owner; /* of what its peer may write to, by pool_owner_new(); 0: nothing yet */
	struct verbs_probe probe;
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
 * A negative errno, or 0. Calls of libibverbs return errnos; but c4iw's post calls (rdma-core 65) return negative ones, and siw's
 * return -1 with errno set if the kernel does not take what was posted.
 */
static inline int verbs_errno(int rc)
{
	if (rc == -1 && errno)
		return -errno;
	return rc > 0 ? -rc : rc;
}

/* Packets of the connection, or over iWARP of those that a listener accepts, have this DSCP; the device may not know how. */
static inline void verbs_set_tos(const struct verbs_config *config, struct rdma_cm_id *id)
{
	uint8_t tos = (uint8_t)config->tos;

	if (tos)
		(void)rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
}

/* Only as much as @from has, which the connection manager sizes by its family. */
static inline void verbs_copy_addr(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sockaddr_bytes(from));
}

/* What the peer says, as much of it as a fabric gives on; returns how much. */
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

/* ---- the life of an endpoint: its state, what leads it on, and how its end is decided ---- */

/** verbs_ep_set - the one place that sets a state; the move must be in the table. */
void verbs_ep_set(struct verbs_ep *ep, enum verbs_ep_state state);
/** verbs_ep_die - the connection is over for @why; the end follows from a task. */
void verbs_ep_die(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_lost_device - the device of @ep is of no use any more, @what says how: count it, and end the connection. */
void verbs_ep_lost_device(struct verbs_ep *ep, const char *what);
/** verbs_ep_unmade - the same, where the connection manager says itself that nothing is under way any more. */
void verbs_ep_unmade(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_end_wait - what an abandoned endpoint waits for has come. */
void verbs_ep_end_wait(struct verbs_ep *ep);
/** verbs_ep_returned - a thread has come back: lead a returning endpoint on. Returns false if it is not returning. */
bool verbs_ep_returned(struct verbs_ep *ep);
/** verbs_ep_disconnect - put the queue pair into error, and disconnect. On the device's thread. Returns 0 or a negative errno. */
int verbs_ep_disconnect(struct verbs_ep *ep);
/** verbs_ep_part - tell the connection manager what a dying endpoint owes it. On a thread that has the id. */
void verbs_ep_part(struct verbs_ep *ep);
/** verbs_ep_timer - the time of a state is up; @ep is a struct verbs_ep. */
void verbs_ep_timer(void *ep);

/**
 * verbs_ep_heard - an acceptor's peer has sent something, so that its confirmation may be late or lost
 *
 * Tells the connection manager, which then says that the connection is established, and waits for the confirmation no longer.
 */
void verbs_ep_heard(struct verbs_ep *ep);
/** verbs_ep_established - the peer is there: tell, once. */
void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_flushed - work was flushed: what caused it says more, and is waited for a little. */
void verbs_ep_flushed(struct verbs_ep *ep);
/** verbs_hear_end - fabric_ep_hear_end(): the manager's events are read, and what caused the flush of work is not waited for. */
void verbs_hear_end(struct fabric_ep *ep);
/** verbs_ep_drain - closed here: what was posted is still sent. */
void verbs_ep_drain(struct verbs_ep *ep);
/** verbs_ep_drained - if everything posted was sent: go on with closing. */
void verbs_ep_drained(struct verbs_ep *ep);

/*
 * Calls for an endpoint that may block. What the device may take long for is executed by the device's thread, in order with all
 * else (command.h). What a connection may take long for has a thread of its own, so that the device's other connections do
 * not wait.
 */

/**
 * verbs_ep_command - call @fn on the thread of the endpoint's device
 * @fn:   may use the id and the queues of @ep, and nothing else that changes; returns 0 or a negative errno
 * @back: called with that on the loop's thread
 *
 * Until then ep->aside is set, and nobody else touches id and queues.
 */
void verbs_ep_command(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside - the same on a thread of the call's own. Without a thread @fn blocks the worker. */
void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside_fini - wait for the last thread to end; no endpoint is left. */
void verbs_aside_fini(struct verbs_fabric *fabric);

#endif
