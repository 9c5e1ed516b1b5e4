/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private definitions of the sim fabric: the network's events, endpoints, and their work. Each file
 * calls the files above it:
 *
 *	sim_net.c  the network, its events, and the end of a connection
 *	sim_key.c  keys
 *	sim_wr.c   work requests
 *	sim_ep.c   connections: set-up and close
 *	sim.c      the fabric and its listeners
 */
#ifndef TESTS_LIB_SIM_SIM_PRIV_H
#define TESTS_LIB_SIM_SIM_PRIV_H

#include "base/state_machine.h"
#include "fabric/posted_recvs.h"
#include "tests/lib/sim/sim.h"

struct sim_ep;

/* An event that will happen to an endpoint, or on its behalf. */
struct sim_event {
	TAILQ_ENTRY(sim_event) entry;
	uint64_t due_us;
	struct sim_ep *ep;
	void (*run)(struct sim_ep *ep, void *arg);
	void *arg;
};
TAILQ_HEAD(sim_event_list, sim_event);
TAILQ_HEAD(sim_ep_list, sim_ep);
TAILQ_HEAD(sim_listener_list, sim_listener);
TAILQ_HEAD(sim_key_list, fabric_key);

struct sim_net {
	struct loop *loop;
	struct loop_timer *timer;
	struct sim_faults faults;
	struct sim_stats stats;
	struct sim_event_list events; /* by due_us, then in order of arrival */
	struct sim_ep_list eps;
	struct sim_listener_list listeners;
	uint64_t random;
	uint32_t next_rkey;
	uint16_t next_port;
	bool silent;
	void (*alter)(void *arg, uint8_t *send, uint32_t len_bytes);
	void *alter_arg;
};

struct sim_listener {
	struct fabric_listener listener;
	TAILQ_ENTRY(sim_listener) entry;
	struct sim_net *net;
	struct sockaddr_storage addr;
	bool paused;
	void (*incoming)(void *arg, struct fabric_incoming *in);
	void *arg;
};

struct sim_incoming {
	struct fabric_incoming in;
	struct sim_ep *from; /* NULL once it has gone */
};

struct sim_fabric {
	struct fabric fabric;
	struct sim_net *net;
};

#define SIM_STATES(X)                                                                              \
	X(SIM_CONNECTING, "connecting", "the peer's answer", TO(SIM_OPEN) | TO(SIM_DYING))         \
	X(SIM_INCOMING, "incoming", "requested() to be told", TO(SIM_REQUESTED) | TO(SIM_DYING))   \
	X(SIM_REQUESTED, "requested", "the owner to accept or reject",                             \
	  TO(SIM_ACCEPTED) | TO(SIM_DYING))                                                        \
	X(SIM_ACCEPTED, "accepted", "established() to be told", TO(SIM_OPEN) | TO(SIM_DYING))      \
	X(SIM_OPEN, "open", "either end to close, or a fault", TO(SIM_CLOSING) | TO(SIM_DYING))    \
	X(SIM_CLOSING, "closing", "what was posted to leave", TO(SIM_DYING))                       \
	X(SIM_DYING, "dying", "flushed completions, unbound() and closed()", TO(SIM_CLOSED))       \
	X(SIM_CLOSED, "closed", "nothing any more", 0)
STATE_ENUM(sim_state, SIM_STATES);
extern const struct state_table sim_ep_states;

/*
 * The channels of an endpoint. The events of a channel run in the order in which they were
 * scheduled.
 */
enum sim_channel {
	SIM_INBOUND,    /* what is delivered to this endpoint */
	SIM_SEND_DONE,  /* completions of Sends and Writes */
	SIM_READ_START, /* Reads reaching the peer */
	SIM_READ_DONE,  /* completions of Reads */
	SIM_KEYS,       /* keys that become unbound */
	SIM_PROBES,     /* its probe, and the result */
	SIM_LATE,       /* Sends whose completion is late */
	SIM_CHANNELS
};

/* State of a Read: wr->priv[1]. */
enum sim_read_stage {
	SIM_READ_POSTED,   /* waits for one of the peer's slots */
	SIM_READ_ASKED,    /* on its way to the peer */
	SIM_READ_ARRIVED,  /* to be answered, after those before it, as its bytes are there */
	SIM_READ_FAILED,   /* to be completed in error, after those before it */
	SIM_READ_ANSWERED, /* its completion is on its way */
};

struct sim_ep {
	struct fabric_ep ep;
	TAILQ_ENTRY(sim_ep) entry;
	struct sim_net *net;
	struct sim_ep *peer;
	struct sim_incoming *incoming;
	enum sim_state state;
	struct fabric_ep_params params;
	struct sockaddr_storage local, remote;
	uint64_t last_due_us[SIM_CHANNELS];
	struct posted_recvs recvs;
	unsigned ird, ord;
	unsigned reads_out;
	bool connects;       /* its port is its own */
	bool takes_nothing;  /* its peer's work requests stay posted */
	bool takes_no_sends; /* … except Reads */
	bool vanished;       /* nothing passes between it and its peer, not even the end */
	bool probing;        /* a probe of it is out */
	bool telling;        /* closed() is being called */
	bool awaits_key;     /* key_free() is due */
	unsigned own_keys;   /* … and returning probes are not for it */
	bool broken;         /* a work request failed: the following ones are flushed */
	struct fabric_wr_list sends, reads;
	struct sim_key_list keys;
	uint64_t owner; /* by buf_pool_owner_new(); 0: not needed yet */
	enum fabric_close why;
	uint8_t rejection[FABRIC_MAX_REJECT_DATA]; /* REFUSED: the peer's private data */
	size_t rejection_bytes;
	/* Given by sim_ep.c: the last event, which flushes, unbinds and calls closed(). */
	void (*die)(struct sim_ep *ep, void *arg);
};

static inline struct sim_ep *sim_ep_of(struct fabric_ep *ep)
{
	return container_of(ep, struct sim_ep, ep);
}

/* sim_net.c */
uint64_t sim_random(struct sim_net *net);
void sim_state_set(struct sim_ep *ep, enum sim_state state);
/* Returns whether nothing more can be posted: it has ended, or is about to. */
bool sim_ep_gone(const struct sim_ep *ep);
/* Returns whether the bytes that it sends reach its peer and are accepted. */
bool sim_ep_reaches(const struct sim_ep *ep);
void sim_schedule(struct sim_ep *ep, struct sim_ep *channel_of, enum sim_channel channel,
		  void (*run)(struct sim_ep *ep, void *arg), void *arg);
/* The same, after exactly @delay_us. */
void sim_schedule_after(struct sim_ep *ep, struct sim_ep *channel_of, enum sim_channel channel,
			uint64_t delay_us, void (*run)(struct sim_ep *ep, void *arg), void *arg);
/* End one endpoint; end both. Their owners learn of it in separate events. */
void sim_kill(struct sim_ep *ep, enum fabric_close why);
void sim_break(struct sim_ep *ep, enum fabric_close why, enum fabric_close peer_why);

/* sim_wr.c */
int sim_post(struct fabric_ep *ep, struct fabric_wr *wr);
void sim_key_ready(struct fabric_key *key);
bool sim_key_starves(const struct fabric_key *key);
bool sim_flush_one(struct fabric_wr_list *list);

/* sim_ep.c: the operations of fabric.h. */
int sim_connect(struct fabric *fabric, const struct sockaddr *addr,
		const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		void *arg, struct fabric_ep **out);
int sim_adopt(struct fabric *fabric, struct fabric_incoming *in,
	      const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
void sim_incoming_drop(struct fabric_incoming *in, const void *private_data, size_t len_bytes);
int sim_accept(struct fabric_ep *ep, const struct fabric_ep_params *params);
void sim_reject(struct fabric_ep *ep, const void *private_data, size_t len_bytes);
void sim_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info);
void sim_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);
unsigned sim_recv_resize(struct fabric_ep *ep, uint32_t size_bytes);
int sim_probe(struct fabric_ep *ep);
void sim_close(struct fabric_ep *ep);
void sim_abort(struct fabric_ep *ep);
void sim_ep_free(struct fabric_ep *ep);

/* sim_key.c */
int sim_key_bind(struct fabric_ep *ep, struct fabric_key *key);
bool sim_key_unbind(struct fabric_key *key);
bool sim_key_await(struct fabric_ep *ep, unsigned own);
/* Returns whether a Read of this key has arrived and is not answered. */
bool sim_key_is_read(const struct sim_ep *ep, const struct fabric_key *key);
/* A Read of the peer waits for bytes of this key; it has been answered. */
void sim_key_unfilled(struct sim_ep *ep, uint32_t rkey);
void sim_key_answered(struct sim_ep *ep, uint32_t rkey);
/* Calls unbound() of one key for which it is due. Returns false if there is none. */
bool sim_key_bury(struct sim_ep *ep);
bool sim_key_invalidate(struct sim_ep *ep, uint32_t rkey);
/* Handles @len_bytes placed at @mem, which sim_key_reach() returned. */
void sim_key_written(struct sim_ep *ep, uint32_t rkey, const uint8_t *mem, uint32_t len_bytes);
uint8_t *sim_key_reach(struct sim_ep *ep, uint32_t rkey, uint64_t addr, uint32_t len_bytes,
		       unsigned right, uint32_t *ready_bytes);

#endif
