/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for memory, and on whose account. */
#ifndef DAEMON_BRIDGE_SHORTAGE_H
#define DAEMON_BRIDGE_SHORTAGE_H

#include "base/account.h"

/** shortage_log - log that a claim has waited long; @arg is the worker_service. For budget_account.late. */
void shortage_log(void *arg, const struct budget_claim *claim);

#endif
