/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the functions in the context of the device in memory. */
#ifndef TESTS_STANDIN_MEMORY_OPS_H
#define TESTS_STANDIN_MEMORY_OPS_H

#include <infiniband/verbs.h>

struct ibv_mw *memory_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int memory_dealloc_mw(struct ibv_mw *mw);
int memory_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs);
int memory_req_notify_cq(struct ibv_cq *cq, int solicited_only);

#endif
