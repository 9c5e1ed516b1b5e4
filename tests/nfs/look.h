/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses Calls for tests: whole, in pieces, and as they arrive. */
#ifndef TESTS_NFS_LOOK_H
#define TESTS_NFS_LOOK_H

#include "nfs/nfs.h"
#include "tests/nfs/spec.h"

/* A Call in memory, and what bounds its Reply. */
struct look {
	const uint8_t *msg;
	uint32_t len_bytes;
	uint32_t limit_bytes;
	const struct nfs_sessions *sessions; /* NULL: none */
};

/** look_header - decode the header of a Call and begin its facts; false if it does not decode. */
bool look_header(const struct look *look, struct call_facts *facts);

/** look_whole - the facts of a Call that is here as one piece. */
void look_whole(const struct look *look, struct call_facts *facts);

/**
 * look_payloads - the same, and where the payloads among its arguments are
 *
 * Returns how many there are, or -EBADMSG if the Call cannot be followed. Aborts if the facts say anything else
 * than the sink was told.
 */
int look_payloads(const struct look *look, struct call_facts *facts, struct spec_items *items);

/** look_same - whether two walks have found the same; how they came to it does not count. */
bool look_same(const struct call_facts *a, const struct call_facts *b);

/** look_at_msg - what looks at a message of nfs_msg_call(). */
struct look look_at_msg(const struct nfs_msg *call, uint32_t limit_bytes);

/** look_ceiling - how large a Reply the Call can get. */
uint32_t look_ceiling(const struct nfs_msg *call, uint32_t limit_bytes);

#endif
