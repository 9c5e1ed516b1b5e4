/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test bench: RDMA legs on the sim fabric, with stubs that replace the bridge and what is
 * connected to it.
 *
 * The client leg connects and the server leg is adopted. A raw peer (tests/sim/raw.h) can replace
 * either. The first argument of a Call of the rig is the length of its Reply. The stub at the other
 * leg makes that Reply, and the rig checks each byte of it.
 */
#ifndef TESTS_SIM_RIG_H
#define TESTS_SIM_RIG_H

#include <stdio.h>
#include <stdlib.h>

#include "rpcrdma/rdma_leg.h"
#include "tests/lib/sim/sim.h"
#include "tests/lib/test_budget.h"

#define RIG_CALL_MIN  44u /* RPC header and the Reply's length */
#define RIG_REPLY_MIN 24u
#define RIG_MAX_MSG   (1024u * 1024u + 65536u)

/* Aborts if the condition is false, because fuzz targets use it without libcheck. */
#define RIG_ASSERT(cond)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond);   \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct rig;
struct raw;

/* A leg and its stub. */
struct rig_side {
	struct rig *rig;
	struct leg *leg;
	struct rdma_leg_config config;
	struct rdma_leg_counters counters;
	unsigned opened, requested, call_ready, notes, closing, closed;
	uint64_t closing_us;       /* when closing() came */
	size_t waiting_at_closing; /* claims for memory then */
	enum leg_close why;
	int close_errno;
	char detail[LEG_DETAIL_BYTES];
	/* Calls made here. */
	struct exchange_list waiting; /* by origin_entry, with the origin's reference */
	unsigned answered, wrong;
	enum exchange_fault last_fault;
	unsigned faults;
	uint32_t last_reply_bytes;
	uint8_t last_reply[64];
	/* Calls that arrived here; answered immediately unless `hold`. */
	bool hold;
	enum exchange_fault answer_fault;
	unsigned calls;
	unsigned more_events; /* of these, where config.leg.partial */
	uint32_t last_call_bytes, last_reply_max;
	uint32_t last_xid;
	uint32_t last_call_sum;    /* over all bytes of the Call that were here */
	struct exchange_list held; /* by target_entry, with the callee's reference */
	/* Replaces the stub if set: answers a Call; parses a Reply. */
	void (*on_call)(struct rig_side *side, struct exchange *x);
	void (*on_reply)(struct rig_side *side, const struct exchange *x);
};

struct rig {
	struct loop *loop;
	struct buf_pool *pool;
	struct test_budget budget;        /* the server's, and of what is called there */
	struct test_budget client_budget; /* two ends in one budget could wait for each other */
	struct sim_net *net;
	struct fabric *fabric;
	struct fabric_listener *listener;
	struct rig_side client, server;
	struct raw *raw_server; /* accepts the connection instead of the server leg */
	bool reject;            /* close the server leg when it asks */
	bool never_accept;
	bool drop; /* the incoming connection is ignored */
	uint32_t next_xid;
};

extern const struct sockaddr_storage rig_addr;
/* Largest buffer of the pools to come; each test that lowers it sets it back. */
extern size_t rig_pool_bytes;
#define RIG_POOL_BYTES (4u * 1024u * 1024u)

/** rig_new - Creates a rig without connections; @faults can be NULL. */
struct rig *rig_new(const struct sim_faults *faults);
/** rig_connect - Makes the client leg; the outcome comes with rig_run(). */
void rig_connect(struct rig *rig);
/** rig_run - Runs the loop for ten seconds. */
void rig_run(struct rig *rig);
/** rig_run_for - Runs it for @us. */
void rig_run_for(struct rig *rig, uint64_t us);
/** rig_open - Calls rig_connect() and rig_run(); both legs must be open then. */
struct rig *rig_open(const struct sim_faults *faults);
/** rig_end - Closes what is open, checks that nothing leaked, and frees all. */
void rig_end(struct rig *rig);

/**
 * rig_call - make a Call on a side's leg
 * @call_bytes:  its length, at least RIG_CALL_MIN
 * @reply_bytes: of the Reply to ask for, at least RIG_REPLY_MIN
 * @reply_max:   what the Call says that its Reply can be at most
 *
 * Returns its XID.
 */
uint32_t rig_call(struct rig_side *side, uint32_t call_bytes, uint32_t reply_bytes,
		  uint32_t reply_max);
/** rig_look - Parses the facts of a Call from its bytes, as the leg that receives it does. */
void rig_look(struct rig_side *side, struct exchange *x);
/**
 * rig_give - Passes an exchange whose Call, header and reply_max_bytes are set to the side's leg.
 */
void rig_give(struct rig_side *side, struct exchange *x);
/** rig_answer_held - Answers the Calls that `hold` kept. */
void rig_answer_held(struct rig_side *side);

/**
 * rig_call_in_pieces - Makes a Call of which only the first @have_bytes have arrived; the rest as
 * rig_call()
 *
 * The missing bytes are garbage until rig_call_grow(). Returns the exchange; it is the side's until
 * it is answered or the leg has closed.
 */
struct exchange *rig_call_in_pieces(struct rig_side *side, uint32_t call_bytes,
				    uint32_t reply_bytes, uint32_t reply_max, uint32_t have_bytes);
/** rig_call_grow - Sets how much of the Call has arrived, and notifies the side's leg. */
void rig_call_grow(struct rig_side *side, struct exchange *x, uint32_t have_bytes);
/**
 * rig_answer_in_pieces - Answers the only held Call with a Reply of which @have_bytes have arrived
 *
 * Returns the exchange, with a reference for the caller: exchange_put().
 */
struct exchange *rig_answer_in_pieces(struct rig_side *side, uint32_t have_bytes);
/** rig_reply_grow - Sets how much of the Reply has arrived, and notifies the side's leg. */
void rig_reply_grow(struct rig_side *side, struct exchange *x, uint32_t have_bytes);

/** rig_fill_call - Writes a Call of @len bytes that asks for a Reply of @reply_bytes. */
void rig_fill_call(uint8_t *to, uint32_t len, uint32_t xid, uint32_t reply_bytes);
/** rig_fill_reply - Writes the Reply that the stub makes. */
void rig_fill_reply(uint8_t *to, uint32_t len, uint32_t xid);
/** rig_sum - Returns a checksum that depends on the order of the bytes. */
uint32_t rig_sum(const uint8_t *data, size_t len);

#endif
