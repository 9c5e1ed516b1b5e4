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

#define SIM_PROBE_TIMEOUT_US 5000000u /* for the answer to fabric_ep_probe() */

/*
 * What goes wrong, or is scarce. All zero: nothing, and every delivery takes no time. With a seed a dying endpoint
 * completes work requests and unbinds keys in any order that fabric.h allows, and time passes in between.
 */
struct sim_faults {
	uint64_t seed;
	uint32_t max_delay_us; /* each delivery and completion takes a random time up to this */
	unsigned cut_at_step;  /* the network breaks before its n-th step, from 1; 0: never */
	unsigned fail_wr;      /* the n-th work request to be executed fails … */
	enum fabric_status fail_status; /* … with this */
	unsigned fail_bind;             /* the n-th key_bind fails */
	unsigned max_keys; /* that are bound at once by all connectors, or acceptors; 0: no limit */
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
	bool no_late_reads; /* memory must be filled before it is lent */
	bool untold_writes; /* nothing tells what a peer has written: memory is cleared before it is lent, as on verbs */
	unsigned
		lie_one_in; /* one of so many Writes is placed in part or not at all, and completes; 0: none */
	unsigned private_data_behind; /* private data come behind so many bytes, as of a library */
	bool fixed_recvs;             /* a receive that is posted keeps its size */
	bool no_probe;       /* nothing can be sent that would tell whether the peer is there */
	bool watches_itself; /* nobody need ask: it says that it would find out */
	bool late_ports;     /* that a source port is taken is told by closed() */
	bool late_sends; /* done() of fabric_wr.late comes with that of the next that is not late, or after FABRIC_LATE_US */
};

/* What happened; the tests' evidence. */
struct sim_stats {
	unsigned steps;         /* events that the network ran */
	unsigned wrs;           /* work requests executed */
	unsigned binds;         /* keys bound */
	unsigned keys_bound;    /* … that are so still */
	unsigned keys_at[2];    /* … of these, by acceptors and by connectors */
	unsigned keys_refused;  /* … or not, by max_keys */
	unsigned overruns;      /* Sends that found no receive posted */
	unsigned overlong;      /* Sends longer than the receive */
	unsigned access_errors; /* outside of a key, or against its rights */
	unsigned max_reads;     /* most Reads outstanding at once on one endpoint */
	unsigned sends_invalidating;
	unsigned lies;          /* Writes not placed whole, by lie_one_in … */
	unsigned reverse_lies;  /* … of these, by ends that connected */
	uint64_t cleared_bytes; /* by untold_writes */
	unsigned reads_waited;  /* times that a Read had to wait for bytes */
	unsigned sends_late;    /* by late_sends */
	unsigned probes;
};

struct sim_net;

/** sim_net_new - a network on @loop; @faults is copied. Returns NULL without memory. */
struct sim_net *sim_net_new(struct loop *loop, const struct sim_faults *faults);
/** sim_net_free - free a network whose endpoints, fabrics and listeners are gone; accepts NULL. */
void sim_net_free(struct sim_net *net);
/** sim_net_stats - what happened so far. */
const struct sim_stats *sim_net_stats(const struct sim_net *net);
/** sim_net_cut - break every connection now; the endpoints hear of it as LOST. */
void sim_net_cut(struct sim_net *net);
/** sim_net_silence - from now on nothing reaches a peer or completes; closing still works. */
void sim_net_silence(struct sim_net *net);
/**
 * sim_net_alter - call @alter with @arg for each Send before it is delivered
 * @alter: may change the bytes of the Send; NULL: nothing is called any more
 */
void sim_net_alter(struct sim_net *net, void (*alter)(void *arg, uint8_t *send, uint32_t len_bytes),
		   void *arg);
/** sim_net_part - no connection that is up has a network any more: sim_ep_vanish() of every end. */
void sim_net_part(struct sim_net *net);

/** sim_fabric_new - a fabric on @net; its listeners get the net as their config. NULL without memory. */
struct fabric *sim_fabric_new(struct sim_net *net, struct pool *pool);

/**
 * sim_ep_vanish - from now on nothing passes between this established endpoint and its peer
 *
 * Neither end hears of the other's end: to its peer it is a host that was switched off, and the other way round.
 */
void sim_ep_vanish(struct fabric_ep *ep);
/** sim_ep_stop_taking - from now on nothing that is sent to this endpoint is taken; it can still send. */
void sim_ep_stop_taking(struct fabric_ep *ep);
/** sim_ep_stop_taking_sends - the same of Sends and Writes; Reads of its memory go on. */
void sim_ep_stop_taking_sends(struct fabric_ep *ep);

#endif
