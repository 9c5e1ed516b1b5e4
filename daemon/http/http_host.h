/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a request is meant for this daemon, by its Host (RFC 9110, section 7.4).
 *
 * A web site can have its own name resolve to an address of this host (DNS rebinding). A browser then sends its requests
 * here and lets the scripts of that site read the answers, though http_allow has the browser's address. What gives it
 * away is the name that it asks for.
 */
#ifndef DAEMON_HTTP_HTTP_HOST_H
#define DAEMON_HTTP_HTTP_HOST_H

#include <stdbool.h>

#include "daemon/config/config_value.h"

/**
 * http_host_is_ours - whether a Host may be asked for
 * @host:  a name or a literal address, with a port behind a colon or without; IPv6 in brackets
 * @own:   the name of this machine, with its domain or without
 * @hosts: further names
 *
 * Returns true for any literal address, "localhost", @own, the first label of @own, each name of @hosts, and a Host
 * without a name. Letters may be of either case, and a name may end in a dot.
 */
bool http_host_is_ours(const char *host, const char *own, const struct config_hosts *hosts);

#endif
