/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA device in memory: the functions of libibverbs and librdmacm that the verbs fabric calls,
 * between endpoints of one process.
 *
 * It is preloaded (memory.so), alone or behind the stand-in (standin.so), whose profile and faults
 * then apply to it. STANDIN_MEMORY selects its kind, "roce" or "iwarp"; every address is an address
 * of the device. With STANDIN_DEVICES=2 a second device has the addresses 127.0.1.0 to 127.0.1.255.
 *
 * A work request is executed by the thread that posts it, or by the thread that makes it possible
 * (it posts a receive, or the peer's queue pair comes up). Data are copied; access is checked
 * against keys, bounds, rights, domains and queue pairs; and an access that a device refuses ends
 * both queue pairs. An entry of a send queue becomes free when a completion that covers it has been
 * polled. One lock guards everything. A thread (the clock) handles timeouts, such as for a peer
 * that has gone.
 *
 * A device can be removed while in use (memory_remove.c). Then its calls fail with EIO, nothing
 * completes, and posts have no effect, because the memory to which they are written no longer
 * belongs to the device.
 *
 * At exit a process reports on standard error the objects that it did not destroy ("standin: left:
 * ..."), and its misuses of the interface ("standin: misuse: ..."). With STANDIN_COUNTS in the
 * environment it reports how often completion queues were polled and armed, and how many of their
 * events were read ("standin: counts: ...").
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

/* Numbers of existing objects, for the report at exit. */
struct memory_left {
	int pds, mrs, mws, cqs, qps, channels, ids, event_channels;
};

/* Calls on completion queues so far. */
struct memory_counts {
	unsigned long polls, arms, events;
};

/* An asynchronous event. */
struct memory_async {
	TAILQ_ENTRY(memory_async) entry;
	struct ibv_async_event event;
};

struct memory_device {
	struct ibv_device device;
	struct memory_context *context; /* NULL: removed */
};

/* An open device, until it is removed. Each device has one per process, as in librdmacm. */
struct memory_context {
	struct ibv_context context;
	TAILQ_HEAD(, memory_async) asyncs;
	LIST_HEAD(, memory_channel) channels;
	bool opened; /* opened by the connection manager */
	bool dead;   /* the device no longer answers */
};

struct memory_pd {
	struct ibv_pd pd;
	int users;
};

struct memory_mr {
	struct ibv_mr mr;
	LIST_ENTRY(memory_mr) entry;
	int access;
	int windows;  /* windows bound to it */
	bool invalid; /* invalidated by the peer */
};

struct memory_mw {
	struct ibv_mw mw;
	LIST_ENTRY(memory_mw) entry;
	struct memory_qp *qp; /* its queue pair; NULL: not bound */
	struct memory_mr *mr;
	uint32_t rkey; /* key of the last bind, or as allocated */
	uint64_t addr, len;
	unsigned access;
};

struct memory_channel {
	LIST_ENTRY(memory_channel) entry;
	struct ibv_comp_channel channel;
	int fd; /* the channel's own, even if the stand-in replaced channel.fd */
	TAILQ_HEAD(, memory_cq) ready; /* queues with an unread event */
	int cqs;
};

/* A completion, and the number of queue entries that it frees when polled. */
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
	unsigned events; /* read, but not acknowledged */
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
	bool lost;              /* it was connected, and its peer is destroyed */
	struct rdma_cm_id *id;  /* over iWARP: its connection */
	TAILQ_HEAD(memory_sends, memory_send) sends;
	TAILQ_HEAD(memory_recvs, memory_recv) recvs;
	unsigned sq_used, rq_used, unsignalled;
	uint8_t rnr_retry;
	/* When a Send without a receive or a peer fails; 0: none waits. */
	uint64_t wait_end_us;
	bool wait_rnr;
	unsigned asyncs;      /* unacknowledged events */
	uint32_t ece_options; /* its options of enhanced connection establishment */
};

extern pthread_mutex_t memory_lock;
extern struct memory_left memory_left;
extern struct memory_counts memory_counts;

/** memory_is_iwarp - Returns true if the device is an iWARP device. */
bool memory_is_iwarp(void);
/** memory_device_at - Returns the @i-th device, or NULL after the last. */
struct memory_device *memory_device_at(unsigned i);
/** memory_context_new - Returns a new context of @device. */
struct memory_context *memory_context_new(struct memory_device *device);
/** memory_is_dead - Returns true if the device of @context no longer answers. */
bool memory_is_dead(const struct ibv_context *context);
/**
 * memory_keeps - Returns true if an object of @context cannot be destroyed.
 *
 * That is so if its device is dead and RDMAV_ALLOW_DISASSOC_DESTROY is not set, which has libibverbs
 * free its part anyway.
 */
bool memory_keeps(const struct ibv_context *context);
/** memory_misuse - Reports a misuse of the interface. */
void memory_misuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** memory_now_us - Returns the time of the clock. */
uint64_t memory_now_us(void);

/* Keys (memory_key.c); all with the lock held. */
/** memory_local - Returns the address of @sge if its region allows @access, else NULL. */
uint8_t *memory_local(const struct memory_qp *qp, const struct ibv_sge *sge, int access);
/**
 * memory_remote - Returns the memory that the peer of @qp reaches at @addr with @rkey, or NULL
 * without @access.
 */
uint8_t *memory_remote(const struct memory_qp *qp, uint32_t rkey, uint64_t addr, uint64_t len,
		       int access);
/** memory_bind - Executes IBV_WR_BIND_MW. Returns a status. */
enum ibv_wc_status memory_bind(struct memory_qp *qp, const struct ibv_send_wr *wr);
/** memory_invalidate - Invalidates a window bound to @qp. Returns false if there is none. */
bool memory_invalidate(struct memory_qp *qp, uint32_t rkey);
/** memory_unbind_all - Unbinds all windows of a queue pair being destroyed. */
void memory_unbind_all(struct memory_qp *qp);

/* Queues (memory_cq.c); with the lock held. */
/** memory_complete - Adds a completion to its queue, and raises an event if the queue is armed. */
void memory_complete(struct memory_cq *cq, const struct memory_cqe *cqe);
/**
 * memory_cq_forget - Detaches the completions of the destroyed @qp; they stay in the queue, as with
 * siw and rxe.
 */
void memory_cq_forget(struct memory_cq *cq, const struct memory_qp *qp);
/** memory_async_forget - Drops the unread events of @qp, which is about to be destroyed. */
void memory_async_forget(struct memory_qp *qp);
/** memory_async - Reports an asynchronous event of @qp. */
void memory_async(struct memory_qp *qp, enum ibv_event_type type);
/** memory_async_device - Reports an asynchronous event of the device. */
void memory_async_device(struct memory_context *context, enum ibv_event_type type);

/* Queue pairs (memory_qp.c); with the lock held. */
int memory_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int memory_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct memory_qp *memory_qp_find(uint32_t qp_num);
/** memory_qp_join - Makes two queue pairs each other's peers. */
void memory_qp_join(struct memory_qp *one, struct memory_qp *other);
/** memory_qp_set - Sets the state of a queue pair, with its consequences. */
void memory_qp_set(struct memory_qp *qp, enum ibv_qp_state state);
/** memory_qp_clock - Fails work that has waited too long. Returns when to call again; 0: never. */
uint64_t memory_qp_clock(uint64_t now_us);
/** memory_cm_qp_failed - Ends an iWARP connection whose queue pair is in error (memory_cm.c). */
void memory_cm_qp_failed(struct rdma_cm_id *id);
/**
 * memory_cm_removed - Reports the device's removal to its connections and listeners, and disables
 * them (memory_cm.c).
 */
void memory_cm_removed(const struct ibv_context *context);
/** memory_clock_kick - Makes the clock check for an earlier time limit. */
void memory_clock_kick(void);

#endif
