/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds XDR from text, so that messages read like the RFC and share no code with the walkers:
 *
 *	17		a word
 *	q17		a hyper
 *	x:16		16 filler bytes, padded
 *	o:5		a length word and 5 filler bytes, padded: opaque data, or a string
 *	d:5		the same, for the data item that can move by RDMA
 *	w:3*7		a count and 3 words of 7
 *	n:2(...)	a count and the contents of the parentheses twice
 *	r:2(...)	the contents of the parentheses twice
 */
#ifndef TESTS_NFS_SPEC_H
#define TESTS_NFS_SPEC_H

#include "rpc/call_info.h"
#include "tests/nfs/msg.h"

#define SPEC_MAX_ITEMS 16

struct spec_items {
	unsigned count;
	struct rpc_payload list[SPEC_MAX_ITEMS];
};

/**
 * spec_put - Appends what @spec describes, and data items also to @items. Aborts if @spec is
 * invalid.
 */
void spec_put(struct nfs_msg *msg, const char *spec, struct spec_items *items);

#endif
