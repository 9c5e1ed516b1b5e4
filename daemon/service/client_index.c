// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/client_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"

/*
 * Fingerprints with the same hash. A client can choose its Calls, and a lookup walks all of them.
 */
#define EQUAL_CALLS_MAX 16u

STATE_TABLE(client_states, CLIENT_STATES);

struct client_endpoint client_endpoint_of(const struct sockaddr_storage *addr)
{
	struct client_endpoint end = {.port = sockaddr_port((const struct sockaddr *)addr)};

	(void)sockaddr_host((const struct sockaddr *)addr, &end.addr);
	if (addr->ss_family == AF_INET6)
		end.scope = ((const struct sockaddr_in6 *)addr)->sin6_scope_id;
	return end;
}

static bool ends_equal(const struct client_endpoint *a, const struct client_endpoint *b)
{
	return a->port == b->port && a->scope == b->scope &&
	       !memcmp(&a->addr, &b->addr, sizeof(a->addr));
}

static void update_oldest(struct client_index_partition *partition)
{
	const struct affinity_client *oldest = TAILQ_FIRST(&partition->retained);

	atomic_store(&partition->oldest_us, oldest ? oldest->left_us : CLIENT_INDEX_NONE_RETAINED);
}

struct client_index_partition *client_index_partition_new(const struct hash_key *key)
{
	struct client_index_partition *partition = calloc(1, sizeof(*partition));

	if (!partition)
		return NULL;
	partition->refs = 1;
	partition->key = *key;
	TAILQ_INIT(&partition->retained);
	update_oldest(partition);
	pthread_mutex_init(&partition->lock, NULL);
	hash_table_init(&partition->hosts);
	hash_table_init(&partition->by_peer);
	hash_table_init(&partition->calls);
	return partition;
}

void client_index_partition_put(struct client_index_partition *partition)
{
	bool last;

	if (!partition)
		return;
	pthread_mutex_lock(&partition->lock);
	last = !--partition->refs;
	pthread_mutex_unlock(&partition->lock);
	if (!last)
		return;
	hash_table_fini(&partition->hosts);
	hash_table_fini(&partition->by_peer);
	hash_table_fini(&partition->calls);
	pthread_mutex_destroy(&partition->lock);
	free(partition);
}

/* ---- keys ---- */

static uint64_t hash_addr(const struct client_index_partition *partition,
			  const struct in6_addr *addr, bool privileged)
{
	uint64_t kind =
		privileged ? UINT64_MAX : 1; /* not in the range of ports: see hash_peer() */

	return hash_bytes(&partition->key, kind, addr, sizeof(*addr));
}

static uint64_t hash_peer(const struct client_index_partition *partition,
			  const struct client_endpoint *end)
{
	return hash_bytes(&partition->key, 2 + end->port, &end->addr, sizeof(end->addr));
}

/*
 * Clients of other addresses or privilege cannot retransmit this Call, so the key includes their
 * hash.
 */
static uint64_t hash_call(const struct affinity_client *client, const struct call_fingerprint *call)
{
	const uint32_t words[] = {call->xid, call->len_bytes, call->crc};

	return hash_bytes(&client->partition->key, client->host->node.hash, words, sizeof(words));
}

static struct client_addr *client_addr_get(struct client_index_partition *partition,
					   const struct in6_addr *addr, bool privileged)
{
	uint64_t hash = hash_addr(partition, addr, privileged);
	struct hash_node *node = hash_table_first(&partition->hosts, hash);
	struct client_addr *host;

	for (; node; node = hash_table_next(node)) {
		host = container_of(node, struct client_addr, node);
		if (host->privileged == privileged && !memcmp(&host->addr, addr, sizeof(*addr)))
			return host;
	}
	host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	host->addr = *addr;
	host->privileged = privileged;
	TAILQ_INIT(&host->closing);
	TAILQ_INIT(&host->retained);
	LIST_INIT(&host->loops);
	hash_table_add(&partition->hosts, &host->node, hash);
	return host;
}

/* ---- adding and removing ---- */

static bool is_connected(unsigned state)
{
	return state == CLIENT_CONNECTED || state == CLIENT_HALF_CLOSED;
}

static struct client_addr_loop *client_addr_loop_get(struct client_addr *host,
						     const struct client_owner *owner)
{
	struct client_addr_loop *found;

	LIST_FOREACH(found, &host->loops, entry)
		if (found->owner.loop == owner->loop)
			return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->owner = *owner;
	TAILQ_INIT(&found->clients);
	LIST_INSERT_HEAD(&host->loops, found, entry);
	return found;
}

static void client_addr_loop_put(struct client_addr_loop *left)
{
	if (--left->connected)
		return;
	if (left->round_ref)
		*left->round_ref = NULL;
	LIST_REMOVE(left, entry);
	free(left);
}

static void client_leave_loop(struct affinity_client *client)
{
	struct client_addr_loop *left = client->client_addr_loop;

	client->client_addr_loop = NULL;
	TAILQ_REMOVE(&left->clients, client, loop_entry);
	client_addr_loop_put(left);
}

static void client_addr_count(struct affinity_client *client)
{
	struct client_addr *host = client->host;

	if (is_connected(client->state)) {
		host->connected++;
	} else if (client->state == CLIENT_CLOSING) {
		host->nclosing++;
		TAILQ_INSERT_TAIL(&host->closing, client, host_entry);
	} else if (client->state == CLIENT_RETAINED) {
		host->nretained++;
		TAILQ_INSERT_TAIL(&host->retained, client, host_entry);
		TAILQ_INSERT_TAIL(&client->partition->retained, client, age_entry);
		update_oldest(client->partition);
	}
}

static void client_addr_uncount(struct affinity_client *client)
{
	struct client_addr *host = client->host;

	if (is_connected(client->state)) {
		host->connected--;
	} else if (client->state == CLIENT_CLOSING) {
		host->nclosing--;
		TAILQ_REMOVE(&host->closing, client, host_entry);
	} else if (client->state == CLIENT_RETAINED) {
		host->nretained--;
		TAILQ_REMOVE(&host->retained, client, host_entry);
		TAILQ_REMOVE(&client->partition->retained, client, age_entry);
		update_oldest(client->partition);
	}
}

static void client_unindex_calls(struct affinity_client *client)
{
	for (size_t i = 0; i < client->ncalls && client->calls_indexed; i++)
		if (client->calls[i].client)
			hash_table_remove(&client->partition->calls, &client->calls[i].node);
	client->calls_indexed = false;
}

static bool is_full(const struct hash_table *calls, uint64_t hash)
{
	const struct hash_node *node = hash_table_first(calls, hash);
	unsigned count = 0;

	for (; node && count < EQUAL_CALLS_MAX; node = hash_table_next(node))
		count++;
	return count == EQUAL_CALLS_MAX;
}

static void client_index_calls(struct affinity_client *client)
{
	for (size_t i = 0; i < client->ncalls; i++) {
		struct client_fingerprint *mark = &client->calls[i];
		uint64_t hash = hash_call(client, &mark->call);

		mark->client = is_full(&client->partition->calls, hash) ? NULL : client;
		if (mark->client)
			hash_table_add(&client->partition->calls, &mark->node, hash);
	}
	client->calls_indexed = true;
}

static void client_addr_free_unused(struct client_index_partition *partition,
				    struct client_addr *host)
{
	if (host->connected + host->nclosing + host->nretained)
		return;
	hash_table_remove(&partition->hosts, &host->node);
	free(host);
}

static void client_unindex(struct affinity_client *client)
{
	struct client_index_partition *partition = client->partition;
	struct client_addr *host = client->host;

	client_unindex_calls(client);
	hash_table_remove(&partition->by_peer, &client->by_peer);
	client->host = NULL;
	client_addr_free_unused(partition, host);
}

/*
 * Adds a client in CLIENT_CONNECTED or CLIENT_HALF_CLOSED to the entry of its address and
 * privilege. Returns 0 or -ENOMEM.
 */
static int client_addr_join(struct affinity_client *client)
{
	struct client_index_partition *partition = client->partition;
	struct client_addr *host =
		client_addr_get(partition, &client->peer.addr, client->privileged);
	struct client_addr_loop *with;

	if (!host)
		return -ENOMEM;
	with = client_addr_loop_get(host, &client->owner);
	if (!with) {
		client_addr_free_unused(partition, host);
		return -ENOMEM;
	}
	client->host = host;
	client->client_addr_loop = with;
	TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
	with->connected++;
	client_addr_count(client);
	return 0;
}

int client_index_set_privileged(struct affinity_client *client)
{
	struct client_addr *before = client->host;
	struct client_addr_loop *with = client->client_addr_loop;
	int rc;

	client_unindex_calls(client);
	client->privileged = true;
	TAILQ_REMOVE(&with->clients, client, loop_entry);
	rc = client_addr_join(client);
	if (rc) {
		client->privileged = false;
		TAILQ_INSERT_TAIL(&with->clients, client, loop_entry);
	} else {
		before->connected--;
		client_addr_loop_put(with);
		client_addr_free_unused(client->partition, before);
	}
	if (client->state != CLIENT_CONNECTED)
		client_index_calls(client);
	return rc;
}

int client_index_add(struct affinity_client *client)
{
	struct client_index_partition *partition = client->partition;
	int rc;

	client->state = CLIENT_CONNECTED;
	rc = client_addr_join(client);
	if (rc)
		return rc;
	hash_table_add(&partition->by_peer, &client->by_peer, hash_peer(partition, &client->peer));
	return 0;
}

void client_index_set_state(struct affinity_client *client, enum client_state state)
{
	client_addr_uncount(client);
	client->state = state_next(&client_states, client->state, state);
	client_addr_count(client);
	if (client->client_addr_loop && !is_connected(client->state))
		client_leave_loop(client);
	if (state == CLIENT_FREE)
		client_unindex(client);
}

void client_index_set_calls(struct affinity_client *client, struct client_fingerprint *calls,
			    size_t ncalls)
{
	client_unindex_calls(client);
	free(client->calls);
	client->calls = calls;
	client->ncalls = ncalls;
	/* A connected client is found by its addresses alone. */
	if (client->state != CLIENT_CONNECTED)
		client_index_calls(client);
}

/* ---- finding ---- */

static struct affinity_client *with_peer(struct hash_node *node)
{
	return node ? container_of(node, struct affinity_client, by_peer) : NULL;
}

struct affinity_client *client_index_find_endpoints(const struct affinity_client *client)
{
	struct hash_node *node =
		hash_table_first(&client->partition->by_peer, client->by_peer.hash);
	struct affinity_client *other;

	for (; (other = with_peer(node)); node = hash_table_next(node))
		if (other != client && other->state != CLIENT_RETAINED && !other->successor &&
		    other->fabric == client->fabric && ends_equal(&other->peer, &client->peer) &&
		    ends_equal(&other->local, &client->local))
			return other;
	return NULL;
}

struct affinity_client *client_index_find_peer(const struct affinity_client *client)
{
	struct hash_node *node =
		hash_table_first(&client->partition->by_peer, client->by_peer.hash);
	struct affinity_client *other;

	for (; (other = with_peer(node)); node = hash_table_next(node))
		if (other->state == CLIENT_RETAINED && other->privileged == client->privileged &&
		    ends_equal(&other->peer, &client->peer))
			return other;
	return NULL;
}

/*
 * Closing a live connection cannot be undone. So only a Call that waits there and comes from the
 * same user allows it: another user of that host may well send the same XID and arguments.
 */
static bool may_end(const struct call_fingerprint *waiting, const struct call_fingerprint *call)
{
	return !waiting->answered && call_fingerprint_same_sender(waiting, call);
}

/* How likely the client of @mark sent this Call before; 0: it did not. */
static unsigned likelihood(const struct client_fingerprint *mark,
			   const struct call_fingerprint *call)
{
	if (mark->client->state == CLIENT_RETAINED)
		return mark->call.answered ? 2 : 3;
	if (mark->client->successor)
		return 0;
	return mark->client->state == CLIENT_HALF_CLOSED && !may_end(&mark->call, call) ? 0 : 1;
}

struct affinity_client *client_index_find_call(const struct affinity_client *client,
					       const struct call_fingerprint *call)
{
	struct hash_node *node =
		hash_table_first(&client->partition->calls, hash_call(client, call));
	const struct client_fingerprint *best = NULL;

	for (; node; node = hash_table_next(node)) {
		const struct client_fingerprint *mark =
			container_of(node, struct client_fingerprint, node);

		if (mark->client == client || mark->client->host != client->host ||
		    !call_fingerprint_equals(&mark->call, call) || !likelihood(mark, call))
			continue;
		if (!best || likelihood(mark, call) > likelihood(best, call))
			best = mark;
		if (likelihood(best, call) == 3)
			break;
	}
	return best ? best->client : NULL;
}
