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

/** call_stats_fini - free what it took; all zero again. */
void call_stats_fini(struct call_stats *stats);
/** call_stats_list_free - call_stats_fini() of each of @count, and free the list; accepts NULL. */
void call_stats_list_free(struct call_stats *list, size_t count);
/**
 * call_stats_count - a Call is over
 *
 * @end: set
 *
 * Returns whether it was answered: then call_stats_took() is to follow for what is in @end.
 */
bool call_stats_count(struct call_stats *stats, const struct exchange *x, struct call_end *end);
/** call_stats_took - its client took @client_us to take the Reply. */
void call_stats_took(struct call_stats *stats, const struct call_end *end, uint32_t client_us);
/** call_stats_merge - add those of another worker; operations that are new to @sum are left out without memory. */
void call_stats_merge(struct call_stats *sum, const struct call_stats *part);

/**
 * call_status_of - what answered a Call
 *
 * Returns 0 for a success, a status of NFS, or one of CALL_STATUS_*. A status that is encrypted counts as success.
 */
uint32_t call_status_of(const struct exchange *x);

#define CALL_STATUS_TEXT_BYTES 32u
/** call_status_name - "NOENT", "PROG_UNAVAIL" …; the number of one that has no name, put into @text. */
const char *call_status_name(uint32_t status, char text[CALL_STATUS_TEXT_BYTES]);

#endif
