// SPDX-License-Identifier: BSD-3-Clause
/* One attempt after the other at the addresses of a target. */
#include "daemon/bridge/attempting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/bridge/legs.h"
#include "daemon/bridge/sources.h"

#define VERBS_AVOID_US 60000000u

static struct loop *loop_of(const struct upstream *upstream)
{
	return upstream->ws->ground->loop;
}

static struct log_limit *line_limit(const struct upstream *upstream, enum service_line line)
{
	return &upstream->ws->service->lines[line];
}

static uint64_t min_us(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One of several targets has an equal share of what is left, though time for an attempt, and no more than it may take. */
uint64_t attempting_share_us(const struct upstream *upstream)
{
	uint64_t now_us = loop_now_us(loop_of(upstream));
	uint64_t left_us = upstream->deadline_us > now_us ? upstream->deadline_us - now_us : 0;
	const struct service_config *config = upstream->ws->service->config;
	uint64_t share_us = left_us / (1 + targets_left(&upstream->seat));

	if (upstream->ws->service->targets.count == 1)
		return left_us;
	if (share_us < ATTEMPT_MIN_US)
		share_us = ATTEMPT_MIN_US;
	return min_us(min_us(share_us, config->connect_timeout_s * 1000000ull), left_us);
}

uint64_t attempting_left_us(const struct upstream *upstream)
{
	uint64_t now_us = loop_now_us(loop_of(upstream));

	return now_us < upstream->target_until_us ? upstream->target_until_us - now_us : 0;
}

/* The export rules of a server may ask for a port below 1024, and the proxy does not see why it refuses. */
static void tell_unprivileged(struct upstream *upstream)
{
	struct service *service = upstream->ws->service;

	if (upstream->privileged || upstream->keeps_port || service->is_silent ||
	    service->config->source_port != SOURCE_PORT_AUTO ||
	    upstream->seat.target->uri->transport != TRANSPORT_TCP ||
	    atomic_exchange(&service->unprivileged_told, true))
		return;
	log_warning(
		upstream->log,
		"client: it comes from a port of 1024 or above, so its connection to the server "
		"does, too: NFS exports without \"insecure\" refuse it (see source_port; for iWARP "
		"clients trusted_proxies); later ones of this service are not logged");
}

int attempting_begin(struct upstream *upstream, const struct name_result *name)
{
	struct worker_service *ws = upstream->ws;
	struct attempts_config config = {
		.target = upstream->seat.target,
		.client = targets_client_number((const struct sockaddr *)&upstream->client),
		.iwarp = ws->iwarp,
		.verbs = ws->verbs,
		.highest_version = ws->service->config->connect_version,
		.source_above = upstream->port_is_due,
		.source_only = upstream->keeps_port,
		.privileged = upstream->privileged,
		.held = &upstream->held,
	};
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];
	size_t naddrs = sources_usable(upstream, name->addrs, name->naddrs, addrs);

	attempts_fini(&upstream->attempts);
	if (!naddrs)
		return -EADDRNOTAVAIL;
	config.sources = sources_take(upstream, addrs[0].ss_family);
	config.source_port = upstream->keeps_port
				     ? sockaddr_port((struct sockaddr *)&upstream->client)
				     : upstream->port;
	tell_unprivileged(upstream);
	return attempts_init(&upstream->attempts, &config, addrs, naddrs);
}

enum leg_close attempting_why(const struct upstream *upstream, int rc, const char **detail)
{
	*detail = upstream->source_lack ? upstream->source_lack : strerror(-rc);
	return upstream->source_lack ? LEG_CLOSE_NO_SOURCE_ADDRESS : attempts_why(rc);
}

/* Of several servers some may be there for clients of the other family. */
void attempting_keep_cause(struct upstream *upstream, enum leg_close why, const char *detail)
{
	bool had_one = upstream->why != LEG_CLOSE_LOCAL;

	if (had_one && detail == SOURCES_OTHER_FAMILY)
		return;
	upstream->why = why;
	if (detail != upstream->detail)
		snprintf(upstream->detail, sizeof(upstream->detail), "%s", detail);
}

static void avoid_verbs(struct upstream *upstream, const char *why)
{
	log_limited(LOG_LEVEL_INFO, line_limit(upstream, LINE_AVOIDED), upstream->log,
		    "server: not on verbs (%s), so on iwarp for %u s", why,
		    VERBS_AVOID_US / 1000000);
	upstream->ws->fabric_fallbacks++;
	upstream->ws->verbs_avoided_until_us = loop_now_us(loop_of(upstream)) + VERBS_AVOID_US;
}

/*
 * rdma:// takes verbs where a device serves the route. When that failed, iwarp has its try at the same
 * address, and for a minute verbs is not tried again.
 */
static const struct attempt *next_attempt(struct upstream *upstream)
{
	struct worker_service *ws = upstream->ws;
	uint64_t now_us = loop_now_us(loop_of(upstream));
	bool avoided = now_us < ws->verbs_avoided_until_us;

	return attempts_next(&upstream->attempts, avoided ? ws->verbs : NULL, now_us);
}

void attempting_blame(struct upstream *upstream, const char *why)
{
	const struct attempt *attempt = upstream->attempt;

	if (attempt->has_other && attempt->fabric == upstream->ws->verbs)
		avoid_verbs(upstream, why);
}

static void log_attempt(const struct upstream *upstream)
{
	struct log_limit *limit = line_limit(upstream, LINE_ATTEMPT);
	const struct attempt *attempt = upstream->attempt;
	char text[ADDRESS_TEXT_BYTES];

	if (!log_is_on(LOG_LEVEL_DEBUG))
		return;
	address_text((const struct sockaddr *)&attempt->addr, text);
	if (attempt->fabric)
		log_write_limited(LOG_LEVEL_DEBUG, limit, upstream->log,
				  "server: trying %s on %s, version %u", text,
				  attempt->fabric->ops->name, attempt->rpcrdma_version);
	else
		log_write_limited(LOG_LEVEL_DEBUG, limit, upstream->log,
				  "server: trying %s over tcp", text);
}

int attempting_next(struct upstream *upstream)
{
	struct worker_service *ws = upstream->ws;
	struct leg_config *config = &upstream->leg_config;
	int rc = -EDESTADDRREQ;

	while ((upstream->attempt = next_attempt(upstream))) {
		log_attempt(upstream);
		config->connect_timeout_us =
			attempts_share_us(&upstream->attempts, attempting_left_us(upstream));
		upstream->leg_over = false;
		rc = ws->ground->legs->connect(ws, config, upstream->attempt, &upstream->leg);
		if (!rc)
			return 0;
		upstream->leg = NULL;
		attempting_blame(upstream, strerror(-rc));
	}
	return rc;
}

/*
 * From this port nothing came back: something on the way may have an entry for it that is stuck, and would keep
 * the client out as long as it came from there.
 */
void attempting_forget_port(struct upstream *upstream)
{
	upstream->port = 0;
	attempts_forget_port(&upstream->attempts);
}

void attempting_log(const struct upstream *upstream, enum log_level level, enum leg_close why,
		    const char *detail, const char *how)
{
	const struct log_ctx ctx = log_ctx_because(upstream->log, leg_close_name(why));

	log_limited(level, line_limit(upstream, LINE_ATTEMPT), &ctx, "server: %s%s%s; trying %s",
		    leg_close_text(why), detail[0] ? ": " : "", detail, how);
}
