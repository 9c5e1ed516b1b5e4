/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection of a load. A NULL opens it; then it has slots for Calls, each of which waits for
 * its Reply.
 */
#ifndef TESTS_BENCH_FLOW_H
#define TESTS_BENCH_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/record_reader.h"
#include "tests/bench/send_queue.h"

struct load;

struct place {
	uint64_t due_ns, offset;
	uint32_t xid;
	bool waits;
};

struct flow {
	struct load *load;
	int fd; /* -1: closed */
	bool connected, open, closing;
	uint32_t watched;
	uint64_t begun_ns;
	uint32_t first_xid; /* place i has XIDs that are i above it, modulo the places */
	struct place *places;
	uint64_t ops; /* in the window */
	struct record_reader reader;
	struct send_queue out;
	/* The Reply that is coming. */
	uint32_t replying; /* its place */
	uint32_t verified; /* bytes of its data */
	bool wrong;
	uint64_t now_ns; /* when what is looked at was read */
};

/** flow_init - closed; flow_fini() it, whatever became of it. Returns false without memory. */
bool flow_init(struct flow *flow, struct load *load);
void flow_fini(struct flow *flow);

/** flow_open - connect, and make a NULL; load_opened() follows. */
void flow_open(struct flow *flow);
/** flow_close - and be ready to be opened again. */
void flow_close(struct flow *flow);
/** flow_call - put a Call into @place, which is free; flow_flush() sends it. */
void flow_call(struct flow *flow, uint32_t place, uint64_t due_ns);
void flow_flush(struct flow *flow);
/** flow_event - what epoll says of it. */
void flow_event(struct flow *flow, uint32_t events);

#endif
