// SPDX-License-Identifier: BSD-3-Clause
/* What is legal in a configuration but unwise. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/least.h"
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_services.h"
#include "daemon/config/config_value.h"
#include "rpcrdma/proto.h"
#include "stream/ports.h"

#define ECN_BITS 3u /* of a traffic class */
#define MIB      (1024 * 1024)

static void PRINTF_LIKE(3, 4)
	warn(FILE *out, const struct service_config *service, const char *format, ...)
{
	va_list ap;

	fprintf(out, "%s:%d: warning: service %s%s", service->file, service->line, service->name,
		*format == ':' ? "" : " ");
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputc('\n', out);
}

/* Whether every address of that family is in the list, by one entry. */
static bool has_all(const struct config_cidr *list, size_t count, sa_family_t family)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].family == family && list[i].prefix_bits == 0)
			return true;
	return false;
}

static bool allows_all(const struct service_config *service, sa_family_t family)
{
	return has_all(service->allow, service->nallow, family);
}

static bool allows_some_v4(const struct service_config *service)
{
	for (size_t i = 0; i < service->nallow; i++)
		if (service->allow[i].family == AF_INET)
			return true;
	return false;
}

/* Whether IPv4 clients can come to where it listens: not to one IPv6 address. */
static bool listens_v4(const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		const char *host = config_listener(service, i)->host;

		if (!strchr(host, ':') || !strcmp(host, "::"))
			return true;
	}
	return false;
}

static void warn_allow(const struct service_config *service, FILE *out)
{
	bool v4 = allows_all(service, AF_INET), v6 = allows_all(service, AF_INET6);

	if (v6 && !allows_some_v4(service) && listens_v4(service))
		warn(out, service,
		     ": allow has \"::/0\" but nothing for IPv4: IPv4 clients are refused; add "
		     "\"0.0.0.0/0\"");
	else if (!config_listens_beyond(service))
		return;
	else if (!service->has_allow && service->source == SOURCE_CLIENT)
		return; /* the server's own rules tell clients apart */
	else if (!service->has_allow)
		warn(out, service,
		     "listens beyond loopback without allow: every host that reaches it is served%s",
		     service->send_proxy ? "" : ", and the server sees the proxy's address only");
	else if (v4 && v6)
		warn(out, service, "allows every address");
	else if (v4 || v6)
		warn(out, service, "allows every %s address", v4 ? "IPv4" : "IPv6");
}

/* Beyond loopback warn_allow() says it. */
static void warn_proxies(const struct service_config *service, FILE *out)
{
	const struct config_cidrs *proxies = &service->accept_proxy_from;

	if (proxies->count && !service->has_allow && config_uri_is_loopback(&service->listen))
		warn(out, service,
		     "has accept_proxy_from without allow: every client that those proxies bring "
		     "is served");
	if (has_all(proxies->list, proxies->count, AF_INET) ||
	    has_all(proxies->list, proxies->count, AF_INET6))
		warn(out, service,
		     "has every address in accept_proxy_from: who connects may say that it is any "
		     "client");
}

/* An iWARP client's port is looked at only where it decides how a TCP server is reached. */
static void warn_trusted(const struct service_config *service, FILE *out)
{
	const struct config_cidrs *trusted = &service->trusted_proxies;
	bool to_tcp = service->connect.transport == TRANSPORT_TCP || config_asks_mount(service);

	if (!trusted->count)
		return;
	if (to_tcp && service->source_port != SOURCE_PORT_AUTO)
		warn(out, service, ": trusted_proxies has no effect with source_port = \"%s\"",
		     service->source_port == SOURCE_PORT_ANY ? "any" : "reserved");
	else if (has_all(trusted->list, trusted->count, AF_INET) ||
		 has_all(trusted->list, trusted->count, AF_INET6))
		warn(out, service,
		     ": trusted_proxies has every address: any iWARP client gets ports below 1024");
}

static void warn_connect(const struct service_config *service, FILE *out)
{
	for (unsigned i = 0; i < config_nservers(service); i++)
		if (config_uri_is_any(config_server(service, i)))
			warn(out, service,
			     "connects to %s, which stands for this host itself: write the server's "
			     "name or address",
			     config_server(service, i)->host);
}

/* Each source address brings as many; with those of clients there are as many as there are clients. */
static unsigned reserved_ports(const struct service_config *service)
{
	if (service->source == SOURCE_CLIENT)
		return UINT_MAX;
	return PORTS_COUNT * (service->nsources ? (unsigned)service->nsources : 1);
}

static void warn_source_ports(const struct service_config *service, FILE *out)
{
	unsigned ports = reserved_ports(service);

	if (config_keeps_ports(service) && !config_listens_rdma(service) &&
	    service->source_port != SOURCE_PORT_AUTO)
		warn(out, service,
		     "has a source_port, which does nothing: with source = \"client\" each "
		     "connection has the port of its TCP client");
	if (service->connect.transport != TRANSPORT_TCP ||
	    service->source_port == SOURCE_PORT_ANY || service->max_connections <= ports)
		return;
	warn(out, service,
	     "has max_connections = %u, but there are only %u reserved source ports: connections "
	     "past these %s",
	     service->max_connections, ports,
	     service->source_port == SOURCE_PORT_RESERVED
		     ? "are refused (source_port = \"reserved\")"
		     : "come from unprivileged ports, which NFS exports refuse unless they are "
		       "\"insecure\"");
}

/* Over iwarp:// the server is another proxy, which goes on from a port of its own choice. */
static bool takes_any_port_to_rdma(const struct service_config *service)
{
	return config_listens_tcp(service) && service->connect.transport != TRANSPORT_TCP &&
	       service->connect.transport != TRANSPORT_IWARP && !service->require_privileged_port;
}

static bool is_preset(const char *name, uint32_t value)
{
	return config_key_find(config_service_keys, name)->value == value;
}

static bool speaks_version_two(const struct service_config *service)
{
	return (config_listens_rdma(service) && service->listen_version >= 2) ||
	       (service->connect.transport != TRANSPORT_TCP && service->connect_version >= 2);
}

/* Why what differs from its default can do nothing; NULL if it can, or does not. */
static const char *idle_receives(const struct service_config *service)
{
	if (is_preset("receive_max_bytes", service->receive_max_bytes))
		return NULL;
	if (!speaks_version_two(service))
		return "neither side speaks version two";
	if (!service->characteristics)
		return "receive sizes are characteristics, which are off";
	return NULL;
}

/* What receives have in version two to begin with. */
static uint32_t first_bytes(const struct service_config *service)
{
	return most(service->inline_threshold_bytes, RPCRDMA_DEFAULT_INLINE_TWO);
}

static bool keeps_receives(const struct service_config *service)
{
	return !is_preset("receive_max_bytes", service->receive_max_bytes) &&
	       service->receive_max_bytes <= first_bytes(service);
}

static const char *idle_reverse_chunks(const struct service_config *service)
{
	if (!service->reverse_chunks)
		return NULL;
	if (!speaks_version_two(service))
		return "neither side speaks version two";
	if (!service->characteristics)
		return "the peer learns of it by characteristics, which are off";
	return NULL;
}

static void warn_versions(const struct service_config *service, FILE *out)
{
	const char *receives = idle_receives(service), *chunks = idle_reverse_chunks(service);

	if (!receives && keeps_receives(service))
		warn(out, service,
		     "has receive_max_bytes = %u, so the size of its receives is never raised: they have "
		     "%u bytes from the beginning",
		     service->receive_max_bytes, first_bytes(service));
	if (receives)
		warn(out, service, "has receive_max_bytes = %u, which does nothing: %s",
		     service->receive_max_bytes, receives);
	if (chunks)
		warn(out, service, "has reverse_chunks = true, which does nothing: %s", chunks);
}

/* Receives are no RPC's, so no limit of the daemon's holds them. */
static void warn_receives(const struct config *config, const struct service_config *service,
			  FILE *out)
{
	double each_mib = (double)config_memory_receives_bytes(service) / MIB;
	double all_mib = each_mib * service->max_connections;

	if (is_preset("inline_threshold_bytes", service->inline_threshold_bytes) ||
	    all_mib <= config->memory_limit_mib)
		return;
	warn(out, service,
	     "has inline_threshold_bytes = %u: with credits = %u the receives of a connection take up to "
	     "%.1f MiB, those of all %u of max_connections up to %.0f MiB, beside "
	     "memory_limit_mib (%u)",
	     service->inline_threshold_bytes, service->credits, each_mib, service->max_connections,
	     all_mib, config->memory_limit_mib);
}

static bool has_draft(const struct service_config *service)
{
	return service->listen_compat == DIALECT_DRAFT03 ||
	       service->connect_compat == DIALECT_DRAFT03;
}

/* Why no message is padded by the threshold, or NULL. */
static const char *idle_padding(const struct service_config *service)
{
	bool aligns = service->padding_align_bytes > 1;

	if (!aligns && !is_preset("padding_threshold_bytes", service->padding_threshold_bytes))
		return "does nothing without padding_align_bytes";
	if (aligns && service->padding_threshold_bytes >= service->inline_threshold_bytes)
		return "no message reaches: inline_threshold_bytes is not above it";
	return NULL;
}

/* What belongs to the draft alone, where that is not spoken. */
static void warn_draft(const struct service_config *service, FILE *out)
{
	bool lends = service->listen_compat == DIALECT_DRAFT03;

	if (service->padding_align_bytes > 1 && !has_draft(service))
		warn(out, service,
		     "has padding_align_bytes = %u, which does nothing: it takes listen_compat or "
		     "connect_compat = \"draft03\"",
		     service->padding_align_bytes);
	else if (idle_padding(service))
		warn(out, service, "has padding_threshold_bytes = %u, which %s",
		     service->padding_threshold_bytes, idle_padding(service));
	if (service->done_policy != DONE_POLICY_CLOSE && !lends)
		warn(out, service,
		     "has done_policy = \"withdraw\", which does nothing without listen_compat = "
		     "\"draft03\"");
	if (!is_preset("done_timeout_s", service->done_timeout_s) && !lends)
		warn(out, service,
		     "has done_timeout_s = %u, which does nothing without listen_compat = "
		     "\"draft03\"",
		     service->done_timeout_s);
}

/* What chooses among servers, where there is one. */
static void warn_servers(const struct service_config *service, FILE *out)
{
	if (config_nservers(service) > 1)
		return;
	if (service->balance != BALANCE_STANDBY)
		warn(out, service,
		     "has balance = \"source\", which does nothing: connect has one server");
	if (!is_preset("connect_timeout_s", service->connect_timeout_s))
		warn(out, service,
		     "has connect_timeout_s = %u, which does nothing: connect has one server",
		     service->connect_timeout_s);
}

/* Keys of verbs that let more happen than one may expect. */
static void warn_rdma(const struct service_config *service, FILE *out)
{
	if (service->rdma_domain == VERBS_DOMAIN_WORKER)
		warn(out, service,
		     "has rdma_domain = \"worker\": over an RDMA device without memory windows, or of "
		     "iWARP, each peer that guesses a key reaches what is exposed to other peers");
	if ((service->rdma_tos & ECN_BITS) == ECN_BITS)
		warn(out, service,
		     "has rdma_tos = %u, whose lowest two bits say of each packet that it met "
		     "congestion: %u lets switches say so",
		     service->rdma_tos, service->rdma_tos - 1);
}

static void warn_service(const struct config *config, const struct service_config *service,
			 FILE *out)
{
	warn_allow(service, out);
	warn_proxies(service, out);
	warn_trusted(service, out);
	warn_connect(service, out);
	if (service->has_allow && !service->nallow)
		warn(out, service, "has an empty allow: nobody can connect");
	if (takes_any_port_to_rdma(service))
		warn(out, service,
		     "takes unprivileged source ports, yet the RDMA server takes every client for "
		     "a privileged one");
	if (service->message_bytes < service->max_message_bytes)
		warn(out, service,
		     "takes messages of up to %u bytes only: memory_limit_mib has no room for a Call "
		     "and a Reply of max_message_bytes (%u)",
		     service->message_bytes, service->max_message_bytes);
	if (service->max_connections_per_client > service->max_connections)
		warn(out, service,
		     "has a max_connections_per_client (%u) above its max_connections (%u)",
		     service->max_connections_per_client, service->max_connections);
	warn_source_ports(service, out);
	warn_servers(service, out);
	warn_versions(service, out);
	warn_receives(config, service, out);
	warn_draft(service, out);
	warn_rdma(service, out);
}

/* None of a service's own keys may be without effect: this is the same for defaults. */
static void warn_defaults(const struct config *config, FILE *out)
{
	for (size_t i = 0; i < config->ndefaults; i++) {
		const struct config_default *at = &config->defaults[i];
		bool used = false;

		for (size_t k = 0; k < config->nservices && !used; k++)
			used = config_in_scope(&config->services[k], at->key->scope);
		if (!used)
			fprintf(out, "%s: warning: defaults: %s %s, and there are none\n",
				at->place, at->key->name, config_scope_text(at->key->scope));
	}
}

void config_warn(const struct config *config, FILE *out)
{
	if (config->http_hosts.count && config->http_listen.ss_family == AF_UNSPEC)
		fprintf(out, "%s:1: warning: http_hosts has no effect without http_listen\n",
			config->file);
	if (!config->nservices)
		fprintf(out, "%s:1: warning: no services: there is nothing to do\n", config->file);
	for (size_t i = 0; i < config->nservices; i++)
		warn_service(config, &config->services[i], out);
	if (config->nservices)
		warn_defaults(config, out);
}

/* ---- from which ports clients reach a TCP server ---- */

#define HIGH "ports of 1024 and above"
#define LOW  "ports below 1024"

/* With source = "client" the server sees the port of each TCP client itself. */
static bool chooses_ports(const struct service_config *service)
{
	bool to_tcp = service->connect.transport == TRANSPORT_TCP || config_asks_mount(service);

	return to_tcp && service->source_port != SOURCE_PORT_ANY &&
	       (config_listens_rdma(service) || !config_keeps_ports(service));
}

static void print_tcp(const struct service_config *service, FILE *out)
{
	if (!config_listens_tcp(service) || config_keeps_ports(service) ||
	    service->require_privileged_port)
		return;
	fprintf(out, "%s:%d: service %s: TCP clients from " HIGH " reach the server from %s\n",
		service->file, service->line, service->name,
		service->source_port == SOURCE_PORT_RESERVED ? LOW " (source_port)" : HIGH);
}

static void print_iwarp(const struct service_config *service, FILE *out)
{
	if (!config_listens_on(service, TRANSPORT_IWARP) &&
	    !config_listens_on(service, TRANSPORT_RDMA))
		return;
	fprintf(out, "%s:%d: service %s: iwarp clients from " HIGH " reach the server from ",
		service->file, service->line, service->name);
	if (service->source_port == SOURCE_PORT_RESERVED)
		fputs(LOW " (source_port)\n", out);
	else if (service->trusted_proxies.count)
		fputs(HIGH ", except those in trusted_proxies\n", out);
	else
		fputs(HIGH ": trusted_proxies is empty\n", out);
}

static void print_verbs(const struct service_config *service, FILE *out)
{
	if (!config_listens_on(service, TRANSPORT_VERBS) &&
	    !config_listens_on(service, TRANSPORT_RDMA))
		return;
	fprintf(out,
		"%s:%d: service %s: verbs clients reach the server from " LOW
		", whatever port they have: allow alone decides who may connect\n",
		service->file, service->line, service->name);
}

void config_ports_print(const struct config *config, FILE *out)
{
	for (size_t i = 0; i < config->nservices; i++) {
		const struct service_config *service = &config->services[i];

		if (!chooses_ports(service))
			continue;
		print_tcp(service, out);
		print_iwarp(service, out);
		print_verbs(service, out);
	}
}
