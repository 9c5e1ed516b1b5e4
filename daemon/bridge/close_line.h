/* SPDX-License-Identifier: BSD-3-Clause */
/* What the log says of a bridge that ends: on whose account and why, and what it was. */
#ifndef DAEMON_BRIDGE_CLOSE_LINE_H
#define DAEMON_BRIDGE_CLOSE_LINE_H

#include "daemon/bridge/bridge_state.h"

/**
 * close_line_log - log that the end of @bridge is decided, for @why, on account of @by
 * @detail: what is known beyond that, or ""
 *
 * To be called before its Calls without a Reply are given up, and before its state is another.
 */
void close_line_log(const struct bridge *bridge, enum leg_close why, enum close_by by,
		    const char *detail);

#endif
