// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/late_calls.h"

#include "daemon/base/address.h"
#include "daemon/base/humanize.h"
#include "daemon/base/log.h"

void late_calls_init(struct late_calls *late, const char *service)
{
	*late = (struct late_calls){.service = service};
	TAILQ_INIT(&late->workers);
	pthread_mutex_init(&late->lock, NULL);
}

void late_calls_fini(struct late_calls *late)
{
	pthread_mutex_destroy(&late->lock);
}

static void log_late(const struct late_calls *late, const struct late_scan *found)
{
	char text[ADDRESS_TEXT_BYTES], age[HUMANIZE_TEXT_BYTES];

	log_warning(LOG_ABOUT(.service = late->service),
		    "a Call has waited %s for the server %s (%u Call%s of %u client%s %s)",
		    humanize_age(found->oldest_us, age),
		    address_text((const struct sockaddr *)&found->server, text), late->calls,
		    humanize_plural(late->calls), late->clients, humanize_plural(late->clients),
		    late->calls == 1 ? "waits" : "wait");
}

static void log_over(const struct late_calls *late)
{
	char age[HUMANIZE_TEXT_BYTES];

	humanize_age(late->longest_us, age);
	if (late->answered)
		log_warning(LOG_ABOUT(.service = late->service),
			    "the server answers again; the oldest Call had waited %s", age);
	else
		log_warning(LOG_ABOUT(.service = late->service),
			    "no Call is waiting any more: their connections closed; the oldest "
			    "Call had waited %s",
			    age);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct late_calls *late, struct late_worker *thread, const struct late_scan *found)
{
	late->calls += found->calls - thread->calls;
	late->clients += found->clients - thread->clients;
	late->long_clients += found->long_clients - thread->long_clients;
	if (thread->calls)
		TAILQ_REMOVE(&late->workers, thread, entry);
	*thread = (struct late_worker){.calls = found->calls,
				       .clients = found->clients,
				       .long_clients = found->long_clients,
				       .oldest_start_us = found->oldest_start_us,
				       .target = found->target};
	if (thread->calls)
		TAILQ_INSERT_TAIL(&late->workers, thread, entry);
	late->longest_us = most(late->longest_us, most(found->oldest_us, found->longest_us));
	late->answered |= found->answered;
}

struct late_calls_info late_calls_get(struct late_calls *late)
{
	struct late_calls_info info = {0};
	const struct late_worker *thread;

	pthread_mutex_lock(&late->lock);
	info.calls = late->calls;
	info.clients = late->clients;
	TAILQ_FOREACH(thread, &late->workers, entry) {
		if (info.target && info.oldest_start_us <= thread->oldest_start_us)
			continue;
		info.oldest_start_us = thread->oldest_start_us;
		info.target = thread->target;
	}
	pthread_mutex_unlock(&late->lock);
	return info;
}

void late_calls_report(struct late_calls *late, struct late_worker *thread,
		       const struct late_scan *found)
{
	pthread_mutex_lock(&late->lock);
	add(late, thread, found);
	if (found->long_clients && late->long_clients > 2 * late->logged_clients) {
		late->logged_clients = late->clients;
		log_late(late, found);
	}
	if (late->clients < late->logged_clients && late->clients)
		late->logged_clients = late->clients;
	if (!late->calls) {
		if (late->logged_clients)
			log_over(late);
		late->logged_clients = 0;
		late->longest_us = 0;
		late->answered = false;
	}
	pthread_mutex_unlock(&late->lock);
}
