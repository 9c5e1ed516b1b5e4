// SPDX-License-Identifier: BSD-3-Clause
#include "stream/ports.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/sockaddr.h"

#define TURN_STEP 97u /* does not divide PORTS_COUNT: users start far from each other */

/*
 * One word per port: TAKEN while a connection of this process holds it, else a time, with MARK in the lowest bit. With
 * the mark, another process uses the port, which is not tried before that time. Without it, the port was released then; 0
 * means never.
 */
#define TAKEN UINT64_MAX
#define MARK  1u

struct ports_key {
	struct in6_addr dest, source; /* IPv4 as v4-mapped; all-zero source: chosen by the host */
	uint32_t dest_scope;
	uint16_t dest_port;
};

struct ports_map {
	LIST_ENTRY(ports_map) link;
	struct ports_key key;
	atomic_uint users;        /* raised from 0 under the lock only */
	_Atomic uint64_t used_us; /* last time that a user was added or removed */
	_Atomic uint64_t words[PORTS_COUNT];
};

struct ports {
	pthread_mutex_t lock; /* protects the list */
	LIST_HEAD(, ports_map) maps;
	atomic_uint turns;
};

struct ports *ports_new(void)
{
	struct ports *ports = calloc(1, sizeof(*ports));

	if (!ports)
		return NULL;
	pthread_mutex_init(&ports->lock, NULL);
	LIST_INIT(&ports->maps);
	atomic_init(&ports->turns, 0);
	return ports;
}

static void drop(struct ports_map *map)
{
	LIST_REMOVE(map, link);
	free(map);
}

void ports_free(struct ports *ports)
{
	struct ports_map *map;

	if (!ports)
		return;
	while ((map = LIST_FIRST(&ports->maps)))
		drop(map);
	pthread_mutex_destroy(&ports->lock);
	free(ports);
}

unsigned ports_turn(struct ports *ports)
{
	return atomic_fetch_add(&ports->turns, TURN_STEP) % PORTS_COUNT;
}

/* ---- the maps ---- */

static struct ports_key key_of(const struct sockaddr_storage *dest,
			       const struct sockaddr_storage *source)
{
	struct ports_key key;

	/* Keys are compared as bytes. */
	memset(&key, 0, sizeof(key));
	(void)sockaddr_host((const struct sockaddr *)dest, &key.dest);
	(void)sockaddr_host((const struct sockaddr *)source, &key.source);
	if (dest->ss_family == AF_INET6)
		key.dest_scope = ((const struct sockaddr_in6 *)dest)->sin6_scope_id;
	key.dest_port = sockaddr_port((const struct sockaddr *)dest);
	return key;
}

/* Returns the map of @key or NULL. Frees maps that were unused for too long. Called with the lock held. */
static struct ports_map *look_through(struct ports *ports, const struct ports_key *key,
				      uint64_t now_us)
{
	struct ports_map *map, *next, *found = NULL;

	for (map = LIST_FIRST(&ports->maps); map; map = next) {
		next = LIST_NEXT(map, link);
		if (!memcmp(&map->key, key, sizeof(*key)))
			found = map;
		else if (!atomic_load(&map->users) &&
			 now_us > atomic_load(&map->used_us) + PORTS_KEEP_US)
			drop(map);
	}
	return found;
}

/* Frees the map that was unused longest if there are too many such. Called with the lock held. */
static void drop_longest_idle(struct ports *ports)
{
	struct ports_map *map, *oldest = NULL;
	unsigned idle = 0;

	LIST_FOREACH(map, &ports->maps, link) {
		if (atomic_load(&map->users))
			continue;
		idle++;
		if (!oldest || atomic_load(&map->used_us) < atomic_load(&oldest->used_us))
			oldest = map;
	}
	if (idle >= PORTS_IDLE_MAX)
		drop(oldest);
}

struct ports_map *ports_map_get(struct ports *ports, const struct sockaddr_storage *dest,
				const struct sockaddr_storage *source, uint64_t now_us)
{
	struct ports_key key = key_of(dest, source);
	struct ports_map *map;

	pthread_mutex_lock(&ports->lock);
	map = look_through(ports, &key, now_us);
	if (!map) {
		drop_longest_idle(ports);
		map = calloc(1, sizeof(*map));
		if (map) {
			map->key = key;
			LIST_INSERT_HEAD(&ports->maps, map, link);
		}
	}
	if (map) {
		atomic_fetch_add(&map->users, 1);
		atomic_store(&map->used_us, now_us);
	}
	pthread_mutex_unlock(&ports->lock);
	return map;
}

void ports_map_put(struct ports_map *map, uint64_t now_us)
{
	if (!map)
		return;
	atomic_store(&map->used_us, now_us);
	/* From here on another thread can free it. */
	atomic_fetch_sub(&map->users, 1);
}

/* ---- the ports of a map ---- */

static _Atomic uint64_t *word_of(struct ports_map *map, uint16_t port)
{
	if (port < PORTS_LAST || port > PORTS_FIRST)
		return NULL;
	return &map->words[PORTS_FIRST - port];
}

static bool is_free(uint64_t word, uint64_t now_us)
{
	return word != TAKEN && (!(word & MARK) || now_us >= word >> 1);
}

uint16_t ports_take(struct ports_map *map, unsigned turn, uint64_t now_us)
{
	for (;;) {
		uint64_t least = TAKEN;
		unsigned best = 0;

		for (unsigned i = 0; i < PORTS_COUNT && least; i++) {
			unsigned at = (turn + i) % PORTS_COUNT;
			uint64_t word = atomic_load_explicit(&map->words[at], memory_order_relaxed);

			if (is_free(word, now_us) && word < least) {
				least = word;
				best = at;
			}
		}
		if (least == TAKEN)
			return 0;
		/* If the word has changed, another thread holds the port, and one free port less remains to be tried. */
		if (atomic_compare_exchange_strong(&map->words[best], &least, TAKEN))
			return (uint16_t)(PORTS_FIRST - best);
	}
}

bool ports_take_this(struct ports_map *map, uint16_t port)
{
	_Atomic uint64_t *word = word_of(map, port);

	return !word || atomic_exchange(word, TAKEN) != TAKEN;
}

void ports_give(struct ports_map *map, uint16_t port, uint64_t now_us)
{
	_Atomic uint64_t *word = word_of(map, port);

	if (word)
		atomic_store(word, now_us << 1);
}

void ports_avoid(struct ports_map *map, uint16_t port, uint64_t now_us)
{
	_Atomic uint64_t *word = word_of(map, port);

	if (word)
		atomic_store(word, (now_us + PORTS_AVOID_US) << 1 | MARK);
}
