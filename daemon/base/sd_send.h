/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to systemd (sd_notify(3)), without waiting for it for long: while it reads none, its socket's queue is full,
 * and sd_notify() itself would block until that has room.
 *
 * Concurrency: the main thread.
 */
#ifndef DAEMON_BASE_SD_SEND_H
#define DAEMON_BASE_SD_SEND_H

#include <stdbool.h>
#include <stddef.h>

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
