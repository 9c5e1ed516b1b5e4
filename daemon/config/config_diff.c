// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_print.h"

/* Returns the value of a key, or @all values from it to the end of its table, in file syntax. */
static char *values_text(const struct config_key *key, bool all, const void *base)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	do {
		config_print_value(key, base, out);
		fputc('\n', out);
	} while (all && (++key)->name);
	fclose(out);
	return text;
}

/* Returns false also if memory ran out: then the reload fails. */
static bool same_values(const struct config_key *key, bool all, const void *a, const void *b)
{
	char *one = values_text(key, all, a), *other = values_text(key, all, b);
	bool same = one && other && !strcmp(one, other);

	free(one);
	free(other);
	return same;
}

bool config_service_equal(const struct service_config *a, const struct service_config *b)
{
	return a->has_allow == b->has_allow && a->message_bytes == b->message_bytes &&
	       same_values(config_service_keys, true, a, b);
}

/* Replaces the new value by the old one. */
static int keep_fixed_key(struct config *config, const struct config *old,
			  const struct config_key *key)
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

int config_keep_restart_keys(struct config *config, const struct config *old, FILE *not_applied,
			     FILE *errors)
{
	for (const struct config_key *key = config_keys; key->name; key++) {
		if (!key->fixed || same_values(key, false, config, old))
			continue;
		fprintf(not_applied, "%s\n", key->name);
		if (keep_fixed_key(config, old, key))
			return -ENOMEM;
	}
	config->io_flusher_denied = old->io_flusher_denied;
	/* So that unchanged services keep their number. */
	config->host = old->host;
	config_limits_resolve(config);
	if (config->memory_limit_mib < config_memory_min_mib(config)) {
		fprintf(errors,
			"%s: %zu services need memory_limit_mib to be at least %zu, but it is %u "
			"until the daemon is restarted\n",
			config->file, config->nservices, config_memory_min_mib(config),
			config->memory_limit_mib);
		return -EINVAL;
	}
	for (size_t i = 0; i < config->nservices; i++)
		config->services[i].message_bytes =
			config_memory_largest_bytes(config, &config->services[i]);
	return 0;
}
