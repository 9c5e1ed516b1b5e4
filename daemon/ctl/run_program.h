/* SPDX-License-Identifier: BSD-3-Clause */
/* What another program says, within bounds. */
#ifndef DAEMON_CTL_RUN_PROGRAM_H
#define DAEMON_CTL_RUN_PROGRAM_H

#include <stdio.h>

#define RUN_PROGRAM_MAX_WORDS 12u

/**
 * run_program - run a program, without a shell, and copy what it says on standard output and error
 * @words:     its name and arguments, ended by NULL; found as execvp() does
 * @timeout_s: after which it is ended
 * @max_bytes: of which no more than the first are copied; it is ended then
 * @out:       also has a line in brackets if it cannot be run or ends otherwise than with success
 */
void run_program(const char *const *words, unsigned timeout_s, size_t max_bytes, FILE *out);

#endif
