// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/door.h"

#include <errno.h>
#include <stdlib.h>

STATE_TABLE(guest_states, GUEST_STATES);

static unsigned most_half_open(const struct door *door)
{
	unsigned most = door->config->max_connections;

	return most > DOOR_HALF_OPEN_MIN ? most : DOOR_HALF_OPEN_MIN;
}

static unsigned half_open(const struct door *door)
{
	return door->counts[GUEST_HALF_OPEN] + door->counts[GUEST_CALLED];
}

static unsigned seated(const struct door *door)
{
	return door->counts[GUEST_SOUGHT] + door->counts[GUEST_FRESH] + door->counts[GUEST_CARRIES];
}

/* ---- states: under the lock ---- */

static void list_in(struct guest *guest)
{
	struct door *door = guest->door;

	door->counts[guest->state.now]++;
	guest->listed = true;
	if (guest->state.now == GUEST_EXPELLED)
		TAILQ_INSERT_TAIL(&guest->side->expelled, guest, link);
	else
		TAILQ_INSERT_TAIL(&door->lists[guest->state.now], guest, link);
}

static void list_out(struct guest *guest)
{
	struct door *door = guest->door;

	door->counts[guest->state.now]--;
	if (!guest->listed)
		return;
	guest->listed = false;
	if (guest->state.now == GUEST_EXPELLED)
		TAILQ_REMOVE(&guest->side->expelled, guest, link);
	else
		TAILQ_REMOVE(&door->lists[guest->state.now], guest, link);
}

/* Updates its place in the heaps of half-closed connections. Only connections that count can be evicted. */
static void list_half_closed(struct guest *guest)
{
	bool has_place = guest->state.now >= GUEST_SOUGHT && guest->state.now <= GUEST_CARRIES;
	struct min_heap *of_client = guest->client ? &guest->client->half_closed : NULL;

	min_heap_remove(&guest->door->half_closed, &guest->waits);
	if (of_client)
		min_heap_remove(of_client, &guest->client_waits);
	if (!has_place || !guest->waits_us)
		return;
	min_heap_add(&guest->door->half_closed, &guest->waits, guest->waits_us);
	if (of_client)
		min_heap_add(of_client, &guest->client_waits, guest->waits_us);
}

static void forget_client(struct guest *guest)
{
	if (guest->client)
		client_counts_sub(&guest->door->clients, guest->client);
	guest->client = NULL;
}

static void set_state(struct guest *guest, enum guest_state to)
{
	list_out(guest);
	guest->state.now = state_next(&guest_states, guest->state.now, to);
	list_in(guest);
	list_half_closed(guest);
	if (to >= GUEST_HELD)
		forget_client(guest);
}

/* Returns the thread to wake after unlocking. */
static struct door_side *expel(struct guest *guest, enum leg_close why)
{
	guest->why = why;
	set_state(guest, GUEST_EXPELLED);
	return guest->side;
}

static void wake(const struct door_side *side)
{
	if (side && side->wake)
		side->wake(side->arg);
}

static struct guest *oldest(const struct door *door, enum guest_state state)
{
	return TAILQ_FIRST(&door->lists[state]);
}

static struct door_side *hold(struct guest *guest)
{
	struct door *door = guest->door;

	set_state(guest, GUEST_HELD);
	if (door->counts[GUEST_HELD] <= DOOR_HELD_MAX)
		return NULL;
	return expel(oldest(door, GUEST_HELD), LEG_CLOSE_LOCAL);
}

/* ---- set-up ---- */

int door_init(struct door *door, const struct service_config *config)
{
	*door = (struct door){.config = config};
	if (config->max_connections_per_client && client_counts_init(&door->clients))
		return -ENOMEM;
	pthread_mutex_init(&door->lock, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(door->lists); i++)
		TAILQ_INIT(&door->lists[i]);
	return 0;
}

void door_fini(struct door *door)
{
	client_counts_fini(&door->clients);
	if (door->config)
		pthread_mutex_destroy(&door->lock);
	door->config = NULL;
}

void door_side_init(struct door_side *side, void (*wake_fn)(void *arg), void *arg)
{
	*side = (struct door_side){.wake = wake_fn, .arg = arg};
	TAILQ_INIT(&side->expelled);
}

/* ---- arrival ---- */

static bool is_older(const struct guest *guest, uint64_t now_us, uint64_t age_us)
{
	return guest && now_us - guest->state.since_us >= age_us;
}

bool door_has_room(struct door *door, uint64_t now_us)
{
	bool room;

	pthread_mutex_lock(&door->lock);
	room = half_open(door) < most_half_open(door) ||
	       is_older(oldest(door, GUEST_HALF_OPEN), now_us, DOOR_PATIENCE_US);
	pthread_mutex_unlock(&door->lock);
	return room;
}

static struct guest *guest_new(struct door *door, struct door_side *side, enum guest_state state,
			       uint64_t now_us)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	*guest = (struct guest){.door = door, .side = side, .state = {state, now_us}};
	return guest;
}

static bool has_waited(const struct heap_node *node, uint64_t now_us)
{
	return node && now_us > node->key && now_us - node->key >= DOOR_HALF_CLOSED_US;
}

/* Under the lock. Returns the thread to wake; NULL: no connection can be evicted. */
static struct door_side *expel_half_closed(struct door *door, uint64_t now_us)
{
	struct heap_node *first = min_heap_first(&door->half_closed);

	if (!has_waited(first, now_us))
		return NULL;
	return expel(container_of(first, struct guest, waits), LEG_CLOSE_HALF_CLOSED);
}

/* Same for the connections of one address. */
static struct door_side *expel_own_half_closed(const struct client_count *client, uint64_t now_us)
{
	struct heap_node *first = client ? min_heap_first(&client->half_closed) : NULL;

	if (!has_waited(first, now_us))
		return NULL;
	return expel(container_of(first, struct guest, client_waits), LEG_CLOSE_HALF_CLOSED);
}

/* Under the lock. Returns 0, or a negative errno and sets @why. */
static int count_client(struct door *door, struct guest *guest, const struct sockaddr *client,
			uint64_t now_us, struct door_side **woken, enum leg_close *why)
{
	unsigned per_client = door->config->max_connections_per_client;
	int rc;

	if (!per_client)
		return 0;
	rc = client_counts_add(&door->clients, client, per_client, &guest->client);
	if (rc == -EDQUOT) {
		*woken = expel_own_half_closed(client_counts_find(&door->clients, client), now_us);
		if (*woken)
			rc = client_counts_add(&door->clients, client, per_client, &guest->client);
	}
	*why = rc == -EDQUOT ? LEG_CLOSE_PER_CLIENT : LEG_CLOSE_RESOURCES;
	return rc;
}

struct guest *door_enter(struct door *door, struct door_side *side, const struct sockaddr *client,
			 uint64_t now_us, enum leg_close *why)
{
	struct guest *guest = guest_new(door, side, GUEST_HALF_OPEN, now_us);
	struct door_side *woken = NULL, *woken_too = NULL;
	int rc;

	if (!guest) {
		*why = LEG_CLOSE_RESOURCES;
		return NULL;
	}
	pthread_mutex_lock(&door->lock);
	rc = count_client(door, guest, client, now_us, &woken_too, why);
	if (!rc) {
		if (half_open(door) >= most_half_open(door) && oldest(door, GUEST_HALF_OPEN))
			woken = expel(oldest(door, GUEST_HALF_OPEN), LEG_CLOSE_HALF_OPEN);
		list_in(guest);
	}
	pthread_mutex_unlock(&door->lock);
	wake(woken);
	wake(woken_too);
	if (!rc)
		return guest;
	free(guest);
	return NULL;
}

struct guest *door_enter_held(struct door *door, struct door_side *side, void *owner,
			      uint64_t now_us)
{
	struct guest *guest = guest_new(door, side, GUEST_HALF_OPEN, now_us);
	struct door_side *woken;

	if (!guest)
		return NULL;
	guest->owner = owner;
	pthread_mutex_lock(&door->lock);
	list_in(guest);
	woken = hold(guest);
	pthread_mutex_unlock(&door->lock);
	wake(woken);
	return guest;
}

bool door_expel_half_open(struct door *door, uint64_t now_us, uint64_t age_us)
{
	struct door_side *woken = NULL;
	struct guest *guest;

	pthread_mutex_lock(&door->lock);
	guest = oldest(door, GUEST_HALF_OPEN);
	if (is_older(guest, now_us, age_us))
		woken = expel(guest, LEG_CLOSE_HALF_OPEN);
	pthread_mutex_unlock(&door->lock);
	wake(woken);
	return woken;
}

bool door_expel_half_closed(struct door *door, uint64_t now_us)
{
	struct door_side *woken;

	pthread_mutex_lock(&door->lock);
	woken = expel_half_closed(door, now_us);
	pthread_mutex_unlock(&door->lock);
	wake(woken);
	return woken;
}

/* ---- progress ---- */

static bool may_stay(const struct guest *guest, enum leg_close *why)
{
	if (guest->state.now != GUEST_EXPELLED)
		return true;
	*why = guest->why;
	return false;
}

bool door_may_stay(struct guest *guest, enum leg_close *why)
{
	bool stays;

	pthread_mutex_lock(&guest->door->lock);
	stays = may_stay(guest, why);
	pthread_mutex_unlock(&guest->door->lock);
	return stays;
}

/* Under the lock. */
static bool make_room(struct door *door, uint64_t now_us, struct door_side **woken,
		      enum leg_close *why)
{
	struct guest *guest;

	if (seated(door) < door->config->max_connections)
		return true;
	guest = oldest(door, GUEST_FRESH);
	*woken = guest ? expel(guest, LEG_CLOSE_MADE_ROOM) : expel_half_closed(door, now_us);
	*why = LEG_CLOSE_TOO_MANY;
	return *woken;
}

bool door_seek(struct guest *guest, uint64_t now_us, enum leg_close *why)
{
	struct door *door = guest->door;
	struct door_side *woken = NULL;
	bool stays;

	pthread_mutex_lock(&door->lock);
	stays = may_stay(guest, why) && make_room(door, now_us, &woken, why);
	if (stays)
		set_state(guest, GUEST_SOUGHT);
	pthread_mutex_unlock(&door->lock);
	wake(woken);
	return stays;
}

void door_reached(struct guest *guest)
{
	pthread_mutex_lock(&guest->door->lock);
	if (guest->state.now == GUEST_SOUGHT)
		set_state(guest, guest->carried ? GUEST_CARRIES : GUEST_FRESH);
	pthread_mutex_unlock(&guest->door->lock);
}

bool door_carry(struct guest *guest)
{
	enum leg_close why;
	bool stays;

	pthread_mutex_lock(&guest->door->lock);
	stays = may_stay(guest, &why);
	guest->carried = true;
	if (guest->state.now == GUEST_FRESH)
		set_state(guest, GUEST_CARRIES);
	else if (guest->state.now == GUEST_HALF_OPEN)
		set_state(guest, GUEST_CALLED);
	pthread_mutex_unlock(&guest->door->lock);
	return stays;
}

void door_half_closed(struct guest *guest, uint64_t waits_us)
{
	pthread_mutex_lock(&guest->door->lock);
	guest->waits_us = waits_us;
	list_half_closed(guest);
	pthread_mutex_unlock(&guest->door->lock);
}

/* ---- departure ---- */

void door_hold(struct guest *guest)
{
	struct door_side *woken;

	pthread_mutex_lock(&guest->door->lock);
	woken = hold(guest);
	pthread_mutex_unlock(&guest->door->lock);
	wake(woken);
}

void door_superseded(struct guest *guest)
{
	pthread_mutex_lock(&guest->door->lock);
	set_state(guest, GUEST_SUPERSEDED);
	pthread_mutex_unlock(&guest->door->lock);
}

void door_leave(struct guest *guest)
{
	struct door *door = guest->door;

	pthread_mutex_lock(&door->lock);
	list_out(guest);
	guest->waits_us = 0;
	list_half_closed(guest);
	forget_client(guest);
	pthread_mutex_unlock(&door->lock);
	free(guest);
}

struct guest *door_expelled(struct door *door, struct door_side *side)
{
	struct guest *guest;

	pthread_mutex_lock(&door->lock);
	guest = TAILQ_FIRST(&side->expelled);
	if (guest) {
		TAILQ_REMOVE(&side->expelled, guest, link);
		guest->listed = false;
	}
	pthread_mutex_unlock(&door->lock);
	return guest;
}

void door_counts_get(struct door *door, struct door_counts *counts)
{
	pthread_mutex_lock(&door->lock);
	*counts = (struct door_counts){
		.half_open = half_open(door),
		.seated = seated(door),
		.held = door->counts[GUEST_HELD],
	};
	pthread_mutex_unlock(&door->lock);
}
