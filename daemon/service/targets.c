// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"

/* The key for hashes that must be equal in every daemon. */
static const struct hash_key same_everywhere = {{0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u}};

/* The home of a client address. */
struct target_home {
	struct hash_node node;
	TAILQ_ENTRY(target_home) entry; /* of the homes without connections */
	struct in6_addr addr;
	struct target *target;
	unsigned seats;
	uint64_t left_us;
	unsigned open[]; /* connections to each server */
};

static int target_init(struct target *target, unsigned index, const struct config_uri *uri,
		       const char *service, struct log_limit *lines)
{
	*target = (struct target){.index = index, .uri = *uri};
	config_uri_text(uri, target->text);
	if (version_cache_init(&target->versions))
		return -ENOMEM;
	atomic_init(&target->order, TARGET_UP);
	server_state_init(&target->server, service, uri);
	target->server.quiet = !lines;
	server_name_init(&target->name, uri, service, lines);
	return 0;
}

static void free_list(struct targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++) {
		struct target *target = &targets->list[i];

		version_cache_fini(&target->versions);
		server_name_fini(&target->name);
		server_state_fini(&target->server);
	}
	free(targets->list);
	targets->count = 0;
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

	if (!config_asks_mount(config))
		return uris;
	if (config->mount.way == MOUNT_AT)
		return (struct server_uris){.list = {config->mount.at}, .count = 1};
	/* rpcbind returns the port only. */
	for (; uris.count < config_nservers(config); uris.count++)
		uris.list[uris.count] = (struct config_uri){
			TRANSPORT_TCP, config_server(config, uris.count)->host, rpcbind_port};
	return uris;
}

int targets_init(struct targets *targets, const struct server_uris *uris,
		 const struct service_config *config, struct log_limit *lines)
{
	*targets =
		(struct targets){.balance = config->balance, .left_max = config->max_connections};
	targets->list = calloc(uris->count, sizeof(*targets->list));
	if (!targets->list)
		return -ENOMEM;
	for (; targets->count < uris->count; targets->count++)
		if (target_init(&targets->list[targets->count], targets->count,
				&uris->list[targets->count], config->name, lines))
			goto out_list;
	if (hash_key_draw(&targets->key))
		goto out_list;
	hash_table_init(&targets->homes);
	atomic_init(&targets->orders, 0);
	TAILQ_INIT(&targets->left);
	pthread_mutex_init(&targets->lock, NULL);
	return 0;

out_list:
	free_list(targets);
	return -ENOMEM;
}

/* ---- homes, under the lock ---- */

static void home_free(struct targets *targets, struct target_home *home)
{
	TAILQ_REMOVE(&targets->left, home, entry);
	targets->nleft--;
	hash_table_remove(&targets->homes, &home->node);
	free(home);
}

static void forget(struct targets *targets, uint64_t now_us)
{
	struct target_home *home;

	while ((home = TAILQ_FIRST(&targets->left)) &&
	       (targets->nleft > targets->left_max ||
		now_us >= home->left_us + TARGETS_REMEMBER_US))
		home_free(targets, home);
}

static uint64_t hash_of(const struct targets *targets, const struct in6_addr *addr)
{
	return hash_bytes(&targets->key, 0, addr, sizeof(*addr));
}

uint64_t targets_client_number(const struct sockaddr *client)
{
	struct in6_addr addr = IN6ADDR_ANY_INIT;

	(void)sockaddr_host(client, &addr);
	return hash_bytes(&same_everywhere, 0, &addr, sizeof(addr));
}

static struct target_home *find(const struct targets *targets, const struct in6_addr *addr)
{
	struct hash_node *node = hash_table_first(&targets->homes, hash_of(targets, addr));

	for (; node; node = hash_table_next(node)) {
		struct target_home *home = container_of(node, struct target_home, node);

		if (!memcmp(&home->addr, addr, sizeof(*addr)))
			return home;
	}
	return NULL;
}

/* Without memory a client has no home, and gets the server that a new client would get. */
static struct target_home *settle(struct targets *targets, const struct in6_addr *addr)
{
	struct target_home *home = find(targets, addr);

	if (home && !home->seats) {
		TAILQ_REMOVE(&targets->left, home, entry);
		targets->nleft--;
	} else if (!home) {
		home = calloc(1, sizeof(*home) + targets->count * sizeof(home->open[0]));
		if (!home)
			return NULL;
		home->addr = *addr;
		hash_table_add(&targets->homes, &home->node, hash_of(targets, addr));
	}
	home->seats++;
	return home;
}

static void move_out(struct targets *targets, struct target_home *home, uint64_t now_us)
{
	if (--home->seats)
		return;
	home->left_us = now_us;
	TAILQ_INSERT_TAIL(&targets->left, home, entry);
	targets->nleft++;
}

void targets_fini(struct targets *targets)
{
	struct target_home *home;

	if (!targets->list)
		return;
	while ((home = TAILQ_FIRST(&targets->left)))
		home_free(targets, home);
	hash_table_fini(&targets->homes);
	pthread_mutex_destroy(&targets->lock);
	free_list(targets);
	targets->list = NULL;
}

void targets_avoid(struct targets *targets, const struct own_doors *doors)
{
	for (unsigned i = 0; i < targets->count; i++)
		targets->list[i].name.doors = doors;
}

/* ---- selection, under the lock ---- */

static uint64_t last_us(const struct target *target, uint64_t now_us)
{
	uint64_t until_us = target->failed_us + TARGETS_LAST_US;

	if (target->probe_failed)
		return TARGETS_LAST_US;
	return target->has_failed && now_us < until_us ? until_us - now_us : 0;
}

/*
 * With "source" each client has its own order, the same in every daemon with the same servers, hence the fixed key.
 * Adding or removing a server moves only that server's clients.
 */
static uint64_t preference(const struct targets *targets, const struct target *target,
			   const struct in6_addr *addr)
{
	uint64_t hash;

	if (targets->balance == BALANCE_STANDBY)
		return UINT64_MAX - target->index;
	hash = hash_bytes(&same_everywhere, 0, target->text, strlen(target->text));
	return hash_bytes(&same_everywhere, hash, addr, sizeof(*addr));
}

struct rank {
	bool lives_there, is_well, is_home;
	uint64_t preference;
};

static struct rank rank_of(const struct target_seat *seat, const struct target *target,
			   const struct in6_addr *addr, uint64_t now_us)
{
	const struct target_home *home = seat->home;
	bool is_home = home && home->target == target;
	bool is_well = !last_us(target, now_us);

	return (struct rank){
		.lives_there = is_home && home->open[target->index],
		.is_well = is_well,
		.is_home = is_home && is_well,
		.preference = is_well ? preference(seat->targets, target, addr)
				      : UINT64_MAX - target->failed_us,
	};
}

static bool is_before(const struct rank *a, const struct rank *b)
{
	if (a->lives_there != b->lives_there)
		return a->lives_there;
	if (a->is_well != b->is_well)
		return a->is_well;
	if (a->is_home != b->is_home)
		return a->is_home;
	return a->preference > b->preference;
}

static bool is_to_be_had(const struct target_seat *seat, const struct target *target)
{
	return !(seat->tried & 1u << target->index) && atomic_load(&target->order) == TARGET_UP;
}

static struct target *choose(const struct target_seat *seat, const struct in6_addr *addr,
			     uint64_t now_us)
{
	struct target *best = NULL;
	struct rank best_rank = {0};

	for (unsigned i = 0; i < seat->targets->count; i++) {
		struct target *target = &seat->targets->list[i];
		struct rank rank;

		if (!is_to_be_had(seat, target))
			continue;
		rank = rank_of(seat, target, addr, now_us);
		if (best && !is_before(&rank, &best_rank))
			continue;
		best = target;
		best_rank = rank;
	}
	return best;
}

/* ---- the server of a connection ---- */

struct target *targets_seek(struct targets *targets, struct target_seat *seat,
			    const struct sockaddr *client, uint64_t now_us)
{
	struct in6_addr addr = IN6ADDR_ANY_INIT;
	struct target *target;

	targets_wait_no_longer(seat);
	/* All clients without an address family share one home. */
	(void)sockaddr_host(client, &addr);
	pthread_mutex_lock(&targets->lock);
	seat->targets = targets;
	forget(targets, now_us);
	if (!seat->home && targets->count > 1)
		seat->home = settle(targets, &addr);
	target = choose(seat, &addr, now_us);
	if (target) {
		seat->tried |= 1u << target->index;
		seat->target = target;
		target->attempts++;
		if (seat->home)
			seat->home->target = target;
	}
	pthread_mutex_unlock(&targets->lock);
	if (target)
		server_state_seek(&target->server);
	seat->waits = target;
	return target;
}

unsigned targets_left(const struct target_seat *seat)
{
	unsigned n = 0;

	for (unsigned i = 0; seat->targets && i < seat->targets->count; i++)
		n += is_to_be_had(seat, &seat->targets->list[i]);
	return n;
}

/* Under the lock. */
static void note_failure(struct target *target, const char *error, uint64_t now_us)
{
	target->has_failed = true;
	target->failed_us = target->error_us = now_us;
	snprintf(target->error, sizeof(target->error), "%s", error);
}

void targets_failed(struct target_seat *seat, const char *error, uint64_t now_us)
{
	pthread_mutex_lock(&seat->targets->lock);
	note_failure(seat->target, error, now_us);
	seat->target->failures++;
	pthread_mutex_unlock(&seat->targets->lock);
}

/* Decides whether a failure of one client counts for all. */
typedef bool judge_fn(struct server_state *state, const struct sockaddr *addr,
		      const struct sockaddr *client, enum leg_close why, const char *detail,
		      uint64_t now_us);

static bool learn(struct target_seat *seat, judge_fn *judge, const struct sockaddr *addr,
		  const struct sockaddr *client, enum leg_close why, const char *detail,
		  uint64_t now_us)
{
	struct targets *targets = seat->targets;
	struct server_state *server = &seat->target->server;
	bool counts = judge(server, addr, client, why, detail, now_us);

	if (counts)
		targets_failed(seat, detail[0] ? detail : leg_close_text(why), now_us);
	if (targets->doubt && atomic_load(&server->doubtful))
		targets->doubt(targets->doubt_arg);
	return counts;
}

bool targets_unreached(struct target_seat *seat, const struct sockaddr *addr,
		       const struct sockaddr *client, enum leg_close why, const char *detail,
		       uint64_t now_us)
{
	return learn(seat, server_state_unreached, addr, client, why, detail, now_us);
}

bool targets_unanswered(struct target_seat *seat, const struct sockaddr *addr,
			const struct sockaddr *client, enum leg_close why, const char *detail,
			uint64_t now_us)
{
	return learn(seat, server_state_unanswered, addr, client, why, detail, now_us);
}

void targets_opened(struct target_seat *seat)
{
	struct target *target = seat->target;

	pthread_mutex_lock(&seat->targets->lock);
	target->connections++;
	target->connections_total++;
	if (seat->home)
		seat->home->open[target->index]++;
	seat->open = true;
	pthread_mutex_unlock(&seat->targets->lock);
}

void targets_wait_no_longer(struct target_seat *seat)
{
	if (seat->waits)
		server_state_leave(&seat->target->server);
	seat->waits = false;
}

void targets_answered(struct target_seat *seat, const struct sockaddr *addr, uint64_t now_us)
{
	targets_wait_no_longer(seat);
	if (seat->targets) {
		pthread_mutex_lock(&seat->targets->lock);
		seat->target->has_failed = seat->target->probe_failed = false;
		pthread_mutex_unlock(&seat->targets->lock);
	}
	seat->served = true;
	server_state_reached(&seat->target->server, addr, now_us);
}

void targets_leave(struct target_seat *seat, uint64_t now_us)
{
	struct targets *targets = seat->targets;

	if (seat->served)
		server_state_parted(&seat->target->server);
	seat->served = false;
	if (!targets)
		return;
	pthread_mutex_lock(&targets->lock);
	if (seat->open) {
		seat->target->connections--;
		if (seat->home)
			seat->home->open[seat->target->index]--;
	}
	if (seat->home)
		move_out(targets, seat->home, now_us);
	forget(targets, now_us);
	pthread_mutex_unlock(&targets->lock);
	seat->home = NULL;
	seat->open = false;
	seat->targets = NULL;
}

/* ---- health checks ---- */

uint32_t targets_in_use(struct targets *targets)
{
	uint32_t in_use = 0;

	pthread_mutex_lock(&targets->lock);
	for (unsigned i = 0; i < targets->count; i++)
		if (targets->list[i].connections)
			in_use |= 1u << i;
	pthread_mutex_unlock(&targets->lock);
	return in_use;
}

void targets_probed(struct targets *targets, unsigned index, enum leg_close why, const char *error,
		    uint64_t now_us)
{
	struct target *target = &targets->list[index];

	if (!error)
		server_state_asked(&target->server, now_us);
	else if (!server_state_failed(&target->server, NULL, why, error, now_us))
		return; /* not the server's fault */
	pthread_mutex_lock(&targets->lock);
	target->probe_failed = error != NULL;
	if (error)
		note_failure(target, error, now_us);
	else
		target->has_failed = false;
	pthread_mutex_unlock(&targets->lock);
}

/* ---- doubtful servers ---- */

void targets_on_doubt(struct targets *targets, void (*doubt)(void *arg), void *arg)
{
	targets->doubt = doubt;
	targets->doubt_arg = arg;
}

uint32_t targets_take_doubts(struct targets *targets)
{
	uint32_t doubts = 0;

	for (unsigned i = 0; i < targets->count; i++)
		if (server_state_take_doubt(&targets->list[i].server))
			doubts |= 1u << i;
	return doubts;
}

void targets_put_doubts(struct targets *targets, uint32_t doubts)
{
	for (unsigned i = 0; i < targets->count; i++)
		if (doubts >> i & 1)
			server_state_put_doubt(&targets->list[i].server);
}

void targets_asked(struct targets *targets, unsigned index, enum leg_close why, const char *error,
		   uint64_t now_us)
{
	struct target *target = &targets->list[index];
	char told[LEG_DETAIL_BYTES];

	if (!error) {
		server_state_asked(&target->server, now_us);
		return;
	}
	if (!server_state_doubt_holds(&target->server, why, error, now_us, told))
		return;
	pthread_mutex_lock(&targets->lock);
	target->failures++;
	note_failure(target, told, now_us);
	pthread_mutex_unlock(&targets->lock);
}

/* ---- for administrators ---- */

static const char *const order_names[] = {
#define TARGET_ORDER_NAME(name, text) [TARGET_##name] = (text),
	TARGET_ORDERS(TARGET_ORDER_NAME)
#undef TARGET_ORDER_NAME
};

const char *target_order_name(enum target_order order)
{
	return order_names[order];
}

int target_order_parse(const char *text, enum target_order *order)
{
	for (size_t i = 0; i < ARRAY_SIZE(order_names); i++) {
		if (strcmp(order_names[i], text))
			continue;
		*order = (enum target_order)i;
		return 0;
	}
	return -EINVAL;
}

static bool is_called(const struct target *target, const char *text)
{
	const char *sep = strstr(target->text, "://");

	return !strcmp(target->text, text) || !strcmp(sep + 3, text);
}

struct target *target_find(struct targets *targets, const char *text)
{
	struct target *found = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < targets->count; i++) {
		struct target *target = &targets->list[i];

		if (is_called(target, text))
			return target;
		if (strcmp(target->uri.host, text))
			continue;
		found = target;
		n++;
	}
	return n == 1 ? found : NULL;
}

void target_set(struct targets *targets, struct target *target, enum target_order order)
{
	atomic_store(&target->order, order);
	atomic_fetch_add(&targets->orders, 1);
}

void targets_all_up(struct targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++)
		target_set(targets, &targets->list[i], TARGET_UP);
}

void target_info_get(struct targets *targets, const struct target *target, uint64_t now_us,
		     struct target_info *info)
{
	pthread_mutex_lock(&targets->lock);
	*info = (struct target_info){
		.order = atomic_load(&target->order),
		.last_us = last_us(target, now_us),
		.connections = target->connections,
		.connections_total = target->connections_total,
		.attempts = target->attempts,
		.failures = target->failures,
		.error_age_us = now_us > target->error_us ? now_us - target->error_us : 0,
	};
	snprintf(info->error, sizeof(info->error), "%s", target->error);
	pthread_mutex_unlock(&targets->lock);
}

bool targets_are_sought(struct targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++)
		if (server_name_is_sought(&targets->list[i].name))
			return true;
	return false;
}

void targets_look(struct targets *targets, uint64_t now_us)
{
	for (unsigned i = 0; i < targets->count; i++)
		server_state_look(&targets->list[i].server, now_us);
}
