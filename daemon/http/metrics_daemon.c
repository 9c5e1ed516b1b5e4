// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of the daemon as a whole. */
#include <config.h>

#include <stdio.h>

#include "daemon/base/log.h"
#include "daemon/base/thread.h"
#include "daemon/http/metrics_families.h"

void metrics_build_info(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_LABELS({"version", PACKAGE_VERSION}), 1);
}

void metrics_reload_successful(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, !source->gathered->proxy->reload_failed);
}

void metrics_reload_time(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->gathered->proxy->config_s);
}

void metrics_worker_cpu(struct metrics_text *text, const struct metrics_source *source)
{
	const struct proxy *proxy = source->gathered->proxy;
	char number[24];

	for (size_t i = 0; i < proxy->nworkers; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		metrics_text_put(text, METRICS_LABELS({"worker", number}),
				 (double)thread_cpu_us(proxy->workers[i]->thread) / 1e6);
	}
}

void metrics_memory_limit(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->gathered->budget.limit_bytes);
}

void metrics_memory_mapped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->gathered->pool.slab_bytes);
}

void metrics_trace_dropped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)source->gathered->proxy->records_missed);
}

void metrics_log_dropped(struct metrics_text *text, const struct metrics_source *source)
{
	metrics_text_put(text, METRICS_NO_LABELS, (double)log_lines_dropped());
}

void metrics_http_requests(struct metrics_text *text, const struct metrics_source *source)
{
	for (unsigned i = 0; i < HTTP_END_COUNT; i++)
		metrics_text_put(text, METRICS_LABELS({"code", http_end_name(i)}),
				 (double)source->http_ends[i]);
}
