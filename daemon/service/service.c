// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/service.h"

#include <errno.h>

#include "daemon/base/log.h"

#define MPA_SETUP_TIMEOUT_US   10000000u /* Linux times out after 10 s too */
#define VERBS_SETUP_TIMEOUT_US 10000000u

/* Texts about suppressed lines: "to-filer: 12 more opened in 5 s". */
static const struct {
	const char *what, *why;
} line_kinds[] = {
	[LINE_OPEN] = {"opened", NULL},
	[LINE_NOTE] = {"notes about clients or the server", NULL},
	[LINE_ATTEMPT] = {"attempts to connect to the server", NULL},
	[LINE_AVOIDED] = {"connections by iwarp instead of verbs", NULL},
	[LINE_SHORTAGE] = {"Calls waiting for memory", NULL},
	[LINE_SLOW] = {"Calls took slow_log_ms or longer", NULL},
	[LINE_NOT_ACCEPTED] = {"connections not accepted", "no memory or descriptors"},
	[LINE_DEBUG] = {"debug lines suppressed", NULL},
};

static void name_lines(struct service *service)
{
	const char *owner = service->config->name;
	struct log_limit *lines = service->lines;

	for (size_t i = 0; i < LINE_COUNT; i++)
		lines[i] = (struct log_limit){.owner = owner, .burst = SERVICE_LINES_BURST};
	for (size_t i = 0; i < ARRAY_SIZE(line_kinds); i++) {
		lines[i].what = line_kinds[i].what;
		lines[i].why = line_kinds[i].why;
	}
	for (size_t why = 0; why < LEG_CLOSE_COUNT; why++) {
		for (int by = 0; by < CLOSE_BY_COUNT; by++) {
			struct log_limit *closed = &lines[service_line_closed(why, by)];

			closed->what = close_reason_summary(why, by);
			closed->reason = leg_close_name(why);
			closed->why = why == LEG_CLOSE_PEER ? NULL : leg_close_text(why);
		}
		lines[LINE_REFUSED + why].burst = LOG_LIMIT_BURST;
		lines[LINE_REFUSED + why].what = "refused";
		lines[LINE_REFUSED + why].reason = leg_close_name(why);
		lines[LINE_REFUSED + why].why = leg_close_text(why);
	}
	lines[LINE_NAME].burst = 1;
	lines[LINE_NAME].refill_us = SERVICE_NAME_REFILL_US;
	lines[LINE_NAME].repeats = true;
	lines[LINE_SLOW].burst = LOG_LIMIT_BURST;
	lines[LINE_DEBUG].burst = SERVICE_DEBUG_BURST;
	lines[LINE_DEBUG].refill_us = SERVICE_DEBUG_REFILL_US;
}

int service_init(struct service *service, const struct service_config *config)
{
	const struct server_uris uris = server_uris_of(config), mounts = mount_servers_of(config);

	service->config = config;
	service->mount_servers = (struct servers){0};
	service->tls = service_tls_new(config);
	if (!service->tls)
		return -ENOMEM;
	service->clients = client_affinity_new(config->max_connections);
	if (!service->clients || conn_limits_init(&service->limits, config))
		goto out_clients;
	if (tls_limits_init(&service->tls_limits))
		goto out_conn_limits;
	if (servers_init(&service->servers, &uris, config, &service->lines[LINE_NAME]))
		goto out_tls_limits;
	if (mounts.count &&
	    servers_init(&service->mount_servers, &mounts, config, &service->lines[LINE_NAME]))
		goto out_targets;
	atomic_init(&service->draining, false);
	atomic_init(&service->removed, false);
	atomic_init(&service->connections, 0);
	atomic_init(&service->connections_total, 0);
	atomic_init(&service->source_rr_index, 0);
	atomic_init(&service->shortfall_quiet_until_us, 0);
	atomic_init(&service->mount_logged, false);
	atomic_init(&service->nfs_logged, false);
	late_calls_init(&service->late, config->name);
	client_events_init(&service->events);
	name_lines(service);
	return 0;
out_targets:
	servers_fini(&service->servers);
out_tls_limits:
	tls_limits_fini(&service->tls_limits);
out_conn_limits:
	conn_limits_fini(&service->limits);
out_clients:
	client_affinity_free(service->clients);
	service_tls_put(service->tls);
	return -ENOMEM;
}

void service_log_suppressed(struct service *service)
{
	log_report_suppressed(service->lines, ARRAY_SIZE(service->lines));
}

void service_fini(struct service *service)
{
	service_log_suppressed(service);
	late_calls_fini(&service->late);
	client_events_fini(&service->events);
	conn_limits_fini(&service->limits);
	tls_limits_fini(&service->tls_limits);
	client_affinity_free(service->clients);
	service->clients = NULL;
	servers_fini(&service->servers);
	servers_fini(&service->mount_servers);
	service_tls_put(service->tls);
	service->tls = NULL;
}

void service_iwarp_config(const struct service_config *config, struct iwarp_config *iwarp)
{
	*iwarp = (struct iwarp_config){
		.crc = config->mpa_crc,
		.fpdu = config->fpdu_max,
		.setup_timeout_us = MPA_SETUP_TIMEOUT_US,
		.keepalive_s = config->keepalive_s,
		.separate_connected = true,
	};
}

static void log_notice(const char *text)
{
	log_warning(NULL, "%s", text);
}

static void log_found(const char *text)
{
	log_info(NULL, "%s", text);
}

void service_verbs_config(const struct service_config *config, struct verbs_config *verbs)
{
	*verbs = (struct verbs_config){
		.setup_timeout_us = VERBS_SETUP_TIMEOUT_US,
		.busy_poll_us = config->busy_poll_us,
		.rnr_retry = config->rnr_retry,
		.pd_scope = config->rdma_domain,
		.windows_off = config->memory_windows == MEMORY_WINDOWS_OFF,
		.ack_timeout = config->rdma_ack_timeout,
		.tos = config->rdma_tos,
		.notice = log_notice,
		.found = log_found,
	};
}

bool service_verbs_listens(const struct service_config *config)
{
	return config_listens_on(config, TRANSPORT_RDMA) ||
	       config_listens_on(config, TRANSPORT_VERBS);
}

bool service_verbs_connects(const struct service_config *config)
{
	return config->connect.transport == TRANSPORT_RDMA ||
	       config->connect.transport == TRANSPORT_VERBS;
}
