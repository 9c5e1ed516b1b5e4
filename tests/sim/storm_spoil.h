/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in a storm that are changed between the gates so that they cannot be used: Replies with a header that does not
 * decode, and Calls whose read chunk is at the position of no data. Their Calls fail.
 *
 * Each Reply is held against its Call, too: a reply chunk that it does not use comes back, or does not, as its dialect has it.
 */
#ifndef TESTS_SIM_STORM_SPOIL_H
#define TESTS_SIM_STORM_SPOIL_H

#include "tests/sim/storm.h"

/** storm_spoil_init - look at each Send between the gates from now on; nothing where there is one gate. */
void storm_spoil_init(struct storm *storm);
/** storm_spoil_some - spoil the next few Replies; nothing where there is one gate. */
void storm_spoil_some(struct storm *storm);
/** storm_misplace_some - move the position of the next few read chunks; nothing where there is one gate. */
void storm_misplace_some(struct storm *storm);
/** storm_is_spoiled - return true if this Call of a client was changed, or its Reply; then it is forgotten. */
bool storm_is_spoiled(struct storm *storm, uint32_t xid);

#endif
