/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the terminal of standard input and output as a full screen with keys, by ANSI escape sequences.
 *
 * However the process ends or is stopped, the terminal is restored.
 */
#ifndef DAEMON_CTL_TERMINAL_H
#define DAEMON_CTL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define TERMINAL_TIME  (-1) /* timeout, or the screen size changed */
#define TERMINAL_ENDED (-2) /* end of file */

/** terminal_is_there - Returns whether standard input and output are terminals, and TERM is not "dumb". */
bool terminal_is_there(void);
/** terminal_open - Switches to the full screen. Returns 0 or a negative errno. */
int terminal_open(void) MUST_CHECK;
/** terminal_close - Restores the terminal. */
void terminal_close(void);
/** terminal_size - Gets the current size. */
void terminal_size(unsigned *columns, unsigned *lines);
/** terminal_wait - Waits up to @seconds for a byte. Returns it, TERMINAL_TIME or TERMINAL_ENDED. */
int terminal_wait(double seconds) MUST_CHECK;
/** terminal_draw - Shows as many lines of @text as fit. Returns 0 or a negative errno. */
int terminal_draw(const char *text) MUST_CHECK;
/** terminal_cut - Returns how many bytes of a line fit into @columns, without cutting a UTF-8 character. */
size_t terminal_cut(const char *line, size_t len, unsigned columns);

#endif
