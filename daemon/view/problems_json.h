/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the problems of a snapshot, and shows them as JSON. */
#ifndef DAEMON_VIEW_PROBLEMS_JSON_H
#define DAEMON_VIEW_PROBLEMS_JSON_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/proxy/problems.h"
#include "daemon/view/snapshot_collect.h"

/**
 * problems_gather - Adds the problems of the daemon, with those that a snapshot has of workers, worst
 * first.
 */
void problems_gather(const struct collected *collected, struct problem_list *problems);
/** problems_gather_service - Adds those of the service with that number in the snapshot. */
void problems_gather_service(const struct collected *collected, size_t i,
			     struct problem_list *problems);
/**
 * problems_json - Returns the problems as a new array. daemon/view/answer.h lists their members.
 * Returns NULL if memory ran out.
 */
json_t *problems_json(const struct problem_list *problems) MUST_CHECK;

#endif
