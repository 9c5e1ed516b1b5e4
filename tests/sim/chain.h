/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole path of an RPC in one process, on a loop with a fake clock:
 *
 *	client ══ net ══ TCP leg ─ bridge ─ RDMA leg ══ fabric ══ RDMA leg ─ bridge ─ TCP leg ══ net ══ server
 *	                 └──────── gate 0 ────────┘              └──────── gate 1 ────────┘
 *
 * Each gate is a service of the daemon, with its own pool and budget and the daemon's bridges,
 * upstreams and legs. Only the streams, the fabric and the name server are in memory. A chain of
 * one gate has TCP on both sides of its bridge. A stub leg can replace the client with its leg, or
 * the server with its leg.
 *
 * A tap between each leg and its bridge checks that the leg follows the rules of leg.h.
 */
#ifndef TESTS_SIM_CHAIN_H
#define TESTS_SIM_CHAIN_H

#include "daemon/bridge/bridge.h"
#include "daemon/upstream/leg_factory.h"
#include "tests/lib/sim/sim.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test_budget.h"
#include "tests/sim/chain_end.h"
#include "tests/sim/stub_leg.h"

#define CHAIN_GATES_MAX      2u
#define CHAIN_KEEPALIVE_S    30u
#define CHAIN_CONFIG_PROGRAM 100417u

/* Faults and limits; all zero: none, and two gates between a client and a server. */
struct chain_params {
	unsigned gates; /* 1 or 2; 0: 2 */
	bool stub_client, stub_server;
	bool ddp;                   /* the first gate moves payloads by RDMA */
	unsigned configures;        /* a bit for each gate: it has config_protocol */
	size_t budget_bytes;        /* of each gate; 0: enough */
	uint32_t max_message_bytes; /* of each gate; 0: 4 MiB */
	struct pair_faults client, server;
	/*
	 * The far end of a stream to the server, which the callee owns; NULL: `server` has the only
	 * one.
	 */
	void (*accepted)(void *arg, struct stream *stream);
	void *accepted_arg;
	struct sim_faults fabric;
};

struct chain_gate;

/* The events that a leg has reported to its bridge. */
struct chain_tap {
	struct chain_tap *next;
	struct chain_gate *gate;
	const struct leg_events *events; /* the bridge's, with `arg` */
	void *arg;
	struct leg *leg;
	unsigned opened, calls, replies, more_events, closing, closed;
	enum leg_close why;
};

struct chain_gate {
	struct chain *chain;
	struct buf_pool *pool;
	struct test_budget budget;
	struct freelists freelists;
	struct service_config config;
	struct service service;
	struct worker_env env;
	struct worker_service ws;
	struct loop_task expel;            /* its connection limits ask bridges to close */
	struct chain_tap *client, *server; /* the legs of its latest bridge; NULL: none yet */
	struct chain_tap *taps;            /* of all legs so far */
	unsigned bridges, bridges_gone;
	unsigned compounds; /* whose Replies were forwarded … */
	uint64_t ops, steps,
		wasted_bytes; /* … their operations, and the cost of each one's only walk */
};

struct chain {
	struct chain_params params;
	unsigned ngates;
	struct loop *loop;
	struct pair_net *client_net, *server_net;
	struct sim_net *fabric_net;
	struct fabric_listener *listener;
	struct chain_gate gates[CHAIN_GATES_MAX];
	struct chain_book book;
	struct chain_end client, server;
	struct stub_leg stubs[2]; /* CHAIN_CLIENT, CHAIN_SERVER */
	struct stream *arriving;  /* the far end of the client's stream, until it has its leg */
};

/** chain_new - Creates a chain without connections; @params can be NULL. */
struct chain *chain_new(const struct chain_params *params);
/** chain_connect - Connects the client; its messages are read once the whole chain is up. */
void chain_connect(struct chain *chain);
/** chain_dial - Connects another client; returns its end of the stream. */
struct stream *chain_dial(struct chain *chain);
/** chain_run - Runs the loop for @ms. */
void chain_run(struct chain *chain, unsigned ms);
/**
 * chain_end - Ends and frees the chain
 *
 * Checks that every bridge ended with one reason, every leg with one closing() and one closed(),
 * that no memory is held, and that no Call was answered twice.
 */
void chain_end(struct chain *chain);
/** chain_closes - Returns how many bridges of a gate have closed for @why. */
uint64_t chain_closes(const struct chain *chain, unsigned gate, enum leg_close why);
/** gate_rdma - Returns the counts of a gate's RDMA legs, on both sides. */
struct rdma_leg_counters gate_rdma(const struct chain_gate *gate);
/** gate_tcp - Returns the counts of its TCP legs. */
struct tcp_leg_counters gate_tcp(const struct chain_gate *gate);
/** chain_first, chain_last - Return the gates of the client and the server. */
struct chain_gate *chain_first(struct chain *chain);
struct chain_gate *chain_last(struct chain *chain);

#endif
