/* SPDX-License-Identifier: BSD-3-Clause */
/* What systemd is told of the daemon's state (Type=notify); nothing where systemd did not start it. */
#ifndef DAEMON_BASE_SD_H
#define DAEMON_BASE_SD_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/** sd_ready - the listeners are open. */
void sd_ready(void);
/** sd_reloading - the file is read again; sd_ready() is due when that is over. */
void sd_reloading(void);
/** sd_extend_timeout - what it does now, starting or stopping, may take @us more. */
void sd_extend_timeout(uint64_t us);
/** sd_stopping - the daemon has begun to stop. */
void sd_stopping(void);
/** sd_watchdog_us - within which time the watchdog wants to be fed; 0: there is none. */
uint64_t sd_watchdog_us(void);
/** sd_feed_watchdog - feed it. */
void sd_feed_watchdog(void);
/** sd_status - a line for `systemctl status`. */
void PRINTF_LIKE(1, 2) sd_status(const char *format, ...);

#endif
