/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket that replaces systemd's and receives the notifications of the daemon in this process. */
#ifndef TESTS_UNIT_FAKE_MANAGER_H
#define TESTS_UNIT_FAKE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>

/** manager_open - Opens the socket before the daemon starts; close it with manager_close(). */
void manager_open(void);
void manager_close(void);
/**
 * manager_await - Reads notifications up to the first that contains @what, into @text; @fd: its
 * descriptor, or -1.
 */
void manager_await(const char *what, char *text, size_t bytes, int *fd);
/**
 * manager_hears - Returns whether one that contains @what arrives within @seconds (time_limit.h);
 * discards others.
 */
bool manager_hears(const char *what, double seconds);
/** manager_forget - Discards all notifications so far. */
void manager_forget(void);

#endif
