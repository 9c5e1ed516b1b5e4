/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds sockets to addresses of other hosts (IP_TRANSPARENT). */
#ifndef BASE_IP_TRANSPARENT_H
#define BASE_IP_TRANSPARENT_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/compiler.h"

/**
 * ip_transparent_enable - Allows binding @fd, which is not bound yet, to any address
 * @family: of the socket: AF_INET or AF_INET6
 *
 * Returns 0 or a negative errno: -EPERM without CAP_NET_RAW or CAP_NET_ADMIN.
 */
int ip_transparent_enable(int fd, sa_family_t family) MUST_CHECK;
/**
 * ip_transparent_is_permitted - Returns whether this process may use ip_transparent_enable(). Asks
 * the kernel.
 */
bool ip_transparent_is_permitted(void);

#endif
