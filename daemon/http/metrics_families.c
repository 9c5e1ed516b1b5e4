// SPDX-License-Identifier: BSD-3-Clause
/* Which metrics there are. */
#include "daemon/http/metrics_families.h"

#define OWN(name) "rpcrdma_proxy_" name

/* clang-format off */
const struct metrics_family metrics_families[] = {
	{OWN("build_info"), METRICS_GAUGE, "Version of the daemon; always 1.", .write = metrics_build_info},
	{OWN("config_last_reload_successful"), METRICS_GAUGE, "Whether the configuration file took effect when it was last read: 1, or 0.", .write = metrics_reload_successful},
	{OWN("config_last_reload_success_timestamp_seconds"), METRICS_GAUGE, "When the configuration in force was read.", .write = metrics_reload_time},
	{OWN("worker_cpu_seconds_total"), METRICS_COUNTER, "Processor time of each worker's thread.", .write = metrics_worker_cpu},
	{OWN("service_info"), METRICS_GAUGE, "Where a service listens, and the first of its servers; always 1.", .write = metrics_service_info},
	{OWN("service_draining"), METRICS_GAUGE, "Whether a service is drained: its connections end between Calls, and nobody gets in.", .service = metrics_service_draining},
	{OWN("connections"), METRICS_GAUGE, "Connections of clients, by the RDMA fabric of either end, or tcp; fabric none: its server is not reached yet.", .write = metrics_connections},
	{OWN("connections_limit"), METRICS_GAUGE, "Connections that a service may have: max_connections.", .service = metrics_connections_limit},
	{OWN("connections_accepted_total"), METRICS_COUNTER, "Connections of clients that were taken.", .service = metrics_accepted},
	{OWN("connections_refused_total"), METRICS_COUNTER, "Connections of clients that were turned away as they came.", .write = metrics_refused},
	{OWN("connections_closed_total"), METRICS_COUNTER, "Connections that closed, by whose end closed first (proxy: neither) and why.", .write = metrics_closed},
	{OWN("fabric_fallbacks_total"), METRICS_COUNTER, "Times that verbs failed and iWARP had its try at the same server.", .service = metrics_fallbacks},
	{OWN("source_port_shortfalls_total"), METRICS_COUNTER, "Connections to a server from an unprivileged port, since no reserved one was left.", .service = metrics_shortfalls},
	{OWN("target_up"), METRICS_GAUGE, "Whether a server may be given to clients: 0 if it is known not to answer, or was taken down.", .target = metrics_target_up},
	{OWN("target_connections"), METRICS_GAUGE, "Connections to a server.", .target = metrics_target_connections},
	{OWN("target_connect_failures_total"), METRICS_COUNTER, "Attempts to reach a server that failed.", .target = metrics_target_failures},
	{OWN("calls_total"), METRICS_COUNTER, "Calls that were answered, callbacks too, by operation.", .operation = metrics_calls},
	{OWN("call_errors_total"), METRICS_COUNTER, "Of these, those answered with an error, by its status.", .operation = metrics_call_errors},
	{OWN("calls_denied_total"), METRICS_COUNTER, "Calls that were not passed on, but refused here.", .write = metrics_calls_denied},
	{OWN("calls_in_flight"), METRICS_GAUGE, "Calls of clients that have no Reply yet.", .service = metrics_in_flight},
	{OWN("calls_waiting"), METRICS_GAUGE, "Calls that wait in the proxy, by what for.", .write = metrics_waiting},
	{OWN("oldest_call_age_seconds"), METRICS_GAUGE, "For how long the oldest Call without a Reply has been here; 0 without any.", .service = metrics_oldest},
	{OWN("retransmissions_total"), METRICS_COUNTER, "Calls that came again while they were in flight, and were not passed on again.", .service = metrics_retransmissions},
	{OWN("call_duration_seconds"), METRICS_HISTOGRAM, "How long Calls took from their first byte here until their client had the Reply.", .operation = metrics_duration},
	{OWN("call_stage_seconds_total"), METRICS_COUNTER, "How long Calls were in each stage, added up.", .operation = metrics_stages},
	{OWN("call_request_bytes_total"), METRICS_COUNTER, "Bytes of Calls, as whole RPC messages.", .operation = metrics_request_bytes},
	{OWN("call_reply_bytes_total"), METRICS_COUNTER, "Bytes of Replies, as whole RPC messages.", .operation = metrics_reply_bytes},
	{OWN("call_forms_total"), METRICS_COUNTER, "Calls by how they travel: record over TCP; over RDMA short (inline), chunked (inline but for its data) and long (as a whole by a chunk).", .side = metrics_forms},
	{OWN("received_bytes_total"), METRICS_COUNTER, "Bytes received: on TCP from the socket; on RDMA Sends and what came by RDMA.", .side = metrics_received},
	{OWN("sent_bytes_total"), METRICS_COUNTER, "Bytes sent, likewise.", .side = metrics_sent},
	{OWN("rdma_errors_total"), METRICS_COUNTER, "RPC-over-RDMA errors sent and received.", .side = metrics_rdma_errors},
	{OWN("crc_errors_total"), METRICS_COUNTER, "Frames of iWARP whose checksum was wrong: data damaged on the way.", .side = metrics_crc_errors},
	{OWN("credits"), METRICS_GAUGE, "Credits of all connections: granted by the side's server, used by Calls in flight, and waited for by Calls.", .side = metrics_credits},
	{OWN("memory_limit_bytes"), METRICS_GAUGE, "Memory that RPCs in flight may take: memory_limit_mib.", .write = metrics_memory_limit},
	{OWN("memory_mapped_bytes"), METRICS_GAUGE, "Memory that the pools of buffers have.", .write = metrics_memory_mapped},
	{OWN("memory_claimed_bytes"), METRICS_GAUGE, "Memory that is set aside for RPCs in flight.", .service = metrics_memory_claimed},
	{OWN("trace_lines_dropped_total"), METRICS_COUNTER, "RPCs and messages that clients of trace and capture missed, since they did not read in time.", .write = metrics_trace_dropped},
	{OWN("log_lines_dropped_total"), METRICS_COUNTER, "Lines of the log that standard error did not take.", .write = metrics_log_dropped},
	{OWN("http_requests_total"), METRICS_COUNTER, "Connections to the HTTP listener, by the status of the answer; code none: there was no request to answer.", .write = metrics_http_requests},
	{"process_cpu_seconds_total", METRICS_COUNTER, "Processor time of the process.", .write = metrics_process_cpu},
	{"process_start_time_seconds", METRICS_GAUGE, "When the process began, since 1970.", .write = metrics_process_start},
	{"process_resident_memory_bytes", METRICS_GAUGE, "Memory that the process has in RAM.", .write = metrics_process_resident},
	{"process_virtual_memory_bytes", METRICS_GAUGE, "Memory that the process has mapped.", .write = metrics_process_virtual},
	{"process_open_fds", METRICS_GAUGE, "Open descriptors; counted each 15 seconds at most.", .write = metrics_process_fds},
	{"process_max_fds", METRICS_GAUGE, "Descriptors that it may have.", .write = metrics_process_max_fds},
	{0},
};
/* clang-format on */

static void write_services(struct metrics_text *text, const struct gathered *gathered,
			   double (*value)(const struct metrics_service *service))
{
	for (size_t i = 0; i < gathered->nservices; i++)
		metrics_text_put(
			text,
			METRICS_LABELS({"service", gathered->services[i]->service.config->name}),
			value(&(struct metrics_service){gathered, i}));
}

static void write_family(struct metrics_text *text, const struct metrics_family *family,
			 const struct metrics_source *source)
{
	if (family->write)
		family->write(text, source);
	else if (family->service)
		write_services(text, source->gathered, family->service);
	else if (family->target)
		metrics_each_target(text, source->gathered, family->target);
	else if (family->operation)
		metrics_each_operation(text, source->gathered, family->operation);
	else
		metrics_each_side(text, source->gathered, family->side);
}

void metrics_write(struct metrics_text *text, const struct metrics_source *source)
{
	for (const struct metrics_family *family = metrics_families; family->name; family++) {
		metrics_text_family(text, family->name, family->type, family->help);
		write_family(text, family, source);
	}
}
