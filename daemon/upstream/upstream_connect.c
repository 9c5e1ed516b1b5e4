// SPDX-License-Identifier: BSD-3-Clause
/*
 *	select a server ─▶ resolve its name ─▶ (query rpcbind) ─▶ attempts ─▶ open ─▶ closed
 *	      ▲                    │                  │                │
 *	      └────────────────────┴──────────────────┴────────────────┘ failed, and time is left
 *
 * An upstream has one leg at a time. A loop task starts the next attempt, after the failed leg has
 * closed and been freed. A connecting leg calls only this file; an open leg also delivers messages
 * to the owner.
 */
#include "daemon/upstream/upstream_connect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/upstream/leg_factory.h"
#include "nfs/proc_table.h"
#include "stream/proxy_protocol.h"

#define VERBS_AVOID_US 60000000u

STATE_TABLE(upstream_states, UPSTREAM_STATES);

static struct loop *loop_of(const struct upstream *upstream)
{
	return upstream->net->env->loop;
}

static uint64_t now_us(const struct upstream *upstream)
{
	return loop_now_us(loop_of(upstream));
}

static void set_state(struct upstream *upstream, enum upstream_state to)
{
	state_move(&upstream->state, &upstream_states, to, now_us(upstream));
}

static uint64_t us_until(const struct upstream *upstream, uint64_t when_us)
{
	uint64_t now = now_us(upstream);

	return now < when_us ? when_us - now : 0;
}

static uint64_t left_us(const struct upstream *upstream)
{
	return us_until(upstream, upstream->server_deadline_us);
}

static void on_resolved(void *arg, const struct dns_result *name);

/* ---- the log, which a health check does not have ---- */

static bool is_logged(const struct upstream *upstream, enum log_level level)
{
	return upstream->net->service && log_is_on(level);
}

static struct log_limit *line_limit(const struct upstream *upstream, enum service_line line)
{
	return &upstream->net->service->lines[line];
}

/* A server can reject unprivileged ports without giving a reason, so the proxy warns once. */
static void log_unprivileged(struct upstream *upstream)
{
	struct service *service = upstream->net->service;

	if (!service || upstream->from.privileged || upstream->from.keeps_port ||
	    service->config->source_port != SOURCE_PORT_AUTO ||
	    upstream->choice.server->uri.transport != TRANSPORT_TCP ||
	    atomic_exchange(&service->unprivileged_logged, true))
		return;
	log_warning(upstream->log,
		    "the client uses a port of 1024 or above, so the proxy also connects to the "
		    "server from such a port. NFS exports without \"insecure\" refuse that (see "
		    "source_port, and trusted_proxies for iWARP clients). Logged once per service");
}

static void log_attempt(const struct upstream *upstream)
{
	const struct connect_attempt *attempt = upstream->attempt;
	char text[ADDRESS_TEXT_BYTES];

	if (!is_logged(upstream, LOG_LEVEL_DEBUG))
		return;
	address_text((const struct sockaddr *)&attempt->addr, text);
	if (attempt->fabric)
		log_write_limited(LOG_LEVEL_DEBUG, line_limit(upstream, LINE_ATTEMPT),
				  upstream->log, "server: trying %s on %s, version %u", text,
				  attempt->fabric->ops->name, attempt->rpcrdma_version);
	else
		log_write_limited(LOG_LEVEL_DEBUG, line_limit(upstream, LINE_ATTEMPT),
				  upstream->log, "server: trying %s over tcp", text);
}

/* Logs the failure of the current attempt. @how: what is tried next. */
static void log_failed(const struct upstream *upstream, enum log_level level, enum leg_close why,
		       const char *detail, const char *how)
{
	const struct log_ctx ctx = log_ctx_because(upstream->log, leg_close_name(why));

	if (is_logged(upstream, level))
		log_write_limited(level, line_limit(upstream, LINE_ATTEMPT), &ctx,
				  "server: %s%s%s; trying %s", leg_close_text(why),
				  detail[0] ? ": " : "", detail, how);
}

/* ---- selecting a server ---- */

/* Returns the waiters for the name of the current server. */
static struct dns_waiters *dns_waiters_of(const struct upstream *upstream)
{
	return &upstream->backend->names[upstream->choice.server->index];
}

/* Returns the cache of the MOUNT port of the current server; NULL if rpcbind is not queried. */
static struct mountd_cache *mountd_cache_of(const struct upstream *upstream)
{
	struct mountd_cache *mountd_caches = upstream->backend->mountd_caches;

	return mountd_caches && upstream->choice.server
		       ? &mountd_caches[upstream->choice.server->index]
		       : NULL;
}

static void resolve(struct upstream *upstream)
{
	if (upstream->state.now != UPSTREAM_RESOLVING)
		set_state(upstream, UPSTREAM_RESOLVING);
	dns_waiters_add(dns_waiters_of(upstream), &upstream->name, on_resolved, upstream);
	loop_timer_set(loop_of(upstream), upstream->resolving, left_us(upstream));
}

/*
 * Returns the time for one server: an equal share, at least ATTEMPT_MIN_US and at most
 * connect_timeout_s.
 */
static uint64_t share_us(const struct upstream *upstream)
{
	uint64_t all_us = us_until(upstream, upstream->deadline_us);
	uint64_t most_us = upstream->net->config->connect_timeout_s * 1000000ull;
	uint64_t share = all_us / (1 + server_choice_remaining(&upstream->choice));

	if (upstream->backend->servers->count == 1)
		return all_us;
	if (share < ATTEMPT_MIN_US)
		share = ATTEMPT_MIN_US;
	share = share < most_us ? share : most_us;
	return share < all_us ? share : all_us;
}

/* Starts with the next server. Returns false if every server has been tried. */
static bool connect_next_server(struct upstream *upstream)
{
	const struct sockaddr *client = (const struct sockaddr *)&upstream->from.client;
	const struct nfs_server *server = server_choice_next(
		upstream->backend->servers, &upstream->choice, client, now_us(upstream));

	connect_plan_fini(&upstream->plan);
	if (!server)
		return false;
	upstream->abandoned = false;
	upstream->server_deadline_us = now_us(upstream) + share_us(upstream);
	upstream->log->about.upstream = server->text;
	resolve(upstream);
	return true;
}

/* Reports the failure of the current server, unless the cause is on this host. */
static void report_server_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	const struct connect_attempt *last = connect_plan_last(&upstream->plan);
	const struct sockaddr *client = (const struct sockaddr *)&upstream->from.client;

	upstream->failure_logged = server_choice_unreached(
		&upstream->choice, last ? (const struct sockaddr *)&last->addr : NULL,
		upstream->from.keeps_port ? client : NULL, why, detail, now_us(upstream));
	upstream->abandoned = true;
}

/* Returns whether another server is tried after a failure for @why. */
static bool may_try_another(const struct upstream *upstream, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && why != LEG_CLOSE_RESOURCES && why != LEG_CLOSE_TLS_LIMIT &&
	       us_until(upstream, upstream->deadline_us) &&
	       server_choice_remaining(&upstream->choice) > 0;
}

static void finish_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	set_state(upstream, UPSTREAM_CLOSED);
	server_choice_release(&upstream->choice, now_us(upstream));
	upstream->events->failed(upstream, why, detail);
	upstream->events->closed(upstream);
}

/* Keeps the last failure, but not a wrong address family: such a server is for other clients. */
static void keep_failure(struct upstream *upstream, enum leg_close why, const char *detail)
{
	bool had_one = upstream->why != LEG_CLOSE_LOCAL;

	if (had_one && detail == SOURCE_ADDR_OTHER_FAMILY)
		return;
	upstream->why = why;
	if (detail != upstream->detail)
		snprintf(upstream->detail, sizeof(upstream->detail), "%s", detail);
}

/* Fails without a leg that must close first. */
static void fail_without_leg(struct upstream *upstream, enum leg_close why, const char *detail)
{
	report_server_failed(upstream, why, detail);
	keep_failure(upstream, why, detail);
	if (!may_try_another(upstream, why) || !connect_next_server(upstream))
		finish_failed(upstream, upstream->why, upstream->detail);
}

static void fail_with_errno(struct upstream *upstream, int rc)
{
	const char *unusable_reason = upstream->from.unusable_reason;

	fail_without_leg(upstream,
			 unusable_reason ? LEG_CLOSE_NO_SOURCE_ADDRESS
					 : connect_plan_close_reason(rc),
			 unusable_reason ? unusable_reason : strerror(-rc));
}

/* ---- attempts ---- */

/*
 * rdma:// tries verbs first if a device serves the route. After a failure the same address is tried
 * on iWARP, and no connection of a client tries verbs for VERBS_AVOID_US.
 */
static void avoid_verbs(struct upstream *upstream, const char *why)
{
	const struct connect_attempt *attempt = upstream->attempt;
	struct service_net *net = upstream->net;

	if (!net->service || !attempt->has_fallback || attempt->fabric != net->verbs)
		return;
	log_limited(LOG_LEVEL_INFO, line_limit(upstream, LINE_AVOIDED), upstream->log,
		    "server: verbs failed (%s), using iwarp for %u s", why,
		    VERBS_AVOID_US / 1000000);
	net->fabric_fallbacks++;
	net->verbs_avoided_until_us = now_us(upstream) + VERBS_AVOID_US;
}

static int make_plan(struct upstream *upstream, const struct sockaddr_storage *found, size_t nfound)
{
	struct service_net *net = upstream->net;
	struct source_addr *from = &upstream->from;
	const struct sockaddr *client = (const struct sockaddr *)&from->client;
	struct connect_attempt common = {
		.server = upstream->choice.server,
		.client = client->sa_family ? servers_client_hash(client) : 0,
		.source_above = from->affinity.due,
		.source_only = from->keeps_port,
		.program = upstream->program,
		.privileged = from->privileged,
		.reserved_port = &upstream->reserved_port,
	};
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];
	size_t naddrs = source_addr_usable(from, net->config, found, nfound, addrs);

	connect_plan_fini(&upstream->plan);
	if (!naddrs)
		return -EADDRNOTAVAIL;
	common.sources = source_addr_choose(from, net, addrs[0].ss_family);
	common.source_port = from->keeps_port ? sockaddr_port(client) : from->affinity.port;
	log_unprivileged(upstream);
	return connect_plan_init(&upstream->plan, &common, net->iwarp, net->verbs,
				 net->config->connect_version, addrs, naddrs);
}

/*
 * Starts the next attempt. Skips those that fail immediately, for example with an address family
 * that this host lacks. Returns 0, or the negative errno of the last attempt if none is left.
 */
static int next_attempt(struct upstream *upstream)
{
	struct service_net *net = upstream->net;
	struct leg_config *config = &upstream->leg_config;
	int rc = -EDESTADDRREQ;

	for (;;) {
		uint64_t now = now_us(upstream);
		bool avoided = now < net->verbs_avoided_until_us;

		upstream->attempt =
			connect_plan_next(&upstream->plan, avoided ? net->verbs : NULL, now);
		if (!upstream->attempt)
			return rc;
		log_attempt(upstream);
		config->connect_timeout_us =
			connect_plan_attempt_timeout_us(&upstream->plan, left_us(upstream));
		upstream->leg_has_closed = false;
		rc = net->env->legs->connect(net, config, upstream->attempt, &upstream->leg);
		if (!rc)
			return 0;
		upstream->leg = NULL;
		avoid_verbs(upstream, strerror(-rc));
	}
}

/* A further attempt at the same address is made even after the time limit. */
static bool ignores_deadline(const struct upstream *upstream)
{
	return upstream->plan.retry_version_one || upstream->attempt->has_fallback;
}

static void retry(void *arg)
{
	struct upstream *upstream = arg;
	int rc;

	leg_free(upstream->leg);
	upstream->leg = NULL;
	if (!upstream->choice.server) {
		finish_failed(upstream, LEG_CLOSE_NO_SERVER, "");
		return;
	}
	if (upstream->ask_rpcbind_again) {
		upstream->ask_rpcbind_again = false;
		connect_plan_fini(&upstream->plan);
		resolve(upstream);
		return;
	}
	if (upstream->abandoned) {
		if (!connect_next_server(upstream))
			finish_failed(upstream, upstream->why, upstream->detail);
		return;
	}
	if (!ignores_deadline(upstream) && !left_us(upstream)) {
		fail_without_leg(upstream, upstream->why, upstream->detail);
		return;
	}
	set_state(upstream, UPSTREAM_CONNECTING);
	rc = next_attempt(upstream);
	if (rc)
		fail_with_errno(upstream, rc);
}

static bool has_next_attempt(const struct upstream *upstream, enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && connect_plan_has_next(&upstream->plan) &&
	       (ignores_deadline(upstream) || left_us(upstream) > 0);
}

/*
 * Discards the cached MOUNT port after a failed attempt. Returns true if the port was cached and
 * refused the connection; then rpcbind is queried again immediately.
 */
static bool retry_rpcbind(struct upstream *upstream, enum leg_close why, const char *detail)
{
	struct mountd_cache *mountd_wait = mountd_cache_of(upstream);

	if (!mountd_wait)
		return false;
	mountd_cache_invalidate(mountd_wait, &upstream->attempt->addr);
	if (why != LEG_CLOSE_REFUSED || !upstream->mountd_is_cached || !left_us(upstream))
		return false;
	log_failed(upstream, LOG_LEVEL_DEBUG, why, detail, "the port that rpcbind returns now");
	upstream->ask_rpcbind_again = true;
	set_state(upstream, UPSTREAM_WAIT_RETRY);
	return true;
}

/*
 * Stops using the previous source port after a timeout: a stale entry for it in a firewall or NAT
 * on the path would block the client as long as the proxy used that port.
 */
static void forget_port(struct upstream *upstream)
{
	upstream->from.affinity.port = 0;
	connect_plan_clear_port(&upstream->plan);
}

/*
 * Handles a failed attempt. If only the version was rejected, the fabric and the port are not at
 * fault.
 */
static void attempt_failed(struct upstream *upstream, enum leg_close why, const char *detail)
{
	bool retry_version_one = connect_plan_retry_version_one(&upstream->plan, now_us(upstream));
	bool has_fallback = upstream->attempt->has_fallback;

	if (retry_rpcbind(upstream, why, detail))
		return;
	if (why == LEG_CLOSE_TIMEOUT && !retry_version_one && !has_fallback)
		forget_port(upstream);
	if (!has_next_attempt(upstream, why)) {
		report_server_failed(upstream, why, detail);
		if (!may_try_another(upstream, why)) {
			set_state(upstream, UPSTREAM_CLOSING);
			server_choice_release(&upstream->choice, now_us(upstream));
			upstream->events->failed(upstream, why, detail);
			return;
		}
	}
	if (upstream->abandoned)
		log_failed(upstream, LOG_LEVEL_DEBUG, why, detail, "the next server");
	else if (retry_version_one)
		log_failed(upstream, LOG_LEVEL_INFO, why, detail,
			   "the same address in version one");
	else if (!has_fallback)
		log_failed(upstream, LOG_LEVEL_DEBUG, why, detail, "its next address");
	if (!retry_version_one)
		avoid_verbs(upstream, detail[0] ? detail : leg_close_text(why));
	upstream->why = why;
	snprintf(upstream->detail, sizeof(upstream->detail), "%s", detail);
	set_state(upstream, UPSTREAM_WAIT_RETRY);
}

/* ---- events of the leg ---- */

void upstream_leg_opened(void *arg)
{
	struct upstream *upstream = arg;
	struct leg_info info;

	if (upstream->state.now != UPSTREAM_CONNECTING)
		return;
	set_state(upstream, UPSTREAM_OPEN);
	leg_info(upstream->leg, &info);
	upstream->from.affinity.port = sockaddr_port((struct sockaddr *)&info.local);
	upstream->from.affinity.source =
		source_addr_find(upstream->net->config, (struct sockaddr *)&info.local);
	upstream->attempt = NULL;
	connect_plan_fini(&upstream->plan);
	server_choice_connected(&upstream->choice);
	upstream->events->opened(upstream, upstream->leg);
}

void upstream_first_reply(struct upstream *upstream)
{
	struct leg_info info;

	leg_info(upstream->leg, &info);
	server_choice_first_reply(&upstream->choice, (const struct sockaddr *)&info.peer,
				  now_us(upstream));
}

/* Returns the log text of a connection that the server closed before its first Reply. */
static const char *early_close_text(enum leg_close why, const char *detail,
				    char text[LEG_DETAIL_BYTES])
{
	if (!detail[0] && (why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST))
		return "it closes connections before their first Reply";
	if (why != LEG_CLOSE_PEER)
		return detail;
	/* @detail continues the sentence: "without an answer to the first Call: is that …" */
	snprintf(text, LEG_DETAIL_BYTES, "it closes connections %s", detail);
	return text;
}

static void report_unanswered(struct upstream *upstream, enum leg_close why, const char *detail)
{
	const struct sockaddr *client = (const struct sockaddr *)&upstream->from.client;
	const struct upstream_events *events = upstream->events;
	bool called = events->has_called && events->has_called(upstream);
	char text[LEG_DETAIL_BYTES];
	struct leg_info info;

	leg_info(upstream->leg, &info);
	upstream->failure_logged = server_choice_unanswered(
		&upstream->choice, (const struct sockaddr *)&info.peer, called ? client : NULL, why,
		early_close_text(why, detail, text), now_us(upstream));
}

void upstream_leg_closing(void *arg, enum leg_close why, const char *detail)
{
	struct upstream *upstream = arg;

	if (upstream->state.now == UPSTREAM_CONNECTING) {
		attempt_failed(upstream, why, detail);
	} else if (upstream->state.now == UPSTREAM_OPEN) {
		set_state(upstream, UPSTREAM_CLOSING);
		if (upstream->choice.awaits_reply)
			report_unanswered(upstream, why, detail);
		server_choice_release(&upstream->choice, now_us(upstream));
		upstream->events->closing(upstream, why, detail);
	}
}

void upstream_leg_closed(void *arg)
{
	struct upstream *upstream = arg;

	upstream->leg_has_closed = true;
	/* Before closed(): a connection that waits for this port takes it immediately. */
	held_port_release(&upstream->reserved_port, now_us(upstream));
	if (upstream->state.now == UPSTREAM_WAIT_RETRY) {
		loop_defer(loop_of(upstream), &upstream->retry);
	} else {
		set_state(upstream, UPSTREAM_CLOSED);
		upstream->events->closed(upstream);
	}
}

/* ---- the name ---- */

static void start_attempts(struct upstream *upstream, const struct sockaddr_storage *addrs,
			   size_t naddrs)
{
	int rc;

	set_state(upstream, UPSTREAM_CONNECTING);
	rc = make_plan(upstream, addrs, naddrs);
	if (!rc)
		rc = next_attempt(upstream);
	if (rc)
		fail_with_errno(upstream, rc);
}

static void on_mountd_addr(void *arg, const struct mountd_addr *mountd_wait)
{
	struct upstream *upstream = arg;

	upstream->mountd_is_cached = mountd_wait->cached;
	if (!mountd_wait->naddrs)
		fail_without_leg(upstream, LEG_CLOSE_NO_MOUNT, mountd_wait->error);
	else if (mountd_addr_is_own(mountd_wait, upstream->choice.server->name.listen_addrs))
		fail_without_leg(upstream, LEG_CLOSE_OWN_UPSTREAM,
				 "rpcbind returned a port of this proxy");
	else
		start_attempts(upstream, mountd_wait->addrs, mountd_wait->naddrs);
}

static void on_resolved(void *arg, const struct dns_result *name)
{
	struct upstream *upstream = arg;
	struct mountd_cache *mountd_wait = mountd_cache_of(upstream);

	loop_timer_clear(loop_of(upstream), upstream->resolving);
	if (!name->naddrs) {
		fail_without_leg(upstream, name->why, name->error);
		return;
	}
	if (!upstream->connecting_reported)
		upstream->events->connecting(upstream);
	upstream->connecting_reported = true;
	if (!mountd_wait) {
		start_attempts(upstream, name->addrs, name->naddrs);
		return;
	}
	set_state(upstream, UPSTREAM_QUERYING_RPCBIND);
	mountd_cache_wait(mountd_wait, &upstream->mountd_wait, name->addrs, name->naddrs,
			  on_mountd_addr, upstream);
}

static void cancel_waits(struct upstream *upstream)
{
	struct mountd_cache *mountd_wait = mountd_cache_of(upstream);

	loop_timer_clear(loop_of(upstream), upstream->resolving);
	if (upstream->choice.server)
		dns_waiters_remove(dns_waiters_of(upstream), &upstream->name);
	if (mountd_wait)
		mountd_cache_cancel(mountd_wait, &upstream->mountd_wait);
}

static void on_resolve_timeout(void *arg)
{
	struct upstream *upstream = arg;
	char text[LEG_DETAIL_BYTES];

	cancel_waits(upstream);
	fail_without_leg(
		upstream, LEG_CLOSE_NO_ADDRESS,
		dns_cache_unresolved(&upstream->choice.server->name, "no answer in time", text));
}

/* ---- the interface ---- */

/* Sets the state before the start, with the settings of the owner from @old. */
static void init_state(struct upstream *upstream, const struct upstream *old)
{
	*upstream = (struct upstream){
		.net = old->net,
		.log = old->log,
		.events = old->events,
		.leg_config = old->leg_config,
		.resolving = old->resolving,
		.from = old->from,
		.program = old->program,
		.backend = old->backend,
		.state = {UPSTREAM_IDLE, now_us(old)},
	};
	upstream->from.affinity = (struct source_affinity){0};
	loop_task_init(&upstream->retry, retry, upstream);
}

int upstream_init(struct upstream *upstream, struct service_net *net, const struct backend *backend,
		  const struct leg_config *leg_config, struct log_ctx *log,
		  const struct upstream_events *events)
{
	struct upstream first = {
		.net = net,
		.log = log,
		.events = events,
		.leg_config = *leg_config,
		.program = NFS_PROGRAM_NFS,
		.backend = backend,
	};

	first.leg_config.events = events->leg;
	first.leg_config.arg = upstream;
	init_state(upstream, &first);
	upstream->resolving = loop_timer_new(loop_of(upstream), on_resolve_timeout, upstream);
	return upstream->resolving ? 0 : -ENOMEM;
}

static void free_parts(struct upstream *upstream)
{
	server_choice_stop_waiting(&upstream->choice);
	server_choice_release(&upstream->choice, now_us(upstream));
	leg_free(upstream->leg);
	connect_plan_fini(&upstream->plan);
}

void upstream_fini(struct upstream *upstream)
{
	free_parts(upstream);
	loop_timer_free(loop_of(upstream), upstream->resolving);
}

void upstream_reset(struct upstream *upstream)
{
	const struct upstream old = *upstream;

	free_parts(upstream);
	init_state(upstream, &old);
}

void upstream_set_reverse_limits(struct upstream *upstream, const struct reply_memory *reply_memory,
				 uint32_t max_bytes)
{
	upstream->leg_config.reply_memory = *reply_memory;
	upstream->leg_config.reverse_max_bytes = max_bytes;
}

void upstream_set_client(struct upstream *upstream, const struct sockaddr_storage *client,
			 const struct sockaddr_storage *at, bool keeps_port)
{
	const struct proxy_header whose = {.named = true, .source = *client, .destination = *at};

	upstream->from.keeps_port = keeps_port;
	upstream->from.client = *client;
	sockaddr_unmap(&upstream->from.client);
	leg_factory_set_proxy_header(&upstream->leg_config, upstream->net->config, &whose);
}

void upstream_use_mount_servers(struct upstream *upstream, const struct backend *mount_servers)
{
	upstream->backend = mount_servers;
	upstream->program = NFS_PROGRAM_MOUNT;
	/* send_proxy is for the servers of `connect`, not for MOUNT. */
	upstream->leg_config.preface_bytes = 0;
}

void upstream_set_source(struct upstream *upstream, const struct source_affinity *affinity)
{
	upstream->from.affinity = *affinity;
}

void upstream_start(struct upstream *upstream, uint64_t timeout_us)
{
	set_state(upstream, UPSTREAM_RESOLVING);
	upstream->deadline_us = now_us(upstream) + timeout_us;
	if (!connect_next_server(upstream))
		loop_defer(loop_of(upstream), &upstream->retry);
}

void upstream_close(struct upstream *upstream, enum leg_close why)
{
	bool has_leg = upstream->leg && !upstream->leg_has_closed;

	if (upstream->state.now >= UPSTREAM_CLOSING)
		return;
	cancel_waits(upstream);
	server_choice_release(&upstream->choice, now_us(upstream));
	loop_task_cancel(loop_of(upstream), &upstream->retry);
	set_state(upstream, has_leg ? UPSTREAM_CLOSING : UPSTREAM_CLOSED);
	if (has_leg)
		leg_close(upstream->leg, why);
}

bool upstream_was_down(const struct upstream *upstream)
{
	return server_health_is_down(&upstream->choice.server->health);
}

const struct nfs_server *upstream_server(const struct upstream *upstream)
{
	return upstream->choice.server;
}

bool upstream_is_closed(const struct upstream *upstream)
{
	return upstream->state.now == UPSTREAM_CLOSED;
}

const struct leg *upstream_leg(const struct upstream *upstream)
{
	return upstream->leg_has_closed ? NULL : upstream->leg;
}
