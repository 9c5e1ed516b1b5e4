/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configures the gates of a storm. Each seed selects a cell of a matrix of four dialects by five
 * rows of features; its other choices are random. Features that a dialect does not have are
 * requested too, and must not be used.
 *
 *	             version one, rfc8166   version one, draft03   version two   version two, reverse chunks
 *	aligned      seed 1                 2                      3             4
 *	read chunk   5                      6                      7             8
 *	configured   9                      10                     11            12
 *	sizes        13                     14                     15            16
 *	all          17                     18                     19            20
 *
 * Seeds 21 to 25 have one gate, with TCP on both sides. Then the matrix repeats. One in three seeds
 * has RDMA peers that claim more than they have written, in both directions (two in three with
 * reverse chunks). One in three has a fabric that does not report which bytes were written.
 */
#ifndef TESTS_SIM_STORM_PLAN_H
#define TESTS_SIM_STORM_PLAN_H

#include "tests/sim/chain.h"
#include "tests/sim/storm_rpc.h"

#define STORM_CELLS 20u
#define STORM_LANDING_BYTES                                                                        \
	(1024u * 1024u) /* bytes that a client leaves for a Reply by read chunk */

#define STORM_DIALECTS(X)                                                                          \
	X(RFC8166, "rfc8166")                                                                      \
	X(DRAFT03, "draft03")                                                                      \
	X(V2, "version two")                                                                       \
	X(V2_REVERSE, "version two, reverse chunks")                                               \
	X(TCP_ONLY, "TCP only")

enum storm_dialect {
#define STORM_DIALECT_ENUM(name, text) STORM_##name,
	STORM_DIALECTS(STORM_DIALECT_ENUM) STORM_DIALECT_COUNT
#undef STORM_DIALECT_ENUM
};

struct storm_plan {
	enum storm_dialect dialect;
	bool aligned;    /* RDMA_MSGP */
	bool lent;       /* Replies for which a client leaves too little space */
	bool configured; /* the configuration program */
	bool sizes;      /* receives that become larger */
	bool lies;       /* some Writes are not placed, or partly, and still claimed */
	bool untold;     /* no report of what was written: memory is cleared instead */
	uint64_t reverse_timeout_us;
	struct storm_traffic traffic;
};

/** storm_plan_make - Makes the plan of a seed; *@random makes the choices. */
void storm_plan_make(struct storm_plan *plan, uint64_t seed, uint64_t *random);
/**
 * storm_plan_chain - Creates a chain by the plan; calls @accepted for each connection to the
 * server.
 */
struct chain *storm_plan_chain(struct storm_plan *plan, uint64_t *random,
			       void (*accepted)(void *arg, struct stream *stream), void *arg);
/** storm_dialect_name - Returns the dialect's name for people. */
const char *storm_dialect_name(enum storm_dialect dialect);

#endif
