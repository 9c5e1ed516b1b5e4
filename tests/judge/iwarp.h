/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges an iWARP connection. */
#ifndef TESTS_JUDGE_IWARP_H
#define TESTS_JUDGE_IWARP_H

#include "tests/judge/book.h"

struct iwarp;

/** iwarp_new - Creates it; @hearing stays the caller's, and must outlive it. */
struct iwarp *iwarp_new(struct hearing *hearing);
void iwarp_free(struct iwarp *iwarp);
/**
 * iwarp_unit - Judges the first MPA frame or FPDU of a side's bytes
 *
 * Returns its length, zero if it is not whole yet, or -1 if the rest of the stream cannot be
 * parsed.
 */
int iwarp_unit(struct iwarp *iwarp, unsigned side, const uint8_t *data, size_t len);
/** iwarp_book - Returns its Calls and Replies. */
const struct book *iwarp_book(const struct iwarp *iwarp);
/** iwarp_open_calls - Returns how many Calls wait for a Reply. */
unsigned iwarp_open_calls(const struct iwarp *iwarp);
/**
 * iwarp_waits - Returns how many messages and RDMA Reads wait for a required message, or for their
 * own end.
 */
unsigned iwarp_waits(const struct iwarp *iwarp);

#endif
