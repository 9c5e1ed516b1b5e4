/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket that replaces systemd's and receives the notifications of the daemon in this process. */
#ifndef TESTS_UNIT_FAKE_MANAGER_H
#define TESTS_UNIT_FAKE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>

/** manager_open - before the daemon is started; manager_close() is due. */
void manager_open(void);
void manager_close(void);
/** manager_await - take notifications up to the first with @what in it, into @text; @fd: what came with it, or -1. */
void manager_await(const char *what, char *text, size_t bytes, int *fd);
/** manager_hears - whether one with @what in it comes within @seconds (time_limit.h); others are thrown away. */
bool manager_hears(const char *what, double seconds);
/** manager_forget - throw away all that has come. */
void manager_forget(void);

#endif
