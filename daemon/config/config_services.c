// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_services.h"

#include <libconfig.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sockaddr.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_parse.h"
#include "daemon/config/config_preset.h"
#include "daemon/config/config_read.h"
#include "daemon/config/config_tls.h"
#include "daemon/config/config_value.h"
#include "daemon/config/self_connect.h"
#include "nfs/proc_table.h"

#define MAX_SERVICES 1024

static void report_unknown(struct config_ctx *r, const config_setting_t *s,
			   const struct config_key *keys)
{
	const struct config_key *elsewhere =
		keys == config_keys ? config_service_keys : config_keys;
	const struct config_key *nearest = config_key_nearest(keys, config_setting_name(s));
	const char *foreign = config_key_foreign(config_setting_name(s));

	if (config_key_find(elsewhere, config_setting_name(s)))
		config_report(r, s, "%s belongs %s", config_setting_name(s),
			      keys == config_keys ? "into a service"
						  : "at the top, outside the services");
	else if (foreign && config_key_find(elsewhere, foreign))
		config_report(r, s, "unknown key \"%s\": did you mean \"%s\", %s?",
			      config_setting_name(s), foreign,
			      keys == config_keys ? "in a service"
						  : "at the top, outside the services");
	else if (nearest)
		config_report(r, s, "unknown key \"%s\": did you mean \"%s\"?",
			      config_setting_name(s), nearest->name);
	else
		config_report(r, s, "unknown key \"%s\"", config_setting_name(s));
}

/* Returns whether the group has an unknown key for which report_unknown() suggested @key. */
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

void config_group_read(struct config_ctx *r, const config_setting_t *group,
		       const struct config_key *keys, void *base)
{
	int n = config_setting_length(group);

	for (const struct config_key *key = keys; key->name; key++)
		config_value_default(r, key, base);
	for (int i = 0; i < n; i++) {
		const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
		const struct config_key *key = config_key_find(keys, config_setting_name(s));

		if (!key)
			report_unknown(r, s, keys);
		else if (key->type == CONFIG_KEY_SERVICES)
			config_services_read(r, s, key, base);
		else if (key->type == CONFIG_KEY_DEFAULTS)
			continue; /* already read: services can precede them */
		else
			config_value_read(r, s, key, base);
	}
	for (const struct config_key *key = keys; key->name; key++)
		if (key->mandatory && !config_setting_get_member(group, key->name) &&
		    !is_misspelt(group, keys, key))
			config_report(r, group, "%s is missing in this service", key->name);
}

/* Returns whether a key is switched off; the value of a choice is then its default. */
static bool is_off(const config_setting_t *s, const struct config_key *key)
{
	const char *text = config_setting_get_string(s);

	if (text)
		return !strcmp(text, "off") && key->preset && !strcmp(key->preset, "off");
	return config_setting_type(s) == CONFIG_TYPE_BOOL
		       ? !config_setting_get_bool(s)
		       : config_setting_is_array(s) && !config_setting_length(s);
}

/* A6.2-8: Calls to that program are not forwarded, so it must not be a program that clients use. */
static void check_config_program(struct config_ctx *r, const config_setting_t *group,
				 const struct service_config *service)
{
	const config_setting_t *s = config_setting_get_member(group, "config_program");
	const char *name = nfs_program_name(service->config_program);

	if (s && name)
		config_report(r, s, "config_program is %u, which is the number of %s",
			      service->config_program, name);
}

/* ---- defaults ---- */

/* Returns the setting that gives a service's key its value; NULL: none. */
static const config_setting_t *find_setting(const struct config_ctx *r,
					    const config_setting_t *group, const char *name)
{
	const config_setting_t *own = config_setting_get_member(group, name);

	return own || !r->defaults ? own : config_setting_get_member(r->defaults, name);
}

static void check_default(struct config_ctx *r, const config_setting_t *s,
			  struct service_config *scratch)
{
	const struct config_key *key = config_key_find(config_service_keys, config_setting_name(s));

	if (!key)
		report_unknown(r, s, config_service_keys);
	else if (key->mandatory)
		config_report(r, s, "%s must be set in each service: it cannot have a default",
			      key->name);
	else
		config_value_read(r, s, key, scratch);
}

/* Remembers the defaults, to warn about those that apply to no service. */
static void note_defaults(struct config_ctx *r, const config_setting_t *group,
			  struct config *config)
{
	size_t n = (size_t)config_setting_length(group);

	config->defaults = calloc(n + 1, sizeof(*config->defaults));
	if (!config->defaults)
		r->nomem = true;
	else
		config->ndefaults = n;
	for (size_t i = 0; i < config->ndefaults; i++) {
		const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
		struct config_default *at = &config->defaults[i];

		at->key = config_key_find(config_service_keys, config_setting_name(s));
		at->place = config_location(r, s);
		r->nomem |= !at->place;
	}
}

/* Checks defaults once, not per service. If one has an error, none applies. */
void config_defaults_read(struct config_ctx *r, const config_setting_t *root, struct config *config)
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
	config_uri_fini(&scratch.mount.at);
	free(scratch.sources);
	free(scratch.accept_proxy_from.list);
	free(scratch.trusted_proxies.list);
	config_tls_fini(&scratch.tls);
	if (r->nerrors > before)
		return;
	r->defaults = group;
	note_defaults(r, group, config);
}

/* Applies defaults for keys that the service does not set and that apply to it. */
static void apply_defaults(struct config_ctx *r, const config_setting_t *group,
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

/* Returns the setting, or the group if the value is a default. */
static const config_setting_t *at(const config_setting_t *group, const char *name)
{
	const config_setting_t *setting = config_setting_get_member(group, name);

	return setting ? setting : group;
}

/*
 * Rejects an address of this host other than loopback. All packets from such a server would have to
 * be routed back, and with them all that this host sends from that address.
 */
static void check_own(struct config_ctx *r, const config_setting_t *group,
		      const struct config_uri *server, const struct sockaddr *addr)
{
	if (sockaddr_is_loopback(addr) || !self_connect_is_local(addr))
		return;
	config_report(
		r, at(group, "connect"),
		"connect: %s is an address of this host: with source = \"client\" a server on "
		"this host must be 127.0.0.1 or [::1]",
		server->host);
}

static void check_family(struct config_ctx *r, const config_setting_t *group,
			 const struct service_config *service, const struct config_uri *server,
			 const struct sockaddr *addr)
{
	for (size_t i = 0; i < service->nsources; i++)
		if (service->sources[i].ss_family == addr->sa_family)
			return;
	config_report(r, at(group, "source_address"),
		      "source_address: no %s address to connect to the server %s from",
		      addr->sa_family == AF_INET ? "IPv4" : "IPv6", server->host);
}

/* Skips servers with several addresses: one usable address is enough. */
static void check_server(struct config_ctx *r, const config_setting_t *group,
			 const struct service_config *service, const struct config_uri *server)
{
	struct sockaddr_storage addrs[CONFIG_URI_ADDRS];

	if (config_uri_addrs(server, addrs) != 1)
		return;
	if (service->source == SOURCE_CLIENT)
		check_own(r, group, server, (struct sockaddr *)&addrs[0]);
	else if (service->nsources)
		check_family(r, group, service, server, (struct sockaddr *)&addrs[0]);
}

/* Reports addresses of the service that conflict. */
static void config_source_check(struct config_ctx *r, const config_setting_t *group,
				const struct service_config *service)
{
	if (service->source == SOURCE_CLIENT && service->nsources)
		config_report(r, at(group, "source_address"),
			      "source_address cannot be combined with source = \"client\"");
	for (unsigned i = 0; i < config_nservers(service); i++)
		check_server(r, group, service, config_server(service, i));
	if (service->mount.way == MOUNT_AT)
		check_server(r, group, service, &service->mount.at);
}

/* Checks what depends on several keys. */
static void check_service(struct config_ctx *r, const config_setting_t *group,
			  struct service_config *service)
{
	if (!service->listen.host || !service->connect.host)
		return; /* already reported; the kind of service is unknown */
	if (!find_setting(r, group, "require_privileged_port"))
		service->require_privileged_port = config_preset(
			config_key_find(config_service_keys, "require_privileged_port"), service);
	service->has_register = find_setting(r, group, "register") != NULL;
	for (const struct config_key *key = config_service_keys; key->name; key++) {
		const config_setting_t *s = config_setting_get_member(group, key->name);

		/* A key that is switched off is allowed in any service. */
		if (s && !config_in_scope(service, key->scope) && !is_off(s, key))
			config_report(r, s, "%s %s", key->name, config_scope_text(key->scope));
	}
	if (service->inline_threshold_bytes > service->max_message_bytes)
		config_report(r, group, "inline_threshold_bytes is above max_message_bytes (%u)",
			      service->max_message_bytes);
	check_config_program(r, group, service);
	config_source_check(r, group, service);
	config_tls_check(r, group, service);
}

#define PLACE_BYTES (PATH_MAX + 16u)

/* Writes "line 5", or "/etc/d/a.conf:5" for another file. Returns @text. */
static const char *place_of(const struct config_ctx *r, const struct service_config *service,
			    char text[PLACE_BYTES])
{
	if (!strcmp(service->file, r->path))
		snprintf(text, PLACE_BYTES, "line %d", service->line);
	else
		snprintf(text, PLACE_BYTES, "%s:%d", service->file, service->line);
	return text;
}

static bool overlap(const struct service_config *a, const struct service_config *b)
{
	if (!a->listen.host || !b->listen.host)
		return false;
	for (unsigned i = 0; i < config_nlisteners(a); i++)
		for (unsigned k = 0; k < config_nlisteners(b); k++)
			if (config_uri_overlaps(config_listener(a, i), config_listener(b, k)))
				return true;
	return false;
}

static void check_unique(struct config_ctx *r, const config_setting_t *group,
			 const struct config *config, const struct service_config *service)
{
	const config_setting_t *name = config_setting_get_member(group, "name");
	const config_setting_t *listen = config_setting_get_member(group, "listen");
	char place[PLACE_BYTES];

	for (const struct service_config *other = config->services; other < service; other++) {
		if (service->name && other->name && !strcmp(service->name, other->name))
			config_report(r, name, "name \"%s\" is already used by the service at %s",
				      service->name, place_of(r, other, place));
		if (overlap(service, other))
			config_report(r, listen, "listen: the service at %s uses that port already",
				      place_of(r, other, place));
	}
}

/*
 * Reports and returns whether a service listens at @uri, the value of @key, which can be a default.
 */
static bool check_own_upstream(struct config_ctx *r, const config_setting_t *group, const char *key,
			       const struct config *config, const struct config_uri *uri)
{
	const struct service_config *own = self_connect_find(config, uri);
	char place[PLACE_BYTES];

	if (own)
		config_report(r, at(group, key),
			      "%s: the service at %s listens there: the daemon would connect "
			      "to itself",
			      key, place_of(r, own, place));
	return own;
}

/* Each group of the list has a service, in the same order; other settings have none. */
void config_upstreams_check(struct config_ctx *r, const struct config *config)
{
	const config_setting_t *list = r->services;
	const struct service_config *service = config->services + r->first;

	if (!list)
		return;
	for (int i = 0; i < config_setting_length(list); i++) {
		const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);

		if (!config_setting_is_group(group))
			continue;
		for (unsigned k = 0; service->connect.host && k < config_nservers(service); k++)
			if (check_own_upstream(r, group, "connect", config,
					       config_server(service, k)))
				break;
		if (service->mount.way == MOUNT_AT)
			check_own_upstream(r, group, "mount", config, &service->mount.at);
		service++;
	}
}

/* Grows the list for @n further services. */
static bool services_grow(struct config *config, size_t n)
{
	struct service_config *more = reallocarray(config->services, config->nservices + n + 1,
						   sizeof(*config->services));

	if (!more)
		return false;
	memset(&more[config->nservices], 0, (n + 1) * sizeof(*more));
	config->services = more;
	return true;
}

void config_services_read(struct config_ctx *r, const config_setting_t *s,
			  const struct config_key *key, struct config *config)
{
	int n = config_setting_length(s);

	/* An empty list can be written as an empty array. */
	if (!config_setting_is_list(s) && !(config_setting_is_array(s) && n == 0)) {
		config_report(r, s, "%s must be a list of groups: ( { ... }, { ... } ), not %s",
			      key->name, config_type_text(s));
		return;
	}
	if (config->nservices + (size_t)n > MAX_SERVICES) {
		config_report(r, s, "%zu services, but at most %d are allowed",
			      config->nservices + (size_t)n, MAX_SERVICES);
		return;
	}
	if (!services_grow(config, (size_t)n)) {
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
		config_group_read(r, group, config_service_keys, service);
		apply_defaults(r, group, service);
		check_service(r, group, service);
		check_unique(r, group, config, service);
	}
}

bool config_in_scope(const struct service_config *service, enum config_key_scope scope)
{
	enum transport b = service->connect.transport;

	switch (scope) {
	case CONFIG_SCOPE_ANY_TCP:
		return config_listens_tcp(service) || b == TRANSPORT_TCP;
	case CONFIG_SCOPE_ANY_RDMA:
		return config_listens_rdma(service) || b != TRANSPORT_TCP;
	case CONFIG_SCOPE_ANY_IWARP:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_IWARP) || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_IWARP;
	case CONFIG_SCOPE_ANY_VERBS:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_VERBS) || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_VERBS;
	case CONFIG_SCOPE_LISTEN_IWARP:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_IWARP);
	case CONFIG_SCOPE_LISTEN_TCP:
		return config_listens_tcp(service);
	case CONFIG_SCOPE_LISTEN_RDMA:
		return config_listens_rdma(service);
	case CONFIG_SCOPE_CONNECT_SOCKET:
		return b == TRANSPORT_TCP || b == TRANSPORT_IWARP;
	case CONFIG_SCOPE_CONNECT_TCP:
		return b == TRANSPORT_TCP || config_has_mount_server(service);
	case CONFIG_SCOPE_SERVER_TCP:
		return b == TRANSPORT_TCP;
	case CONFIG_SCOPE_CONNECT_RDMA:
		return b != TRANSPORT_TCP;
	case CONFIG_SCOPE_LISTEN_SOCKET:
		return !config_listens_on(service, TRANSPORT_RDMA) &&
		       !config_listens_on(service, TRANSPORT_VERBS);
	default:
		return true;
	}
}
