// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/clients.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_memory.h"
#include "daemon/service/client_looks.h"
#include "daemon/service/client_table.h"

#define PARTS    16u /* that their locks are seldom waited for */
#define PINS_MIN 64u

static_assert(2 * (sizeof(struct client) + sizeof(struct place)) + sizeof(struct place_loop) +
			      CLIENTS_MARKS_MAX * sizeof(struct client_mark) <=
		      CONFIG_CLIENT_BYTES,
	      "a connection and a pin are counted");

struct clients {
	atomic_uint pins;
	unsigned pins_max;
	struct hash_key key;
	struct client_part *parts[PARTS];
};

struct clients *clients_new(unsigned max)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	int rc;

	if (!clients)
		return NULL;
	clients->pins_max = max > PINS_MIN ? max : PINS_MIN;
	rc = hash_key_draw(&clients->key);
	for (unsigned i = 0; i < PARTS && !rc; i++) {
		clients->parts[i] = client_part_new(&clients->key);
		rc = clients->parts[i] ? 0 : -ENOMEM;
	}
	if (!rc)
		return clients;
	clients_free(clients);
	return NULL;
}

static void drop_pin(struct client *client)
{
	atomic_fetch_sub(&client->clients->pins, 1);
	client_table_set(client, CLIENT_LEFT);
	client_put(client);
}

void clients_free(struct clients *clients)
{
	struct client *client;

	if (!clients)
		return;
	for (unsigned i = 0; i < PARTS && clients->parts[i]; i++) {
		while ((client = TAILQ_FIRST(&clients->parts[i]->pins)))
			drop_pin(client);
		assert(clients->parts[i]->by_peer.count == 0);
		client_part_put(clients->parts[i]);
	}
	free(clients);
}

static struct client_part *part_of(struct clients *clients, const struct in6_addr *addr)
{
	return clients->parts[hash_bytes(&clients->key, 0, addr, sizeof(*addr)) % PARTS];
}

static void lock(struct client *client)
{
	pthread_mutex_lock(&client->part->lock);
}

static void unlock(struct client *client)
{
	pthread_mutex_unlock(&client->part->lock);
}

/* Those of other parts wait for somebody to come there. A pin may be later than a turn of another worker. */
static void expire(struct client_part *part, uint64_t now_us)
{
	struct client *oldest;

	while ((oldest = TAILQ_FIRST(&part->pins)) &&
	       now_us > oldest->left_us + CLIENTS_REMEMBER_US)
		drop_pin(oldest);
}

static struct client_part *part_with_oldest_pin(struct clients *clients)
{
	struct client_part *best = NULL;
	uint64_t least = CLIENT_PART_NO_PIN;

	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t oldest_us = atomic_load(&clients->parts[i]->oldest_us);

		if (oldest_us < least) {
			least = oldest_us;
			best = clients->parts[i];
		}
	}
	return best;
}

/* Without any lock: the oldest pin may be in another part than the one that was one too many. */
static void drop_too_many(struct clients *clients)
{
	struct client_part *part;

	while (atomic_load(&clients->pins) > clients->pins_max &&
	       (part = part_with_oldest_pin(clients))) {
		pthread_mutex_lock(&part->lock);
		if (!TAILQ_EMPTY(&part->pins))
			drop_pin(TAILQ_FIRST(&part->pins));
		pthread_mutex_unlock(&part->lock);
	}
}

/* ---- which Calls a client goes by: under the lock of its part ---- */

static bool is_among(const struct client_mark *marks, size_t nmarks, const struct call_mark *call)
{
	for (size_t i = 0; i < nmarks; i++)
		if (call_mark_equals(&marks[i].call, call))
			return true;
	return false;
}

/* As many of @from as may be kept, behind those that are kept already. */
static size_t keep(struct client_mark *to, size_t have, const struct call_mark *from, size_t nfrom)
{
	size_t unanswered = 0, answered = 0;

	for (size_t i = 0; i < have; i++)
		to[i].call.answered ? answered++ : unanswered++;
	for (size_t i = 0; i < nfrom; i++) {
		size_t *count = from[i].answered ? &answered : &unanswered;
		size_t most = from[i].answered ? CLIENTS_ANSWERED_MAX : CLIENTS_UNANSWERED_MAX;

		if (*count >= most || is_among(to, have, &from[i]))
			continue;
		++*count;
		to[have++].call = from[i];
	}
	return have;
}

/* One that is back sends first what it waits for: after so many Replies it waits for nothing of that. */
static bool has_moved_on(const struct call_mark *marks, size_t nmarks)
{
	size_t answered = 0;

	for (size_t i = 0; i < nmarks; i++)
		answered += marks[i].answered;
	return answered >= CLIENTS_ANSWERED_MAX;
}

/*
 * @client goes by these Calls now, the most important first, and where there is room by those that it went by before: past
 * CLIENTS_UNANSWERED_MAX without a Reply, or CLIENTS_ANSWERED_MAX with one, they are left out. With CLIENTS_ANSWERED_MAX
 * answered ones it goes by none of those before.
 */
static void add_marks(struct client *client, const struct call_mark *marks, size_t nmarks)
{
	size_t old = has_moved_on(marks, nmarks) ? 0 : client->nmarks, n, most = nmarks + old;
	struct client_mark *kept;

	if (most > CLIENTS_MARKS_MAX)
		most = CLIENTS_MARKS_MAX;
	if (!most)
		return;
	/* Without memory it is known by its port alone. */
	kept = calloc(most, sizeof(*kept));
	if (!kept)
		return;
	n = keep(kept, 0, marks, nmarks);
	for (size_t i = 0; i < old; i++)
		n = keep(kept, n, &client->marks[i].call, 1);
	client_table_mark(client, kept, n);
}

/* ---- who waits for whom ---- */

/* @client is to have what @old leaves. Returns whether it waits for that now. */
static bool inherit(struct client *client, struct client *old)
{
	if (old->state != CLIENT_ENDING && client_tell_superseded(old))
		return false;
	old->heir = client;
	client->awaited = old;
	return true;
}

/* The pin's port, and the marks by which the client is known, are @client's now. */
static void take_pin(struct client *client, struct client *pin, struct client_pin *out)
{
	struct call_mark marks[CLIENTS_MARKS_MAX];

	out->port = pin->port;
	out->source = pin->source;
	out->due = false;
	for (size_t i = 0; i < pin->nmarks; i++) {
		marks[i] = pin->marks[i].call;
		out->due |= !marks[i].answered;
	}
	add_marks(client, marks, pin->nmarks);
}

static enum client_found take_from_table(struct client *client, struct client *pin,
					 struct client_pin *out)
{
	atomic_fetch_sub(&client->clients->pins, 1);
	client_table_set(pin, CLIENT_LEFT);
	take_pin(client, pin, out);
	client_put(pin);
	return CLIENT_BACK;
}

static enum client_found take_or_wait(struct client *client, struct client *old,
				      struct client_pin *out)
{
	if (old->state == CLIENT_PINNED)
		return take_from_table(client, old, out);
	return !client->waited && inherit(client, old) ? CLIENT_WAIT : CLIENT_NEW;
}

/* By its address alone: one pin, and nobody else who could be meant. */
static enum client_found seek_by_address(struct client *client, struct client_pin *out)
{
	const struct place *place = client->place;
	struct client *old =
		TAILQ_EMPTY(&place->pins) ? TAILQ_FIRST(&place->ending) : TAILQ_FIRST(&place->pins);

	if (!old)
		return CLIENT_NEW;
	if (client->asks)
		return CLIENT_ASK;
	if (place->nending + place->npins == 1 && place->connected == 1 && !old->heir)
		return take_or_wait(client, old, out);
	return CLIENT_ASK;
}

/* ---- finding ---- */

/* Who had the same ends may have been of the other kind: over iwarp a trusted peer, and over TCP now. */
static bool take_gift(struct client *client, struct client_pin *out)
{
	struct client *gift = client->gift;
	bool is_own = gift && gift->privileged == client->privileged;

	client->gift = NULL;
	if (is_own)
		take_pin(client, gift, out);
	if (gift)
		client_put(gift);
	return is_own;
}

/*
 * It needs no pin. But behind the server that sees its port there may be another one that goes by its Calls, a proxy: for that
 * the old connection ends first.
 */
static enum client_found seek_end(struct client *client, const struct call_mark *first)
{
	struct client *old = first ? client_table_by_mark(client, first) : NULL;

	if (old && old->state != CLIENT_PINNED)
		return !client->waited && inherit(client, old) ? CLIENT_WAIT : CLIENT_NEW;
	return first && client_look_around(client) ? CLIENT_WAIT : CLIENT_NEW;
}

static enum client_found seek(struct client *client, const struct call_mark *first,
			      struct client_pin *out)
{
	enum client_found found;
	struct client *old;

	if (client->awaited || (client->looks && !client->waited))
		return CLIENT_WAIT;
	if (client->keeps_port)
		return seek_end(client, first);
	if (take_gift(client, out))
		return CLIENT_BACK;
	old = client_table_same_peer(client);
	if (!old && first)
		old = client_table_by_mark(client, first);
	if (old)
		return take_or_wait(client, old, out);
	found = first ? CLIENT_NEW : seek_by_address(client, out);
	return found == CLIENT_NEW && client_look_around(client) ? CLIENT_WAIT : found;
}

enum client_found clients_seek(struct client *client, const struct call_mark *first,
			       uint64_t now_us, struct client_pin *pin)
{
	enum client_found found;

	lock(client);
	expire(client->part, now_us);
	found = seek(client, first, pin);
	unlock(client);
	return found;
}

static void stop_waiting(struct client *client)
{
	if (client->awaited)
		client->awaited->heir = NULL;
	client->awaited = NULL;
}

void clients_wait_no_longer(struct client *client)
{
	lock(client);
	stop_waiting(client);
	client->waited = true;
	unlock(client);
}

/* ---- coming and going ---- */

int clients_enter(struct clients *clients, const struct client_ends *ends,
		  const struct client_owner *owner, struct client **out)
{
	struct client *client = calloc(1, sizeof(*client)), *old;
	int rc;

	if (!client)
		return -ENOMEM;
	client->clients = clients;
	client->refs = 1;
	client->peer = client_end_of(&ends->peer);
	client->local = client_end_of(&ends->local);
	client->fabric = ends->fabric;
	client->keeps_port = ends->keeps_port;
	client->privileged = ends->privileged;
	client->asks = ends->asks;
	client->owner = *owner;
	client->owned = true;
	client->part = part_of(clients, &client->peer.addr);
	lock(client);
	rc = client_table_add(client);
	old = rc ? NULL : client_table_same_ends(client);
	if (old)
		inherit(client, old);
	unlock(client);
	if (rc) {
		free(client);
		return rc;
	}
	*out = client;
	return 0;
}

void clients_half_closed(struct client *client, const struct call_mark *marks, size_t nmarks)
{
	lock(client);
	if (client->state == CLIENT_LIVE)
		client_table_set(client, CLIENT_HALF);
	if (client->state == CLIENT_HALF)
		add_marks(client, marks, nmarks);
	unlock(client);
}

void clients_ending(struct client *client, const struct call_mark *marks, size_t nmarks)
{
	lock(client);
	if (client->state != CLIENT_ENDING) {
		client_table_set(client, CLIENT_ENDING);
		add_marks(client, marks, nmarks);
	}
	unlock(client);
}

/* What it was given and has not asked for: it may still be of use to the next one. */
static struct client_pin give_up_gift(struct client *client, const struct client_pin *own)
{
	struct client_pin pin;

	return take_gift(client, &pin) && !own->port ? pin : *own;
}

/*
 * One who comes and goes all the time is not to make the others forgotten: of too many pins, one of an address
 * that has more than half of them all makes room for its own.
 */
static void drop_own(const struct client *latest)
{
	const struct clients *clients = latest->clients;

	if (atomic_load(&clients->pins) > clients->pins_max &&
	    latest->place->npins > clients->pins_max / 2)
		drop_pin(TAILQ_FIRST(&latest->place->pins));
}

/* Out of the table: to its heir, as a pin, or for good. */
static void become_pin(struct client *client, uint64_t now_us)
{
	struct client *heir = client->heir;

	if (heir) {
		client->heir = NULL;
		heir->awaited = NULL;
		client_table_set(client, CLIENT_LEFT);
		if (client->port)
			heir->gift = client;
		else
			client_put(client);
		/* Who cannot be told goes on when its time to wait is up. */
		(void)client_tell_resumed(heir);
	} else if (client->port) {
		client->left_us = now_us;
		client_table_set(client, CLIENT_PINNED);
		atomic_fetch_add(&client->clients->pins, 1);
		expire(client->part, now_us);
		drop_own(client);
	} else {
		client_table_set(client, CLIENT_LEFT);
		client_put(client);
	}
}

void clients_find_port(struct client *client)
{
	lock(client);
	client->keeps_port = false;
	unlock(client);
}

int clients_privilege(struct client *client)
{
	int rc;

	lock(client);
	rc = client->privileged ? 0 : client_table_privilege(client);
	unlock(client);
	return rc;
}

void clients_leave(struct client *client, const struct client_pin *pin, uint64_t now_us)
{
	struct client_pin left;
	struct client_part *part = client->part;
	struct clients *clients = client->clients;

	pthread_mutex_lock(&part->lock);
	client->owned = false;
	stop_waiting(client);
	left = give_up_gift(client, pin);
	client->port = client->keeps_port ? 0 : left.port;
	client->source = left.source;
	if (client->state != CLIENT_ENDING)
		client_table_set(client, CLIENT_ENDING);
	become_pin(client, now_us);
	pthread_mutex_unlock(&part->lock);
	drop_too_many(clients);
}
