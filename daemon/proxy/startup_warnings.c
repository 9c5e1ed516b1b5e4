// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/startup_warnings.h"

#include "daemon/base/log.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/transparent_routes.h"
#include "daemon/service/service.h"
#include "fabric/verbs/verbs.h"
#include "stream/tcp_connect.h"

static void check_descriptors(const struct config *config, unsigned max_connections)
{
	uint64_t wanted = config_connections_of_file(config);

	if (wanted > max_connections)
		log_warning(NULL,
			    "max_connections of all services come to %llu, but the limit of "
			    "descriptors (LimitNOFILE= in the unit, ulimit -n in a shell) allows "
			    "%u: further clients will wait; raise the limit to %llu, or lower "
			    "max_connections",
			    (unsigned long long)wanted, max_connections,
			    (unsigned long long)config_descriptors(config));
}

static void check_source_ports(const struct config *config)
{
	static const char what[] = "cannot use source ports below 1024: "
				   "CAP_NET_BIND_SERVICE is missing";

	if (tcp_connect_may_reserve())
		return;
	for (size_t i = 0; i < config->nservices; i++) {
		const struct service_config *service = &config->services[i];

		if (service->connect.transport != TRANSPORT_TCP)
			continue;
		if (service->source_port == SOURCE_PORT_RESERVED)
			log_warning(LOG_ABOUT(.service = service->name),
				    "%s (source_port = \"reserved\")", what);
		else if (service->source_port == SOURCE_PORT_AUTO)
			log_warning(
				LOG_ABOUT(.service = service->name),
				"%s (source_port = \"auto\"): connections come from ports "
				"of 1024 or above, which NFS exports without \"insecure\" refuse",
				what);
	}
}

static void log_route(void *arg, const struct service_config *service, const char *text)
{
	(void)arg;
	log_warning(LOG_ABOUT(.service = service->name), "%s", text);
}

static void check_routes(const struct config *config)
{
	for (size_t i = 0; i < config->nservices; i++)
		transparent_routes_missing(&config->services[i], log_route, NULL);
}

/* Every client can have its own address; the number of servers is known. */
static size_t domains_of(const struct service_config *service, bool listens, bool connects)
{
	switch (service->rdma_domain) {
	case VERBS_PD_CONNECTION:
		return (size_t)(listens + connects) * config_share(service);
	case VERBS_PD_WORKER:
		return 1;
	default:
		return (listens ? config_share(service) : 0) +
		       (connects ? config_nservers(service) : 0);
	}
}

static void add_use(const struct config *config, const struct service_config *service,
		    struct verbs_memlock_use *use)
{
	bool connects = service_verbs_connects(service);
	bool listens = service_verbs_listens(service);

	if (!listens && !connects)
		return;
	if (service->memory_windows == MEMORY_WINDOWS_OFF)
		use->per_peer++;
	else
		use->services++;
	use->domains += domains_of(service, listens, connects);
	use->queues_bytes += config_memory_queues_bytes(service) * config_share(service) +
			     config_memory_cqs_bytes(config, service, config_share(service));
}

/* An estimate: what is registered depends on the peers. */
static void check_memlock(const struct config *config)
{
	struct verbs_memlock_use use = {.memory_bytes = config_memory_buffers_bytes(config)};
	char text[256];

	if (!verbs_devices_present())
		return;
	for (size_t i = 0; i < config->nservices; i++)
		add_use(config, &config->services[i], &use);
	if (use.services + use.per_peer && !verbs_memlock_check(&use, text, sizeof(text)))
		log_warning(NULL, "%s", text);
}

void startup_warnings_log(const struct config *config, unsigned max_connections)
{
	check_memlock(config);
	check_descriptors(config, max_connections);
	check_source_ports(config);
	check_routes(config);
}
