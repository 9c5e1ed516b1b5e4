/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test bench for bridges without libevent, sockets or name servers.
 *
 *	client ── net `front` ── bridge ─┬─ net `back` ──── server
 *	                                 └─ net `verbs` ─── the same server
 *
 * Client and server are RDMA legs, each with a stub on its other side. `back` is the service's
 * fabric instead of iwarp. The test chooses the result of resolving a name, and the time. Stub legs
 * that do nothing by themselves can replace the client, and the legs to the server.
 */
#ifndef TESTS_SIM_BRIDGE_BENCH_H
#define TESTS_SIM_BRIDGE_BENCH_H

#include "daemon/bridge/bridge.h"
#include "daemon/service/worker_service.h"
#include "daemon/upstream/leg_factory.h"
#include "rpcrdma/rdma_leg.h"
#include "tests/lib/sim/sim.h"
#include "tests/lib/test_budget.h"

#define BENCH_ADDRS_MAX 4u
#define BENCH_STUBS_MAX 4096u

/* A leg that acts only on the test's request. */
struct stub {
	struct leg leg;
	struct leg_config config;
	struct connect_attempt attempt; /* of one that connects */
	bool accepted, closing, freed;
	enum leg_close closed_for; /* by leg_close() */
	unsigned close_calls, calls, replies, more_events, pauses;
	struct exchange *last_call; /* that it was given, with its reference */
	unsigned end_looks;         /* leg_check_peer_close() */
	struct loop_task *hears;    /* called then; NULL: nothing */
	struct sockaddr_storage local;
	const struct tls_peer *tls; /* of leg_info */
	uint32_t tls_answer_bytes;
	uint64_t bytes_sent, bytes_received;
	uint64_t bytes_taken; /* of those sent, reported after stub_tells_taken() */
};

/* An RDMA peer of the bridge. */
struct bench_end {
	struct bench *bench;
	struct leg *leg;
	struct rdma_leg_config config;
	struct rdma_leg_counters counters;
	unsigned opened, calls, answered, wrong, closed;
	enum leg_close why;
	struct exchange_list waiting; /* Calls made here, by origin_entry */
};

struct bench {
	struct loop *loop;
	struct buf_pool *pool;
	struct test_budget budget, client_budget, server_budget;
	struct sim_net *front, *back, *verbs;
	struct fabric *client_fabric, *front_fabric, *server_fabric, *server_verbs;
	struct fabric_listener *front_listener, *back_listener, *verbs_listener;
	struct service_config config;
	struct service service;
	struct worker_env env;
	struct worker_service ws;
	struct loop_task expel;
	struct bench_end client, server;
	uint32_t next_xid;
	unsigned client_addr; /* that clients come from: that of bench_addr(), at first 99 */
	uint16_t client_port; /* that clients come from; 0: each from one of its own */
	bool server_refuses, verbs_refuses;  /* the server's listeners */
	unsigned on_back, on_verbs;          /* connections that these two saw */
	unsigned bridges_made, bridges_gone; /* the last one made has this number */
	/* The addresses of the server's name; none: no such name. */
	struct sockaddr_storage addrs[BENCH_ADDRS_MAX];
	size_t naddrs;
	bool resolver_silent, resolver_fails;
	struct bench_query *query; /* that runs; NULL: none does */
	/* Stub legs, in the order in which they were made. */
	bool stub_client, stub_server;
	unsigned nstubs, connect_fails; /* connect_fails: that many attempts fail at once */
	int connect_error;              /* … for this; 0: -EAFNOSUPPORT */
	struct stub *stubs[BENCH_STUBS_MAX];
};

/* What goes wrong on each net; NULL: nothing. */
struct bench_faults {
	const struct sim_faults *front, *back, *verbs;
};

/**
 * bench_new - Creates a service rdma:// to iwarp://, whose server has the address bench_addr(0).
 */
struct bench *bench_new(const struct bench_faults *faults);
/** bench_connect_by - Sets the transport of its server's address; before any client connects. */
void bench_connect_by(struct bench *bench, enum transport transport);
#define BENCH_SECOND 50u /* of bench_addr(): the address of the second server */
/**
 * bench_add_server - Adds a second server to the service, with connect_timeout_s = 2; before any
 * client connects.
 */
void bench_add_server(struct bench *bench);
/**
 * bench_add_mount - Gives MOUNT an address of its own at the server; before any client connects.
 */
void bench_add_mount(struct bench *bench);
/**
 * bench_end - Closes what is open, checks that nothing leaked and that each bridge had one reason,
 * and frees all.
 */
void bench_end(struct bench *bench);
/**
 * bench_addr - Returns an address. The server listens at number 0; nothing listens at the others.
 */
struct sockaddr_storage bench_addr(unsigned i);
/** bench_connect - Connects the client; the outcome comes with bench_run(). */
void bench_connect(struct bench *bench);
/** bench_open - Connects the client; its bridge is open within 100 ms. */
void bench_open(struct bench *bench);
/** bench_incoming - Accepts a stub client; its leg is the next of `stubs`. */
struct stub *bench_incoming(struct bench *bench);
/** bench_stub_call - Delivers a Call with this XID from a stub. */
void bench_stub_call(struct bench *bench, struct stub *stub, uint32_t xid);
/** bench_client_call - Sends a TCP client's first byte, and its first Call. */
void bench_client_call(struct bench *bench, struct stub *client, uint32_t xid);
/** bench_run - Runs the loop for @ms. */
void bench_run(struct bench *bench, unsigned ms);
/** bench_resolve - Makes a silent resolver answer now. */
void bench_resolve(struct bench *bench);
/** bench_bridge - Returns the only bridge; NULL if it is gone. */
struct bridge *bench_bridge(struct bench *bench);
/** bench_state - Returns the name of its state; "gone" without one. */
const char *bench_state(struct bench *bench);
/** bench_closes - Returns how many bridges closed for any reason. */
uint64_t bench_closes(const struct bench *bench);
/** bench_call - Makes a Call from one end, whose Reply has @reply_bytes. */
void bench_call(struct bench_end *end, uint32_t call_bytes, uint32_t reply_bytes);

/** bench_stub - Returns stub leg number @i. */
struct stub *bench_stub(struct bench *bench, unsigned i);
/**
 * stub_tells_taken - Makes the stub report how much of what it sent was acknowledged:
 * `bytes_taken`, at first nothing.
 */
void stub_tells_taken(struct stub *stub);
/**
 * stub_closing, stub_over - Call closing(); call closed(), after which the owner frees the stub.
 */
void stub_closing(struct stub *stub, enum leg_close why, const char *detail);
void stub_over(struct stub *stub);
/** stub_fail - Calls both. */
void stub_fail(struct stub *stub, enum leg_close why, const char *detail);

#endif
