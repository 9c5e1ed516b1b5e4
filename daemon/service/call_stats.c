// SPDX-License-Identifier: BSD-3-Clause
/* What became of the Calls of a service. */
#include "daemon/service/call_stats.h"

#include <stdlib.h>
#include <string.h>

#include "nfs/compound.h"

void call_stats_fini(struct call_stats *stats)
{
	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++)
		free(stats->operations[i]);
	free(stats->errors);
	memset(stats, 0, sizeof(*stats));
}

void call_stats_list_free(struct call_stats *list, size_t count)
{
	for (size_t i = 0; list && i < count; i++)
		call_stats_fini(&list[i]);
	free(list);
}

static struct operation_stats *operation_get(struct call_stats *stats, enum nfs_operation operation)
{
	struct operation_stats *found = stats->operations[operation];

	if (!found)
		found = stats->operations[operation] = calloc(1, sizeof(*found));
	return found;
}

static uint32_t nfs_status(const struct exchange *x, uint32_t at)
{
	uint32_t status;

	if (!nfs_operation_has_status(&x->facts))
		return 0;
	if (x->facts.body == FACTS_BODY_INTEGRITY)
		at += NFS_INTEGRITY_HEAD_BYTES;
	if (at + XDR_UNIT_BYTES > x->reply.have_bytes)
		return 0;
	status = xdr_load_u32(x->reply.data + at);
	return status < CALL_STATUS_ACCEPTED ? status : CALL_STATUS_STRANGE;
}

/* A Reply has been decoded where it came in; this looks where its answer is. */
static uint32_t reply_status(const struct exchange *x)
{
	struct rpc_reply_hdr hdr;

	if (rpc_reply_decode(x->reply.data, x->reply.have_bytes, &hdr) != RPC_OK)
		return CALL_STATUS_FAULT | EXCHANGE_FAULT_BAD_REPLY;
	if (hdr.stat == RPC_MSG_DENIED)
		return CALL_STATUS_DENIED;
	if (hdr.accept_stat != RPC_SUCCESS)
		return CALL_STATUS_ACCEPTED | hdr.accept_stat;
	return nfs_status(x, hdr.results_offset);
}

/*
 * Most Replies begin so: XID and type, then zeros for accepted, a verifier of AUTH_NONE and success, and zero for the status of
 * NFS. Where there is no such status, what stands in its place may be anything; zero means no harm.
 */
#define PLAIN_REPLY_BYTES 28u

static inline bool is_plain_success(const struct exchange *x)
{
	const uint8_t *reply = x->reply.data;
	uint64_t words[2];
	uint32_t status;

	if (x->fault != EXCHANGE_OK || x->reply.have_bytes < PLAIN_REPLY_BYTES)
		return false;
	memcpy(words, reply + 8, sizeof(words));
	memcpy(&status, reply + 24, sizeof(status));
	return !(words[0] | words[1] | status);
}

uint32_t call_status_of(const struct exchange *x)
{
	if (x->fault != EXCHANGE_OK)
		return CALL_STATUS_FAULT | x->fault;
	return is_plain_success(x) ? 0 : reply_status(x);
}

/* Errors are rare, and of few kinds. */
static void count_error(struct call_stats *stats, enum nfs_operation operation, uint32_t status,
			uint64_t count)
{
	struct call_error *error;

	if (!stats->errors)
		stats->errors = calloc(CALL_STATS_ERRORS, sizeof(*stats->errors));
	if (!stats->errors)
		return;
	/* The last one has those for which there is no room. */
	for (error = stats->errors; error < stats->errors + stats->nerrors; error++)
		if ((error->operation == operation && error->status == status) ||
		    error->status == CALL_STATUS_MANY)
			break;
	if (error == stats->errors + stats->nerrors) {
		if (++stats->nerrors == CALL_STATS_ERRORS)
			status = CALL_STATUS_MANY;
		*error = (struct call_error){.operation = operation, .status = status};
	}
	error->count += count;
}

static void count_status(struct call_stats *stats, enum nfs_operation operation, uint32_t status)
{
	if (!status)
		return;
	stats->operations[operation]->errors++;
	count_error(stats, operation, status, 1);
}

bool call_stats_count(struct call_stats *stats, const struct exchange *x, struct call_end *end)
{
	struct operation_stats *operation;
	uint64_t us = 0;

	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		us += x->took_us[i];
	*end = (struct call_end){.operation = nfs_operation_of(&x->facts),
				 .before_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX,
				 .since_us = x->stage_us};
	operation = operation_get(stats, end->operation);
	if (!operation)
		return false;
	if (x->stage != CALL_STAGE_CLIENT) {
		operation->unanswered++;
		return false;
	}
	operation->calls++;
	operation->request_bytes += x->call.len_bytes;
	operation->reply_bytes += x->reply.len_bytes;
	if (!is_plain_success(x))
		count_status(stats, end->operation, call_status_of(x));
	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		durations_add(&operation->stages[i], x->took_us[i]);
	return true;
}

void call_stats_took(struct call_stats *stats, const struct call_end *end, uint32_t client_us)
{
	struct operation_stats *operation = stats->operations[end->operation];
	uint64_t us = (uint64_t)end->before_us + client_us;

	durations_add(&operation->stages[CALL_STAGE_CLIENT], client_us);
	durations_add(&operation->whole, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
}

static void merge_operation(struct operation_stats *sum, const struct operation_stats *part)
{
	sum->calls += part->calls;
	sum->unanswered += part->unanswered;
	sum->errors += part->errors;
	sum->request_bytes += part->request_bytes;
	sum->reply_bytes += part->reply_bytes;
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		durations_merge(&sum->stages[i], &part->stages[i]);
	durations_merge(&sum->whole, &part->whole);
}

void call_stats_merge(struct call_stats *sum, const struct call_stats *part)
{
	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++) {
		struct operation_stats *to = part->operations[i] ? operation_get(sum, i) : NULL;

		if (to)
			merge_operation(to, part->operations[i]);
	}
	for (unsigned i = 0; i < part->nerrors; i++)
		count_error(sum, part->errors[i].operation, part->errors[i].status,
			    part->errors[i].count);
}
