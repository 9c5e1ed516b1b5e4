// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/accept.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/config/config_memory.h"
#include "daemon/proxy/proxy_priv.h"
#include "daemon/proxy/worker_select.h"

/* Out of descriptors: evicts connections half-open for HALF_OPEN_US, EVICT_BATCH in one call. */
#define HALF_OPEN_US   1000000u
#define EVICT_BATCH    64u
#define VIA_TEXT_BYTES (ADDRESS_TEXT_BYTES + 16u)
#define LIMIT          "limit of descriptors (LimitNOFILE= in the unit, ulimit -n in a shell)"

/* Returns ", through ADDRESS" for a client that came through a proxy, else "". */
static const char *via_text(const struct accepted_conn *in, char text[VIA_TEXT_BYTES])
{
	char host[ADDRESS_TEXT_BYTES];

	text[0] = '\0';
	if (in->proxy.ss_family != AF_UNSPEC)
		snprintf(text, VIA_TEXT_BYTES, ", through %s",
			 address_text((const struct sockaddr *)&in->proxy, host));
	return text;
}

static void log_refused(struct service *service, enum log_level level,
			const struct accepted_conn *in, enum leg_close why, const char *detail)
{
	const struct sockaddr *peer = (const struct sockaddr *)&in->peer;
	struct log_ctx ctx = {.about.service = service->config->name,
			      .about.reason = leg_close_name(why)};
	char text[ADDRESS_TEXT_BYTES], by[VIA_TEXT_BYTES];

	address_host_text(peer, ctx.about.client);
	log_limited(level, &service->lines[LINE_REFUSED + why], &ctx, "refused %s%s: %s%s%s",
		    address_text(peer, text), via_text(in, by), leg_close_text(why),
		    detail[0] ? ": " : "", detail);
}

static void count_refused(struct proxy_service *ps, const struct accepted_conn *in,
			  enum leg_close why)
{
	client_events_add(&ps->service.events, why, (const struct sockaddr *)&in->peer, "",
			  loop_now_us(ps->proxy->loop));
}

static void on_refused(void *arg, const struct accepted_conn *in, enum leg_close why,
		       const char *detail)
{
	struct proxy_service *ps = arg;
	bool has_left = why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST;

	log_refused(&ps->service, has_left ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, in, why, detail);
	if (has_left) {
		accepted_conn_drop(in);
		return;
	}
	count_refused(ps, in, why);
	tarpit_add(&ps->tarpit, in, why);
}

static void on_incoming(void *arg, const struct accepted_conn *in)
{
	struct proxy_service *ps = arg;
	struct proxy *proxy = ps->proxy;
	struct worker *worker = worker_select(proxy->workers, proxy->nworkers, proxy->next_id,
					      loop_now_us(proxy->loop));
	struct service_shard *service_shard = ps->shards[worker->index];
	struct accepted_conn conn = *in;
	enum leg_close why;

	if (ps->rejecting) {
		on_refused(ps, in, LEG_CLOSE_DRAINED, "");
		return;
	}
	conn.slot =
		conn_limits_add(&ps->service.limits, &service_shard->service.thread,
				(const struct sockaddr *)&in->peer, loop_now_us(proxy->loop), &why);
	if (!conn.slot) {
		on_refused(ps, in, why, "");
		return;
	}
	atomic_fetch_add(&ps->service.connections_total, 1);
	if (worker_add_connection(service_shard, &conn, ++proxy->next_id))
		count_refused(ps, in, LEG_CLOSE_RESOURCES);
}

/* Returns the used descriptors in connections of two each; a rejected connection has one. */
static unsigned used_connections(const struct proxy_service *ps)
{
	return atomic_load(&ps->service.connections) + listener_awaiting_header(ps->listener) +
	       (ps->tarpit.count + 1) / 2;
}

#define TARPIT_CONNECTIONS (CONFIG_DESCRIPTORS_TARPIT / CONFIG_DESCRIPTORS_CONNECTION)

/*
 * Returns the largest share of a service with max_connections = "auto": an equal part of what the
 * numbers in the file leave.
 */
static unsigned auto_share(const struct proxy *proxy)
{
	const struct proxy_service *ps;
	uint64_t taken = 0, count = 0;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		const struct service_config *config = ps->service.config;

		taken += TARPIT_CONNECTIONS;
		if (config->auto_connections)
			count++;
		else
			taken += config->max_connections;
	}
	if (taken + count >= proxy->max_connections)
		return 1;
	return count ? (unsigned)((proxy->max_connections - taken) / count) : 0;
}

/*
 * Returns what the formula in the manual reserves; half-open connections come on top.
 * @part: auto_share()
 */
static unsigned guaranteed_connections(const struct proxy_service *ps, unsigned part)
{
	const struct service_config *config = ps->service.config;
	unsigned share = config_share(config);

	if (config->auto_connections && share > part)
		share = part;
	return share + TARPIT_CONNECTIONS;
}

static bool is_within_share(const struct proxy_service *ps, unsigned part)
{
	return used_connections(ps) < guaranteed_connections(ps, part);
}

/*
 * Evicts connections that are half-open for a while, and then half-closed ones, so that waiting
 * clients get their descriptors. A service within its share evicts from all services, another one
 * only from itself.
 */
static void evict_half_open(const struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	bool within = is_within_share(ps, auto_share(proxy));
	unsigned left = EVICT_BATCH;
	struct proxy_service *at;

	TAILQ_FOREACH(at, &proxy->services, entry)
		while (left && (within || at == ps) &&
		       conn_limits_evict_half_open(&at->service.limits, loop_now_us(proxy->loop),
						   HALF_OPEN_US))
			left--;
	TAILQ_FOREACH(at, &proxy->services, entry)
		while (left && (within || at == ps) &&
		       conn_limits_evict_half_closed(&at->service.limits, loop_now_us(proxy->loop)))
			left--;
}

/*
 * A service within its share uses any free descriptor. Past its share it uses only what the other
 * shares leave.
 */
static bool has_share(const struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	unsigned part = auto_share(proxy);
	bool within = is_within_share(ps, part);
	const struct proxy_service *other;
	uint64_t reserved = 0;

	/* A removed service reserves nothing for new connections. */
	TAILQ_FOREACH(other, &proxy->removed, entry)
		reserved += used_connections(other);
	TAILQ_FOREACH(other, &proxy->services, entry) {
		bool reserves = !within && other != ps && is_within_share(other, part);

		reserved +=
			reserves ? guaranteed_connections(other, part) : used_connections(other);
	}
	return reserved < proxy->max_connections;
}

/*
 * Called when clients start to wait; connections that close and open make that happen repeatedly.
 */
static void log_shortage(struct proxy_service *ps)
{
	const struct proxy *proxy = ps->proxy;
	const char *name = ps->service.config->name;

	if (proxy_connections(proxy) < proxy->max_connections)
		log_write_limited(
			LOG_LEVEL_WARNING, &ps->shortages, LOG_ABOUT(.service = name),
			"clients wait: this service has %u connections, and the free descriptors "
			"are reserved for other services. Raise the " LIMIT,
			used_connections(ps));
	else
		log_write_limited(LOG_LEVEL_WARNING, &ps->shortages, LOG_ABOUT(.service = name),
				  "clients wait: the " LIMIT
				  " allows only %u connections in total: raise it",
				  proxy->max_connections);
}

/* Requires a descriptor for the upstream, too. Without it clients wait in the listen queues. */
static bool has_descriptors(struct proxy_service *ps)
{
	bool enough = has_share(ps);

	if (!enough)
		evict_half_open(ps);
	if (!enough && !ps->out_of_descriptors)
		log_shortage(ps);
	ps->out_of_descriptors = !enough;
	return enough;
}

static bool can_accept(void *arg)
{
	struct proxy_service *ps = arg;

	return has_descriptors(ps) &&
	       conn_limits_can_accept(&ps->service.limits, loop_now_us(ps->proxy->loop));
}

unsigned accept_max_connections(void)
{
	struct rlimit limit;
	uint64_t left;
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* open() returns the lowest free descriptor, so this one is the number in use. */
	if (lowest >= 0)
		close(lowest);
	if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	left = limit.rlim_cur > (rlim_t)lowest ? limit.rlim_cur - lowest : 0;
	if (left < CONFIG_DESCRIPTORS_RESERVED + CONFIG_DESCRIPTORS_CONNECTION)
		return 1;
	left = (left - CONFIG_DESCRIPTORS_RESERVED) / CONFIG_DESCRIPTORS_CONNECTION;
	return left < UINT_MAX ? (unsigned)left : UINT_MAX;
}

const struct listener_events accept_events = {
	.incoming = on_incoming,
	.refused = on_refused,
	.can_accept = can_accept,
};
