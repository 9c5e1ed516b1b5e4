// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/server_health.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/clock.h"
#include "daemon/base/humanize.h"
#include "daemon/base/log.h"

#define NOTE_BYTES   96u
#define SUBNET_BYTES 8u /* of an IPv6 address: the /64 prefix */

static bool is_address(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	char plain[INET6_ADDRSTRLEN];

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(host, "%"), host);
	return inet_pton(AF_INET, plain, bytes) == 1 || inet_pton(AF_INET6, plain, bytes) == 1;
}

void server_health_init(struct server_health *state, const char *service,
			const struct config_uri *uri)
{
	*state = (struct server_health){.service = service};
	config_uri_text(uri, state->uri);
	state->is_address = is_address(uri->host);
	atomic_init(&state->waiting, 0);
	atomic_init(&state->served, 0);
	atomic_init(&state->replied, false);
	atomic_init(&state->down, false);
	atomic_init(&state->doubtful, false);
	pthread_mutex_init(&state->lock, NULL);
}

void server_health_fini(struct server_health *state)
{
	if (state->service)
		pthread_mutex_destroy(&state->lock);
}

void server_health_wait_start(struct server_health *state)
{
	atomic_fetch_add(&state->waiting, 1);
}

void server_health_wait_end(struct server_health *state)
{
	atomic_fetch_sub(&state->waiting, 1);
}

/* ---- texts ---- */

/* Returns " (192.0.2.1:20049)"; "" if the URI contains the address. */
static const char *where(const struct server_health *state, char text[NOTE_BYTES])
{
	char addr[ADDRESS_TEXT_BYTES];

	text[0] = '\0';
	if (!state->is_address && state->addr.ss_family != AF_UNSPEC)
		snprintf(text, NOTE_BYTES, " (%s)",
			 address_text((const struct sockaddr *)&state->addr, addr));
	return text;
}

/*
 * Returns "; 3 clients wait". RDMA clients are refused and wait on their own host, so it is often
 * "".
 */
static const char *waiting(struct server_health *state, char text[NOTE_BYTES])
{
	unsigned n = atomic_load(&state->waiting);

	text[0] = '\0';
	if (n)
		snprintf(text, NOTE_BYTES, "; %u client%s", n, n == 1 ? " waits" : "s wait");
	return text;
}

static const char *attempts(uint64_t n, char text[NOTE_BYTES])
{
	snprintf(text, NOTE_BYTES, "%llu attempt%s", (unsigned long long)n, humanize_plural(n));
	return text;
}

/* Returns whether the server responds, but not usably. */
static bool is_unusable(enum leg_close why)
{
	return why == LEG_CLOSE_PROTOCOL || why == LEG_CLOSE_TERMINATED ||
	       why == LEG_CLOSE_VERSION || why == LEG_CLOSE_NOT_RPC || why == LEG_CLOSE_TLS;
}

static const char *fault(const struct server_health *state)
{
	if (state->why == LEG_CLOSE_NO_ADDRESS)
		return "cannot be reached";
	return is_unusable(state->why) ? "cannot be used" : "does not answer";
}

static const char *long_fault(const struct server_health *state)
{
	if (state->why == LEG_CLOSE_NO_ADDRESS)
		return "could not be reached";
	return is_unusable(state->why) ? "could not be used" : "has not answered";
}

/* ---- log lines, under the lock ---- */

static void logged_text(struct server_health *state, uint64_t now_us)
{
	state->logged_once = true;
	state->logged_us = now_us;
	state->logged_failed = state->failed;
	snprintf(state->logged_error, sizeof(state->logged_error), "%s", state->error);
	state->unlogged_outages = 0;
}

static bool may_log(const struct server_health *state, uint64_t now_us)
{
	if (state->quiet)
		return false;
	return !state->logged_once ||
	       clock_elapsed_us(state->logged_us, now_us) >= SERVER_HEALTH_LOG_US;
}

/* The context of these log lines. */
#define about(state)                                                                               \
	LOG_ABOUT(.service = (state)->service, .upstream = (state)->uri,                           \
		  .reason = leg_close_name((state)->why))

static void log_down(struct server_health *state, uint64_t now_us)
{
	char addr[NOTE_BYTES], clients[NOTE_BYTES];

	log_warning(about(state), "server %s%s %s: %s%s", state->uri, where(state, addr),
		    fault(state), state->error, waiting(state, clients));
	state->logged_down = true;
	logged_text(state, now_us);
}

static void log_still_down(struct server_health *state, uint64_t now_us)
{
	char addr[NOTE_BYTES], clients[NOTE_BYTES], count[NOTE_BYTES], since[HUMANIZE_TEXT_BYTES];

	log_warning(about(state), "server %s%s %s for %s: %s; %s failed%s", state->uri,
		    where(state, addr), long_fault(state),
		    humanize_age(clock_elapsed_us(state->since_us, now_us), since), state->error,
		    attempts(state->failed, count), waiting(state, clients));
	state->logged_down = true;
	logged_text(state, now_us);
}

static void log_recovered(struct server_health *state, uint64_t now_us)
{
	char addr[NOTE_BYTES], count[NOTE_BYTES], since[HUMANIZE_TEXT_BYTES];

	log_warning(LOG_ABOUT(.service = state->service, .upstream = state->uri),
		    "server %s%s answers again after %s (%s failed)", state->uri,
		    where(state, addr),
		    humanize_age(clock_elapsed_us(state->since_us, now_us), since),
		    attempts(state->failed, count));
	state->logged_down = false;
	state->failed = 0;
	logged_text(state, now_us);
}

static void log_flapping(struct server_health *state, uint64_t now_us)
{
	char addr[NOTE_BYTES];

	log_warning(about(state),
		    "server %s%s is flapping: %u outages in the last %llu s. The last error: it "
		    "%s: %s",
		    state->uri, where(state, addr), state->unlogged_outages,
		    (unsigned long long)clock_elapsed_us(state->logged_us, now_us) / 1000000,
		    fault(state), state->error);
	logged_text(state, now_us);
}

/* ---- events ---- */

static void keep_addr(struct server_health *state, const struct sockaddr *addr)
{
	state->addr = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
	if (addr && addr->sa_family == AF_INET6)
		memcpy(&state->addr, addr, sizeof(struct sockaddr_in6));
	else if (addr && addr->sa_family == AF_INET)
		memcpy(&state->addr, addr, sizeof(struct sockaddr_in));
}

static void set_reach(struct server_health *state, enum server_reach to, uint64_t now_us)
{
	state->reach = to;
	atomic_store_explicit(&state->down, to == SERVER_DOWN, memory_order_relaxed);
	state->since_us = now_us;
}

static bool is_server_fault(enum leg_close why)
{
	return why != LEG_CLOSE_LOCAL && why != LEG_CLOSE_RESOURCES &&
	       why != LEG_CLOSE_NO_SOURCE_PORT && why != LEG_CLOSE_NO_SOURCE_ADDRESS &&
	       why != LEG_CLOSE_SHUTDOWN && why != LEG_CLOSE_OWN_UPSTREAM &&
	       why != LEG_CLOSE_TLS_LIMIT;
}

/* Under the lock. */
static void mark_failed(struct server_health *state, enum leg_close why, const char *detail,
			uint64_t now_us)
{
	state->why = why;
	state->failed_us = now_us;
	snprintf(state->error, sizeof(state->error), "%s",
		 detail[0] ? detail : leg_close_text(why));
	if (state->reach != SERVER_DOWN) {
		set_reach(state, SERVER_DOWN, now_us);
		state->failed = 1;
		state->causes = 0;
		if (may_log(state, now_us))
			log_down(state, now_us);
	} else {
		state->failed++;
	}
}

bool server_health_failed(struct server_health *state, const struct sockaddr *addr,
			  enum leg_close why, const char *detail, uint64_t now_us)
{
	if (!is_server_fault(why))
		return false;
	pthread_mutex_lock(&state->lock);
	keep_addr(state, addr);
	mark_failed(state, why, detail, now_us);
	pthread_mutex_unlock(&state->lock);
	return true;
}

/* ---- failures of one client ---- */

/*
 * Returns the part of an address that identifies a client: one machine can have all of 127/8 with
 * ::1, or an IPv6 /64.
 */
static struct in6_addr client_host(const struct sockaddr *client)
{
	struct in6_addr host;

	if (sockaddr_is_loopback(client))
		return (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
	if (sockaddr_host(client, &host) && !IN6_IS_ADDR_V4MAPPED(&host))
		memset(host.s6_addr + SUBNET_BYTES, 0, sizeof(host) - SUBNET_BYTES);
	return host;
}

/* Under the lock: whether another client had the same failure recently. */
static bool failed_for_another_client(const struct server_health *state,
				      const struct in6_addr *client, uint64_t now_us)
{
	return state->has_suspect && memcmp(&state->suspect, client, sizeof(*client)) != 0 &&
	       clock_elapsed_us(state->suspect_us, now_us) < SERVER_HEALTH_DOUBT_US;
}

/*
 * Under the lock: whether two clients had it recently, so that the result of a NULL check does not
 * matter.
 */
static bool is_by_clients(const struct server_health *state, uint64_t now_us)
{
	return state->down_by_clients &&
	       clock_elapsed_us(state->down_by_clients_us, now_us) < SERVER_HEALTH_DOUBT_US;
}

/*
 * Under the lock: returns whether the client's own Call can be the cause. Records the failure, and
 * makes the server doubtful. A server that is down for another reason becomes doubtful too, since
 * it can be up again. A server that two clients found failing recently does not.
 */
static bool may_be_client_fault(struct server_health *state, const struct sockaddr *client,
				enum leg_close why, const char *detail, uint64_t now_us)
{
	const struct in6_addr host = client_host(client);

	if (failed_for_another_client(state, &host, now_us)) {
		state->down_by_clients = true;
		state->down_by_clients_us = state->doubtful_again_us = now_us;
	}
	state->has_suspect = true;
	state->suspect = host;
	state->suspect_us = now_us;
	state->suspect_why = why;
	snprintf(state->suspect_error, sizeof(state->suspect_error), "%s", detail);
	if (!is_by_clients(state, now_us))
		atomic_store(&state->doubtful, true);
	return !state->down_by_clients && state->reach != SERVER_DOWN;
}

/*
 * A dead host and a name without addresses concern all clients; and rpcbind is queried for all from
 * one address.
 */
static bool is_for_all(enum leg_close why)
{
	return why == LEG_CLOSE_SILENT || why == LEG_CLOSE_NO_ADDRESS || why == LEG_CLOSE_NO_MOUNT;
}

bool server_health_unreached(struct server_health *state, const struct sockaddr *addr,
			     const struct sockaddr *client, enum leg_close why, const char *detail,
			     uint64_t now_us)
{
	bool failed;

	if (!client || !is_server_fault(why) || is_for_all(why))
		return server_health_failed(state, addr, why, detail, now_us);
	pthread_mutex_lock(&state->lock);
	keep_addr(state, addr);
	failed = !may_be_client_fault(state, client, why, detail, now_us);
	if (failed)
		mark_failed(state, why, detail, now_us);
	pthread_mutex_unlock(&state->lock);
	return failed;
}

bool server_health_unanswered(struct server_health *state, const struct sockaddr *addr,
			      const struct sockaddr *client, enum leg_close why, const char *detail,
			      uint64_t now_us)
{
	if (atomic_load(&state->served))
		return false;
	return server_health_unreached(state, addr, client, why, detail, now_us);
}

bool server_health_check_failed(struct server_health *state, enum leg_close why, const char *error,
				uint64_t now_us, char logged_text[LEG_DETAIL_BYTES])
{
	if (!is_server_fault(why))
		return false;
	pthread_mutex_lock(&state->lock);
	/* The clients' error is more specific than that of a NULL. */
	mark_failed(state, why, why == state->suspect_why ? state->suspect_error : error, now_us);
	memcpy(logged_text, state->error, sizeof(state->error));
	pthread_mutex_unlock(&state->lock);
	return true;
}

/* Under the lock. */
static void mark_up(struct server_health *state, uint64_t now_us)
{
	if (state->reach == SERVER_DOWN && state->logged_down)
		log_recovered(state, now_us);
	else if (state->reach == SERVER_DOWN)
		state->unlogged_outages++;
	if (state->reach != SERVER_OK)
		set_reach(state, SERVER_OK, now_us);
	/* Two clients must fail again: the recorded one belongs to the outage that ended. */
	if (state->down_by_clients)
		state->has_suspect = false;
	state->down_by_clients = false;
}

void server_health_first_reply(struct server_health *state, const struct sockaddr *addr,
			       uint64_t now_us)
{
	atomic_fetch_add(&state->served, 1);
	pthread_mutex_lock(&state->lock);
	keep_addr(state, addr);
	state->has_suspect = false;
	state->replied_us = now_us;
	mark_up(state, now_us);
	pthread_mutex_unlock(&state->lock);
}

void server_health_check_passed(struct server_health *state, uint64_t now_us)
{
	pthread_mutex_lock(&state->lock);
	if (!is_by_clients(state, now_us))
		mark_up(state, now_us);
	pthread_mutex_unlock(&state->lock);
}

void server_health_disconnected(struct server_health *state)
{
	atomic_fetch_sub(&state->served, 1);
}

/*
 * Returns whether connected clients get Replies, and no attempt has failed for a while. Records the
 * time of Replies.
 */
static bool replies_again(struct server_health *state, uint64_t now_us)
{
	/* Reset since the last call: a Reply from just before the outage does not count. */
	bool replied = atomic_exchange(&state->replied, false);

	if (replied)
		state->replied_us = now_us;
	return replied && state->reach == SERVER_DOWN &&
	       clock_elapsed_us(state->failed_us, now_us) >= SERVER_HEALTH_SURE_US;
}

/* A later attempt can show a more specific cause, and the first one alone would mislead. */
static bool has_another_cause(const struct server_health *state, uint64_t now_us)
{
	return state->causes < SERVER_HEALTH_CAUSES &&
	       clock_elapsed_us(state->logged_us, now_us) >= SERVER_HEALTH_SURE_US &&
	       strcmp(state->error, state->logged_error) != 0;
}

/* Logs nothing new without an attempt since the last line. */
static bool is_still_down(const struct server_health *state, uint64_t now_us)
{
	if (state->reach != SERVER_DOWN)
		return false;
	if (!state->logged_down)
		return clock_elapsed_us(state->since_us, now_us) >= SERVER_HEALTH_SURE_US;
	return state->failed > state->logged_failed &&
	       (may_log(state, now_us) || has_another_cause(state, now_us));
}

/* Clients that are kept away cannot detect that the server is up again. */
static bool needs_another_check(const struct server_health *state, uint64_t now_us)
{
	return state->down_by_clients &&
	       clock_elapsed_us(state->doubtful_again_us, now_us) >= SERVER_HEALTH_DOUBT_US;
}

void server_health_tick(struct server_health *state, uint64_t now_us)
{
	pthread_mutex_lock(&state->lock);
	if (replies_again(state, now_us))
		mark_up(state, now_us);
	if (needs_another_check(state, now_us)) {
		state->doubtful_again_us = now_us;
		atomic_store(&state->doubtful, true);
	}
	if (is_still_down(state, now_us)) {
		state->causes += !may_log(state, now_us);
		log_still_down(state, now_us);
	} else if (state->unlogged_outages && may_log(state, now_us))
		log_flapping(state, now_us);
	pthread_mutex_unlock(&state->lock);
}

/* Under the lock. Replies are counted as recent until the next server_health_tick(). */
static uint64_t silent_us(const struct server_health *state, uint64_t now_us)
{
	if (atomic_load(&state->replied))
		return 0;
	return state->replied_us ? clock_elapsed_us(state->replied_us, now_us) : UINT64_MAX;
}

void server_health_get(struct server_health *state, uint64_t now_us,
		       struct server_health_info *info)
{
	*info = (struct server_health_info){.waiting = atomic_load(&state->waiting)};
	pthread_mutex_lock(&state->lock);
	info->reach = state->reach;
	info->age_us = clock_elapsed_us(state->since_us, now_us);
	info->silent_us = silent_us(state, now_us);
	if (state->addr.ss_family != AF_UNSPEC)
		address_text((const struct sockaddr *)&state->addr, info->addr);
	if (state->reach == SERVER_DOWN) {
		info->failed = state->failed;
		snprintf(info->error, sizeof(info->error), "%s", state->error);
	}
	pthread_mutex_unlock(&state->lock);
}
