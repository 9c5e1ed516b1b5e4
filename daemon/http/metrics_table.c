// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/http/metrics_table.h"

#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/thread.h"
#include "daemon/config/config_value.h"
#include "daemon/service/service_tls.h"
#include "daemon/view/problems_json.h"

/* The service whose samples are written. */
struct metrics_service {
	const struct collected *collected;
	size_t i;
	struct proxy_service *ps;
	const struct service_config *config;
	const struct stats *stats;
	const struct conn_load *load;
};

/* An operation of a service. */
struct metrics_operation {
	const char *service, *operation;
	enum nfs_operation id;
	const struct operation_stats *stats;
	const struct call_stats *all; /* of the service */
};

/* One side of a service. */
struct metrics_leg {
	const struct metrics_service *service;
	const char *name;
	bool is_rdma;
	enum stats_side side;
};

/* ---- the process: standard names of Prometheus ---- */

#define FDS_US 15000000u /* between two counts, which are slow with many connections */

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void metrics_process_cpu(struct metrics_text *text, const struct metrics_source *source)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		metrics_text_put(text, METRICS_NO_LABELS,
				 seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

/* The start of the daemon, a moment after that of the process. */
static void metrics_process_start(struct metrics_text *text, const struct metrics_source *source)
{
	const struct proxy *proxy = source->collected->proxy;
	uint64_t age_us = loop_now_us(proxy->loop) - proxy->start_us;

	metrics_text_put(text, METRICS_NO_LABELS,
			 (double)(clock_us(CLOCK_REALTIME) - age_us) / 1e6);
}

/* Sets the numbers of mapped and of resident pages. */
static bool read_pages(unsigned long *mapped, unsigned long *resident)
{
	FILE *in = fopen("/proc/self/statm", "re");
	bool good;

	if (!in)
		return false;
	good = fscanf(in, "%lu %lu", mapped, resident) == 2;
	fclose(in);
	return good;
}

static void metrics_process_resident(struct metrics_text *text, const struct metrics_source *source)
{
	unsigned long mapped, resident;

	if (read_pages(&mapped, &resident))
		metrics_text_put(text, METRICS_NO_LABELS,
				 (double)resident * (double)sysconf(_SC_PAGESIZE));
}

static void metrics_process_virtual(struct metrics_text *text, const struct metrics_source *source)
{
	unsigned long mapped, resident;

	if (read_pages(&mapped, &resident))
		metrics_text_put(text, METRICS_NO_LABELS,
				 (double)mapped * (double)sysconf(_SC_PAGESIZE));
}

/* Excludes the descriptor that is open for the count. */
static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count - 1;
}

/* Main thread only, like the whole file. */
static void metrics_process_fds(struct metrics_text *text, const struct metrics_source *source)
{
	static uint64_t counted_us;
	static unsigned count;
	uint64_t now_us = loop_now_us(source->collected->proxy->loop);

	if (!count || now_us - counted_us >= FDS_US) {
		count = count_fds();
		counted_us = now_us;
	}
	if (count)
		metrics_text_put(text, METRICS_NO_LABELS, count);
}

static void metrics_process_max_fds(struct metrics_text *text, const struct metrics_source *source)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		metrics_text_put(text, METRICS_NO_LABELS, (double)limit.rlim_cur);
}

/* ---- the daemon as a whole ---- */

static void metrics_build_info(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_LABELS({"version", PACKAGE_VERSION}), 1);
}

static void metrics_reload_successful(struct metrics_text *text,
				      const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, !source->collected->proxy->reload_failed);
}

static void metrics_reload_time(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->collected->proxy->config_s);
}

static void metrics_worker_cpu(struct metrics_text *text, const struct metrics_source *source)
{
	const struct proxy *proxy = source->collected->proxy;
	char number[24];

	for (size_t i = 0; i < proxy->nworkers; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		metrics_text_put(text, METRICS_LABELS({"worker", number}),
				 (double)thread_cpu_us(proxy->workers[i]->thread) / 1e6);
	}
}

static void metrics_memory_limit(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->collected->budget.limit_bytes);
}

static void metrics_memory_mapped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->collected->pool.slab_bytes);
}

static void metrics_trace_dropped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->collected->proxy->records_missed);
}

static void metrics_log_dropped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)log_lines_dropped());
}

/* Each kind has a sample even without a problem, as alerts expect. Old events do not count. */
static void metrics_problems(struct metrics_text *text, const struct metrics_source *source)
{
	struct problem_list problems = {0};
	unsigned counts[PROBLEM_COUNT] = {0};

	problems_gather(source->collected, &problems);
	for (size_t i = 0; i < problems.count; i++)
		if (problems.list[i].severity != PROBLEM_NOTICE)
			counts[problems.list[i].id]++;
	problems_fini(&problems);
	for (unsigned id = 0; id < PROBLEM_COUNT; id++)
		if (problem_severity(id) != PROBLEM_NOTICE)
			metrics_text_put(
				text,
				METRICS_LABELS(
					{"problem", problem_name(id)},
					{"severity", problem_severity_name(problem_severity(id))}),
				counts[id]);
}

static void metrics_http_requests(struct metrics_text *text, const struct metrics_source *source)
{
	for (unsigned i = 0; i < HTTP_STATUS_COUNT; i++)
		metrics_text_put(text, METRICS_LABELS({"code", http_status_name(i)}),
				 (double)source->http_statuses[i]);
}

/* ---- services and their servers ---- */

static void metrics_service_info(struct metrics_text *text, const struct metrics_service *service)
{
	const struct service_config *config = service->config;
	char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];

	metrics_text_put(text,
			 METRICS_LABELS({"service", config->name},
					{"listen", config_uri_text(&config->listen, listen)},
					{"connect", config_uri_text(&config->connect, connect)}),
			 1);
}

static double metrics_service_draining(const struct metrics_service *service)
{
	return atomic_load(&service->ps->service.draining);
}

static void metrics_connections(struct metrics_text *text, const struct metrics_service *service)
{
	for (unsigned k = 0; k < LOAD_FABRIC_COUNT; k++)
		metrics_text_put(text,
				 METRICS_LABELS({"service", service->config->name},
						{"fabric", load_fabric_name(k)}),
				 (double)service->load->connections[k]);
}

static double metrics_connections_limit(const struct metrics_service *service)
{
	return service->config->max_connections;
}

static double metrics_accepted(const struct metrics_service *service)
{
	return (double)atomic_load(&service->ps->service.connections_total);
}

/* This metric and the next show only reasons that have occurred. */
static void metrics_refused(struct metrics_text *text, const struct metrics_service *service)
{
	char reason[STATS_CLOSE_NAME_BYTES];

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++) {
		struct client_event refused = client_events_get(&service->ps->service.events, why);

		if (refused.count)
			metrics_text_put(text,
					 METRICS_LABELS({"service", service->config->name},
							{"reason", stats_close_name(why, reason)}),
					 (double)refused.count);
	}
}

static void put_closed(struct metrics_text *text, const char *service, const char *side,
		       const uint64_t *closes)
{
	char reason[STATS_CLOSE_NAME_BYTES];

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
		if (closes[why])
			metrics_text_put(text,
					 METRICS_LABELS({"service", service}, {"side", side},
							{"reason", stats_close_name(why, reason)}),
					 (double)closes[why]);
}

static void metrics_closed(struct metrics_text *text, const struct metrics_service *service)
{
	const char *name = service->config->name;

	put_closed(text, name, "client", service->stats->closes[CLOSE_BY_CLIENT]);
	put_closed(text, name, "upstream", service->stats->closes[CLOSE_BY_SERVER]);
	put_closed(text, name, "proxy", service->stats->closes[CLOSE_BY_PROXY]);
}

static double metrics_fallbacks(const struct metrics_service *service)
{
	return (double)service->load->fabric_fallbacks;
}

static double metrics_shortfalls(const struct metrics_service *service)
{
	return (double)stats_value(service->stats, STATS_UPSTREAM, "tcp", "source_port_shortfalls");
}

static double metrics_memory_claimed(const struct metrics_service *service)
{
	return (double)service->collected->memory[service->i].claimed_bytes;
}

static double metrics_target_up(const struct nfs_server *server, const struct server_stats *info)
{
	return info->order != SERVER_ORDER_DOWN && !server_health_is_down(&server->health);
}

static double metrics_target_connections(const struct nfs_server *server,
					 const struct server_stats *info)
{
	return info->connections;
}

static double metrics_target_failures(const struct nfs_server *server,
				      const struct server_stats *info)
{
	return (double)info->failures;
}

/* ---- the two sides of connections ---- */

static double counted(const struct metrics_leg *side, const char *module, const char *name)
{
	return (double)stats_value(side->service->stats, side->side, module, name);
}

/* A sample of a side with one more label; NULL: the only sample of the side. */
static void put_of_leg(struct metrics_text *text, const struct metrics_leg *side, const char *label,
		       const char *which, double value)
{
	metrics_text_put(text,
			 METRICS_LABELS({"service", side->service->config->name},
					{"side", side->name}, {label, which}),
			 value);
}

static void metrics_forms(struct metrics_text *text, const struct metrics_leg *side)
{
	if (!side->is_rdma) {
		put_of_leg(text, side, "form", "record",
			   counted(side, "tcp", "calls_received") +
				   counted(side, "tcp", "calls_sent"));
		return;
	}
	put_of_leg(text, side, "form", "short", counted(side, "rdma", "calls_short"));
	put_of_leg(text, side, "form", "chunked", counted(side, "rdma", "calls_chunked"));
	put_of_leg(text, side, "form", "long", counted(side, "rdma", "calls_long"));
}

static void metrics_received(struct metrics_text *text, const struct metrics_leg *side)
{
	put_of_leg(text, side, NULL, NULL,
		   counted(side, side->is_rdma ? "rdma" : "tcp", "bytes_received"));
}

static void metrics_sent(struct metrics_text *text, const struct metrics_leg *side)
{
	put_of_leg(text, side, NULL, NULL,
		   counted(side, side->is_rdma ? "rdma" : "tcp", "bytes_sent"));
}

static const struct {
	const char *direction, *error, *counter;
} rdma_errors[] = {
	{"sent", "err_vers", "err_vers_sent"},
	{"sent", "err_chunk", "err_chunk_sent"},
	{"sent", "inval_option", "err_inval_option_sent"},
	{"received", "err_vers", "err_vers_received"},
	{"received", "err_chunk", "err_chunk_received"},
	{"received", "inval_option", "err_inval_option_received"},
	{"received", "unknown", "err_unknown_received"},
};

static void metrics_rdma_errors(struct metrics_text *text, const struct metrics_leg *side)
{
	for (size_t i = 0; side->is_rdma && i < ARRAY_SIZE(rdma_errors); i++)
		metrics_text_put(text,
				 METRICS_LABELS({"service", side->service->config->name},
						{"side", side->name},
						{"direction", rdma_errors[i].direction},
						{"error", rdma_errors[i].error}),
				 counted(side, "rdma", rdma_errors[i].counter));
}

static void metrics_crc_errors(struct metrics_text *text, const struct metrics_leg *side)
{
	if (side->is_rdma)
		put_of_leg(text, side, NULL, NULL, counted(side, "iwarp", "crc_bad"));
}

static void metrics_credits(struct metrics_text *text, const struct metrics_leg *side)
{
	const struct load_credits *credits = &side->service->load->credits[side->side];

	if (!side->is_rdma)
		return;
	put_of_leg(text, side, "state", "granted", (double)credits->granted);
	put_of_leg(text, side, "state", "used", (double)credits->used);
	if (side->side == STATS_UPSTREAM)
		put_of_leg(text, side, "state", "waited", (double)credits->waited);
}

static const struct {
	const char *result, *counter;
} tls_results[] = {
	{"ok", "handshakes_ok"},
	{"certificate", "handshakes_certificate"},
	{"rejected", "handshakes_rejected"},
	{"protocol", "handshakes_protocol"},
	{"closed", "handshakes_closed"},
	{"resources", "handshakes_resources"},
	{"limit", "handshakes_limited"},
};

/* Only sides for which the service uses TLS. */
static void metrics_handshakes(struct metrics_text *text, const struct metrics_leg *side)
{
	const struct config_tls *tls = &side->service->config->tls;

	if (side->side == STATS_CLIENT ? tls->accept == CONFIG_TLS_OFF : !tls->connect)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tls_results); i++)
		put_of_leg(text, side, "result", tls_results[i].result,
			   counted(side, "tls", tls_results[i].counter));
}

static void metrics_certificate_expiry(struct metrics_text *text,
				       const struct metrics_service *service)
{
	int64_t expiry_s = service_tls_expiry_s(service->ps->service.tls);

	if (expiry_s)
		metrics_text_put(text, METRICS_LABELS({"service", service->config->name}),
				 (double)expiry_s);
}

/* ---- Calls ---- */

static void put_operation(struct metrics_text *text, const struct metrics_operation *seen,
			  uint64_t value)
{
	metrics_text_put(text,
			 METRICS_LABELS({"service", seen->service}, {"operation", seen->operation}),
			 (double)value);
}

static void metrics_calls(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_operation(text, seen, seen->stats->calls);
}

static void metrics_call_errors(struct metrics_text *text, const struct metrics_operation *seen)
{
	char status[CALL_STATUS_TEXT_BYTES];

	for (unsigned i = 0; i < seen->all->nerrors; i++) {
		const struct call_error *error = &seen->all->errors[i];

		if (error->operation == seen->id)
			metrics_text_put(
				text,
				METRICS_LABELS({"service", seen->service},
					       {"operation", seen->operation},
					       {"status", call_status_name(error->status, status)}),
				(double)error->count);
	}
}

static const struct {
	const char *reason, *counter;
	bool tcp_only;
} denials[] = {
	{"tls", "auth_tls_refused", false},        {"clear", "clear_calls_denied", true},
	{"credential", "bad_auth_refused", false}, {"rpc_version", "rpc_mismatches", false},
	{"program", "prog_unavail", false},
};

static uint64_t metrics_denied(const struct metrics_service *service, const char *module, size_t i)
{
	return stats_value(service->stats, STATS_CLIENT, module, denials[i].counter);
}

/* Client connections of all transports. */
static void metrics_calls_denied(struct metrics_text *text, const struct metrics_service *service)
{
	for (size_t i = 0; i < ARRAY_SIZE(denials); i++)
		metrics_text_put(
			text,
			METRICS_LABELS({"service", service->config->name},
				       {"reason", denials[i].reason}),
			(double)(metrics_denied(service, "tcp", i) +
				 (denials[i].tcp_only ? 0 : metrics_denied(service, "rdma", i))));
}

static double metrics_in_flight(const struct metrics_service *service)
{
	return (double)service->load->in_flight;
}

static void metrics_waiting(struct metrics_text *text, const struct metrics_service *service)
{
	const char *name = service->config->name;

	metrics_text_put(text, METRICS_LABELS({"service", name}, {"resource", "memory"}),
			 (double)service->collected->memory[service->i].waiting);
	metrics_text_put(text, METRICS_LABELS({"service", name}, {"resource", "credit"}),
			 (double)service->load->credits[STATS_UPSTREAM].waited);
}

static double metrics_oldest(const struct metrics_service *service)
{
	return (double)service->load->oldest_us / 1e6;
}

/* RDMA legs do not detect retransmissions. */
static double metrics_retransmissions(const struct metrics_service *service)
{
	return (double)stats_value(service->stats, STATS_CLIENT, "tcp",
				   "retransmissions_swallowed");
}

static void metrics_duration(struct metrics_text *text, const struct metrics_operation *seen)
{
	metrics_text_put_durations(
		text, METRICS_LABELS({"service", seen->service}, {"operation", seen->operation}),
		&seen->stats->whole);
}

static void metrics_stages(struct metrics_text *text, const struct metrics_operation *seen)
{
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		metrics_text_put(text,
				 METRICS_LABELS({"service", seen->service},
						{"operation", seen->operation},
						{"stage", call_stage_name(i)}),
				 (double)seen->stats->stages[i].sum_us / 1e6);
}

static void metrics_request_bytes(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_operation(text, seen, seen->stats->request_bytes);
}

static void metrics_reply_bytes(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_operation(text, seen, seen->stats->reply_bytes);
}

/* ---- all of them ---- */

#define OWN(name) "rpcrdma_proxy_" name

/* clang-format off */
const struct metrics_family metrics_families[] = {
	{OWN("build_info"), METRICS_GAUGE,
	 "Version of the daemon; always 1.", .write = metrics_build_info},
	{OWN("config_last_reload_successful"), METRICS_GAUGE,
	 "1 if the last reload succeeded, else 0.", .write = metrics_reload_successful},
	{OWN("config_last_reload_success_timestamp_seconds"), METRICS_GAUGE,
	 "When the current configuration was loaded.", .write = metrics_reload_time},
	{OWN("problems"), METRICS_GAUGE,
	 "Number of problems of each kind that rpcrdma-proxyctl status lists now, of "
	 "severity critical or warning.", .write = metrics_problems},
	{OWN("worker_cpu_seconds_total"), METRICS_COUNTER,
	 "Processor time of each worker thread.", .write = metrics_worker_cpu},
	{OWN("service_info"), METRICS_GAUGE,
	 "First listening address and first server; always 1.", .service = metrics_service_info},
	{OWN("service_draining"), METRICS_GAUGE,
	 "1 if the service is drained.", .value = metrics_service_draining},
	{OWN("connections"), METRICS_GAUGE,
	 "Client connections, by the RDMA fabric of the client side, or else of the server "
	 "side. tcp: neither side uses RDMA. none: the client uses TCP, and the server is "
	 "not reached yet.", .service = metrics_connections},
	{OWN("connections_limit"), METRICS_GAUGE,
	 "max_connections.", .value = metrics_connections_limit},
	{OWN("connections_accepted_total"), METRICS_COUNTER,
	 "Client connections accepted.", .value = metrics_accepted},
	{OWN("connections_refused_total"), METRICS_COUNTER,
	 "Client connections refused when they arrived, or after their first Call.",
	 .service = metrics_refused},
	{OWN("connections_closed_total"), METRICS_COUNTER,
	 "Connections closed, by reason and by the side that closed first; proxy: neither.",
	 .service = metrics_closed},
	{OWN("fabric_fallbacks_total"), METRICS_COUNTER,
	 "How often verbs failed and iWARP was tried at the same server.",
	 .value = metrics_fallbacks},
	{OWN("source_port_shortfalls_total"), METRICS_COUNTER,
	 "Server connections from an unprivileged port because no port below 1024 was left.",
	 .value = metrics_shortfalls},
	{OWN("target_up"), METRICS_GAUGE,
	 "1 if the server gets new clients; 0 if it does not answer or was taken down.",
	 .server = metrics_target_up},
	{OWN("target_connections"), METRICS_GAUGE,
	 "Connections to the server.", .server = metrics_target_connections},
	{OWN("target_connect_failures_total"), METRICS_COUNTER,
	 "Failed attempts to reach the server.", .server = metrics_target_failures},
	{OWN("calls_total"), METRICS_COUNTER,
	 "Calls answered, including callbacks.", .operation = metrics_calls},
	{OWN("call_errors_total"), METRICS_COUNTER,
	 "Calls answered with an error.", .operation = metrics_call_errors},
	{OWN("calls_denied_total"), METRICS_COUNTER,
	 "Calls that the proxy refused instead of forwarding them.",
	 .service = metrics_calls_denied},
	{OWN("calls_in_flight"), METRICS_GAUGE,
	 "Calls of clients without a Reply.", .value = metrics_in_flight},
	{OWN("calls_waiting"), METRICS_GAUGE,
	 "Calls waiting in the proxy, by the resource they wait for.", .service = metrics_waiting},
	{OWN("oldest_call_age_seconds"), METRICS_GAUGE,
	 "Age of the oldest Call without a Reply; 0 if none.", .value = metrics_oldest},
	{OWN("retransmissions_total"), METRICS_COUNTER,
	 "Repeated Calls that the proxy did not forward, because the first copy was in "
	 "flight.", .value = metrics_retransmissions},
	{OWN("call_duration_seconds"), METRICS_HISTOGRAM,
	 "Time from the first byte of a Call until its client had the Reply.",
	 .operation = metrics_duration},
	{OWN("call_stage_seconds_total"), METRICS_COUNTER,
	 "Total time of Calls in each stage.", .operation = metrics_stages},
	{OWN("call_request_bytes_total"), METRICS_COUNTER,
	 "Bytes of Calls, as RPC messages.", .operation = metrics_request_bytes},
	{OWN("call_reply_bytes_total"), METRICS_COUNTER,
	 "Bytes of Replies, as RPC messages.", .operation = metrics_reply_bytes},
	{OWN("call_forms_total"), METRICS_COUNTER,
	 "Calls by transfer form: record over TCP; over RDMA short (inline), chunked (inline "
	 "except its data) and long (completely in a chunk).", .side = metrics_forms},
	{OWN("received_bytes_total"), METRICS_COUNTER,
	 "Bytes received: over TCP from the socket, over RDMA by Sends and RDMA transfers.",
	 .side = metrics_received},
	{OWN("sent_bytes_total"), METRICS_COUNTER,
	 "Bytes sent: over TCP to the socket, over RDMA by Sends and RDMA transfers.",
	 .side = metrics_sent},
	{OWN("rdma_errors_total"), METRICS_COUNTER,
	 "RPC-over-RDMA errors sent and received.", .side = metrics_rdma_errors},
	{OWN("crc_errors_total"), METRICS_COUNTER,
	 "iWARP frames with a wrong checksum: data damaged in transit.",
	 .side = metrics_crc_errors},
	{OWN("credits"), METRICS_GAUGE,
	 "Credits of all RDMA connections: granted by the proxy to clients, or by servers to "
	 "the proxy; used by Calls in flight; waited: Calls to the server that wait for a "
	 "credit.", .side = metrics_credits},
	{OWN("tls_handshakes_total"), METRICS_COUNTER,
	 "TLS handshakes with clients and servers, by result: ok; certificate: the peer's was "
	 "missing or not accepted; rejected: the peer ended it by an alert; protocol: the peer sent "
	 "something invalid; closed: the connection ended or timed out; resources: too little "
	 "memory; limit: too many at a time.",
	 .side = metrics_handshakes},
	{OWN("tls_certificate_expiry_timestamp_seconds"), METRICS_GAUGE,
	 "When the first certificate of the service's chain expires.",
	 .service = metrics_certificate_expiry},
	{OWN("memory_limit_bytes"), METRICS_GAUGE,
	 "memory_limit_mib, in bytes.", .write = metrics_memory_limit},
	{OWN("memory_mapped_bytes"), METRICS_GAUGE,
	 "Memory mapped by the buffer pools.", .write = metrics_memory_mapped},
	{OWN("memory_claimed_bytes"), METRICS_GAUGE,
	 "Memory reserved for RPCs in flight.", .value = metrics_memory_claimed},
	{OWN("trace_lines_dropped_total"), METRICS_COUNTER,
	 "RPCs and messages that trace and capture skipped because their reader was too "
	 "slow.", .write = metrics_trace_dropped},
	{OWN("log_lines_dropped_total"), METRICS_COUNTER,
	 "Log lines dropped because standard error did not accept them.",
	 .write = metrics_log_dropped},
	{OWN("http_requests_total"), METRICS_COUNTER,
	 "Connections to the HTTP listener, by status; none: no request arrived.",
	 .write = metrics_http_requests},
	{"process_cpu_seconds_total", METRICS_COUNTER,
	 "Processor time of the process.", .write = metrics_process_cpu},
	{"process_start_time_seconds", METRICS_GAUGE,
	 "Start of the process, in seconds since 1970.", .write = metrics_process_start},
	{"process_resident_memory_bytes", METRICS_GAUGE,
	 "Resident memory of the process.", .write = metrics_process_resident},
	{"process_virtual_memory_bytes", METRICS_GAUGE,
	 "Virtual memory of the process.", .write = metrics_process_virtual},
	{"process_open_fds", METRICS_GAUGE,
	 "Open descriptors, counted at most every 15 seconds.", .write = metrics_process_fds},
	{"process_max_fds", METRICS_GAUGE,
	 "Limit of descriptors.", .write = metrics_process_max_fds},
	{0},
};
/* clang-format on */

static void write_targets(struct metrics_text *text, const struct metrics_service *service,
			  double (*value)(const struct nfs_server *server,
					  const struct server_stats *info))
{
	uint64_t now_us = loop_now_us(service->collected->proxy->loop);
	struct servers *servers = &service->ps->service.servers;

	for (unsigned k = 0; k < servers->count; k++) {
		const struct nfs_server *server = &servers->list[k];
		struct server_stats info;

		server_stats_get(servers, server, now_us, &info);
		metrics_text_put(text,
				 METRICS_LABELS({"service", service->config->name},
						{"target", server->text}),
				 value(server, &info));
	}
}

static void write_operations(struct metrics_text *text, const struct metrics_service *service,
			     void (*put)(struct metrics_text *text,
					 const struct metrics_operation *seen))
{
	const struct call_stats *calls = &service->collected->calls[service->i];

	for (unsigned k = 0; k < NFS_OPERATION_COUNT; k++)
		if (calls->operations[k])
			put(text, &(struct metrics_operation){service->config->name,
							      nfs_operation_name(k), k,
							      calls->operations[k], calls});
}

static void write_legs(struct metrics_text *text, const struct metrics_service *service,
		       void (*put)(struct metrics_text *text, const struct metrics_leg *side))
{
	const struct service_config *config = service->config;

	put(text, &(struct metrics_leg){service, "client",
					config->listen.transport != TRANSPORT_TCP, STATS_CLIENT});
	put(text,
	    &(struct metrics_leg){service, "upstream", config->connect.transport != TRANSPORT_TCP,
				  STATS_UPSTREAM});
}

static void write_service(struct metrics_text *text, const struct metrics_family *family,
			  const struct metrics_service *service)
{
	if (family->service)
		family->service(text, service);
	else if (family->value)
		metrics_text_put(text, METRICS_LABELS({"service", service->config->name}),
				 family->value(service));
	else if (family->server)
		write_targets(text, service, family->server);
	else if (family->operation)
		write_operations(text, service, family->operation);
	else
		write_legs(text, service, family->side);
}

static void write_services(struct metrics_text *text, const struct metrics_family *family,
			   const struct collected *collected)
{
	for (size_t i = 0; i < collected->nservices; i++) {
		struct proxy_service *ps = collected->services[i];
		const struct metrics_service service = {
			collected,           i, ps, ps->service.config, &collected->stats[i],
			&collected->loads[i]};

		write_service(text, family, &service);
	}
}

void metrics_write(struct metrics_text *text, const struct metrics_source *source)
{
	for (const struct metrics_family *family = metrics_families; family->name; family++) {
		metrics_text_family(text, family->name, family->type, family->help);
		if (family->write)
			family->write(text, source);
		else
			write_services(text, family, source->collected);
	}
}
