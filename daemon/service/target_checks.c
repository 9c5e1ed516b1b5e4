// SPDX-License-Identifier: BSD-3-Clause
/* The servers of a service, for whoever asks them without a client. */
#include <stdio.h>

#include "daemon/service/targets.h"

uint32_t targets_in_use(struct targets *targets)
{
	uint32_t in_use = 0;

	pthread_mutex_lock(&targets->lock);
	for (unsigned i = 0; i < targets->count; i++)
		if (targets->list[i].connections)
			in_use |= 1u << i;
	pthread_mutex_unlock(&targets->lock);
	return in_use;
}

/* Under the lock. */
static void note_failure(struct target *target, const char *error, uint64_t now_us)
{
	target->has_failed = true;
	target->failed_us = target->error_us = now_us;
	snprintf(target->error, sizeof(target->error), "%s", error);
}

void targets_probed(struct targets *targets, unsigned index, enum leg_close why, const char *error,
		    uint64_t now_us)
{
	struct target *target = &targets->list[index];

	if (!error)
		server_state_asked(&target->server, now_us);
	else if (!server_state_failed(&target->server, NULL, why, error, now_us))
		return; /* no fault of the server's */
	pthread_mutex_lock(&targets->lock);
	target->probe_failed = error != NULL;
	if (error)
		note_failure(target, error, now_us);
	else
		target->has_failed = false;
	pthread_mutex_unlock(&targets->lock);
}

/* ---- doubtful ones ---- */

void targets_on_doubt(struct targets *targets, void (*doubt)(void *arg), void *arg)
{
	targets->doubt = doubt;
	targets->doubt_arg = arg;
}

uint32_t targets_take_doubts(struct targets *targets)
{
	uint32_t doubts = 0;

	for (unsigned i = 0; i < targets->count; i++)
		if (server_state_take_doubt(&targets->list[i].server))
			doubts |= 1u << i;
	return doubts;
}

void targets_put_doubts(struct targets *targets, uint32_t doubts)
{
	for (unsigned i = 0; i < targets->count; i++)
		if (doubts >> i & 1)
			server_state_put_doubt(&targets->list[i].server);
}

void targets_asked(struct targets *targets, unsigned index, enum leg_close why, const char *error,
		   uint64_t now_us)
{
	struct target *target = &targets->list[index];
	char told[LEG_DETAIL_BYTES];

	if (!error) {
		server_state_asked(&target->server, now_us);
		return;
	}
	if (!server_state_doubt_holds(&target->server, why, error, now_us, told))
		return;
	pthread_mutex_lock(&targets->lock);
	target->failures++;
	note_failure(target, told, now_us);
	pthread_mutex_unlock(&targets->lock);
}
