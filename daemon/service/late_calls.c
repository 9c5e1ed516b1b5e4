// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/late_calls.h"

#include "daemon/base/address.h"
#include "daemon/base/humanize.h"
#include "daemon/base/log.h"

void late_calls_init(struct late_calls *late, const char *service)
{
	*late = (struct late_calls){.service = service};
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
		    late->calls == 1 ? "" : "s", late->clients, late->clients == 1 ? "" : "s",
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
			    "no Call is waiting any more: the clients disconnected; the oldest "
			    "Call had waited %s",
			    age);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct late_calls *late, struct late_worker *side, const struct late_scan *found)
{
	late->calls += found->calls - side->calls;
	late->clients += found->clients - side->clients;
	late->long_clients += found->long_clients - side->long_clients;
	*side = (struct late_worker){found->calls, found->clients, found->long_clients};
	late->longest_us = most(late->longest_us, most(found->oldest_us, found->longest_us));
	late->answered |= found->answered;
}

unsigned late_calls_count(struct late_calls *late)
{
	unsigned calls;

	pthread_mutex_lock(&late->lock);
	calls = late->calls;
	pthread_mutex_unlock(&late->lock);
	return calls;
}

void late_calls_report(struct late_calls *late, struct late_worker *side,
		       const struct late_scan *found)
{
	pthread_mutex_lock(&late->lock);
	add(late, side, found);
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
