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
	unsigned opened, calls, replies, faults; /* Calls passed to it */
	uint32_t last_reply_sum;                 /* over all bytes of the Reply: rig_sum() */
	struct exchange_list called;             /* by target_entry: Calls that it must answer */
	struct exchange_list waiting;            /* by origin_entry: Calls that it delivered */
};

/**
 * stub_leg_init - Initializes a leg that the other side uses until leg_free(), which frees nothing.
 */
void stub_leg_init(struct stub_leg *stub, const struct leg_config *config);
/**
 * stub_leg_open - Opens it, in a task: after leg_accept(), or as a leg that connects does by
 * itself.
 */
void stub_leg_open(struct stub_leg *stub);

/**
 * stub_leg_call - Delivers a Call of which @have_bytes have arrived. @call: all of it; stays the
 * caller's, until it is complete or aborted
 *
 * Returns the exchange, which is valid as long as it is not answered.
 */
struct exchange *stub_leg_call(struct stub_leg *stub, const uint8_t *call, uint32_t len_bytes,
			       uint32_t have_bytes);
/** stub_leg_call_grow - Sets how much of the Call has arrived. */
void stub_leg_call_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes);
/** stub_leg_answer - Delivers the Reply to the first Call of `called`; as stub_leg_call(). */
struct exchange *stub_leg_answer(struct stub_leg *stub, const uint8_t *reply, uint32_t len_bytes,
				 uint32_t have_bytes);
/**
 * stub_leg_reply_grow - Sets how much of the Reply has arrived; when it is complete the stub no
 * longer owns @x.
 */
void stub_leg_reply_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes);
/** stub_leg_break - Calls closing() for @why; closed() follows in a task. */
void stub_leg_break(struct stub_leg *stub, enum leg_close why);

#endif
