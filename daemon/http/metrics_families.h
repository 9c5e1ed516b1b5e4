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

struct metrics_family {
	const char *name; /* NULL behind the last one */
	enum metrics_type type;
	const char *help;
	void (*write)(struct metrics_text *text, const struct metrics_source *source);
};

/* In the order in which they are shown. */
extern const struct metrics_family metrics_families[];

/** metrics_write - all families, those without samples too. */
void metrics_write(struct metrics_text *text, const struct metrics_source *source);

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
void metrics_service_draining(struct metrics_text *text, const struct metrics_source *source);
void metrics_connections(struct metrics_text *text, const struct metrics_source *source);
void metrics_connections_limit(struct metrics_text *text, const struct metrics_source *source);
void metrics_accepted(struct metrics_text *text, const struct metrics_source *source);
void metrics_refused(struct metrics_text *text, const struct metrics_source *source);
void metrics_closed(struct metrics_text *text, const struct metrics_source *source);
void metrics_fallbacks(struct metrics_text *text, const struct metrics_source *source);
void metrics_shortfalls(struct metrics_text *text, const struct metrics_source *source);
void metrics_memory_claimed(struct metrics_text *text, const struct metrics_source *source);
void metrics_target_up(struct metrics_text *text, const struct metrics_source *source);
void metrics_target_connections(struct metrics_text *text, const struct metrics_source *source);
void metrics_target_failures(struct metrics_text *text, const struct metrics_source *source);
/* Of their ends (metrics_sides.c). */
void metrics_forms(struct metrics_text *text, const struct metrics_source *source);
void metrics_received(struct metrics_text *text, const struct metrics_source *source);
void metrics_sent(struct metrics_text *text, const struct metrics_source *source);
void metrics_rdma_errors(struct metrics_text *text, const struct metrics_source *source);
void metrics_crc_errors(struct metrics_text *text, const struct metrics_source *source);
void metrics_credits(struct metrics_text *text, const struct metrics_source *source);
/* Of Calls (metrics_calls.c). */
void metrics_calls(struct metrics_text *text, const struct metrics_source *source);
void metrics_call_errors(struct metrics_text *text, const struct metrics_source *source);
void metrics_calls_denied(struct metrics_text *text, const struct metrics_source *source);
void metrics_in_flight(struct metrics_text *text, const struct metrics_source *source);
void metrics_waiting(struct metrics_text *text, const struct metrics_source *source);
void metrics_oldest(struct metrics_text *text, const struct metrics_source *source);
void metrics_retransmissions(struct metrics_text *text, const struct metrics_source *source);
void metrics_duration(struct metrics_text *text, const struct metrics_source *source);
void metrics_stages(struct metrics_text *text, const struct metrics_source *source);
void metrics_request_bytes(struct metrics_text *text, const struct metrics_source *source);
void metrics_reply_bytes(struct metrics_text *text, const struct metrics_source *source);

#endif
