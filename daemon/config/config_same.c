// SPDX-License-Identifier: BSD-3-Clause
/* Two readings of the configuration file compared. */
#include "daemon/config/config_same.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_memory.h"

static bool same_uri(const struct config_uri *a, const struct config_uri *b)
{
	return a->transport == b->transport && !strcmp(a->host, b->host) &&
	       !strcmp(a->port, b->port);
}

static bool same_cidr(const struct config_cidr *a, const struct config_cidr *b)
{
	return a->family == b->family && a->prefix_bits == b->prefix_bits &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

static bool same_list(const struct config_cidr *a, const struct config_cidr *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!same_cidr(&a[i], &b[i]))
			return false;
	return true;
}

static bool same_allow(const struct service_config *a, const struct service_config *b)
{
	return a->has_allow == b->has_allow && a->nallow == b->nallow &&
	       same_list(a->allow, b->allow, a->nallow);
}

static bool same_prefixes(const struct config_cidrs *a, const struct config_cidrs *b)
{
	return a->count == b->count && same_list(a->list, b->list, a->count);
}

static bool same_servers(const struct service_config *a, const struct service_config *b)
{
	if (a->nmore != b->nmore)
		return false;
	for (unsigned i = 0; i < config_nservers(a); i++)
		if (!same_uri(config_server(a, i), config_server(b, i)))
			return false;
	return true;
}

static bool same_listeners(const struct service_config *a, const struct service_config *b)
{
	if (a->nmore_listen != b->nmore_listen)
		return false;
	for (unsigned i = 0; i < config_nlisteners(a); i++)
		if (!same_uri(config_listener(a, i), config_listener(b, i)))
			return false;
	return true;
}

static bool same_sources(const struct service_config *a, const struct service_config *b)
{
	if (a->nsources != b->nsources)
		return false;
	for (size_t i = 0; i < a->nsources; i++)
		if (!sockaddr_equal((struct sockaddr *)&a->sources[i],
				    (struct sockaddr *)&b->sources[i]))
			return false;
	return true;
}

static bool same_mount(const struct config_mount *a, const struct config_mount *b)
{
	return a->way == b->way && (a->way != MOUNT_AT || same_uri(&a->at, &b->at));
}

static bool same_value(const struct config_key *key, const void *a, const void *b)
{
	const void *at = (const char *)a + key->offset, *bt = (const char *)b + key->offset;

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		return *(const bool *)at == *(const bool *)bt;
	case CONFIG_KEY_NUMBER:
		return *(const uint32_t *)at == *(const uint32_t *)bt;
	case CONFIG_KEY_CHOICE:
		return *(const int *)at == *(const int *)bt;
	case CONFIG_KEY_NAME:
	case CONFIG_KEY_PATH:
		return !strcmp(*(char *const *)at, *(char *const *)bt);
	case CONFIG_KEY_FOLDER:
		break; /* what is in it counts */
	case CONFIG_KEY_ADDRESS:
	case CONFIG_KEY_PREFIXES:
		return same_prefixes(at, bt);
	case CONFIG_KEY_HOSTS:
		return config_hosts_same(at, bt);
	case CONFIG_KEY_LISTEN:
		return same_listeners(a, b);
	case CONFIG_KEY_CONNECT:
		return same_servers(a, b);
	case CONFIG_KEY_MOUNT:
		return same_mount(at, bt);
	case CONFIG_KEY_SOURCES:
		return same_sources(a, b);
	case CONFIG_KEY_ALLOW:
		return same_allow(a, b);
	case CONFIG_KEY_DEFAULTS:
	case CONFIG_KEY_SERVICES:
		break;
	}
	return true;
}

bool config_service_same(const struct service_config *a, const struct service_config *b)
{
	for (const struct config_key *key = config_service_keys; key->name; key++)
		if (!same_value(key, a, b))
			return false;
	return a->message_bytes == b->message_bytes;
}

/* What was read is let go of. */
static int hold(struct config *config, const struct config *old, const struct config_key *key)
{
	void *to = (char *)config + key->offset;
	const void *from = (const char *)old + key->offset;
	char *copy;

	if (key->type == CONFIG_KEY_NUMBER) {
		*(uint32_t *)to = *(const uint32_t *)from;
		return 0;
	}
	if (key->type == CONFIG_KEY_BOOL) {
		*(bool *)to = *(const bool *)from;
		return 0;
	}
	copy = strdup(*(char *const *)from);
	if (!copy)
		return -ENOMEM;
	free(*(char **)to);
	*(char **)to = copy;
	return 0;
}

int config_hold_fixed(struct config *config, const struct config *old, FILE *held, FILE *errors)
{
	for (const struct config_key *key = config_keys; key->name; key++) {
		if (!key->fixed || same_value(key, config, old))
			continue;
		fprintf(held, "%s\n", key->name);
		if (hold(config, old, key))
			return -ENOMEM;
	}
	if (config->memory_limit_mib < config_memory_least_mib(config)) {
		fprintf(errors,
			"%s: %zu services need memory_limit_mib to be at least %zu, but it is %u "
			"until the daemon is restarted\n",
			config->file, config->nservices, config_memory_least_mib(config),
			config->memory_limit_mib);
		return -EINVAL;
	}
	for (size_t i = 0; i < config->nservices; i++)
		config->services[i].message_bytes =
			config_memory_largest_bytes(config, &config->services[i]);
	return 0;
}
