// SPDX-License-Identifier: BSD-3-Clause
/* A service while the daemon runs. */
#include "daemon/service/service.h"

#include <errno.h>

#include "daemon/base/log.h"

#define MPA_SETUP_TIMEOUT_US   10000000u /* Linux gives up after 10 s too */
#define VERBS_SETUP_TIMEOUT_US 10000000u

int service_init(struct service *service, const struct service_config *config)
{
	service->config = config;
	service->clients = clients_new(config->max_connections);
	if (!service->clients || door_init(&service->door, config)) {
		clients_free(service->clients);
		return -ENOMEM;
	}
	atomic_init(&service->peer_memory.refuses_until_us, 0);
	atomic_init(&service->connections, 0);
	atomic_init(&service->connections_total, 0);
	atomic_init(&service->shortfall_quiet_until_us, 0);
	for (size_t i = 0; i < ARRAY_SIZE(service->lines); i++)
		service->lines[i] =
			(struct log_limit){.whose = config->name, .burst = SERVICE_LINES_BURST};
	service->lines[LINE_NAME].burst = 1;
	server_state_init(&service->server, config->name, &config->connect);
	server_name_init(&service->name, &config->connect, config->name,
			 &service->lines[LINE_NAME]);
	return 0;
}

/* What no later line has told; nobody else logs about the service any more. */
static void tell_left_out(const struct service *service)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(service->lines); i++)
		sum += service->lines[i].suppressed;
	if (sum)
		log_info(NULL, "%s: %llu more lines about connections were left out",
			 service->config->name, (unsigned long long)sum);
}

void service_fini(struct service *service)
{
	tell_left_out(service);
	door_fini(&service->door);
	clients_free(service->clients);
	service->clients = NULL;
	server_name_fini(&service->name);
	server_state_fini(&service->server);
}

void service_iwarp_config(const struct service_config *config, struct iwarp_config *iwarp)
{
	*iwarp = (struct iwarp_config){
		.crc = config->mpa_crc,
		.fpdu_64k = config->fpdu_max == FPDU_MAX_64K,
		.setup_timeout_us = MPA_SETUP_TIMEOUT_US,
		.keepalive_s = config->keepalive_s,
	};
}

static void log_notice(const char *text)
{
	log_warning(NULL, "%s", text);
}

void service_verbs_config(const struct service_config *config, struct verbs_config *verbs)
{
	*verbs = (struct verbs_config){
		.setup_timeout_us = VERBS_SETUP_TIMEOUT_US,
		.busy_poll_us = config->busy_poll_us,
		.rnr_retry = config->rnr_retry,
		.notice = log_notice,
	};
}

static bool is_rdma(const struct config_uri *uri)
{
	return uri->transport == TRANSPORT_RDMA || uri->transport == TRANSPORT_VERBS;
}

unsigned service_verbs_ends(const struct service_config *config)
{
	return (unsigned)is_rdma(&config->listen) + (unsigned)is_rdma(&config->connect);
}

bool service_wants_verbs(const struct service_config *config)
{
	return service_verbs_ends(config) > 0;
}
