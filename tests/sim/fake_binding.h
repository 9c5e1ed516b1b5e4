/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding that finds payloads where the test says that they are. */
#ifndef TESTS_SIM_FAKE_BINDING_H
#define TESTS_SIM_FAKE_BINDING_H

#include "rpcrdma/rdma_leg.h"

extern const struct rdma_binding fake_binding;

/* Set by the test; a negative count is the errno of a message that cannot be followed. */
extern struct rdma_payload fake_reply_payloads[4], fake_call_payloads[4];
extern uint32_t fake_result_bounds[4];
extern int fake_nreply_payloads, fake_ncall_payloads, fake_nresult_bounds;
extern bool fake_call_writes;
/* Notes that were made and not freed. */
extern unsigned fake_notes;

/** fake_binding_reset - nothing is found. */
void fake_binding_reset(void);

#endif
