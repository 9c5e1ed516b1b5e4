/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the reported attributes and answers of RDMA devices, by driver, so that a stand-in can
 * answer in the same way.
 *
 * The values are those of rdma-core 65 and of Linux 6.1 (drivers/infiniband/hw); values that
 * firmware decides are those of a usual device.
 */
#ifndef TESTS_STANDIN_PROFILE_H
#define TESTS_STANDIN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* How a driver handles a queue pair for which more inline data is requested than it supports. */
enum standin_inline {
	STANDIN_INLINE_REFUSED,  /* EINVAL */
	STANDIN_INLINE_CLAMPED,  /* reduces it to its limit */
	STANDIN_INLINE_RETURNED, /* EINVAL above its limit, otherwise always the limit */
};

struct standin_profile {
	const char *name;
	bool roce, iwarp; /* kinds of devices that it can imitate */
	uint32_t vendor_id, part_id;
	unsigned cap_flags; /* windows, and IBV_DEVICE_MEM_MGT_EXTENSIONS */
	int max_mw;
	int alloc_mw_errno; /* 0: it allocates windows */
	int max_sge, max_qp_wr, max_cqe;
	int max_qp_rd_atom, max_qp_init_rd_atom;
	unsigned max_inline;
	enum standin_inline inlines;
	int full_answer; /* of post_send and post_recv when full */
	/* The kernel disassociates processes from a removed device; else it waits for them. */
	bool disassociates;
	/* Of post_send and post_recv on a queue pair in error; 0: they are flushed. */
	int dead_answer;
	uint32_t max_msg_bytes; /* of a port */
};

/** standin_profile_find - Returns the profile called @name, or NULL. */
const struct standin_profile *standin_profile_find(const char *name);
/** standin_profile_at - Returns the @i-th profile, or NULL after the last. */
const struct standin_profile *standin_profile_at(unsigned i);

#endif
