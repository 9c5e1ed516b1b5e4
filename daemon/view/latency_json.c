// SPDX-License-Identifier: BSD-3-Clause
/* How long Calls took, as JSON. */
#include "daemon/view/latency_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/view/service_json.h"

static json_t *limit_json(unsigned bucket)
{
	double limit_s = durations_limit_s(bucket);

	return isfinite(limit_s) ? json_real(limit_s) : json_null();
}

/* null of none, and of one that is in the last bucket. */
static json_t *quantile_json(const struct durations *durations, uint64_t count, double q)
{
	return count ? limit_json(durations_quantile(durations, q)) : json_null();
}

static json_t *durations_json(const struct durations *durations)
{
	uint64_t count = durations_count(durations);
	json_t *counts = json_array();
	unsigned used = DURATIONS_BUCKETS;

	while (used && !durations->counts[used - 1])
		used--;
	for (unsigned i = 0; i < used; i++)
		json_array_append_new(counts, json_integer((json_int_t)durations->counts[i]));
	return json_pack("{s:I, s:f, s:o, s:o, s:o}", "count", (json_int_t)count, "sum_s",
			 (double)durations->sum_us / 1e6, "p50_s",
			 quantile_json(durations, count, 0.5), "p99_s",
			 quantile_json(durations, count, 0.99), "counts", counts);
}

static json_t *errors_json(const struct call_stats *stats, enum nfs_operation operation)
{
	json_t *errors = json_object();

	for (unsigned i = 0; i < stats->nerrors; i++) {
		const struct call_error *error = &stats->errors[i];
		char text[CALL_STATUS_TEXT_BYTES];

		if (error->operation == operation)
			json_object_set_new(errors, call_status_name(error->status, text),
					    json_integer((json_int_t)error->count));
	}
	return errors;
}

static json_t *operation_json(const struct call_stats *stats, enum nfs_operation operation)
{
	const struct operation_stats *found = stats->operations[operation];
	json_t *stages = json_object();

	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		json_object_set_new(stages, call_stage_name(i), durations_json(&found->stages[i]));
	return json_pack(
		"{s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "calls", (json_int_t)found->calls,
		"unanswered", (json_int_t)found->unanswered, "errors", (json_int_t)found->errors,
		"errors_by_status", errors_json(stats, operation), "request_bytes",
		(json_int_t)found->request_bytes, "reply_bytes", (json_int_t)found->reply_bytes,
		"whole", durations_json(&found->whole), "stages", stages);
}

static json_t *service_json(const struct call_stats *stats)
{
	json_t *operations = json_object();

	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++)
		if (stats->operations[i])
			json_object_set_new(operations, nfs_operation_name(i),
					    operation_json(stats, i));
	return json_pack("{s:o}", "operations", operations);
}

/* The last bucket, which is left out, has no end. */
static json_t *limits_json(void)
{
	json_t *limits = json_array();

	for (unsigned i = 0; i < DURATIONS_BUCKETS - 1; i++)
		json_array_append_new(limits, limit_json(i));
	return limits;
}

json_t *latency_json(struct proxy_service *const *services, const struct call_stats *calls,
		     size_t count)
{
	json_t *all = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, services[i]->service.config->name,
				    service_json(&calls[i]));
	return json_pack("{s:o, s:o}", "limits_s", limits_json(), "services", all);
}

/* Of one service, what it has of an operation. */
static json_t *only_operation(const json_t *answer, const char *name, const json_t *service,
			      enum nfs_operation operation)
{
	const char *key = nfs_operation_name(operation);
	json_t *all = json_object_get(service, "operations"), *found = json_object();

	if (json_object_get(all, key))
		json_object_set(found, key, json_object_get(all, key));
	return json_pack("{s:O, s:s, s:{s:{s:o}}}", "limits_s", json_object_get(answer, "limits_s"),
			 "operation", key, "services", name, "operations", found);
}

json_t *latency_only(const struct proxy *proxy, json_t *answer, const char *argument)
{
	size_t len = strcspn(argument, " ");
	const char *word = argument[len] ? argument + len + 1 : "";
	enum nfs_operation operation = nfs_operation_find(word);
	char *name = strndup(argument, len);
	json_t *service = name ? json_object_get(json_object_get(answer, "services"), name) : NULL;
	json_t *share;

	if (!name)
		share = NULL;
	else if (!len)
		share = json_incref(answer);
	else if (!service)
		share = no_service_json(proxy, name);
	else if (!*word)
		share = json_pack("{s:O, s:{s:O}}", "limits_s", json_object_get(answer, "limits_s"),
				  "services", name, service);
	else if (operation == NFS_OPERATION_COUNT)
		share = json_pack("{s:o}", "error", json_sprintf("there is no operation %s", word));
	else
		share = only_operation(answer, name, service, operation);
	free(name);
	return share;
}
