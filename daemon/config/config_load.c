// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config.h"

#include <dirent.h>
#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_parse.h"
#include "daemon/config/config_preset.h"
#include "daemon/config/config_read.h"
#include "daemon/config/config_services.h"

#define MAX_FILES 1024 /* of include_dir */

/* Each service must get its guaranteed share. Limits messages to the size that fits. */
static void check_memory(struct config_ctx *r, const config_setting_t *root, struct config *config)
{
	const config_setting_t *at = config_setting_get_member(root, "memory_limit_mib");
	size_t least_mib = config_memory_min_mib(config);

	if (config->memory_limit_mib < least_mib) {
		config_report(
			r, at ? at : root,
			"memory_limit_mib is %u, but must be at least %zu: each service (%zu in "
			"all) needs a guaranteed share of %.1f MiB",
			config->memory_limit_mib, least_mib, config->nservices,
			config_memory_guaranteed_bytes() / 1048576.0);
		return;
	}
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		service->message_bytes = config_memory_largest_bytes(config, service);
	}
}

/* The HTTP pages are not public, so beyond loopback the file must list the allowed clients. */
static void check_http(struct config_ctx *r, const config_setting_t *root,
		       const struct config *config)
{
	const struct sockaddr *addr = (const struct sockaddr *)&config->http_listen;

	if (addr->sa_family == AF_UNSPEC)
		return;
	if (config->http_allow.is_set && !config->http_allow.count)
		config_report(r, config_setting_get_member(root, "http_allow"),
			      "http_allow is empty: no client can use http_listen");
	/* The default allows loopback only. */
	if (!config->http_allow.is_set && !config_cidrs_contain(&config->http_allow, addr))
		config_report(
			r, config_setting_get_member(root, "http_listen"),
			"http_listen is not a loopback address: list the allowed clients, e.g. "
			"http_allow = [ \"10.0.0.0/8\" ]");
}

/* ---- include_dir ---- */

/* A file of include_dir, until its errors are complete. */
struct config_source {
	struct config_ctx reader;
	config_t parsed;
};

/* Selects *.conf, but neither hidden files nor leftovers of editors and package managers. */
static int is_taken(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && end && !strcmp(end, ".conf");
}

/* Selects what an administrator can have meant as a file of services. */
static int is_stray(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && entry->d_name[len - 1] != '~' &&
	       strncmp(entry->d_name, "README", strlen("README"));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Remembers the first file of a directory without *.conf, for config_warn(). */
static void note_stray(struct config_ctx *r, const config_setting_t *at, struct config *config)
{
	struct dirent **entries;
	int n = scandir(config->include_dir, &entries, is_stray, by_bytes);

	if (n > 0) {
		config->include_stray = strdup(entries[0]->d_name);
		config->include_place = config_location(r, at);
		r->nomem |= !config->include_stray || !config->include_place;
	}
	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
}

/* Sets config->files to the paths, in byte order. */
static void list_folder(struct config_ctx *r, const config_setting_t *at, struct config *config)
{
	struct dirent **entries;
	int n = scandir(config->include_dir, &entries, is_taken, by_bytes);

	if (n < 0) {
		config_report(r, at, "include_dir: cannot read %s: %s", config->include_dir,
			      strerror(errno));
		return;
	}
	if (!n)
		note_stray(r, at, config);
	if (n > MAX_FILES)
		config_report(r, at, "include_dir: %d files, but at most %d are allowed", n,
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

/* Reads the file, which can contain services only. */
static void source_read(struct config_source *config_source, struct config *config)
{
	const config_setting_t *root = config_root_setting(&config_source->parsed);

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
		const struct config_key *key = config_key_find(config_keys, config_setting_name(s));

		if (key && key->type == CONFIG_KEY_SERVICES)
			config_services_read(&config_source->reader, s, key, config);
		else
			config_report(&config_source->reader, s,
				      "%s: a file of include_dir can contain services only",
				      config_setting_name(s));
	}
}

/* Rejects anything but regular files: reading a pipe without a writer would block. */
static int check_is_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -ENOTSUP;
}

static void source_open(struct config_ctx *r, const config_setting_t *at,
			struct config_source *config_source, const char *path,
			struct config *config)
{
	int err = config_ctx_init(&config_source->reader, path, r->errors);

	config_init(&config_source->parsed);
	config_source->reader.defaults = r->defaults;
	if (!err)
		err = check_is_file(path);
	if (!err)
		err = config_parse(&config_source->reader, &config_source->parsed);
	if (!err)
		source_read(config_source, config);
	else if (err != -EINVAL)
		config_report(r, at, "include_dir: cannot read %s: %s", path,
			      err == -ENOTSUP ? "not a file" : strerror(-err));
}

/* Adds its results to those of the main file. */
static void source_close(struct config_ctx *r, struct config_source *config_source)
{
	r->nerrors += config_source->reader.nerrors;
	r->nmissing_resources += config_source->reader.nmissing_resources;
	r->nomem |= config_source->reader.nomem;
	config_destroy(&config_source->parsed);
}

static void read_folder(struct config_ctx *r, const config_setting_t *root, struct config *config)
{
	const config_setting_t *at = config_setting_get_member(root, "include_dir");
	struct config_source *config_sources;

	if (config->include_dir && config->include_dir[0] == '/')
		list_folder(r, at, config);
	config_sources = calloc(config->nfiles + 1, sizeof(*config_sources));
	if (!config_sources) {
		r->nomem = true;
		return;
	}
	for (size_t i = 0; i < config->nfiles; i++)
		source_open(r, at, &config_sources[i], config->files[i], config);
	/* Check after all files are read: a file can name a port of another one. */
	config_upstreams_check(r, config);
	for (size_t i = 0; i < config->nfiles; i++) {
		config_upstreams_check(&config_sources[i].reader, config);
		source_close(r, &config_sources[i]);
	}
	free(config_sources);
}

static void read_config(struct config_ctx *r, config_t *parsed, struct config *config)
{
	const config_setting_t *root = config_root_setting(parsed);

	config_defaults_read(r, root, config);
	config_group_read(r, root, config_keys, config);
	read_folder(r, root, config);
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		service->file_registered = config->registered;
		if (!service->has_register)
			service->registered = config->registered;
	}
	if (!config->workers)
		config->workers = config_preset(config_key_find(config_keys, "workers"), config);
	host_limits_get(&config->host);
	if (!r->nerrors)
		config_limits_resolve(config);
	check_memory(r, root, config);
	check_http(r, root, config);
}

int config_load(const char *path, FILE *errors, struct config **config)
{
	struct config_ctx r;
	struct config *read;
	config_t parsed;
	int err = config_ctx_init(&r, path, errors);

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
		r.path = read->file; /* services refer to it */
	read_config(&r, &parsed, read);
	if (r.nomem || !read->file)
		goto out_config;
	err = r.nerrors == r.nmissing_resources ? -ENODEV : -EINVAL;
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
