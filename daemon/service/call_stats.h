/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of the Calls of a service on one worker, by operation: numbers, sizes, status, and
 * time in each stage. Memory is bounded: an operation allocates when it is first seen.
 *
 * A Call is counted in two steps: when its RPC ends in the proxy (call_stats_count), and when the
 * client has received the Reply (call_stats_delivered).
 */
#ifndef DAEMON_SERVICE_CALL_STATS_H
#define DAEMON_SERVICE_CALL_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/histogram.h"
#include "leg/exchange.h"
#include "nfs/operation.h"

#define CALL_STATS_ERRORS 256u /* distinct pairs of operation and status */

/* Outcomes of a Call other than an NFS status. */
#define CALL_STATUS_ACCEPTED 0x80000000u /* … and an enum rpc_accept_stat */
#define CALL_STATUS_DENIED   0x81000000u /* … and RPC's reject_stat */
#define CALL_STATUS_FAULT    0x82000000u /* … and an enum exchange_fault */
#define CALL_STATUS_MANY     0x83000000u /* all pairs past CALL_STATS_ERRORS */
#define CALL_STATUS_STRANGE  0x84000000u /* an NFS status whose number collides with one of these */

struct operation_stats {
	uint64_t calls;      /* with a Reply, or an error that the proxy sent */
	uint64_t unanswered; /* without: a connection closed first */
	uint64_t errors;
	uint64_t request_bytes, reply_bytes; /* whole RPC messages */
	struct histogram stages[CALL_STAGE_COUNT], whole;
};

struct call_error {
	enum nfs_operation operation;
	uint32_t status;
	uint64_t count;
};

struct call_stats {
	/* NULL: not seen, or out of memory */
	struct operation_stats *operations[NFS_OPERATION_COUNT];
	unsigned nerrors;
	struct call_error *errors; /* CALL_STATS_ERRORS entries; NULL: none yet, or out of memory */
};

/* Data of a completed Call until its client has received the Reply. */
struct call_end {
	enum nfs_operation operation;
	uint32_t before_us; /* time in all stages before the client stage */
	uint64_t since_us;  /* when the client stage began */
};

/**
 * call_status_of - Returns the outcome of a Call
 *
 * 0 for success, an NFS status, or one of CALL_STATUS_*. An encrypted status counts as success.
 */
uint32_t call_status_of(const struct exchange *x);

#define PLAIN_REPLY_BYTES 28u

/**
 * call_is_plain_success - Returns whether the Reply is a success in the common form
 *
 * That is XID and type, then zeros: accepted, AUTH_NONE verifier, success, and NFS status 0. A
 * Reply without an NFS status has other data there; if that is zero, success is right too. Replies
 * of another form can also be successes.
 */
static inline bool call_is_plain_success(const struct exchange *x)
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

/** call_stats_fini - Frees the statistics and zeroes @stats. */
void call_stats_fini(struct call_stats *stats);
/** call_stats_list_free - Frees a list of @count statistics. Accepts NULL. */
void call_stats_list_free(struct call_stats *list, size_t count);

/*
 * For the inline functions below: add an operation (returns NULL without memory); count a status
 * (0: no error).
 */
struct operation_stats *operation_stats_new(struct call_stats *stats, enum nfs_operation operation);
void call_stats_error(struct call_stats *stats, enum nfs_operation operation, uint32_t status);

/**
 * call_stats_operation - Returns the statistics of an operation, adding it if new; NULL without
 * memory.
 */
static inline struct operation_stats *call_stats_operation(struct call_stats *stats,
							   enum nfs_operation operation)
{
	struct operation_stats *found = stats->operations[operation];

	return found ? found : operation_stats_new(stats, operation);
}

/**
 * call_stats_count - Counts a completed Call
 *
 * @end: set
 *
 * Returns whether it was answered: then call_stats_delivered() is due with @end.
 */
static inline bool call_stats_count(struct call_stats *stats, const struct exchange *x,
				    struct call_end *end)
{
	struct operation_stats *operation;
	uint64_t us = 0;

	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		us += x->stage_elapsed_us[i];
	end->operation = nfs_operation_of(&x->call_info);
	end->before_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
	end->since_us = x->stage_us;
	operation = call_stats_operation(stats, end->operation);
	if (!operation)
		return false;
	if (x->stage != CALL_STAGE_CLIENT) {
		operation->unanswered++;
		return false;
	}
	operation->calls++;
	operation->request_bytes += x->call.len_bytes;
	operation->reply_bytes += x->reply.len_bytes;
	if (!call_is_plain_success(x))
		call_stats_error(stats, end->operation, call_status_of(x));
#pragma GCC unroll 4
	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		histogram_add(&operation->stages[i], x->stage_elapsed_us[i]);
	return true;
}

/** call_stats_delivered - Records that the client received the Reply after @client_us. */
static inline void call_stats_delivered(struct call_stats *stats, const struct call_end *end,
					uint32_t client_us)
{
	struct operation_stats *operation = stats->operations[end->operation];
	uint64_t us = (uint64_t)end->before_us + client_us;

	histogram_add(&operation->stages[CALL_STAGE_CLIENT], client_us);
	histogram_add(&operation->whole, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
}

/**
 * call_stats_merge - Adds another worker's statistics; without memory, operations new to @sum are
 * skipped.
 */
void call_stats_merge(struct call_stats *sum, const struct call_stats *part);

#define CALL_STATUS_TEXT_BYTES 32u
/**
 * call_status_name - Returns "NOENT", "PROG_UNAVAIL" …; for an unnamed status its number, in @text.
 */
const char *call_status_name(uint32_t status, char text[CALL_STATUS_TEXT_BYTES]);
/**
 * call_status_full_name - Returns the name as the document of the program has it, for people:
 * "NFS4ERR_NOENT", "MNT3ERR_ACCES", "PROG_UNAVAIL" …; "status 12345" for an unnamed one.
 * @prog, @vers: of the Call
 */
const char *call_status_full_name(uint32_t prog, uint32_t vers, uint32_t status,
				  char text[NFS_STATUS_TEXT_BYTES]);

#endif
