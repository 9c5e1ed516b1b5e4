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
	uint32_t first_xid; /* slot i has XIDs that are i above it, modulo the slots */
	struct place *places;
	uint64_t ops; /* in the window */
	struct record_reader reader;
	struct send_queue out;
	/* The Reply that is arriving. */
	uint32_t replying; /* its slot */
	uint32_t verified; /* bytes of its data */
	bool wrong;
	uint64_t now_ns; /* when the parsed bytes were read */
};

/**
 * flow_init - Initializes it as closed; flow_fini() it in any state. Returns false if memory ran
 * out.
 */
bool flow_init(struct flow *flow, struct load *load);
void flow_fini(struct flow *flow);

/** flow_open - Connects, and makes a NULL; load_opened() follows. */
void flow_open(struct flow *flow);
/** flow_close - Closes it; it can be opened again. */
void flow_close(struct flow *flow);
/** flow_call - Queues a Call in @place, which is free; flow_flush() sends it. */
void flow_call(struct flow *flow, uint32_t place, uint64_t due_ns);
void flow_flush(struct flow *flow);
/** flow_event - Handles an epoll event. */
void flow_event(struct flow *flow, uint32_t events);

#endif
