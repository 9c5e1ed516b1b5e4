/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leg without behaviour of its own. On the test's request it delivers Calls and Replies before
 * they are complete, as config.partial asks of a leg, extends them, and aborts them.
 */
#ifndef TESTS_SIM_STUB_LEG_H
#define TESTS_SIM_STUB_LEG_H

#include "leg/leg.h"

struct stub_leg {
	struct leg leg;
	struct leg_config config;
	struct loop_task task;
	bool open_due;
	bool is_closing, is_closed, is_freed;
	enum leg_close why;
	unsigned opened, calls, replies, faults; /* what it was given */
	uint32_t last_reply_sum;                 /* over all bytes of the Reply: rig_sum() */
	struct exchange_list called;             /* by target_entry: it is to answer these */
	struct exchange_list waiting;            /* by origin_entry: Calls that it gave up */
};

/** stub_leg_init - a leg that the other side is going to use until leg_free(), which frees nothing. */
void stub_leg_init(struct stub_leg *stub, const struct leg_config *config);
/** stub_leg_open - open, in a task: what follows leg_accept(), and what a leg that connects does by itself. */
void stub_leg_open(struct stub_leg *stub);

/**
 * stub_leg_call - give up a Call of which @have_bytes are here
 * @call: all of it; stays the caller's, until it is complete or broken off
 *
 * Returns the exchange, which is good as long as it is not answered.
 */
struct exchange *stub_leg_call(struct stub_leg *stub, const uint8_t *call, uint32_t len_bytes,
			       uint32_t have_bytes);
/** stub_leg_call_grow - so much of the Call is here now. */
void stub_leg_call_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes);
/** stub_leg_answer - give up the Reply to the first Call of `called`; as stub_leg_call(). */
struct exchange *stub_leg_answer(struct stub_leg *stub, const uint8_t *reply, uint32_t len_bytes,
				 uint32_t have_bytes);
/** stub_leg_reply_grow - so much of the Reply is here now; the last time @x is the stub's no more. */
void stub_leg_reply_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes);
/** stub_leg_break - say closing() for @why; closed() follows in a task. */
void stub_leg_break(struct stub_leg *stub, enum leg_close why);

#endif
