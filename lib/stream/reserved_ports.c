// SPDX-License-Identifier: BSD-3-Clause
#include "stream/reserved_ports.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/sockaddr.h"

#define RR_STEP 97u /* does not divide RESERVED_PORTS_COUNT: users start far from each other */

/*
 * One word per port: PORT_HELD while a connection of this process holds it. Otherwise a time, with
 * PORT_IN_USE in the lowest bit if another process uses the port; the port is then not tried before
 * that time. Without the bit the port was released at that time; 0: never.
 */
#define PORT_HELD   UINT64_MAX
#define PORT_IN_USE 1u

struct reserved_ports_key {
	struct in6_addr dest, source; /* IPv4 as v4-mapped; all-zero source: chosen by the host */
	uint32_t dest_scope;
	uint16_t dest_port;
};

struct reserved_ports_map {
	LIST_ENTRY(reserved_ports_map) link;
	struct reserved_ports_key key;
	atomic_uint users;        /* raised from 0 under the lock only */
	_Atomic uint64_t used_us; /* last time that a user was added or removed */
	_Atomic uint64_t words[RESERVED_PORTS_COUNT];
};

struct reserved_ports {
	pthread_mutex_t lock; /* protects the list */
	LIST_HEAD(, reserved_ports_map) maps;
	atomic_uint rr_next;
};

struct reserved_ports *reserved_ports_new(void)
{
	struct reserved_ports *reserved_ports = calloc(1, sizeof(*reserved_ports));

	if (!reserved_ports)
		return NULL;
	pthread_mutex_init(&reserved_ports->lock, NULL);
	LIST_INIT(&reserved_ports->maps);
	atomic_init(&reserved_ports->rr_next, 0);
	return reserved_ports;
}

static void map_free(struct reserved_ports_map *map)
{
	LIST_REMOVE(map, link);
	free(map);
}

void reserved_ports_free(struct reserved_ports *reserved_ports)
{
	struct reserved_ports_map *map;

	if (!reserved_ports)
		return;
	while ((map = LIST_FIRST(&reserved_ports->maps)))
		map_free(map);
	pthread_mutex_destroy(&reserved_ports->lock);
	free(reserved_ports);
}

unsigned reserved_ports_rr_start(struct reserved_ports *reserved_ports)
{
	return atomic_fetch_add(&reserved_ports->rr_next, RR_STEP) % RESERVED_PORTS_COUNT;
}

/* ---- the maps ---- */

static struct reserved_ports_key map_key_of(const struct sockaddr_storage *dest,
					    const struct sockaddr_storage *source)
{
	struct reserved_ports_key key;

	/* Keys are compared as bytes. */
	memset(&key, 0, sizeof(key));
	(void)sockaddr_host((const struct sockaddr *)dest, &key.dest);
	(void)sockaddr_host((const struct sockaddr *)source, &key.source);
	if (dest->ss_family == AF_INET6)
		key.dest_scope = ((const struct sockaddr_in6 *)dest)->sin6_scope_id;
	key.dest_port = sockaddr_port((const struct sockaddr *)dest);
	return key;
}

/*
 * Returns the map of @key or NULL. Frees maps that were unused for too long. Called with the lock
 * held.
 */
static struct reserved_ports_map *map_find(struct reserved_ports *reserved_ports,
					   const struct reserved_ports_key *key, uint64_t now_us)
{
	struct reserved_ports_map *map, *next, *found = NULL;

	for (map = LIST_FIRST(&reserved_ports->maps); map; map = next) {
		next = LIST_NEXT(map, link);
		if (!memcmp(&map->key, key, sizeof(*key)))
			found = map;
		else if (!atomic_load(&map->users) &&
			 now_us > atomic_load(&map->used_us) + RESERVED_PORTS_KEEP_US)
			map_free(map);
	}
	return found;
}

/* Frees the map that was unused longest if there are too many such. Called with the lock held. */
static void map_free_longest_idle(struct reserved_ports *reserved_ports)
{
	struct reserved_ports_map *map, *oldest = NULL;
	unsigned idle = 0;

	LIST_FOREACH(map, &reserved_ports->maps, link) {
		if (atomic_load(&map->users))
			continue;
		idle++;
		if (!oldest || atomic_load(&map->used_us) < atomic_load(&oldest->used_us))
			oldest = map;
	}
	if (idle >= RESERVED_PORTS_IDLE_MAX)
		map_free(oldest);
}

struct reserved_ports_map *reserved_ports_map_get(struct reserved_ports *reserved_ports,
						  const struct sockaddr_storage *dest,
						  const struct sockaddr_storage *source,
						  uint64_t now_us)
{
	struct reserved_ports_key key = map_key_of(dest, source);
	struct reserved_ports_map *map;

	pthread_mutex_lock(&reserved_ports->lock);
	map = map_find(reserved_ports, &key, now_us);
	if (!map) {
		map_free_longest_idle(reserved_ports);
		map = calloc(1, sizeof(*map));
		if (map) {
			map->key = key;
			LIST_INSERT_HEAD(&reserved_ports->maps, map, link);
		}
	}
	if (map) {
		atomic_fetch_add(&map->users, 1);
		atomic_store(&map->used_us, now_us);
	}
	pthread_mutex_unlock(&reserved_ports->lock);
	return map;
}

void reserved_ports_map_put(struct reserved_ports_map *map, uint64_t now_us)
{
	if (!map)
		return;
	atomic_store(&map->used_us, now_us);
	/* From here on another thread can free it. */
	atomic_fetch_sub(&map->users, 1);
}

/* ---- the ports of a map ---- */

static _Atomic uint64_t *map_word(struct reserved_ports_map *map, uint16_t port)
{
	if (port < RESERVED_PORTS_LAST || port > RESERVED_PORTS_FIRST)
		return NULL;
	return &map->words[RESERVED_PORTS_FIRST - port];
}

static bool word_is_free(uint64_t word, uint64_t now_us)
{
	return word != PORT_HELD && (!(word & PORT_IN_USE) || now_us >= word >> 1);
}

uint16_t reserved_ports_take_any(struct reserved_ports_map *map, unsigned rr_start, uint64_t now_us)
{
	for (;;) {
		uint64_t oldest_word = PORT_HELD;
		unsigned best = 0;

		for (unsigned i = 0; i < RESERVED_PORTS_COUNT && oldest_word; i++) {
			unsigned at = (rr_start + i) % RESERVED_PORTS_COUNT;
			uint64_t word = atomic_load_explicit(&map->words[at], memory_order_relaxed);

			if (word_is_free(word, now_us) && word < oldest_word) {
				oldest_word = word;
				best = at;
			}
		}
		if (oldest_word == PORT_HELD)
			return 0;
		/*
		 * If the word has changed, another thread holds the port, and one free port less
		 * remains to be tried.
		 */
		if (atomic_compare_exchange_strong(&map->words[best], &oldest_word, PORT_HELD))
			return (uint16_t)(RESERVED_PORTS_FIRST - best);
	}
}

bool reserved_ports_take_port(struct reserved_ports_map *map, uint16_t port)
{
	_Atomic uint64_t *word = map_word(map, port);

	return !word || atomic_exchange(word, PORT_HELD) != PORT_HELD;
}

void reserved_ports_release(struct reserved_ports_map *map, uint16_t port, uint64_t now_us)
{
	_Atomic uint64_t *word = map_word(map, port);

	if (word)
		atomic_store(word, now_us << 1);
}

void reserved_ports_set_in_use(struct reserved_ports_map *map, uint16_t port, uint64_t now_us)
{
	_Atomic uint64_t *word = map_word(map, port);

	if (word)
		atomic_store(word, (now_us + RESERVED_PORTS_IN_USE_US) << 1 | PORT_IN_USE);
}
