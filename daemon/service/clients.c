// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/clients.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_memory.h"
#include "daemon/service/client_table.h"

#define PARTS    16u /* enough to make contention on their locks rare */
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

/* ---- messages: posted to the owner's loop with a reference, and dropped if the client has left ---- */

/* Drops a reference. Under the lock of the shard, like the functions that post messages. */
static void client_put(struct client *client)
{
	if (--client->refs)
		return;
	free(client->marks);
	free(client);
}

static int tell(struct client *client, void (*fn)(void *arg))
{
	int rc;

	client->refs++;
	rc = client->owner.post(client->owner.loop, fn, client);
	if (rc)
		client->refs--;
	return rc;
}

static void take_message(struct client *client, void (*fn)(void *arg))
{
	struct client_part *part = client->part;

	if (client->owned)
		fn(client->owner.arg);
	pthread_mutex_lock(&part->lock);
	client_put(client);
	pthread_mutex_unlock(&part->lock);
}

static void on_superseded(void *arg)
{
	struct client *client = arg;

	take_message(client, client->owner.superseded);
}

static void on_resumed(void *arg)
{
	struct client *client = arg;

	take_message(client, client->owner.resumed);
}

/* Has the owner close the connection now. Returns 0, or -ENOMEM: not posted. */
MUST_CHECK static int client_tell_superseded(struct client *client)
{
	return tell(client, on_superseded);
}

/* Has the owner call clients_seek() again. Returns 0, or -ENOMEM: not posted. */
static int client_tell_resumed(struct client *client)
{
	return tell(client, on_resumed);
}

/* ---- the table ---- */

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

/*
 * Retained clients of other shards expire with later calls there. left_us comes from another worker's loop and can be
 * later than @now_us.
 */
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

/* Without a lock: the oldest retained client can be in another shard than the latest. */
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

/*
 * ---- undetected ends of connections ----
 *
 * A client's old connection can have ended before the new one arrived, while its owner has not noticed: the owner's
 * thread is busy, or the end follows other events of the same iteration, or bytes that the owner has not read yet. So
 * before a client counts as new, each loop with connections of that address runs a *round*. It has the owners of
 * QUERIES_PER_TURN connections per iteration detect an end, whatever is unread before it. The owners report ends in that
 * iteration or in the next QUERY_TURNS ones.
 *
 * For one address a loop runs one round at a time, and then one more for all clients that queried after its start,
 * because more connections can have ended since. So the cost for others grows neither with the connections of an
 * address nor with its rate of connecting. A round can outlive the table: the client that queried and its service can
 * be gone.
 */

/*
 * A leg's task calls closing() in the iteration in which the leg detected the end, or in the next. A fabric defers
 * events from one iteration to the next up to three times.
 */
#define LOOK_TURNS     6u
#define ASKED_PER_TURN 32u

/* A client that waits for a round of queries. */
struct look {
	TAILQ_ENTRY(look) entry;
	struct client *client;
};
TAILQ_HEAD(look_list, look);

struct look_round {
	struct place_loop *with; /* NULL: that loop has no connection of the address any more */
	struct client_part *part;
	struct client_owner owner; /* of the loop */
	bool begun;
	unsigned unasked; /* connections */
	unsigned turns;   /* left after all were queried */
	struct look_list looks;
	struct look_list late; /* queries that arrived after the start: for the next round */
};

static void begin(struct look_round *round)
{
	pthread_mutex_lock(&round->part->lock);
	round->begun = true;
	round->unasked = round->with ? round->with->connected : 0;
	round->turns = LOOK_TURNS;
	pthread_mutex_unlock(&round->part->lock);
}

/*
 * Only this thread changes the list, and hear_end() removes no connection from it. A queried connection moves to the
 * end of the list, after those that were added since.
 */
static void ask(struct look_round *round)
{
	struct place_loop *with = round->with;

	for (unsigned n = 0; with && round->unasked && n < ASKED_PER_TURN; n++) {
		struct client *client = TAILQ_FIRST(&with->clients);

		TAILQ_REMOVE(&with->clients, client, loop_entry);
		TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
		round->unasked--;
		client->owner.hear_end(client->owner.arg);
	}
	if (!with)
		round->unasked = 0;
}

static void answer(struct look_list *looks)
{
	struct look *look;

	while ((look = TAILQ_FIRST(looks))) {
		struct client *client = look->client;

		TAILQ_REMOVE(looks, look, entry);
		/* If the post fails, the client retries by itself after a while. */
		if (!--client->looks && client->place_loop)
			(void)client_tell_resumed(client);
		client_put(client);
		free(look);
	}
}

/* Returns whether another round follows. */
static bool end(struct look_round *round)
{
	bool again;

	pthread_mutex_lock(&round->part->lock);
	answer(&round->looks);
	TAILQ_CONCAT(&round->looks, &round->late, entry);
	round->begun = false;
	again = !TAILQ_EMPTY(&round->looks);
	if (!again && round->with)
		round->with->asked_by = NULL;
	pthread_mutex_unlock(&round->part->lock);
	return again;
}

static void on_turn(void *arg)
{
	struct look_round *round = arg;
	bool goes_on = true;

	if (!round->begun)
		begin(round);
	ask(round);
	if (!round->unasked && !--round->turns)
		goes_on = end(round);
	if (goes_on && !round->owner.post(round->owner.loop, on_turn, round))
		return;
	/* If the post fails, all waiting clients resume at once. */
	while (goes_on)
		goes_on = end(round);
	client_part_put(round->part);
	free(round);
}

/* Returns the round that @with runs or will run; NULL without memory. */
static struct look_round *round_of(struct client_part *part, struct place_loop *with)
{
	struct look_round *round;

	if (with->asked_by)
		return container_of(with->asked_by, struct look_round, with);
	round = calloc(1, sizeof(*round));
	if (!round)
		return NULL;
	*round = (struct look_round){.with = with, .part = part, .owner = with->owner};
	TAILQ_INIT(&round->looks);
	TAILQ_INIT(&round->late);
	if (round->owner.post(round->owner.loop, on_turn, round)) {
		free(round);
		return NULL;
	}
	part->refs++;
	with->asked_by = &round->with;
	return round;
}

static void ask_loop(struct client *client, struct place_loop *with)
{
	struct look *look = malloc(sizeof(*look));
	struct look_round *round = look ? round_of(client->part, with) : NULL;

	if (!round) {
		free(look);
		return;
	}
	look->client = client;
	TAILQ_INSERT_TAIL(round->begun ? &round->late : &round->looks, look, entry);
	client->refs++;
	client->looks++;
}

/*
 * Has each loop with connections of @client's address detect ends of connections, once for each client. Under the lock
 * of the shard. Returns whether to wait for answers: the owner resumes when client->queries is 0 again. A loop is skipped
 * if there is no memory for its round.
 */
static bool client_look_around(struct client *client)
{
	struct place_loop *with;

	if (client->looked || client->waited || client->place->connected < 2)
		return false;
	client->looked = true;
	LIST_FOREACH(with, &client->place->loops, entry)
		if (with != client->place_loop || with->connected > 1)
			ask_loop(client, with);
	return client->looks > 0;
}

/* ---- the fingerprints of a client: under the lock of its shard ---- */

static bool is_among(const struct client_mark *marks, size_t nmarks, const struct call_mark *call)
{
	for (size_t i = 0; i < nmarks; i++)
		if (call_mark_equals(&marks[i].call, call))
			return true;
	return false;
}

/* Appends as many of @from as the limits allow. */
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

/* A reconnected client retransmits first: after so many Replies none of the old Calls matters. */
static bool has_moved_on(const struct call_mark *marks, size_t nmarks)
{
	size_t answered = 0;

	for (size_t i = 0; i < nmarks; i++)
		answered += marks[i].answered;
	return answered >= CLIENTS_ANSWERED_MAX;
}

/*
 * Sets the fingerprints of @client, most important first, and keeps earlier ones while there is space. The limits are
 * CLIENTS_UNANSWERED_MAX without a Reply and CLIENTS_ANSWERED_MAX with one. With CLIENTS_ANSWERED_MAX answered Calls no
 * earlier fingerprint is kept.
 */
static void add_marks(struct client *client, const struct call_mark *marks, size_t nmarks)
{
	size_t old = has_moved_on(marks, nmarks) ? 0 : client->nmarks, n, most = nmarks + old;
	struct client_mark *kept;

	if (most > CLIENTS_MARKS_MAX)
		most = CLIENTS_MARKS_MAX;
	if (!most)
		return;
	/* Without memory it is recognized by its port alone. */
	kept = calloc(most, sizeof(*kept));
	if (!kept)
		return;
	n = keep(kept, 0, marks, nmarks);
	for (size_t i = 0; i < old; i++)
		n = keep(kept, n, &client->marks[i].call, 1);
	client_table_mark(client, kept, n);
}

/* ---- successors ---- */

/* Makes @client the successor of @old. Returns whether it waits for @old now. */
static bool inherit(struct client *client, struct client *old)
{
	if (old->state != CLIENT_ENDING && client_tell_superseded(old))
		return false;
	old->heir = client;
	client->awaited = old;
	return true;
}

/* Gives @client the port and the fingerprints of a retained client. */
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

/* Matches by address alone: one retained client, and no other candidate. */
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

/* ---- lookup ---- */

/* A client with the same endpoints can have differed in privilege: a trusted peer over iwarp then, TCP now. */
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
 * The client uses its own port upstream. But a proxy beyond the server that sees this port can recognize the client by
 * its Calls; for that the old connection must end first.
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

/* ---- adding and leaving ---- */

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

/* An inherited port that it has not used can still serve the next connection. */
static struct client_pin give_up_gift(struct client *client, const struct client_pin *own)
{
	struct client_pin pin;

	return take_gift(client, &pin) && !own->port ? pin : *own;
}

/* A client that reconnects all the time must not displace others: an address with more than half of all loses its oldest. */
static void drop_own(const struct client *latest)
{
	const struct clients *clients = latest->clients;

	if (atomic_load(&clients->pins) > clients->pins_max &&
	    latest->place->npins > clients->pins_max / 2)
		drop_pin(TAILQ_FIRST(&latest->place->pins));
}

/* Hands its port to its successor, or retains the client, or drops it. */
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
		/* If the post fails, the successor resumes at its time limit. */
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
