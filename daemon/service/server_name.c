// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/server_name.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/clock.h"

#define NAME_SHOWN 80 /* characters */

struct name_answer {
	atomic_uint refs;
	struct resolver_answer found;
	bool is_own; /* this daemon listens on every address found */
};

/* What a thread with waiting connections must do next. */
struct view {
	enum { VIEW_WAIT, VIEW_ASK, VIEW_TELL } what;
	struct name_answer *answer; /* LOOKUP_ANSWERED: a reference; NULL: see error */
	const char *error;
	enum leg_close why;
	uint64_t wait_us; /* LOOKUP_WAIT: until the last good answer is used; 0: it has none */
	bool tell_old;    /* LOOKUP_ANSWERED: log that the answer is stale … */
	uint64_t age_us;  /* … and how old it is */
};

static void answer_put(struct name_answer *answer)
{
	if (answer && atomic_fetch_sub(&answer->refs, 1) == 1)
		free(answer);
}

void server_name_init(struct server_name *name, const struct config_uri *uri, const char *service,
		      struct log_limit *lines)
{
	*name = (struct server_name){
		.host = uri->host,
		.port = uri->port,
		.transport = uri->transport,
		.service = service,
		.lines = lines,
	};
	pthread_mutex_init(&name->lock, NULL);
	TAILQ_INIT(&name->desks);
}

void server_name_fini(struct server_name *name)
{
	assert(TAILQ_EMPTY(&name->desks) && !name->pending);
	answer_put(name->good);
	answer_put(name->come);
	pthread_mutex_destroy(&name->lock);
}

bool server_name_is_sought(struct server_name *name)
{
	bool sought;

	pthread_mutex_lock(&name->lock);
	sought = name->pending;
	pthread_mutex_unlock(&name->lock);
	return sought;
}

/* ---- under the lock ---- */

/* The lookup failed, or found no address. */
static void put_error(struct server_name *name, const char *error, enum leg_close why)
{
	name->error = error;
	name->why = why;
}

/* Processes an answer that has arrived. */
static void take_in(struct server_name *name, uint64_t now_us)
{
	struct name_answer *come = name->come, *left = come;

	if (!come)
		return;
	name->come = NULL;
	name->out = false;
	name->tried = true;
	name->tried_us = now_us;
	put_error(name, come->found.error,
		  come->is_own ? LEG_CLOSE_OWN_UPSTREAM : LEG_CLOSE_NO_ADDRESS);
	if (come->found.naddrs) {
		left = name->good;
		name->good = come;
		name->good_us = now_us;
	} else if (come->found.is_final) {
		answer_put(name->good);
		name->good = NULL;
	}
	answer_put(left);
}

static bool is_usable(const struct server_name *name, uint64_t now_us)
{
	return name->good && clock_passed_us(name->good_us, now_us) < SERVER_NAME_STALE_US;
}

/* Returns whether the last answer or error is still fresh. */
static bool is_kept(const struct server_name *name, uint64_t now_us)
{
	uint64_t kept_us = name->error && !is_usable(name, now_us) ? SERVER_NAME_ERROR_US
								   : SERVER_NAME_KEPT_US;

	return name->tried && !name->out && clock_passed_us(name->tried_us, now_us) < kept_us;
}

static void tell(struct server_name *name, uint64_t now_us, struct view *view)
{
	view->what = VIEW_TELL;
	view->error = name->error;
	view->why = name->why;
	if (!is_usable(name, now_us))
		return;
	view->answer = name->good;
	atomic_fetch_add(&view->answer->refs, 1);
	view->age_us = clock_passed_us(name->good_us, now_us);
	view->tell_old = (name->out || name->error) && !name->old_told;
	name->old_told |= view->tell_old;
}

static void look_locked(struct name_desk *desk, uint64_t now_us, struct view *view)
{
	struct server_name *name = desk->name;
	uint64_t out_us;

	take_in(name, now_us);
	out_us = clock_passed_us(name->out_us, now_us);
	if (is_kept(name, now_us) ||
	    (name->out && is_usable(name, now_us) && out_us >= SERVER_NAME_SILENT_US)) {
		tell(name, now_us, view);
	} else if (!name->out) {
		view->what = VIEW_ASK;
		name->out = true;
		name->out_us = now_us;
		name->old_told = false;
	} else if (is_usable(name, now_us)) {
		view->wait_us = SERVER_NAME_SILENT_US - out_us;
	}
	desk->wanted = view->what == VIEW_WAIT;
}

/* ---- lookups ---- */

static void look(struct name_desk *desk, struct view *view)
{
	uint64_t now_us = loop_now_us(desk->loop);

	*view = (struct view){.what = VIEW_WAIT};
	pthread_mutex_lock(&desk->name->lock);
	look_locked(desk, now_us, view);
	pthread_mutex_unlock(&desk->name->lock);
}

static void log_left_out(const struct server_name *name, const struct sockaddr_storage *addr)
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
static void leave_out_own(const struct server_name *name, struct name_answer *answer)
{
	struct resolver_answer *found = &answer->found;
	size_t nfound = found->naddrs;

	found->naddrs = 0;
	for (size_t i = 0; i < nfound; i++) {
		const struct sockaddr *addr = (const struct sockaddr *)&found->addrs[i];

		if (own_doors_take(name->doors, name->transport, addr))
			log_left_out(name, &found->addrs[i]);
		else
			found->addrs[found->naddrs++] = found->addrs[i];
	}
	if (nfound && !found->naddrs) {
		found->error = "it listens on every address of the name";
		found->is_final = answer->is_own = true;
	}
}

/* Runs on the thread of the lookup, or for a literal on the caller's. @name->pending is filled in. */
static void on_answer(void *arg)
{
	struct server_name *name = arg;
	struct name_desk *desk;

	leave_out_own(name, name->pending);
	pthread_mutex_lock(&name->lock);
	name->come = name->pending;
	name->pending = NULL;
	TAILQ_FOREACH(desk, &name->desks, entry)
		if (desk->wanted)
			desk->wake(desk->arg);
	pthread_mutex_unlock(&name->lock);
}

/* The lookup could not start. */
static void cannot_ask(struct name_desk *desk, int rc)
{
	struct server_name *name = desk->name;
	struct name_desk *other;

	pthread_mutex_lock(&name->lock);
	free(name->pending);
	name->pending = NULL;
	name->out = false;
	name->tried = true;
	name->tried_us = loop_now_us(desk->loop);
	put_error(name, strerror(-rc), LEG_CLOSE_RESOURCES);
	TAILQ_FOREACH(other, &name->desks, entry)
		if (other->wanted)
			other->wake(other->arg);
	pthread_mutex_unlock(&name->lock);
}

/* Call it once for each LOOKUP_START of lookup_get(). `pending` belongs to the lookup until on_answer(). */
static void ask(struct name_desk *desk)
{
	struct server_name *name = desk->name;
	struct name_answer *answer = calloc(1, sizeof(*answer));
	int rc = -ENOMEM;

	name->pending = answer;
	if (answer) {
		atomic_init(&answer->refs, 1);
		/* A literal needs no lookup thread. */
		if (resolver_literal(name->host, name->port, &answer->found)) {
			on_answer(name);
			return;
		}
		rc = desk->resolver->start(name->host, name->port, &answer->found, on_answer, name);
	}
	if (rc)
		cannot_ask(desk, rc);
}

/* ---- results ---- */

static void log_old(const struct server_name *name, const struct view *view)
{
	log_write_limited(LOG_LEVEL_WARNING, name->lines, LOG_ABOUT(.service = name->service),
			  "DNS lookup of %s failed (%s): using addresses resolved %llu s ago",
			  name->host,
			  view->error ? view->error : "the name server does not respond",
			  (unsigned long long)(view->age_us / 1000000));
}

/* Cuts a long name, never the reason. */
const char *server_name_unresolved(const struct server_name *name, const char *why,
				   char text[LEG_DETAIL_BYTES])
{
	snprintf(text, LEG_DETAIL_BYTES, "its name \"%.*s\" cannot be resolved: %s", NAME_SHOWN,
		 name->host, why);
	return text;
}

/* Each done() can add or cancel other waits. */
static void tell_some(struct name_desk *desk, const struct view *view)
{
	struct name_result result = {.why = view->why, .error = view->error};
	char text[LEG_DETAIL_BYTES];
	struct name_wait *wait;

	if (view->answer) {
		result.addrs = view->answer->found.addrs;
		result.naddrs = view->answer->found.naddrs;
	} else if (view->why != LEG_CLOSE_OWN_UPSTREAM) {
		result.error = server_name_unresolved(
			desk->name, view->error ? view->error : "it has no address", text);
	}
	for (unsigned i = 0; i < SERVER_NAME_PER_TURN; i++) {
		wait = TAILQ_FIRST(&desk->waits);
		if (!wait)
			return;
		TAILQ_REMOVE(&desk->waits, wait, entry);
		wait->waits = false;
		wait->done(wait->arg, &result);
	}
}

static void serve(void *arg)
{
	struct name_desk *desk = arg;
	struct view view;

	loop_timer_clear(desk->loop, desk->timer);
	if (TAILQ_EMPTY(&desk->waits))
		return;
	look(desk, &view);
	if (view.what == VIEW_ASK) {
		ask(desk);
		look(desk, &view);
	}
	if (view.what == VIEW_WAIT) {
		if (view.wait_us)
			loop_timer_set(desk->loop, desk->timer, view.wait_us);
		return;
	}
	if (view.tell_old && desk->name->lines && log_is_on(LOG_LEVEL_WARNING))
		log_old(desk->name, &view);
	tell_some(desk, &view);
	answer_put(view.answer);
	if (!TAILQ_EMPTY(&desk->waits))
		loop_defer(desk->loop, &desk->task);
}

/* ---- waiting connections ---- */

int name_desk_init(struct name_desk *desk, struct server_name *name, struct loop *loop,
		   const struct resolver *resolver, void (*wake)(void *arg), void *arg)
{
	*desk = (struct name_desk){
		.name = name, .loop = loop, .resolver = resolver, .wake = wake, .arg = arg};
	TAILQ_INIT(&desk->waits);
	loop_task_init(&desk->task, serve, desk);
	desk->timer = loop_timer_new(loop, serve, desk);
	pthread_mutex_lock(&name->lock);
	TAILQ_INSERT_TAIL(&name->desks, desk, entry);
	pthread_mutex_unlock(&name->lock);
	return desk->timer ? 0 : -ENOMEM;
}

void name_desk_fini(struct name_desk *desk)
{
	if (!desk->name)
		return;
	assert(TAILQ_EMPTY(&desk->waits));
	pthread_mutex_lock(&desk->name->lock);
	TAILQ_REMOVE(&desk->name->desks, desk, entry);
	pthread_mutex_unlock(&desk->name->lock);
	loop_task_cancel(desk->loop, &desk->task);
	loop_timer_free(desk->loop, desk->timer);
	*desk = (struct name_desk){0};
}

void name_desk_woken(struct name_desk *desk)
{
	if (!TAILQ_EMPTY(&desk->waits))
		loop_defer(desk->loop, &desk->task);
}

void name_desk_wait(struct name_desk *desk, struct name_wait *wait,
		    void (*done)(void *arg, const struct name_result *result), void *arg)
{
	*wait = (struct name_wait){.done = done, .arg = arg, .waits = true};
	TAILQ_INSERT_TAIL(&desk->waits, wait, entry);
	loop_defer(desk->loop, &desk->task);
}

void name_desk_leave(struct name_desk *desk, struct name_wait *wait)
{
	if (!wait->waits)
		return;
	wait->waits = false;
	TAILQ_REMOVE(&desk->waits, wait, entry);
}
