// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/call_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/compound.h"
#include "nfs/operation.h"

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

struct operation_stats *operation_stats_new(struct call_stats *stats, enum nfs_operation operation)
{
	stats->operations[operation] = calloc(1, sizeof(*stats->operations[operation]));
	return stats->operations[operation];
}

static uint32_t nfs_status(const struct exchange *x, uint32_t at)
{
	uint32_t status;

	if (!nfs_operation_has_status(&x->call_info))
		return 0;
	if (x->call_info.body == CALL_BODY_INTEGRITY)
		at += NFS_INTEGRITY_HEAD_BYTES;
	if (at + XDR_UNIT_BYTES > x->reply.have_bytes)
		return 0;
	status = be32_get(x->reply.data + at);
	return status < CALL_STATUS_ACCEPTED ? status : CALL_STATUS_STRANGE;
}

/* The receiving leg has decoded the Reply already; this finds its status. */
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

uint32_t call_status_of(const struct exchange *x)
{
	if (x->fault != EXCHANGE_OK)
		return CALL_STATUS_FAULT | x->fault;
	return call_is_plain_success(x) ? 0 : reply_status(x);
}

/* Searches linearly: errors are rare and of few kinds. */
static void count_error(struct call_stats *stats, enum nfs_operation operation, uint32_t status,
			uint64_t count)
{
	struct call_error *error;

	if (!stats->errors)
		stats->errors = calloc(CALL_STATS_ERRORS, sizeof(*stats->errors));
	if (!stats->errors)
		return;
	/* The last entry counts all that do not fit. */
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

void call_stats_error(struct call_stats *stats, enum nfs_operation operation, uint32_t status)
{
	if (!status)
		return;
	stats->operations[operation]->errors++;
	count_error(stats, operation, status, 1);
}

static void merge_operation(struct operation_stats *sum, const struct operation_stats *part)
{
	sum->calls += part->calls;
	sum->unanswered += part->unanswered;
	sum->errors += part->errors;
	sum->request_bytes += part->request_bytes;
	sum->reply_bytes += part->reply_bytes;
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		histogram_merge(&sum->stages[i], &part->stages[i]);
	histogram_merge(&sum->whole, &part->whole);
}

void call_stats_merge(struct call_stats *sum, const struct call_stats *part)
{
	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++) {
		struct operation_stats *to =
			part->operations[i] ? call_stats_operation(sum, i) : NULL;

		if (to)
			merge_operation(to, part->operations[i]);
	}
	for (unsigned i = 0; i < part->nerrors; i++)
		count_error(sum, part->errors[i].operation, part->errors[i].status,
			    part->errors[i].count);
}

#define CLASS_MASK 0xff000000u

static const char *const accepted[] = {
	[RPC_PROG_UNAVAIL] = "PROG_UNAVAIL", [RPC_PROG_MISMATCH] = "PROG_MISMATCH",
	[RPC_PROC_UNAVAIL] = "PROC_UNAVAIL", [RPC_GARBAGE_ARGS] = "GARBAGE_ARGS",
	[RPC_SYSTEM_ERR] = "SYSTEM_ERR",
};

/* Faults for which the proxy sent the error itself. */
static const char *const faults[] = {
	[EXCHANGE_FAULT_ERR_CHUNK] = "ERR_CHUNK",   [EXCHANGE_FAULT_ERR_VERS] = "ERR_VERS",
	[EXCHANGE_FAULT_BAD_REPLY] = "BAD_REPLY",   [EXCHANGE_FAULT_TOO_BIG] = "REPLY_TOO_BIG",
	[EXCHANGE_FAULT_CANT_SEND] = "CANNOT_SEND", [EXCHANGE_FAULT_LATE] = "NO_ANSWER",
};

static const char *named(const char *const *names, size_t count, uint32_t i)
{
	return i < count ? names[i] : NULL;
}

const char *call_status_name(uint32_t status, char text[CALL_STATUS_TEXT_BYTES])
{
	const char *name = nfs_status_name(status);

	switch (status & CLASS_MASK) {
	case CALL_STATUS_ACCEPTED:
		name = named(accepted, ARRAY_SIZE(accepted), status & ~CLASS_MASK);
		break;
	case CALL_STATUS_DENIED:
		name = "RPC_DENIED";
		break;
	case CALL_STATUS_FAULT:
		name = named(faults, ARRAY_SIZE(faults), status & ~CLASS_MASK);
		break;
	case CALL_STATUS_MANY:
		name = "OTHERS";
		break;
	case CALL_STATUS_STRANGE:
		name = "STRANGE";
		break;
	}
	if (name)
		return name;
	snprintf(text, CALL_STATUS_TEXT_BYTES, "%u", status);
	return text;
}

const char *call_status_full_name(uint32_t prog, uint32_t vers, uint32_t status,
				  char text[NFS_STATUS_TEXT_BYTES])
{
	if (status & CLASS_MASK)
		return call_status_name(status, text);
	if (!nfs_status_full_name(prog, vers, status, text))
		snprintf(text, NFS_STATUS_TEXT_BYTES, "status %u", status);
	return text;
}
