/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: two engines connected so that everything sent arrives. */
#ifndef TESTS_UNIT_IWARP_PAIR_H
#define TESTS_UNIT_IWARP_PAIR_H

#include "tests/unit/iwarp_side.h"

/* The initiator, the responder. */
extern struct iwarp_side a, b;

/* Parameters that vary from run to run. */
struct iwarp_pair_variant {
	bool crc_a, crc_b;
	enum iwarp_fpdu fpdu;
	unsigned mss_bytes;
	uint64_t seed; /* 0: as much together as possible */
};

/** iwarp_pair_start - Sets both up and opens them. */
void iwarp_pair_start(const struct iwarp_pair_variant *v);
/**
 * iwarp_pair_hello - Sends the initiator's first Send, before which the responder must not send:
 * RFC 5044 section 7.1.
 */
void iwarp_pair_hello(uint64_t seed);
/**
 * iwarp_pair_stop - Checks that each has received what the other sent, and neither logged a note.
 */
void iwarp_pair_stop(void);

#endif
