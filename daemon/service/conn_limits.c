// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/conn_limits.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/config/config.h"

STATE_TABLE(conn_slot_states, CONN_SLOT_STATES);

static unsigned half_open_max(const struct conn_limits *limits)
{
	unsigned most = config_share(limits->config);

	return most > CONN_LIMITS_HALF_OPEN_MIN ? most : CONN_LIMITS_HALF_OPEN_MIN;
}

static unsigned half_open(const struct conn_limits *limits)
{
	return limits->counts[CONN_SLOT_HALF_OPEN] + limits->counts[CONN_SLOT_HAS_CALL];
}

static unsigned active(const struct conn_limits *limits)
{
	return limits->counts[CONN_SLOT_CONNECTING] + limits->counts[CONN_SLOT_IDLE] +
	       limits->counts[CONN_SLOT_ACTIVE];
}

/* ---- states: under the lock ---- */

static void slot_list(struct conn_slot *slot)
{
	struct conn_limits *limits = slot->limits;

	limits->counts[slot->state.now]++;
	slot->listed = true;
	if (slot->state.now == CONN_SLOT_EVICTED)
		TAILQ_INSERT_TAIL(&slot->thread->evicted, slot, link);
	else
		TAILQ_INSERT_TAIL(&limits->lists[slot->state.now], slot, link);
}

static void slot_unlist(struct conn_slot *slot)
{
	struct conn_limits *limits = slot->limits;

	limits->counts[slot->state.now]--;
	if (!slot->listed)
		return;
	slot->listed = false;
	if (slot->state.now == CONN_SLOT_EVICTED)
		TAILQ_REMOVE(&slot->thread->evicted, slot, link);
	else
		TAILQ_REMOVE(&limits->lists[slot->state.now], slot, link);
}

/*
 * Updates its place in the heaps of half-closed connections. Only connections that count can be
 * evicted.
 */
static void slot_update_half_closed(struct conn_slot *slot)
{
	bool has_place =
		slot->state.now >= CONN_SLOT_CONNECTING && slot->state.now <= CONN_SLOT_ACTIVE;
	struct min_heap *of_client = slot->client ? &slot->client->half_closed : NULL;

	min_heap_remove(&slot->limits->half_closed, &slot->by_wait);
	if (of_client)
		min_heap_remove(of_client, &slot->by_wait_of_client);
	if (!has_place || !slot->oldest_call_us)
		return;
	min_heap_add(&slot->limits->half_closed, &slot->by_wait, slot->oldest_call_us);
	if (of_client)
		min_heap_add(of_client, &slot->by_wait_of_client, slot->oldest_call_us);
}

static void slot_drop_client(struct conn_slot *slot)
{
	if (slot->client)
		client_limits_remove(&slot->limits->clients, slot->client);
	slot->client = NULL;
}

static void slot_set_state(struct conn_slot *slot, enum conn_slot_state to)
{
	slot_unlist(slot);
	slot->state.now = state_next(&conn_slot_states, slot->state.now, to);
	slot_list(slot);
	slot_update_half_closed(slot);
	if (to >= CONN_SLOT_TARPIT)
		slot_drop_client(slot);
}

/* Returns the thread to wake after unlocking. */
static struct conn_limits_thread *slot_evict(struct conn_slot *slot, enum leg_close why)
{
	slot->why = why;
	slot_set_state(slot, CONN_SLOT_EVICTED);
	return slot->thread;
}

static void wake(const struct conn_limits_thread *thread)
{
	if (thread && thread->wake)
		thread->wake(thread->arg);
}

static struct conn_slot *oldest(const struct conn_limits *limits, enum conn_slot_state state)
{
	return TAILQ_FIRST(&limits->lists[state]);
}

static struct conn_limits_thread *slot_tarpit(struct conn_slot *slot)
{
	struct conn_limits *limits = slot->limits;

	slot_set_state(slot, CONN_SLOT_TARPIT);
	if (limits->counts[CONN_SLOT_TARPIT] <= CONN_LIMITS_TARPIT_MAX)
		return NULL;
	return slot_evict(oldest(limits, CONN_SLOT_TARPIT), LEG_CLOSE_LOCAL);
}

/* ---- set-up ---- */

int conn_limits_init(struct conn_limits *limits, const struct service_config *config)
{
	*limits = (struct conn_limits){.config = config};
	if (config->max_connections_per_client && client_limits_init(&limits->clients))
		return -ENOMEM;
	pthread_mutex_init(&limits->lock, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(limits->lists); i++)
		TAILQ_INIT(&limits->lists[i]);
	return 0;
}

void conn_limits_fini(struct conn_limits *limits)
{
	client_limits_fini(&limits->clients);
	if (limits->config)
		pthread_mutex_destroy(&limits->lock);
	limits->config = NULL;
}

void conn_limits_thread_init(struct conn_limits_thread *thread, void (*wake_fn)(void *arg),
			     void *arg)
{
	*thread = (struct conn_limits_thread){.wake = wake_fn, .arg = arg};
	TAILQ_INIT(&thread->evicted);
}

/* ---- arrival ---- */

static bool is_older(const struct conn_slot *slot, uint64_t now_us, uint64_t age_us)
{
	return slot && now_us - slot->state.since_us >= age_us;
}

bool conn_limits_can_accept(struct conn_limits *limits, uint64_t now_us)
{
	bool can_accept;

	pthread_mutex_lock(&limits->lock);
	can_accept = half_open(limits) < half_open_max(limits) ||
		     is_older(oldest(limits, CONN_SLOT_HALF_OPEN), now_us, CONN_LIMITS_GRACE_US);
	pthread_mutex_unlock(&limits->lock);
	return can_accept;
}

static struct conn_slot *slot_new(struct conn_limits *limits, struct conn_limits_thread *thread,
				  enum conn_slot_state state, uint64_t now_us)
{
	struct conn_slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	*slot = (struct conn_slot){.limits = limits, .thread = thread, .state = {state, now_us}};
	return slot;
}

static bool is_evictable(const struct heap_node *node, uint64_t now_us)
{
	return node && now_us > node->key && now_us - node->key >= CONN_LIMITS_HALF_CLOSED_US;
}

/* Under the lock. Returns the thread to wake; NULL: no connection can be evicted. */
static struct conn_limits_thread *evict_half_closed(struct conn_limits *limits, uint64_t now_us)
{
	struct heap_node *first = min_heap_first(&limits->half_closed);

	if (!is_evictable(first, now_us))
		return NULL;
	return slot_evict(container_of(first, struct conn_slot, by_wait), LEG_CLOSE_HALF_CLOSED);
}

/* Same for the connections of one address. */
static struct conn_limits_thread *evict_half_closed_of_client(const struct client_limit *client,
							      uint64_t now_us)
{
	struct heap_node *first = client ? min_heap_first(&client->half_closed) : NULL;

	if (!is_evictable(first, now_us))
		return NULL;
	return slot_evict(container_of(first, struct conn_slot, by_wait_of_client),
			  LEG_CLOSE_HALF_CLOSED);
}

/* Under the lock. Returns 0, or a negative errno and sets @why. */
static int count_client(struct conn_limits *limits, struct conn_slot *slot,
			const struct sockaddr *client, uint64_t now_us,
			struct conn_limits_thread **woken, enum leg_close *why)
{
	unsigned per_client = limits->config->max_connections_per_client;
	int rc;

	if (!per_client)
		return 0;
	rc = client_limits_add(&limits->clients, client, per_client, &slot->client);
	if (rc == -EDQUOT) {
		*woken = evict_half_closed_of_client(client_limits_find(&limits->clients, client),
						     now_us);
		if (*woken)
			rc = client_limits_add(&limits->clients, client, per_client, &slot->client);
	}
	*why = rc == -EDQUOT ? LEG_CLOSE_PER_CLIENT : LEG_CLOSE_RESOURCES;
	return rc;
}

struct conn_slot *conn_limits_add(struct conn_limits *limits, struct conn_limits_thread *thread,
				  const struct sockaddr *client, uint64_t now_us,
				  enum leg_close *why)
{
	struct conn_slot *slot = slot_new(limits, thread, CONN_SLOT_HALF_OPEN, now_us);
	struct conn_limits_thread *woken = NULL, *woken_too = NULL;
	int rc;

	if (!slot) {
		*why = LEG_CLOSE_RESOURCES;
		return NULL;
	}
	pthread_mutex_lock(&limits->lock);
	rc = count_client(limits, slot, client, now_us, &woken_too, why);
	if (!rc) {
		if (half_open(limits) >= half_open_max(limits) &&
		    oldest(limits, CONN_SLOT_HALF_OPEN))
			woken = slot_evict(oldest(limits, CONN_SLOT_HALF_OPEN),
					   LEG_CLOSE_HALF_OPEN);
		slot_list(slot);
	}
	pthread_mutex_unlock(&limits->lock);
	wake(woken);
	wake(woken_too);
	if (!rc)
		return slot;
	free(slot);
	return NULL;
}

struct conn_slot *conn_limits_add_tarpit(struct conn_limits *limits,
					 struct conn_limits_thread *thread, void *owner,
					 uint64_t now_us)
{
	struct conn_slot *slot = slot_new(limits, thread, CONN_SLOT_HALF_OPEN, now_us);
	struct conn_limits_thread *woken;

	if (!slot)
		return NULL;
	slot->owner = owner;
	pthread_mutex_lock(&limits->lock);
	slot_list(slot);
	woken = slot_tarpit(slot);
	pthread_mutex_unlock(&limits->lock);
	wake(woken);
	return slot;
}

bool conn_limits_evict_half_open(struct conn_limits *limits, uint64_t now_us, uint64_t age_us)
{
	struct conn_limits_thread *woken = NULL;
	struct conn_slot *slot;

	pthread_mutex_lock(&limits->lock);
	slot = oldest(limits, CONN_SLOT_HALF_OPEN);
	if (is_older(slot, now_us, age_us))
		woken = slot_evict(slot, LEG_CLOSE_HALF_OPEN);
	pthread_mutex_unlock(&limits->lock);
	wake(woken);
	return woken;
}

bool conn_limits_evict_half_closed(struct conn_limits *limits, uint64_t now_us)
{
	struct conn_limits_thread *woken;

	pthread_mutex_lock(&limits->lock);
	woken = evict_half_closed(limits, now_us);
	pthread_mutex_unlock(&limits->lock);
	wake(woken);
	return woken;
}

/* ---- progress ---- */

static bool slot_may_stay(const struct conn_slot *slot, enum leg_close *why)
{
	if (slot->state.now != CONN_SLOT_EVICTED)
		return true;
	*why = slot->why;
	return false;
}

bool conn_slot_may_stay(struct conn_slot *slot, enum leg_close *why)
{
	bool stays;

	pthread_mutex_lock(&slot->limits->lock);
	stays = slot_may_stay(slot, why);
	pthread_mutex_unlock(&slot->limits->lock);
	return stays;
}

/* Under the lock. */
static bool evict_for(struct conn_limits *limits, uint64_t now_us,
		      struct conn_limits_thread **woken, enum leg_close *why)
{
	struct conn_slot *slot;

	if (active(limits) < limits->config->max_connections)
		return true;
	slot = oldest(limits, CONN_SLOT_IDLE);
	*woken = slot ? slot_evict(slot, LEG_CLOSE_MADE_ROOM) : evict_half_closed(limits, now_us);
	*why = LEG_CLOSE_TOO_MANY;
	return *woken;
}

bool conn_slot_connecting(struct conn_slot *slot, uint64_t now_us, enum leg_close *why)
{
	struct conn_limits *limits = slot->limits;
	struct conn_limits_thread *woken = NULL;
	bool stays;

	pthread_mutex_lock(&limits->lock);
	stays = slot_may_stay(slot, why) && evict_for(limits, now_us, &woken, why);
	if (stays)
		slot_set_state(slot, CONN_SLOT_CONNECTING);
	pthread_mutex_unlock(&limits->lock);
	wake(woken);
	return stays;
}

void conn_slot_connected(struct conn_slot *slot)
{
	pthread_mutex_lock(&slot->limits->lock);
	if (slot->state.now == CONN_SLOT_CONNECTING)
		slot_set_state(slot, slot->had_call ? CONN_SLOT_ACTIVE : CONN_SLOT_IDLE);
	pthread_mutex_unlock(&slot->limits->lock);
}

bool conn_slot_first_call(struct conn_slot *slot)
{
	enum leg_close why;
	bool stays;

	pthread_mutex_lock(&slot->limits->lock);
	stays = slot_may_stay(slot, &why);
	slot->had_call = true;
	if (slot->state.now == CONN_SLOT_IDLE)
		slot_set_state(slot, CONN_SLOT_ACTIVE);
	else if (slot->state.now == CONN_SLOT_HALF_OPEN)
		slot_set_state(slot, CONN_SLOT_HAS_CALL);
	pthread_mutex_unlock(&slot->limits->lock);
	return stays;
}

void conn_slot_half_closed(struct conn_slot *slot, uint64_t oldest_call_us)
{
	pthread_mutex_lock(&slot->limits->lock);
	slot->oldest_call_us = oldest_call_us;
	slot_update_half_closed(slot);
	pthread_mutex_unlock(&slot->limits->lock);
}

/* ---- departure ---- */

void conn_slot_tarpit(struct conn_slot *slot)
{
	struct conn_limits_thread *woken;

	pthread_mutex_lock(&slot->limits->lock);
	woken = slot_tarpit(slot);
	pthread_mutex_unlock(&slot->limits->lock);
	wake(woken);
}

void conn_slot_superseded(struct conn_slot *slot)
{
	pthread_mutex_lock(&slot->limits->lock);
	slot_set_state(slot, CONN_SLOT_SUPERSEDED);
	pthread_mutex_unlock(&slot->limits->lock);
}

void conn_slot_free(struct conn_slot *slot)
{
	struct conn_limits *limits = slot->limits;

	pthread_mutex_lock(&limits->lock);
	slot_unlist(slot);
	slot->oldest_call_us = 0;
	slot_update_half_closed(slot);
	slot_drop_client(slot);
	pthread_mutex_unlock(&limits->lock);
	free(slot);
}

struct conn_slot *conn_limits_next_evicted(struct conn_limits *limits,
					   struct conn_limits_thread *thread)
{
	struct conn_slot *slot;

	pthread_mutex_lock(&limits->lock);
	slot = TAILQ_FIRST(&thread->evicted);
	if (slot) {
		TAILQ_REMOVE(&thread->evicted, slot, link);
		slot->listed = false;
	}
	pthread_mutex_unlock(&limits->lock);
	return slot;
}

void conn_limits_counts_get(struct conn_limits *limits, struct conn_limits_counts *counts)
{
	pthread_mutex_lock(&limits->lock);
	*counts = (struct conn_limits_counts){
		.half_open = half_open(limits),
		.active = active(limits),
		.tarpit = limits->counts[CONN_SLOT_TARPIT],
	};
	pthread_mutex_unlock(&limits->lock);
}
