/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies in a storm that reach their requester with a header that cannot be used: their Calls fail. */
#ifndef TESTS_SIM_STORM_SPOIL_H
#define TESTS_SIM_STORM_SPOIL_H

#include "tests/sim/storm.h"

/** storm_spoil_some - spoil the next few Replies between the gates; nothing where there is one gate. */
void storm_spoil_some(struct storm *storm);
/** storm_is_spoiled - return true if the Reply to this Call of a client was spoiled; then it is forgotten. */
bool storm_is_spoiled(struct storm *storm, uint32_t xid);

#endif
