/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer to `capture`: {"schema": 1} on a line, then a capture file in the pcapng format (daemon/tap/capture.h). It
 * is complete when the client has ended its sending side, the time is up, or the file is as long as is wanted.
 */
#ifndef DAEMON_CONTROL_CAPTURE_H
#define DAEMON_CONTROL_CAPTURE_H

#include "daemon/control/watching.h"

extern const struct watch_form capture_form;

#endif
