/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake device: the calls of libibverbs and librdmacm that the verbs fabric makes, in place of the
 * libraries. It does nothing by itself: the test creates events and completions.
 */
#ifndef TESTS_UNIT_VERBS_FAKE_H
#define TESTS_UNIT_VERBS_FAKE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#define VERBS_FAKE_MAX    512
#define VERBS_FAKE_VENDOR 0x02c9 /* endpoints share a completion queue; with 0 they do not */

/* Calls that can be made to hang. */
enum verbs_fake_call {
	VERBS_FAKE_NO_CALL,
	VERBS_FAKE_QUERY_DEVICE,
	VERBS_FAKE_ALLOC_PD,
	VERBS_FAKE_DEALLOC_PD,
	VERBS_FAKE_REG_MR,
	VERBS_FAKE_DEREG_MR,
	VERBS_FAKE_DEALLOC_MW,
	VERBS_FAKE_CREATE_CQ,
	VERBS_FAKE_DESTROY_CQ,
	VERBS_FAKE_CREATE_QP,
	VERBS_FAKE_MODIFY_QP,
	VERBS_FAKE_DESTROY_QP,
	VERBS_FAKE_DESTROY_ID,
	VERBS_FAKE_CONNECT,
	VERBS_FAKE_ACCEPT,
};

struct verbs_fake_send {
	struct ibv_send_wr wr; /* its pointers must not be followed */
	uint64_t addr;
	uint32_t len_bytes, lkey;
};

struct verbs_fake {
	/* The device's answers. */
	enum ibv_transport_type transport;
	unsigned cap_flags, vendor_id;
	int ndevices;      /* that there are: 1 */
	bool other_device; /* addresses resolve to a second device from now on */
	int connect_errno, accept_errno, resolve_errno;
	_Atomic enum verbs_fake_call blocks; /* blocks this call, until go is posted */
	sem_t go;
	atomic_bool blocked; /* the call is blocked now */
	int modify_errno, establish_errno;
	int post_send_errno,
		post_recv_errno; /* of either sign: what the calls return; -1 is EINVAL in errno */
	unsigned qps_without_memory, /* this many queue pairs are refused with ENOMEM */
		max_inline; /* a queue pair for more is refused; 0: 64 are given, whatever is asked for */
	uint8_t link_layer;                       /* of each port */
	int resolve_ms;                           /* asked for last */
	unsigned addrs_resolved, routes_resolved; /* times asked for */
	struct ibv_ece ece, remote_ece;           /* of the device, of the peer; vendor 0: none */
	bool refuses_relaxed;                     /* ordering */
	int register_errno;    /* of memory: 0, or the errno of its registration */
	int alloc_mw_errno;    /* of a memory window: 0, or the errno of its allocation */
	unsigned max_windows;  /* concurrently; 0: no limit */
	int max_mw;            /* reported limit */
	int max_cqe;           /* reported limit */
	unsigned cqes_refused; /* a completion queue of this many entries is refused; 0: none is */
	int arm_errno, poll_errno; /* of a completion queue */
	struct ibv_cq *cq;         /* whose completions come next: the last created one */
	uint8_t initiator_depth;   /* as the peer answers */
	const void *answer;        /* private data with events of the connection */
	uint8_t answer_bytes;
	uint8_t peer_rnr_retry; /* the peer's request for our queue pair */
	/* The calls that it received. */
	struct sockaddr_storage source;
	struct verbs_fake_send sends[VERBS_FAKE_MAX];
	unsigned nsends;
	struct ibv_recv_wr recvs[VERBS_FAKE_MAX];
	uint32_t recv_bytes[VERBS_FAKE_MAX], recv_lkeys[VERBS_FAKE_MAX];
	uint64_t recv_addrs[VERBS_FAKE_MAX];
	unsigned nrecvs;
	char rejection[160];   /* what it was to carry */
	unsigned window_calls; /* of ibv_alloc_mw() */
	unsigned disconnects, rejects, ids, qps, regions, windows, pds;
	atomic_uint registered; /* regions, ever */
	unsigned access,
		relaxed_refused; /* of the last region; times that relaxed ordering was refused */
	struct rdma_conn_param conn;     /* its pointers must not be followed */
	uint8_t private_data[UINT8_MAX]; /* its private data */
	uint8_t rnr_retry, max_rd_atomic, timeout, min_rnr_timer, traffic_class;
	int rtr_mask;
	uint8_t tos, listen_tos,
		ack_timeout;    /* options of the connection's id, of a listener's; 0: not set */
	bool ack_timeout_early; /* before a route was asked for */
	unsigned notifies;
	bool no_pd; /* allocating a protection domain fails without an errno */
	unsigned inline_asked[4], ninline; /* bytes, by the calls that made queue pairs */
	struct ibv_ece set_ece, local_ece; /* for the queue pair, for the peer */
	unsigned establishes, cqs;
	unsigned polls, arms;                          /* of completion queues */
	int cq_vector;                                 /* of the last completion queue */
	unsigned cq_entries, max_send_wr, max_recv_wr; /* asked for last */
	unsigned opened; /* devices, in addition to those that the connection manager has open */
	unsigned qp_errors, asyncs_acked; /* queue pairs that were put into error; events */
	/* The ids that it made: the connection's, a listener's, a requesting peer's. */
	struct rdma_cm_id *id, *listener_id, *request_id;
	struct ibv_qp *qp;        /* made last */
	enum ibv_qp_type qp_type; /* … of this type */
};
extern struct verbs_fake fake;

#define VERBS_FAKE_MAX_MESSAGE (8u << 20) /* of each port */

/**
 * verbs_fake_reset - Resets to a device of this kind, with memory windows if @cap_flags have them;
 * all counts are 0.
 */
void verbs_fake_reset(enum ibv_transport_type transport, unsigned cap_flags);
/** verbs_fake_release - Releases the blocked call and all later ones. */
void verbs_fake_release(void);
/** verbs_fake_event - Makes the connection manager report this event of the connection. */
void verbs_fake_event(enum rdma_cm_event_type type, int status);
/** verbs_fake_request - Makes a peer request a connection from the listener. */
void verbs_fake_request(void);
/** verbs_fake_done - Completes the work request or Receive @wr_id; @bytes of a Receive. */
void verbs_fake_done(uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes);
/**
 * verbs_fake_async - Makes the device report this event of the last connection, or of its
 * completion queue.
 */
void verbs_fake_async(enum ibv_event_type type);
/**
 * verbs_fake_invalidating - Makes the next completed Receive report that its Send invalidated
 * @rkey.
 */
void verbs_fake_invalidating(uint32_t rkey);

#endif
