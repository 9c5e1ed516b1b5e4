/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages and exit statuses of rpcrdma-proxyctl. */
#ifndef DAEMON_CTL_CTL_ERROR_H
#define DAEMON_CTL_CTL_ERROR_H

#include "base/compiler.h"

#define PROGRAM  "rpcrdma-proxyctl"
#define SEE_HELP "'" PROGRAM " --help' lists them"

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_UNREACHABLE };
/* Exit statuses of the command `check`. EXIT_NOT_CHECKED: the check has no result. */
enum { EXIT_DEGRADED = 1, EXIT_FAILED, EXIT_NOT_CHECKED };

/** ctl_error - Writes a line with the program's name to standard error. Returns @status. */
int PRINTF_LIKE(2, 3) ctl_error(int status, const char *format, ...);

#endif
