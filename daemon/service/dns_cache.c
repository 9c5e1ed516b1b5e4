// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/dns_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/clock.h"

#define NAME_SHOWN 80 /* characters */

struct dns_answer {
	atomic_uint refs;
	struct resolver_answer found;
	bool is_own; /* this daemon listens on every address found */
};

/* What a thread with waiting connections must do next. */
struct dns_lookup {
	enum { LOOKUP_WAIT, LOOKUP_START, LOOKUP_ANSWERED } what;
	struct dns_answer *answer; /* LOOKUP_ANSWERED: a reference; NULL: see error */
	const char *error;
	enum leg_close why;
	uint64_t wait_us; /* LOOKUP_WAIT: until the last good answer is used; 0: it has none */
	bool log_stale;   /* LOOKUP_ANSWERED: log that the answer is stale … */
	uint64_t age_us;  /* … and how old it is */
};

static void answer_put(struct dns_answer *answer)
{
	if (answer && atomic_fetch_sub(&answer->refs, 1) == 1)
		free(answer);
}

void dns_cache_init(struct dns_cache *name, const struct config_uri *uri, const char *service,
		    struct log_limit *lines)
{
	*name = (struct dns_cache){
		.host = uri->host,
		.port = uri->port,
		.transport = uri->transport,
		.service = service,
		.lines = lines,
	};
	pthread_mutex_init(&name->lock, NULL);
	TAILQ_INIT(&name->waiters_list);
}

void dns_cache_fini(struct dns_cache *name)
{
	assert(TAILQ_EMPTY(&name->waiters_list) && !name->pending);
	answer_put(name->good);
	answer_put(name->arrived);
	pthread_mutex_destroy(&name->lock);
}

bool dns_cache_is_resolving(struct dns_cache *name)
{
	bool sought;

	pthread_mutex_lock(&name->lock);
	sought = name->pending;
	pthread_mutex_unlock(&name->lock);
	return sought;
}

/* ---- under the lock ---- */

/* The lookup failed, or found no address. */
static void put_error(struct dns_cache *name, const char *error, enum leg_close why)
{
	name->error = error;
	name->why = why;
}

/* Processes an answer that has arrived. */
static void accept_answer(struct dns_cache *name, uint64_t now_us)
{
	struct dns_answer *arrived = name->arrived, *left = arrived;

	if (!arrived)
		return;
	name->arrived = NULL;
	name->in_progress = false;
	name->tried = true;
	name->tried_us = now_us;
	put_error(name, arrived->found.error,
		  arrived->is_own ? LEG_CLOSE_OWN_UPSTREAM : LEG_CLOSE_NO_ADDRESS);
	if (arrived->found.naddrs) {
		left = name->good;
		name->good = arrived;
		name->good_us = now_us;
	} else if (arrived->found.is_final) {
		answer_put(name->good);
		name->good = NULL;
	}
	answer_put(left);
}

static bool is_usable(const struct dns_cache *name, uint64_t now_us)
{
	return name->good && clock_elapsed_us(name->good_us, now_us) < DNS_CACHE_STALE_US;
}

/* Returns whether the last answer or error is still fresh. */
static bool is_kept(const struct dns_cache *name, uint64_t now_us)
{
	uint64_t kept_us =
		name->error && !is_usable(name, now_us) ? DNS_CACHE_ERROR_US : DNS_CACHE_KEPT_US;

	return name->tried && !name->in_progress &&
	       clock_elapsed_us(name->tried_us, now_us) < kept_us;
}

static void lookup_answer(struct dns_cache *name, uint64_t now_us, struct dns_lookup *lookup)
{
	lookup->what = LOOKUP_ANSWERED;
	lookup->error = name->error;
	lookup->why = name->why;
	if (!is_usable(name, now_us))
		return;
	lookup->answer = name->good;
	atomic_fetch_add(&lookup->answer->refs, 1);
	lookup->age_us = clock_elapsed_us(name->good_us, now_us);
	lookup->log_stale = (name->in_progress || name->error) && !name->stale_logged;
	name->stale_logged |= lookup->log_stale;
}

static void lookup_locked(struct dns_waiters *waiters, uint64_t now_us, struct dns_lookup *lookup)
{
	struct dns_cache *name = waiters->name;
	uint64_t elapsed_us;

	accept_answer(name, now_us);
	elapsed_us = clock_elapsed_us(name->started_us, now_us);
	if (is_kept(name, now_us) ||
	    (name->in_progress && is_usable(name, now_us) && elapsed_us >= DNS_CACHE_SILENT_US)) {
		lookup_answer(name, now_us, lookup);
	} else if (!name->in_progress) {
		lookup->what = LOOKUP_START;
		name->in_progress = true;
		name->started_us = now_us;
		name->stale_logged = false;
	} else if (is_usable(name, now_us)) {
		lookup->wait_us = DNS_CACHE_SILENT_US - elapsed_us;
	}
	waiters->wanted = lookup->what == LOOKUP_WAIT;
}

/* ---- lookups ---- */

static void lookup_get(struct dns_waiters *waiters, struct dns_lookup *lookup)
{
	uint64_t now_us = loop_now_us(waiters->loop);

	*lookup = (struct dns_lookup){.what = LOOKUP_WAIT};
	pthread_mutex_lock(&waiters->name->lock);
	lookup_locked(waiters, now_us, lookup);
	pthread_mutex_unlock(&waiters->name->lock);
}

static void log_own_address(const struct dns_cache *name, const struct sockaddr_storage *addr)
{
	char text[ADDRESS_TEXT_BYTES];

	if (!name->lines)
		return;
	log_limited(
		LOG_LEVEL_WARNING, name->lines, LOG_ABOUT(.service = name->service),
		"the name %s has the address %s, where this daemon listens: not connecting to it",
		name->host, address_text((const struct sockaddr *)addr, text));
}

/* Drops the addresses on which this daemon listens. */
static void drop_own_addresses(const struct dns_cache *name, struct dns_answer *answer)
{
	struct resolver_answer *found = &answer->found;
	size_t nfound = found->naddrs;

	found->naddrs = 0;
	for (size_t i = 0; i < nfound; i++) {
		const struct sockaddr *addr = (const struct sockaddr *)&found->addrs[i];

		if (self_connect_matches(name->listen_addrs, name->transport, addr))
			log_own_address(name, &found->addrs[i]);
		else
			found->addrs[found->naddrs++] = found->addrs[i];
	}
	if (nfound && !found->naddrs) {
		found->error = "it listens on every address of the name";
		found->is_final = answer->is_own = true;
	}
}

/*
 * Runs on the thread of the lookup, or for a literal on the caller's. @name->pending is filled in.
 */
static void on_answer(void *arg)
{
	struct dns_cache *name = arg;
	struct dns_waiters *waiters;

	drop_own_addresses(name, name->pending);
	pthread_mutex_lock(&name->lock);
	name->arrived = name->pending;
	name->pending = NULL;
	TAILQ_FOREACH(waiters, &name->waiters_list, entry)
		if (waiters->wanted)
			waiters->wake(waiters->arg);
	pthread_mutex_unlock(&name->lock);
}

/* The lookup could not start. */
static void lookup_failed(struct dns_waiters *waiters, int rc)
{
	struct dns_cache *name = waiters->name;
	struct dns_waiters *other;

	pthread_mutex_lock(&name->lock);
	free(name->pending);
	name->pending = NULL;
	name->in_progress = false;
	name->tried = true;
	name->tried_us = loop_now_us(waiters->loop);
	put_error(name, strerror(-rc), LEG_CLOSE_RESOURCES);
	TAILQ_FOREACH(other, &name->waiters_list, entry)
		if (other->wanted)
			other->wake(other->arg);
	pthread_mutex_unlock(&name->lock);
}

/*
 * Call it once for each LOOKUP_START of lookup_get(). `pending` belongs to the lookup until
 * on_answer().
 */
static void lookup_start(struct dns_waiters *waiters)
{
	struct dns_cache *name = waiters->name;
	struct dns_answer *answer = calloc(1, sizeof(*answer));
	int rc = -ENOMEM;

	name->pending = answer;
	if (answer) {
		atomic_init(&answer->refs, 1);
		/* A literal needs no lookup thread. */
		if (resolver_literal(name->host, name->port, &answer->found)) {
			on_answer(name);
			return;
		}
		rc = waiters->resolver->start(name->host, name->port, &answer->found, on_answer,
					      name);
	}
	if (rc)
		lookup_failed(waiters, rc);
}

/* ---- results ---- */

static void log_stale_answer(const struct dns_cache *name, const struct dns_lookup *lookup)
{
	log_write_limited(LOG_LEVEL_WARNING, name->lines, LOG_ABOUT(.service = name->service),
			  "DNS lookup of %s failed (%s): using addresses resolved %llu s ago",
			  name->host,
			  lookup->error ? lookup->error : "the name server does not respond",
			  (unsigned long long)(lookup->age_us / 1000000));
}

/* Cuts a long name, never the reason. */
const char *dns_cache_unresolved(const struct dns_cache *name, const char *why,
				 char text[LEG_DETAIL_BYTES])
{
	snprintf(text, LEG_DETAIL_BYTES, "its name \"%.*s\" cannot be resolved: %s", NAME_SHOWN,
		 name->host, why);
	return text;
}

/* Each done() can add or cancel other waits. */
static void complete_waits(struct dns_waiters *waiters, const struct dns_lookup *lookup)
{
	struct dns_result result = {.why = lookup->why, .error = lookup->error};
	char text[LEG_DETAIL_BYTES];
	struct dns_wait *wait;

	if (lookup->answer) {
		result.addrs = lookup->answer->found.addrs;
		result.naddrs = lookup->answer->found.naddrs;
	} else if (lookup->why != LEG_CLOSE_OWN_UPSTREAM) {
		result.error = dns_cache_unresolved(
			waiters->name, lookup->error ? lookup->error : "it has no address", text);
	}
	for (unsigned i = 0; i < DNS_CACHE_PER_ITERATION; i++) {
		wait = TAILQ_FIRST(&waiters->waits);
		if (!wait)
			return;
		TAILQ_REMOVE(&waiters->waits, wait, entry);
		wait->waits = false;
		wait->done(wait->arg, &result);
	}
}

static void serve_waits(void *arg)
{
	struct dns_waiters *waiters = arg;
	struct dns_lookup lookup;

	loop_timer_clear(waiters->loop, waiters->timer);
	if (TAILQ_EMPTY(&waiters->waits))
		return;
	lookup_get(waiters, &lookup);
	if (lookup.what == LOOKUP_START) {
		lookup_start(waiters);
		lookup_get(waiters, &lookup);
	}
	if (lookup.what == LOOKUP_WAIT) {
		if (lookup.wait_us)
			loop_timer_set(waiters->loop, waiters->timer, lookup.wait_us);
		return;
	}
	if (lookup.log_stale && waiters->name->lines && log_is_on(LOG_LEVEL_WARNING))
		log_stale_answer(waiters->name, &lookup);
	complete_waits(waiters, &lookup);
	answer_put(lookup.answer);
	if (!TAILQ_EMPTY(&waiters->waits))
		loop_defer(waiters->loop, &waiters->task);
}

/* ---- waiting connections ---- */

int dns_waiters_init(struct dns_waiters *waiters, struct dns_cache *name, struct loop *loop,
		     const struct resolver *resolver, void (*wake)(void *arg), void *arg)
{
	*waiters = (struct dns_waiters){
		.name = name, .loop = loop, .resolver = resolver, .wake = wake, .arg = arg};
	TAILQ_INIT(&waiters->waits);
	loop_task_init(&waiters->task, serve_waits, waiters);
	waiters->timer = loop_timer_new(loop, serve_waits, waiters);
	pthread_mutex_lock(&name->lock);
	TAILQ_INSERT_TAIL(&name->waiters_list, waiters, entry);
	pthread_mutex_unlock(&name->lock);
	return waiters->timer ? 0 : -ENOMEM;
}

void dns_waiters_fini(struct dns_waiters *waiters)
{
	if (!waiters->name)
		return;
	assert(TAILQ_EMPTY(&waiters->waits));
	pthread_mutex_lock(&waiters->name->lock);
	TAILQ_REMOVE(&waiters->name->waiters_list, waiters, entry);
	pthread_mutex_unlock(&waiters->name->lock);
	loop_task_cancel(waiters->loop, &waiters->task);
	loop_timer_free(waiters->loop, waiters->timer);
	*waiters = (struct dns_waiters){0};
}

void dns_waiters_woken(struct dns_waiters *waiters)
{
	if (!TAILQ_EMPTY(&waiters->waits))
		loop_defer(waiters->loop, &waiters->task);
}

void dns_waiters_add(struct dns_waiters *waiters, struct dns_wait *wait,
		     void (*done)(void *arg, const struct dns_result *result), void *arg)
{
	*wait = (struct dns_wait){.done = done, .arg = arg, .waits = true};
	TAILQ_INSERT_TAIL(&waiters->waits, wait, entry);
	loop_defer(waiters->loop, &waiters->task);
}

void dns_waiters_remove(struct dns_waiters *waiters, struct dns_wait *wait)
{
	if (!wait->waits)
		return;
	wait->waits = false;
	TAILQ_REMOVE(&waiters->waits, wait, entry);
}
