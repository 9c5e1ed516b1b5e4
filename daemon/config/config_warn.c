// SPDX-License-Identifier: BSD-3-Clause
/* Warnings about settings that are legal but unwise, and about keys without effect. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/minmax.h"
#include "base/sockaddr.h"
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_services.h"
#include "daemon/config/config_tls.h"
#include "daemon/config/config_value.h"
#include "rpcrdma/proto.h"

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

/* Returns whether one entry of the list covers every address of that family. */
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

/*
 * Returns whether IPv4 clients can reach a listener, which they cannot at a specific IPv6 address.
 */
static bool listens_v4(const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		const char *host = config_listener(service, i)->host;

		if (!strchr(host, ':') || !strcmp(host, "::"))
			return true;
	}
	return false;
}

/* Returns whether each client must prove its name. */
static bool verifies_clients(const struct service_config *service)
{
	return service->tls.accept == CONFIG_TLS_REQUIRED &&
	       service->tls.verify_client == TLS_VERIFY_REQUIRED && !config_listens_rdma(service);
}

static void warn_allow(const struct service_config *service, FILE *out)
{
	bool v4 = allows_all(service, AF_INET), v6 = allows_all(service, AF_INET6);

	if (v6 && !allows_some_v4(service) && listens_v4(service))
		warn(out, service,
		     ": allow has \"::/0\" but no IPv4 prefix: IPv4 clients are refused; add "
		     "\"0.0.0.0/0\"");
	else if (!config_listens_nonlocal(service))
		return;
	else if (!service->has_allow && service->source == SOURCE_CLIENT)
		return; /* the server sees and checks the clients' addresses */
	else if (!service->has_allow && verifies_clients(service))
		return;
	else if (!service->has_allow)
		warn(out, service,
		     "listens beyond loopback without allow: every host that can reach it is "
		     "served%s",
		     service->send_proxy ? "" : ", and the server sees the proxy's address only");
	else if (v4 && v6)
		warn(out, service, "allows every address");
	else if (v4 || v6)
		warn(out, service, "allows every %s address", v4 ? "IPv4" : "IPv6");
}

/* Beyond loopback warn_allow() warns. */
static void warn_proxies(const struct service_config *service, FILE *out)
{
	const struct config_cidrs *proxies = &service->accept_proxy_from;

	if (proxies->count && !service->has_allow && config_uri_is_loopback(&service->listen))
		warn(out, service,
		     "has accept_proxy_from without allow: every client of those proxies "
		     "is served");
	if (has_all(proxies->list, proxies->count, AF_INET) ||
	    has_all(proxies->list, proxies->count, AF_INET6))
		warn(out, service,
		     "has every address in accept_proxy_from: any host can impersonate any "
		     "client");
}

/* The port of an iWARP client matters only for the source port to a TCP server. */
static void warn_trusted(const struct service_config *service, FILE *out)
{
	const struct config_cidrs *trusted = &service->trusted_proxies;
	bool to_tcp =
		service->connect.transport == TRANSPORT_TCP || config_has_mount_server(service);

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

/* Warns of a port that everybody uses for the other transport. */
static void warn_port(const struct service_config *service, const char *key,
		      const struct config_uri *uri, FILE *out)
{
	char text[CONFIG_URI_TEXT_BYTES], tcp_text[CONFIG_URI_TEXT_BYTES];
	char rdma_text[CONFIG_URI_TEXT_BYTES];
	bool is_tcp = uri->transport == TRANSPORT_TCP;
	char tcp_port[] = "2049", rdma_port[] = "20049";
	struct config_uri tcp = {TRANSPORT_TCP, uri->host, tcp_port};
	struct config_uri rdma = {is_tcp ? TRANSPORT_RDMA : uri->transport, uri->host, rdma_port};

	if (strcmp(uri->port, is_tcp ? rdma_port : tcp_port))
		return;
	warn(out, service, ": %s: %s has the port of NFS over %s: did you mean %s or %s?", key,
	     config_uri_text(uri, text), is_tcp ? "RDMA" : "TCP",
	     config_uri_text(is_tcp ? &rdma : &tcp, is_tcp ? rdma_text : tcp_text),
	     config_uri_text(is_tcp ? &tcp : &rdma, is_tcp ? tcp_text : rdma_text));
}

/* TCP and iWARP clients can share a port, whichever it is. */
static bool shares_port(const struct service_config *service, const struct config_uri *listen)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (config_uri_can_share(config_listener(service, i), listen))
			return true;
	return false;
}

/* Such an address is on each interface: without one the kernel refuses it. */
static void warn_zone(const struct service_config *service, const char *key,
		      const struct config_uri *uri, FILE *out)
{
	if (config_uri_lacks_zone(uri))
		warn(out, service,
		     ": %s: %s is a link-local address, which needs its interface: write "
		     "[%s%%eth0] with the name of the interface",
		     key, uri->host, uri->host);
}

static void warn_addresses(const struct service_config *service, FILE *out)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		if (!shares_port(service, config_listener(service, i)))
			warn_port(service, "listen", config_listener(service, i), out);
		warn_zone(service, "listen", config_listener(service, i), out);
	}
	for (unsigned i = 0; i < config_nservers(service); i++) {
		warn_port(service, "connect", config_server(service, i), out);
		warn_zone(service, "connect", config_server(service, i), out);
	}
	if (service->mount.way == MOUNT_AT)
		warn_zone(service, "mount", &service->mount.at, out);
}

static void warn_connect(const struct service_config *service, FILE *out)
{
	for (unsigned i = 0; i < config_nservers(service); i++)
		if (config_uri_is_any(config_server(service, i)))
			warn(out, service,
			     "connects to %s, which means this host itself: write the server's "
			     "name or address",
			     config_server(service, i)->host);
}

static void warn_source_ports(const struct service_config *service, FILE *out)
{
	uint32_t ports = config_reserved_ports(service);

	if (config_keeps_client_ports(service) && !config_listens_rdma(service) &&
	    service->source_port != SOURCE_PORT_AUTO)
		warn(out, service,
		     "has source_port, which does nothing: with source = \"client\" each "
		     "connection has the port of its TCP client");
	if (service->connect.transport != TRANSPORT_TCP ||
	    service->source_port == SOURCE_PORT_ANY || service->auto_connections ||
	    service->max_connections <= ports)
		return;
	warn(out, service,
	     "has max_connections = %u, but only the first %u connections can use a source port "
	     "below 1024: later ones %s",
	     service->max_connections, ports,
	     service->source_port == SOURCE_PORT_RESERVED
		     ? "are refused (source_port = \"reserved\")"
		     : "will be refused by exports without \"insecure\": lower max_connections, "
		       "or export with \"insecure\" and set source_port = \"any\"");
}

/* Returns whether connections of the service have no ports but those below 1024 of the proxy. */
static bool has_reserved_ports_only(const struct service_config *service)
{
	return service->connect.transport == TRANSPORT_TCP &&
	       service->source_port == SOURCE_PORT_RESERVED && service->source != SOURCE_CLIENT;
}

/* Without source_address the host chooses, for both alike. */
static bool have_common_source(const struct service_config *a, const struct service_config *b)
{
	if (!a->nsources || !b->nsources)
		return a->nsources == b->nsources;
	for (size_t i = 0; i < a->nsources; i++)
		for (size_t k = 0; k < b->nsources; k++)
			if (sockaddr_same_host((const struct sockaddr *)&a->sources[i],
					       (const struct sockaddr *)&b->sources[k]))
				return true;
	return false;
}

/* Returns the first server of @a that is one of @b too, as far as the file shows; NULL: none. */
static const struct config_uri *common_server(const struct service_config *a,
					      const struct service_config *b)
{
	for (unsigned i = 0; i < config_nservers(a); i++) {
		const struct config_uri *server = config_server(a, i);

		for (unsigned k = 0; k < config_nservers(b); k++)
			if (!strcasecmp(server->host, config_server(b, k)->host) &&
			    !strcmp(server->port, config_server(b, k)->port))
				return server;
	}
	return NULL;
}

/*
 * A port can have one connection to a server, whichever service it is of (lib/stream/reserved_ports.h).
 * max_connections of a service does not depend on others, so a sum above the ports is not lowered.
 */
static void warn_shared_ports(const struct config *config, size_t index, FILE *out)
{
	const struct service_config *service = &config->services[index], *first = NULL;
	uint64_t sum = service->max_connections;
	char text[CONFIG_URI_TEXT_BYTES];

	if (!has_reserved_ports_only(service))
		return;
	for (size_t i = 0; i < index; i++) {
		const struct service_config *other = &config->services[i];

		if (!has_reserved_ports_only(other) || !have_common_source(service, other) ||
		    !common_server(service, other))
			continue;
		sum += other->max_connections;
		if (!first)
			first = other;
	}
	if (!first || sum <= config_reserved_ports(service))
		return;
	warn(out, service,
	     "shares its %u source ports below 1024 with service %s, which connects to the same "
	     "server %s: their max_connections come to %" PRIu64 ", and later clients are refused; "
	     "give each service its own source_address, or lower max_connections",
	     config_reserved_ports(service), first->name,
	     config_uri_text(common_server(service, first), text), sum);
}

/* Over iwarp:// the server is another proxy, which chooses its own source ports. */
static bool accepts_any_port_to_rdma(const struct service_config *service)
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

/* Returns why a value that is not the default has no effect; NULL: it has, or is the default. */
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

/* Returns the initial receive size of version two. */
static uint32_t proto_sniff(const struct service_config *service)
{
	return max_u32(service->inline_threshold_bytes, RPCRDMA_DEFAULT_INLINE_TWO);
}

static bool keeps_receives(const struct service_config *service)
{
	return !is_preset("receive_max_bytes", service->receive_max_bytes) &&
	       service->receive_max_bytes <= proto_sniff(service);
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
		     "has receive_max_bytes = %u, so receives never grow: they start with "
		     "%u bytes",
		     service->receive_max_bytes, proto_sniff(service));
	if (receives)
		warn(out, service, "has receive_max_bytes = %u, which does nothing: %s",
		     service->receive_max_bytes, receives);
	if (chunks)
		warn(out, service, "has reverse_chunks = true, which does nothing: %s", chunks);
}

/* Receives belong to no RPC, so memory_limit_mib does not cover them. */
static void warn_receives(const struct config *config, const struct service_config *service,
			  FILE *out)
{
	double each_mib = (double)config_memory_receives_bytes(service) / MIB;
	double all_mib = each_mib * service->max_connections;

	if (is_preset("inline_threshold_bytes", service->inline_threshold_bytes) ||
	    service->auto_connections || all_mib <= config->memory_limit_mib)
		return;
	warn(out, service,
	     "has inline_threshold_bytes = %u: with credits = %u the receives of a connection take "
	     "up to %.1f MiB, those of all %u of max_connections up to %.0f MiB, in addition to "
	     "memory_limit_mib (%u)",
	     service->inline_threshold_bytes, service->credits, each_mib, service->max_connections,
	     all_mib, config->memory_limit_mib);
}

static bool has_draft(const struct service_config *service)
{
	return service->listen_compat == DIALECT_DRAFT03 ||
	       service->connect_compat == DIALECT_DRAFT03;
}

/* Returns why the threshold pads no message, or NULL. */
static const char *idle_padding(const struct service_config *service)
{
	bool aligns = service->padding_align_bytes > 1;

	if (!aligns && !is_preset("padding_threshold_bytes", service->padding_threshold_bytes))
		return "does nothing without padding_align_bytes";
	if (aligns && service->padding_threshold_bytes >= service->inline_threshold_bytes)
		return "no message reaches: inline_threshold_bytes is not above it";
	return NULL;
}

/* Keys of the draft without a side that uses it. */
static void warn_draft(const struct service_config *service, FILE *out)
{
	bool lends = service->listen_compat == DIALECT_DRAFT03;

	if (service->padding_align_bytes > 1 && !has_draft(service))
		warn(out, service,
		     "has padding_align_bytes = %u, which does nothing: it needs listen_compat or "
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

/* Keys that choose among servers, if there is only one. */
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

/* Keys of verbs with surprising effects. */
static void warn_rdma(const struct service_config *service, FILE *out)
{
	if (service->rdma_domain == VERBS_PD_WORKER)
		warn(out, service,
		     "has rdma_domain = \"worker\": on RDMA devices without memory windows, and on "
		     "iWARP devices, a peer that guesses a key can access memory exposed to other "
		     "peers");
	if ((service->rdma_tos & ECN_BITS) == ECN_BITS)
		warn(out, service,
		     "has rdma_tos = %u, whose lowest two bits mark each packet as having met "
		     "congestion: use %u to let switches mark packets",
		     service->rdma_tos, service->rdma_tos - 1);
}

/* Only of a service's own key: that of the file is meant for the services that serve MOUNT. */
static void warn_register(const struct service_config *service, FILE *out)
{
	if (!service->has_register || service->registered != REGISTER_MOUNT)
		return;
	if (service->mount.way == MOUNT_OFF)
		warn(out, service,
		     "has register = \"mount\" and mount = \"off\": MOUNT is not registered");
	else if (!config_listens_tcp(service))
		warn(out, service,
		     "has register = \"mount\" and no tcp:// listener, where clients would ask for "
		     "MOUNT: MOUNT is not registered");
}

static void warn_service(const struct config *config, const struct service_config *service,
			 FILE *out)
{
	warn_allow(service, out);
	warn_proxies(service, out);
	warn_trusted(service, out);
	warn_connect(service, out);
	warn_addresses(service, out);
	if (service->has_allow && !service->nallow)
		warn(out, service, "has an empty allow: no client can connect");
	if (accepts_any_port_to_rdma(service))
		warn(out, service,
		     "accepts clients from any source port, but the RDMA server will trust them as "
		     "privileged (root) clients");
	if (service->message_bytes < service->max_message_bytes)
		warn(out, service,
		     "accepts messages of up to %u bytes only: memory_limit_mib is too small for a "
		     "Call and a Reply of max_message_bytes (%u)",
		     service->message_bytes, service->max_message_bytes);
	if (!service->auto_connections &&
	    service->max_connections_per_client > service->max_connections)
		warn(out, service,
		     "has a max_connections_per_client (%u) above its max_connections (%u)",
		     service->max_connections_per_client, service->max_connections);
	warn_source_ports(service, out);
	warn_servers(service, out);
	warn_versions(service, out);
	warn_receives(config, service, out);
	warn_draft(service, out);
	warn_rdma(service, out);
	warn_register(service, out);
	config_tls_warn(service, out);
}

/* Keys that do not apply are errors in a service, and warnings in defaults. */
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

static void warn_http(const struct config *config, FILE *out)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&config->http_listen;

	if (in6->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
	    !in6->sin6_scope_id)
		fprintf(out,
			"%s:1: warning: http_listen is a link-local address, which needs its "
			"interface: write [fe80::1%%eth0]:9180 with the name of the interface\n",
			config->file);
}

void config_warn(const struct config *config, FILE *out)
{
	if (config->include_stray)
		fprintf(out,
			"%s: warning: include_dir: %s has no *.conf, so it adds no services; to use "
			"%s, give it a name that ends in .conf\n",
			config->include_place, config->include_dir, config->include_stray);
	warn_http(config, out);
	if (config->http_hosts.count && config->http_listen.ss_family == AF_UNSPEC)
		fprintf(out, "%s:1: warning: http_hosts has no effect without http_listen\n",
			config->file);
	for (size_t i = 0; i < config->nservices; i++) {
		warn_service(config, &config->services[i], out);
		warn_shared_ports(config, i, out);
	}
	if (config->nservices)
		warn_defaults(config, out);
}

/* ---- source ports to a TCP server ---- */

#define HIGH "ports of 1024 and above"
#define LOW  "ports below 1024"

/* With source = "client" connections of TCP clients keep the client's port. */
static bool chooses_ports(const struct service_config *service)
{
	bool to_tcp =
		service->connect.transport == TRANSPORT_TCP || config_has_mount_server(service);

	return to_tcp && service->source_port != SOURCE_PORT_ANY &&
	       (config_listens_rdma(service) || !config_keeps_client_ports(service));
}

static void print_tcp(const struct service_config *service, FILE *out)
{
	if (!config_listens_tcp(service) || config_keeps_client_ports(service) ||
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
		", whatever port they use: only allow restricts who can connect\n",
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
