// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of Calls. */
#include "daemon/http/metrics_families.h"

static const char *service_name(const struct metrics_source *source, size_t i)
{
	return source->gathered->services[i]->service.config->name;
}

void metrics_each_operation(struct metrics_text *text, const struct gathered *gathered,
			    void (*put)(struct metrics_text *text,
					const struct metrics_operation *seen))
{
	for (size_t i = 0; i < gathered->nservices; i++) {
		const struct call_stats *calls = &gathered->calls[i];

		for (unsigned k = 0; k < NFS_OPERATION_COUNT; k++)
			if (calls->operations[k])
				put(text,
				    &(struct metrics_operation){
					    gathered->services[i]->service.config->name,
					    nfs_operation_name(k), k, calls->operations[k], calls});
	}
}

static void put_value(struct metrics_text *text, const struct metrics_operation *seen,
		      uint64_t value)
{
	metrics_text_put(text,
			 METRICS_LABELS({"service", seen->service}, {"operation", seen->operation}),
			 (double)value);
}

void metrics_calls(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_value(text, seen, seen->stats->calls);
}

void metrics_call_errors(struct metrics_text *text, const struct metrics_operation *seen)
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

/* Of clients' connections, whatever their transport. */
static uint64_t client_counter(const struct stats *stats, const char *name)
{
	return stats_value(stats, STATS_CLIENT, "tcp", name) +
	       stats_value(stats, STATS_CLIENT, "rdma", name);
}

static const struct {
	const char *reason, *counter;
} denials[] = {
	{"tls", "auth_tls_refused"},
	{"credential", "bad_auth_refused"},
	{"rpc_version", "rpc_mismatches"},
	{"program", "prog_unavail"},
};

void metrics_calls_denied(struct metrics_text *text, const struct metrics_source *source)
{
	for (size_t i = 0; i < source->gathered->nservices; i++)
		for (size_t k = 0; k < ARRAY_SIZE(denials); k++)
			metrics_text_put(text,
					 METRICS_LABELS({"service", service_name(source, i)},
							{"reason", denials[k].reason}),
					 (double)client_counter(&source->gathered->stats[i],
								denials[k].counter));
}

double metrics_in_flight(const struct metrics_service *service)
{
	return (double)service->gathered->loads[service->i].in_flight;
}

static void put_waiting(struct metrics_text *text, const char *service, const char *resource,
			uint64_t value)
{
	metrics_text_put(text, METRICS_LABELS({"service", service}, {"resource", resource}),
			 (double)value);
}

void metrics_waiting(struct metrics_text *text, const struct metrics_source *source)
{
	for (size_t i = 0; i < source->gathered->nservices; i++) {
		const char *name = service_name(source, i);

		put_waiting(text, name, "memory", source->gathered->memory[i].waiting);
		put_waiting(text, name, "credit",
			    source->gathered->loads[i].credits[STATS_UPSTREAM].waited);
	}
}

double metrics_oldest(const struct metrics_service *service)
{
	return (double)service->gathered->loads[service->i].oldest_us / 1e6;
}

/* A leg over RDMA does not look for them. */
double metrics_retransmissions(const struct metrics_service *service)
{
	return (double)stats_value(&service->gathered->stats[service->i], STATS_CLIENT, "tcp",
				   "retransmissions_swallowed");
}

void metrics_duration(struct metrics_text *text, const struct metrics_operation *seen)
{
	metrics_text_put_durations(
		text, METRICS_LABELS({"service", seen->service}, {"operation", seen->operation}),
		&seen->stats->whole);
}

void metrics_stages(struct metrics_text *text, const struct metrics_operation *seen)
{
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		metrics_text_put(text,
				 METRICS_LABELS({"service", seen->service},
						{"operation", seen->operation},
						{"stage", call_stage_name(i)}),
				 (double)seen->stats->stages[i].sum_us / 1e6);
}

void metrics_request_bytes(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_value(text, seen, seen->stats->request_bytes);
}

void metrics_reply_bytes(struct metrics_text *text, const struct metrics_operation *seen)
{
	put_value(text, seen, seen->stats->reply_bytes);
}
