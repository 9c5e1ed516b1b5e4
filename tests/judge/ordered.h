/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the judged streams in order for tshark. tshark loses its place where segments were
 * retransmitted in other pieces, and follows only one of several RPCs in a segment. So each FPDU or
 * record is written in segments of its own. The contents of a connection become known as it
 * proceeds: at the end, connections that tshark cannot read are removed.
 */
#ifndef TESTS_JUDGE_ORDERED_H
#define TESTS_JUDGE_ORDERED_H

#include <stddef.h>
#include <stdint.h>

#include "tests/judge/tcp.h"

struct ordered;

/** ordered_open - Creates the file; NULL on failure. @path stays the caller's. */
struct ordered *ordered_open(const char *path);
/** ordered_handshake - Begins a connection. */
void ordered_handshake(struct ordered *ordered, const struct tcp_conn *conn, uint64_t at_us);
/**
 * ordered_unit - Writes an FPDU or record of @side; @written counts the bytes of each side in the
 * file.
 */
void ordered_unit(struct ordered *ordered, const struct tcp_conn *conn, uint64_t written[2],
		  unsigned side, const uint8_t *data, size_t len, uint64_t at_us);
/** ordered_leave_out - Removes a connection again. */
void ordered_leave_out(struct ordered *ordered, const struct tcp_conn *conn);
/** ordered_close - Completes and frees the file; returns 0 or a negative errno. */
int ordered_close(struct ordered *ordered);

#endif
