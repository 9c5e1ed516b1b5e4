/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds messages with the padding of RDMA_MSGP, at the opaques that the test has placed. Shares no
 * code with the walkers.
 */
#ifndef TESTS_NFS_PADS_H
#define TESTS_NFS_PADS_H

#include "tests/nfs/spec.h"

#define PADS_FILLING 0xa5 /* nobody looks at what pads hold */

/* Bytes that grow; free `at`. */
struct pads_bytes {
	uint8_t *at;
	uint32_t len;
};

/** pads_add - append @len bytes; of NULL: pads. */
void pads_add(struct pads_bytes *to, const void *from, uint32_t len);

/* What pads are made by. */
struct pads_how {
	uint32_t align, thresh;
	uint32_t base; /* where in its Send the message begins */
};

/** pads_put - a message with pads; what @cut names is in chunks (NULL: nothing), so it has neither bytes nor pads. */
struct pads_bytes pads_put(const struct nfs_msg *msg, const struct pads_how *how,
			   const struct spec_items *cut);

#endif
