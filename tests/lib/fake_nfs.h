/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces lib/nfs in tests: finds in Calls and Replies what the test says, so that a scenario on
 * legs needs no NFS messages. It must be linked before the libraries.
 */
#ifndef TESTS_LIB_FAKE_NFS_H
#define TESTS_LIB_FAKE_NFS_H

#include "nfs/nfs.h"

/*
 * Set by the test. A negative count of Reply payloads is the errno of a Reply that cannot be
 * parsed.
 */
extern struct rpc_payload fake_reply_payloads[4], fake_call_payloads[4];
extern uint32_t fake_result_bounds[4];
extern int fake_nreply_payloads, fake_ncall_payloads, fake_nresult_bounds;
extern bool fake_call_writes, fake_call_reads;
extern uint32_t fake_ceiling_bytes; /* of every Reply */
/*
 * Number of parsed Calls, and of Replies parsed for their payloads, since the last
 * fake_nfs_reset().
 */
extern unsigned fake_looks, fake_reply_looks;

/** fake_nfs_reset - Finds nothing from now on; no Reply has a maximum size. */
void fake_nfs_reset(void);

#endif
