/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes an RDMA device of memory: what the verbs fabric calls of libibverbs and librdmacm, between endpoints of one process.
 *
 * Preloaded (memory.so), or behind the stand-in (standin.so) whose profile and faults then hold for it. Its kind is that of
 * STANDIN_MEMORY, "roce" or "iwarp"; each address is an address of the device. With STANDIN_DEVICES=2 there is a second one, which has
 * the addresses 127.0.1.0 to 127.0.1.255.
 *
 * A work request is carried out by the thread that posts it, or by the one that makes it possible (a receive is posted, the
 * peer's queue pair comes up): data are copied, access is held to keys, bounds, rights, domains and queue pairs, and what a
 * device refuses ends both queue pairs as on one. A queue's entry is free again when a completion was polled that stands for it.
 * One lock guards everything. What takes time on a network, until a peer that is gone is found out, a thread does (clock).
 *
 * A device can be removed while it is in use (memory_remove.c): from then on its calls fail with EIO, nothing completes, and posts
 * have no effect, since the memory that they are written to is not the device's any more.
 *
 * At its end a process reports on standard error what it has left undestroyed, in a line "standin: left: ...", and where it has
 * misused the interface, "standin: misuse: ...". With STANDIN_COUNTS in the environment it tells how often completion queues were
 * polled and armed, and how many events of them were taken: "standin: counts: ...".
 */
#ifndef TESTS_STANDIN_MEMORY_H
#define TESTS_STANDIN_MEMORY_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <sys/queue.h>

#undef ibv_reg_mr
#undef ibv_query_port

#define MEMORY_SGES                  32u
#define CONTAINER(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Numbers of what there is, for the report at the end. */
struct memory_left {
	int pds, mrs, mws, cqs, qps, channels, ids, event_channels;
};

/* Calls for completion queues, so far. */
struct memory_counts {
	unsigned long polls, arms, events;
};

/* What the device reports by itself. */
struct memory_async {
	TAILQ_ENTRY(memory_async) entry;
	struct ibv_async_event event;
};

struct memory_device {
	struct ibv_device device;
	struct memory_context *context; /* NULL: it was removed */
};

/* A device as it is open, until it is removed. There is one for the process, as librdmacm has one for each device. */
struct memory_context {
	struct ibv_context context;
	TAILQ_HEAD(, memory_async) asyncs;
	LIST_HEAD(, memory_channel) channels;
	bool opened; /* by the connection manager */
	bool dead;   /* the device does not answer any more */
};

struct memory_pd {
	struct ibv_pd pd;
	int users;
};

struct memory_mr {
	struct ibv_mr mr;
	LIST_ENTRY(memory_mr) entry;
	int access;
	int windows;  /* bound to it */
	bool invalid; /* by its peer */
};

struct memory_mw {
	struct ibv_mw mw;
	LIST_ENTRY(memory_mw) entry;
	struct memory_qp *qp; /* that it is bound to; NULL: it is not bound */
	struct memory_mr *mr;
	uint32_t rkey; /* of its last binding, or as it was allocated */
	uint64_t addr, len;
	unsigned access;
};

struct memory_channel {
	LIST_ENTRY(memory_channel) entry;
	struct ibv_comp_channel channel;
	int fd; /* the channel's, whatever somebody in front of it has put there */
	TAILQ_HEAD(, memory_cq) ready; /* queues with an event that nobody has taken */
	int cqs;
};

/* A completion, and how many entries of its queue pair are free once it was polled. */
struct memory_cqe {
	struct ibv_wc wc;
	struct memory_qp *qp; /* NULL: destroyed meanwhile */
	unsigned frees;
	bool recv;
};

struct memory_cq {
	struct ibv_cq cq;
	struct memory_cqe *ring;
	unsigned size, head, count;
	bool armed, overrun;
	unsigned events; /* taken and not acknowledged */
	bool queued;     /* in its channel's list */
	TAILQ_ENTRY(memory_cq) ready_entry;
	int qps;
};

struct memory_send {
	TAILQ_ENTRY(memory_send) entry;
	struct ibv_send_wr wr;
	struct ibv_sge sges[MEMORY_SGES];
	uint8_t *inlined; /* a copy of inline data */
};

struct memory_recv {
	TAILQ_ENTRY(memory_recv) entry;
	struct ibv_recv_wr wr;
	struct ibv_sge sges[MEMORY_SGES];
};

struct memory_qp {
	struct ibv_qp qp;
	LIST_ENTRY(memory_qp) entry;
	struct ibv_qp_cap cap;
	struct memory_qp *peer; /* NULL: not connected, or destroyed */
	bool lost;              /* it was connected, and its peer is no more */
	struct rdma_cm_id *id;  /* over iWARP: the connection it belongs to */
	TAILQ_HEAD(memory_sends, memory_send) sends;
	TAILQ_HEAD(memory_recvs, memory_recv) recvs;
	unsigned sq_used, rq_used, unsignalled;
	uint8_t rnr_retry;
	uint64_t
		wait_end_us; /* a Send that has no receive, or no peer, fails then; 0: none waits */
	bool wait_rnr;
	unsigned asyncs;      /* events that are not acknowledged */
	uint32_t ece_options; /* what it does beyond the standard */
};

extern pthread_mutex_t memory_lock;
extern struct memory_left memory_left;
extern struct memory_counts memory_counts;

/** memory_is_iwarp - whether the device is one of iWARP. */
bool memory_is_iwarp(void);
/** memory_device_at - return the @i-th device, or NULL behind the last. */
struct memory_device *memory_device_at(unsigned i);
/** memory_context_new - return a new context of @device. */
struct memory_context *memory_context_new(struct memory_device *device);
/** memory_is_dead - return true if the device of @context does not answer any more. */
bool memory_is_dead(const struct ibv_context *context);
/**
 * memory_keeps - return true if an object of @context cannot be destroyed: its device is dead, and libibverbs was not told
 *                (RDMAV_ALLOW_DISASSOC_DESTROY) to free what was the library's all the same
 */
bool memory_keeps(const struct ibv_context *context);
/** memory_misuse - report that the interface was misused. */
void memory_misuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** memory_now_us - the clock of time limits. */
uint64_t memory_now_us(void);

/* Keys (memory_key.c); all with the lock held. */
/** memory_local - where @sge lies, if the region of its key allows @access; NULL if not. */
uint8_t *memory_local(const struct memory_qp *qp, const struct ibv_sge *sge, int access);
/** memory_remote - where the peer of @qp reaches @len bytes at @addr with @rkey for @access; NULL if it may not. */
uint8_t *memory_remote(const struct memory_qp *qp, uint32_t rkey, uint64_t addr, uint64_t len,
		       int access);
/** memory_bind - carry out IBV_WR_BIND_MW. Returns a status. */
enum ibv_wc_status memory_bind(struct memory_qp *qp, const struct ibv_send_wr *wr);
/** memory_invalidate - make a window that is bound to @qp invalid. Returns whether there is one. */
bool memory_invalidate(struct memory_qp *qp, uint32_t rkey);
/** memory_unbind_all - the queue pair is destroyed: no window is bound to it any more. */
void memory_unbind_all(struct memory_qp *qp);

/* Queues (memory_cq.c); with the lock held. */
/** memory_complete - put a completion into its queue, and make an event if one was asked for. */
void memory_complete(struct memory_cq *cq, const struct memory_cqe *cqe);
/** memory_cq_forget - @qp is destroyed: its completions are nobody's, and stay in the queue, as those of siw and rxe do. */
void memory_cq_forget(struct memory_cq *cq, const struct memory_qp *qp);
/** memory_async_forget - @qp is about to be destroyed: events of it that nobody has read are dropped. */
void memory_async_forget(struct memory_qp *qp);
/** memory_async - the device says so of @qp. */
void memory_async(struct memory_qp *qp, enum ibv_event_type type);
/** memory_async_device - the device says so of itself. */
void memory_async_device(struct memory_context *context, enum ibv_event_type type);

/* Queue pairs (memory_qp.c); with the lock held. */
int memory_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int memory_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct memory_qp *memory_qp_find(uint32_t qp_num);
/** memory_qp_join - two queue pairs are each other's peers. */
void memory_qp_join(struct memory_qp *one, struct memory_qp *other);
/** memory_qp_set - put a queue pair into a state, with what follows of it. */
void memory_qp_set(struct memory_qp *qp, enum ibv_qp_state state);
/** memory_qp_clock - let what has waited long enough fail; returns when to look again, 0: never. */
uint64_t memory_qp_clock(uint64_t now_us);
/** memory_cm_qp_failed - over iWARP: a queue pair of this connection is in error, which ends it (memory_cm.c). */
void memory_cm_qp_failed(struct rdma_cm_id *id);
/** memory_cm_removed - the device is removed: its connections and listeners hear of it, and are of no use (memory_cm.c). */
void memory_cm_removed(const struct ibv_context *context);
/** memory_clock_kick - there may be something to look for earlier. */
void memory_clock_kick(void);

#endif
