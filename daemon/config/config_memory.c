// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/minmax.h"
#include "daemon/base/humanize.h"
#include "daemon/config/config.h"
#include "fabric/iwarp/engine.h"
#include "fabric/iwarp/tx_batch.h"
#include "fabric/verbs/verbs_config.h"
#include "leg/exchange.h"
#include "rpcrdma/memory_bound.h"
#include "rpcrdma/work_request.h"
#include "rpctcp/tcp_leg.h"
#include "tls/tls_stream.h"

#define MIB             ((size_t)1024 * 1024)
#define RESERVE_DIVISOR 16u
#define KEPT_DIVISOR    2u

size_t config_memory_guaranteed_bytes(void)
{
	return 2 * rpc_msg_cost_bytes(REPLY_UNBOUNDED_BYTES);
}

size_t config_memory_limit_bytes(const struct config *config)
{
	return config->memory_limit_mib * MIB;
}

size_t config_memory_min_mib(const struct config *config)
{
	return (config->nservices * config_memory_guaranteed_bytes() + MIB - 1) / MIB;
}

/* Returns the largest RPC that is always admitted eventually, whatever other services hold. */
static size_t largest_rpc_bytes(const struct config *config)
{
	return budget_largest_claim_bytes(config_memory_limit_bytes(config),
					  config_memory_guaranteed_bytes(), config->nservices);
}

/* Returns the largest receive size of a version; 0 if its receives do not grow. */
static uint32_t recv_max_bytes(const struct service_config *service, uint32_t version)
{
	if (version < 2)
		return 0;
	return service->characteristics ? service->receive_max_bytes : RPCRDMA_DEFAULT_INLINE_TWO;
}

/* Returns the sizes of an RDMA leg. */
static struct memory_bound_params leg_recv_sizes(const struct service_config *service,
						 bool accepted)
{
	uint32_t version = accepted ? service->listen_version : service->connect_version;
	enum dialect_id compat = accepted ? service->listen_compat : service->connect_compat;

	return (struct memory_bound_params){
		.accepted = accepted,
		.credits = service->credits,
		.inline_threshold_bytes = service->inline_threshold_bytes,
		.recv_max_bytes = recv_max_bytes(service, version),
		.config_protocol = service->config_protocol,
		.reverse_chunks =
			version > 1 && service->characteristics && service->reverse_chunks,
		.read_chunk_replies = dialect(compat)->read_chunk_replies,
	};
}

struct reply_memory config_memory_reply_space(const struct service_config *service)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, false);

	return memory_bound_reply(&sizes);
}

struct reply_memory config_memory_reverse_space(const struct service_config *service, bool rdma)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, true);

	if (!rdma || !sizes.reverse_chunks)
		return (struct reply_memory){0};
	return memory_bound_reply(&sizes);
}

uint32_t config_memory_reverse_max_bytes(const struct service_config *service, bool rdma)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, true);

	if (!rdma || sizes.reverse_chunks)
		return REVERSE_MAX_BYTES;
	return max_u32(service->inline_threshold_bytes, sizes.recv_max_bytes);
}

/* Returns the memory of an RPC of the service whose Call and Reply have this length. */
static size_t rpc_bytes(const struct service_config *service, uint32_t message_bytes)
{
	struct reply_memory reply_memory = {0};
	size_t segments = 0;

	if (service->connect.transport != TRANSPORT_TCP)
		reply_memory = config_memory_reply_space(service);
	if (config_listens_rdma(service))
		segments = RPCRDMA_MAX_SEGMENTS + message_bytes / WORK_REQUEST_MIN_WRITE_BYTES;
	return exchange_cost_bytes(rpc_msg_cost_bytes(message_bytes), message_bytes, NULL,
				   &reply_memory) +
	       work_request_cost_bytes(segments);
}

size_t config_memory_buffer_bytes(const struct service_config *service)
{
	uint32_t recv = max_u32(
		rdma_recv_bytes(service->inline_threshold_bytes, 0, service->config_protocol),
		service->receive_max_bytes);

	return rpc_msg_cost_bytes(max_u32(service->max_message_bytes, recv));
}

size_t config_memory_buffer_max_bytes(void)
{
	return rpc_msg_cost_bytes(CONFIG_MESSAGE_MAX_BYTES);
}

uint32_t config_memory_largest_bytes(const struct config *config,
				     const struct service_config *service)
{
	size_t max_u32 = largest_rpc_bytes(config);
	uint32_t fits = 0;

	if (rpc_bytes(service, service->max_message_bytes) <= max_u32)
		return service->max_message_bytes;
	/* Costs grow in steps, so search the largest size that fits, bit by bit. */
	for (uint32_t bit = 1u << 31; bit; bit >>= 1)
		if ((fits | bit) < service->max_message_bytes &&
		    rpc_bytes(service, fits | bit) <= max_u32)
			fits |= bit;
	return fits;
}

static size_t service_staging_bytes(const struct config *config)
{
	return (size_t)config->workers * (TCP_STAGING_BYTES + IWARP_RX_STAGING_BYTES);
}

size_t config_memory_staging_bytes(const struct config *config)
{
	return config->nservices * service_staging_bytes(config);
}

static size_t leg_receives_bytes(const struct service_config *service, const struct config_uri *end,
				 bool accepted)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, accepted);

	if (end->transport == TRANSPORT_TCP || end->transport == TRANSPORT_IWARP)
		return 0;
	return memory_bound_recvs_bytes(&sizes);
}

/* Returns the largest value over the listeners of the service. */
static size_t most_of_clients(const struct service_config *service,
			      size_t (*bytes_of)(const struct service_config *service,
						 const struct config_uri *end, bool accepted))
{
	size_t most_bytes = 0;

	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		size_t bytes = bytes_of(service, config_listener(service, i), true);

		most_bytes = bytes > most_bytes ? bytes : most_bytes;
	}
	return most_bytes;
}

size_t config_memory_receives_bytes(const struct service_config *service)
{
	return most_of_clients(service, leg_receives_bytes) +
	       leg_receives_bytes(service, &service->connect, false);
}

/* Returns how many receives a device endpoint can post; 0 if the leg uses no device. */
static unsigned leg_receives(const struct service_config *service, const struct config_uri *end,
			     bool accepted)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, accepted);

	if (end->transport == TRANSPORT_TCP || end->transport == TRANSPORT_IWARP)
		return 0;
	return memory_bound_recvs(&sizes);
}

static size_t leg_queues_bytes(const struct service_config *service, const struct config_uri *end,
			       bool accepted)
{
	unsigned recvs = leg_receives(service, end, accepted);

	return recvs ? verbs_queues_bytes(recvs) : 0;
}

size_t config_memory_queues_bytes(const struct service_config *service)
{
	return most_of_clients(service, leg_queues_bytes) +
	       leg_queues_bytes(service, &service->connect, false);
}

size_t config_memory_cqs_bytes(const struct config *config, const struct service_config *service,
			       unsigned connections)
{
	unsigned recvs = leg_receives(service, &service->connect, false);
	bool connects = recvs > 0, listens = false;

	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		unsigned more = leg_receives(service, config_listener(service, i), true);

		recvs = more > recvs ? more : recvs;
		listens |= more > 0;
	}
	connections *= (unsigned)(connects + listens);
	return recvs ? config->workers * verbs_cqs_spare_bytes(connections, recvs) : 0;
}

/* Returns the memory of TLS of the leg to @end; 0: it has none. */
static size_t leg_tls_bytes(const struct service_config *service, const struct config_uri *end,
			    bool accepted)
{
	bool tls = accepted ? service->tls.accept != CONFIG_TLS_OFF : service->tls.connect;

	return tls && end->transport == TRANSPORT_TCP ? tls_stream_memory_bytes() : 0;
}

static size_t leg_uncharged_bytes(const struct service_config *service,
				  const struct config_uri *end, bool accepted)
{
	const struct memory_bound_params sizes = leg_recv_sizes(service, accepted);

	if (end->transport == TRANSPORT_TCP)
		return tcp_leg_overhead_bytes(accepted) + leg_tls_bytes(service, end, accepted);
	return memory_bound_uncharged_bytes(&sizes) + sizeof(struct iwarp_tx_batch);
}

size_t config_memory_uncharged_bytes(const struct service_config *service)
{
	return most_of_clients(service, leg_uncharged_bytes) +
	       leg_uncharged_bytes(service, &service->connect, false) + CONFIG_CLIENT_BYTES;
}

size_t config_memory_reserve_bytes(const struct config *config)
{
	size_t bytes = config_memory_limit_bytes(config) / RESERVE_DIVISOR / config->workers;

	/* The pool maps larger buffers each time; buffers of common RPCs must stay mapped. */
	return bytes > config_memory_guaranteed_bytes() ? bytes : config_memory_guaranteed_bytes();
}

size_t config_memory_kept_bytes(const struct config *config)
{
	size_t bytes = config_memory_limit_bytes(config) / KEPT_DIVISOR / config->workers;
	size_t reserve_bytes = config_memory_reserve_bytes(config);

	return bytes > reserve_bytes ? bytes : reserve_bytes;
}

static size_t unused_bytes(const struct config *config, bool devices)
{
	return config->workers *
	       (devices ? config_memory_kept_bytes(config) : config_memory_reserve_bytes(config));
}

size_t config_memory_unused_bytes(const struct config *config)
{
	bool devices = false;

	for (size_t i = 0; i < config->nservices; i++)
		devices |= config_memory_queues_bytes(&config->services[i]) > 0;
	return unused_bytes(config, devices);
}

size_t config_memory_alone_bytes(const struct config *config, const struct service_config *service)
{
	return config_memory_limit_bytes(config) +
	       unused_bytes(config, config_memory_queues_bytes(service) > 0) +
	       service_staging_bytes(config);
}

size_t config_memory_buffers_bytes(const struct config *config)
{
	size_t bytes = config_memory_limit_bytes(config) + config_memory_unused_bytes(config);

	for (size_t i = 0; i < config->nservices; i++)
		bytes += config_memory_uncharged_bytes(&config->services[i]) *
			 config_share(&config->services[i]);
	return bytes;
}

/*
 * Returns how many RPCs of @bytes each a service can have concurrently while the other services are
 * idle.
 */
static size_t max_concurrent_rpcs(const struct config *config, size_t bytes)
{
	return budget_share_max_bytes(config_memory_limit_bytes(config),
				      config_memory_guaranteed_bytes(), config->nservices) /
	       bytes;
}

/* Prints how much of a connection's memory TLS needs, if it uses that. */
static void print_tls(const struct service_config *service, FILE *out)
{
	size_t bytes = most_of_clients(service, leg_tls_bytes) +
		       leg_tls_bytes(service, &service->connect, false);

	if (bytes)
		fprintf(out, " (of which TLS %.2f MiB)", (double)bytes / MIB);
}

static void print_service(const struct config *config, const struct service_config *service,
			  FILE *out)
{
	size_t beside = config_memory_uncharged_bytes(service);

	fprintf(out,
		"%s: service %s: largest message %.2f MiB; memory_limit_mib allows %zu concurrent "
		"RPCs with Call and Reply of that size",
		config->file, service->name, (double)service->message_bytes / MIB,
		max_concurrent_rpcs(config, rpc_bytes(service, service->message_bytes)));
	if (service->message_bytes > REPLY_UNBOUNDED_BYTES)
		fprintf(out, ", or %zu with Call and Reply of %.2f MiB",
			max_concurrent_rpcs(config, rpc_bytes(service, REPLY_UNBOUNDED_BYTES)),
			(double)REPLY_UNBOUNDED_BYTES / MIB);
	fprintf(out, "%s\n", config->nservices > 1 ? ", while other services are idle" : "");
	fprintf(out, "%s: service %s: in addition, each connection uses up to %.1f MiB",
		config->file, service->name, (double)beside / MIB);
	print_tls(service, out);
	fprintf(out, ", all %u of max_connections up to %zu MiB\n", service->max_connections,
		beside * service->max_connections / MIB);
}

/* Prints the memory that devices lock for connections, in addition to the memory of RPCs. */
static void print_locked(const struct config *config, const struct service_config *service,
			 FILE *out)
{
	double queues_mib = (double)config_memory_queues_bytes(service) / MIB;
	double receives_mib = (double)config_memory_receives_bytes(service) / MIB;
	double each_gib = (queues_mib + receives_mib) / 1024;
	double cqs_gib[] = {(double)config_memory_cqs_bytes(config, service, 1000) / MIB / 1024,
			    (double)config_memory_cqs_bytes(config, service, 10000) / MIB / 1024};

	if (queues_mib == 0)
		return;
	fprintf(out,
		"%s: service %s: on RDMA devices each connection locks up to %.2f MiB for its "
		"queues and %.2f MiB for receives: 1,000 connections up to %.1f GiB, 10,000 up to "
		"%.1f GiB\n",
		config->file, service->name, queues_mib, receives_mib, 1000 * each_gib + cqs_gib[0],
		10000 * each_gib + cqs_gib[1]);
}

void config_memory_print(const struct config *config, FILE *out)
{
	if (!config->nservices)
		return;
	fprintf(out,
		"%s: memory: %u MiB for RPCs in flight; each service is guaranteed %.1f MiB of it "
		"(%zu service%s)\n",
		config->file, config->memory_limit_mib,
		(double)config_memory_guaranteed_bytes() / MIB, config->nservices,
		humanize_plural(config->nservices));
	fprintf(out,
		"%s: memory: in addition, up to %.1f MiB of unused buffers and up to "
		"%.1f MiB of staging buffers\n",
		config->file, (double)config_memory_unused_bytes(config) / MIB,
		(double)config_memory_staging_bytes(config) / MIB);
	for (size_t i = 0; i < config->nservices; i++) {
		print_service(config, &config->services[i], out);
		print_locked(config, &config->services[i], out);
	}
}

/* Standard streams, signals, log, control socket, the main thread's loop, and RDMA devices once. */
#define OF_DAEMON 37u
/* HTTP: a listener and its connections, twice during a reload. */
#define OF_HTTP   66u
#define OF_HEALTH 5u /* the loop of health checks */
#define OF_WORKER 5u /* its loop */
/* Health check of the servers: a connection, and another to the MOUNT service. */
#define OF_CHECK  2u
#define OF_LISTEN 16u /* at most a listener per fabric and address of a host name */
/*
 * Really open without connections: standard streams, signals, log, control socket, HTTP, and the
 * loops of the main thread and of health checks; two listeners per address; RDMA devices.
 */
#define IDLE_PROCESS 20u
#define IDLE_LISTEN  2u
#define IDLE_DEVICES 16u
/*
 * Per worker and service with RDMA devices: two channels, and wake-ups for other threads and for
 * devices.
 */
#define OF_VERBS 4u

static bool is_verbs(const struct config_uri *uri)
{
	return uri->transport == TRANSPORT_VERBS || uri->transport == TRANSPORT_RDMA;
}

uint64_t config_connections(const struct config *config)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < config->nservices; i++)
		sum += config_share(&config->services[i]);
	return sum;
}

uint64_t config_connections_of_file(const struct config *config)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < config->nservices; i++)
		if (!config->services[i].auto_connections)
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

/* Returns the descriptors of the daemon itself. */
static uint64_t of_process(const struct config *config)
{
	return CONFIG_DESCRIPTORS_RESERVED + OF_DAEMON + OF_HTTP + OF_HEALTH +
	       (uint64_t)OF_WORKER * config->workers;
}

/* Returns the descriptors of a service, without those of its clients. */
static uint64_t of_service(const struct config *config, const struct service_config *service)
{
	uint64_t sum = OF_LISTEN * config_nlisteners(service) + OF_CHECK;

	/* Each worker queries the rpcbind of each server itself. */
	if (service->mount.way == MOUNT_RPCBIND)
		sum += (uint64_t)config->workers * config_nservers(service);
	if (has_verbs(service))
		sum += (uint64_t)OF_VERBS * config->workers;
	return sum;
}

/* Returns the descriptors of all services, and of so many connections. */
static uint64_t descriptors_of(const struct config *config, uint64_t connections)
{
	uint64_t sum = of_process(config) + CONFIG_DESCRIPTORS_CONNECTION * connections;

	for (size_t i = 0; i < config->nservices; i++)
		sum += of_service(config, &config->services[i]) + CONFIG_DESCRIPTORS_TARPIT;
	return sum;
}

uint64_t config_descriptors(const struct config *config)
{
	return descriptors_of(config, config_connections(config));
}

uint64_t config_descriptors_idle(const struct config *config)
{
	uint64_t sum = IDLE_PROCESS + (uint64_t)OF_WORKER * config->workers;
	bool devices = false;

	for (size_t i = 0; i < config->nservices; i++) {
		const struct service_config *service = &config->services[i];

		sum += IDLE_LISTEN * config_nlisteners(service);
		if (!has_verbs(service))
			continue;
		sum += (uint64_t)OF_VERBS * config->workers;
		devices = true;
	}
	return devices ? sum + IDLE_DEVICES : sum;
}

uint64_t config_descriptors_min(const struct config *config)
{
	return OF_DAEMON + OF_HEALTH + (uint64_t)OF_WORKER * config->workers + config->nservices +
	       CONFIG_DESCRIPTORS_CONNECTION;
}

void config_descriptors_print(const struct config *config, FILE *out)
{
	fprintf(out,
		"%s: descriptors: %" PRIu64 " connections are guaranteed and need %" PRIu64
		" descriptors; the limit is %" PRIu64 "\n",
		config->file, config_connections(config), config_descriptors(config),
		config->host.descriptors);
}

void config_descriptors_warn(const struct config *config, uint64_t limit, FILE *out)
{
	/* With "auto" a service has as many connections as there are descriptors. */
	if (config_connections_of_file(config) &&
	    descriptors_of(config, config_connections_of_file(config)) > limit)
		fprintf(out,
			"%s:1: warning: max_connections needs up to "
			"%" PRIu64 " descriptors, but the limit (LimitNOFILE, ulimit -n) is "
			"%" PRIu64 ": further clients wait to be accepted\n",
			config->file, config_descriptors(config), limit);
}
