// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_limits.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/config/config_memory.h"
#include "stream/reserved_ports.h"

const char *config_limit_name(enum config_limit limit)
{
	static const char *const names[] = {
		[CONFIG_LIMIT_FILE] = "file",
		[CONFIG_LIMIT_PORTS] = "ports",
		[CONFIG_LIMIT_DESCRIPTORS] = "descriptors",
		[CONFIG_LIMIT_MEMORY] = "memory",
	};

	return names[limit];
}

/* Each source address has RESERVED_PORTS_COUNT ports. A client's own address has them all. */
uint32_t config_reserved_ports(const struct service_config *service)
{
	if (service->source == SOURCE_CLIENT)
		return UINT32_MAX;
	return RESERVED_PORTS_COUNT * (service->nsources ? (uint32_t)service->nsources : 1);
}

static bool needs_reserved_ports(const struct service_config *service)
{
	return service->connect.transport == TRANSPORT_TCP &&
	       service->source_port == SOURCE_PORT_RESERVED;
}

/*
 * Returns the connections that the process can open descriptors for: those that the daemon has
 * counted, so that more clients wait to be accepted instead of being refused
 * (daemon/proxy/accept.c), or without a daemon no more than it will count.
 */
static uint64_t by_descriptors(const struct config *config)
{
	uint64_t taken = CONFIG_DESCRIPTORS_RESERVED + config_descriptors_idle(config);

	if (config->host.connections)
		return config->host.connections;
	if (config->host.descriptors < taken)
		return 0;
	return (config->host.descriptors - taken) / CONFIG_DESCRIPTORS_CONNECTION;
}

/* Returns the connections whose memory outside of memory_limit_mib fits. */
static uint64_t by_memory(const struct config *config, const struct service_config *service)
{
	uint64_t taken = config_memory_alone_bytes(config, service);
	uint64_t each =
		config_memory_uncharged_bytes(service) + config_memory_queues_bytes(service);
	uint64_t fits;

	if (!config->host.memory_bytes)
		return UINT64_MAX;
	fits = config->host.memory_bytes > taken ? (config->host.memory_bytes - taken) / 2 / each
						 : 0;
	return fits > CONFIG_AUTO_SHARE ? fits : CONFIG_AUTO_SHARE;
}

static void lower(struct service_config *service, uint64_t connections, enum config_limit limit)
{
	if (connections >= service->max_connections)
		return;
	service->max_connections = connections ? (uint32_t)connections : 1;
	service->limit = limit;
}

void config_limits_resolve(struct config *config)
{
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		if (!service->auto_connections)
			continue;
		service->max_connections = CONFIG_CONNECTIONS_MAX;
		service->limit = CONFIG_LIMIT_DESCRIPTORS;
		lower(service, by_descriptors(config), CONFIG_LIMIT_DESCRIPTORS);
		lower(service, by_memory(config, service), CONFIG_LIMIT_MEMORY);
		if (needs_reserved_ports(service))
			lower(service, config_reserved_ports(service), CONFIG_LIMIT_PORTS);
	}
}

const char *config_limit_text(const struct service_config *service,
			      char text[static CONFIG_LIMIT_TEXT_BYTES])
{
	static const char *const whys[] = {
		[CONFIG_LIMIT_FILE] = "",
		[CONFIG_LIMIT_PORTS] = "the source ports below 1024 (source_port = \"reserved\")",
		[CONFIG_LIMIT_DESCRIPTORS] = "the limit of descriptors (LimitNOFILE= in the unit)",
		[CONFIG_LIMIT_MEMORY] = "the memory of this host",
	};

	text[0] = '\0';
	if (service->limit != CONFIG_LIMIT_FILE)
		snprintf(text, CONFIG_LIMIT_TEXT_BYTES, "%" PRIu32 ", by %s",
			 service->max_connections, whys[service->limit]);
	return text;
}

void config_limits_print(const struct config *config, FILE *out)
{
	char text[CONFIG_LIMIT_TEXT_BYTES];

	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].auto_connections)
			fprintf(out, "%s: service %s: max_connections = \"auto\" is %s\n",
				config->file, config->services[i].name,
				config_limit_text(&config->services[i], text));
}
