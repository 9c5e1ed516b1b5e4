// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"

/* The key for hashes that must be equal in every daemon. */
static const struct hash_key fixed_key = {{0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u}};

/* The home of a client address. */
struct server_home {
	struct hash_node node;
	TAILQ_ENTRY(server_home) entry; /* of the homes without connections */
	struct in6_addr addr;
	struct nfs_server *server;
	unsigned choices;
	uint64_t left_us;
	unsigned open[]; /* connections to each server */
};

static int target_init(struct nfs_server *server, unsigned index, const struct config_uri *uri,
		       const char *service, struct log_limit *lines)
{
	*server = (struct nfs_server){.index = index, .uri = *uri};
	config_uri_text(uri, server->text);
	if (version_cache_init(&server->versions))
		return -ENOMEM;
	atomic_init(&server->order, SERVER_ORDER_UP);
	server_health_init(&server->health, service, uri);
	server->health.quiet = !lines;
	dns_cache_init(&server->name, uri, service, lines);
	return 0;
}

static void free_list(struct servers *servers)
{
	for (unsigned i = 0; i < servers->count; i++) {
		struct nfs_server *server = &servers->list[i];

		version_cache_fini(&server->versions);
		dns_cache_fini(&server->name);
		server_health_fini(&server->health);
	}
	free(servers->list);
	servers->count = 0;
}

struct server_uris server_uris_of(const struct service_config *config)
{
	struct server_uris uris = {.count = config_nservers(config)};

	for (unsigned i = 0; i < uris.count; i++)
		uris.list[i] = *config_server(config, i);
	return uris;
}

struct server_uris mount_servers_of(const struct service_config *config)
{
	static char rpcbind_port[] = "111";
	struct server_uris uris = {.count = 0};

	if (!config_has_mount_server(config))
		return uris;
	if (config->mount.way == MOUNT_AT)
		return (struct server_uris){.list = {config->mount.at}, .count = 1};
	/* rpcbind returns the port only. */
	for (; uris.count < config_nservers(config); uris.count++)
		uris.list[uris.count] = (struct config_uri){
			TRANSPORT_TCP, config_server(config, uris.count)->host, rpcbind_port};
	return uris;
}

int servers_init(struct servers *servers, const struct server_uris *uris,
		 const struct service_config *config, struct log_limit *lines)
{
	*servers = (struct servers){.balance = config->balance,
				    .idle_homes_max = config->max_connections};
	servers->list = calloc(uris->count, sizeof(*servers->list));
	if (!servers->list)
		return -ENOMEM;
	for (; servers->count < uris->count; servers->count++)
		if (target_init(&servers->list[servers->count], servers->count,
				&uris->list[servers->count], config->name, lines))
			goto out_list;
	if (hash_key_draw(&servers->key))
		goto out_list;
	hash_table_init(&servers->homes);
	atomic_init(&servers->orders, 0);
	TAILQ_INIT(&servers->idle_homes);
	pthread_mutex_init(&servers->lock, NULL);
	return 0;

out_list:
	free_list(servers);
	return -ENOMEM;
}

/* ---- homes, under the lock ---- */

static void home_free(struct servers *servers, struct server_home *home)
{
	TAILQ_REMOVE(&servers->idle_homes, home, entry);
	servers->nidle_homes--;
	hash_table_remove(&servers->homes, &home->node);
	free(home);
}

static void homes_expire(struct servers *servers, uint64_t now_us)
{
	struct server_home *home;

	while ((home = TAILQ_FIRST(&servers->idle_homes)) &&
	       (servers->nidle_homes > servers->idle_homes_max ||
		now_us >= home->left_us + SERVERS_HOME_KEPT_US))
		home_free(servers, home);
}

static uint64_t hash_of(const struct servers *servers, const struct in6_addr *addr)
{
	return hash_bytes(&servers->key, 0, addr, sizeof(*addr));
}

uint64_t servers_client_hash(const struct sockaddr *client)
{
	struct in6_addr addr = IN6ADDR_ANY_INIT;

	(void)sockaddr_host(client, &addr);
	return hash_bytes(&fixed_key, 0, &addr, sizeof(addr));
}

static struct server_home *home_find(const struct servers *servers, const struct in6_addr *addr)
{
	struct hash_node *node = hash_table_first(&servers->homes, hash_of(servers, addr));

	for (; node; node = hash_table_next(node)) {
		struct server_home *home = container_of(node, struct server_home, node);

		if (!memcmp(&home->addr, addr, sizeof(*addr)))
			return home;
	}
	return NULL;
}

/* Without memory a client has no home, and gets the server that a new client would get. */
static struct server_home *home_get(struct servers *servers, const struct in6_addr *addr)
{
	struct server_home *home = home_find(servers, addr);

	if (home && !home->choices) {
		TAILQ_REMOVE(&servers->idle_homes, home, entry);
		servers->nidle_homes--;
	} else if (!home) {
		home = calloc(1, sizeof(*home) + servers->count * sizeof(home->open[0]));
		if (!home)
			return NULL;
		home->addr = *addr;
		hash_table_add(&servers->homes, &home->node, hash_of(servers, addr));
	}
	home->choices++;
	return home;
}

static void home_put(struct servers *servers, struct server_home *home, uint64_t now_us)
{
	if (--home->choices)
		return;
	home->left_us = now_us;
	TAILQ_INSERT_TAIL(&servers->idle_homes, home, entry);
	servers->nidle_homes++;
}

void servers_fini(struct servers *servers)
{
	struct server_home *home;

	if (!servers->list)
		return;
	while ((home = TAILQ_FIRST(&servers->idle_homes)))
		home_free(servers, home);
	hash_table_fini(&servers->homes);
	pthread_mutex_destroy(&servers->lock);
	free_list(servers);
	servers->list = NULL;
}

void servers_exclude(struct servers *servers, const struct self_connect *listen_addrs)
{
	for (unsigned i = 0; i < servers->count; i++)
		servers->list[i].name.listen_addrs = listen_addrs;
}

/* ---- selection, under the lock ---- */

static uint64_t try_last_us(const struct nfs_server *server, uint64_t now_us)
{
	uint64_t until_us = server->failed_us + SERVERS_TRY_LAST_US;

	if (server->check_failed)
		return SERVERS_TRY_LAST_US;
	return server->has_failed && now_us < until_us ? until_us - now_us : 0;
}

/*
 * With "source" each client has its own order, the same in every daemon with the same servers,
 * hence the fixed key. Adding or removing a server moves only that server's clients.
 */
static uint64_t preference(const struct servers *servers, const struct nfs_server *server,
			   const struct in6_addr *addr)
{
	uint64_t hash;

	if (servers->balance == BALANCE_STANDBY)
		return UINT64_MAX - server->index;
	hash = hash_bytes(&fixed_key, 0, server->text, strlen(server->text));
	return hash_bytes(&fixed_key, hash, addr, sizeof(*addr));
}

struct server_rank {
	bool has_connection, is_healthy, is_home;
	uint64_t preference;
};

static struct server_rank rank_of(const struct server_choice *choice,
				  const struct nfs_server *server, const struct in6_addr *addr,
				  uint64_t now_us)
{
	const struct server_home *home = choice->home;
	bool is_home = home && home->server == server;
	bool is_healthy = !try_last_us(server, now_us);

	return (struct server_rank){
		.has_connection = is_home && home->open[server->index],
		.is_healthy = is_healthy,
		.is_home = is_home && is_healthy,
		.preference = is_healthy ? preference(choice->servers, server, addr)
					 : UINT64_MAX - server->failed_us,
	};
}

static bool is_before(const struct server_rank *a, const struct server_rank *b)
{
	if (a->has_connection != b->has_connection)
		return a->has_connection;
	if (a->is_healthy != b->is_healthy)
		return a->is_healthy;
	if (a->is_home != b->is_home)
		return a->is_home;
	return a->preference > b->preference;
}

static bool is_selectable(const struct server_choice *choice, const struct nfs_server *server)
{
	return !(choice->tried & 1u << server->index) &&
	       atomic_load(&server->order) == SERVER_ORDER_UP;
}

static struct nfs_server *select_server(const struct server_choice *choice,
					const struct in6_addr *addr, uint64_t now_us)
{
	struct nfs_server *best = NULL;
	struct server_rank best_rank = {0};

	for (unsigned i = 0; i < choice->servers->count; i++) {
		struct nfs_server *server = &choice->servers->list[i];
		struct server_rank rank;

		if (!is_selectable(choice, server))
			continue;
		rank = rank_of(choice, server, addr, now_us);
		if (best && !is_before(&rank, &best_rank))
			continue;
		best = server;
		best_rank = rank;
	}
	return best;
}

/* ---- the server of a connection ---- */

struct nfs_server *server_choice_next(struct servers *servers, struct server_choice *choice,
				      const struct sockaddr *client, uint64_t now_us)
{
	struct in6_addr addr = IN6ADDR_ANY_INIT;
	struct nfs_server *server;

	server_choice_stop_waiting(choice);
	/* All clients without an address family share one home. */
	(void)sockaddr_host(client, &addr);
	pthread_mutex_lock(&servers->lock);
	choice->servers = servers;
	homes_expire(servers, now_us);
	if (!choice->home && servers->count > 1)
		choice->home = home_get(servers, &addr);
	server = select_server(choice, &addr, now_us);
	if (server) {
		choice->tried |= 1u << server->index;
		choice->server = server;
		server->attempts++;
		if (choice->home)
			choice->home->server = server;
	}
	pthread_mutex_unlock(&servers->lock);
	if (server)
		server_health_wait_start(&server->health);
	choice->awaits_reply = server;
	return server;
}

unsigned server_choice_remaining(const struct server_choice *choice)
{
	unsigned n = 0;

	for (unsigned i = 0; choice->servers && i < choice->servers->count; i++)
		n += is_selectable(choice, &choice->servers->list[i]);
	return n;
}

/* Under the lock. */
static void note_failure(struct nfs_server *server, const char *error, uint64_t now_us)
{
	server->has_failed = true;
	server->failed_us = server->error_us = now_us;
	snprintf(server->error, sizeof(server->error), "%s", error);
}

void server_choice_failed(struct server_choice *choice, const char *error, uint64_t now_us)
{
	pthread_mutex_lock(&choice->servers->lock);
	note_failure(choice->server, error, now_us);
	choice->server->failures++;
	pthread_mutex_unlock(&choice->servers->lock);
}

/* Decides whether a failure of one client counts for all. */
typedef bool judge_fn(struct server_health *state, const struct sockaddr *addr,
		      const struct sockaddr *client, enum leg_close why, const char *detail,
		      uint64_t now_us);

static bool report_failure(struct server_choice *choice, judge_fn *judge,
			   const struct sockaddr *addr, const struct sockaddr *client,
			   enum leg_close why, const char *detail, uint64_t now_us)
{
	struct servers *servers = choice->servers;
	struct server_health *health = &choice->server->health;
	bool counts = judge(health, addr, client, why, detail, now_us);

	if (counts)
		server_choice_failed(choice, detail[0] ? detail : leg_close_text(why), now_us);
	if (servers->doubt && atomic_load(&health->doubtful))
		servers->doubt(servers->doubt_arg);
	return counts;
}

bool server_choice_unreached(struct server_choice *choice, const struct sockaddr *addr,
			     const struct sockaddr *client, enum leg_close why, const char *detail,
			     uint64_t now_us)
{
	return report_failure(choice, server_health_unreached, addr, client, why, detail, now_us);
}

bool server_choice_unanswered(struct server_choice *choice, const struct sockaddr *addr,
			      const struct sockaddr *client, enum leg_close why, const char *detail,
			      uint64_t now_us)
{
	return report_failure(choice, server_health_unanswered, addr, client, why, detail, now_us);
}

void server_choice_connected(struct server_choice *choice)
{
	struct nfs_server *server = choice->server;

	pthread_mutex_lock(&choice->servers->lock);
	server->connections++;
	server->connections_total++;
	if (choice->home)
		choice->home->open[server->index]++;
	choice->open = true;
	pthread_mutex_unlock(&choice->servers->lock);
}

void server_choice_stop_waiting(struct server_choice *choice)
{
	if (choice->awaits_reply)
		server_health_wait_end(&choice->server->health);
	choice->awaits_reply = false;
}

void server_choice_first_reply(struct server_choice *choice, const struct sockaddr *addr,
			       uint64_t now_us)
{
	server_choice_stop_waiting(choice);
	if (choice->servers) {
		pthread_mutex_lock(&choice->servers->lock);
		choice->server->has_failed = choice->server->check_failed = false;
		pthread_mutex_unlock(&choice->servers->lock);
	}
	choice->served = true;
	server_health_first_reply(&choice->server->health, addr, now_us);
}

void server_choice_release(struct server_choice *choice, uint64_t now_us)
{
	struct servers *servers = choice->servers;

	if (choice->served)
		server_health_disconnected(&choice->server->health);
	choice->served = false;
	if (!servers)
		return;
	pthread_mutex_lock(&servers->lock);
	if (choice->open) {
		choice->server->connections--;
		if (choice->home)
			choice->home->open[choice->server->index]--;
	}
	if (choice->home)
		home_put(servers, choice->home, now_us);
	homes_expire(servers, now_us);
	pthread_mutex_unlock(&servers->lock);
	choice->home = NULL;
	choice->open = false;
	choice->servers = NULL;
}

/* ---- health checks ---- */

uint32_t servers_in_use(struct servers *servers)
{
	uint32_t in_use = 0;

	pthread_mutex_lock(&servers->lock);
	for (unsigned i = 0; i < servers->count; i++)
		if (servers->list[i].connections)
			in_use |= 1u << i;
	pthread_mutex_unlock(&servers->lock);
	return in_use;
}

void servers_checked(struct servers *servers, unsigned index, enum leg_close why, const char *error,
		     uint64_t now_us)
{
	struct nfs_server *server = &servers->list[index];

	if (!error)
		server_health_check_passed(&server->health, now_us);
	else if (!server_health_failed(&server->health, NULL, why, error, now_us))
		return; /* not the server's fault */
	pthread_mutex_lock(&servers->lock);
	server->check_failed = error != NULL;
	if (error)
		note_failure(server, error, now_us);
	else
		server->has_failed = false;
	pthread_mutex_unlock(&servers->lock);
}

/* ---- doubtful servers ---- */

void servers_on_doubt(struct servers *servers, void (*doubt)(void *arg), void *arg)
{
	servers->doubt = doubt;
	servers->doubt_arg = arg;
}

uint32_t servers_take_doubts(struct servers *servers)
{
	uint32_t doubts = 0;

	for (unsigned i = 0; i < servers->count; i++)
		if (server_health_take_doubt(&servers->list[i].health))
			doubts |= 1u << i;
	return doubts;
}

void servers_put_doubts(struct servers *servers, uint32_t doubts)
{
	for (unsigned i = 0; i < servers->count; i++)
		if (doubts >> i & 1)
			server_health_put_doubt(&servers->list[i].health);
}

void servers_doubt_checked(struct servers *servers, unsigned index, enum leg_close why,
			   const char *error, uint64_t now_us)
{
	struct nfs_server *server = &servers->list[index];
	char logged_text[LEG_DETAIL_BYTES];

	if (!error) {
		server_health_check_passed(&server->health, now_us);
		return;
	}
	if (!server_health_check_failed(&server->health, why, error, now_us, logged_text))
		return;
	pthread_mutex_lock(&servers->lock);
	server->failures++;
	note_failure(server, logged_text, now_us);
	pthread_mutex_unlock(&servers->lock);
}

/* ---- for administrators ---- */

static const char *const order_names[] = {
#define SERVER_ORDER_NAME(name, text) [SERVER_ORDER_##name] = (text),
	SERVER_ORDERS(SERVER_ORDER_NAME)
#undef SERVER_ORDER_NAME
};

const char *server_order_name(enum server_order order)
{
	return order_names[order];
}

int server_order_parse(const char *text, enum server_order *order)
{
	for (size_t i = 0; i < ARRAY_SIZE(order_names); i++) {
		if (strcmp(order_names[i], text))
			continue;
		*order = (enum server_order)i;
		return 0;
	}
	return -EINVAL;
}

static bool matches_name(const struct nfs_server *server, const char *text)
{
	const char *sep = strstr(server->text, "://");

	return !strcmp(server->text, text) || !strcmp(sep + 3, text);
}

struct nfs_server *servers_find(struct servers *servers, const char *text)
{
	struct nfs_server *found = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < servers->count; i++) {
		struct nfs_server *server = &servers->list[i];

		if (matches_name(server, text))
			return server;
		if (strcmp(server->uri.host, text))
			continue;
		found = server;
		n++;
	}
	return n == 1 ? found : NULL;
}

void server_order_set(struct servers *servers, struct nfs_server *server, enum server_order order)
{
	atomic_store(&server->order, order);
	atomic_fetch_add(&servers->orders, 1);
}

void servers_clear_orders(struct servers *servers)
{
	for (unsigned i = 0; i < servers->count; i++)
		server_order_set(servers, &servers->list[i], SERVER_ORDER_UP);
}

void server_stats_get(struct servers *servers, const struct nfs_server *server, uint64_t now_us,
		      struct server_stats *info)
{
	pthread_mutex_lock(&servers->lock);
	*info = (struct server_stats){
		.order = atomic_load(&server->order),
		.try_last_us = try_last_us(server, now_us),
		.connections = server->connections,
		.connections_total = server->connections_total,
		.attempts = server->attempts,
		.failures = server->failures,
		.error_age_us = now_us > server->error_us ? now_us - server->error_us : 0,
	};
	snprintf(info->error, sizeof(info->error), "%s", server->error);
	pthread_mutex_unlock(&servers->lock);
}

struct nfs_server *servers_best(struct servers *servers, bool ordered_up, uint64_t now_us,
				struct server_health_info *best)
{
	static const unsigned rank[] = {[SERVER_UNKNOWN] = 1, [SERVER_OK] = 2, [SERVER_DOWN] = 0};
	struct nfs_server *found = NULL;
	struct server_health_info info;
	unsigned waiting = 0;

	for (unsigned i = 0; i < servers->count; i++) {
		struct nfs_server *server = &servers->list[i];

		server_health_get(&server->health, now_us, &info);
		waiting += info.waiting;
		if (ordered_up && atomic_load(&server->order) != SERVER_ORDER_UP)
			continue;
		if (found && rank[info.reach] <= rank[best->reach])
			continue;
		found = server;
		*best = info;
	}
	if (found)
		best->waiting = waiting;
	return found;
}

bool servers_are_resolving(struct servers *servers)
{
	for (unsigned i = 0; i < servers->count; i++)
		if (dns_cache_is_resolving(&servers->list[i].name))
			return true;
	return false;
}

void servers_tick(struct servers *servers, uint64_t now_us)
{
	for (unsigned i = 0; i < servers->count; i++)
		server_health_tick(&servers->list[i].health, now_us);
}
