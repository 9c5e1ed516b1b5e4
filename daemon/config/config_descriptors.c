// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_descriptors.h"

#include <inttypes.h>

/* Standard streams, signals, log, control socket, the main thread's loop; and what RDMA devices take once. */
#define OF_DAEMON 37u
/* Where it is asked over HTTP: a listener and its connections, and those of another in a reload. */
#define OF_HTTP   66u
#define OF_HEALTH 5u /* the loop in which servers are tried */
#define OF_WORKER 5u /* its loop */
/* What tries its servers: a connection, and another at its MOUNT service. */
#define OF_CHECK  2u
#define OF_LISTEN 16u /* a listener on each fabric at each address of a host name, at most */
/* Each worker's for a service on RDMA devices: two channels, and what wakes it for other threads and for devices. */
#define OF_VERBS 4u

static bool is_verbs(const struct config_uri *uri)
{
	return uri->transport == TRANSPORT_VERBS || uri->transport == TRANSPORT_RDMA;
}

uint64_t config_connections(const struct config *config)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < config->nservices; i++)
		sum += config->services[i].max_connections;
	return sum;
}

static bool has_verbs(const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (is_verbs(config_listener(service, i)))
			return true;
	return is_verbs(&service->connect);
}

uint64_t config_descriptors(const struct config *config)
{
	uint64_t sum = CONFIG_DESCRIPTORS_KEPT + OF_DAEMON + OF_HTTP + OF_HEALTH +
		       (uint64_t)OF_WORKER * config->workers +
		       CONFIG_DESCRIPTORS_CONNECTION * config_connections(config);

	for (size_t i = 0; i < config->nservices; i++) {
		const struct service_config *service = &config->services[i];

		sum += OF_LISTEN * config_nlisteners(service) + OF_CHECK + CONFIG_DESCRIPTORS_HELD;
		/* Each worker asks rpcbind of each server by itself. */
		if (service->mount.way == MOUNT_RPCBIND)
			sum += (uint64_t)config->workers * config_nservers(service);
		if (has_verbs(service))
			sum += (uint64_t)OF_VERBS * config->workers;
	}
	return sum;
}

uint64_t config_descriptors_least(const struct config *config)
{
	return OF_DAEMON + OF_HEALTH + (uint64_t)OF_WORKER * config->workers + config->nservices +
	       CONFIG_DESCRIPTORS_CONNECTION;
}

void config_descriptors_print(const struct config *config, FILE *out)
{
	fprintf(out, "%s: descriptors: up to %" PRIu64 ", for %" PRIu64 " connections\n",
		config->file, config_descriptors(config), config_connections(config));
}

void config_descriptors_warn(const struct config *config, uint64_t limit, FILE *out)
{
	uint64_t need = config_descriptors(config);

	if (need > limit)
		fprintf(out,
			"%s:1: warning: as many connections as max_connections allows take up to "
			"%" PRIu64 " descriptors, but the limit here (LimitNOFILE, ulimit -n) is "
			"%" PRIu64 ": clients past it wait to be connected\n",
			config->file, need, limit);
}
