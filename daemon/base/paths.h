/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the daemon and its control client look, unless they are told otherwise. */
#ifndef DAEMON_BASE_PATHS_H
#define DAEMON_BASE_PATHS_H

#define CONFIG_DEFAULT_FILE    "/etc/rpcrdma-proxy.conf"
#define CONTROL_DEFAULT_SOCKET "/run/rpcrdma-proxy/control.sock"

#endif
