/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of the Calls of a service on one worker: by operation how many, how large, with what status, and how long each
 * stage of them took. Memory is fixed: an operation takes some when it is seen for the first time.
 *
 * A Call is counted in two steps: when the RPC is over here (call_stats_count), and when its client has the Reply
 * (call_stats_took).
 */
#ifndef DAEMON_SERVICE_CALL_STATS_H
#define DAEMON_SERVICE_CALL_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/durations.h"
#include "leg/exchange.h"
#include "nfs/operation.h"

#define CALL_STATS_ERRORS 256u /* pairs of operation and status that are told apart */

/* What answered a Call, other than a status of NFS. */
#define CALL_STATUS_ACCEPTED 0x80000000u /* … and an enum rpc_accept_stat */
#define CALL_STATUS_DENIED   0x81000000u /* … and RPC's reject_stat */
#define CALL_STATUS_FAULT    0x82000000u /* … and an enum exchange_fault */
#define CALL_STATUS_MANY     0x83000000u /* in place of those for which there was no room */
#define CALL_STATUS_STRANGE  0x84000000u /* a status of NFS that could be taken for one of these */

struct operation_stats {
	uint64_t calls;      /* that had a Reply, or an answer of ours in its place */
	uint64_t unanswered; /* that had none: a connection ended before */
	uint64_t errors;
	uint64_t request_bytes, reply_bytes; /* of whole RPC messages */
	struct durations stages[CALL_STAGE_COUNT], whole;
};

struct call_error {
	enum nfs_operation operation;
	uint32_t status;
	uint64_t count;
};

struct call_stats {
	struct operation_stats *operations[NFS_OPERATION_COUNT]; /* NULL: not seen, or no memory */
	unsigned nerrors;
	struct call_error *errors; /* of CALL_STATS_ERRORS; NULL: none yet, or no memory */
};

/* What is left of a Call that is over, until its client has the Reply. */
struct call_end {
	enum nfs_operation operation;
	uint32_t before_us; /* in all stages before the client's */
	uint64_t since_us;  /* when that began */
};

/**
 * call_status_of - what answered a Call
 *
 * Returns 0 for a success, a status of NFS, or one of CALL_STATUS_*. A status that is encrypted counts as success.
 */
uint32_t call_status_of(const struct exchange *x);

#define PLAIN_REPLY_BYTES 28u

/**
 * call_is_plain_success - whether it was answered as most are
 *
 * Most Replies begin so: XID and type, then zeros for accepted, a verifier of AUTH_NONE and success, and zero for the status of
 * NFS. Where there is no such status, what stands in its place may be anything; zero means no harm.
 * What does not begin so may be a success nevertheless.
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

/** call_stats_fini - free what it took; all zero again. */
void call_stats_fini(struct call_stats *stats);
/** call_stats_list_free - call_stats_fini() of each of @count, and free the list; accepts NULL. */
void call_stats_list_free(struct call_stats *list, size_t count);

/* For those below: the first Call of an operation, NULL without memory; and a status, 0 if there is no error. */
struct operation_stats *operation_stats_new(struct call_stats *stats, enum nfs_operation operation);
void call_stats_error(struct call_stats *stats, enum nfs_operation operation, uint32_t status);

/** call_stats_operation - what is kept of an operation, from now on at the latest; NULL without memory. */
static inline struct operation_stats *call_stats_operation(struct call_stats *stats,
							   enum nfs_operation operation)
{
	struct operation_stats *found = stats->operations[operation];

	return found ? found : operation_stats_new(stats, operation);
}

/**
 * call_stats_count - a Call is over
 *
 * @end: set
 *
 * Returns whether it was answered: then call_stats_took() is to follow for what is in @end.
 */
static inline bool call_stats_count(struct call_stats *stats, const struct exchange *x,
				    struct call_end *end)
{
	struct operation_stats *operation;
	uint64_t us = 0;

	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		us += x->took_us[i];
	end->operation = nfs_operation_of(&x->facts);
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
		durations_add(&operation->stages[i], x->took_us[i]);
	return true;
}

/** call_stats_took - its client took @client_us to take the Reply. */
static inline void call_stats_took(struct call_stats *stats, const struct call_end *end,
				   uint32_t client_us)
{
	struct operation_stats *operation = stats->operations[end->operation];
	uint64_t us = (uint64_t)end->before_us + client_us;

	durations_add(&operation->stages[CALL_STAGE_CLIENT], client_us);
	durations_add(&operation->whole, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
}

/** call_stats_merge - add those of another worker; operations that are new to @sum are left out without memory. */
void call_stats_merge(struct call_stats *sum, const struct call_stats *part);

#define CALL_STATUS_TEXT_BYTES 32u
/** call_status_name - "NOENT", "PROG_UNAVAIL" …; the number of one that has no name, put into @text. */
const char *call_status_name(uint32_t status, char text[CALL_STATUS_TEXT_BYTES]);

#endif
