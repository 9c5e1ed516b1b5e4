/* SPDX-License-Identifier: BSD-3-Clause */
/* What the client says on standard error, and how it ends. */
#ifndef DAEMON_CTL_COMPLAIN_H
#define DAEMON_CTL_COMPLAIN_H

#include "base/compiler.h"

#define PROGRAM    "rpcrdma-proxyctl"
#define LISTS_THEM "'" PROGRAM " --help' lists them"

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_UNREACHABLE };
/* Those of check: what it could not say anything about has a status of its own. */
enum { EXIT_DEGRADED = 1, EXIT_FAILED, EXIT_NOT_CHECKED };

/** complain - one line on standard error, behind the program's name. Returns @status. */
int PRINTF_LIKE(2, 3) complain(int status, const char *format, ...);

#endif
