// SPDX-License-Identifier: BSD-3-Clause
/* An upstream's seat at its target. */
#include "daemon/bridge/seat.h"

#include <stdio.h>

static uint64_t now_us(const struct upstream *upstream)
{
	return loop_now_us(upstream->ws->ground->loop);
}

static struct server_state *server_of(const struct upstream *upstream)
{
	return &upstream->seat.target->server;
}

static struct targets *targets_of(const struct upstream *upstream)
{
	struct service *service = upstream->ws->service;

	return upstream->to_mount ? &service->mounts.targets : &service->targets;
}

struct name_desk *seat_desk(const struct upstream *upstream)
{
	struct worker_service *ws = upstream->ws;

	return &(upstream->to_mount ? ws->mount_names : ws->names)[upstream->seat.target->index];
}

struct mount_desk *seat_mount_desk(const struct upstream *upstream)
{
	struct mount_desk *desks = upstream->to_mount ? upstream->ws->mount_desks : NULL;

	return desks && upstream->seat.target ? &desks[upstream->seat.target->index] : NULL;
}

static uint64_t min_us(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One of several targets has an equal share of what is left, though time for an attempt, and no more than it may take. */
static uint64_t share_us(const struct upstream *upstream)
{
	uint64_t left_us = upstream->deadline_us > now_us(upstream)
				   ? upstream->deadline_us - now_us(upstream)
				   : 0;
	const struct service_config *config = upstream->ws->service->config;
	uint64_t share = left_us / (1 + targets_left(&upstream->seat));

	if (targets_of(upstream)->count == 1)
		return left_us;
	if (share < ATTEMPT_MIN_US)
		share = ATTEMPT_MIN_US;
	return min_us(min_us(share, config->connect_timeout_s * 1000000ull), left_us);
}

bool seat_take(struct upstream *upstream)
{
	struct target *target;

	seat_wait_no_longer(upstream);
	attempts_fini(&upstream->attempts);
	target = targets_seek(targets_of(upstream), &upstream->seat,
			      (const struct sockaddr *)&upstream->client, now_us(upstream));
	if (!target)
		return false;
	upstream->log->about.upstream = target->text;
	upstream->waits = true;
	upstream->gave_up = false;
	server_state_seek(&target->server);
	upstream->target_until_us = now_us(upstream) + share_us(upstream);
	return true;
}

void seat_give_up(struct upstream *upstream, enum leg_close why, const char *detail)
{
	const struct attempt *last = attempts_last(&upstream->attempts);
	const struct sockaddr *client = (const struct sockaddr *)&upstream->client;

	upstream->failure_told = targets_unreached(
		&upstream->seat, last ? (const struct sockaddr *)&last->addr : NULL,
		upstream->keeps_port ? client : NULL, why, detail, now_us(upstream));
	upstream->gave_up = true;
}

bool seat_may_try_another(const struct upstream *upstream, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && why != LEG_CLOSE_RESOURCES &&
	       now_us(upstream) < upstream->deadline_us && targets_left(&upstream->seat) > 0;
}

static void leg_peer(const struct upstream *upstream, struct sockaddr_storage *addr)
{
	struct leg_info info;

	leg_info(upstream->leg, &info);
	*addr = info.peer;
}

void seat_answered(struct upstream *upstream)
{
	struct sockaddr_storage addr;

	leg_peer(upstream, &addr);
	seat_wait_no_longer(upstream);
	targets_answered(&upstream->seat);
	upstream->served = true;
	server_state_reached(server_of(upstream), (struct sockaddr *)&addr, now_us(upstream));
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

static bool has_called(const struct upstream *upstream)
{
	return upstream->events->has_called && upstream->events->has_called(upstream->arg);
}

void seat_unanswered(struct upstream *upstream, enum leg_close why, const char *detail)
{
	const struct sockaddr *client = (const struct sockaddr *)&upstream->client;
	struct sockaddr_storage addr;
	char text[LEG_DETAIL_BYTES];

	leg_peer(upstream, &addr);
	detail = early_end(why, detail, text);
	upstream->failure_told = targets_unanswered(&upstream->seat, (const struct sockaddr *)&addr,
						    has_called(upstream) ? client : NULL, why,
						    detail, now_us(upstream));
}

void seat_wait_no_longer(struct upstream *upstream)
{
	if (upstream->waits)
		server_state_leave(server_of(upstream));
	upstream->waits = false;
}

void seat_part(struct upstream *upstream)
{
	if (upstream->served)
		server_state_parted(server_of(upstream));
	upstream->served = false;
}

void seat_leave(struct upstream *upstream)
{
	targets_leave(&upstream->seat, now_us(upstream));
}
