/* SPDX-License-Identifier: BSD-3-Clause */
/* Which metrics there are, and what writes the samples of each. */
#ifndef DAEMON_HTTP_METRICS_FAMILIES_H
#define DAEMON_HTTP_METRICS_FAMILIES_H

#include "daemon/http/http_server.h"
#include "daemon/http/metrics_text.h"
#include "daemon/view/gather.h"

/* Where all of them come from. */
struct metrics_source {
	const struct gathered *gathered; /* with METRICS_WANTS */
	const uint64_t *http_ends;       /* of HTTP_END_COUNT */
};

#define METRICS_WANTS (GATHER_STATS | GATHER_CALLS | GATHER_LOAD)

/* A service of them. */
struct metrics_service {
	const struct gathered *gathered;
	size_t i;
};

/* What was seen of an operation of a service. */
struct metrics_operation {
	const char *service, *operation;
	enum nfs_operation id;
	const struct operation_stats *stats;
	const struct call_stats *all; /* of the service */
};

/* One side of a service. */
struct metrics_side {
	const char *service, *name;
	bool is_rdma;
	enum stats_side side;
	const struct stats *stats;
	const struct load *load;
};

/* One of the functions: what writes all samples, or those of one thing, or the value of one. */
struct metrics_family {
	const char *name; /* NULL behind the last one */
	enum metrics_type type;
	const char *help;
	void (*write)(struct metrics_text *text, const struct metrics_source *source);
	double (*service)(const struct metrics_service *service);
	double (*target)(const struct target *target, const struct target_info *info);
	void (*operation)(struct metrics_text *text, const struct metrics_operation *seen);
	void (*side)(struct metrics_text *text, const struct metrics_side *side);
};

/* In the order in which they are shown. */
extern const struct metrics_family metrics_families[];

/** metrics_write - all families, those without samples too. */
void metrics_write(struct metrics_text *text, const struct metrics_source *source);

/** metrics_each_target, _operation, _side - write those of each service. */
void metrics_each_target(struct metrics_text *text, const struct gathered *gathered,
			 double (*value)(const struct target *target,
					 const struct target_info *info));
void metrics_each_operation(struct metrics_text *text, const struct gathered *gathered,
			    void (*put)(struct metrics_text *text,
					const struct metrics_operation *seen));
void metrics_each_side(struct metrics_text *text, const struct gathered *gathered,
		       void (*put)(struct metrics_text *text, const struct metrics_side *side));

/* Of the daemon as a whole (metrics_daemon.c). */
void metrics_build_info(struct metrics_text *text, const struct metrics_source *source);
void metrics_reload_successful(struct metrics_text *text, const struct metrics_source *source);
void metrics_reload_time(struct metrics_text *text, const struct metrics_source *source);
void metrics_worker_cpu(struct metrics_text *text, const struct metrics_source *source);
void metrics_memory_limit(struct metrics_text *text, const struct metrics_source *source);
void metrics_memory_mapped(struct metrics_text *text, const struct metrics_source *source);
void metrics_trace_dropped(struct metrics_text *text, const struct metrics_source *source);
void metrics_log_dropped(struct metrics_text *text, const struct metrics_source *source);
void metrics_http_requests(struct metrics_text *text, const struct metrics_source *source);
/* Of its process (metrics_process.c). */
void metrics_process_cpu(struct metrics_text *text, const struct metrics_source *source);
void metrics_process_start(struct metrics_text *text, const struct metrics_source *source);
void metrics_process_resident(struct metrics_text *text, const struct metrics_source *source);
void metrics_process_virtual(struct metrics_text *text, const struct metrics_source *source);
void metrics_process_fds(struct metrics_text *text, const struct metrics_source *source);
void metrics_process_max_fds(struct metrics_text *text, const struct metrics_source *source);
/* Of services and their servers (metrics_service.c). */
void metrics_service_info(struct metrics_text *text, const struct metrics_source *source);
double metrics_service_draining(const struct metrics_service *service);
void metrics_connections(struct metrics_text *text, const struct metrics_source *source);
double metrics_connections_limit(const struct metrics_service *service);
double metrics_accepted(const struct metrics_service *service);
void metrics_refused(struct metrics_text *text, const struct metrics_source *source);
void metrics_closed(struct metrics_text *text, const struct metrics_source *source);
double metrics_fallbacks(const struct metrics_service *service);
double metrics_shortfalls(const struct metrics_service *service);
double metrics_memory_claimed(const struct metrics_service *service);
double metrics_target_up(const struct target *target, const struct target_info *info);
double metrics_target_connections(const struct target *target, const struct target_info *info);
double metrics_target_failures(const struct target *target, const struct target_info *info);
/* Of their ends (metrics_sides.c). */
void metrics_forms(struct metrics_text *text, const struct metrics_side *side);
void metrics_received(struct metrics_text *text, const struct metrics_side *side);
void metrics_sent(struct metrics_text *text, const struct metrics_side *side);
void metrics_rdma_errors(struct metrics_text *text, const struct metrics_side *side);
void metrics_crc_errors(struct metrics_text *text, const struct metrics_side *side);
void metrics_credits(struct metrics_text *text, const struct metrics_side *side);
/* Of Calls (metrics_calls.c). */
void metrics_calls(struct metrics_text *text, const struct metrics_operation *seen);
void metrics_call_errors(struct metrics_text *text, const struct metrics_operation *seen);
void metrics_calls_denied(struct metrics_text *text, const struct metrics_source *source);
double metrics_in_flight(const struct metrics_service *service);
void metrics_waiting(struct metrics_text *text, const struct metrics_source *source);
double metrics_oldest(const struct metrics_service *service);
double metrics_retransmissions(const struct metrics_service *service);
void metrics_duration(struct metrics_text *text, const struct metrics_operation *seen);
void metrics_stages(struct metrics_text *text, const struct metrics_operation *seen);
void metrics_request_bytes(struct metrics_text *text, const struct metrics_operation *seen);
void metrics_reply_bytes(struct metrics_text *text, const struct metrics_operation *seen);

#endif
