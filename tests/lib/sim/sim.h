/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sim fabric: endpoints in memory for tests, connected by a network on an event loop.
 *
 * It really places data, checks each access against the bounds and rights of its key, completes in
 * the order that fabric.h promises, and never calls back from inside a call. Faults occur at a step
 * that the test or its seed chooses, so each failure can be reproduced.
 *
 * It also checks its user. A Send without a posted Receive, a Send longer than the Receive, and an
 * access outside of a key end the connection as on hardware, and are counted. These errors are
 * assertions: a work request posted twice; a key unbound twice or left bound; more Receives than
 * announced; an endpoint freed early or inside closed().
 */
#ifndef TESTS_LIB_SIM_SIM_H
#define TESTS_LIB_SIM_SIM_H

#include "fabric/fabric.h"

extern const struct fabric_ops sim_fabric_ops;

#define SIM_PROBE_TIMEOUT_US 5000000u /* for the answer to fabric_ep_keepalive() */

/*
 * Faults and limits. All zero: none, and every delivery takes no time. With a seed a failing
 * endpoint completes work requests and unbinds keys in any order that fabric.h allows, and time
 * passes in between.
 */
struct sim_faults {
	uint64_t seed;
	uint32_t max_delay_us; /* each delivery and completion takes a random time up to this */
	unsigned cut_at_step;  /* the network breaks before its n-th step, from 1; 0: never */
	unsigned fail_wr;      /* the n-th work request to be executed fails … */
	enum fabric_status fail_status; /* … with this */
	unsigned fail_bind;             /* the n-th key_bind fails */
	unsigned max_keys; /* bound concurrently by all connectors, or acceptors; 0: no limit */
	unsigned max_ord;  /* Reads outstanding at most, whatever is negotiated; 0: no limit */
	unsigned max_sge;  /* longest gather list; 0: FABRIC_MAX_SGE */
	uint32_t max_key_bytes;      /* longest memory under one key; 0: no limit */
	uint32_t max_transfer_bytes; /* longest Read or Write; 0: no limit */
	bool async_unbind;       /* fabric_key_unbind() returns false and unbound() comes later */
	unsigned hook_at_step;   /* before its n-th step, from 1, the network calls … */
	void (*hook)(void *arg); /* … this */
	void *hook_arg;
	bool shared_keys;   /* keys are not per RPC: remote invalidation must not be offered */
	bool no_send_inv;   /* a Send with Invalidate invalidates nothing */
	bool no_late_reads; /* memory must be filled before it is exposed */
	bool untold_writes; /* no report of what a peer has written: memory is cleared before it is exposed, as on verbs */
	unsigned
		lie_one_in; /* one of so many Writes is placed in part or not at all, and completes; 0: none */
	unsigned private_data_behind; /* private data follow this many bytes, as of a library */
	bool fixed_recvs;             /* a receive that is posted keeps its size */
	bool no_probe;                /* no probe can be sent to detect a lost peer */
	bool watches_itself; /* no probe is needed: the fabric claims that it detects a lost peer */
	bool late_ports;     /* closed() reports that a source port is in use */
	bool late_sends; /* done() of fabric_wr.lazy comes with that of the next that is not late, or after FABRIC_LAZY_US */
};

/* Event counts, for the assertions of tests. */
struct sim_stats {
	unsigned steps;         /* events that the network ran */
	unsigned wrs;           /* work requests executed */
	unsigned binds;         /* keys bound */
	unsigned keys_bound;    /* … still bound */
	unsigned keys_at[2];    /* … of these, by acceptors and by connectors */
	unsigned keys_refused;  /* … or not, by max_keys */
	unsigned overruns;      /* Sends that found no receive posted */
	unsigned overlong;      /* Sends longer than the receive */
	unsigned access_errors; /* outside of a key, or against its rights */
	unsigned max_reads;     /* largest number of concurrent Reads on one endpoint */
	unsigned sends_invalidating;
	unsigned lies;          /* Writes not placed whole, by lie_one_in … */
	unsigned reverse_lies;  /* … of these, by ends that connected */
	uint64_t cleared_bytes; /* by untold_writes */
	unsigned reads_waited;  /* times that a Read had to wait for bytes */
	unsigned sends_late;    /* by late_sends */
	unsigned probes;
};

struct sim_net;

/** sim_net_new - Creates a network on @loop; @faults is copied. Returns NULL without memory. */
struct sim_net *sim_net_new(struct loop *loop, const struct sim_faults *faults);
/** sim_net_free - Frees a network whose endpoints, fabrics and listeners are gone; accepts NULL. */
void sim_net_free(struct sim_net *net);
/** sim_net_stats - Returns the counts so far. */
const struct sim_stats *sim_net_stats(const struct sim_net *net);
/** sim_net_cut - Breaks every connection now; the endpoints report it as LOST. */
void sim_net_cut(struct sim_net *net);
/** sim_net_silence - From now on nothing reaches a peer or completes; closing still works. */
void sim_net_silence(struct sim_net *net);
/**
 * sim_net_alter - Calls @alter with @arg for each Send before it is delivered. @alter can change
 * the bytes of the Send; NULL: no calls any more
 */
void sim_net_alter(struct sim_net *net, void (*alter)(void *arg, uint8_t *send, uint32_t len_bytes),
		   void *arg);
/**
 * sim_net_part - Disconnects the network of all established connections: sim_ep_vanish() of every
 * end.
 */
void sim_net_part(struct sim_net *net);

/**
 * sim_fabric_new - Creates a fabric on @net; its listeners get the net as their config. Returns
 * NULL without memory.
 */
struct fabric *sim_fabric_new(struct sim_net *net, struct buf_pool *pool);

/**
 * sim_ep_vanish - From now on nothing passes between this established endpoint and its peer
 *
 * Neither end learns of the other's end: each sees the other as a host that was switched off.
 */
void sim_ep_vanish(struct fabric_ep *ep);
/**
 * sim_ep_stop_taking - From now on this endpoint accepts nothing that is sent to it; it can still
 * send.
 */
void sim_ep_stop_taking(struct fabric_ep *ep);
/** sim_ep_stop_taking_sends - The same for Sends and Writes only; Reads of its memory continue. */
void sim_ep_stop_taking_sends(struct fabric_ep *ep);

#endif
