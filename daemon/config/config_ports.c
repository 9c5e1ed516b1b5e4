// SPDX-License-Identifier: BSD-3-Clause
/* From which ports clients reach a TCP server. */
#include "daemon/config/config_ports.h"

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
