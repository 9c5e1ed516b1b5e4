/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer to `check`: a check of a service's servers, and what came of it as JSON. */
#ifndef DAEMON_CONTROL_CHECK_ANSWER_H
#define DAEMON_CONTROL_CHECK_ANSWER_H

#include <jansson.h>
#include <sys/queue.h>

#include "daemon/proxy/proxy.h"

struct check_query;
/* Those that are under way; all zero: none. */
LIST_HEAD(check_queries, check_query);

/**
 * check_answer - check the servers of a service
 * @argument: "SERVICE" or "SERVICE --mount"
 * @done: called once, with @done_arg, on the main thread, now or later: as control_ops.run
 *
 * One check of a service is under way at a time.
 */
void check_answer(struct check_queries *queries, struct proxy *proxy, const char *argument,
		  void (*done)(void *done_arg, json_t *result), void *done_arg);
/** check_answers_end - give up those that are under way; done() has NULL. */
void check_answers_end(struct check_queries *queries);

#endif
