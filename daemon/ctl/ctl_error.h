/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages and exit statuses of rpcrdma-proxyctl. */
#ifndef DAEMON_CTL_CTL_ERROR_H
#define DAEMON_CTL_CTL_ERROR_H

#include "base/compiler.h"

#define PROGRAM         "rpcrdma-proxyctl"
#define CTL_ERROR_BYTES 512u
#define SEE_HELP        "'" PROGRAM " --help' lists them"

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_UNREACHABLE };

/** ctl_error - Writes a line with the program's name to standard error. Returns @status. */
int PRINTF_LIKE(2, 3) ctl_error(int status, const char *format, ...);
/** ctl_error_last - Returns the last message, without the program's name; "" if there is none. */
const char *ctl_error_last(void);

#endif
