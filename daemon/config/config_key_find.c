// SPDX-License-Identifier: BSD-3-Clause
/* Looking for keys by their names, and what is said of them. */
#include <limits.h>
#include <string.h>

#include "daemon/base/likeness.h"
#include "daemon/config/config_keys.h"

const struct config_key *config_key_find(const struct config_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

const struct config_key *config_key_nearest(const struct config_key *keys, const char *name)
{
	const struct config_key *nearest = NULL, *part = NULL;
	unsigned best = UINT_MAX;

	for (; keys->name; keys++) {
		unsigned edits = likeness_edits(name, keys->name);

		if (edits < best) {
			best = edits;
			nearest = keys;
		}
		/* "memory_limit" without its unit, "crc" without its prefix. */
		if (!part && strlen(name) >= 3 && strstr(keys->name, name))
			part = keys;
	}
	return nearest ? nearest : part;
}

const char *config_scope_text(enum config_key_scope scope)
{
	static const char *const texts[] = {
		[CONFIG_SCOPE_ALWAYS] = "is for every service",
		[CONFIG_SCOPE_ANY_RDMA] = "is for services with an RDMA side",
		[CONFIG_SCOPE_ANY_IWARP] = "is for services with an rdma:// or iwarp:// side",
		[CONFIG_SCOPE_ANY_VERBS] = "is for services with an rdma:// or verbs:// side",
		[CONFIG_SCOPE_LISTEN_TCP] = "is for services that listen on tcp://",
		[CONFIG_SCOPE_LISTEN_RDMA] = "is for services that listen for RDMA clients",
		[CONFIG_SCOPE_CONNECT_TCP] =
			"is for services that connect to tcp://, or whose mount does",
		[CONFIG_SCOPE_LISTEN_IWARP] = "is for services that listen on rdma:// or iwarp://",
		[CONFIG_SCOPE_LISTEN_SOCKET] = "is for services that listen on tcp:// or iwarp://",
		[CONFIG_SCOPE_CONNECT_SOCKET] =
			"is for services that connect to tcp:// or iwarp://",
		[CONFIG_SCOPE_CONNECT_RDMA] = "is for services that connect to an RDMA server",
	};

	return texts[scope];
}
