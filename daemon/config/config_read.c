// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_read.h"

#include <ctype.h>
#include <libconfig.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "base/sockaddr.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_parse.h"
#include "daemon/config/config_value.h"
#include "daemon/config/self_connect.h"

#define MAX_ALLOW 1024
#define MAX_HOSTS 64
#define MAX_PEERS 1024

const char *config_type_text(const config_setting_t *setting)
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

/* Reports that a setting has the wrong type. */
static void config_report_type(struct config_ctx *r, const config_setting_t *s,
			       const struct config_key *key, const char *wanted)
{
	bool plain = key->type == CONFIG_KEY_NUMBER || key->type == CONFIG_KEY_BOOL ||
		     key->type == CONFIG_KEY_REGISTER;
	const char *cure = plain && config_setting_type(s) == CONFIG_TYPE_STRING
				   ? ": write it without quotes"
				   : "";

	config_report(r, s, "%s must be %s, not %s%s", key->name, wanted, config_type_text(s),
		      cure);
}

/* Returns whether the setting is an array or a list of libconfig. */
static bool config_is_array(const config_setting_t *s)
{
	return config_setting_is_array(s) || config_setting_is_list(s);
}

/* ---- lists; the arguments are those of config_value_read() ---- */

/*
 * Starts reading a list of strings. Returns their number and sets @list to a zeroed array with one
 * element more, of
 * @elem_bytes each. Returns 0 after a report, or if memory ran out.
 */
static int begin_list(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      int max, size_t elem_bytes, void *list)
{
	int n = config_setting_length(s);
	char example[64];

	if (!config_is_array(s)) {
		snprintf(example, sizeof(example), "an array of strings: [ \"%s\" ]",
			 key->type == CONFIG_KEY_SOURCES ? "10.0.0.7"
			 : key->type == CONFIG_KEY_HOSTS ? "proxy.example.net"
			 : key->type == CONFIG_KEY_PEERS ? "client.example.net"
							 : "10.0.0.0/8");
		config_report_type(r, s, key, example);
		return 0;
	}
	if (n > max) {
		config_report(r, s, "%s has %d %s, but at most %d are allowed", key->name, n,
			      key->type == CONFIG_KEY_SOURCES ? "addresses" : "entries", max);
		return 0;
	}
	*(void **)list = calloc((size_t)n + 1, elem_bytes);
	if (*(void **)list)
		return n;
	r->nomem = true;
	return 0;
}

/* Returns string @i of the list; NULL after a report. */
static const char *list_text(struct config_ctx *r, const config_setting_t *list, int i,
			     const struct config_key *key)
{
	const config_setting_t *s = config_setting_get_elem(list, (unsigned)i);
	const char *text = config_setting_get_string(s);

	if (!text)
		config_report_type(r, s, key, "an array of strings");
	return text;
}

/* A missing address can appear later, like that of a cluster. */
static void read_source(struct config_ctx *r, const config_setting_t *s, const char *text,
			const struct config_key *key, struct service_config *service)
{
	struct sockaddr_storage *source = &service->sources[service->nsources];
	struct config_cidr alone;
	const char *conflict = config_cidr_parse(text, &alone);

	if (!conflict && !config_cidr_addr(&alone, source))
		conflict = "write single addresses, without a prefix length";
	if (conflict) {
		config_report(r, s, "%s: %s", key->name, conflict);
		return;
	}
	for (size_t i = 0; i < service->nsources; i++)
		if (sockaddr_equal((struct sockaddr *)&service->sources[i],
				   (struct sockaddr *)source))
			config_report(r, s, "%s: %s is listed twice", key->name, text);
	service->nsources++;
	if (self_connect_is_local((struct sockaddr *)source))
		return;
	r->nmissing_resources++;
	config_report(r, s, "%s: address %s is not configured on this host", key->name, text);
}

/* Reads distinct addresses of this host. */
static void read_sources(struct config_ctx *r, const config_setting_t *s,
			 const struct config_key *key, struct service_config *service)
{
	int n = begin_list(r, s, key, CONFIG_MAX_SOURCES, sizeof(*service->sources),
			   &service->sources);

	for (int i = 0; i < n; i++) {
		const char *text = list_text(r, s, i, key);

		if (text)
			read_source(r, config_setting_get_elem(s, (unsigned)i), text, key, service);
	}
}

/* Reads prefixes into an empty list. */
static void read_cidrs(struct config_ctx *r, const config_setting_t *s,
		       const struct config_key *key, struct config_cidr **list, size_t *count)
{
	int n = begin_list(r, s, key, MAX_ALLOW, sizeof(**list), list);

	for (int i = 0; i < n; i++) {
		const char *text = list_text(r, s, i, key);
		const char *conflict = text ? config_cidr_parse(text, &(*list)[*count]) : NULL;

		if (conflict)
			config_report(r, config_setting_get_elem(s, (unsigned)i), "%s: %s",
				      key->name, conflict);
		else if (text)
			++*count;
	}
}

/* Replaces the prefixes of @cidrs. */
static void read_prefixes(struct config_ctx *r, const config_setting_t *s,
			  const struct config_key *key, struct config_cidrs *cidrs)
{
	free(cidrs->list);
	*cidrs = (struct config_cidrs){.is_set = true};
	read_cidrs(r, s, key, &cidrs->list, &cidrs->count);
}

static void read_allow(struct config_ctx *r, const config_setting_t *s,
		       const struct config_key *key, struct service_config *service)
{
	service->has_allow = true;
	read_cidrs(r, s, key, &service->allow, &service->nallow);
}

/* Reads names that @error_of() accepts, which returns what is wrong with others. */
static void read_hosts(struct config_ctx *r, const config_setting_t *s,
		       const struct config_key *key, int max, const char *(*error_of)(const char *),
		       struct config_hosts *hosts)
{
	int n;

	config_hosts_fini(hosts);
	n = begin_list(r, s, key, max, sizeof(*hosts->names), &hosts->names);
	for (int i = 0; i < n; i++) {
		const char *text = list_text(r, s, i, key);
		const char *conflict = text ? error_of(text) : NULL;

		if (conflict)
			config_report(r, config_setting_get_elem(s, (unsigned)i), "%s: %s",
				      key->name, conflict);
		if (!text || conflict)
			continue;
		hosts->names[hosts->count] = strdup(text);
		if (hosts->names[hosts->count])
			hosts->count++;
		else
			r->nomem = true;
	}
}

/* Parses the quoted prefixes of the default. */
static void preset_prefixes(struct config_ctx *r, const struct config_key *key,
			    struct config_cidrs *cidrs)
{
	char *text = strdup(key->preset), *rest = text;
	const char *word;

	cidrs->list = calloc(strlen(key->preset), sizeof(*cidrs->list));
	if (!text || !cidrs->list)
		r->nomem = true;
	while (!r->nomem && (word = strsep(&rest, "[], \"")))
		if (*word && !config_cidr_parse(word, &cidrs->list[cidrs->count]))
			cidrs->count++;
	free(text);
}

/* Returns a copy of the setting's string; NULL after a report. */
static char *string_value(struct config_ctx *r, const config_setting_t *s,
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

static void read_bool(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      bool *value)
{
	if (config_setting_type(s) == CONFIG_TYPE_BOOL)
		*value = config_setting_get_bool(s);
	else
		config_report_type(r, s, key, "true or false");
}

static void read_number(struct config_ctx *r, const config_setting_t *s,
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

/* Reads "auto", whose number config_limits_resolve() sets, or a number. */
static void read_auto(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      struct service_config *service)
{
	const char *text = config_setting_get_string(s);

	if (text && !strcmp(text, "auto")) {
		service->auto_connections = true;
		return;
	}
	service->auto_connections = false;
	service->limit = CONFIG_LIMIT_FILE;
	if (text && *text && !text[strspn(text, "0123456789")])
		config_report(r, s,
			      "%s must be a whole number, not a string: write it without quotes",
			      key->name);
	else if (text)
		config_report(r, s, "%s is \"%s\", but must be \"auto\" or from %u to %u",
			      key->name, text, key->min, key->max);
	else
		read_number(r, s, key, &service->max_connections);
}

#define A_REGISTER "true, false or \"mount\""

/* Reads false and true, as libconfig has them, or "mount". */
static void read_register(struct config_ctx *r, const config_setting_t *s,
			  const struct config_key *key, int *value)
{
	const char *text = config_setting_get_string(s);

	if (config_setting_type(s) == CONFIG_TYPE_BOOL)
		*value = config_setting_get_bool(s) ? REGISTER_NFS : REGISTER_NONE;
	else if (text && !strcmp(text, key->choices[REGISTER_MOUNT]))
		*value = REGISTER_MOUNT;
	else if (text && strcmp(text, "true") && strcmp(text, "false"))
		config_report(r, s, "%s is \"%s\", but must be " A_REGISTER, key->name, text);
	else
		config_report_type(r, s, key, A_REGISTER);
}

static void read_choice(struct config_ctx *r, const config_setting_t *s,
			const struct config_key *key, int *value)
{
	const char *text = config_setting_get_string(s);
	char all[200] = "";

	if (key->type == CONFIG_KEY_REGISTER) {
		read_register(r, s, key, value);
		return;
	}
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

static void read_name(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      char **value)
{
	char *text = string_value(r, s, key);

	if (!text)
		return;
	*value = text;
	if (!*text || strlen(text) > CONFIG_NAME_MAX_BYTES) {
		config_report(r, s, "%s must have from 1 to %u characters", key->name,
			      CONFIG_NAME_MAX_BYTES);
		return;
	}
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text)) {
			config_report(r, s, "%s can contain only letters, digits, '.', '_' and '-'",
				      key->name);
			return;
		}
	}
}

/* Reads the path of a socket, a directory or a file. */
static void read_path(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      char **value)
{
	const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	char *text = string_value(r, s, key);

	if (!text)
		return;
	if (text[0] != '/')
		config_report(r, s, "%s must be an absolute path", key->name);
	else if (key->type == CONFIG_KEY_PATH && strlen(text) > max)
		config_report(r, s,
			      "%s must have at most %zu bytes, the length of a socket's address",
			      key->name, max);
	free(*value);
	*value = text;
}

/* Reads a name that a certificate must have. */
static void read_peer(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      char **value)
{
	char *text = string_value(r, s, key);
	const char *conflict = text ? config_tls_server_error(text) : NULL;

	if (!text)
		return;
	if (conflict)
		config_report(r, s, "%s: %s", key->name, conflict);
	free(*value);
	*value = text;
}

static void read_uri(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		     struct config_uri *value)
{
	char *text = string_value(r, s, key);
	const char *conflict;

	if (!text)
		return;
	conflict = config_uri_parse(text, key->type == CONFIG_KEY_LISTEN, value);
	if (!conflict && value->transport == TRANSPORT_VERBS) {
		conflict = config_verbs_missing();
		r->nmissing_resources += conflict != NULL;
	}
	if (conflict)
		config_report(r, s, "%s: %s", key->name, conflict);
	free(text);
}

/* The listeners or the servers of a service; the first one is stored separately. */
struct uri_list {
	struct config_uri *first, **further;
	size_t *nfurther;
	unsigned max;
	const char *what;
	/* Returns why @uri conflicts with @other, which was read before; NULL: no conflict. */
	const char *(*conflict)(const struct config_uri *other, const struct config_uri *uri);
};

/* Reads a further address and appends it, or reports an error. */
static void read_one_of(struct config_ctx *r, const config_setting_t *s,
			const struct config_key *key, const struct uri_list *list)
{
	bool is_first = !list->first->host;
	struct config_uri uri = {0};
	const char *conflict = NULL;

	read_uri(r, s, key, &uri);
	if (!uri.host)
		return;
	if (is_first) {
		*list->first = uri;
		return;
	}
	conflict = list->conflict(list->first, &uri);
	for (size_t i = 0; !conflict && i < *list->nfurther; i++)
		conflict = list->conflict(&(*list->further)[i], &uri);
	if (conflict) {
		config_report(r, s, "%s: %s", key->name, conflict);
		config_uri_fini(&uri);
	} else {
		(*list->further)[(*list->nfurther)++] = uri;
	}
}

/* Reads one address, or an array of addresses. */
static void read_uris(struct config_ctx *r, const config_setting_t *s, const struct config_key *key,
		      const struct uri_list *list)
{
	int n = config_setting_length(s);

	if (!config_is_array(s)) {
		read_uri(r, s, key, list->first);
		return;
	}
	if (n < 1 || n > (int)list->max) {
		config_report(r, s, "%s has %d %s, but must have from 1 to %u", key->name, n,
			      list->what, list->max);
		return;
	}
	*list->further = calloc((size_t)n, sizeof(**list->further));
	r->nomem |= !*list->further;
	for (int i = 0; *list->further && i < n; i++)
		read_one_of(r, config_setting_get_elem(s, (unsigned)i), key, list);
}

static const char *wrong_listener(const struct config_uri *other, const struct config_uri *uri)
{
	if (!config_uri_overlaps(other, uri) || config_uri_can_share(other, uri))
		return NULL;
	return "another address of this service uses that port already; only tcp:// and "
	       "iwarp:// of the same host can share a port";
}

static void read_listeners(struct config_ctx *r, const config_setting_t *s,
			   const struct config_key *key, struct service_config *service)
{
	read_uris(r, s, key,
		  &(const struct uri_list){&service->listen, &service->more_listen,
					   &service->nmore_listen, CONFIG_MAX_LISTENERS,
					   "addresses", wrong_listener});
}

static const char *wrong_server(const struct config_uri *other, const struct config_uri *uri)
{
	if (other->transport != uri->transport)
		return "all servers of a service must have the same transport";
	return !strcmp(other->port, uri->port) && !strcasecmp(other->host, uri->host)
		       ? "this server is listed twice"
		       : NULL;
}

static void read_servers(struct config_ctx *r, const config_setting_t *s,
			 const struct config_key *key, struct service_config *service)
{
	read_uris(r, s, key,
		  &(const struct uri_list){&service->connect, &service->more_servers,
					   &service->nmore_servers, CONFIG_MAX_SERVERS, "servers",
					   wrong_server});
}

static void read_mount(struct config_ctx *r, const config_setting_t *s,
		       const struct config_key *key, struct config_mount *mount)
{
	char *text = string_value(r, s, key);
	const char *conflict = text ? config_mount_parse(text, mount) : NULL;

	if (conflict)
		config_report(r, s, "%s: %s", key->name, conflict);
	free(text);
}

/* Reads ADDRESS:PORT to listen on. Names are not allowed, so that no lookup is needed. */
static void read_address(struct config_ctx *r, const config_setting_t *s,
			 const struct config_key *key, struct sockaddr_storage *value)
{
	char *text = string_value(r, s, key), *uri_text = NULL;
	struct resolver_answer literal;
	struct config_uri uri = {0};
	const char *conflict, *end;

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
	conflict = config_uri_parse(uri_text, false, &uri);
	if (conflict)
		config_report(r, s, "%s: %s", key->name, conflict);
	else if (!strchr(end, ':') || !resolver_literal(uri.host, uri.port, &literal))
		config_report(r, s,
			      "%s is \"%s\", but must be ADDRESS:PORT, e.g. 127.0.0.1:9180 or "
			      "[::1]:9180",
			      key->name, text);
	else
		*value = literal.addrs[0];
	config_uri_fini(&uri);
	free(uri_text);
	free(text);
}

/* Reads a value that takes several members of a service. */
static void read_service_value(struct config_ctx *r, const config_setting_t *s,
			       const struct config_key *key, struct service_config *service)
{
	switch (key->type) {
	case CONFIG_KEY_LISTEN:
		read_listeners(r, s, key, service);
		break;
	case CONFIG_KEY_CONNECT:
		read_servers(r, s, key, service);
		break;
	case CONFIG_KEY_SOURCES:
		read_sources(r, s, key, service);
		break;
	case CONFIG_KEY_AUTO:
		read_auto(r, s, key, service);
		break;
	case CONFIG_KEY_ALLOW:
		read_allow(r, s, key, service);
		break;
	default:
		break; /* groups of values, read elsewhere */
	}
}

void config_value_read(struct config_ctx *r, const config_setting_t *s,
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
	case CONFIG_KEY_REGISTER:
		read_choice(r, s, key, value);
		break;
	case CONFIG_KEY_NAME:
		read_name(r, s, key, value);
		break;
	case CONFIG_KEY_PATH:
	case CONFIG_KEY_FOLDER:
	case CONFIG_KEY_FILE:
		read_path(r, s, key, value);
		break;
	case CONFIG_KEY_ADDRESS:
		read_address(r, s, key, value);
		break;
	case CONFIG_KEY_PREFIXES:
		read_prefixes(r, s, key, value);
		break;
	case CONFIG_KEY_HOSTS:
		read_hosts(r, s, key, MAX_HOSTS, config_host_error, value);
		break;
	case CONFIG_KEY_PEERS:
		read_hosts(r, s, key, MAX_PEERS, config_tls_peer_error, value);
		break;
	case CONFIG_KEY_PEER:
		read_peer(r, s, key, value);
		break;
	case CONFIG_KEY_MOUNT:
		read_mount(r, s, key, value);
		break;
	default:
		read_service_value(r, s, key, base);
	}
}

void config_value_default(struct config_ctx *r, const struct config_key *key, void *base)
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
	case CONFIG_KEY_REGISTER:
		*(int *)value = (int)key->value;
		break;
	case CONFIG_KEY_PATH:
		*(char **)value = strdup(key->preset);
		if (!*(char **)value)
			r->nomem = true;
		break;
	case CONFIG_KEY_PREFIXES:
		preset_prefixes(r, key, value);
		break;
	case CONFIG_KEY_AUTO:
		((struct service_config *)base)->auto_connections = true;
		break;
	default:
		break; /* all zero */
	}
}
