/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of sd_notify(3), which report the daemon's state to systemd (Type=notify). No-ops
 * without systemd.
 *
 * No call blocks for long. While systemd reads no messages its socket's queue is full, and
 * sd_notify(3) itself would block.
 *
 * Threads: the main thread.
 */
#ifndef DAEMON_BASE_SD_NOTIFY_H
#define DAEMON_BASE_SD_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/** sd_notify_ready - Reports that the listeners are open. */
void sd_notify_ready(void);
/** sd_notify_reloading - Reports a reload; call sd_notify_ready() after it. */
void sd_notify_reloading(void);
/** sd_notify_extend_timeout - Asks for @us more to start or stop. */
void sd_notify_extend_timeout(uint64_t us);
/** sd_notify_stopping - Reports that the daemon has begun to stop. */
void sd_notify_stopping(void);
/** sd_notify_watchdog_us - Returns the interval of the watchdog; 0: none. */
uint64_t sd_notify_watchdog_us(void);
/** sd_notify_watchdog - Feeds the watchdog. */
void sd_notify_watchdog(void);
/** sd_notify_status - Sets the status line of `systemctl status`. */
void PRINTF_LIKE(1, 2) sd_notify_status(const char *format, ...);

/* to wait while the queue is full, for messages that must not be lost */
#define SD_NOTIFY_SEND_MS 1000
#define SD_NOTIFY_MAX_FDS 253u /* most descriptors in one message: SCM_MAX_FD of Linux */

/**
 * sd_notify_send - Sends a message to the service manager, if present
 * @state: lines, as for sd_notify()
 * @fds:   @nfds descriptors to send along, at most SD_NOTIFY_MAX_FDS; NULL: none
 * @wait_if_full: wait for SD_NOTIFY_SEND_MS if the queue is full. If a wait fails, later calls do
 *                not wait until a message was sent
 *
 * Returns 0, or a negative errno if the message is lost: -EAGAIN if the queue is full.
 */
int sd_notify_send(const char *state, const int *fds, size_t nfds, bool wait_if_full);

#endif
