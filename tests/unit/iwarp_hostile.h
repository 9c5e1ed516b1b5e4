/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: an owner of an iwarp engine that exposes memory in plots, invalidates it as soon as it
 * can, and exposes it again.
 *
 * A second buffer has the data that must be in the memory after the peer's messages, as far as that
 * is defined. Invalidated memory is immediately filled with a pattern, so that later writes are
 * detected.
 */
#ifndef TESTS_UNIT_IWARP_HOSTILE_H
#define TESTS_UNIT_IWARP_HOSTILE_H

#include "tests/unit/iwarp_pair.h"

#define PLOTS      16u
#define PLOT_BYTES 120000u

enum plot_use {
	PLOT_OWN,      /* not exposed */
	PLOT_WRITE,    /* by a key, for RDMA Writes only */
	PLOT_ANY,      /* by a key, for RDMA Reads too */
	PLOT_RESPONSE, /* a Read must fill it */
};

struct plot {
	enum plot_use use;
	bool over;      /* the peer has sent its last data for it: nothing more can be sent there */
	unsigned order; /* among all that were ever exposed */
	uint32_t len_bytes;
	struct fabric_key key;
	struct side_wr read;
	/* The fields of the Read Request. */
	uint32_t sink_stag;
	uint64_t sink_to;
};

extern struct plot plots[PLOTS];

static inline uint32_t roll(struct iwarp_random *random, uint32_t sides)
{
	return (uint32_t)(iwarp_random_next(random) % sides);
}

/** plots_start - Gives plots to the responder's owner. */
void plots_start(void);
/** plots_stop - Invalidates all exposed plots, and flushes Reads without an answer. */
void plots_stop(void);
/** plots_lend - Exposes some of the other plots, each for any use. */
void plots_lend(struct iwarp_random *random);
/** plot_expect - Records that the peer sends these bytes there. */
void plot_expect(const struct plot *plot, uint32_t at, const uint8_t *bytes, uint32_t len_bytes);
/** plot_take_back - Unbinds a key; the peer's data must be there. */
void plot_take_back(struct plot *plot);
/** plot_at - Returns the plot that contains this memory, or NULL. */
struct plot *plot_at(const uint8_t *mem);
/**
 * plot_holds - Returns whether the bytes from @mem on, which begin in it, lie in its exposed part.
 */
bool plot_holds(const struct plot *plot, const uint8_t *mem, size_t len_bytes);
/** plots_check - Checks every byte of all plots. */
void plots_check(void);

#endif
