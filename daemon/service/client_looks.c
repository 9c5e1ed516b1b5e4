// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client's old connection may have ended before the new one came, while its owner has not heard of that: it is on another
 * thread, which may be at something else; or the end stands behind other events of the same turn, or behind bytes that the
 * owner has not read yet. So before a client is taken for new, each loop with connections of that address makes a
 * *round*: in the first turn it has their owners hear of an end that has come, whatever is unread before it. What they
 * hear of they tell in that turn or in the next ones, of which there are LOOK_TURNS.
 *
 * Clients that ask before a round has begun share it, so that a loop makes no more than one for an address in each turn. A round
 * may outlive the table: who has asked may have left, and the service be gone.
 */
#include "daemon/service/client_looks.h"

#include <stdlib.h>

#include "daemon/service/client_messages.h"

/*
 * A leg's task says closing() in the turn in which the leg heard of the end, or in the one after it. A fabric's events are
 * put off from one turn to the next, up to three times.
 */
#define LOOK_TURNS 6u

/* A client that waits for a round. */
struct look {
	TAILQ_ENTRY(look) entry;
	struct client *client;
};

struct look_round {
	struct place_loop *with; /* NULL: it has begun, or all connections of that loop are gone */
	struct client_part *part;
	struct client_owner owner; /* of the loop */
	unsigned turns;            /* that are left */
	TAILQ_HEAD(, look) looks;
};

/* The list of clients changes on this thread alone, and hear_end() removes no client from it: no lock is needed. */
static void begin(struct look_round *round)
{
	struct place_loop *with;
	const struct client *client;

	pthread_mutex_lock(&round->part->lock);
	with = round->with;
	if (with)
		with->asked_by = NULL;
	round->with = NULL;
	pthread_mutex_unlock(&round->part->lock);
	if (!with)
		return;
	LIST_FOREACH(client, &with->clients, loop_entry)
		client->owner.hear_end(client->owner.arg);
}

static void end(struct look_round *round)
{
	struct client_part *part = round->part;
	struct look *look;

	pthread_mutex_lock(&part->lock);
	if (round->with)
		round->with->asked_by = NULL;
	while ((look = TAILQ_FIRST(&round->looks))) {
		struct client *client = look->client;

		TAILQ_REMOVE(&round->looks, look, entry);
		/* A client that cannot be told asks by itself after a while. */
		if (!--client->looks && client->place_loop)
			(void)client_tell_resumed(client);
		client_put(client);
		free(look);
	}
	pthread_mutex_unlock(&part->lock);
	client_part_put(part);
	free(round);
}

static void on_turn(void *arg)
{
	struct look_round *round = arg;

	if (round->turns == LOOK_TURNS)
		begin(round);
	if (--round->turns && !round->owner.post(round->owner.loop, on_turn, round))
		return;
	end(round);
}

/* The one that @with is about to make; NULL without memory. */
static struct look_round *next_round(struct client_part *part, struct place_loop *with)
{
	struct look_round *round;

	if (with->asked_by)
		return container_of(with->asked_by, struct look_round, with);
	round = calloc(1, sizeof(*round));
	if (!round)
		return NULL;
	*round = (struct look_round){with, part, with->owner, LOOK_TURNS, {0}};
	TAILQ_INIT(&round->looks);
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
	struct look_round *round = look ? next_round(client->part, with) : NULL;

	if (!round) {
		free(look);
		return;
	}
	look->client = client;
	TAILQ_INSERT_TAIL(&round->looks, look, entry);
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
