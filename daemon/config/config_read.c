// SPDX-License-Identifier: BSD-3-Clause
/* The values of the configuration file, by the type of their key. */
#include "daemon/config/config_read.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "daemon/base/resolver.h"
#include "daemon/config/config.h"
#include "daemon/config/config_read_lists.h"
#include "daemon/config/config_type.h"
#include "daemon/config/config_value.h"

/* A copy of the setting's string; NULL after a report. */
static char *string_value(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key)
{
	const char *text = config_setting_get_string(s);
	char *copy;

	if (!text) {
		config_report_type(r, s, key, "a string in quotes");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		r->nomem = true;
	return copy;
}

static void read_bool(struct config_reader *r, const config_setting_t *s,
		      const struct config_key *key, bool *value)
{
	if (config_setting_type(s) == CONFIG_TYPE_BOOL)
		*value = config_setting_get_bool(s);
	else
		config_report_type(r, s, key, "true or false");
}

static void read_number(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, uint32_t *value)
{
	const char *unit = key->unit ? key->unit : "";
	const char *space = key->unit ? " " : "";
	long long n = config_setting_get_int64(s);
	int type = config_setting_type(s);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		config_report_type(r, s, key, "a whole number");
	else if (n < key->min || n > key->max)
		config_report(r, s, "%s is %lld, but must be from %u to %u%s%s", key->name, n,
			      key->min, key->max, space, unit);
	else if (key->multiple && n % key->multiple)
		config_report(r, s, "%s is %lld, but must be a multiple of %u", key->name, n,
			      key->multiple);
	else
		*value = (uint32_t)n;
}

static void read_choice(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, int *value)
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
		config_report(r, s, "%s is \"%s\", but must be %s", key->name, text, all);
	else
		config_report_type(r, s, key, all);
}

static void read_name(struct config_reader *r, const config_setting_t *s,
		      const struct config_key *key, char **value)
{
	char *text = string_value(r, s, key);

	if (!text)
		return;
	*value = text;
	if (!*text || strlen(text) > CONFIG_NAME_MAX_BYTES) {
		config_report(r, s, "%s must have from 1 to %u letters", key->name,
			      CONFIG_NAME_MAX_BYTES);
		return;
	}
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text)) {
			config_report(r, s, "%s may have letters, digits, '.', '_' and '-' only",
				      key->name);
			return;
		}
	}
}

static void read_path(struct config_reader *r, const config_setting_t *s,
		      const struct config_key *key, char **value)
{
	const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	char *text = string_value(r, s, key);

	if (!text)
		return;
	if (text[0] != '/')
		config_report(r, s, "%s must be an absolute path", key->name);
	else if (strlen(text) > max)
		config_report(r, s,
			      "%s must have at most %zu bytes, the length of a socket's address",
			      key->name, max);
	free(*value);
	*value = text;
}

static void read_folder(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, char **value)
{
	char *text = string_value(r, s, key);

	if (!text)
		return;
	if (text[0] != '/')
		config_report(r, s, "%s must be an absolute path", key->name);
	*value = text;
}

static void read_uri(struct config_reader *r, const config_setting_t *s,
		     const struct config_key *key, struct config_uri *value)
{
	char *text = string_value(r, s, key);
	const char *wrong;

	if (!text)
		return;
	wrong = config_uri_parse(text, key->type == CONFIG_KEY_LISTEN, value);
	if (!wrong && value->transport == TRANSPORT_VERBS) {
		wrong = config_verbs_missing();
		r->nabsent += wrong != NULL;
	}
	if (wrong)
		config_report(r, s, "%s: %s", key->name, wrong);
	free(text);
}

/* How an array of addresses is told from one address; NULL and a report if it has too many or none. */
static struct config_uri *array_of(struct config_reader *r, const config_setting_t *s,
				   const struct config_key *key, unsigned max, const char *what)
{
	int n = config_setting_length(s);
	struct config_uri *uris;

	if (n < 1 || n > (int)max) {
		config_report(r, s, "%s has %d %s, but must have from 1 to %u", key->name, n, what,
			      max);
		return NULL;
	}
	uris = calloc((size_t)n, sizeof(*uris));
	r->nomem |= !uris;
	return uris;
}

/* One of several, behind those that were read; what a mistake leaves out is reported. */
static void read_listener(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct service_config *service)
{
	bool is_first = !service->listen.host;
	struct config_uri uri = {0};

	read_uri(r, s, key, &uri);
	if (!uri.host)
		return;
	for (unsigned i = 0; !is_first && i < config_nlisteners(service); i++) {
		const struct config_uri *other = config_listener(service, i);

		if (!config_uri_overlaps(other, &uri) || config_uri_may_share(other, &uri))
			continue;
		config_report(
			r, s,
			"%s: another address of this service has that port already; tcp:// and "
			"iwarp:// of the same host may share one",
			key->name);
		config_uri_fini(&uri);
		return;
	}
	if (is_first)
		service->listen = uri;
	else
		service->more_listen[service->nmore_listen++] = uri;
}

static void read_listeners(struct config_reader *r, const config_setting_t *s,
			   const struct config_key *key, struct service_config *service)
{
	if (!config_is_array(s)) {
		read_uri(r, s, key, &service->listen);
		return;
	}
	service->more_listen = array_of(r, s, key, CONFIG_MAX_LISTENERS, "addresses");
	for (int i = 0; service->more_listen && i < config_setting_length(s); i++)
		read_listener(r, config_setting_get_elem(s, (unsigned)i), key, service);
}

/* The same of servers. */
static void read_server(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, struct service_config *service)
{
	bool is_first = !service->connect.host;
	struct config_uri uri = {0};

	read_uri(r, s, key, &uri);
	if (!uri.host)
		return;
	for (unsigned i = 0; !is_first && i < config_nservers(service); i++) {
		const struct config_uri *other = config_server(service, i);

		if (other->transport != uri.transport ||
		    (!strcmp(other->port, uri.port) && !strcasecmp(other->host, uri.host))) {
			config_report(r, s,
				      other->transport != uri.transport
					      ? "%s: all servers of a service have one transport"
					      : "%s: this server is named twice",
				      key->name);
			config_uri_fini(&uri);
			return;
		}
	}
	if (is_first)
		service->connect = uri;
	else
		service->more[service->nmore++] = uri;
}

static void read_servers(struct config_reader *r, const config_setting_t *s,
			 const struct config_key *key, struct service_config *service)
{
	if (!config_is_array(s)) {
		read_uri(r, s, key, &service->connect);
		return;
	}
	service->more = array_of(r, s, key, CONFIG_MAX_SERVERS, "servers");
	for (int i = 0; service->more && i < config_setting_length(s); i++)
		read_server(r, config_setting_get_elem(s, (unsigned)i), key, service);
}

static void read_mount(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct config_mount *mount)
{
	char *text = string_value(r, s, key);
	const char *wrong = text ? config_mount_parse(text, mount) : NULL;

	if (wrong)
		config_report(r, s, "%s: %s", key->name, wrong);
	free(text);
}

/* Where to listen, so that it needs no name server: a literal, and its port. */
static void read_address(struct config_reader *r, const config_setting_t *s,
			 const struct config_key *key, struct sockaddr_storage *value)
{
	char *text = string_value(r, s, key), *uri_text = NULL;
	struct resolver_answer literal;
	struct config_uri uri = {0};
	const char *wrong, *end;

	if (!text)
		return;
	end = strstr(text, "://");
	if (end) {
		config_report(r, s, "%s is \"%s\", but must be ADDRESS:PORT without %.*s://",
			      key->name, text, (int)(end - text), text);
		free(text);
		return;
	}
	end = text[0] == '[' ? strchr(text, ']') : text;
	if (asprintf(&uri_text, "tcp://%s", text) < 0) {
		r->nomem = true;
		free(text);
		return;
	}
	wrong = config_uri_parse(uri_text, false, &uri);
	if (wrong)
		config_report(r, s, "%s: %s", key->name, wrong);
	else if (!strchr(end, ':') || !resolver_literal(uri.host, uri.port, &literal))
		config_report(r, s,
			      "%s is \"%s\", but must be ADDRESS:PORT, as 127.0.0.1:9180 or "
			      "[::1]:9180",
			      key->name, text);
	else
		*value = literal.addrs[0];
	config_uri_fini(&uri);
	free(uri_text);
	free(text);
}

static void read_list(struct config_reader *r, const config_setting_t *s,
		      const struct config_key *key, void *base)
{
	void *value = (char *)base + key->offset;

	if (key->type == CONFIG_KEY_PREFIXES)
		config_read_prefixes(r, s, key, value);
	else if (key->type == CONFIG_KEY_HOSTS)
		config_read_hosts(r, s, key, value);
	else if (key->type == CONFIG_KEY_SOURCES)
		config_read_sources(r, s, key, base);
	else
		config_read_allow(r, s, key, base);
}

void config_value_read(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, void *base)
{
	void *value = (char *)base + key->offset;

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		read_bool(r, s, key, value);
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
	case CONFIG_KEY_FOLDER:
		read_folder(r, s, key, value);
		break;
	case CONFIG_KEY_ADDRESS:
		read_address(r, s, key, value);
		break;
	case CONFIG_KEY_PREFIXES:
	case CONFIG_KEY_HOSTS:
	case CONFIG_KEY_SOURCES:
	case CONFIG_KEY_ALLOW:
		read_list(r, s, key, base);
		break;
	case CONFIG_KEY_LISTEN:
		read_listeners(r, s, key, base);
		break;
	case CONFIG_KEY_CONNECT:
		read_servers(r, s, key, base);
		break;
	case CONFIG_KEY_MOUNT:
		read_mount(r, s, key, value);
		break;
	case CONFIG_KEY_DEFAULTS:
	case CONFIG_KEY_SERVICES:
		break; /* no value: a group of values for each service */
	}
}

void config_value_preset(struct config_reader *r, const struct config_key *key, void *base)
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
	case CONFIG_KEY_PREFIXES:
		config_preset_prefixes(r, key, value);
		break;
	default:
		break; /* all zero */
	}
}
