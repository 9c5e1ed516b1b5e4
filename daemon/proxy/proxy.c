// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/humanize.h"
#include "daemon/base/job_threads.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/base/sd_notify.h"
#include "daemon/base/thread.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_tls.h"
#include "daemon/config/config_value.h"
#include "daemon/health/health.h"
#include "daemon/proxy/accept.h"
#include "daemon/proxy/health_timer.h"
#include "daemon/proxy/listener_inherit.h"
#include "daemon/proxy/problems.h"
#include "daemon/proxy/proxy_service.h"
#include "daemon/proxy/reader.h"
#include "daemon/proxy/rpcbind_sync.h"
#include "daemon/proxy/startup_warnings.h"
#include "daemon/proxy/watchdog.h"
#include "daemon/proxy/worker_select.h"
#include "daemon/rpcbind/rpcb_client.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"

#define RESOLVER_QUIESCE_MS 3000u
/*
 * For connections after drain_timeout_s, and for the workers after that; without draining both for
 * the workers.
 */
#define CONNECTIONS_END_MS (LEG_STOP_US / 1000 + 1000)
#define WORKERS_END_MS     2000u

_Static_assert(LEG_STOP_US / 1000 + RESOLVER_QUIESCE_MS + RPCB_CLIENT_END_MS +
				       PROXY_STOP_SPARE_MS <=
			       PROXY_STOP_S * 1000 &&
		       CONNECTIONS_END_MS + WORKERS_END_MS + RPCB_CLIENT_END_MS +
				       PROXY_STOP_SPARE_MS <=
			       PROXY_STOP_S * 1000,
	       "a stop takes longer than the time reported to systemd");

const char *proxy_size_text(const struct proxy *proxy, char text[PROXY_SIZE_BYTES])
{
	snprintf(text, PROXY_SIZE_BYTES, "%zu service%s, %zu worker%s", proxy->nservices,
		 humanize_plural(proxy->nservices), proxy->nworkers,
		 humanize_plural(proxy->nworkers));
	return text;
}

void proxy_log_listening(const struct proxy_service *ps)
{
	const struct service_config *service = ps->service.config;
	bool on_any = config_listens_on(service, TRANSPORT_RDMA);
	char listen[CONFIG_LISTEN_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];

	log_info(LOG_ABOUT(.service = service->name, .upstream = connect),
		 "listening on %s%s%s%s for %s", config_listen_text(service, listen),
		 on_any ? " (" : "", on_any ? listener_fabrics(ps->listener) : "",
		 on_any ? ")" : "", config_uri_text(&service->connect, connect));
}

int proxy_update_listen_addrs(struct proxy *proxy)
{
	struct self_connect listen_addrs = {0};
	const struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		int rc = ps->listener ? listener_add_addresses(ps->listener, &listen_addrs) : 0;

		if (rc) {
			self_connect_fini(&listen_addrs);
			return rc;
		}
	}
	self_connect_replace(&proxy->listen_addrs, &listen_addrs);
	return 0;
}

/* ---- draining and removal of services ---- */

/*
 * Frees drained services without users. A stopping daemon ends its loop when the last connection
 * has closed.
 */
static void free_drained(struct proxy *proxy)
{
	struct proxy_service *ps, *next;

	if (proxy->stopping) {
		if (!proxy_connections(proxy))
			event_loop_stop(proxy->loop);
		return;
	}
	for (ps = TAILQ_FIRST(&proxy->removed); ps; ps = next) {
		next = TAILQ_NEXT(ps, entry);
		if (!proxy_service_is_free(ps))
			continue;
		TAILQ_REMOVE(&proxy->removed, ps, entry);
		log_info(LOG_ABOUT(.service = ps->service.config->name),
			 "removed service: all its connections have closed");
		proxy_service_free(ps);
	}
}

/*
 * Closes the connections of services whose drain time is over. Returns the next such time, at most
 * @next_us.
 */
static uint64_t next_drain_deadline_us(struct proxy_service_list *list, uint64_t now_us,
				       uint64_t next_us)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, list, entry) {
		unsigned left = atomic_load(&ps->service.connections);

		if (!ps->drain_deadline_us)
			continue;
		if (ps->drain_deadline_us > now_us) {
			next_us = ps->drain_deadline_us < next_us ? ps->drain_deadline_us : next_us;
			continue;
		}
		if (left)
			log_warning(
				LOG_ABOUT(.service = ps->service.config->name),
				"drain_timeout_s expired: closing %u connection%s with Calls in "
				"flight",
				left, humanize_plural(left));
		proxy_service_close_connections(ps);
	}
	return next_us;
}

static void on_drain_timer(void *arg)
{
	struct proxy *proxy = arg;
	uint64_t now_us = loop_now_us(proxy->loop), next_us = UINT64_MAX;

	next_us = next_drain_deadline_us(&proxy->services, now_us, next_us);
	next_us = next_drain_deadline_us(&proxy->removed, now_us, next_us);
	if (next_us == UINT64_MAX && proxy->stopping) {
		if (!proxy->end_us)
			proxy->end_us = now_us + CONNECTIONS_END_MS * UINT64_C(1000);
		next_us = proxy->end_us;
		if (next_us <= now_us)
			event_loop_stop(proxy->loop);
	}
	if (next_us != UINT64_MAX && next_us > now_us)
		loop_timer_set(proxy->loop, proxy->drain_timer, next_us - now_us);
}

void proxy_drain_service(struct proxy_service *ps)
{
	struct proxy *proxy = ps->proxy;

	proxy_service_drain(ps, proxy->config->drain_timeout_s);
	/* Services drained earlier can have an earlier time. */
	on_drain_timer(proxy);
}

/* Any thread: a removed service may have no connection any more. */
static void on_drained(void *arg)
{
	event_loop_kick(((struct proxy *)arg)->loop);
}

void proxy_remove_service(struct proxy_service *ps, bool is_replaced)
{
	struct proxy *proxy = ps->proxy;

	TAILQ_REMOVE(&proxy->services, ps, entry);
	proxy->nservices--;
	TAILQ_INSERT_TAIL(&proxy->removed, ps, entry);
	if (is_replaced)
		proxy_service_unlisten(ps);
	else
		proxy_service_close_listener(ps);
	atomic_store(&ps->service.removed, true);
	health_timer_stop(ps, on_drained, proxy);
	proxy_drain_service(ps);
}

void proxy_drain_and_stop(struct proxy *proxy)
{
	unsigned connections = proxy_connections(proxy);
	struct proxy_service *ps;

	if (proxy->stopping) {
		event_loop_stop(proxy->loop);
		return;
	}
	proxy->stopping = true;
	sd_notify_stopping();
	sd_notify_extend_timeout(((uint64_t)proxy->config->drain_timeout_s + PROXY_STOP_S) *
				 1000000);
	log_info(NULL, "stopping: draining %u connection%s, at most %u s", connections,
		 humanize_plural(connections), proxy->config->drain_timeout_s);
	while ((ps = TAILQ_FIRST(&proxy->services)))
		proxy_remove_service(ps, true); /* keeps the stored sockets for the next start */
	rpcbind_sync_update(proxy);
	free_drained(proxy);
}

static void on_kick(void *arg)
{
	struct proxy *proxy = arg;
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		tarpit_evict(&ps->tarpit);
		health_timer_check_doubtful(ps);
	}
	TAILQ_FOREACH(ps, &proxy->removed, entry)
		tarpit_evict(&ps->tarpit);
	free_drained(proxy);
}

/* ---- start and stop ---- */

/* What the workers and the health checks share. */
static int make_shared(struct proxy *proxy)
{
	proxy->reserved_ports = reserved_ports_new();
	proxy->jobs = job_threads_new(proxy->config->workers);
	return proxy->reserved_ports && proxy->jobs ? 0 : -ENOMEM;
}

static int start_workers(struct proxy *proxy)
{
	const struct config *config = proxy->config;
	const struct worker_shared shared = {proxy->reserved_ports, proxy->jobs};
	const struct worker_memory memory = {
		.reserve_bytes = config_memory_reserve_bytes(config),
		.kept_bytes = config_memory_kept_bytes(config),
	};

	proxy->workers = calloc(config->workers, sizeof(*proxy->workers));
	if (!proxy->workers)
		return -ENOMEM;
	for (; proxy->nworkers < config->workers; proxy->nworkers++) {
		struct worker *worker =
			worker_new(proxy->nworkers, &shared, &memory, on_drained, proxy);

		if (!worker)
			return -ENOMEM;
		proxy->workers[proxy->nworkers] = worker;
	}
	return watchdog_new(proxy->loop, proxy->workers, proxy->nworkers, &proxy->watchdog);
}

static int start_services(struct proxy *proxy)
{
	struct config *config = proxy->config;

	if (budget_init(&proxy->budget, config_memory_limit_bytes(config),
			config_memory_guaranteed_bytes(), 0, config->workers))
		return -ENOMEM;
	for (; proxy->nservices < config->nservices; proxy->nservices++) {
		struct proxy_service *ps =
			proxy_service_new(proxy, config, &config->services[proxy->nservices]);

		if (!ps)
			return -ENOMEM;
		TAILQ_INSERT_TAIL(&proxy->services, ps, entry);
	}
	config_tls_forget(config);
	return 0;
}

/* Blocks on name servers, which is harmless before the first connection and without a watchdog. */
static int resolve_listen_names(struct proxy *proxy)
{
	const struct proxy_service *ps;
	int rc = 0;

	proxy->names = listen_names_new();
	if (!proxy->names)
		return -ENOMEM;
	TAILQ_FOREACH(ps, &proxy->services, entry)
		rc = rc ? rc : listen_names_add(proxy->names, ps->service.config);
	return rc ? rc : listen_names_resolve(proxy->names, &resolver_system, NULL);
}

static int start_listening(struct proxy *proxy)
{
	const struct listen_sockets have = {proxy->inherited.count, proxy->inherited.fds};
	char error[LISTEN_ERROR_BYTES];
	struct proxy_service *ps;
	int rc;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		rc = proxy_service_listen(ps, proxy->names, &have, error, sizeof(error));
		if (rc) {
			log_error(LOG_ABOUT(.service = ps->service.config->name), "%s", error);
			return rc;
		}
		proxy_log_listening(ps);
	}
	rc = listener_inherit_check(proxy);
	if (rc)
		return rc;
	listener_inherit_store(proxy);
	socket_activation_close_stored(&proxy->inherited);
	rc = proxy_update_listen_addrs(proxy);
	if (rc)
		log_error(NULL, "cannot start: %s", strerror(-rc));
	else
		rpcbind_sync_update(proxy);
	return rc;
}

/*
 * Periodic work: reports of suppressed log lines, of servers that are down and of other problems,
 * health checks, worker loads.
 */
static void on_housekeeping(void *arg)
{
	struct proxy *proxy = arg;
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		service_log_suppressed(&ps->service);
		servers_tick(&ps->service.servers, loop_now_us(proxy->loop));
		servers_tick(&ps->service.mount_servers, loop_now_us(proxy->loop));
		health_timer_check_doubtful(ps);
	}
	TAILQ_FOREACH(ps, &proxy->removed, entry)
		service_log_suppressed(&ps->service);
	/* A finished DNS lookup makes no call to free a removed service. */
	free_drained(proxy);
	problems_log(proxy, loop_now_us(proxy->loop));
	worker_select_update(proxy->workers, proxy->nworkers, loop_now_us(proxy->loop));
	loop_timer_set(proxy->loop, proxy->housekeeping, LOG_REPORT_US);
}

static int start_timers(struct proxy *proxy)
{
	proxy->housekeeping = loop_timer_new(proxy->loop, on_housekeeping, proxy);
	proxy->drain_timer = loop_timer_new(proxy->loop, on_drain_timer, proxy);
	proxy->names_resolver = reader_new(proxy->loop, READER_LIMIT_S * UINT64_C(1000000));
	if (!proxy->housekeeping || !proxy->drain_timer || !proxy->names_resolver)
		return -ENOMEM;
	loop_timer_set(proxy->loop, proxy->housekeeping, LOG_REPORT_US);
	return 0;
}

int proxy_start(struct loop *loop, struct config *config, struct proxy **out)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	int rc;

	if (!proxy)
		return -ENOMEM;
	proxy->loop = loop;
	proxy->config = config_ref(config);
	proxy->start_us = loop_now_us(loop);
	proxy->config_s = time(NULL);
	TAILQ_INIT(&proxy->services);
	TAILQ_INIT(&proxy->removed);
	event_loop_on_kick(loop, on_kick, proxy);
	rc = socket_activation_receive(&proxy->inherited);
	if (!rc)
		rc = start_timers(proxy);
	if (!rc)
		rc = make_shared(proxy);
	if (!rc)
		rc = start_workers(proxy);
	if (!rc)
		rc = health_new(proxy->reserved_ports, proxy->jobs, &proxy->health);
	if (!rc)
		rc = start_services(proxy);
	if (!rc)
		rc = resolve_listen_names(proxy);
	if (rc) {
		log_error(NULL, "cannot start: %s", strerror(-rc));
		goto out_stop;
	}
	rc = start_listening(proxy);
	if (rc)
		goto out_stop;
	proxy->max_connections = accept_max_connections();
	config->host.connections = proxy->max_connections;
	config_limits_resolve(config);
	startup_warnings_log(config, proxy->max_connections);
	problems_log(proxy, loop_now_us(proxy->loop));
	*out = proxy;
	return 0;

out_stop:
	proxy_stop(proxy);
	return rc;
}

static void unlisten_all(struct proxy_service_list *list)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, list, entry) {
		proxy_service_unlisten(ps);
		tarpit_fini(&ps->tarpit);
	}
}

/* The workers have freed the shards. */
static void free_all(struct proxy_service_list *list)
{
	struct proxy_service *ps;

	while ((ps = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, ps, entry);
		free(ps->shards);
		ps->shards = NULL;
		proxy_service_free(ps);
	}
}

/*
 * Returns how many workers have not ended. A device can take a minute for a command, or never
 * execute it.
 */
static size_t end_workers(struct proxy *proxy)
{
	struct timespec until =
		thread_deadline(WORKERS_END_MS + (proxy->end_us ? 0 : CONNECTIONS_END_MS));
	size_t left = 0;

	for (size_t i = 0; i < proxy->nworkers; i++)
		worker_stop(proxy->workers[i]);
	for (size_t i = 0; i < proxy->nworkers; i++)
		left += worker_join(proxy->workers[i], &until) != 0;
	return left;
}

static void free_proxy(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->nworkers; i++)
		worker_free(proxy->workers[i]);
	free_all(&proxy->services);
	free_all(&proxy->removed);
	/* Delivers the result of a check that ended before it could be cancelled. */
	event_loop_finish(proxy->loop);
	if (health_free(proxy->health))
		job_threads_free(proxy->jobs);
	budget_fini(&proxy->budget);
	self_connect_fini(&proxy->listen_addrs);
	reserved_ports_free(proxy->reserved_ports);
	free(proxy->workers);
	config_free(proxy->config);
	listen_names_put(proxy->names);
	socket_activation_fini(&proxy->inherited);
	free(proxy);
}

/*
 * Not freed, because the thread of an unanswered DNS lookup still runs, and would wake a freed loop.
 * The end of the process frees it; the pointer shows LeakSanitizer that it is not lost.
 */
static struct proxy *volatile left_to_exit;

bool proxy_stop(struct proxy *proxy)
{
	size_t left;

	if (!proxy)
		return true;
	loop_timer_free(proxy->loop, proxy->housekeeping);
	loop_timer_free(proxy->loop, proxy->drain_timer);
	reader_free(proxy->names_resolver);
	rpcbind_sync_end(proxy);
	unlisten_all(&proxy->services);
	unlisten_all(&proxy->removed);
	left = end_workers(proxy);
	if (left) {
		log_warning(NULL,
			    "%zu worker%s did not end: an RDMA device has not executed a command; "
			    "the process ends without waiting for it",
			    left, humanize_plural(left));
		return false;
	}
	for (size_t i = 0; i < proxy->nworkers; i++)
		event_loop_finish(proxy->workers[i]->loop);
	watchdog_free(proxy->watchdog);
	if (resolver_quiesce(RESOLVER_QUIESCE_MS))
		free_proxy(proxy);
	else
		left_to_exit = proxy;
	return true;
}
