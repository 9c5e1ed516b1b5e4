// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/client_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"

/* Fingerprints with the same hash. A client can choose its Calls, and a lookup walks all of them. */
#define EQUAL_MARKS_MAX 16u

STATE_TABLE(client_states, CLIENT_STATES);

struct client_end client_end_of(const struct sockaddr_storage *addr)
{
	struct client_end end = {.port = sockaddr_port((const struct sockaddr *)addr)};

	(void)sockaddr_host((const struct sockaddr *)addr, &end.addr);
	if (addr->ss_family == AF_INET6)
		end.scope = ((const struct sockaddr_in6 *)addr)->sin6_scope_id;
	return end;
}

static bool ends_equal(const struct client_end *a, const struct client_end *b)
{
	return a->port == b->port && a->scope == b->scope &&
	       !memcmp(&a->addr, &b->addr, sizeof(a->addr));
}

static void note_oldest(struct client_part *part)
{
	const struct client *oldest = TAILQ_FIRST(&part->pins);

	atomic_store(&part->oldest_us, oldest ? oldest->left_us : CLIENT_PART_NO_PIN);
}

struct client_part *client_part_new(const struct hash_key *key)
{
	struct client_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->refs = 1;
	part->key = *key;
	TAILQ_INIT(&part->pins);
	note_oldest(part);
	pthread_mutex_init(&part->lock, NULL);
	hash_table_init(&part->places);
	hash_table_init(&part->by_peer);
	hash_table_init(&part->marks);
	return part;
}

void client_part_put(struct client_part *part)
{
	bool last;

	if (!part)
		return;
	pthread_mutex_lock(&part->lock);
	last = !--part->refs;
	pthread_mutex_unlock(&part->lock);
	if (!last)
		return;
	hash_table_fini(&part->places);
	hash_table_fini(&part->by_peer);
	hash_table_fini(&part->marks);
	pthread_mutex_destroy(&part->lock);
	free(part);
}

/* ---- keys ---- */

static uint64_t hash_of_place(const struct client_part *part, const struct in6_addr *addr,
			      bool privileged)
{
	uint64_t kind =
		privileged ? UINT64_MAX : 1; /* not in the range of ports: see hash_peer() */

	return hash_bytes(&part->key, kind, addr, sizeof(*addr));
}

static uint64_t hash_of_peer(const struct client_part *part, const struct client_end *end)
{
	return hash_bytes(&part->key, 2 + end->port, &end->addr, sizeof(end->addr));
}

/* Clients of other addresses or privilege cannot retransmit this Call, so the key includes their hash. */
static uint64_t hash_of_mark(const struct client *client, const struct call_mark *call)
{
	const uint32_t words[] = {call->xid, call->len_bytes, call->crc};

	return hash_bytes(&client->part->key, client->place->node.hash, words, sizeof(words));
}

static struct place *place_of(struct client_part *part, const struct in6_addr *addr,
			      bool privileged)
{
	uint64_t hash = hash_of_place(part, addr, privileged);
	struct hash_node *node = hash_table_first(&part->places, hash);
	struct place *place;

	for (; node; node = hash_table_next(node)) {
		place = container_of(node, struct place, node);
		if (place->privileged == privileged && !memcmp(&place->addr, addr, sizeof(*addr)))
			return place;
	}
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->addr = *addr;
	place->privileged = privileged;
	TAILQ_INIT(&place->ending);
	TAILQ_INIT(&place->pins);
	LIST_INIT(&place->loops);
	hash_table_add(&part->places, &place->node, hash);
	return place;
}

/* ---- adding and removing ---- */

static bool is_connected(unsigned state)
{
	return state == CLIENT_LIVE || state == CLIENT_HALF;
}

static struct place_loop *place_loop_of(struct place *place, const struct client_owner *owner)
{
	struct place_loop *found;

	LIST_FOREACH(found, &place->loops, entry)
		if (found->owner.loop == owner->loop)
			return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->owner = *owner;
	TAILQ_INIT(&found->clients);
	LIST_INSERT_HEAD(&place->loops, found, entry);
	return found;
}

static void drop_loop(struct place_loop *left)
{
	if (--left->connected)
		return;
	if (left->asked_by)
		*left->asked_by = NULL;
	LIST_REMOVE(left, entry);
	free(left);
}

static void leave_loop(struct client *client)
{
	struct place_loop *left = client->place_loop;

	client->place_loop = NULL;
	TAILQ_REMOVE(&left->clients, client, loop_entry);
	drop_loop(left);
}

static void enter_place(struct client *client)
{
	struct place *place = client->place;

	if (is_connected(client->state)) {
		place->connected++;
	} else if (client->state == CLIENT_ENDING) {
		place->nending++;
		TAILQ_INSERT_TAIL(&place->ending, client, place_entry);
	} else if (client->state == CLIENT_PINNED) {
		place->npins++;
		TAILQ_INSERT_TAIL(&place->pins, client, place_entry);
		TAILQ_INSERT_TAIL(&client->part->pins, client, age_entry);
		note_oldest(client->part);
	}
}

static void leave_place(struct client *client)
{
	struct place *place = client->place;

	if (is_connected(client->state)) {
		place->connected--;
	} else if (client->state == CLIENT_ENDING) {
		place->nending--;
		TAILQ_REMOVE(&place->ending, client, place_entry);
	} else if (client->state == CLIENT_PINNED) {
		place->npins--;
		TAILQ_REMOVE(&place->pins, client, place_entry);
		TAILQ_REMOVE(&client->part->pins, client, age_entry);
		note_oldest(client->part);
	}
}

static void forget_marks(struct client *client)
{
	for (size_t i = 0; i < client->nmarks && client->marks_are_found; i++)
		if (client->marks[i].client)
			hash_table_remove(&client->part->marks, &client->marks[i].node);
	client->marks_are_found = false;
}

static bool has_enough(const struct hash_table *marks, uint64_t hash)
{
	const struct hash_node *node = hash_table_first(marks, hash);
	unsigned count = 0;

	for (; node && count < EQUAL_MARKS_MAX; node = hash_table_next(node))
		count++;
	return count == EQUAL_MARKS_MAX;
}

static void show_marks(struct client *client)
{
	for (size_t i = 0; i < client->nmarks; i++) {
		struct client_mark *mark = &client->marks[i];
		uint64_t hash = hash_of_mark(client, &mark->call);

		mark->client = has_enough(&client->part->marks, hash) ? NULL : client;
		if (mark->client)
			hash_table_add(&client->part->marks, &mark->node, hash);
	}
	client->marks_are_found = true;
}

static void drop_if_empty(struct client_part *part, struct place *place)
{
	if (place->connected + place->nending + place->npins)
		return;
	hash_table_remove(&part->places, &place->node);
	free(place);
}

static void out(struct client *client)
{
	struct client_part *part = client->part;
	struct place *place = client->place;

	forget_marks(client);
	hash_table_remove(&part->by_peer, &client->by_peer);
	client->place = NULL;
	drop_if_empty(part, place);
}

/* Adds a client in CLIENT_LIVE or CLIENT_HALF to the entry of its address and privilege. Returns 0 or -ENOMEM. */
static int settle_in(struct client *client)
{
	struct client_part *part = client->part;
	struct place *place = place_of(part, &client->peer.addr, client->privileged);
	struct place_loop *with;

	if (!place)
		return -ENOMEM;
	with = place_loop_of(place, &client->owner);
	if (!with) {
		drop_if_empty(part, place);
		return -ENOMEM;
	}
	client->place = place;
	client->place_loop = with;
	TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
	with->connected++;
	enter_place(client);
	return 0;
}

int client_table_privilege(struct client *client)
{
	struct place *before = client->place;
	struct place_loop *with = client->place_loop;
	int rc;

	forget_marks(client);
	client->privileged = true;
	TAILQ_REMOVE(&with->clients, client, loop_entry);
	rc = settle_in(client);
	if (rc) {
		client->privileged = false;
		TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
	} else {
		before->connected--;
		drop_loop(with);
		drop_if_empty(client->part, before);
	}
	if (client->state != CLIENT_LIVE)
		show_marks(client);
	return rc;
}

int client_table_add(struct client *client)
{
	struct client_part *part = client->part;
	int rc;

	client->state = CLIENT_LIVE;
	rc = settle_in(client);
	if (rc)
		return rc;
	hash_table_add(&part->by_peer, &client->by_peer, hash_of_peer(part, &client->peer));
	return 0;
}

void client_table_set(struct client *client, enum client_state state)
{
	leave_place(client);
	client->state = state_next(&client_states, client->state, state);
	enter_place(client);
	if (client->place_loop && !is_connected(client->state))
		leave_loop(client);
	if (state == CLIENT_LEFT)
		out(client);
}

void client_table_mark(struct client *client, struct client_mark *marks, size_t nmarks)
{
	forget_marks(client);
	free(client->marks);
	client->marks = marks;
	client->nmarks = nmarks;
	/* A connected client is found by its addresses alone. */
	if (client->state != CLIENT_LIVE)
		show_marks(client);
}

/* ---- finding ---- */

static struct client *with_peer(struct hash_node *node)
{
	return node ? container_of(node, struct client, by_peer) : NULL;
}

struct client *client_table_same_ends(const struct client *client)
{
	struct hash_node *node = hash_table_first(&client->part->by_peer, client->by_peer.hash);
	struct client *other;

	for (; (other = with_peer(node)); node = hash_table_next(node))
		if (other != client && other->state != CLIENT_PINNED && !other->heir &&
		    other->fabric == client->fabric && ends_equal(&other->peer, &client->peer) &&
		    ends_equal(&other->local, &client->local))
			return other;
	return NULL;
}

struct client *client_table_same_peer(const struct client *client)
{
	struct hash_node *node = hash_table_first(&client->part->by_peer, client->by_peer.hash);
	struct client *other;

	for (; (other = with_peer(node)); node = hash_table_next(node))
		if (other->state == CLIENT_PINNED && other->privileged == client->privileged &&
		    ends_equal(&other->peer, &client->peer))
			return other;
	return NULL;
}

/*
 * Closing a live connection cannot be undone. So only a Call that waits there and comes from the same user allows it:
 * another user of that host may well send the same XID and arguments.
 */
static bool may_end(const struct call_mark *waiting, const struct call_mark *call)
{
	return !waiting->answered && call_mark_same_sender(waiting, call);
}

/* How likely the client of @mark sent this Call before; 0: it did not. */
static unsigned likelihood(const struct client_mark *mark, const struct call_mark *call)
{
	if (mark->client->state == CLIENT_PINNED)
		return mark->call.answered ? 2 : 3;
	if (mark->client->heir)
		return 0;
	return mark->client->state == CLIENT_HALF && !may_end(&mark->call, call) ? 0 : 1;
}

struct client *client_table_by_mark(const struct client *client, const struct call_mark *call)
{
	struct hash_node *node = hash_table_first(&client->part->marks, hash_of_mark(client, call));
	const struct client_mark *best = NULL;

	for (; node; node = hash_table_next(node)) {
		const struct client_mark *mark = container_of(node, struct client_mark, node);

		if (mark->client == client || mark->client->place != client->place ||
		    !call_mark_equals(&mark->call, call) || !likelihood(mark, call))
			continue;
		if (!best || likelihood(mark, call) > likelihood(best, call))
			best = mark;
		if (likelihood(best, call) == 3)
			break;
	}
	return best ? best->client : NULL;
}
