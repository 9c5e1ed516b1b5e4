// SPDX-License-Identifier: BSD-3-Clause
/* The daemon as a whole: services with their listeners on the main thread, and the workers. */
#include "daemon/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config_descriptors.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_value.h"
#include "daemon/proxy/lacks.h"
#include "daemon/proxy/placement.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"

#define RESOLVER_QUIESCE_MS 3000u
/* Without descriptors: how long a connection may have said nothing, and how many such go at once. */
#define SILENT_US       1000000u
#define SILENT_PER_LOOK 64u
/* That clients wait for descriptors is told as seldom as that. */
#define SHORTAGE_TELL_US 60000000u
#define LIMIT            "limit of descriptors (LimitNOFILE= in the unit, ulimit -n in a shell)"

static size_t index_of(const struct proxy_service *ps)
{
	return ps - ps->proxy->proxy_services;
}

static struct service *service_of(const struct proxy_service *ps)
{
	return &ps->proxy->services[index_of(ps)];
}

static void on_refused(void *arg, const struct incoming *in, enum leg_close why)
{
	struct proxy_service *ps = arg;
	struct service *service = service_of(ps);
	char text[ADDRESS_TEXT_BYTES];

	ps->refused[why]++;
	log_limited(LOG_LEVEL_WARNING, &service->lines[LINE_REFUSED + why], NULL,
		    "%s: refused %s: %s", service->config->name,
		    address_text((const struct sockaddr *)&in->peer, text), leg_close_text(why));
	lobby_hold(&ps->lobby, in, why);
}

static void on_incoming(void *arg, const struct incoming *in)
{
	struct proxy_service *ps = arg;
	struct proxy *proxy = ps->proxy;
	struct worker *worker = placement_choose(proxy->workers, proxy->nworkers, proxy->next_id,
						 loop_now_us(proxy->loop));
	struct incoming guided = *in;
	enum leg_close why;

	guided.guest =
		door_enter(&service_of(ps)->door, &worker->services[index_of(ps)].side,
			   (const struct sockaddr *)&in->peer, loop_now_us(proxy->loop), &why);
	if (!guided.guest) {
		on_refused(ps, in, why);
		return;
	}
	atomic_fetch_add(&service_of(ps)->connections_total, 1);
	if (worker_adopt(worker, index_of(ps), &guided, ++proxy->next_id))
		ps->refused[LEG_CLOSE_RESOURCES]++;
}

unsigned proxy_connections(const struct proxy *proxy)
{
	unsigned sum = 0;

	for (size_t i = 0; i < proxy->nservices; i++)
		sum += atomic_load(&proxy->services[i].connections);
	return sum;
}

/* In connections, of two descriptors each; one that is turned away has one. */
static unsigned taken(const struct proxy_service *ps)
{
	return atomic_load(&service_of(ps)->connections) + (ps->lobby.count + 1) / 2;
}

/* What the formula of the manual counts with; half-open ones come on top. */
static unsigned share(const struct proxy_service *ps)
{
	return service_of(ps)->config->max_connections +
	       CONFIG_DESCRIPTORS_HELD / CONFIG_DESCRIPTORS_CONNECTION;
}

static bool is_within_share(const struct proxy_service *ps)
{
	return taken(ps) < share(ps);
}

/*
 * Those that have said nothing for a while make room for others that wait: of whatever service for one that has not
 * its share, else of the same.
 */
static void expel_silent(const struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	bool within = is_within_share(ps);
	unsigned left = SILENT_PER_LOOK;

	for (size_t i = 0; i < proxy->nservices; i++)
		while (left && (within || i == index_of(ps)) &&
		       door_expel_half_open(&proxy->services[i].door, loop_now_us(proxy->loop),
					    SILENT_US))
			left--;
}

/* A service within its share takes what there is; past it, only what no share of another may come to need. */
static bool has_part(const struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	bool within = is_within_share(ps);
	uint64_t spoken_for = 0;

	for (size_t i = 0; i < proxy->nservices; i++) {
		const struct proxy_service *other = &proxy->proxy_services[i];
		bool keeps = !within && other != ps && is_within_share(other);

		spoken_for += keeps ? share(other) : taken(other);
	}
	return spoken_for < proxy->max_connections;
}

/* Somebody has to wait, which was not so before: whoever goes and whoever comes next make it so again. */
static void log_shortage(struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	const char *name = service_of(ps)->config->name;

	if (proxy_connections(proxy) < proxy->max_connections)
		log_write_limited(
			LOG_LEVEL_WARNING, &ps->shortages, NULL,
			"%s: clients wait: it has %u connections, and what else the " LIMIT
			" allows is kept for other services: raise it",
			name, taken(ps));
	else
		log_write_limited(LOG_LEVEL_WARNING, &ps->shortages, NULL,
				  "%s: clients wait: the " LIMIT
				  " allows %u connections of all services: raise it",
				  name, proxy->max_connections);
}

/*
 * A connection that is taken can open its upstream: what is scarce is not given to clients that
 * could then not be served. Those wait in the listeners' queues.
 */
static bool has_descriptors(struct proxy_service *ps)
{
	bool enough = has_part(ps);

	if (!enough)
		expel_silent(ps);
	if (!enough && !ps->resting)
		log_shortage(ps);
	ps->resting = !enough;
	return enough;
}

static bool has_room(void *arg)
{
	struct proxy_service *ps = arg;

	return has_descriptors(ps) &&
	       door_has_room(&service_of(ps)->door, loop_now_us(ps->proxy->loop));
}

/* Two descriptors a connection, of those that are neither taken now nor kept for the rest. */
static unsigned most_connections(void)
{
	struct rlimit limit;
	uint64_t left;
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* Descriptors are given out from the lowest: this one tells how many are taken. */
	if (lowest >= 0)
		close(lowest);
	if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	left = limit.rlim_cur > (rlim_t)lowest ? limit.rlim_cur - lowest : 0;
	if (left < CONFIG_DESCRIPTORS_KEPT + CONFIG_DESCRIPTORS_CONNECTION)
		return 1;
	left = (left - CONFIG_DESCRIPTORS_KEPT) / CONFIG_DESCRIPTORS_CONNECTION;
	return left < UINT_MAX ? (unsigned)left : UINT_MAX;
}

static const struct listener_events listener_events = {
	.incoming = on_incoming,
	.refused = on_refused,
	.has_room = has_room,
};

/* From any thread: some that were turned away have to go for newer ones. */
static void kick(void *arg)
{
	event_loop_kick(arg);
}

static void on_kick(void *arg)
{
	struct proxy *proxy = arg;

	for (size_t i = 0; i < proxy->nservices; i++)
		if (proxy->proxy_services[i].listener)
			lobby_look(&proxy->proxy_services[i].lobby);
}

static int open_listener(struct proxy *proxy, size_t i)
{
	struct proxy_service *ps = &proxy->proxy_services[i];
	const struct service_config *service = &proxy->config->services[i];
	char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];
	char error[LISTEN_ERROR_BYTES];
	bool on_any;
	int rc;

	rc = lobby_init(&ps->lobby, proxy->loop, &proxy->services[i].door, kick, proxy->loop);
	if (rc)
		return rc;
	rc = listener_open(proxy->loop, service, &listener_events, ps, error, sizeof(error),
			   &ps->listener);
	if (rc) {
		log_error(NULL, "%s: %s", service->name, error);
		return rc;
	}
	rc = listener_doors(ps->listener, &proxy->doors);
	if (rc) {
		log_error(NULL, "%s: %s", service->name, strerror(-rc));
		return rc;
	}
	on_any = service->listen.transport == TRANSPORT_RDMA;
	log_info(NULL, "%s: listening on %s%s%s%s for %s", service->name,
		 config_uri_text(&service->listen, listen), on_any ? " (" : "",
		 on_any ? listener_fabrics(ps->listener) : "", on_any ? ")" : "",
		 config_uri_text(&service->connect, connect));
	return 0;
}

static int start_workers(struct proxy *proxy)
{
	const struct config *config = proxy->config;
	size_t reserve_bytes = config_memory_reserve_bytes(config);

	proxy->workers = calloc(config->workers, sizeof(*proxy->workers));
	proxy->ports = ports_new();
	if (!proxy->workers || !proxy->ports)
		return -ENOMEM;
	for (; proxy->nworkers < config->workers; proxy->nworkers++) {
		struct worker *worker = worker_new(proxy->nworkers, proxy->services,
						   proxy->nservices, proxy->ports, reserve_bytes);

		if (!worker)
			return -ENOMEM;
		proxy->workers[proxy->nworkers] = worker;
	}
	return 0;
}

static void give_part(struct proxy *proxy, size_t i)
{
	struct budget_part *part = budget_part(&proxy->budget, i);

	part->name = proxy->services[i].config->name;
	proxy->services[i].memory = part;
	proxy->services[i].name.doors = &proxy->doors;
}

static int start_services(struct proxy *proxy)
{
	const struct config *config = proxy->config;

	proxy->services = calloc(config->nservices, sizeof(*proxy->services));
	proxy->proxy_services = calloc(config->nservices, sizeof(*proxy->proxy_services));
	if (!proxy->services || !proxy->proxy_services ||
	    budget_init(&proxy->budget, config_memory_limit_bytes(config),
			config_memory_own_bytes(), config->nservices, config->workers))
		return -ENOMEM;
	for (; proxy->nservices < config->nservices; proxy->nservices++) {
		int rc = service_init(&proxy->services[proxy->nservices],
				      &config->services[proxy->nservices]);

		if (rc)
			return rc;
		give_part(proxy, proxy->nservices);
		proxy->proxy_services[proxy->nservices].proxy = proxy;
		proxy->proxy_services[proxy->nservices].shortages = (struct log_limit){
			.burst = 1, .refill_us = SHORTAGE_TELL_US, .repeats = true};
	}
	return 0;
}

/* What is to be said once in a while: lines that the log did not let pass, on whatever thread, and servers that are down. */
static void on_look(void *arg)
{
	struct proxy *proxy = arg;

	for (size_t i = 0; i < proxy->nservices; i++) {
		service_tell_left_out(&proxy->services[i]);
		server_state_look(&proxy->services[i].server, loop_now_us(proxy->loop));
	}
	placement_look(proxy->workers, proxy->nworkers, loop_now_us(proxy->loop));
	loop_timer_set(proxy->loop, proxy->look, LOG_TELL_US);
}

static int start_looking(struct proxy *proxy)
{
	proxy->look = loop_timer_new(proxy->loop, on_look, proxy);
	if (!proxy->look)
		return -ENOMEM;
	loop_timer_set(proxy->loop, proxy->look, LOG_TELL_US);
	return 0;
}

int proxy_start(struct loop *loop, const struct config *config, struct proxy **out)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	int rc;

	if (!proxy)
		return -ENOMEM;
	proxy->loop = loop;
	proxy->config = config;
	proxy->start_us = loop_now_us(loop);
	event_loop_on_kick(loop, on_kick, proxy);
	rc = start_services(proxy);
	if (!rc)
		rc = start_looking(proxy);
	if (!rc)
		rc = start_workers(proxy);
	if (rc) {
		log_error(NULL, "cannot start: %s", strerror(-rc));
		goto out_stop;
	}
	for (size_t i = 0; i < proxy->nservices; i++) {
		rc = open_listener(proxy, i);
		if (rc)
			goto out_stop;
	}
	proxy->max_connections = most_connections();
	lacks_tell(config, proxy->max_connections);
	*out = proxy;
	return 0;

out_stop:
	proxy_stop(proxy);
	return rc;
}

void proxy_stop(struct proxy *proxy)
{
	if (!proxy)
		return;
	loop_timer_free(proxy->loop, proxy->look);
	for (size_t i = 0; i < proxy->nservices; i++) {
		listener_close(proxy->proxy_services[i].listener);
		lobby_fini(&proxy->proxy_services[i].lobby);
	}
	for (size_t i = 0; i < proxy->nworkers; i++)
		worker_stop(proxy->workers[i]);
	for (size_t i = 0; i < proxy->nworkers; i++)
		worker_join(proxy->workers[i]);
	/*
	 * A look-up whose name server is silent still has its thread, which would wake a freed loop: the workers are
	 * left to the end of the process then.
	 */
	if (!resolver_quiesce(RESOLVER_QUIESCE_MS))
		return;
	for (size_t i = 0; i < proxy->nworkers; i++)
		worker_free(proxy->workers[i]);
	for (size_t i = 0; i < proxy->nservices; i++)
		service_fini(&proxy->services[i]);
	budget_fini(&proxy->budget);
	own_doors_fini(&proxy->doors);
	ports_free(proxy->ports);
	free(proxy->workers);
	free(proxy->services);
	free(proxy->proxy_services);
	free(proxy);
}
