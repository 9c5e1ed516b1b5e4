// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file: reading it, and checking what no single value shows. */
#include "daemon/config/config_load.h"

#include <dirent.h>
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
#define MAX_FILES        1024 /* of include_dir */
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

#define PLACE_BYTES (PATH_MAX + 16u)

/* "line 5", or "/etc/d/a.conf:5" of another file. */
static const char *place_of(const struct config_reader *r, const struct service_config *service,
			    char text[PLACE_BYTES])
{
	if (!strcmp(service->file, r->path))
		snprintf(text, PLACE_BYTES, "line %d", service->line);
	else
		snprintf(text, PLACE_BYTES, "%s:%d", service->file, service->line);
	return text;
}

static void check_unique(struct config_reader *r, const config_setting_t *group,
			 const struct config *config, const struct service_config *service)
{
	const config_setting_t *name = config_setting_get_member(group, "name");
	const config_setting_t *listen = config_setting_get_member(group, "listen");
	char place[PLACE_BYTES];

	for (const struct service_config *other = config->services; other < service; other++) {
		if (service->name && other->name && !strcmp(service->name, other->name))
			config_report(r, name, "name \"%s\" is taken by the service of %s",
				      service->name, place_of(r, other, place));
		if (service->listen.host && other->listen.host &&
		    config_uri_overlaps(&service->listen, &other->listen))
			config_report(r, listen, "listen: the service of %s has that port already",
				      place_of(r, other, place));
	}
}

/* Once all listeners are known: each group of the reader's list that is one has its service, in order. */
static void check_upstreams(struct config_reader *r, const struct config *config)
{
	const config_setting_t *list = r->services;
	const struct service_config *service = config->services + r->first;
	char place[PLACE_BYTES];

	if (!list)
		return;
	for (int i = 0; i < config_setting_length(list); i++) {
		const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
		const struct service_config *own;

		if (!config_setting_is_group(group))
			continue;
		own = service->connect.host ? own_doors_of(config, service) : NULL;
		if (own)
			config_report(r, config_setting_get_member(group, "connect"),
				      "connect: the service of %s listens there: the daemon "
				      "would be its own upstream",
				      place_of(r, own, place));
		service++;
	}
}

/* For @n services more. */
static bool make_room(struct config *config, size_t n)
{
	struct service_config *more = reallocarray(config->services, config->nservices + n + 1,
						   sizeof(*config->services));

	if (!more)
		return false;
	memset(&more[config->nservices], 0, (n + 1) * sizeof(*more));
	config->services = more;
	return true;
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
	if (config->nservices + (size_t)n > MAX_SERVICES) {
		config_report(r, s, "there are %zu services, but may be %d",
			      config->nservices + (size_t)n, MAX_SERVICES);
		return;
	}
	if (!make_room(config, (size_t)n)) {
		r->nomem = true;
		return;
	}
	r->services = s;
	r->first = config->nservices;
	for (int i = 0; i < n; i++) {
		const config_setting_t *group = config_setting_get_elem(s, (unsigned)i);
		struct service_config *service = &config->services[config->nservices];

		if (!config_setting_is_group(group)) {
			config_report(r, group, "a service must be a group { }, not %s",
				      config_type_text(group));
			continue;
		}
		config->nservices++;
		service->file = r->path;
		service->line = config_setting_source_line(group);
		read_group(r, group, config_service_keys, service);
		apply_defaults(r, group, service);
		check_service(r, group, service);
		check_unique(r, group, config, service);
	}
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

/* ---- the folder ---- */

/* One of its files, as long as errors may be told of it. */
struct part {
	struct config_reader reader;
	config_t parsed;
};

/* No file that an editor or a package manager has left, and none that is hidden. */
static int is_taken(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && end && !strcmp(end, ".conf");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The paths of the files, in the order of their bytes, into the configuration. */
static void list_folder(struct config_reader *r, const config_setting_t *at, struct config *config)
{
	struct dirent **entries;
	int n = scandir(config->include_dir, &entries, is_taken, by_bytes);

	if (n < 0) {
		config_report(r, at, "include_dir: cannot read %s: %s", config->include_dir,
			      strerror(errno));
		return;
	}
	if (n > MAX_FILES)
		config_report(r, at, "include_dir: there are %d files, but may be %d", n,
			      MAX_FILES);
	config->files = calloc((size_t)n + 1, sizeof(*config->files));
	for (int i = 0; i < n; i++) {
		char *path;

		if (config->files && n <= MAX_FILES &&
		    asprintf(&path, "%s/%s", config->include_dir, entries[i]->d_name) >= 0)
			config->files[config->nfiles++] = path;
		free(entries[i]);
	}
	free(entries);
	if (!config->files || (n <= MAX_FILES && config->nfiles < (size_t)n))
		r->nomem = true;
}

/* It has services, and nothing else. */
static void read_part(struct part *part, struct config *config)
{
	const config_setting_t *root = config_root_setting(&part->parsed);

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
		const struct config_key *key = config_key_find(config_keys, config_setting_name(s));

		if (key && key->type == CONFIG_KEY_SERVICES)
			read_services(&part->reader, s, key, config);
		else
			config_report(&part->reader, s,
				      "%s: a file of include_dir has services, and nothing else",
				      config_setting_name(s));
	}
}

static void open_part(struct config_reader *r, const config_setting_t *at, struct part *part,
		      const char *path, struct config *config)
{
	int err = config_reader_init(&part->reader, path, r->errors);

	config_init(&part->parsed);
	part->reader.defaults = r->defaults;
	if (!err)
		err = config_parse(&part->reader, &part->parsed);
	if (!err)
		read_part(part, config);
	else if (err != -EINVAL)
		config_report(r, at, "include_dir: cannot read %s: %s", path, strerror(-err));
}

/* What its reader has found is the whole reading's. */
static void close_part(struct config_reader *r, struct part *part)
{
	r->nerrors += part->reader.nerrors;
	r->nabsent += part->reader.nabsent;
	r->nomem |= part->reader.nomem;
	config_destroy(&part->parsed);
}

static void read_folder(struct config_reader *r, const config_setting_t *root,
			struct config *config)
{
	const config_setting_t *at = config_setting_get_member(root, "include_dir");
	struct part *parts;

	if (config->include_dir && config->include_dir[0] == '/')
		list_folder(r, at, config);
	parts = calloc(config->nfiles + 1, sizeof(*parts));
	if (!parts) {
		r->nomem = true;
		return;
	}
	for (size_t i = 0; i < config->nfiles; i++)
		open_part(r, at, &parts[i], config->files[i], config);
	/* Of all files: each of them may name a port of another. */
	check_upstreams(r, config);
	for (size_t i = 0; i < config->nfiles; i++) {
		check_upstreams(&parts[i].reader, config);
		close_part(r, &parts[i]);
	}
	free(parts);
}

static void read_config(struct config_reader *r, config_t *parsed, struct config *config)
{
	const config_setting_t *root = config_root_setting(parsed);

	read_defaults(r, root);
	read_group(r, root, config_keys, config);
	read_folder(r, root, config);
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
	if (read->file)
		r.path = read->file; /* services say where they stand */
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
