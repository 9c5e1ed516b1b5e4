/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the member "problems" of the daemon's answers, which lists them worst first. */
#ifndef DAEMON_CTL_PROBLEM_LINES_H
#define DAEMON_CTL_PROBLEM_LINES_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"

/* Worst first. A severity that this client does not know counts as a warning. */
enum problem_rank {
	PROBLEM_RANK_CRITICAL,
	PROBLEM_RANK_WARNING,
	PROBLEM_RANK_NOTICE,
	PROBLEM_RANKS
};

/** problem_rank - Returns the rank of a problem. */
enum problem_rank problem_rank(const json_t *problem);
/**
 * problem_rank_of_service - Returns the rank of the worst problem of a service, or PROBLEM_RANKS if
 * it has none.
 */
enum problem_rank problem_rank_of_service(const json_t *problems, const char *service);

/**
 * problem_lines_print - Prints each problem with its cure, or that there are none.
 * @problems: the array; NULL: the daemon is older and does not report problems
 * @most:     lines of 80 columns that fit the screen. Without space for the cures, prints a line
 *            per problem, and how many more there are; 0: no limit, and lines are not wrapped
 *
 * Returns 0 or -ENOMEM.
 */
int problem_lines_print(const json_t *problems, size_t most, FILE *out) MUST_CHECK;

#endif
