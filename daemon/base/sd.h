/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports the daemon's state to systemd (Type=notify), if systemd started it.
 *
 * No call waits for it for long: while it reads no messages, its socket's queue is full, and sd_notify(3) itself would block
 * until that has room.
 *
 * Concurrency: the main thread.
 */
#ifndef DAEMON_BASE_SD_H
#define DAEMON_BASE_SD_H

#include <stdbool.h>
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

#define SD_SEND_MS  1000 /* to wait for room in the queue, where a message must not be lost */
#define SD_SEND_FDS 253u /* descriptors in one message: SCM_MAX_FD of Linux */

/**
 * sd_send - send a message to the service manager, if there is one
 * @state: lines, as sd_notify() has them
 * @fds:   @nfds descriptors to send with it, SD_SEND_FDS at most; NULL: none
 * @waits: wait for SD_SEND_MS if the queue is full; once, until it has room again
 *
 * Returns 0, or a negative errno if the message is lost: -EAGAIN, the queue is full.
 */
int sd_send(const char *state, const int *fds, size_t nfds, bool waits);

#endif
