// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/client_affinity.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_memory.h"
#include "daemon/service/client_index.h"

#define PARTITIONS   16u /* enough to make contention on their locks rare */
#define RETAINED_MIN 64u

static_assert(2 * (sizeof(struct affinity_client) + sizeof(struct client_addr)) +
			      sizeof(struct client_addr_loop) +
			      CALL_FINGERPRINTS_MAX * sizeof(struct client_fingerprint) <=
		      CONFIG_CLIENT_BYTES,
	      "a connection and a retained client are counted");

struct client_affinity {
	atomic_uint retained;
	unsigned retained_max;
	struct hash_key key;
	struct client_index_partition *partitions[PARTITIONS];
};

struct client_affinity *client_affinity_new(unsigned max)
{
	struct client_affinity *clients = calloc(1, sizeof(*clients));
	int rc;

	if (!clients)
		return NULL;
	clients->retained_max = max > RETAINED_MIN ? max : RETAINED_MIN;
	rc = hash_key_draw(&clients->key);
	for (unsigned i = 0; i < PARTITIONS && !rc; i++) {
		clients->partitions[i] = client_index_partition_new(&clients->key);
		rc = clients->partitions[i] ? 0 : -ENOMEM;
	}
	if (!rc)
		return clients;
	client_affinity_free(clients);
	return NULL;
}

/* ---- messages to the owner's loop, each with a reference; dropped if the client has left ---- */

/* Drops a reference. Under the lock of the partition, like the functions that post messages. */
static void client_put(struct affinity_client *client)
{
	if (--client->refs)
		return;
	free(client->calls);
	free(client);
}

static int client_post(struct affinity_client *client, void (*fn)(void *arg))
{
	int rc;

	client->refs++;
	rc = client->owner.post(client->owner.loop, fn, client);
	if (rc)
		client->refs--;
	return rc;
}

static void client_run(struct affinity_client *client, void (*fn)(void *arg))
{
	struct client_index_partition *partition = client->partition;

	if (client->owned)
		fn(client->owner.arg);
	pthread_mutex_lock(&partition->lock);
	client_put(client);
	pthread_mutex_unlock(&partition->lock);
}

static void on_superseded(void *arg)
{
	struct affinity_client *client = arg;

	client_run(client, client->owner.superseded);
}

static void on_resumed(void *arg)
{
	struct affinity_client *client = arg;

	client_run(client, client->owner.resumed);
}

/* Has the owner close the connection now. Returns 0, or -ENOMEM: not posted. */
MUST_CHECK static int client_post_superseded(struct affinity_client *client)
{
	return client_post(client, on_superseded);
}

/* Has the owner call client_affinity_find() again. Returns 0, or -ENOMEM: not posted. */
static int client_post_resumed(struct affinity_client *client)
{
	return client_post(client, on_resumed);
}

/* ---- the table ---- */

static void retained_drop(struct affinity_client *client)
{
	atomic_fetch_sub(&client->clients->retained, 1);
	client_index_set_state(client, CLIENT_FREE);
	client_put(client);
}

void client_affinity_free(struct client_affinity *clients)
{
	struct affinity_client *client;

	if (!clients)
		return;
	for (unsigned i = 0; i < PARTITIONS && clients->partitions[i]; i++) {
		while ((client = TAILQ_FIRST(&clients->partitions[i]->retained)))
			retained_drop(client);
		assert(clients->partitions[i]->by_peer.count == 0);
		client_index_partition_put(clients->partitions[i]);
	}
	free(clients);
}

static struct client_index_partition *partition_of(struct client_affinity *clients,
						   const struct in6_addr *addr)
{
	return clients->partitions[hash_bytes(&clients->key, 0, addr, sizeof(*addr)) % PARTITIONS];
}

static void lock(struct affinity_client *client)
{
	pthread_mutex_lock(&client->partition->lock);
}

static void unlock(struct affinity_client *client)
{
	pthread_mutex_unlock(&client->partition->lock);
}

/*
 * Retained clients of other partitions expire with later calls there. left_us comes from another
 * worker's loop and can be later than @now_us.
 */
static void retained_expire(struct client_index_partition *partition, uint64_t now_us)
{
	struct affinity_client *oldest;

	while ((oldest = TAILQ_FIRST(&partition->retained)) &&
	       now_us > oldest->left_us + CLIENT_AFFINITY_RETAIN_US)
		retained_drop(oldest);
}

static struct client_index_partition *partition_with_oldest(struct client_affinity *clients)
{
	struct client_index_partition *best = NULL;
	uint64_t least = CLIENT_INDEX_NONE_RETAINED;

	for (unsigned i = 0; i < PARTITIONS; i++) {
		uint64_t oldest_us = atomic_load(&clients->partitions[i]->oldest_us);

		if (oldest_us < least) {
			least = oldest_us;
			best = clients->partitions[i];
		}
	}
	return best;
}

/* Without a lock: the oldest retained client can be in another partition than the latest. */
static void retained_drop_excess(struct client_affinity *clients)
{
	struct client_index_partition *partition;

	while (atomic_load(&clients->retained) > clients->retained_max &&
	       (partition = partition_with_oldest(clients))) {
		pthread_mutex_lock(&partition->lock);
		if (!TAILQ_EMPTY(&partition->retained))
			retained_drop(TAILQ_FIRST(&partition->retained));
		pthread_mutex_unlock(&partition->lock);
	}
}

/*
 * ---- undetected ends of connections ----
 *
 * A client's old connection can have ended before the new one arrived, while its owner has not
 * noticed: the owner's thread is busy, or the end follows other events of the same iteration, or
 * bytes that the owner has not read yet. So before a client counts as new, each loop with
 * connections of that address runs a *round*. It has the owners of QUERIES_PER_TURN connections per
 * iteration detect an end, whatever is unread before it. The owners report ends in that iteration
 * or in the next QUERY_TURNS ones.
 *
 * For one address a loop runs one round at a time, and then one more for all clients that queried
 * after its start, because more connections can have ended since. So the cost for others grows
 * neither with the connections of an address nor with its rate of connecting. A round can outlive
 * the table: the client that queried and its service can be gone.
 */

/*
 * A leg's task calls closing() in the iteration in which the leg detected the end, or in the next.
 * A fabric defers events from one iteration to the next up to three times.
 */
#define QUERY_TURNS      6u
#define QUERIES_PER_TURN 32u

/* A client that waits for a round of queries. */
struct affinity_query {
	TAILQ_ENTRY(affinity_query) entry;
	struct affinity_client *client;
};
TAILQ_HEAD(affinity_query_list, affinity_query);

struct affinity_round {
	/* NULL: that loop has no connection of the address any more */
	struct client_addr_loop *with;
	struct client_index_partition *partition;
	struct client_owner owner; /* of the loop */
	bool started;
	unsigned unqueried; /* connections */
	unsigned turns;     /* left after all were queried */
	struct affinity_query_list queries;
	/* queries that arrived after the start: for the next round */
	struct affinity_query_list late;
};

static void round_start(struct affinity_round *round)
{
	pthread_mutex_lock(&round->partition->lock);
	round->started = true;
	round->unqueried = round->with ? round->with->connected : 0;
	round->turns = QUERY_TURNS;
	pthread_mutex_unlock(&round->partition->lock);
}

/*
 * Only this thread changes the list, and check_peer_close() does not remove connections from it. A
 * queried connection moves to the end of the list, behind those that were added since.
 */
static void round_query(struct affinity_round *round)
{
	struct client_addr_loop *with = round->with;

	for (unsigned n = 0; with && round->unqueried && n < QUERIES_PER_TURN; n++) {
		struct affinity_client *client = TAILQ_FIRST(&with->clients);

		TAILQ_REMOVE(&with->clients, client, loop_entry);
		TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
		round->unqueried--;
		client->owner.check_peer_close(client->owner.arg);
	}
	if (!with)
		round->unqueried = 0;
}

static void round_finish(struct affinity_query_list *queries)
{
	struct affinity_query *query;

	while ((query = TAILQ_FIRST(queries))) {
		struct affinity_client *client = query->client;

		TAILQ_REMOVE(queries, query, entry);
		/* If the post fails, the client retries by itself after a while. */
		if (!--client->queries && client->client_addr_loop)
			(void)client_post_resumed(client);
		client_put(client);
		free(query);
	}
}

/* Returns whether another round follows. */
static bool round_end(struct affinity_round *round)
{
	bool again;

	pthread_mutex_lock(&round->partition->lock);
	round_finish(&round->queries);
	TAILQ_CONCAT(&round->queries, &round->late, entry);
	round->started = false;
	again = !TAILQ_EMPTY(&round->queries);
	if (!again && round->with)
		round->with->round_ref = NULL;
	pthread_mutex_unlock(&round->partition->lock);
	return again;
}

static void on_turn(void *arg)
{
	struct affinity_round *round = arg;
	bool goes_on = true;

	if (!round->started)
		round_start(round);
	round_query(round);
	if (!round->unqueried && !--round->turns)
		goes_on = round_end(round);
	if (goes_on && !round->owner.post(round->owner.loop, on_turn, round))
		return;
	/* If the post fails, all waiting clients resume at once. */
	while (goes_on)
		goes_on = round_end(round);
	client_index_partition_put(round->partition);
	free(round);
}

/* Returns the round that @with runs or will run; NULL without memory. */
static struct affinity_round *round_of(struct client_index_partition *partition,
				       struct client_addr_loop *with)
{
	struct affinity_round *round;

	if (with->round_ref)
		return container_of(with->round_ref, struct affinity_round, with);
	round = calloc(1, sizeof(*round));
	if (!round)
		return NULL;
	*round =
		(struct affinity_round){.with = with, .partition = partition, .owner = with->owner};
	TAILQ_INIT(&round->queries);
	TAILQ_INIT(&round->late);
	if (round->owner.post(round->owner.loop, on_turn, round)) {
		free(round);
		return NULL;
	}
	partition->refs++;
	with->round_ref = &round->with;
	return round;
}

static void query_loop(struct affinity_client *client, struct client_addr_loop *with)
{
	struct affinity_query *query = malloc(sizeof(*query));
	struct affinity_round *round = query ? round_of(client->partition, with) : NULL;

	if (!round) {
		free(query);
		return;
	}
	query->client = client;
	TAILQ_INSERT_TAIL(round->started ? &round->late : &round->queries, query, entry);
	client->refs++;
	client->queries++;
}

/*
 * Has each loop with connections of @client's address detect ends of connections, once for each
 * client. Under the lock of the partition. Returns whether to wait for answers: the owner resumes when
 * client->queries is 0 again. A loop is skipped if there is no memory for its round.
 */
static bool client_query_loops(struct affinity_client *client)
{
	struct client_addr_loop *with;

	if (client->loops_queried || client->timed_out || client->host->connected < 2)
		return false;
	client->loops_queried = true;
	LIST_FOREACH(with, &client->host->loops, entry)
		if (with != client->client_addr_loop || with->connected > 1)
			query_loop(client, with);
	return client->queries > 0;
}

/* ---- the fingerprints of a client: under the lock of its partition ---- */

static bool is_among(const struct client_fingerprint *calls, size_t ncalls,
		     const struct call_fingerprint *call)
{
	for (size_t i = 0; i < ncalls; i++)
		if (call_fingerprint_equals(&calls[i].call, call))
			return true;
	return false;
}

/* Appends as many of @from as the limits allow. */
static size_t calls_append(struct client_fingerprint *to, size_t have,
			   const struct call_fingerprint *from, size_t nfrom)
{
	size_t unanswered = 0, answered = 0;

	for (size_t i = 0; i < have; i++)
		to[i].call.answered ? answered++ : unanswered++;
	for (size_t i = 0; i < nfrom; i++) {
		size_t *count = from[i].answered ? &answered : &unanswered;
		size_t most = from[i].answered ? CALL_FINGERPRINTS_ANSWERED_MAX
					       : CALL_FINGERPRINTS_UNANSWERED_MAX;

		if (*count >= most || is_among(to, have, &from[i]))
			continue;
		++*count;
		to[have++].call = from[i];
	}
	return have;
}

/* A reconnected client retransmits first: after so many Replies none of the old Calls matters. */
static bool calls_are_superseded(const struct call_fingerprint *calls, size_t ncalls)
{
	size_t answered = 0;

	for (size_t i = 0; i < ncalls; i++)
		answered += calls[i].answered;
	return answered >= CALL_FINGERPRINTS_ANSWERED_MAX;
}

/*
 * Sets the fingerprints of @client, most important first, and keeps earlier ones while there is
 * space. The limits are CALL_FINGERPRINTS_UNANSWERED_MAX without a Reply and
 * CALL_FINGERPRINTS_ANSWERED_MAX with one. With CALL_FINGERPRINTS_ANSWERED_MAX answered Calls no
 * earlier fingerprint is kept.
 */
static void client_add_calls(struct affinity_client *client, const struct call_fingerprint *calls,
			     size_t ncalls)
{
	size_t old = calls_are_superseded(calls, ncalls) ? 0 : client->ncalls, n,
	       most = ncalls + old;
	struct client_fingerprint *kept;

	if (most > CALL_FINGERPRINTS_MAX)
		most = CALL_FINGERPRINTS_MAX;
	if (!most)
		return;
	/* Without memory it is recognized by its port alone. */
	kept = calloc(most, sizeof(*kept));
	if (!kept)
		return;
	n = calls_append(kept, 0, calls, ncalls);
	for (size_t i = 0; i < old; i++)
		n = calls_append(kept, n, &client->calls[i].call, 1);
	client_index_set_calls(client, kept, n);
}

/* ---- successors ---- */

/* Makes @client the successor of @old. Returns whether it waits for @old now. */
static bool client_supersede(struct affinity_client *client, struct affinity_client *old)
{
	if (old->state != CLIENT_CLOSING && client_post_superseded(old))
		return false;
	old->successor = client;
	client->predecessor = old;
	return true;
}

/* Gives @client the port and the fingerprints of a retained client. */
static void affinity_copy(struct affinity_client *client, struct affinity_client *affinity,
			  struct source_affinity *out)
{
	struct call_fingerprint calls[CALL_FINGERPRINTS_MAX];

	out->port = affinity->port;
	out->source = affinity->source;
	out->due = false;
	for (size_t i = 0; i < affinity->ncalls; i++) {
		calls[i] = affinity->calls[i].call;
		out->due |= !calls[i].answered;
	}
	client_add_calls(client, calls, affinity->ncalls);
}

static enum affinity_result affinity_use(struct affinity_client *client,
					 struct affinity_client *affinity,
					 struct source_affinity *out)
{
	atomic_fetch_sub(&client->clients->retained, 1);
	client_index_set_state(affinity, CLIENT_FREE);
	affinity_copy(client, affinity, out);
	client_put(affinity);
	return AFFINITY_RETURNING;
}

static enum affinity_result affinity_use_or_wait(struct affinity_client *client,
						 struct affinity_client *old,
						 struct source_affinity *out)
{
	if (old->state == CLIENT_RETAINED)
		return affinity_use(client, old, out);
	return !client->timed_out && client_supersede(client, old) ? AFFINITY_WAIT : AFFINITY_NEW;
}

/* Matches by address alone: one retained client, and no other candidate. */
static enum affinity_result find_by_address(struct affinity_client *client,
					    struct source_affinity *out)
{
	const struct client_addr *host = client->host;
	struct affinity_client *old = TAILQ_EMPTY(&host->retained) ? TAILQ_FIRST(&host->closing)
								   : TAILQ_FIRST(&host->retained);

	if (!old)
		return AFFINITY_NEW;
	if (client->needs_first_call)
		return AFFINITY_NEEDS_CALL;
	if (host->nclosing + host->nretained == 1 && host->connected == 1 && !old->successor)
		return affinity_use_or_wait(client, old, out);
	return AFFINITY_NEEDS_CALL;
}

/* ---- lookup ---- */

/*
 * A client with the same endpoints can have differed in privilege: a trusted peer over iwarp then,
 * TCP now.
 */
static bool affinity_use_inherited(struct affinity_client *client, struct source_affinity *out)
{
	struct affinity_client *inherited = client->inherited;
	bool is_own = inherited && inherited->privileged == client->privileged;

	client->inherited = NULL;
	if (is_own)
		affinity_copy(client, inherited, out);
	if (inherited)
		client_put(inherited);
	return is_own;
}

/*
 * The client uses its own port upstream. But a proxy beyond the server that sees this port can
 * recognize the client by its Calls; for that the old connection must end first.
 */
static enum affinity_result find_predecessor(struct affinity_client *client,
					     const struct call_fingerprint *first)
{
	struct affinity_client *old = first ? client_index_find_call(client, first) : NULL;

	if (old && old->state != CLIENT_RETAINED)
		return !client->timed_out && client_supersede(client, old) ? AFFINITY_WAIT
									   : AFFINITY_NEW;
	return first && client_query_loops(client) ? AFFINITY_WAIT : AFFINITY_NEW;
}

static enum affinity_result find_affinity(struct affinity_client *client,
					  const struct call_fingerprint *first,
					  struct source_affinity *out)
{
	enum affinity_result found;
	struct affinity_client *old;

	if (client->predecessor || (client->queries && !client->timed_out))
		return AFFINITY_WAIT;
	if (client->keeps_port)
		return find_predecessor(client, first);
	if (affinity_use_inherited(client, out))
		return AFFINITY_RETURNING;
	old = client_index_find_peer(client);
	if (!old && first)
		old = client_index_find_call(client, first);
	if (old)
		return affinity_use_or_wait(client, old, out);
	found = first ? AFFINITY_NEW : find_by_address(client, out);
	return found == AFFINITY_NEW && client_query_loops(client) ? AFFINITY_WAIT : found;
}

enum affinity_result client_affinity_find(struct affinity_client *client,
					  const struct call_fingerprint *first, uint64_t now_us,
					  struct source_affinity *affinity)
{
	enum affinity_result found;

	lock(client);
	retained_expire(client->partition, now_us);
	found = find_affinity(client, first, affinity);
	unlock(client);
	return found;
}

static void stop_waiting(struct affinity_client *client)
{
	if (client->predecessor)
		client->predecessor->successor = NULL;
	client->predecessor = NULL;
}

void client_affinity_stop_waiting(struct affinity_client *client)
{
	lock(client);
	stop_waiting(client);
	client->timed_out = true;
	unlock(client);
}

/* ---- adding and leaving ---- */

int client_affinity_add(struct client_affinity *clients, const struct client_endpoints *ends,
			const struct client_owner *owner, struct affinity_client **out)
{
	struct affinity_client *client = calloc(1, sizeof(*client)), *old;
	int rc;

	if (!client)
		return -ENOMEM;
	client->clients = clients;
	client->refs = 1;
	client->peer = client_endpoint_of(&ends->peer);
	client->local = client_endpoint_of(&ends->local);
	client->fabric = ends->fabric;
	client->keeps_port = ends->keeps_port;
	client->privileged = ends->privileged;
	client->needs_first_call = ends->needs_first_call;
	client->owner = *owner;
	client->owned = true;
	client->partition = partition_of(clients, &client->peer.addr);
	lock(client);
	rc = client_index_add(client);
	old = rc ? NULL : client_index_find_endpoints(client);
	if (old)
		client_supersede(client, old);
	unlock(client);
	if (rc) {
		free(client);
		return rc;
	}
	*out = client;
	return 0;
}

void client_affinity_half_closed(struct affinity_client *client,
				 const struct call_fingerprint *calls, size_t ncalls)
{
	lock(client);
	if (client->state == CLIENT_CONNECTED)
		client_index_set_state(client, CLIENT_HALF_CLOSED);
	if (client->state == CLIENT_HALF_CLOSED)
		client_add_calls(client, calls, ncalls);
	unlock(client);
}

void client_affinity_closing(struct affinity_client *client, const struct call_fingerprint *calls,
			     size_t ncalls)
{
	lock(client);
	if (client->state != CLIENT_CLOSING) {
		client_index_set_state(client, CLIENT_CLOSING);
		client_add_calls(client, calls, ncalls);
	}
	unlock(client);
}

/* An inherited port that it has not used can still serve the next connection. */
static struct source_affinity affinity_to_leave(struct affinity_client *client,
						const struct source_affinity *own)
{
	struct source_affinity affinity;

	return affinity_use_inherited(client, &affinity) && !own->port ? affinity : *own;
}

/*
 * A client that reconnects all the time must not displace others: an address with more than half of
 * all loses its oldest.
 */
static void retained_drop_own(const struct affinity_client *latest)
{
	const struct client_affinity *clients = latest->clients;

	if (atomic_load(&clients->retained) > clients->retained_max &&
	    latest->host->nretained > clients->retained_max / 2)
		retained_drop(TAILQ_FIRST(&latest->host->retained));
}

/* Hands its port to its successor, or retains the client, or drops it. */
static void client_retain(struct affinity_client *client, uint64_t now_us)
{
	struct affinity_client *successor = client->successor;

	if (successor) {
		client->successor = NULL;
		successor->predecessor = NULL;
		client_index_set_state(client, CLIENT_FREE);
		if (client->port)
			successor->inherited = client;
		else
			client_put(client);
		/* If the post fails, the successor resumes at its time limit. */
		(void)client_post_resumed(successor);
	} else if (client->port) {
		client->left_us = now_us;
		client_index_set_state(client, CLIENT_RETAINED);
		atomic_fetch_add(&client->clients->retained, 1);
		retained_expire(client->partition, now_us);
		retained_drop_own(client);
	} else {
		client_index_set_state(client, CLIENT_FREE);
		client_put(client);
	}
}

void client_affinity_need_port(struct affinity_client *client)
{
	lock(client);
	client->keeps_port = false;
	unlock(client);
}

int client_affinity_set_privileged(struct affinity_client *client)
{
	int rc;

	lock(client);
	rc = client->privileged ? 0 : client_index_set_privileged(client);
	unlock(client);
	return rc;
}

void client_affinity_release(struct affinity_client *client, const struct source_affinity *affinity,
			     uint64_t now_us)
{
	struct source_affinity left;
	struct client_index_partition *partition = client->partition;
	struct client_affinity *clients = client->clients;

	pthread_mutex_lock(&partition->lock);
	client->owned = false;
	stop_waiting(client);
	left = affinity_to_leave(client, affinity);
	client->port = client->keeps_port ? 0 : left.port;
	client->source = left.source;
	if (client->state != CLIENT_CLOSING)
		client_index_set_state(client, CLIENT_CLOSING);
	client_retain(client, now_us);
	pthread_mutex_unlock(&partition->lock);
	retained_drop_excess(clients);
}
