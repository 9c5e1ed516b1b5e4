/* SPDX-License-Identifier: BSD-3-Clause */
/* Which listeners rpcbind is to have: those of services that say so, as NFS. */
#ifndef DAEMON_PROXY_REGISTRATION_H
#define DAEMON_PROXY_REGISTRATION_H

#include "daemon/proxy/proxy_parts.h"

/**
 * registration_update - have rpcbind know the listeners that there are now, and no others
 *
 * Of several for one kind of address the first in the file is taken: rpcbind has room for one. What fails is logged.
 */
void registration_update(struct proxy *proxy);
/** registration_end - take back what is registered, for a second at most. */
void registration_end(struct proxy *proxy);

#endif
