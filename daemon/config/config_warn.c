// SPDX-License-Identifier: BSD-3-Clause
/* What is legal in a configuration but unwise. */
#include <stdarg.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/config/config_value.h"
#include "stream/ports.h"

static void PRINTF_LIKE(4, 5) warn(FILE *out, const struct config *config,
				   const struct service_config *service, const char *format, ...)
{
	va_list ap;

	fprintf(out, "%s:%d: warning: service %s ", config->file, service->line, service->name);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputc('\n', out);
}

static bool allows_everyone(const struct service_config *service)
{
	for (size_t i = 0; i < service->nallow; i++)
		if (service->allow[i].prefix_bits == 0)
			return true;
	return !service->has_allow;
}

static void warn_source_ports(const struct config *config, const struct service_config *service,
			      FILE *out)
{
	if (service->connect.transport != TRANSPORT_TCP ||
	    service->source_port == SOURCE_PORT_ANY || service->max_connections <= PORTS_COUNT)
		return;
	warn(out, config, service,
	     "has max_connections = %u, but there are only %u reserved source ports: connections "
	     "past these %s",
	     service->max_connections, PORTS_COUNT,
	     service->source_port == SOURCE_PORT_RESERVED
		     ? "are refused (source_port = \"reserved\")"
		     : "come from unprivileged ports, which NFS exports refuse unless they are "
		       "\"insecure\"");
}

static void warn_service(const struct config *config, const struct service_config *service,
			 FILE *out)
{
	bool loopback = config_uri_is_loopback(&service->listen);

	if (!loopback && !service->has_allow)
		warn(out, config, service,
		     "listens beyond loopback without allow: every host that reaches it is served, "
		     "and the server sees the proxy's address only");
	else if (!loopback && allows_everyone(service))
		warn(out, config, service, "allows every address");
	if (service->has_allow && !service->nallow)
		warn(out, config, service, "has an empty allow: nobody can connect");
	if (service->listen.transport == TRANSPORT_TCP &&
	    service->connect.transport != TRANSPORT_TCP && !service->require_privileged_port)
		warn(out, config, service,
		     "takes unprivileged source ports, yet the RDMA server takes every client for "
		     "a privileged one");
	if (service->message_bytes < service->max_message_bytes)
		warn(out, config, service,
		     "takes messages of up to %u bytes only: memory_limit_mib has no room for a Call "
		     "and a Reply of max_message_bytes (%u)",
		     service->message_bytes, service->max_message_bytes);
	if (service->max_connections_per_client > service->max_connections)
		warn(out, config, service,
		     "has a max_connections_per_client (%u) above its max_connections (%u)",
		     service->max_connections_per_client, service->max_connections);
	warn_source_ports(config, service, out);
}

void config_warn(const struct config *config, FILE *out)
{
	if (!config->nservices)
		fprintf(out, "%s:1: warning: no services: there is nothing to do\n", config->file);
	for (size_t i = 0; i < config->nservices; i++)
		warn_service(config, &config->services[i], out);
}
