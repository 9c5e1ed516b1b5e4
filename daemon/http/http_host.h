/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks by its Host field whether a request is meant for this daemon (RFC 9110, section 7.4).
 *
 * A web site can make its own name resolve to an address of this host (DNS rebinding). A browser
 * then sends its requests here and lets the scripts of that site read the answers, although
 * http_allow lists the browser's address. Such a request has the name of that site as its Host.
 */
#ifndef DAEMON_HTTP_HTTP_HOST_H
#define DAEMON_HTTP_HTTP_HOST_H

#include <stdbool.h>

#include "daemon/config/config_value.h"

/**
 * http_host_is_ours - Returns whether requests for a Host are served.
 * @host:  a name or a literal address, with or without a port after a colon; IPv6 in brackets
 * @own:   the name of this machine, with or without its domain
 * @hosts: further names
 *
 * Returns true for any literal address, "localhost", @own, the first label of @own, each name of
 * @hosts, and a Host without a name. The comparison ignores case and a trailing dot.
 */
bool http_host_is_ours(const char *host, const char *own, const struct config_hosts *hosts);

#endif
