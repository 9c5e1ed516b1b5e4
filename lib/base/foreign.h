/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds sockets to addresses of other hosts (IP_TRANSPARENT). */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/compiler.h"

/**
 * foreign_permit - Allows binding @fd, which is not bound yet, to any address
 * @family: of the socket: AF_INET or AF_INET6
 *
 * Returns 0 or a negative errno: -EPERM without CAP_NET_RAW or CAP_NET_ADMIN.
 */
int foreign_permit(int fd, sa_family_t family) MUST_CHECK;
/** foreign_may - Returns whether this process has the permission for that. Asks the kernel. */
bool foreign_may(void);

#endif
