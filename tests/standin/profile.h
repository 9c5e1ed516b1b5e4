/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists what RDMA devices report of themselves and answer, by driver, so that a stand-in can answer as they do.
 *
 * The values are those of rdma-core 65 and of Linux 6.1 (drivers/infiniband/hw); where firmware decides, one that such a
 * device reports.
 */
#ifndef TESTS_STANDIN_PROFILE_H
#define TESTS_STANDIN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* How a driver creates a queue pair for which more inline data was asked than it has. */
enum standin_inline {
	STANDIN_INLINE_REFUSED, /* EINVAL */
	STANDIN_INLINE_CLAMPED, /* gives what it has */
	STANDIN_INLINE_RETURNED, /* EINVAL above its limit, and else the limit whatever was asked for */
};

struct standin_profile {
	const char *name;
	bool roce, iwarp; /* the kinds of devices that it can stand for */
	uint32_t vendor_id, part_id;
	unsigned cap_flags; /* windows, and IBV_DEVICE_MEM_MGT_EXTENSIONS */
	int max_mw;
	int alloc_mw_errno; /* 0: it allocates windows */
	int max_sge, max_qp_wr, max_cqe;
	int max_qp_rd_atom, max_qp_init_rd_atom;
	unsigned max_inline;
	enum standin_inline inlines;
	int full_answer; /* of post_send and post_recv without room */
	bool disassociates; /* the kernel takes the device away from processes that use it; else it waits for them */
	int dead_answer; /* of post_send and post_recv on a queue pair in error; 0: they are flushed */
	uint32_t max_msg_bytes; /* of a port */
};

/** standin_profile_find - return the profile called @name, or NULL. */
const struct standin_profile *standin_profile_find(const char *name);
/** standin_profile_at - return the @i-th profile, or NULL behind the last. */
const struct standin_profile *standin_profile_at(unsigned i);

#endif
