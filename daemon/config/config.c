// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file: reading, checking, and what it decides about addresses. */
#include "daemon/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_scan.h"
#include "daemon/config/config_value.h"
#include "leg/exchange.h"

#define NAME_MAX_BYTES   64u
#define MAX_SERVICES     1024
#define MAX_FILE_BYTES   (1024u * 1024u)
#define MAX_ALLOW        1024
#define MAX_AUTO_WORKERS 64

/* One reading of a file. */
struct reader {
	const char *path;
	FILE *errors;
	unsigned nerrors;
	bool nomem;
};

/* One error, at @setting; config_setting_t keeps no file name for the main file. */
static void PRINTF_LIKE(3, 4)
	report(struct reader *r, const config_setting_t *setting, const char *format, ...)
{
	const char *file = config_setting_source_file(setting);
	unsigned line = config_setting_source_line(setting);
	va_list ap;

	r->nerrors++;
	fprintf(r->errors, "%s:%u: ", file ? file : r->path, line ? line : 1);
	va_start(ap, format);
	vfprintf(r->errors, format, ap);
	va_end(ap);
	fputc('\n', r->errors);
}

static const char *type_text(const config_setting_t *setting)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_GROUP:
		return "a group { }";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a number";
	case CONFIG_TYPE_FLOAT:
		return "a fraction";
	case CONFIG_TYPE_STRING:
		return "a string";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_ARRAY:
		return "an array [ ]";
	case CONFIG_TYPE_LIST:
		return "a list ( )";
	default:
		return "nothing";
	}
}

static void report_type(struct reader *r, const config_setting_t *s, const struct config_key *key,
			const char *wanted)
{
	report(r, s, "%s must be %s, not %s", key->name, wanted, type_text(s));
}

/* A copy of the setting's string; NULL after a report. */
static char *string_value(struct reader *r, const config_setting_t *s, const struct config_key *key)
{
	const char *text = config_setting_get_string(s);
	char *copy;

	if (!text) {
		report_type(r, s, key, "a string in quotes");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		r->nomem = true;
	return copy;
}

static void read_number(struct reader *r, const config_setting_t *s, const struct config_key *key,
			uint32_t *value)
{
	const char *unit = key->unit ? key->unit : "";
	const char *space = key->unit ? " " : "";
	long long n = config_setting_get_int64(s);
	int type = config_setting_type(s);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		report_type(r, s, key, "a whole number");
	else if (n < key->min || n > key->max)
		report(r, s, "%s is %lld, but must be from %u to %u%s%s", key->name, n, key->min,
		       key->max, space, unit);
	else if (key->multiple && n % key->multiple)
		report(r, s, "%s is %lld, but must be a multiple of %u", key->name, n,
		       key->multiple);
	else
		*value = (uint32_t)n;
}

static void read_choice(struct reader *r, const config_setting_t *s, const struct config_key *key,
			int *value)
{
	const char *text = config_setting_get_string(s);
	char all[200] = "";

	for (int i = 0; text && key->choices[i]; i++) {
		if (!strcmp(key->choices[i], text)) {
			*value = i;
			return;
		}
	}
	for (int i = 0; key->choices[i]; i++) {
		size_t at = strlen(all);

		const char *between = !i ? "" : key->choices[i + 1] ? ", " : " or ";

		snprintf(all + at, sizeof(all) - at, "%s\"%s\"", between, key->choices[i]);
	}
	if (text)
		report(r, s, "%s is \"%s\", but must be %s", key->name, text, all);
	else
		report_type(r, s, key, all);
}

static void read_name(struct reader *r, const config_setting_t *s, const struct config_key *key,
		      char **value)
{
	char *text = string_value(r, s, key);

	if (!text)
		return;
	*value = text;
	if (!*text || strlen(text) > NAME_MAX_BYTES)
		report(r, s, "%s must have from 1 to %u letters", key->name, NAME_MAX_BYTES);
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text)) {
			report(r, s, "%s may have letters, digits, '.', '_' and '-' only",
			       key->name);
			return;
		}
	}
}

static void read_path(struct reader *r, const config_setting_t *s, const struct config_key *key,
		      char **value)
{
	const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	char *text = string_value(r, s, key);

	if (!text)
		return;
	if (text[0] != '/')
		report(r, s, "%s must be an absolute path", key->name);
	else if (strlen(text) > max)
		report(r, s, "%s must have at most %zu bytes, the length of a socket's address",
		       key->name, max);
	free(*value);
	*value = text;
}

static void read_uri(struct reader *r, const config_setting_t *s, const struct config_key *key,
		     struct config_uri *value)
{
	char *text = string_value(r, s, key);
	const char *wrong;

	if (!text)
		return;
	wrong = config_uri_parse(text, key->type == CONFIG_KEY_LISTEN, value);
	if (!wrong && value->transport == TRANSPORT_VERBS)
		wrong = config_verbs_missing();
	if (wrong)
		report(r, s, "%s: %s", key->name, wrong);
	free(text);
}

static void read_allow(struct reader *r, const config_setting_t *s, const struct config_key *key,
		       struct service_config *service)
{
	int n = config_setting_length(s);

	service->has_allow = true;
	if (!config_setting_is_array(s) && !config_setting_is_list(s)) {
		report_type(r, s, key, "an array of strings: [ \"10.0.0.0/8\" ]");
		return;
	}
	if (n > MAX_ALLOW) {
		report(r, s, "%s has %d entries, but may have %d", key->name, n, MAX_ALLOW);
		return;
	}
	service->allow = calloc((size_t)n + 1, sizeof(*service->allow));
	if (!service->allow) {
		r->nomem = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		const config_setting_t *elem = config_setting_get_elem(s, (unsigned)i);
		const char *text = config_setting_get_string(elem);
		const char *wrong;

		if (!text) {
			report_type(r, elem, key, "an array of strings");
			continue;
		}
		wrong = config_cidr_parse(text, &service->allow[service->nallow]);
		if (wrong)
			report(r, elem, "%s: %s", key->name, wrong);
		else
			service->nallow++;
	}
}

static void read_services(struct reader *r, const config_setting_t *s, const struct config_key *key,
			  struct config *config);

/* @base: the struct config or struct service_config that the key belongs to. */
static void read_key(struct reader *r, const config_setting_t *s, const struct config_key *key,
		     void *base)
{
	void *value = (char *)base + key->offset;

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		if (config_setting_type(s) == CONFIG_TYPE_BOOL)
			*(bool *)value = config_setting_get_bool(s);
		else
			report_type(r, s, key, "true or false");
		break;
	case CONFIG_KEY_NUMBER:
		read_number(r, s, key, value);
		break;
	case CONFIG_KEY_CHOICE:
		read_choice(r, s, key, value);
		break;
	case CONFIG_KEY_NAME:
		read_name(r, s, key, value);
		break;
	case CONFIG_KEY_PATH:
		read_path(r, s, key, value);
		break;
	case CONFIG_KEY_LISTEN:
	case CONFIG_KEY_CONNECT:
		read_uri(r, s, key, value);
		break;
	case CONFIG_KEY_ALLOW:
		read_allow(r, s, key, base);
		break;
	case CONFIG_KEY_SERVICES:
		read_services(r, s, key, base);
		break;
	}
}

static void set_default(struct reader *r, const struct config_key *key, void *base)
{
	void *value = (char *)base + key->offset;

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		*(bool *)value = key->value;
		break;
	case CONFIG_KEY_NUMBER:
		*(uint32_t *)value = key->value;
		break;
	case CONFIG_KEY_CHOICE:
		*(int *)value = (int)key->value;
		break;
	case CONFIG_KEY_PATH:
		*(char **)value = strdup(key->preset);
		if (!*(char **)value)
			r->nomem = true;
		break;
	default:
		break; /* all zero */
	}
}

static void report_unknown(struct reader *r, const config_setting_t *s,
			   const struct config_key *keys)
{
	const struct config_key *elsewhere =
		keys == config_keys ? config_service_keys : config_keys;
	const struct config_key *nearest = config_key_nearest(keys, config_setting_name(s));

	if (config_key_find(elsewhere, config_setting_name(s)))
		report(r, s, "%s belongs %s", config_setting_name(s),
		       keys == config_keys ? "into a service" : "at the top, outside the services");
	else if (nearest)
		report(r, s, "unknown key %s: is %s meant?", config_setting_name(s), nearest->name);
	else
		report(r, s, "unknown key %s", config_setting_name(s));
}

/* Reads one group by its table. */
static void read_group(struct reader *r, const config_setting_t *group,
		       const struct config_key *keys, void *base)
{
	int n = config_setting_length(group);

	for (const struct config_key *key = keys; key->name; key++)
		set_default(r, key, base);
	for (int i = 0; i < n; i++) {
		const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
		const struct config_key *key = config_key_find(keys, config_setting_name(s));

		if (key)
			read_key(r, s, key, base);
		else
			report_unknown(r, s, keys);
	}
	for (const struct config_key *key = keys; key->name; key++)
		if (key->mandatory && !config_setting_get_member(group, key->name))
			report(r, group, "%s is missing in this service", key->name);
}

static bool in_scope(const struct service_config *service, enum config_key_scope scope)
{
	enum transport a = service->listen.transport, b = service->connect.transport;

	switch (scope) {
	case CONFIG_SCOPE_ANY_RDMA:
		return a != TRANSPORT_TCP || b != TRANSPORT_TCP;
	case CONFIG_SCOPE_ANY_IWARP:
		return a == TRANSPORT_RDMA || a == TRANSPORT_IWARP || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_IWARP;
	case CONFIG_SCOPE_ANY_VERBS:
		return a == TRANSPORT_RDMA || a == TRANSPORT_VERBS || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_VERBS;
	case CONFIG_SCOPE_LISTEN_TCP:
		return a == TRANSPORT_TCP;
	case CONFIG_SCOPE_CONNECT_TCP:
		return b == TRANSPORT_TCP;
	case CONFIG_SCOPE_CONNECT_RDMA:
		return b != TRANSPORT_TCP;
	default:
		return true;
	}
}

static bool is_false(const config_setting_t *s)
{
	return config_setting_type(s) == CONFIG_TYPE_BOOL && !config_setting_get_bool(s);
}

/* What cannot be said of one key alone. */
static void check_service(struct reader *r, const config_setting_t *group,
			  struct service_config *service)
{
	if (!service->listen.host || !service->connect.host)
		return; /* already reported; what the service is remains unknown */
	if (!config_setting_get_member(group, "require_privileged_port"))
		service->require_privileged_port = service->listen.transport == TRANSPORT_TCP &&
						   service->connect.transport != TRANSPORT_TCP;
	for (const struct config_key *key = config_service_keys; key->name; key++) {
		const config_setting_t *s = config_setting_get_member(group, key->name);

		/* What is switched off may be off anywhere. */
		if (s && !in_scope(service, key->scope) && !is_false(s))
			report(r, s, "%s %s", key->name, config_scope_text(key->scope));
	}
	if (service->inline_threshold_bytes > service->max_message_bytes)
		report(r, group, "inline_threshold_bytes is above max_message_bytes (%u)",
		       service->max_message_bytes);
}

static void check_unique(struct reader *r, const config_setting_t *group,
			 const struct config *config, const struct service_config *service)
{
	const config_setting_t *name = config_setting_get_member(group, "name");
	const config_setting_t *listen = config_setting_get_member(group, "listen");

	for (const struct service_config *other = config->services; other < service; other++) {
		if (service->name && other->name && !strcmp(service->name, other->name))
			report(r, name, "name \"%s\" is taken by the service of line %d",
			       service->name, other->line);
		if (service->listen.host && other->listen.host &&
		    config_uri_overlaps(&service->listen, &other->listen))
			report(r, listen, "listen: the service of line %d has that port already",
			       other->line);
	}
}

static void read_services(struct reader *r, const config_setting_t *s, const struct config_key *key,
			  struct config *config)
{
	int n = config_setting_length(s);

	/* An empty list may be written as an empty array. */
	if (!config_setting_is_list(s) && !(config_setting_is_array(s) && n == 0)) {
		report_type(r, s, key, "a list of groups: ( { ... }, { ... } )");
		return;
	}
	if (n > MAX_SERVICES) {
		report(r, s, "there are %d services, but may be %d", n, MAX_SERVICES);
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
			report(r, group, "a service must be a group { }, not %s", type_text(group));
			continue;
		}
		config->nservices++;
		service->line = config_setting_source_line(group);
		read_group(r, group, config_service_keys, service);
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

/* What has been admitted must be able to finish: one largest Call and its reply in each worker. */
static void check_memory(struct reader *r, const config_setting_t *root,
			 const struct config *config)
{
	const config_setting_t *at = config_setting_get_member(root, "memory_limit_mib");
	size_t rpc_bytes = 0, least_mib;

	for (size_t i = 0; i < config->nservices; i++) {
		size_t cost = 2 * rpc_msg_cost_bytes(config->services[i].max_message_bytes);

		if (cost > rpc_bytes)
			rpc_bytes = cost;
	}
	least_mib = (rpc_bytes * config->workers + 1048575) / 1048576;
	if (config->memory_limit_mib < least_mib)
		report(r, at ? at : root,
		       "memory_limit_mib is %u, but must be at least %zu: each of %u workers needs "
		       "room for one largest Call and its reply",
		       config->memory_limit_mib, least_mib, config->workers);
}

static void read_config(struct reader *r, config_t *parsed, struct config *config)
{
	const config_setting_t *root = config_root_setting(parsed);

	read_group(r, root, config_keys, config);
	if (!config->workers)
		config->workers = cores();
	check_memory(r, root, config);
}

/* The whole file, which may be a pipe: it is read once and gone through twice. */
static int slurp(const char *path, char **out)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t len;
	int err = 0;

	if (!file)
		return -errno;
	text = malloc(MAX_FILE_BYTES + 1);
	errno = 0;
	len = text ? fread(text, 1, MAX_FILE_BYTES + 1, file) : 0;
	if (!text || ferror(file))
		err = errno ? -errno : -EIO;
	else if (len > MAX_FILE_BYTES)
		err = -EFBIG;
	else
		text[len] = '\0';
	/* What stands behind a zero byte would go unread. */
	if (!err && strlen(text) != len)
		err = -EILSEQ;
	fclose(file);
	if (err)
		free(text);
	else
		*out = text;
	return err;
}

static void too_large(void *arg, unsigned line, const char *digits)
{
	struct reader *r = arg;

	r->nerrors++;
	fprintf(r->errors, "%s:%u: %s is too large a number\n", r->path, line, digits);
}

/* Parses the file; @include is relative to the directory that the file is in. */
static int parse(struct reader *r, config_t *parsed)
{
	char dir[PATH_MAX], *text = NULL;
	const char *file;
	int err;

	err = slurp(r->path, &text);
	if (err)
		return err;
	config_scan_numbers(text, too_large, r);
	snprintf(dir, sizeof(dir), "%s", r->path);
	config_set_include_dir(parsed, dirname(dir));
	if (!config_read_string(parsed, text)) {
		file = config_error_file(parsed);
		fprintf(r->errors, "%s:%d: %s\n", file ? file : r->path, config_error_line(parsed),
			config_error_text(parsed));
		err = -EINVAL;
	}
	free(text);
	return err;
}

int config_load(const char *path, FILE *errors, struct config **config)
{
	struct reader r = {.path = path, .errors = errors};
	struct config *read;
	config_t parsed;
	int err;

	config_init(&parsed);
	err = parse(&r, &parsed);
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
	err = -EINVAL;
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

void config_free(struct config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		free(service->name);
		config_uri_fini(&service->listen);
		config_uri_fini(&service->connect);
		free(service->allow);
	}
	free(config->services);
	free(config->control);
	free(config->file);
	free(config);
}
