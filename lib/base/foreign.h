/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets that come from an address which is another host's: what the kernel calls transparent. */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/compiler.h"

/**
 * foreign_permit - let @fd, a socket that is not bound yet, be bound to any address
 * @family: AF_INET or AF_INET6, of the socket
 *
 * Returns 0 or a negative errno, -EPERM without CAP_NET_RAW or CAP_NET_ADMIN.
 */
int foreign_permit(int fd, sa_family_t family) MUST_CHECK;
/** foreign_may - whether this process may do that. Asks the kernel. */
bool foreign_may(void);

#endif
