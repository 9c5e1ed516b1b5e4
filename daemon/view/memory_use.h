/* SPDX-License-Identifier: BSD-3-Clause */
/* What the accounts of the budget show: of one service on one worker, or added up. */
#ifndef DAEMON_VIEW_MEMORY_USE_H
#define DAEMON_VIEW_MEMORY_USE_H

#include <jansson.h>
#include <stdint.h>

#include "base/account.h"

/* All zero is nothing. */
struct memory_use {
	size_t claimed_bytes;
	size_t waiting;     /* claims */
	uint64_t oldest_us; /* how long the one that waits longest has waited */
};

/** memory_use_of - what an account shows, in its own thread. */
struct memory_use memory_use_of(const struct budget_account *account);
/** memory_use_add - add what another one shows. */
void memory_use_add(struct memory_use *sum, const struct memory_use *part);
/** memory_use_put - set it in a JSON object. */
void memory_use_put(const struct memory_use *use, json_t *object);

#endif
