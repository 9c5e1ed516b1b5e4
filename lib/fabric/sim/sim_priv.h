/* SPDX-License-Identifier: BSD-3-Clause */
/* The sim fabric's insides: the network's events, endpoints and what runs on them. */
#ifndef FABRIC_SIM_SIM_PRIV_H
#define FABRIC_SIM_SIM_PRIV_H

#include "fabric/sim/sim.h"

struct sim_ep;

/* Something that will happen to, or on behalf of, one endpoint. */
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
	struct sim_event_list events; /* by due_us, then as they came */
	struct sim_ep_list eps;
	struct sim_listener_list listeners;
	uint64_t random;
	uint32_t next_rkey;
	bool silent;
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

enum sim_state {
	SIM_CONNECTING, /* asked; the peer has not answered */
	SIM_INCOMING,   /* adopted; requested() is due */
	SIM_REQUESTED,  /* accept or reject is due */
	SIM_ACCEPTED,   /* established() is due */
	SIM_OPEN,
	SIM_CLOSING, /* fabric_ep_close() was called; what was posted still leaves */
	SIM_DYING,   /* flushed completions and closed() are due */
	SIM_CLOSED,
};

/* Each endpoint's channels: what runs in one channel runs in the order in which it was scheduled. */
enum sim_channel {
	SIM_INBOUND,    /* what is delivered to this endpoint */
	SIM_SEND_DONE,  /* completions of Sends and Writes */
	SIM_READ_START, /* Reads reaching the peer */
	SIM_READ_DONE,  /* completions of Reads */
	SIM_KEYS,       /* keys that become unbound */
	SIM_CHANNELS
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
	unsigned recvs_posted;
	unsigned ord;
	unsigned reads_out;
	bool takes_nothing; /* its peer's work requests stay posted */
	bool broken;        /* a work request failed: the ones behind it are flushed */
	struct fabric_wr_list sends, reads;
	struct sim_key_list keys;
	enum fabric_close why;
};

static inline struct sim_ep *sim_ep_of(struct fabric_ep *ep)
{
	return container_of(ep, struct sim_ep, ep);
}

/* sim_net.c */
uint64_t sim_random(struct sim_net *net);
void sim_schedule(struct sim_ep *ep, struct sim_ep *channel_of, enum sim_channel channel,
		  void (*run)(struct sim_ep *ep, void *arg), void *arg);
void sim_cancel(struct sim_ep *ep);

/* sim_ep.c */
void sim_ep_bury(struct sim_ep *ep, void *arg);
void sim_break(struct sim_ep *ep, enum fabric_close why, enum fabric_close peer_why);

/* sim_wr.c */
int sim_post(struct fabric_ep *ep, struct fabric_wr *wr);
void sim_flush(struct sim_ep *ep);

/* sim_key.c */
int sim_key_bind(struct fabric_ep *ep, struct fabric_key *key);
bool sim_key_unbind(struct fabric_key *key);
void sim_keys_bury(struct sim_ep *ep);
bool sim_key_invalidate(struct sim_ep *ep, uint32_t rkey);
uint8_t *sim_key_reach(struct sim_ep *ep, uint32_t rkey, uint64_t addr, uint32_t len_bytes,
		       unsigned right);

#endif
