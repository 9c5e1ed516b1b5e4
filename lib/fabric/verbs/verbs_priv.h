/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs fabric's insides: what a worker has of devices, endpoints, keys and receives.
 *
 * Floors. A file calls those on floors below its own; what goes up is a task, a timer or a callback, given when
 * an endpoint or a thread's work is made.
 *
 *	verbs                        a worker's fabric, and the table of operations
 *	ep                           the connection manager's events; closing
 *	setup                        connecting and accepting
 *	bury                         the end
 *	device                       devices and their descriptors
 *	poll, probe                  completions; whether the peer is there
 *	key, qp                      what is lent; the queue pair
 *	late                         Sends that are not signalled
 *	queue, ece                   work requests; what both ends' devices do beyond the standard
 *	recv                         receives
 *	await                        endpoints that wait for a key
 *	cq                           completion queues, which endpoints share
 *	async                        asynchronous events
 *	life                         an endpoint's state
 *	domain, aside, listen        what is registered; calls on other threads; listeners
 *	command, trial               commands of devices; whether one has windows
 *	states, notice, watch
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
 *
 * Memory. What a peer can reach, and through which connection:
 *
 *	device                     domain            slabs       a lent key            a Read's sink
 *	IB, RoCE with windows      of the worker     local use   window on this QP     the slab's lkey
 *	IB, RoCE without windows   of the peer       local use   region, exact bounds  the slab's lkey
 *	iWARP                      of the peer       local use   window or region      region, exact bounds
 *
 * The domain of a peer is that of all connections of one worker with the peer's address. So another user of the peer's
 * host, who guesses the key of a region, reaches memory that is lent to the host for an RPC in flight. With
 * VERBS_DOMAIN_CONNECTION that user does not; then each connection registers each slab that it uses. With
 * VERBS_DOMAIN_WORKER every peer of the worker who guesses a key does.
 *
 * The kernel's rxe holds accesses through a window to the bounds of the region behind it, not to those of the
 * window (seen on Linux 6.1): there each window stands on a region of its own, of exact bounds.
 *
 * The kernel's siw answers a Read of any region in the domain, whatever its rights (seen on Linux 6.1): there,
 * only not knowing a slab's key keeps a peer from it. What a peer may write to it can read there too, while it is lent.
 *
 * A device does not tell what a peer has written. So memory of which the peer learns a key for writing, a Read's sink on
 * iWARP among it, is cleared before, unless the same connection exposed it last (buf_expose()).
 *
 * A slab is never registered with remote rights. A type 2 window answers to its queue pair only; a region
 * with remote rights lies in the domain of its peer, so no connection of another peer reaches it, and lives no
 * longer than the RPC. A region, unlike a window, may not be invalidated by the peer on every device, so
 * remote invalidation is offered with windows only.
 */
#ifndef FABRIC_VERBS_VERBS_PRIV_H
#define FABRIC_VERBS_VERBS_PRIV_H

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <string.h>

#include "base/sockaddr.h"
#include "fabric/fabric.h"
#include "fabric/recv_runs.h"
#include "fabric/verbs/states.h"
#include "fabric/verbs/verbs_config.h"
#include "fabric/verbs/watch.h"

#define VERBS_SQ_DEPTH       256u /* work requests on a send queue; more wait here */
#define VERBS_RQ_SPARE       32u  /* receives beyond recv_count when recv_max is not known */
#define VERBS_CHAIN_MAX      32u  /* work requests in one post */
#define VERBS_SIGNAL_EVERY   16u  /* of those that are posted, Reads apart */
#define VERBS_POLL_BATCH     16u
#define VERBS_CQ_EVENTS      16u /* of a device in one go */
#define VERBS_POLL_BUDGET    64u /* completions of one completion queue in one go */
#define VERBS_INLINE_MAX     256u /* of what a device gives: more costs the copy more than it saves */
#define VERBS_NO_INLINE      3u
#define VERBS_NO_SLOT        UINT32_MAX
#define VERBS_NO_RECV        UINT32_MAX
#define VERBS_RXE_VENDOR     0xffffffu /* what the kernel's software RoCE says of itself */
#define VERBS_SIW_VENDOR     0x626d74u /* and its software iWARP */
#define VERBS_MIN_RNR_TIMER  12u       /* 0.64 ms; the connection manager's 0 is 655 ms */
#define VERBS_MAX_KEY_BYTES  (1u << 30)
#define VERBS_CLOSE_DRAIN_US 2000000u /* to send what was posted, then to disconnect */
#define VERBS_FLUSH_US       200000u  /* from flushed work to the event that tells why */
#define VERBS_ABANDON_US     15000000u /* for the end of an iWARP set-up; Linux gives up after 10 s */
#define VERBS_RESOLVE_MS     2000
#define VERBS_KEY_RETRY_US   10000u    /* to the next attempt to have a memory window */
#define VERBS_KEY_WAIT_US    60000000u /* for one, while all that the device has are others' */
#define VERBS_PROBE_US       15000000u /* for a Read that asks whether an iWARP peer is there */

/* Work requests of our own, beside those of enum fabric_wr_op. */
#define VERBS_BIND           ((enum fabric_wr_op)100)
#define VERBS_INV            ((enum fabric_wr_op)101)

#define VERBS_DOMAIN_BUCKETS 64u
#define VERBS_WINDOWS_EP     16u  /* free windows that a domain has for each endpoint, … */
#define VERBS_WINDOWS_SPARE  256u /* … and at most */

/* A command of a device, see command.h; or what another thread does for an endpoint, see aside.h. */
struct verbs_command {
	TAILQ_ENTRY(verbs_command) entry;
	void (*run)(struct verbs_command *command);
	void (*done)(struct verbs_command *command);
};
TAILQ_HEAD(verbs_command_list, verbs_command);

/* The thread of a device; the lock guards the queue and `ends`. */
struct verbs_commands {
	pthread_mutex_t lock;
	pthread_cond_t come;
	struct verbs_command_list queue;
	pthread_t thread;
	bool ends;
};

/* Windows that are being allocated for a domain, all at once. */
struct verbs_window_batch {
	struct verbs_command command;
	unsigned wanted; /* 0: none are being allocated */
	bool vain;       /* the device had none left */
	struct verbs_key *windows;
};

/* A protection domain, with the slabs that are registered and the windows that are free in it. */
struct verbs_domain {
	struct verbs_device *device;
	struct ibv_pd *
		pd; /* the device's thread's: allocated when it is first needed, see verbs_domain_pd() */
	struct verbs_command command;
	struct slab_domain slabs;
	TAILQ_HEAD(, verbs_ep)
	awaits_slab; /* endpoints with work that needs a slab which is being registered */
	struct verbs_key *free_windows;
	unsigned nfree_windows;
	struct verbs_window_batch batch;
	/* Unless it is the worker's: */
	LIST_ENTRY(verbs_domain) entry;
	struct in6_addr peer; /* all zero: of one connection */
	uint32_t scope_id;    /* of that address, if it is link-local */
	unsigned eps;
};
LIST_HEAD(verbs_domain_list, verbs_domain);

/* A place of an endpoint on a completion queue, which its completions name. */
struct verbs_slot {
	struct verbs_ep
		*ep; /* NULL: free, or its endpoint has left and its entries are not free yet */
	unsigned generation; /* of its endpoints */
	unsigned cqes;       /* that its endpoint reserved */
	uint64_t gone;       /* they are free once verbs_cq.gone is as much */
	unsigned next;       /* free one, or next one to be free */
};

/* A completion queue, see cq.h. */
struct verbs_cq {
	LIST_ENTRY(verbs_cq) entry;
	struct verbs_device *device;
	struct verbs_command command;
	/* The device's thread's, until `cq` is set. */
	struct ibv_cq *made;
	unsigned made_cqes;
	struct ibv_cq *cq;   /* NULL: not created yet */
	bool own;            /* of one endpoint */
	bool failed;         /* its endpoints end, and no other one gets it */
	bool armed;          /* an event comes with the next completion */
	unsigned unacked;    /* events */
	unsigned cqes, used; /* entries; reserved by endpoints */
	unsigned eps;        /* that have it */
	uint64_t
		gone; /* entries that were polled; an empty queue counts as many as it has, see cq.h */
	uint64_t busy_until_us;
	struct loop_task poll_task, fail_task;
	struct verbs_slot *slots;
	unsigned nslots, free_slot, first_leaving, last_leaving;
	/* Its device said that it failed, see async.c. */
	bool news;
	TAILQ_ENTRY(verbs_cq) news_entry;
};
LIST_HEAD(verbs_cq_list, verbs_cq);

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
	bool rxe;            /* see Memory above, and invalidated() in poll.c */
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
	void (*poll)(void *cq); /* verbs_poll() */
	struct verbs_watch channel_watch;
	pthread_mutex_t
		cq_lock; /* held while an event is read, and while a completion queue is destroyed */
	/* Asynchronous events, see async.c. */
	LIST_ENTRY(verbs_device) async_entry;
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
	struct verbs_domain shared;
	struct verbs_domain_list domains[VERBS_DOMAIN_BUCKETS]; /* of peers */
};
LIST_HEAD(verbs_device_list, verbs_device);

/* Endpoints and completion queues of which a device said something, see async.c; the lock guards the lists and `news` of each. */
struct verbs_news {
	pthread_mutex_t lock;
	TAILQ_HEAD(, verbs_ep) eps;
	TAILQ_HEAD(, verbs_cq) cqs;
	int fd;
	struct verbs_watch watch;
};

/* Endpoints that wait for a key: see await.c. */
struct verbs_await {
	TAILQ_HEAD(verbs_ep_waiters, verbs_ep) eps;
	struct loop_task task; /* wakes them; also when another worker has given windows */
	struct loop_timer *timer;
};

/* Endpoints whose last Sends were not signalled: see late.c. */
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
	struct loop_timer *age_timer; /* tells the pool the time */
	/* Commands that were executed; the lock guards the list: see command.c. */
	pthread_mutex_t back_lock;
	struct verbs_command_list back;
	int back_fd;
	struct verbs_watch back_watch;
	unsigned commands_out; /* that have not come back */
	/* The thread of an endpoint that was done last: see aside.c. The lock guards it. */
	pthread_mutex_t aside_lock;
	bool aside_has_ended;
	pthread_t aside_ended;
	struct verbs_news news;
	struct verbs_await await;
	struct verbs_late late;
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

/* A place for a posted receive; one that is idle keeps its buffer if the next is to have that size. */
struct verbs_recv {
	struct buf *buf;
	uint32_t size_bytes;
	uint32_t lkey;
	bool registered;    /* lkey is that of buf */
	unsigned next_idle; /* or the next early one: */
	/* A completion that came before the endpoint was up, see poll.c. */
	bool early_inv;
	uint8_t early_status;
	uint32_t early_bytes, early_rkey;
};

/* A key that is lent: a window, or a region. */
struct verbs_key {
	enum verbs_key_state state;
	struct verbs_key *next_free;
	struct fabric_key *key; /* NULL: free, or left by its owner */
	struct verbs_ep *ep;    /* that lends it, unless it is free */
	struct verbs_domain *domain;
	struct ibv_mw *mw;
	struct ibv_mr *mr; /* the region lent, or the one behind a window that needs its own */
	uint32_t window_rkey;
	struct fabric_wr bind, inv;
	struct verbs_command command; /* that frees mw and mr: */
	bool releasing;
};

/* Whether the peer is there: one question at a time. */
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
	enum verbs_ep_state state; /* set by verbs_ep_set(), life.c */
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
	struct rdma_conn_param answer; /* the acceptor's */
	struct fabric_ep_params params;
	struct sockaddr_storage local, peer;
	uint8_t request[FABRIC_MAX_PRIVATE_DATA];
	size_t request_bytes;
	uint8_t rejection[FABRIC_MAX_REJECT_DATA]; /* for the peer, if we reject its request */
	size_t rejection_bytes;
	struct verbs_incoming *adopted; /* kept if its id could not be taken over */
	unsigned ird, ord;
	/* A thread is at work for this endpoint, see aside.h. */
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
	/* What its device said of it, see async.c. */
	unsigned news;
	TAILQ_ENTRY(verbs_ep) news_entry;
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
	struct ibv_ece ece;          /* what both ends do beyond the standard, see ece.c */
	uint32_t max_transfer_bytes; /* of the port; 0: not known */
	/* Send queue: waiting here, and posted. Reads apart, since Sends may pass them. */
	struct fabric_wr_list wait_sends, wait_reads, sends, reads;
	uint64_t next_seq;
	unsigned sq_depth, sq_used, reads_out;
	/* What was posted last and is not signalled, see late.c. */
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

#endif
