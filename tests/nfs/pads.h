/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds messages with the padding of RDMA_MSGP, at the opaques that the test has placed. Shares no
 * code with the walkers.
 */
#ifndef TESTS_NFS_PADS_H
#define TESTS_NFS_PADS_H

#include "tests/nfs/spec.h"

#define PADS_FILLING 0xa5 /* the contents of pads are ignored */

/* A growing byte buffer; free `at`. */
struct pads_bytes {
	uint8_t *at;
	uint32_t len;
};

/** pads_add - Appends @len bytes; with NULL: pads. */
void pads_add(struct pads_bytes *to, const void *from, uint32_t len);

/* The parameters of padding. */
struct pads_how {
	uint32_t align, thresh;
	uint32_t base; /* offset in its Send at which the message begins */
};

/**
 * pads_put - Writes a message with pads. The items in @cut are in chunks (NULL: none), so they have
 * neither bytes nor pads.
 */
struct pads_bytes pads_put(const struct nfs_msg *msg, const struct pads_how *how,
			   const struct spec_items *cut);

#endif
