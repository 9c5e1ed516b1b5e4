// SPDX-License-Identifier: BSD-3-Clause
/* Source ports that clients' upstream connections had, for replay. */
#include "daemon/service/replay.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct entry {
	TAILQ_ENTRY(entry) link; /* latest closed first */
	struct in6_addr addr;    /* IPv4 as v4-mapped */
	uint16_t client_port;    /* network order */
	uint16_t port;           /* host order */
	uint64_t stored_us;
};
TAILQ_HEAD(entry_list, entry);

struct replay {
	pthread_mutex_t lock;
	struct entry_list entries;
	unsigned count;
};

struct replay *replay_new(void)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	pthread_mutex_init(&replay->lock, NULL);
	TAILQ_INIT(&replay->entries);
	return replay;
}

static void drop(struct replay *replay, struct entry *entry)
{
	TAILQ_REMOVE(&replay->entries, entry, link);
	replay->count--;
	free(entry);
}

void replay_free(struct replay *replay)
{
	struct entry *entry;

	if (!replay)
		return;
	while ((entry = TAILQ_FIRST(&replay->entries)))
		drop(replay, entry);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}

static void key_of(const struct sockaddr *client, struct in6_addr *addr, uint16_t *port)
{
	if (client->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)client;

		*addr = in6->sin6_addr;
		*port = in6->sin6_port;
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)client;

		memset(addr, 0, sizeof(*addr));
		addr->s6_addr[10] = addr->s6_addr[11] = 0xff;
		memcpy(&addr->s6_addr[12], &in->sin_addr, 4);
		*port = in->sin_port;
	}
}

static void expire(struct replay *replay, uint64_t now_us)
{
	struct entry *entry;

	while ((entry = TAILQ_LAST(&replay->entries, entry_list)) &&
	       (now_us - entry->stored_us > REPLAY_REMEMBER_US ||
		replay->count > REPLAY_MAX_ENTRIES))
		drop(replay, entry);
}

void replay_store(struct replay *replay, const struct sockaddr *client, uint16_t port,
		  uint64_t now_us)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	/* Without memory nothing is remembered: the client is no worse off than without a proxy. */
	if (!entry)
		return;
	key_of(client, &entry->addr, &entry->client_port);
	entry->port = port;
	entry->stored_us = now_us;
	pthread_mutex_lock(&replay->lock);
	TAILQ_INSERT_HEAD(&replay->entries, entry, link);
	replay->count++;
	expire(replay, now_us);
	pthread_mutex_unlock(&replay->lock);
}

uint16_t replay_take(struct replay *replay, const struct sockaddr *client, uint64_t now_us)
{
	struct entry *entry, *best = NULL;
	struct in6_addr addr;
	uint16_t client_port, port = 0;

	key_of(client, &addr, &client_port);
	pthread_mutex_lock(&replay->lock);
	expire(replay, now_us);
	TAILQ_FOREACH(entry, &replay->entries, link) {
		if (memcmp(&entry->addr, &addr, sizeof(addr)) != 0)
			continue;
		if (!best)
			best = entry;
		if (entry->client_port == client_port) {
			best = entry;
			break;
		}
	}
	if (best) {
		port = best->port;
		drop(replay, best);
	}
	pthread_mutex_unlock(&replay->lock);
	return port;
}
