// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/listen_names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/log.h"
#include "daemon/base/resolve_all.h"

struct listen_names {
	atomic_uint refs;
	size_t count;
	struct listen_name *names;
};

static bool is_name(const struct config_uri *uri)
{
	struct resolver_answer literal;

	return uri->host[0] && !resolver_literal(uri->host, uri->port, &literal);
}

const struct listen_name *listen_names_find(const struct listen_names *names, const char *host)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (!strcasecmp(names->names[i].host, host))
			return &names->names[i];
	return NULL;
}

struct listen_names *listen_names_new(void)
{
	struct listen_names *names = calloc(1, sizeof(*names));

	if (names)
		atomic_init(&names->refs, 1);
	return names;
}

static int add(struct listen_names *names, const char *host)
{
	struct listen_name *more =
		realloc(names->names, (names->count + 1) * sizeof(*names->names));

	if (!more)
		return -ENOMEM;
	names->names = more;
	more[names->count] = (struct listen_name){.host = strdup(host)};
	if (!more[names->count].host)
		return -ENOMEM;
	names->count++;
	return 0;
}

int listen_names_add(struct listen_names *names, const struct service_config *service)
{
	int rc = 0;

	for (unsigned i = 0; i < config_nlisteners(service) && !rc; i++) {
		const struct config_uri *uri = config_listener(service, i);

		if (is_name(uri) && !listen_names_find(names, uri->host))
			rc = add(names, uri->host);
	}
	return rc;
}

bool listen_names_is_empty(const struct listen_names *names)
{
	return !names->count;
}

static const struct listen_name *find_good(const struct listen_names *old, const char *host)
{
	const struct listen_name *name = listen_names_find(old, host);

	return name && !name->answer.error ? name : NULL;
}

static bool all_in_old(const struct listen_names *names, const struct listen_names *old)
{
	for (size_t i = 0; i < names->count; i++)
		if (!find_good(old, names->names[i].host))
			return false;
	return true;
}

static const char *error_of(const struct resolve_lookup *lookup)
{
	switch (lookup->result) {
	case RESOLVE_ADDRESSES:
		return NULL;
	case RESOLVE_ERROR:
		return lookup->answer.error;
	case RESOLVE_TIMED_OUT:
		return "the name servers do not respond";
	case RESOLVE_NOT_STARTED:
		break;
	}
	return "out of memory";
}

static void set_answer(struct listen_name *name, const struct resolve_lookup *lookup,
		       const struct listen_names *old)
{
	const char *error = error_of(lookup);
	bool is_final = lookup->result == RESOLVE_ERROR && lookup->answer.is_final;
	const struct listen_name *before = is_final ? NULL : find_good(old, name->host);

	if (!error) {
		name->answer = lookup->answer;
	} else if (before) {
		name->answer = before->answer;
		name->stale_why = error;
	} else {
		name->answer = (struct resolver_answer){.error = error, .is_final = is_final};
	}
}

int listen_names_resolve(struct listen_names *names, const struct resolver *resolver,
			 const struct listen_names *old)
{
	struct resolve_lookup *lookups;

	if (!names->count)
		return 0;
	lookups = calloc(names->count, sizeof(*lookups));
	if (!lookups)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		lookups[i] = (struct resolve_lookup){.host = names->names[i].host, .port = "0"};
	resolve_all(resolver, lookups, names->count,
		    all_in_old(names, old) ? LISTEN_NAMES_OLD_MS : LISTEN_NAMES_MS);
	for (size_t i = 0; i < names->count; i++)
		set_answer(&names->names[i], &lookups[i], old);
	free(lookups);
	return 0;
}

void listen_names_log_stale(const struct listen_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->names[i].stale_why)
			log_warning(NULL,
				    "DNS lookup of %s failed (%s): listening on its last known "
				    "addresses",
				    names->names[i].host, names->names[i].stale_why);
}

struct listen_names *listen_names_ref(struct listen_names *names)
{
	if (names)
		atomic_fetch_add(&names->refs, 1);
	return names;
}

void listen_names_put(struct listen_names *names)
{
	if (!names || atomic_fetch_sub(&names->refs, 1) > 1)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i].host);
	free(names->names);
	free(names);
}
