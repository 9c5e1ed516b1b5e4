// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_check.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/listen_socket.h"
#include "daemon/base/paths.h"
#include "daemon/base/resolve_all.h"
#include "daemon/config/config_tls.h"
#include "daemon/config/transparent_routes.h"

#define MIB         (1024u * 1024u)
#define DAEMON_USER "rpcrdma-proxy" /* of the unit; systemd/rpcrdma-proxy.sysusers */

static void check_control(const struct config *config, FILE *out)
{
	char path[PATH_MAX], usual[] = CONTROL_DEFAULT_SOCKET;
	struct stat found;
	const char *dir;

	if (!stat(config->control, &found) && S_ISDIR(found.st_mode)) {
		fprintf(out, "%s:1: warning: control: %s is a directory: name a file in it\n",
			config->file, config->control);
		return;
	}
	snprintf(path, sizeof(path), "%s", config->control);
	dir = dirname(path);
	if (!stat(dir, &found)) {
		if (!S_ISDIR(found.st_mode))
			fprintf(out, "%s:1: warning: control: %s is not a directory\n",
				config->file, dir);
		return;
	}
	if (strcmp(dir, dirname(usual)) != 0)
		fprintf(out,
			"%s:1: warning: control: there is no directory %s (%s): create it, or set "
			"control to another path\n",
			config->file, dir, strerror(errno));
}

/* config_check_names() checks names; missing devices are errors of their own. */
static void check_listen(const struct service_config *service, const struct config_uri *uri,
			 FILE *out)
{
	struct resolver_answer literal;

	if (uri->transport == TRANSPORT_VERBS || !uri->host[0] ||
	    !resolver_literal(uri->host, uri->port, &literal) ||
	    listen_socket_has_host((const struct sockaddr *)&literal.addrs[0]))
		return;
	fprintf(out,
		"%s:%d: warning: service %s: address %s to listen on is not configured on "
		"this host (yet): the service becomes reachable once it is\n",
		service->file, service->line, service->name, uri->host);
}

static void warn_lack(void *arg, const struct service_config *service, const char *text)
{
	fprintf(arg, "%s:%d: warning: service %s: %s\n", service->file, service->line,
		service->name, text);
}

void config_check_host(const struct config *config, uint64_t memory_bytes, FILE *out)
{
	check_control(config, out);
	for (size_t i = 0; i < config->nservices; i++) {
		for (unsigned k = 0; k < config_nlisteners(&config->services[i]); k++)
			check_listen(&config->services[i], config_listener(&config->services[i], k),
				     out);
		transparent_routes_missing(&config->services[i], warn_lack, out);
		config_tls_check_names(&config->services[i], out);
		if (!geteuid())
			config_tls_check_user(&config->services[i], DAEMON_USER, out);
	}
	if (memory_bytes && config->memory_limit_mib > memory_bytes / MIB)
		fprintf(out,
			"%s:1: warning: memory_limit_mib is %u, but this host has %" PRIu64
			" MiB of memory: lower it, or the daemon may be killed when memory runs "
			"out\n",
			config->file, config->memory_limit_mib, memory_bytes / MIB);
}

/* ---- names ---- */

struct name {
	const struct service_config *service; /* the first service with the name */
	bool listens;                         /* of a listener, not of a server */
};

/* The distinct names of the file. */
struct names {
	size_t count;
	struct resolve_lookup *lookups;
	struct name *names; /* one per lookup */
};

static bool is_known(const struct names *names, const char *host)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcasecmp(names->lookups[i].host, host))
			return true;
	return false;
}

static void names_add(struct names *names, const struct service_config *service,
		      const struct config_uri *uri, bool listens)
{
	struct resolver_answer literal;

	if (!uri->host[0] || resolver_literal(uri->host, uri->port, &literal) ||
	    is_known(names, uri->host))
		return;
	names->lookups[names->count] =
		(struct resolve_lookup){.host = uri->host, .port = uri->port};
	names->names[names->count++] = (struct name){service, listens};
}

/* Returns an upper bound: listeners, servers and MOUNT servers. */
static size_t nuris(const struct config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < config->nservices; i++)
		n += config_nlisteners(&config->services[i]) +
		     config_nservers(&config->services[i]) + 1;
	return n;
}

/* Names of listeners come first. */
static void collect_names(const struct config *config, struct names *names)
{
	for (size_t i = 0; i < config->nservices; i++)
		for (unsigned k = 0; k < config_nlisteners(&config->services[i]); k++)
			names_add(names, &config->services[i],
				  config_listener(&config->services[i], k), true);
	for (size_t i = 0; i < config->nservices; i++)
		for (unsigned k = 0; k < config_nservers(&config->services[i]); k++)
			names_add(names, &config->services[i],
				  config_server(&config->services[i], k), false);
	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].mount.way == MOUNT_AT)
			names_add(names, &config->services[i], &config->services[i].mount.at,
				  false);
}

static void report_lookups(const struct name *name, const struct resolve_lookup *lookup,
			   unsigned timeout_ms, FILE *out)
{
	const struct service_config *service = name->service;
	bool is_answered = lookup->result == RESOLVE_ERROR, listens = name->listens;

	if (lookup->result == RESOLVE_ADDRESSES || lookup->result == RESOLVE_NOT_STARTED)
		return;
	fprintf(out, "%s:%d: warning: service %s: the name %s%s does not resolve (", service->file,
		service->line, service->name, lookup->host, listens ? " to listen at" : "");
	if (is_answered)
		fprintf(out, "%s", lookup->answer.error);
	else
		fprintf(out, "no answer in %g s", timeout_ms / 1000.0);
	fprintf(out, "): %s %s until it does\n",
		is_answered && lookup->answer.is_final ? "is it right?"
						       : "do the name servers answer?",
		listens ? "the daemon does not start" : "clients wait");
}

void config_check_names(const struct config *config, const struct resolver *resolver,
			unsigned timeout_ms, FILE *out)
{
	size_t most = nuris(config);
	struct names names = {.lookups = calloc(most + 1, sizeof(*names.lookups)),
			      .names = calloc(most + 1, sizeof(*names.names))};

	if (names.lookups && names.names)
		collect_names(config, &names);
	if (names.count)
		resolve_all(resolver, names.lookups, names.count, timeout_ms);
	for (size_t i = 0; i < names.count; i++)
		report_lookups(&names.names[i], &names.lookups[i], timeout_ms, out);
	free(names.lookups);
	free(names.names);
}
