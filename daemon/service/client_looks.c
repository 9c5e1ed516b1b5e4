// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client's old connection may have ended before the new one came, while its owner has not heard of that: it is on another
 * thread, which may be at something else; or the end stands behind other events of the same turn, or behind bytes that the
 * owner has not read yet. So before a client is taken for new, each loop with connections of that address makes a
 * *round*: it has their owners hear of an end that has come, whatever is unread before it, of ASKED_PER_TURN connections in
 * each turn. What they hear of they tell in that turn or in the next ones, of which there are LOOK_TURNS.
 *
 * For one address a loop makes one round at a time, and then one more for all clients that asked after it had begun: ends may have
 * come that it did not look for any more. So what a turn costs others grows neither with the connections of an address nor with
 * how often it connects. A round may outlive the table: the
 * client that asked may have left, and its service may be gone.
 */
#include "daemon/service/client_looks.h"

#include <stdlib.h>

/* ---- messages: each is posted to the owner's loop, holds a reference meanwhile, and is dropped if the client has left ---- */

void client_put(struct client *client)
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

int client_tell_superseded(struct client *client)
{
	return tell(client, on_superseded);
}

int client_tell_resumed(struct client *client)
{
	return tell(client, on_resumed);
}

/* ---- rounds ---- */

/*
 * A leg's task says closing() in the turn in which the leg heard of the end, or in the one after it. A fabric's events are
 * put off from one turn to the next, up to three times.
 */
#define LOOK_TURNS     6u
#define ASKED_PER_TURN 32u

/* A client that waits for a round. */
struct look {
	TAILQ_ENTRY(look) entry;
	struct client *client;
};
TAILQ_HEAD(look_list, look);

struct look_round {
	struct place_loop *with; /* NULL: all connections of that loop are gone */
	struct client_part *part;
	struct client_owner owner; /* of the loop */
	bool begun;
	unsigned unasked; /* connections */
	unsigned turns;   /* that are left once all were asked */
	struct look_list looks;
	struct look_list late; /* of those who asked after it had begun: for the next one */
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
 * Only this thread changes the list, and hear_end() removes no connection from it. A connection that was asked moves to the end of
 * the list, behind those that were added since.
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
		/* A client that cannot be told asks by itself after a while. */
		if (!--client->looks && client->place_loop)
			(void)client_tell_resumed(client);
		client_put(client);
		free(look);
	}
}

/* Returns whether there is another one to make. */
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
	/* Without memory for a message those who wait are told at once. */
	while (goes_on)
		goes_on = end(round);
	client_part_put(round->part);
	free(round);
}

/* The one that @with makes or is about to make; NULL without memory. */
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

bool client_look_around(struct client *client)
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
