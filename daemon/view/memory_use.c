// SPDX-License-Identifier: BSD-3-Clause
/* What the accounts of the budget show. */
#include "daemon/view/memory_use.h"

struct memory_use memory_use_of(const struct budget_account *account)
{
	return (struct memory_use){
		.claimed_bytes = account->used_bytes,
		.waiting = account->waiting,
		.oldest_us = budget_account_oldest_us(account),
	};
}

void memory_use_add(struct memory_use *sum, const struct memory_use *part)
{
	sum->claimed_bytes += part->claimed_bytes;
	sum->waiting += part->waiting;
	if (part->oldest_us > sum->oldest_us)
		sum->oldest_us = part->oldest_us;
}

void memory_use_put(const struct memory_use *use, json_t *object)
{
	json_object_set_new(object, "claimed_bytes", json_integer((json_int_t)use->claimed_bytes));
	json_object_set_new(object, "waiting_claims", json_integer((json_int_t)use->waiting));
	json_object_set_new(object, "oldest_wait_s",
			    use->waiting ? json_real(use->oldest_us / 1e6) : json_null());
}
