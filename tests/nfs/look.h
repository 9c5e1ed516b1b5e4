/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses Calls for tests: whole, in pieces, and as they arrive. */
#ifndef TESTS_NFS_LOOK_H
#define TESTS_NFS_LOOK_H

#include "nfs/nfs.h"
#include "tests/nfs/spec.h"

/* A Call in memory, and the limits of its Reply. */
struct look {
	const uint8_t *msg;
	uint32_t len_bytes;
	uint32_t limit_bytes;
	const struct nfs_sessions *sessions; /* NULL: none */
};

/**
 * look_header - Decodes the header of a Call and begins its facts; returns false if it does not
 * decode.
 */
bool look_header(const struct look *look, struct call_info *call_info);

/** look_whole - Finds the facts of a Call in one piece. */
void look_whole(const struct look *look, struct call_info *call_info);

/**
 * look_payloads - The same, and finds the payloads among its arguments
 *
 * Returns their number, or -EBADMSG if the Call cannot be parsed. Aborts if the facts differ from
 * what the sink received.
 */
int look_payloads(const struct look *look, struct call_info *call_info, struct spec_items *items);

/** look_same - Returns whether two walks have found the same, however they did. */
bool look_same(const struct call_info *a, const struct call_info *b);

/** look_at_msg - Returns the parser's input for a message of nfs_msg_call(). */
struct look look_at_msg(const struct nfs_msg *call, uint32_t limit_bytes);

/** look_ceiling - Returns the maximum size of the Call's Reply. */
uint32_t look_ceiling(const struct nfs_msg *call, uint32_t limit_bytes);

#endif
