// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file: reading it, and checking what no single value shows. */
#include "daemon/config/config_load.h"

#include <errno.h>
#include <libconfig.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_parse.h"
#include "daemon/config/config_read.h"
#include "daemon/config/config_scope.h"
#include "daemon/config/config_value.h"
#include "daemon/config/own_doors.h"
#include "nfs/table.h"

#define MAX_SERVICES     1024
#define MAX_AUTO_WORKERS 64

static void read_services(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct config *config);

static void report_unknown(struct config_reader *r, const config_setting_t *s,
			   const struct config_key *keys)
{
	const struct config_key *elsewhere =
		keys == config_keys ? config_service_keys : config_keys;
	const struct config_key *nearest = config_key_nearest(keys, config_setting_name(s));

	if (config_key_find(elsewhere, config_setting_name(s)))
		config_report(r, s, "%s belongs %s", config_setting_name(s),
			      keys == config_keys ? "into a service"
						  : "at the top, outside the services");
	else if (nearest)
		config_report(r, s, "unknown key %s: is %s meant?", config_setting_name(s),
			      nearest->name);
	else
		config_report(r, s, "unknown key %s", config_setting_name(s));
}

/* Whether the group has a key that the other's name is told for. */
static bool is_misspelt(const config_setting_t *group, const struct config_key *keys,
			const struct config_key *key)
{
	for (int i = 0; i < config_setting_length(group); i++) {
		const char *name = config_setting_name(config_setting_get_elem(group, (unsigned)i));

		if (!config_key_find(keys, name) && config_key_nearest(keys, name) == key)
			return true;
	}
	return false;
}

/* Reads one group by its table. */
static void read_group(struct config_reader *r, const config_setting_t *group,
		       const struct config_key *keys, void *base)
{
	int n = config_setting_length(group);

	for (const struct config_key *key = keys; key->name; key++)
		config_value_preset(r, key, base);
	for (int i = 0; i < n; i++) {
		const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
		const struct config_key *key = config_key_find(keys, config_setting_name(s));

		if (!key)
			report_unknown(r, s, keys);
		else if (key->type == CONFIG_KEY_SERVICES)
			read_services(r, s, key, base);
		else if (key->type == CONFIG_KEY_DEFAULTS)
			continue; /* they have been read: services may stand before them */
		else
			config_value_read(r, s, key, base);
	}
	for (const struct config_key *key = keys; key->name; key++)
		if (key->mandatory && !config_setting_get_member(group, key->name) &&
		    !is_misspelt(group, keys, key))
			config_report(r, group, "%s is missing in this service", key->name);
}

static bool is_false(const config_setting_t *s)
{
	return config_setting_type(s) == CONFIG_TYPE_BOOL && !config_setting_get_bool(s);
}

/* A6.2-8: no Call to it is passed on, so it must not be what clients want of the server. */
static void check_config_program(struct config_reader *r, const config_setting_t *group,
				 const struct service_config *service)
{
	const config_setting_t *s = config_setting_get_member(group, "config_program");
	const char *name = nfs_program_name(service->config_program);

	if (s && name)
		config_report(r, s, "config_program is %u, which is the number of %s",
			      service->config_program, name);
}

/* ---- defaults ---- */

/* Where a key of a service has its value from; NULL: the file does not say it. */
static const config_setting_t *said(const struct config_reader *r, const config_setting_t *group,
				    const char *name)
{
	const config_setting_t *own = config_setting_get_member(group, name);

	return own || !r->defaults ? own : config_setting_get_member(r->defaults, name);
}

static void check_default(struct config_reader *r, const config_setting_t *s,
			  struct service_config *scratch)
{
	const struct config_key *key = config_key_find(config_service_keys, config_setting_name(s));

	if (!key)
		report_unknown(r, s, config_service_keys);
	else if (key->mandatory)
		config_report(r, s, "%s is each service's own: it cannot have a default",
			      key->name);
	else
		config_value_read(r, s, key, scratch);
}

/* They are looked at once, and not again for each service. With an error among them there are none. */
static void read_defaults(struct config_reader *r, const config_setting_t *root)
{
	const config_setting_t *group = config_setting_get_member(root, "defaults");
	struct service_config scratch = {0};
	unsigned before = r->nerrors;

	if (!group)
		return;
	if (!config_setting_is_group(group)) {
		config_report(r, group, "defaults must be a group { }, not %s",
			      config_type_text(group));
		return;
	}
	for (int i = 0; i < config_setting_length(group); i++)
		check_default(r, config_setting_get_elem(group, (unsigned)i), &scratch);
	free(scratch.allow);
	if (r->nerrors == before)
		r->defaults = group;
}

/* What the service does not say itself, as far as it means something there. */
static void apply_defaults(struct config_reader *r, const config_setting_t *group,
			   struct service_config *service)
{
	if (!r->defaults || !service->listen.host || !service->connect.host)
		return;
	for (int i = 0; i < config_setting_length(r->defaults); i++) {
		const config_setting_t *s = config_setting_get_elem(r->defaults, (unsigned)i);
		const struct config_key *key =
			config_key_find(config_service_keys, config_setting_name(s));

		if (!config_setting_get_member(group, key->name) &&
		    config_in_scope(service, key->scope))
			config_value_read(r, s, key, service);
	}
}

/* What cannot be said of one key alone. */
static void check_service(struct config_reader *r, const config_setting_t *group,
			  struct service_config *service)
{
	if (!service->listen.host || !service->connect.host)
		return; /* already reported; what the service is remains unknown */
	if (!said(r, group, "require_privileged_port"))
		service->require_privileged_port = service->listen.transport == TRANSPORT_TCP &&
						   service->connect.transport != TRANSPORT_TCP;
	service->has_register = said(r, group, "register");
	for (const struct config_key *key = config_service_keys; key->name; key++) {
		const config_setting_t *s = config_setting_get_member(group, key->name);

		/* What is switched off may be off anywhere. */
		if (s && !config_in_scope(service, key->scope) && !is_false(s))
			config_report(r, s, "%s %s", key->name, config_scope_text(key->scope));
	}
	if (service->inline_threshold_bytes > service->max_message_bytes)
		config_report(r, group, "inline_threshold_bytes is above max_message_bytes (%u)",
			      service->max_message_bytes);
	check_config_program(r, group, service);
}

static void check_unique(struct config_reader *r, const config_setting_t *group,
			 const struct config *config, const struct service_config *service)
{
	const config_setting_t *name = config_setting_get_member(group, "name");
	const config_setting_t *listen = config_setting_get_member(group, "listen");

	for (const struct service_config *other = config->services; other < service; other++) {
		if (service->name && other->name && !strcmp(service->name, other->name))
			config_report(r, name, "name \"%s\" is taken by the service of line %d",
				      service->name, other->line);
		if (service->listen.host && other->listen.host &&
		    config_uri_overlaps(&service->listen, &other->listen))
			config_report(r, listen,
				      "listen: the service of line %d has that port already",
				      other->line);
	}
}

/* Once all listeners are known. @list: each group of it that is one has its service, in order. */
static void check_upstreams(struct config_reader *r, const config_setting_t *list,
			    const struct config *config)
{
	const struct service_config *service = config->services;

	for (int i = 0; i < config_setting_length(list); i++) {
		const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
		const struct service_config *own;

		if (!config_setting_is_group(group))
			continue;
		own = service->connect.host ? own_doors_of(config, service) : NULL;
		if (own)
			config_report(r, config_setting_get_member(group, "connect"),
				      "connect: the service of line %d listens there: the daemon "
				      "would be its own upstream",
				      own->line);
		service++;
	}
}

static void read_services(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct config *config)
{
	int n = config_setting_length(s);

	/* An empty list may be written as an empty array. */
	if (!config_setting_is_list(s) && !(config_setting_is_array(s) && n == 0)) {
		config_report(r, s, "%s must be a list of groups: ( { ... }, { ... } ), not %s",
			      key->name, config_type_text(s));
		return;
	}
	if (n > MAX_SERVICES) {
		config_report(r, s, "there are %d services, but may be %d", n, MAX_SERVICES);
		return;
	}
	config->services = calloc((size_t)n + 1, sizeof(*config->services));
	if (!config->services) {
		r->nomem = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		const config_setting_t *group = config_setting_get_elem(s, (unsigned)i);
		struct service_config *service = &config->services[config->nservices];

		if (!config_setting_is_group(group)) {
			config_report(r, group, "a service must be a group { }, not %s",
				      config_type_text(group));
			continue;
		}
		config->nservices++;
		service->line = config_setting_source_line(group);
		read_group(r, group, config_service_keys, service);
		apply_defaults(r, group, service);
		check_service(r, group, service);
		check_unique(r, group, config, service);
	}
	check_upstreams(r, s, config);
}

static uint32_t cores(void)
{
	cpu_set_t set;
	long n = sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
							 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > MAX_AUTO_WORKERS ? MAX_AUTO_WORKERS : (uint32_t)n;
}

/* Each service must have its own part; what is larger may have to be cut to what fits. */
static void check_memory(struct config_reader *r, const config_setting_t *root,
			 struct config *config)
{
	const config_setting_t *at = config_setting_get_member(root, "memory_limit_mib");
	size_t least_mib = config_memory_least_mib(config);

	if (config->memory_limit_mib < least_mib) {
		config_report(
			r, at ? at : root,
			"memory_limit_mib is %u, but must be at least %zu: each service (%zu in "
			"all) has %.1f MiB of it for itself",
			config->memory_limit_mib, least_mib, config->nservices,
			config_memory_own_bytes() / 1048576.0);
		return;
	}
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		service->message_bytes = config_memory_largest_bytes(config, service);
	}
}

static void read_config(struct config_reader *r, config_t *parsed, struct config *config)
{
	const config_setting_t *root = config_root_setting(parsed);

	read_defaults(r, root);
	read_group(r, root, config_keys, config);
	for (size_t i = 0; i < config->nservices; i++)
		if (!config->services[i].has_register)
			config->services[i].registered = config->registered;
	if (!config->workers)
		config->workers = cores();
	check_memory(r, root, config);
}

int config_load(const char *path, FILE *errors, struct config **config)
{
	struct config_reader r;
	struct config *read;
	config_t parsed;
	int err = config_reader_init(&r, path, errors);

	if (err)
		return err;
	config_init(&parsed);
	err = config_parse(&r, &parsed);
	if (err)
		goto out_parsed;
	err = -ENOMEM;
	read = calloc(1, sizeof(*read));
	if (!read)
		goto out_parsed;
	read->file = strdup(path);
	read_config(&r, &parsed, read);
	if (r.nomem || !read->file)
		goto out_config;
	err = r.nerrors == r.nabsent ? -ENODEV : -EINVAL;
	if (r.nerrors)
		goto out_config;
	*config = read;
	config_destroy(&parsed);
	return 0;
out_config:
	config_free(read);
out_parsed:
	config_destroy(&parsed);
	return err;
}
