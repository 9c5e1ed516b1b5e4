/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture for legs whose messages arrive in pieces. */
#ifndef TESTS_SIM_PIECES_H
#define TESTS_SIM_PIECES_H

#include "tests/lib/fake_nfs.h"
#include "tests/sim/raw.h"

/* The longest message that goes inline where both ends have 4096 bytes. */
#define INLINE_MAX (4096u - 28u)

extern const uint8_t pd_4096[8];

extern struct rig *rig;
extern struct raw *raw; /* the hand-made peer, or NULL */

/** pieces_open_pair - Opens two connected legs. */
void pieces_open_pair(void);
/** pieces_end - Ends everything and checks that nothing leaked. */
void pieces_end(void);
/** sends_waiting - Returns the number of Sends that the hand-made peer has received and not read. */
unsigned sends_waiting(void);
/**
 * next_piece - Returns how many bytes are available next: byte by byte at first, then in larger
 * steps, to one byte before the end.
 */
uint32_t next_piece(uint32_t have, uint32_t len);
/**
 * expect_broken_off - Closes the leg and checks that nothing more is sent and the connection ends
 * immediately.
 */
void expect_broken_off(struct rig_side *side);

#endif
