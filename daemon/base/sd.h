/* SPDX-License-Identifier: BSD-3-Clause */
/* What systemd is told of the daemon's state (Type=notify); nothing where systemd did not start it. */
#ifndef DAEMON_BASE_SD_H
#define DAEMON_BASE_SD_H

#include <stddef.h>

#include "base/compiler.h"

/** sd_ready - the listeners are open. */
void sd_ready(void);
/** sd_stopping - the daemon has begun to stop. */
void sd_stopping(void);
/** sd_status - a line for `systemctl status`. */
void PRINTF_LIKE(1, 2) sd_status(const char *format, ...);

#endif
