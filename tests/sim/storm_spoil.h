/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes messages of a storm between the gates so that they are unusable: Replies whose header
 * does not decode, and Calls whose read chunk is at a position without data. Their Calls fail.
 *
 * Also compares each Reply with its Call: the dialect decides whether an unused reply chunk is
 * returned.
 */
#ifndef TESTS_SIM_STORM_SPOIL_H
#define TESTS_SIM_STORM_SPOIL_H

#include "tests/sim/storm.h"

/** storm_spoil_init - Parses each Send between the gates from now on; does nothing with one gate. */
void storm_spoil_init(struct storm *storm);
/** storm_spoil_some - Spoils the next few Replies; does nothing with one gate. */
void storm_spoil_some(struct storm *storm);
/**
 * storm_misplace_some - Moves the position of the next few read chunks; does nothing with one gate.
 */
void storm_misplace_some(struct storm *storm);
/**
 * storm_is_spoiled - Returns true if this Call of a client was changed, or its Reply, and forgets
 * it.
 */
bool storm_is_spoiled(struct storm *storm, uint32_t xid);

#endif
