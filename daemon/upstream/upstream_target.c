// SPDX-License-Identifier: BSD-3-Clause
/* The server that an upstream has selected of its list. */
#include "daemon/upstream/upstream_target.h"

#include <stdio.h>

#include "daemon/upstream/connect_plan.h"

static uint64_t now_us(const struct upstream_target *target)
{
	return loop_now_us(target->loop);
}

static struct server_state *server_of(const struct upstream_target *target)
{
	return &target->seat.target->server;
}

static const struct sockaddr *sockaddr_of(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr *)addr;
}

struct name_desk *upstream_target_names(const struct upstream_target *target)
{
	return &target->backend->names[target->seat.target->index];
}

struct mount_desk *upstream_target_mount_place(const struct upstream_target *target)
{
	struct mount_desk *places = target->backend->mount_places;

	return places && target->seat.target ? &places[target->seat.target->index] : NULL;
}

static uint64_t until(const struct upstream_target *target, uint64_t when_us)
{
	uint64_t now = now_us(target);

	return now < when_us ? when_us - now : 0;
}

uint64_t upstream_target_left_us(const struct upstream_target *target)
{
	return until(target, target->until_us);
}

static uint64_t min_us(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One of several targets has an equal share of what is left, though time for an attempt, and no more than it may take. */
static uint64_t share_us(const struct upstream_target *target)
{
	uint64_t left_us = until(target, target->deadline_us);
	uint64_t share = left_us / (1 + targets_left(&target->seat));

	if (target->backend->targets->count == 1)
		return left_us;
	if (share < ATTEMPT_MIN_US)
		share = ATTEMPT_MIN_US;
	return min_us(min_us(share, target->config->connect_timeout_s * 1000000ull), left_us);
}

const struct target *upstream_target_next(struct upstream_target *target,
					  const struct sockaddr_storage *client)
{
	struct target *next;

	upstream_target_wait_no_longer(target);
	next = targets_seek(target->backend->targets, &target->seat, sockaddr_of(client),
			    now_us(target));
	if (!next)
		return NULL;
	target->waits = true;
	target->abandoned = false;
	server_state_seek(&next->server);
	target->until_us = now_us(target) + share_us(target);
	return next;
}

void upstream_target_failed(struct upstream_target *target, const struct sockaddr_storage *addr,
			    const struct sockaddr_storage *suspect, enum leg_close why,
			    const char *detail)
{
	target->failure_told = targets_unreached(&target->seat, sockaddr_of(addr),
						 sockaddr_of(suspect), why, detail, now_us(target));
	target->abandoned = true;
}

bool upstream_target_may_try_another(const struct upstream_target *target, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && why != LEG_CLOSE_RESOURCES &&
	       now_us(target) < target->deadline_us && targets_left(&target->seat) > 0;
}

void upstream_target_opened(struct upstream_target *target)
{
	targets_opened(&target->seat);
}

void upstream_target_first_reply(struct upstream_target *target,
				 const struct sockaddr_storage *addr)
{
	upstream_target_wait_no_longer(target);
	targets_answered(&target->seat);
	target->served = true;
	server_state_reached(server_of(target), sockaddr_of(addr), now_us(target));
}

/* What a server's end before its first Reply is told as. */
static const char *early_end(enum leg_close why, const char *detail, char text[LEG_DETAIL_BYTES])
{
	if (!detail[0] && (why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST))
		return "it closes connections before their first Reply";
	if (why != LEG_CLOSE_PEER)
		return detail;
	/* It follows on that: "without an answer to the first Call: is that …" */
	snprintf(text, LEG_DETAIL_BYTES, "it closes connections %s", detail);
	return text;
}

void upstream_target_no_reply(struct upstream_target *target, const struct sockaddr_storage *addr,
			      const struct sockaddr_storage *suspect, enum leg_close why,
			      const char *detail)
{
	char text[LEG_DETAIL_BYTES];

	detail = early_end(why, detail, text);
	target->failure_told =
		targets_unanswered(&target->seat, sockaddr_of(addr), sockaddr_of(suspect), why,
				   detail, now_us(target));
}

void upstream_target_wait_no_longer(struct upstream_target *target)
{
	if (target->waits)
		server_state_leave(server_of(target));
	target->waits = false;
}

void upstream_target_disconnected(struct upstream_target *target)
{
	if (target->served)
		server_state_parted(server_of(target));
	target->served = false;
}

void upstream_target_release(struct upstream_target *target)
{
	targets_leave(&target->seat, now_us(target));
}
